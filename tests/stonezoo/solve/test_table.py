"""Solved tables against the referees' minimax, in every reachable state."""

import functools

import numpy as np
import pytest

import stonezoo
from stonezoo.core.game import DRAWN, ONGOING, OUTCOME, TO_PLAY, endless_counter
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import step_batch, transform_batch
from stonezoo.kernels.choose import random_batch
from stonezoo.solve import ILLEGAL, MemoryLimitError, Search, Table
from stonezoo.state import Game
from tests.stonezoo.games.graph import reachable
from tests.stonezoo.games.referees import Case, case_id, load
from tests.stonezoo.solve.truth import CASES, truth_of

every_case = pytest.mark.parametrize("case", CASES, ids=case_id)
DARA_3 = {"rows": 3, "columns": 3, "stones": 3}


@functools.cache
def _table(name: str, parameters: tuple[tuple[str, int | str], ...], with_counter: bool) -> Table:
    return Table.build(stonezoo.load_game(name, **dict(parameters)), with_counter=with_counter)


def table_of(case: Case, with_counter: bool = False) -> Table:
    return _table(case[0], tuple(case[1].items()), with_counter)


def counts_left(game: Game, rows: np.ndarray) -> np.ndarray:
    """How much of the count of endless play is left in each state; very much where nothing is counted."""
    endless = endless_counter(game.rules)
    return np.full(len(rows), 10**6) if endless is None else endless[1] - rows[:, endless[0]]


@every_case
@pytest.mark.parametrize("with_counter", [False, True], ids=["counter forgotten", "counter kept"])
def test_every_state_has_its_value(case: Case, with_counter: bool) -> None:
    truth, table = truth_of(case), table_of(case, with_counter)
    assert np.array_equal(table.values(truth.rows), truth.values)


@every_case
@pytest.mark.parametrize("with_counter", [False, True], ids=["counter forgotten", "counter kept"])
def test_every_action_has_its_value(case: Case, with_counter: bool) -> None:
    truth, table = truth_of(case), table_of(case, with_counter)
    assert np.array_equal(table.action_values(truth.rows), truth.action_values)


@every_case
def test_distances_with_the_counter_kept_are_exact(case: Case) -> None:
    truth = truth_of(case)
    assert np.array_equal(table_of(case, with_counter=True).distances(truth.rows), truth.distances)


@every_case
def test_distances_are_exact_where_the_limit_is_farther_than_the_end(case: Case) -> None:
    truth = truth_of(case)
    found = table_of(case).distances(truth.rows)
    assert np.array_equal(found < 0, truth.distances < 0)
    near = found <= counts_left(truth.game, truth.rows)
    assert near.mean() > 0.8
    assert np.array_equal(found[near], truth.distances[near])
    assert (found <= truth.distances).all()


@every_case
def test_no_state_that_a_game_reaches_is_missing(case: Case) -> None:
    assert table_of(case).contains(truth_of(case).rows).all()


@every_case
def test_images_have_the_value_of_the_state_for_the_player_to_act(case: Case) -> None:
    """In Resolve four symmetries exchange the players: the value stays with the player to act, the sides' does not."""
    truth, table = truth_of(case), table_of(case)
    game = truth.game
    for symmetry in game.symmetries:
        out = np.zeros_like(truth.rows)
        swaps = np.array([symmetry.swaps_players], np.int8)
        transform_batch(game.rules, truth.rows, symmetry.cells[None], swaps, np.zeros(len(out), np.int32), out)
        assert np.array_equal(table.values(out), truth.values)
        moved = np.full_like(truth.action_values, ILLEGAL)
        moved[:, symmetry.actions] = truth.action_values
        assert np.array_equal(table.action_values(out), moved)


@every_case
def test_best_actions_keep_the_value_and_shorten_wins(case: Case) -> None:
    truth, table = truth_of(case), table_of(case)
    going = truth.rows[:, OUTCOME] == ONGOING
    rows, values, distances = truth.rows[going], truth.values[going], table.distances(truth.rows[going])
    best, ahead = table.best_actions(rows), table.action_values(rows)
    assert best.any(axis=1).all()
    assert (np.where(best, ahead, values[:, None]) == values[:, None]).all()
    after = np.where(best, table.action_distances(rows), distances[:, None])
    far_enough = counts_left(truth.game, rows) >= distances
    assert (after == distances[:, None])[far_enough].all()


def test_the_values_of_finished_games_are_their_outcomes() -> None:
    truth = truth_of(CASES[3])
    over = truth.rows[truth.rows[:, OUTCOME] != ONGOING]
    table = table_of(CASES[3])
    assert (table.action_values(over) == ILLEGAL).all()
    for row, value, distance in zip(over, table.values(over), table.distances(over), strict=True):
        drawn = row[OUTCOME] == DRAWN
        assert value == (0 if drawn else 1 if row[OUTCOME] - 1 == row[TO_PLAY] else -1)
        assert distance == (-1 if drawn else 0)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("rules", ["standard", "no_drop_threes"])
