"""Loading games by name: what is accepted, and what an error says."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.games import register_game


def test_the_three_games_are_registered() -> None:
    assert stonezoo.game_names()[:3] == ["rive", "resolve", "dara"]


@pytest.mark.parametrize("name", ["hex", "Rive", "", "rive ", None, 5])
def test_an_unknown_name_lists_the_games(name: Any) -> None:
    with pytest.raises(ValueError, match=r"there is no game named .*rive, resolve, dara"):
        stonezoo.load_game(name)


@pytest.mark.parametrize(
    ("name", "parameters", "rules_id"),
    [
        ("rive", {"board_size": 4}, "rive/standard@1"),
        ("resolve", {"board_size": 9, "rules": "standard"}, "resolve/standard@1"),
        (
            "dara",
            {"rows": 5, "columns": 6, "stones": 12, "rules": "standard", "quiet_limit": 100},
            "dara/standard@1",
        ),
    ],
)
def test_defaults_are_those_of_the_design(name: str, parameters: dict[str, Any], rules_id: str) -> None:
    game = stonezoo.load_game(name)
    assert (game.name, dict(game.parameters), game.rules_id) == (name, parameters, rules_id)
    assert game == stonezoo.load_game(name, **parameters)
    assert repr(game).startswith(f"load_game({name!r}")


@pytest.mark.parametrize(
    ("name", "profile"),
    [("resolve", "standard"), ("resolve", "original"), ("dara", "standard"), ("dara", "no_drop_threes")],
)
def test_the_rules_id_names_game_profile_and_version(name: str, profile: str) -> None:
    assert stonezoo.load_game(name, rules=profile).rules_id == f"{name}/{profile}@1"


def test_an_unknown_parameter_lists_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"'size'.*board_size: an integer from 2 to 8 \(default 4\)"):
        stonezoo.load_game("rive", size=3)
    with pytest.raises(ValueError, match=r"'rules'.*board_size"):
        stonezoo.load_game("rive", rules="standard")
    with pytest.raises(
        ValueError, match=r"rows: .*columns: .*stones: .*rules: 'standard', 'no_drop_threes'.*quiet_lim"
    ):
        stonezoo.load_game("dara", size=3)


RANGES = [
    ("rive", "board_size", 2, 8),
    ("resolve", "board_size", 2, 19),
    ("dara", "rows", 1, 10),
    ("dara", "columns", 1, 10),
    ("dara", "quiet_limit", 1, 10_000),
]


@pytest.mark.parametrize(("name", "parameter", "low", "high"), RANGES)
def test_a_value_out_of_range_says_the_range(name: str, parameter: str, low: int, high: int) -> None:
    others: dict[str, Any] = {"rows": 10, "columns": 10, "stones": 3} if name == "dara" else {}
    others.pop(parameter, None)
    for value in (low - 1, high + 1, -1, 10**30, 4.0, "4", None, True, False, np.bool_(True), np.float64(4), [4]):
        with pytest.raises(ValueError, match=rf"{parameter}.* an integer from {low} to {high}"):
            stonezoo.load_game(name, **others, **{parameter: value})
    for value in (low, high, np.int64(high), np.int8(low), np.uint16(high)):
        game = stonezoo.load_game(name, **others, **{parameter: value})
        assert game.parameters[parameter] == int(value)
        assert type(game.parameters[parameter]) is int


@pytest.mark.parametrize("value", ["Standard", "", "original@1", None, 0, True])
def test_an_unknown_profile_lists_those_there_are(value: Any) -> None:
    with pytest.raises(ValueError, match=r"rules.*'standard', 'original'"):
        stonezoo.load_game("resolve", rules=value)
    with pytest.raises(ValueError, match=r"rules.*'standard', 'no_drop_threes'"):
        stonezoo.load_game("dara", rules=value)


@pytest.mark.parametrize(
    ("rows", "columns", "most"), [(5, 6, 14), (3, 3, 4), (1, 7, 3), (10, 10, 49), (7, 1, 3), (4, 4, 7)]
)
def test_twice_the_stones_leave_a_cell_empty(rows: int, columns: int, most: int) -> None:
    """D1."""
    assert stonezoo.load_game("dara", rows=rows, columns=columns, stones=most).parameters["stones"] == most
    for stones in {min(most + 1, 49), 49} - {most}:
        with pytest.raises(ValueError, match=rf"stones={stones}.*\(D1\).*at most {most} stones"):
            stonezoo.load_game("dara", rows=rows, columns=columns, stones=stones)
    for stones in (2, 1, 0, -3):
        with pytest.raises(ValueError, match=rf"stones={stones}.*from 3"):
            stonezoo.load_game("dara", rows=rows, columns=columns, stones=stones)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 6), (2, 3), (3, 2)])
def test_a_board_too_small_for_three_stones_each_says_so(rows: int, columns: int) -> None:
    """D1."""
    with pytest.raises(ValueError, match="larger board"):
        stonezoo.load_game("dara", rows=rows, columns=columns, stones=3)


def test_games_are_equal_by_name_and_parameters() -> None:
    games = [
        stonezoo.load_game("rive", board_size=3),
        stonezoo.load_game("rive", board_size=4),
        stonezoo.load_game("resolve", board_size=4),
        stonezoo.load_game("resolve", board_size=4, rules="original"),
        stonezoo.load_game("dara"),
        stonezoo.load_game("dara", quiet_limit=99),
        stonezoo.load_game("dara", rules="no_drop_threes"),
    ]
    for i, game in enumerate(games):
        again = stonezoo.load_game(game.name, **game.parameters)
        assert again is not game
        assert again == game
        assert hash(again) == hash(game)
        for same in (pickle.loads(pickle.dumps(game)), copy.copy(game), copy.deepcopy(game)):
            assert same == game
            assert same.initial_state() == game.initial_state()
        for other in games[i + 1 :]:
            assert game != other
            assert game.initial_state() != other.initial_state()
    assert games[0] != "rive"
    assert len({*games, *games}) == len(games)


def test_a_name_is_registered_for_one_game_only() -> None:
    rules = type(stonezoo.load_game("rive").rules)
    register_game(rules)  # the same class again: nothing to say

    class Impostor:
        name = "rive"

    with pytest.raises(ValueError, match="'rive' is registered already"):
        register_game(Impostor)
    assert type(stonezoo.load_game("rive").rules) is rules


@pytest.mark.parametrize("name", ["rive", "resolve", "dara"])
def test_a_game_cannot_be_changed(name: str) -> None:
    """Its tables and parameters are shared by all its states."""
    game = stonezoo.load_game(name)
    parameter = next(iter(game.parameters))
    with pytest.raises(TypeError, match="does not support item assignment"):
        game.parameters[parameter] = 3  # type: ignore[index]
    tables = [game.policy_index, *(table for s in game.symmetries for table in (s.cells, s.actions))]
    for table in tables:
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 1
    assert pickle.loads(pickle.dumps(game)).parameters == game.parameters


@pytest.mark.parametrize("rules", [None, "hex", Path("hex")])
def test_what_is_no_rules_class_is_not_registered(rules: Any) -> None:
    with pytest.raises(TypeError, match=r"is no rules class"):
        register_game(rules)
    assert "hex" not in stonezoo.game_names()


@pytest.mark.parametrize("name", [["rive"], {"rive": 1}, np.array(["rive"])])
def test_a_name_that_cannot_be_looked_up_lists_the_games_too(name: Any) -> None:
    with pytest.raises(ValueError, match=r"there is no game named .*rive, resolve, dara"):
        stonezoo.load_game(name)
