"""The game beside a slow second implementation.

A referee's position has `legal()` (action numbers), `play(action)` (a new position), `over`, `winner` (0, 1 or -1) and
`to_play`; `board()` (-1, 0 or 1 a cell) and `phase` (the phase's name) are compared when it has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject
from stonezoo.state import State

STYLES = ("uniform", "keep the turn", "avoid the end")


def find(subject: Subject) -> Iterator[Fault]:
    """Disagreement on games of several styles, from the start."""
    assert subject.referee is not None
    rng, left, number = subject.rng, subject.plies, 0
    while left > 0:
        state, position = subject.game.initial_state(), subject.referee(**subject.game.parameters)
        style = STYLES[number % len(STYLES)]
        number += 1
        while True:
            difference = _difference(state, position)
            if difference:
                yield fault_at(state, difference)
                break
            left -= 1
            if state.terminated or left <= 0:
                break
            action = _choose(state, position, style, rng)
            state.step(action)
            position = _after(position, action)


def _difference(state: State, position: Any) -> str:
    """What the two disagree about, or an empty text."""
    pairs = {
        "terminated": (state.terminated, bool(position.over)),
        "winner": (state.winner, int(position.winner)),
        "to_play": (state.to_play, int(position.to_play)),
        "legal actions": (state.legal_actions.tolist(), sorted(int(action) for action in position.legal())),
    }
    if state.terminated:
        del pairs["to_play"]  # nobody acts
    if hasattr(position, "board"):
        pairs["board"] = (state.board.tolist(), [int(stone) for stone in position.board()])
    if hasattr(position, "phase") and not state.terminated:
        pairs["phase"] = (state.phase.name.lower(), str(position.phase).lower())
    for name, (ours, theirs) in pairs.items():
        if ours != theirs:
            return f"{name}: the game says {ours}, the referee {theirs}"
    return ""


def _after(position: Any, action: int) -> Any:
    after = position.play(action)
    if after is None or after is position:
        raise TypeError(f"the referee's play(action) must return a new position, not {after!r}")
    return after


def _choose(state: State, position: Any, style: str, rng: Any) -> int:
    """A legal action, of a few that fit the style if there are any."""
    tried = rng.permutation(state.legal_actions)[:4].tolist()
    for action in tried:
        after = _after(position, action)
        if style == "keep the turn" and not after.over and after.to_play == position.to_play:
            return int(action)
        if style == "avoid the end" and not after.over:
            return int(action)
    return int(tried[0])
