"""A person at a terminal."""

import pytest

import stonezoo
from stonezoo.players import HumanPlayer, choose

GAME = stonezoo.load_game("resolve", board_size=3)


def test_a_person_is_shown_the_board_and_asked_until_an_action_is_legal() -> None:
    state = GAME.parse_state("X../.../... w")
    lines, shown = iter(["", "z9", "a3", " b2 "]), []
    prompts: list[str] = []

    def read(prompt: str) -> str:
        prompts.append(prompt)
        return next(lines)

    player = HumanPlayer(GAME, read, shown.append)
    assert state.action_to_str(choose(player, state, 0)) == "b2"
    assert prompts == ["place> "] * 4
    assert "X" in shown[0]
    assert len(shown) == 4
    assert all("b2" in text for text in shown[1:])  # the legal actions
    assert "a3" in shown[3]


def test_the_end_of_input_is_handed_on() -> None:
    def read(prompt: str) -> str:
        raise EOFError

    with pytest.raises(EOFError):
        choose(HumanPlayer(GAME, read, lambda text: None), GAME.initial_state(), 0)
