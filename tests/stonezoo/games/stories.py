"""Positions told as text: the board before, the actions by name, the board after each."""

from collections.abc import Iterable

import stonezoo
from stonezoo.state import State


def position(name: str, text: str, **parameters: int | str) -> State:
    """The state of a position text, which must be the shortest."""
    state = stonezoo.load_game(name, **parameters).parse_state(text)
    assert state.to_text() == text
    return state


def names(state: State) -> str:
    """The legal actions by name, in the order of their numbers."""
    return " ".join(state.action_to_str(action) for action in state.legal_actions)


def play(state: State, actions: str) -> State:
    """A copy of the state after the actions, named and separated by blanks."""
    after = state.copy()
    for name in actions.split():
        after.step(after.str_to_action(name))
    return after


def tell(state: State, steps: Iterable[tuple[str, str]]) -> State:
    """Plays each step's actions and holds the text after it against the one given; returns the last state."""
    for actions, text in steps:
        state = play(state, actions)
        assert state.to_text() == text, actions
    return state
