"""Positions that several orders reach, as one node: counted by hand, against exact values, and with faults."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezero.config import SearchConfig
from stonezero.evaluator import UniformEvaluator
from stonezero.search import Search, SearchResult
from stonezoo.games.rive import NUM_PLANES, OTHER, OWN, PHASE_PLANES, REMOVE
from stonezoo.solve import Table
from tests.stonezero.search_copy import search_with
from tests.stonezero.taking_game import taking_game
from tests.stonezero.toy_game import ToyNetwork, after, legal, minimax, start, toy_game

EVERYWHERE = {"algorithm": "puct", "c_puct": 1000.0}  # visits every edge alike


class Spy:
    """A network that says the same of every position and keeps what it was asked."""

    def __init__(self, num_actions: int) -> None:
        self.network = UniformEvaluator(num_actions)
        self.rows: list[Any] = []

    def __call__(self, observations: Any) -> Any:
        self.rows += list(observations.copy())
        return self.network(observations)


def run(game: Any, states: Any, network: Any, n: int, search_class: Any = Search, **config: Any) -> SearchResult:
    rows = np.ascontiguousarray(np.atleast_2d(states), np.int32)
    result: SearchResult = search_class(game, SearchConfig(**config), len(rows), n).run(rows, network)
    return result


def asked(game: Any, n: int, search_class: Any = Search, **config: Any) -> Spy:
    spy = Spy(game.num_actions)
    result = run(game, start(game), spy, n, search_class, **config)
    assert result.visit_counts.sum() == n
    return spy


@pytest.mark.parametrize(("merge", "by_count"), [(False, [1, 5, 20]), (True, [1, 5, 10])])
def test_three_of_five_tokens_in_any_order_are_asked_once(merge: bool, by_count: list[int]) -> None:
    # Orders: 1, 5, 5 x 4. Sets: 1, 5, 5 x 4 / 2. The third token ends the game and asks nobody.
    spy = asked(taking_game(), 1000, merge_orders=merge, **EVERYWHERE)
    counts = Counter(int(row[0, 0, 1]) for row in spy.rows)
    assert [counts[k] for k in range(4)] == [*by_count, 0]


def test_a_simulation_that_meets_a_known_position_asks_nobody() -> None:
    # No end is near, so that without merging every simulation asks for a position; the first 12 edges share nothing.
    game = taking_game(tokens=12, turn_length=6, num_turns=2)
    assert len(asked(game, 12, merge_orders=True, **EVERYWHERE).rows) == 1 + 12
    assert len(asked(game, 100, **EVERYWHERE).rows) == 1 + 100
    spy = asked(game, 100, merge_orders=True, **EVERYWHERE)
    assert len(spy.rows) < 1 + 100
    assert len({row.tobytes() for row in spy.rows}) == len(spy.rows)  # and nobody twice for the same


def test_the_orders_of_a_capture_of_three_stones_lead_to_one_node() -> None:
    # e: X . .        Black has joined arms of two, two and one stones at c3; three stones must go, from the tips.
    # d: . O . .      Taken from each arm, (2, 2, 1) at most. Orders: 3, then 8, then 18. Positions: 3,
    # c: . . X O X    then 5: (2,0,0) (0,2,0) (1,1,0) (1,0,1) (0,1,1), then 5: (2,1,0) (2,0,1) (1,2,0) (0,2,1) and
    # b: . X . .      (1,1,1), which is reached in all 3! orders.
    # a: . . .
    game = stonezoo.load_game("rive", board_size=3)
    state = game.parse_state("X../.O../..XOX/.X../... b phase=remove stone=c3 remove=3")
    assert game.observation_shape[2] == NUM_PLANES
    for merge, expected in [(False, [3, 8, 18]), (True, [3, 5, 5])]:
        spy = Spy(game.num_actions)
        result = run(game, state.row, spy, 600, merge_orders=merge, **EVERYWHERE)
        assert result.visit_counts.sum() == 600
        found: Counter[tuple[int, bool]] = Counter()
        for row in spy.rows:
            found[int(row[..., [OWN, OTHER]].sum()), bool(row[..., PHASE_PLANES + REMOVE].any())] += 1
        assert [found[5, True], found[4, True], found[3, False]] == expected


@pytest.mark.parametrize("config", [{}, {"algorithm": "puct"}], ids=["gumbel", "puct"])
def test_where_no_position_repeats_merging_changes_nothing(config: dict[str, Any]) -> None:
    game = toy_game(11, width=6, turn_length=2, num_turns=4)
    states = [start(game)]
    while len(states) < 9:
        state = states[len(states) // 2]
        states += [after(game, state, action) for action in legal(game, state)[:2]]
    for n in (1, 2, 16, 200):
        apart = run(game, states, ToyNetwork(6), n, **config)
        merged = run(game, states, ToyNetwork(6), n, merge_orders=True, **config)
        assert np.array_equal(apart.visit_counts, merged.visit_counts)
        assert np.array_equal(apart.action, merged.action)
        for name in ("search_policy", "root_value", "action_value", "prior"):
            assert np.allclose(getattr(apart, name), getattr(merged, name), rtol=0, atol=1e-5), name


def decisive_positions(game: stonezoo.Game, table: Table) -> np.ndarray:
    """All reachable states [P, S], in mid-turn too, where some action is better than another."""
    decisive, waiting, seen = [], [game.initial_state()], set()
    while waiting:
        state = waiting.pop()
        if state.terminated or state in seen:
            continue
        seen.add(state.copy())
        values = table.action_values(state.row[None])[0][state.legal_actions]
        if values.min() < values.max():
            decisive.append(state.row)
        for action in state.legal_actions:
            following = state.copy()
            following.step(action)
            waiting.append(following)
    return np.stack(decisive)


@pytest.mark.parametrize("config", [{}, {"algorithm": "puct"}], ids=["gumbel", "puct"])
def test_solved_positions_are_valued_as_without_merging_with_half_of_the_network_calls(config: dict[str, Any]) -> None:
    # A uniform network, so that only the ends of games speak.
    game = stonezoo.load_game("rive", board_size=2)
    table = Table.build(game)
    rows = decisive_positions(game, table)
    assert len(rows) > 100
    lanes, error, calls = np.arange(len(rows)), {}, {}
    for merge, n in [(True, 200), (True, 3000), (False, 3000)]:
        spy = Spy(game.num_actions)
        result = run(game, rows, spy, n, merge_orders=merge, **config)
        exact = table.action_values(rows)[lanes, result.action]
        error[merge, n] = np.abs(result.action_value - exact).mean()
        calls[merge, n] = len(spy.rows)
        if n == 3000:
            assert table.best_actions(rows)[lanes, result.action].mean() > 0.9
    assert error[True, 3000] < 0.12 < 0.3 < error[True, 200]
    assert abs(error[True, 3000] - error[False, 3000]) < 0.02
    assert calls[True, 3000] < 0.5 * calls[False, 3000]


def test_the_value_of_a_graph_that_is_searched_out_is_exact() -> None:
    # Six tokens, two turns of two: 15 x 6 ends. All of it is seen, and what is best prevails.
    right = 0
    for salt in range(8):
        game = taking_game(salt, tokens=6, turn_length=2, num_turns=2)
        root = start(game)
        values = {a: minimax(game, after(game, root, a)) for a in legal(game, root)}
        result = run(game, root, UniformEvaluator(6), 1500, merge_orders=True)
        assert result.visit_counts.sum() == 1500
        right += values[int(result.action[0])] == max(values.values())
        assert abs(result.action_value[0] - max(values.values())) < 0.25
    assert right == 8


@pytest.mark.parametrize("config", [{}, {"algorithm": "puct"}], ids=["gumbel", "puct"])
@pytest.mark.parametrize(
    ("name", "parameters"), [("rive", {"board_size": 3}), ("resolve", {"board_size": 4}), ("dara", {})]
)
def test_visits_sum_to_the_simulations_and_fewer_positions_are_asked(
    name: str, parameters: dict[str, int], config: dict[str, Any]
) -> None:
    game = stonezoo.load_game(name, **parameters)
    generator, rows = np.random.default_rng(2), []
    for length in range(4, 20):
        state = game.initial_state()
        for _ in range(length):
            state.step(generator.choice(state.legal_actions))
            if state.terminated:
                break
        if not state.terminated and len(state.legal_actions) > 1:
            rows.append(state.row)
    counts = []
    for merge in (False, True):
        spy = Spy(game.num_actions)
        result = run(game, rows, spy, 200, merge_orders=merge, **config)
        assert (result.visit_counts.sum(1) == 200).all()
        assert np.allclose(result.search_policy.sum(1), 1, atol=1e-5)
        counts.append(len(spy.rows))
    assert counts[1] < counts[0]


def test_a_batch_of_graphs_equals_its_lanes_searched_alone_again_and_again() -> None:
    game = taking_game(3, tokens=7, turn_length=3, num_turns=2)
    states = [start(game), start(game, (4,)), start(game, (4, 1)), start(game, (1, 4)), start(game, (0, 2, 5))]
    search = Search(game, SearchConfig(merge_orders=True), len(states), 120)
    search.run(np.stack(states[::-1]), ToyNetwork(7))
    whole = search.run(np.stack(states), ToyNetwork(7))
    for lane, state in enumerate(states):
        alone = run(game, state, ToyNetwork(7), 120, merge_orders=True)
        for name, array in alone._asdict().items():
            assert np.array_equal(getattr(whole, name)[lane], array[0]), name


def test_positions_that_differ_in_a_counter_stay_apart() -> None:
    # The counter says how many tokens were taken after a higher one, so that both orders of a pair are apart: 5 x 4.
    # Who wins depends on it alone.
    game = taking_game(tokens=5, turn_length=3, counts=True)
    spy = asked(game, 1000, merge_orders=True, **EVERYWHERE)
    assert Counter(int(row[0, 0, 1]) for row in spy.rows) == {0: 1, 1: 5, 2: 20}


FAULTS = {
    "the last word, a counter, is left out": {
        "graph.py": [
            ("range(first.shape[0])", "range(first.shape[0] - 1)"),
            ("    for i in range(state.shape[0]):\n", "    for i in range(state.shape[0] - 1):\n"),
        ]
    },
    "equal hashes are taken for equal states": {
        "graph.py": [("and _equal(tree.state[b, known], state)", ""), ("(code % PRIME) & last", "0")]
    },
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_search_that_merges_what_differs_is_found_out(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty = search_with(FAULTS[fault], tmp_path, monkeypatch)
    game = taking_game(tokens=5, turn_length=3, counts=True)
    spy = asked(game, 300, faulty, merge_orders=True, **EVERYWHERE)
    assert Counter(int(row[0, 0, 1]) for row in spy.rows) != {0: 1, 1: 5, 2: 20}
    sound = search_with({}, tmp_path / "sound", monkeypatch)
    spy = asked(game, 300, sound, merge_orders=True, **EVERYWHERE)
    assert Counter(int(row[0, 0, 1]) for row in spy.rows) == {0: 1, 1: 5, 2: 20}