def test_small_limits_are_exact_for_every_count(limit: int, rules: str) -> None:
    """D7, with the quiet slides in the state."""
    case: Case = ("dara", {"rows": 3, "columns": 3, "stones": 3, "rules": rules, "quiet_limit": limit})
    game = load(case)
    kept, forgotten = Table.build(game, with_counter=True), Table.build(game)
    rows = reachable(game).rows
    assert np.array_equal(kept.values(rows), forgotten.values(rows))
    assert np.array_equal(kept.action_values(rows), forgotten.action_values(rows))


def states_met(game: Game, games: int) -> np.ndarray:
    """The states of random games, int32 [N, S]."""
    rows = np.repeat(game.initial_state().row[None], games, axis=0)
    streams, actions = new_streams(7, games), np.zeros(games, np.int32)
    met = []
    while len(rows):
        met.append(rows.copy())
        random_batch(game.rules, rows, streams, actions)
        step_batch(game.rules, rows, actions)
        rows = np.ascontiguousarray(rows[rows[:, OUTCOME] == ONGOING])
        streams, actions = np.ascontiguousarray(streams[: len(rows)]), actions[: len(rows)]
    return np.concatenate(met)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 9, 20])
@pytest.mark.parametrize("rules", ["standard", "no_drop_threes"])
def test_a_capture_gives_the_whole_limit_back(limit: int, rules: str) -> None:
    """D7, with a fourth stone, so that play goes on after a capture."""
    game = stonezoo.load_game("dara", rows=3, columns=4, stones=4, rules=rules, quiet_limit=limit)
    kept, forgotten = Table.build(game, with_counter=True), Table.build(game)
    rows = states_met(game, 1000)
    assert np.array_equal(kept.values(rows), forgotten.values(rows))
    assert np.array_equal(kept.action_values(rows), forgotten.action_values(rows))


def test_the_count_decides_a_study() -> None:
    """Dara 3 x 3: how much of the quiet limit is left turns a win into a draw (D7)."""
    game = stonezoo.load_game("dara", **DARA_3, quiet_limit=20)
    table = Table.build(game)
    rows = reachable(stonezoo.load_game("dara", **DARA_3, quiet_limit=2)).rows
    entry, limit = endless_counter(game.rules) or (0, 0)
    rows = rows[(rows[:, OUTCOME] == ONGOING) & (rows[:, entry] == 0)].copy()
    changed = 0
    last = table.values(rows)
    for count in range(1, limit):
        rows[:, entry] = count
        now = table.values(rows)
        assert (np.abs(now) <= np.abs(last)).all(), "less of the count left never helps"
        changed += int((now != last).sum())
        last = now
    assert changed > 0


def test_a_position_that_no_game_reaches_is_solved_when_asked_for() -> None:
    game = stonezoo.load_game("rive", board_size=2)
    table = table_of(CASES[0])
    odd = game.parse_state("X./.../.. b")  # one stone, of the player to act
    assert not table.contains(odd.row[None])[0]
    from tests.reference.solve import minimax
    from tests.stonezoo.games.referees import read

    memo: dict[object, int] = {}
    assert table.values(odd.row[None])[0] == minimax(read(CASES[0], odd.to_text()), memo)
    for action in odd.legal_actions.tolist():
        after = read(CASES[0], odd.to_text()).play(action)
        assert table.action_values(odd.row[None])[0, action] == minimax(after, memo)


def test_a_limit_of_memory_is_obeyed_and_the_message_names_it() -> None:
    game = stonezoo.load_game("dara", rows=4, columns=4, stones=4)
    with pytest.raises(MemoryLimitError, match=r"the limit is 2 MB"):
        Table.build(game, memory=2 << 20)


def test_known_facts_come_out() -> None:
    """The rules' known facts about Dara on 3 x 4."""
    standard = stonezoo.load_game("dara", rows=3, columns=4, stones=3)
    values = Table.build(standard).action_values(standard.initial_state().row[None])[0, :12]
    assert values.tolist() == [-1, 0, 0, -1] * 3
    other = stonezoo.load_game("dara", rows=3, columns=4, stones=3, rules="no_drop_threes")
    values = Table.build(other).action_values(other.initial_state().row[None])[0, :12]
    assert values.tolist() == [0] * 12


def test_states_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"have the shape \[B, "):
        table_of(CASES[0]).values(np.zeros((1, 3), np.int32))


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["standard", "original"])
def test_a_table_and_searches_agree_on_resolve_4(rules: str) -> None:
    """The known fact, that the second player wins on 4 x 4, and states of random games."""
    game = stonezoo.load_game("resolve", board_size=4, rules=rules)
    table, search = Table.build(game), Search(game, 1 << 28)
    assert table.values(game.initial_state().row[None])[0] == -1
    rows = states_met(game, 100)
    assert [search.value(row) for row in rows] == table.values(rows).tolist()
    assert all(np.array_equal(search.action_values(row), table.action_values(row[None])[0]) for row in rows[::10])


@pytest.mark.parametrize("shape", [(2, 5), (1, 1000), (3,), ()])
def test_roots_of_another_game_are_refused_before_compiled_code_reads_them(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"have the shape \[B, "):
        Table.build(stonezoo.load_game("rive", board_size=2), roots=np.zeros(shape, np.int32))
