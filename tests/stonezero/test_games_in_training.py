"""Replay, network and learner on the real games."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import stonezoo
from stonezero.config import LearnerConfig, NetworkConfig, ReplayConfig
from stonezero.learner import Learner
from stonezero.networks import NetworkSpec, build_network
from stonezero.replay import ReplayBuffer, Samples
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.kernels.batch import mask_batch, observe_batch, reset_batch, step_batch

torch.set_num_threads(1)

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("rive", {"board_size": 3}),
    ("resolve", {"board_size": 4}),
    ("dara", {"rows": 3, "columns": 4, "stones": 3}),
]


def engine_mask(game: Any, states: NDArray[np.int32]) -> NDArray[np.int8]:
    mask = np.zeros((len(states), game.num_actions), np.int8)
    mask_batch(game.rules, states, np.empty(game.num_actions, np.int32), mask)
    return mask


def play_samples(game: Any, lanes: int = 64, plies: int = 30, seed: int = 0) -> Samples:
    """Rows of random games; the target is a random policy over the legal actions, the value is random too."""
    rng = np.random.default_rng(seed)
    states = np.zeros((lanes, game.rules.state_size), np.int32)
    reset_batch(game.rules, states)
    parts = []
    for ply in range(plies):
        ongoing = states[:, OUTCOME] == ONGOING
        mask = engine_mask(game, states)
        noise = rng.random(mask.shape)
        if ongoing.any():
            policy = (noise * mask)[ongoing].astype(np.float32)
            policy /= policy.sum(1, keepdims=True)
            count = len(policy)
            value = rng.choice(np.array([-1, 1], np.float32), count)
            version = np.full(count, ply, np.int32)
            parts.append(Samples(states[ongoing], policy, mask[ongoing].astype(np.bool_), value, version))
        step_batch(game.rules, states, np.where(ongoing, (noise * mask).argmax(1), -1).astype(np.int32))
    return Samples.concatenate(parts)


@pytest.fixture(params=GAMES, ids=[name for name, _ in GAMES])
def game(request: pytest.FixtureRequest) -> Any:
    name, parameters = request.param
    return stonezoo.load_game(name, **parameters)


def make_buffer(game: Any, symmetries: bool = True) -> ReplayBuffer:
    return ReplayBuffer(game, ReplayConfig(capacity=5_000, window=5_000, min_rows=1), symmetries=symmetries)


def test_the_mask_of_a_turned_row_is_the_engines(game: Any) -> None:
    samples = play_samples(game)
    buffer = make_buffer(game)
    for index in range(len(game.symmetries)):
        symmetry = np.full(len(samples), index, np.int32)
        states, policy, mask = buffer.apply_symmetries(
            samples.states, samples.search_policy, samples.legal_action_mask, symmetry
        )
        np.testing.assert_array_equal(mask, engine_mask(game, states).astype(np.bool_))
        assert not policy[~mask].any()
        actions = samples.search_policy.argmax(1)
        np.testing.assert_array_equal(policy.argmax(1), np.asarray(game.symmetries[index].actions)[actions])


def test_a_batch_shows_rows_as_the_engine_does(game: Any) -> None:
    samples = play_samples(game)
    buffer = make_buffer(game, symmetries=False)
    buffer.add(samples)
    batch = buffer.sample(100, np.random.default_rng(0))
    rows = len(samples) - 1 - batch.age
    expected = np.empty((100, *game.observation_shape), np.float32)
    observe_batch(game.rules, samples.states[rows], expected)
    np.testing.assert_array_equal(batch.observation, expected)
    np.testing.assert_array_equal(batch.search_policy, samples.search_policy[rows])


def test_the_network_fits_the_game_and_a_fixed_batch_is_learnt(game: Any) -> None:
    buffer = make_buffer(game)
    buffer.add(play_samples(game))
    batch = buffer.sample(64, np.random.default_rng(0))
    network = build_network(NetworkConfig(preset="tiny"), NetworkSpec.from_game(game), seed=0)
    learner = Learner(network, LearnerConfig(lr=3e-3, warmup_steps=5))
    first = learner.step(batch)
    for _ in range(80):
        last = learner.step(batch)
    assert last["loss"] - last["target_entropy"] < 0.6 * (first["loss"] - first["target_entropy"])
    assert last["policy_kl"] < first["policy_kl"]


def test_the_weights_of_a_small_board_play_a_larger_one() -> None:
    small, large = (NetworkSpec.from_game(stonezoo.load_game("resolve", board_size=size)) for size in (3, 7))
    trained = build_network(NetworkConfig(preset="tiny"), small, seed=0)
    other = build_network(NetworkConfig(preset="tiny"), large)
    other.load_state_dict(trained.state_dict())
    with torch.no_grad():
        output = other(torch.zeros(1, *large.observation_shape).index_fill_(3, torch.tensor(large.on_board_plane), 1.0))
    assert output.policy_logits.shape == (1, 49)
