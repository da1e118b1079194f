"""That something is learnt: rewards reach the actions that earned them."""

from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from stonezero.config import NetworkConfig
from stonezero.networks import NetworkSpec
from stonezero.sb3 import BoardPolicy, board_policy_kwargs, make_vec_env
from stonezoo import load_game

torch.set_num_threads(1)
GAME = load_game("rive", board_size=2)


def highest_legal(observation: Any, mask: Any) -> int:
    return int(np.flatnonzero(mask)[-1])


@pytest.mark.parametrize("seat", [0, 1])
def test_from_either_seat_ppo_finds_how_to_beat_an_opponent_without_randomness(seat: int) -> None:
    env = make_vec_env("rive", 16, opponent=highest_legal, seat=seat, board_size=2)
    network = board_policy_kwargs(NetworkConfig(preset="tiny", blocks=1, channels=16), NetworkSpec.from_game(GAME))
    model = MaskablePPO(
        BoardPolicy,
        env,
        learning_rate=0.005,
        n_steps=16,
        batch_size=128,
        n_epochs=4,
        gamma=1.0,
        policy_kwargs=network,
        seed=1,
        device="cpu",
    )
    model.learn(16 * 16 * 12)
    observations = env.reset()
    rewards = []
    for _ in range(30):
        actions, _ = model.predict(observations, action_masks=env.action_masks(), deterministic=True)
        observations, reward, dones, _ = env.step(actions)
        rewards += reward[dones].tolist()
    assert len(rewards) >= 16
    assert np.mean(rewards) == 1.0
