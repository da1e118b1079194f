"""Networks as players."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo
from stonezero.config import SearchConfig
from stonezero.evaluator import UniformEvaluator
from stonezero.players import NetworkPlayer
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import legal_batch
from stonezoo.players import choose
from tests.stonezoo.players.test_players import every_game, positions

RESOLVE = stonezoo.load_game("resolve", board_size=4)


class HashEvaluator:
    """Logits and values that depend on the observation alone, and look random."""

    def __init__(self, game: stonezoo.Game) -> None:
        rng = np.random.default_rng(0)
        self.weights = rng.normal(size=(int(np.prod(game.observation_shape)), game.num_actions + 1))

    def __call__(self, observations: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        out = np.stack([row.reshape(-1).astype(np.float64) @ self.weights for row in observations])
        return out[:, :-1].astype(np.float32), np.tanh(out[:, -1]).astype(np.float32)


@every_game
@pytest.mark.parametrize("simulations", [0, 1, 12])
@pytest.mark.parametrize("algorithm", ["gumbel", "puct"])
def test_actions_are_legal_and_depend_on_their_own_state_alone(
    game: stonezoo.Game, simulations: int, algorithm: Any
) -> None:
    states = positions(game, 30)
    streams = new_streams(0, len(states))
    before = streams.copy()
    player = NetworkPlayer(game, HashEvaluator(game), SearchConfig(algorithm), simulations, "hash")
    actions = player.act(states, streams)
    assert actions.dtype == np.int32
    assert (streams == before).all()
    legal = np.empty(len(states), np.bool_)
    legal_batch(game.rules, states, actions, legal)
    assert legal.all()
    assert (player.act(states[3:9], streams[3:9]) == actions[3:9]).all()  # fewer than before
    small = NetworkPlayer(game, HashEvaluator(game), SearchConfig(algorithm), simulations, "hash")
    assert (small.act(states[3:9], streams[3:9]) == actions[3:9]).all()
    assert (small.act(states, streams) == actions).all()  # more than before
    assert choose(player, game.from_row(states[5]), 0) == actions[5]


def test_the_policy_alone_plays_the_legal_action_with_the_largest_logit() -> None:
    state = RESOLVE.parse_state("XO../.XO./..../.... b")

    def evaluate(observations: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        logits = np.full((len(observations), 16), -1e9, np.float32)
        logits[:, 0] = 1e9  # occupied
        logits[:, 7] = -1e8
        return logits, np.zeros(len(observations), np.float32)

    assert choose(NetworkPlayer(RESOLVE, evaluate, SearchConfig(), 0, "p"), state, 0) == 7


def test_the_search_finds_a_win_that_the_network_does_not_know() -> None:
    state = RESOLVE.parse_state("X..O/X.O./X..O/.... b")
    player = NetworkPlayer(RESOLVE, UniformEvaluator(16), SearchConfig(), 64, "uniform:64")
    assert state.action_to_str(choose(player, state, 0)) == "a1"


@pytest.mark.parametrize("algorithm", ["gumbel", "puct"])
def test_where_the_network_has_no_preference_the_same_state_still_gets_the_same_action_in_every_lane(
    algorithm: Any,
) -> None:
    game = stonezoo.load_game("rive", board_size=3)
    states = np.tile(game.initial_state().row, (40, 1))
    player = NetworkPlayer(game, UniformEvaluator(game.num_actions), SearchConfig(algorithm), 4, "uniform:4")
    assert len(set(player.act(states, new_streams(0, 40)).tolist())) == 1
