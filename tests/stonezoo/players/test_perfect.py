"""The player who knows the value of everything."""

from pathlib import Path

import numpy as np
import pytest

import stonezoo
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.players import PlayerError, choose, make_player
from stonezoo.players.perfect import PerfectPlayer
from stonezoo.solve import Table
from stonezoo.solve.table_file import FOLDER_VARIABLE
from tests.stonezoo.solve.truth import CASES, truth_of


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_never_gives_value_away_and_wins_as_fast_as_it_can(case: tuple[str, dict[str, object]]) -> None:
    truth = truth_of(case)
    player = make_player("perfect", truth.game)
    going = truth.rows[:, OUTCOME] == ONGOING
    rows, lanes = truth.rows[going], np.arange(int(going.sum()))
    actions = player.act(rows, new_streams(1, len(rows)))
    assert np.array_equal(truth.action_values[going][lanes, actions], truth.values[going])


def test_ties_are_broken_by_the_stream() -> None:
    game = stonezoo.load_game("resolve", board_size=3)
    player = make_player("perfect", game)
    states = np.repeat(game.initial_state().row[None], 300, axis=0)
    first, again = (player.act(states, new_streams(3, 300)) for _ in range(2))
    assert np.array_equal(first, again)
    assert set(first.tolist()) == {0, 2, 3, 5, 6, 8}  # columns 0 and 2 win
    streams = new_streams(3, 300)
    assert player.act(states[:1], streams[7:8])[0] == first[7], "an action depends on its own stream alone"


def test_it_plays_from_the_saved_table_of_its_game(monkeypatch: pytest.MonkeyPatch) -> None:
    game = stonezoo.load_game("rive", board_size=2)
    Table.build(game).save()

    def fail(*args: object, **options: object) -> None:
        raise AssertionError("a saved table was there")

    monkeypatch.setattr(Table, "build", fail)
    assert choose(make_player("perfect", game), game.initial_state(), 1) == 3


def test_a_large_game_without_a_table_is_an_error_that_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stonezoo.players.perfect.SMALL", 1 << 20)
    game = stonezoo.load_game("resolve", board_size=5, rules="original")
    with pytest.raises(PlayerError, match="stonezoo solve resolve --board-size 5 --rules original --save"):
        make_player("perfect", game)


def test_two_perfect_players_play_the_value_and_the_distance_of_the_start() -> None:
    game = stonezoo.load_game("rive", board_size=2)
    player, state = PerfectPlayer(game), game.initial_state()
    distance = player.table.distances(state.row[None])[0]
    stream = new_streams(5, 1)[0]
    while not state.terminated:
        state.step(choose(player, state, stream))
    assert (state.winner, state.ply) == (0, distance)
