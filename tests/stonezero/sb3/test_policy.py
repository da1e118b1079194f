"""The trainer's network inside a policy of stable-baselines3."""

from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from stonezero.config import NetworkConfig
from stonezero.networks import NetworkSpec, build_network
from stonezero.sb3 import BoardPolicy, board_policy_kwargs, make_vec_env
from stonezoo import load_game

GAME = load_game("dara", rows=3, columns=3, stones=3)
SPEC = NetworkSpec.from_game(GAME)
NETWORK = NetworkConfig(preset="tiny", blocks=2, channels=16)

torch.set_num_threads(1)


def new_model(seed: int = 3, **changes: Any) -> MaskablePPO:
    env = make_vec_env("dara", 4, **GAME.parameters)
    settings: dict[str, Any] = {"n_steps": 8, "batch_size": 16, "seed": seed, "device": "cpu", **changes}
    return MaskablePPO(BoardPolicy, env, policy_kwargs=board_policy_kwargs(NETWORK, SPEC), **settings)


def test_the_weights_are_the_networks_own_and_nothing_is_added() -> None:
    policy = new_model(seed=3).policy
    assert isinstance(policy, BoardPolicy)
    torch.manual_seed(3)
    expected = build_network(NETWORK, SPEC).state_dict()
    found = policy.network.state_dict()
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in found)
    assert len(list(policy.parameters())) == len(list(policy.network.parameters()))


def test_policy_and_value_are_the_networks_heads() -> None:
    model = new_model()
    policy = model.policy
    assert isinstance(policy, BoardPolicy)
    env = model.get_env()
    assert env is not None
    observations = env.reset()
    seen = torch.from_numpy(observations)
    with torch.no_grad():
        output = policy.network(seen)
        distribution: Any = policy.get_distribution(seen).distribution
        torch.testing.assert_close(distribution.logits, output.policy_logits.log_softmax(1))
        torch.testing.assert_close(policy.predict_values(seen)[:, 0], output.value)
        assert float(output.value.abs().max()) > 0


def test_illegal_actions_have_no_probability_and_a_gradient_of_rounding_at_most() -> None:
    model = new_model()
    policy = model.policy
    env = model.get_env()
    assert env is not None
    seen = torch.from_numpy(env.reset())
    masks = np.ones((4, GAME.num_actions), np.bool_)
    masks[:, 9:] = False
    masks[:, 2] = False
    distribution: Any = policy.get_distribution(seen, masks).distribution
    assert float(distribution.probs.detach()[:, ~masks[0]].max()) == 0.0
    logits = torch.randn(4, GAME.num_actions, requires_grad=True)
    masked: Any = policy.action_dist.proba_distribution(action_logits=logits)
    masked.apply_masking(masks)
    (masked.log_prob(torch.zeros(4, dtype=torch.int64)).sum() + masked.entropy().sum()).backward()
    assert logits.grad is not None
    # Not exactly 0: sb3-contrib normalises logits once before it masks them, and that rounds.
    assert float(logits.grad[:, ~masks[0]].abs().max()) < 1e-7 < 1e-2 < float(logits.grad.abs().max())


def test_training_changes_every_weight_of_trunk_and_heads() -> None:
    model = new_model()
    policy = model.policy
    assert isinstance(policy, BoardPolicy)
    before = {name: tensor.clone() for name, tensor in policy.network.state_dict().items()}
    model.learn(64)
    for name, tensor in policy.network.state_dict().items():
        assert not torch.equal(tensor, before[name]), name


def test_a_network_for_other_observations_is_refused() -> None:
    other = board_policy_kwargs(NETWORK, NetworkSpec.from_game(load_game("rive", board_size=2)))
    env = make_vec_env("dara", 2, **GAME.parameters)
    with pytest.raises(ValueError, match=r"observations \(3, 3, .*\) are not the network's \(3, 3, "):
        MaskablePPO(BoardPolicy, env, policy_kwargs=other, device="cpu")


def test_any_policy_of_stable_baselines3_learns_on_the_adapter() -> None:
    model = MaskablePPO("MlpPolicy", make_vec_env("rive", 4, board_size=2), n_steps=8, batch_size=16, device="cpu")
    model.learn(64)
    assert model.num_timesteps == 64
