"""The distance from perfect play in evaluation and on TensorBoard."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezero.arena.exact import exact_report, known_positions, network_players, perfect_player, training_scalars
from stonezero.cli import main
from stonezero.config import SearchConfig
from stonezoo.players import make_player
from stonezoo.players import perfect as perfect_module
from stonezoo.solve import ILLEGAL, Table
from stonezoo.truth import random_positions

GAME = stonezoo.load_game("resolve", board_size=3)


@pytest.fixture(scope="module")
def table() -> Table:
    return Table.build(GAME)


@pytest.fixture
def tables(tmp_path: Path, table: Table, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of saved tables that holds the one of GAME."""
    monkeypatch.setenv("STONEZOO_TABLE_DIR", str(tmp_path))
    table.save()
    return tmp_path


def oracle(table: Table, positions: Any) -> Any:
    """A network that knows: told by the observation which of `positions` it sees, it likes the best actions."""
    seen = {GAME.from_row(row).observation().tobytes(): lane for lane, row in enumerate(positions.states)}

    def evaluate(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits = np.zeros((len(observations), GAME.num_actions), np.float32)
        values = np.zeros(len(observations), np.float32)
        for row, observation in enumerate(observations):
            lane = seen.get(observation.tobytes())
            if lane is not None:
                known = positions.values[lane]
                logits[row] = np.where(known == ILLEGAL, -9, 9 * known)
                values[row] = known.max()
        return logits, values

    return evaluate


def test_a_network_that_knows_everything_is_optimal_by_its_policy(table: Table) -> None:
    positions = random_positions(GAME, table, 100, 0)
    players = network_players(GAME, oracle(table, positions), SearchConfig(), 4)
    found = training_scalars(positions, players)
    assert found["policy_optimal"] == found["policy_value_sign"] == 1.0
    assert 0 < found["uniform_optimal"] < 0.7
    assert {"policy_optimal_place", "policy_optimal_swap", "search_optimal"} <= set(found)


def test_a_network_that_knows_nothing_is_not(table: Table) -> None:
    positions = random_positions(GAME, table, 200, 0)

    def blank(observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros((len(observations), GAME.num_actions), np.float32), np.zeros(len(observations), np.float32)

    found = training_scalars(positions, network_players(GAME, blank, SearchConfig(), 4))
    assert found["policy_optimal"] < 0.7


def test_a_report_has_baselines_own_games_and_best_play(tables: Path) -> None:
    truths, versus = exact_report(GAME, {"player": make_player("uct:20", GAME)})
    assert [truth.player for truth in truths] == ["uct:20", "random", "uct:100", "uct:20, own games"]
    black, white = versus["uct:20"]
    assert (black.value, white.value) == (1, -1)
    assert white.wins + white.draws == 0


def test_games_against_best_play_are_left_out_where_a_search_gives_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STONEZOO_TABLE_DIR", str(tmp_path))
    monkeypatch.setattr(perfect_module, "known_table", lambda game, made_with: None)
    perfect_module._search_of.cache_clear()
    assert perfect_player(GAME) is None  # play can cycle
    assert capsys.readouterr().err == ""
    game = stonezoo.load_game("rive", board_size=2)
    assert perfect_player(game) is not None
    monkeypatch.setattr(perfect_module, "MAX_NODES", 500)
    assert perfect_player(stonezoo.load_game("rive", board_size=3)) is None
    assert "no games against best play: perfect: 500 nodes of search" in capsys.readouterr().err


def test_known_positions_come_from_the_saved_table(tables: Path, table: Table) -> None:
    found = known_positions(GAME, Table.load(GAME))
    assert found is not None
    assert np.array_equal(found.values, table.action_values(found.states))
    assert known_positions(stonezoo.load_game("resolve", board_size=2)) is None


def test_the_command_measures_any_player_and_requires(
    tables: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["evaluate", "uct:50", "--exact", "--game", "resolve", "--parameter", "board_size=3"]
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["format"] == "stonezero/exact@1"
    assert told["truths"][0]["player"] == "uct:50"
    assert set(told["versus_perfect"]) == {"uct:50"}
    assert main([*arguments, "--require", "0.999"]) == 1
    shown = capsys.readouterr()
    assert "missed: uct:50" in shown.err
    for wrong in ("nan", "-0.1", "1.5"):
        assert main([*arguments, f"--require={wrong}"]) == 2
        assert "a share is a number from 0 to 1" in capsys.readouterr().err
    assert "against best play" in shown.out
    assert main(["evaluate", "uct:50", "--exact"]) == 2
    assert "--game says what it plays" in capsys.readouterr().err
    monkeypatch.setenv("STONEZOO_TABLE_DIR", str(tables / "empty"))
    assert main([*arguments[:-1], "board_size=7"]) == 2
    assert "nothing is known of perfect play" in capsys.readouterr().err
