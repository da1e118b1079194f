"""Nothing that was evaluated before answers for another state or for other weights."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo
from stonezero.config import NetworkConfig, SearchConfig
from stonezero.evaluator import Evaluator
from stonezero.networks import NetworkSpec
from stonezero.players import NetworkPlayer
from stonezero.search import Search, SearchResult
from stonezoo.core.game import ONGOING, OUTCOME, PHASE, TO_PLAY
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import observe_batch
from tests.stonezero.test_networks import scrambled

NETWORK = NetworkConfig(preset="tiny", blocks=1, channels=8)
GAMES: list[tuple[str, dict[str, Any]]] = [
    ("rive", {"board_size": 2}),
    ("resolve", {"board_size": 4, "rules": "original"}),
    ("dara", {"rows": 3, "columns": 3, "stones": 3, "quiet_limit": 8}),
]
SIMULATIONS = 6


@pytest.fixture(params=GAMES, ids=[name for name, _ in GAMES])
def game(request: pytest.FixtureRequest) -> stonezoo.Game:
    name, parameters = request.param
    return stonezoo.load_game(name, **parameters)


def random_states(game: stonezoo.Game, games: int, seed: int = 0) -> NDArray[np.int32]:
    """The states [N, S] with a choice of random games, each once."""
    rng, found = np.random.default_rng(seed), {}
    for _ in range(games):
        state = game.initial_state()
        while not state.terminated:
            if len(state.legal_actions) > 1:
                found[state.row.tobytes()] = state.row
            state.step(int(rng.choice(state.legal_actions)))
    return np.stack(list(found.values()))


def look_alike(game: stonezoo.Game) -> list[NDArray[np.int32]]:
    """Groups of states with the same stones and player to act, which differ in what the board does not show."""
    groups: dict[tuple[bytes, int], list[NDArray[np.int32]]] = {}
    for row in random_states(game, 400):
        groups.setdefault((game.from_row(row).board.tobytes(), int(row[TO_PLAY])), []).append(row)
    return [np.stack(rows) for rows in groups.values() if len(rows) > 1]


def observe(game: stonezoo.Game, states: NDArray[np.int32]) -> NDArray[np.float32]:
    out = np.empty((len(states), *game.observation_shape), np.float32)
    observe_batch(game.rules, np.ascontiguousarray(states), out)
    return out


def network(game: stonezoo.Game, seed: int) -> Any:
    return scrambled(NETWORK, NetworkSpec.from_game(game), seed)


def search(game: stonezoo.Game, states: NDArray[np.int32], evaluate: Any) -> SearchResult:
    return Search(game, SearchConfig(), len(states), SIMULATIONS).run(np.ascontiguousarray(states), evaluate)


def assert_same(one: SearchResult, two: SearchResult) -> None:
    assert np.array_equal(one.visit_counts, two.visit_counts)
    for name in ("search_policy", "root_value", "prior"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-4)


def test_after_new_weights_every_evaluation_and_search_is_theirs(game: stonezoo.Game) -> None:
    states = random_states(game, 2)[:12]
    evaluator = Evaluator(network(game, 1), version=1)
    used, player = (
        Search(game, SearchConfig(), len(states), SIMULATIONS),
        NetworkPlayer(game, evaluator, SearchConfig(), SIMULATIONS, "net"),
    )
    before = evaluator(observe(game, states)), used.run(states, evaluator)
    player.assess(states, new_streams(0, len(states)))
    evaluator.load_weights(network(game, 2).state_dict(), version=2)
    other = Evaluator(network(game, 2), version=2)
    for then, now, right in zip(before[0], evaluator(observe(game, states)), other(observe(game, states)), strict=True):
        np.testing.assert_allclose(now, right, atol=1e-4)
        assert np.abs(now - then).max() > 0.01
    right = search(game, states, other)
    assert_same(used.run(states, evaluator), right)
    assert np.abs(right.root_value - before[1].root_value).max() > 0.01
    actions, values = player.assess(states, new_streams(0, len(states)))
    assert np.array_equal(actions, right.action)
    np.testing.assert_allclose(values, right.action_value, atol=1e-4)


def test_states_that_differ_in_what_the_board_does_not_show_are_evaluated_and_searched_apart(
    game: stonezoo.Game,
) -> None:
    groups = look_alike(game)
    assert len(groups) > 5
    evaluator = Evaluator(network(game, 1))
    for group in groups[:12]:
        together = evaluator(observe(game, group))
        for lane, row in enumerate(group):
            alone = Evaluator(network(game, 1))(observe(game, row[None]))
            for one, several in zip(alone, together, strict=True):
                np.testing.assert_allclose(one[0], several[lane], atol=1e-4)
        assert len({logits.tobytes() for logits in together[0]}) == len(group)
    for group in groups[:4]:
        found = search(game, group, evaluator)
        for lane, row in enumerate(group):
            alone = search(game, row[None], Evaluator(network(game, 1)))
            assert_same(SearchResult(*(array[lane : lane + 1] for array in found)), alone)


def test_the_groups_that_look_alike_differ_in_phases_pending_removals_and_counters() -> None:
    differing: set[str] = set()
    for name, parameters in GAMES:
        game = stonezoo.load_game(name, **parameters)
        for group in look_alike(game):
            assert (group[:, OUTCOME] == ONGOING).all()
            texts = [dict(part.split("=") for part in game.from_row(row).to_text().split()[2:]) for row in group]
            differing |= {key for text in texts for key in text if len({other.get(key) for other in texts}) > 1}
            if len(set(group[:, PHASE].tolist())) > 1:
                differing.add("phase")
    assert differing >= {"phase", "remove", "stone", "quiet", "full"}
