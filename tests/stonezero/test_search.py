"""The search's bookkeeping: by hand, against plain Python, and lane by lane."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stonezero.config import SearchConfig
from stonezero.search import Search, SearchResult
from stonezoo.core.rng import new_streams, uniform
from tests.stonezero import reference_search
from tests.stonezero.toy_game import ToyNetwork, after, legal, start, toy_game

GUMBEL = SearchConfig(num_simulations=64)
PUCT = SearchConfig(algorithm="puct", num_simulations=64)


def run(game: Any, states: Any, network: Any, n: int, config: SearchConfig = GUMBEL, **options: Any) -> SearchResult:
    rows = np.ascontiguousarray(np.atleast_2d(states), np.int32)
    return Search(game, config, len(rows), n).run(rows, network, **options)


def gumbel_of(streams: Any, count: int) -> list[float]:
    """What a search draws from one stream for `count` legal actions."""
    stream = streams.copy()
    return [-np.log(-np.log(uniform(stream) + 2.0**-33)) for _ in range(count)]


class Scripted:
    """A network whose word is given for each position, by its code and ply."""

    def __init__(self, words: dict[tuple[int, int], tuple[list[float], float]]) -> None:
        self.words = words

    def __call__(self, observations: Any) -> Any:
        found = [self.words[int(row[0, 0, 0]), int(row[0, 0, 1])] for row in observations]
        return (
            np.log(np.array([prior for prior, _ in found])).astype(np.float32),
            np.array([value for _, value in found], np.float32),
        )


@pytest.mark.parametrize(("a", "b", "c"), [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_three_simulations_of_puct_make_the_tree_computed_by_hand(a: int, b: int, c: int) -> None:
    # Player 0 makes all three choices, so every value keeps its sign. With c_puct = 1:
    #   simulation 1: the highest prior, a: value 0.6.
    #   simulation 2: a: 0.6 + sqrt(2) 0.5 / 2 = 0.954; b: mean (0.2 + 0.6) / 2 + sqrt(2) 0.3 = 0.824.
    #                 So a, and below it the first action: -0.8.
    #   simulation 3: a: (0.6 - 0.8) / 2 + sqrt(3) 0.5 / 3 = 0.189; b: mean 0 + sqrt(3) 0.3 = 0.520. So b: 0.1.
    game = toy_game(0, width=3, turn_length=3, num_turns=2, full=True)
    even, prior = [1 / 3, 1 / 3, 1 / 3], [0.0, 0.0, 0.0]
    prior[a], prior[b], prior[c] = 0.5, 0.3, 0.2
    network = Scripted({(0, 0): (prior, 0.2), (a, 1): (even, 0.6), (3 * a, 2): (even, -0.8), (b, 1): (even, 0.1)})
    config = SearchConfig(algorithm="puct", c_puct=1.0)
    result = run(game, start(game), network, 3, config)
    assert result.visit_counts[0, [a, b, c]].tolist() == [2, 1, 0]
    assert result.root_value[0] == pytest.approx((0.2 + 0.6 - 0.8 + 0.1) / 4)
    assert result.search_policy[0, [a, b, c]] == pytest.approx([2 / 3, 1 / 3, 0])
    assert result.prior[0] == pytest.approx(prior)
    assert result.action.tolist() == [a]


def test_a_value_counts_for_the_other_player_once_the_turn_has_passed() -> None:
    # One choice a turn: player 1 acts after it, and 0.6 for player 1 is -0.6 for player 0.
    game = toy_game(0, width=2, turn_length=1, num_turns=3, full=True)
    network = Scripted({(0, 0): ([0.5, 0.5], 0.0), (0, 1): ([0.5, 0.5], 0.6), (1, 1): ([0.5, 0.5], -0.2)})
    result = run(game, start(game), network, 2)
    assert result.visit_counts.tolist() == [[1, 1]]
    assert result.root_value[0] == pytest.approx((0.0 - 0.6 + 0.2) / 3)
    assert result.action.tolist() == [1]


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize(("width", "turn_length", "num_turns"), [(3, 3, 3), (20, 1, 2), (7, 2, 3)])
def test_gumbel_search_is_that_of_the_plain_reference(
    width: int, turn_length: int, num_turns: int, noisy: bool
) -> None:
    for salt, n in [(1, 1), (2, 2), (3, 3), (4, 5), (5, 16), (6, 17), (7, 32), (8, 50), (9, 64)]:
        game = toy_game(salt, width=width, turn_length=turn_length, num_turns=num_turns)
        network = ToyNetwork(game.num_actions, salt)
        state = start(game)
        actions = legal(game, state)
        streams = new_streams(salt, 1)
        noise = gumbel_of(streams[0], len(actions)) if noisy else [0.0] * len(actions)
        root, move = reference_search.search(game, state, network, n, dict(zip(actions, noise, strict=True)))
        result = run(game, state, network, n, noise=noisy, temperature=float(noisy), streams=streams)
        if len(actions) == 1:
            continue
        assert {a: result.visit_counts[0, a] for a in actions} == root.n
        policy = root.improved_policy()
        assert result.search_policy[0] == pytest.approx([policy.get(a, 0.0) for a in range(width)], abs=1e-6)
        total = root.value + sum(root.total.values())
        assert result.root_value[0] == pytest.approx(total / (1 + n), abs=1e-6)  # player 0 acts
        assert result.action[0] == move


@pytest.mark.parametrize("config", [GUMBEL, PUCT], ids=["gumbel", "puct"])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 40])
def test_visits_sum_to_the_simulations_and_the_move_is_legal(config: SearchConfig, n: int) -> None:
    game = toy_game(3, width=8, turn_length=2, num_turns=3)
    states = [start(game)]
    for salt in range(12):
        state = states[-1 if salt % 3 else 0]
        states.append(after(game, state, legal(game, state)[salt % len(legal(game, state))]))
    states = [state for state in states if state[2] == 0]
    result = run(
        game, states, ToyNetwork(8), n, config, noise=True, temperature=1.0, streams=new_streams(1, len(states))
    )
    for lane, state in enumerate(states):
        actions = legal(game, state)
        assert result.action[lane] in actions
        assert result.searched[lane] == (len(actions) > 1)
        assert result.visit_counts[lane].sum() == (n if result.searched[lane] else 0)
        assert not np.delete(result.visit_counts[lane], actions).any()
        assert not np.delete(result.search_policy[lane], actions).any()
        assert result.search_policy[lane].sum() == pytest.approx(1.0)


def test_a_forced_action_is_played_without_the_network() -> None:
    salt, state = next(
        (salt, state) for salt in range(100) if len(legal(game := toy_game(salt, width=2), state := start(game))) == 1
    )
    game, network = toy_game(salt, width=2), ToyNetwork(2)
    result = run(game, state, network, 8)
    assert result.action.tolist() == legal(game, state)
    assert not result.searched[0]
    assert result.visit_counts.sum() == 0
    assert result.search_policy.sum() == 1
    assert network.calls == 0


def test_lanes_that_are_over_or_not_active_are_left_alone() -> None:
    game = toy_game(1, width=2, turn_length=1, num_turns=2, full=True)
    states = np.stack([start(game), start(game, (0, 1)), start(game)])
    result = run(game, states, ToyNetwork(2), 4, active=np.array([True, True, False]))
    assert result.action[1:].tolist() == [-1, -1]
    assert result.searched.tolist() == [True, False, False]
    assert result.visit_counts.sum(1).tolist() == [4, 0, 0]
    assert not result.search_policy[1:].any()


@pytest.mark.parametrize("config", [GUMBEL, PUCT], ids=["gumbel", "puct"])
def test_a_batch_equals_its_lanes_searched_alone(config: SearchConfig) -> None:
    game = toy_game(11, width=6, turn_length=2, num_turns=4)
    states = [start(game)]
    while len(states) < 9:
        state = states[len(states) // 2]
        states += [after(game, state, action) for action in legal(game, state)[:2]]
    streams, budgets = new_streams(5, len(states)), np.arange(3, 3 + 5 * len(states), 5, dtype=np.int32)
    noise = np.arange(len(states)) % 3 > 0
    options = {"num_simulations": budgets, "noise": noise, "temperature": np.where(noise, 1.0, 0.0)}
    whole = Search(game, config, len(states), 64).run(
        np.stack(states), ToyNetwork(6), streams=streams.copy(), **options
    )
    for lane, state in enumerate(states):
        alone = Search(game, config, 1, 64).run(
            state[None],
            ToyNetwork(6),
            streams=streams[lane : lane + 1].copy(),
            **{key: value[lane : lane + 1] for key, value in options.items()},
        )
        for name, array in alone._asdict().items():
            assert np.array_equal(getattr(whole, name)[lane], array[0]), name


def test_a_search_leaves_nothing_behind_for_the_next() -> None:
    game = toy_game(2, width=5, turn_length=2, num_turns=4)
    search, network = Search(game, GUMBEL, 2, 40), ToyNetwork(5)
    first = np.stack([start(game), after(game, start(game), legal(game, start(game))[0])])
    before = search.run(first, network)
    search.run(first[::-1].copy(), network, num_simulations=7)
    again = search.run(first, network)
    assert all(np.array_equal(a, b) for a, b in zip(before, again, strict=True))


def test_the_policy_target_does_not_depend_on_the_noise() -> None:
    # Three candidates and three simulations: every action is visited once, whatever the noise.
    game = toy_game(4, width=3, turn_length=2, num_turns=3, full=True)
    results = [
        run(game, start(game), ToyNetwork(3, 2), 3, noise=True, temperature=20.0, streams=new_streams(seed, 1))
        for seed in range(20)
    ]
    assert len({int(result.action[0]) for result in results}) > 1  # the noise is there
    assert all(np.array_equal(result.search_policy, results[0].search_policy) for result in results)
    assert all(result.visit_counts.tolist() == [[1, 1, 1]] for result in results)


@pytest.mark.parametrize("config", [GUMBEL, PUCT], ids=["gumbel", "puct"])
def test_without_noise_no_random_number_is_drawn(config: SearchConfig) -> None:
    game = toy_game(4, width=6, turn_length=2, num_turns=3, full=True)
    states, streams = np.stack([start(game)] * 3), new_streams(3, 3)
    kept = streams.copy()
    result = run(game, states, ToyNetwork(6), 16, config, streams=streams)
    assert np.array_equal(streams, kept)
    assert np.array_equal(result.visit_counts, run(game, states, ToyNetwork(6), 16, config).visit_counts)
    assert (result.visit_counts == result.visit_counts[0]).all()


def test_with_noise_the_root_explores_other_actions() -> None:
    game = toy_game(4, width=12, turn_length=2, num_turns=2, full=True)
    states = np.stack([start(game)] * 20)
    for config in (GUMBEL, SearchConfig(algorithm="puct", dirichlet_fraction=0.9, dirichlet_alpha=1.0)):
        result = run(game, states, ToyNetwork(12), 4, config, noise=True, streams=new_streams(3, 20))
        assert len({tuple(row) for row in result.visit_counts.tolist()}) > 5
        assert (result.prior == result.prior[0]).all()  # the prior is the network's, without the noise


def test_no_simulations_leave_the_policy_alone() -> None:
    game = toy_game(4, width=6, turn_length=2, num_turns=3, full=True)
    for config in (GUMBEL, PUCT):
        network = ToyNetwork(6)
        result = run(game, start(game), network, 4, config, num_simulations=0)
        assert network.calls == 1
        assert result.action[0] == result.prior[0].argmax()
        assert result.search_policy[0] == pytest.approx(result.prior[0])


def test_requests_that_cannot_be_met_are_refused() -> None:
    game = toy_game(1)
    search = Search(game, GUMBEL, 2, 8)
    states = np.stack([start(game)] * 2)
    with pytest.raises(ValueError, match="need streams"):
        search.run(states, ToyNetwork(3), noise=True)
    with pytest.raises(ValueError, match="from 0 to 8"):
        search.run(states, ToyNetwork(3), num_simulations=9)
    with pytest.raises(ValueError, match="int32"):
        search.run(states[:1], ToyNetwork(3))
    with pytest.raises(ValueError, match="at most 2002"):
        Search(toy_game(1, width=268_000), GUMBEL, 1, 5_000)


SCRIPT = """
import json
import numpy as np
from stonezero.config import SearchConfig
from stonezero.search import Search
from stonezoo.core.rng import new_streams
from tests.stonezero.toy_game import ToyNetwork, start, toy_game

game = toy_game(5, width=4, turn_length=2, num_turns=3)
states = np.stack([start(game)] * 3)
found = []
for algorithm in ("gumbel", "puct"):
    search = Search(game, SearchConfig(algorithm=algorithm), 3, 24)
    result = search.run(states, ToyNetwork(4), noise=True, temperature=1.0, streams=new_streams(1, 3))
    found.append({name: np.asarray(array, float).tolist() for name, array in result._asdict().items()})
print(json.dumps(found))
"""


def test_the_same_search_comes_out_without_compilation() -> None:
    top = Path(__file__).parents[2]
    outputs = []
    for disabled in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            cwd=top,
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled},
        )
        assert done.returncode == 0, done.stderr
        outputs.append(json.loads(done.stdout))
    for compiled, plain in zip(*outputs, strict=True):
        for name, array in compiled.items():
            assert np.allclose(array, plain[name], rtol=0, atol=1e-6), name
