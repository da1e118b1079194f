"""Counting move trees, and random play."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.playout import perft, random_games
from stonezoo.state import Game
from tests.reference.perft import perft_actions, perft_turns
from tests.stonezoo.games.positions import random_text
from tests.stonezoo.games.referees import Case, case_id, load, read, rng_of

DATA = json.loads((Path(__file__).parents[1] / "games" / "counts.json").read_text())


def rows_of(kind: str) -> list[Any]:
    return [
        pytest.param(row["game"], row["parameters"], row["counts"], id=case_id((row["game"], row["parameters"])))
        for row in DATA[kind]
    ]


@pytest.mark.parametrize(("name", "parameters", "counts"), rows_of("actions"))
def test_action_counts_are_those_of_the_rules(name: str, parameters: dict[str, Any], counts: list[int]) -> None:
    game = stonezoo.load_game(name, **parameters)
    row = game.initial_state().row
    assert [perft(game.rules, row, depth + 1) for depth in range(len(counts))] == counts
    assert perft(game.rules, row, 0) == 1


@pytest.mark.parametrize(("name", "parameters", "counts"), rows_of("turns"))
def test_turn_counts_are_those_of_the_rules(name: str, parameters: dict[str, Any], counts: list[int]) -> None:
    game = stonezoo.load_game(name, **parameters)
    row = game.initial_state().row
    assert [perft(game.rules, row, depth + 1, turns=True) for depth in range(len(counts))] == counts
    assert perft(game.rules, row, 0, turns=True) == 1


POSITIONS: list[Case] = [
    ("rive", {"board_size": 3}),
    ("rive", {"board_size": 4}),
    ("resolve", {"board_size": 4, "rules": "standard"}),
    ("resolve", {"board_size": 5, "rules": "original"}),
    ("dara", {"rows": 3, "columns": 4, "stones": 5, "quiet_limit": 2}),
    ("dara", {"rows": 5, "columns": 6, "stones": 12, "rules": "no_drop_threes"}),
]


@pytest.mark.parametrize("case", POSITIONS, ids=case_id)
def test_counts_from_random_positions_are_the_referees(case: Case) -> None:
    """In mid-turn too, where games end within the depth, and by whole turns where their number is small."""
    game, rng = load(case), rng_of(case, "perft")
    for _ in range(25):
        text = random_text(case, rng)
        row, referee = game.parse_state(text).row, read(case, text)
        assert perft(game.rules, row, 2) == perft_actions(referee, 2), text
        turns = perft(game.rules, row, 1, turns=True)
        if turns < 3000:
            assert turns == perft_turns(referee, 1), text
        assert np.array_equal(row, game.parse_state(text).row)


def test_a_finished_game_has_no_sequences() -> None:
    game = stonezoo.load_game("rive", board_size=2)
    row = game.parse_state("XO/XXO/OO b").row
    assert [perft(game.rules, row, depth) for depth in range(4)] == [1, 0, 0, 0]
    assert perft(game.rules, row, 1, turns=True) == 0


def test_long_turns_are_counted_whole() -> None:
    """S5: the chain of seven swaps that gets stuck is one turn of one player."""
    game = stonezoo.load_game("resolve", board_size=6)
    text = ".XO.../.OOOX./OOXOO./XO.O../..OX../...... b"
    row = game.parse_state(text).row
    assert perft(game.rules, row, 1, turns=True) == perft_turns(
        read(("resolve", {"board_size": 6, "rules": "standard"}), text), 1
    )


def play(game: Game, seed: int, games: int) -> tuple[np.ndarray, np.ndarray, int]:
    rows = np.full((games, game.rules.state_size), -5, np.int32)
    lengths = np.zeros(games, np.int32)
    total = random_games(game.rules, rows, new_streams(seed, games), lengths)
    return rows, lengths, total


SCALE = [  # mean number of actions that the rules give for random play, and a 3% allowance for its rounding
    (("rive", {"board_size": 3}), 57, 4000),
    (("rive", {"board_size": 4}), 190, 1000),
    (("rive", {"board_size": 5}), 470, 400),
    (("resolve", {"board_size": 5}), 24, 4000),
    (("resolve", {"board_size": 9}), 81, 4000),
    (("resolve", {"board_size": 13}), 174, 2000),
]


@pytest.mark.parametrize(("case", "mean", "games"), SCALE, ids=[case_id(case) for case, _, _ in SCALE])
def test_random_games_are_as_long_as_the_rules_say(case: Case, mean: int, games: int) -> None:
    """Within 4 standard errors of the stated mean, and 3% for its rounding; none passes its bound."""
    game = load(case)
    rows, lengths, total = play(game, 1, games)
    assert total == lengths.sum()
    assert (rows[:, OUTCOME] != ONGOING).all()
    assert abs(lengths.mean() - mean) <= 4 * lengths.std(ddof=1) / games**0.5 + 0.03 * mean
    assert game.max_steps is not None
    assert lengths.max() <= game.max_steps


def test_random_games_of_dara_are_as_long_as_the_rules_say() -> None:
    """About 24 drops and 57 to 135 further actions."""
    _, lengths, _ = play(stonezoo.load_game("dara"), 1, 4000)
    assert 24 + 57 <= lengths.mean() <= 24 + 135


BOUNDED: list[Case] = [
    *(("rive", {"board_size": n}) for n in (2, 3, 6)),
    *(("resolve", {"board_size": n, "rules": rules}) for n in (2, 3, 4) for rules in ("standard", "original")),
    ("dara", {"rows": 3, "columns": 3, "stones": 3, "quiet_limit": 1}),
    ("dara", {"rows": 4, "columns": 4, "stones": 7, "quiet_limit": 5, "rules": "no_drop_threes"}),
    ("dara", {"rows": 10, "columns": 10, "stones": 20, "quiet_limit": 10}),
]


@pytest.mark.parametrize("case", BOUNDED, ids=case_id)
def test_no_random_game_passes_its_bound(case: Case) -> None:
    game = load(case)
    rows, lengths, _ = play(game, 2, 500)
    assert (rows[:, OUTCOME] != ONGOING).all()
    assert game.max_steps is not None
    assert 0 < lengths.max() <= game.max_steps


@pytest.mark.parametrize("case", BOUNDED, ids=case_id)
def test_lanes_are_independent(case: Case) -> None:
    """A lane's game depends on its own stream only, wherever it stands in the batch."""
    game = load(case)
    streams = new_streams(3, 7)
    rows, lengths = np.zeros((7, game.rules.state_size), np.int32), np.zeros(7, np.int32)
    random_games(game.rules, rows, streams.copy(), lengths)
    order = np.array([4, 0, 6, 2])
    rows2, lengths2 = np.zeros((4, game.rules.state_size), np.int32), np.zeros(4, np.int32)
    random_games(game.rules, rows2, streams[order], lengths2)
    assert np.array_equal(rows2, rows[order])
    assert np.array_equal(lengths2, lengths[order])
