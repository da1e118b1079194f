"""Simulations for a time a move."""

import pytest

import stonezoo
from stonezero.arena.clock import calibrate, split_simulations

GAME = stonezoo.load_game("resolve", board_size=4)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("uct:100", ("uct", 100)),
        ("runs/x:64", ("runs/x", 64)),
        ("uct+:5", ("uct+", 5)),
        ("random", None),
        ("alphabeta:4", None),
        ("alphabeta:2s", None),
        ("runs/x:policy", None),
        ("py:module:function", None),
    ],
)
def test_players_that_count_simulations_are_known_by_their_texts(text: str, parts: tuple[str, int] | None) -> None:
    assert split_simulations(text) == parts


def test_players_that_count_none_play_as_they_are() -> None:
    assert calibrate("random", GAME, 0.5) == ("random", None, None)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="--seconds-per-move"):
        calibrate("uct:1", GAME, seconds)


def test_the_number_in_the_text_does_not_matter_and_is_replaced() -> None:
    found = calibrate("uct:7", GAME, 0.005)
    assert found.simulations is not None
    assert found.player == f"uct:{found.simulations}"
    assert found.simulations > 16
    assert found.seconds == pytest.approx(0.005, rel=0.01)


@pytest.mark.speed
def test_more_time_gives_more_simulations_in_proportion() -> None:
    short, long = (calibrate("uct:1", GAME, seconds).simulations for seconds in (0.01, 0.1))
    assert short is not None
    assert long is not None
    assert 4 < long / short < 20
