"""Results of matches as JSON."""

import json

import pytest

import stonezoo
from stonezero.arena import GameResult, MatchResult, Tally, evaluate
from stonezoo.players import FunctionPlayer, RandomPlayer

GAME = stonezoo.load_game("resolve", board_size=3)
RESULT = evaluate(
    RandomPlayer(GAME), FunctionPlayer(GAME, lambda observation, mask: int(mask.argmin()), "py:a:b"), GAME, games=10
)


def test_a_result_goes_through_json_and_back() -> None:
    text = json.dumps(RESULT.to_dict(with_games=True))
    back = MatchResult.from_dict(json.loads(text))
    assert back == RESULT
    assert back.seconds == RESULT.seconds
    assert RESULT.illegal_by_opponent > 0


def test_games_are_written_on_request_only() -> None:
    values = RESULT.to_dict()
    assert "results" not in values
    back = MatchResult.from_dict(json.loads(json.dumps(values)))
    assert back.results == ()
    assert back.to_dict() == values


def test_the_json_says_what_was_played() -> None:
    values = RESULT.to_dict()
    assert values["format"] == "stonezero/match@2"
    assert values["rules_id"] == "resolve/standard@1"
    assert values["parameters"] == {"board_size": 3, "rules": "standard"}
    assert values["as_black"] == {"wins": 5, "draws": 0, "losses": 0}
    assert values["wins"] + values["draws"] + values["losses"] == values["games"] == 10


def test_values_of_another_format_are_refused() -> None:
    values = RESULT.to_dict()
    with pytest.raises(ValueError, match="format"):
        MatchResult.from_dict({**values, "format": "stonezero/match@1"})
    with pytest.raises(ValueError, match="cannot be read"):
        MatchResult.from_dict({**values, "surprise": 1})
    del values["score"]
    with pytest.raises(ValueError, match="score"):
        MatchResult.from_dict(values)


def test_points_are_the_players_whatever_its_colour() -> None:
    assert [GameResult(0, black, winner, ()).points for black in (True, False) for winner in (0, 1, -1)] == [
        1.0,
        0.0,
        0.5,
        0.0,
        1.0,
        0.5,
    ]


def test_a_tally_scores_a_draw_as_half_a_win() -> None:
    tally = Tally(3, 2, 5)
    assert tally.games == 10
    assert tally.score == 0.4
    assert str(tally) == "3/2/5"
