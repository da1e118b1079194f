"""The player who knows the value of everything."""

from pathlib import Path

import numpy as np
import pytest

import stonezoo
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.players import PlayerError, UnsolvedError, choose, make_player
from stonezoo.players import perfect as perfect_module
from stonezoo.players.perfect import PerfectPlayer
from stonezoo.solve import ILLEGAL, Search, Table
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
    monkeypatch.setattr(perfect_module, "known_table", lambda game, made_with: None)
    game = stonezoo.load_game("resolve", board_size=5, rules="original")
    with pytest.raises(PlayerError, match="stonezoo solve resolve --board-size 5 --rules original --save"):
        make_player("perfect", game)


def test_two_perfect_players_play_the_value_and_the_distance_of_the_start() -> None:
    game = stonezoo.load_game("rive", board_size=2)
    player, state = PerfectPlayer(game), game.initial_state()
    assert isinstance(player.source, Table)
    distance = player.source.distances(state.row[None])[0]
    stream = new_streams(5, 1)[0]
    while not state.terminated:
        state.step(choose(player, state, stream))
    assert (state.winner, state.ply) == (0, distance)


# --- By search ----------------------------------------------------------------------------------------------------


@pytest.fixture
def hidden_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """No game has a table."""
    monkeypatch.setattr(perfect_module, "known_table", lambda game, made_with: None)
    perfect_module._search_of.cache_clear()


def rive_2() -> tuple[stonezoo.Game, np.ndarray, np.ndarray]:
    """Rive 2: rows of all positions that are not over, and the values of their actions by the referee's minimax."""
    truth = truth_of(next(case for case in CASES if case[0] == "rive"))
    going = truth.rows[:, OUTCOME] == ONGOING
    return truth.game, truth.rows[going], truth.action_values[going]


@pytest.mark.usefixtures("hidden_table")
def test_by_search_it_plays_each_action_of_the_best_value_and_no_other() -> None:
    game, rows, values = rive_2()
    player = make_player("perfect:1M", game)
    assert isinstance(player, PerfectPlayer)
    assert isinstance(player.source, Search)
    assert player.name == "perfect:1M"
    lanes = np.arange(len(rows))
    assert (values[lanes, player.act(rows, new_streams(1, len(rows)))] == values.max(1)).all()
    decisive = np.flatnonzero((values == values.max(1, keepdims=True)).sum(1) > 2)[::25]
    for node in decisive:
        actions = player.act(np.repeat(rows[node : node + 1], 100, axis=0), new_streams(2, 100))
        assert set(actions.tolist()) == set(np.flatnonzero(values[node] == values[node].max()).tolist())


@pytest.mark.usefixtures("hidden_table")
def test_by_search_of_a_game_with_draws_it_keeps_a_draw() -> None:
    """Dara 3 x 3 with the table hidden and a search that is given: draws, wins and losses."""
    game = stonezoo.load_game("dara", rows=3, columns=3, stones=3, quiet_limit=6)
    table, player = Table.build(game), PerfectPlayer(game, Search(game, 1 << 20))
    state, stream, seen = game.initial_state(), new_streams(3, 1)[0], set()
    rng = np.random.default_rng(0)
    for _ in range(40):
        if state.terminated:
            state = game.initial_state()
        values = table.action_values(state.row[None])[0]
        assert values[choose(player, state, stream)] == values.max()
        seen.add(int(values.max()))
        state.step(int(rng.choice(np.flatnonzero(values != ILLEGAL))))
    assert 0 in seen
    assert len(seen) > 1


@pytest.mark.usefixtures("hidden_table")
def test_by_search_an_action_depends_on_its_own_state_and_stream_alone() -> None:
    game, rows, _ = rive_2()
    streams = new_streams(4, len(rows))
    player = make_player("perfect", game)
    together, used = player.act(rows, streams), streams.copy()
    perfect_module._search_of.cache_clear()
    fresh, streams = make_player("perfect", game), new_streams(4, len(rows))
    order = np.random.default_rng(1).permutation(len(rows))[:40]
    for lane in order:
        assert fresh.act(rows[lane : lane + 1], streams[lane : lane + 1])[0] == together[lane]
    assert np.array_equal(streams[order], used[order])


@pytest.mark.usefixtures("hidden_table")
def test_a_search_that_gives_up_raises_an_error_that_names_the_remedy() -> None:
    game = stonezoo.load_game("rive", board_size=3)
    player = PerfectPlayer(game, Search(game, 1 << 20), max_nodes=5_000)
    with pytest.raises(
        UnsolvedError, match=r"5,000 nodes of search in .* do not solve .* of load_game\('rive'"
    ) as told:
        choose(player, game.initial_state(), 1)
    assert "perfect:4G" in str(told.value)
    assert "stonezoo solve rive --board-size 3 --method search --memory 4G --save" in str(told.value)
    with pytest.raises(UnsolvedError):
        player.value(game.initial_state().row)


@pytest.mark.usefixtures("hidden_table")
def test_a_saved_search_is_where_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    game, _, _ = rive_2()
    search = Search(game, 1 << 20)
    search.action_values(game.initial_state().row)
    search.save(Search.usual_path(game))
    player = PerfectPlayer(game)
    assert isinstance(player.source, Search)
    assert (player.source.nodes, player.source.memory) == (search.nodes, search.memory)
    assert choose(player, game.initial_state(), 1) == 3
    assert player.source.nodes < search.nodes + 100, "nearly nothing had to be searched"


@pytest.mark.usefixtures("hidden_table")
def test_a_long_search_says_so_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    game, rows, _ = rive_2()
    PerfectPlayer(game).act(rows[:5], new_streams(1, 5))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(perfect_module, "TOLD_AFTER", 20)
    perfect_module._search_of.cache_clear()
    PerfectPlayer(game).act(rows, new_streams(1, len(rows)))
    assert capsys.readouterr().err.count("the first decisions take a while") == 1


def test_an_amount_of_memory_that_is_none_is_refused() -> None:
    game = stonezoo.load_game("rive", board_size=2)
    for text in ("perfect:", "perfect:much", "perfect:-1G"):
        with pytest.raises(PlayerError, match="is no amount of memory"):
            make_player(text, game)
