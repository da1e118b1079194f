import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from stonezero.checkpoint import load_training_state, save_training_state
from stonezero.config import DeviceConfig, LearnerConfig, NetworkConfig
from stonezero.device import prepare_device
from stonezero.learner import Learner, calibration_error, policy_cross_entropy
from stonezero.networks import build_network
from stonezero.replay import Batch
from tests.stonezero.network_specs import random_observations, square_spec

torch.set_num_threads(1)
SPEC = square_spec(4)
A = SPEC.num_actions


@pytest.fixture
def deterministic() -> Iterator[None]:
    prepare_device(DeviceConfig(kind="cpu"), deterministic=True)
    yield
    torch.use_deterministic_algorithms(False)


def make_batch(size: int = 32, seed: int = 0) -> Batch:
    rng = np.random.default_rng(seed)
    mask = rng.random((size, A)) < 0.4
    mask[np.arange(size), rng.integers(A, size=size)] = True
    policy = (mask * rng.random((size, A)) ** 4).astype(np.float32)
    policy /= policy.sum(1, keepdims=True)
    value = rng.choice(np.array([-1, 1], np.float32), size)
    zeros = np.zeros(size, np.int64)
    return Batch(random_observations(SPEC, size, seed), mask, policy, value, zeros, zeros.astype(np.int32))


def make_learner(**settings: object) -> Learner:
    config = LearnerConfig(**{"warmup_steps": 5, **settings})  # type: ignore[arg-type]
    network = build_network(NetworkConfig(preset="tiny"), SPEC, seed=0)
    return Learner(network, config)


def test_the_gradient_on_illegal_logits_is_exactly_zero() -> None:
    batch = make_batch()
    logits = torch.randn(32, A, generator=torch.Generator().manual_seed(0)).mul_(30).requires_grad_()
    mask = torch.from_numpy(batch.legal_action_mask)
    policy_cross_entropy(logits, mask, torch.from_numpy(batch.search_policy)).sum().backward()  # type: ignore[no-untyped-call]
    assert logits.grad is not None
    assert not logits.grad[~mask].any()
    assert logits.grad[mask].any()
    assert bool(torch.isfinite(logits.grad).all())


def test_the_loss_is_finite_with_all_but_one_action_illegal() -> None:
    mask = torch.zeros(1, A, dtype=torch.bool)
    mask[0, 3] = True
    for scale in (1.0, 1e4, -1e4):
        logits = torch.linspace(-1, 1, A).mul(scale)[None].requires_grad_()
        loss = policy_cross_entropy(logits, mask, mask.float())
        loss.sum().backward()  # type: ignore[no-untyped-call]
        assert float(loss.detach()) == 0.0
        assert logits.grad is not None
        assert not logits.grad.any()


def test_a_target_on_an_illegal_action_does_not_reach_the_loss() -> None:
    mask = torch.tensor([[True, True, False]])
    logits = torch.tensor([[0.0, 0.0, 50.0]])
    assert float(policy_cross_entropy(logits, mask, torch.tensor([[0.5, 0.5, 1.0]]))) == pytest.approx(math.log(2))


def test_the_cross_entropy_is_that_of_the_legal_actions_alone() -> None:
    batch = make_batch()
    logits = np.random.default_rng(1).normal(size=(32, A))
    expected = []
    for row in range(32):
        legal = batch.legal_action_mask[row]
        log_prior = logits[row, legal] - np.log(np.exp(logits[row, legal]).sum())
        expected.append(-(batch.search_policy[row, legal] * log_prior).sum())
    actual = policy_cross_entropy(
        torch.from_numpy(logits), torch.from_numpy(batch.legal_action_mask), torch.from_numpy(batch.search_policy)
    )
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-5)


def test_a_fixed_batch_is_learnt() -> None:
    learner, batch = make_learner(lr=3e-3), make_batch(64)
    first = learner.step(batch)
    for _ in range(250):
        last = learner.step(batch)
    assert first["policy_kl"] > 0.5
    assert last["policy_kl"] < 0.15 * first["policy_kl"]
    assert last["value_loss"] < 0.1 * first["value_loss"]
    assert last["value_correlation"] > 0.9
    assert last["policy_loss"] == pytest.approx(last["policy_kl"] + last["target_entropy"], abs=1e-5)


def test_what_a_step_reports_is_finite_and_in_range() -> None:
    report = make_learner().step(make_batch())
    assert all(math.isfinite(value) for value in report.values())
    assert 0 < report["prior_entropy"] <= math.log(A)
    assert report["grad_norm"] > 0
    assert 0 <= report["value_calibration_error"] <= 2
    assert -1 <= report["value_correlation"] <= 1


def test_the_step_size_warms_up_then_stays_or_falls() -> None:
    learner = make_learner(lr=1.0, warmup_steps=10)
    assert [learner.learning_rate(step) for step in (1, 5, 10, 11, 1000)] == [0.1, 0.5, 1.0, 1.0, 1.0]
    cosine = make_learner(lr=1.0, warmup_steps=10, schedule="cosine")
    rates = [round(cosine.learning_rate(50, progress), 6) for progress in (0.0, 0.5, 1.0, 1.2)]
    assert rates == [1.0, 0.55, 0.1, 0.1]
    assert cosine.learning_rate(5, 0.5) == pytest.approx(0.275)
    assert cosine.step(make_batch(), 0.5)["lr"] == pytest.approx(0.055)
    assert make_learner(lr=1.0, warmup_steps=0).learning_rate(1) == 1.0


def test_averaged_weights_follow_slowly_and_catch_up() -> None:
    learner, batch = make_learner(ema_decay=0.9), make_batch()
    start = learner.average_weights()
    for _ in range(30):
        learner.step(batch)
    raw, average = learner.weights(), learner.average_weights()
    moved = sum(float((raw[name] - start[name]).norm()) for name in raw)
    behind = sum(float((raw[name] - average[name]).norm()) for name in raw)
    assert 0 < behind < 0.6 * moved
    plain = make_learner(ema_decay=0.0)
    plain.step(batch)
    assert all(torch.equal(plain.weights()[name], plain.average_weights()[name]) for name in raw)


def test_only_kernels_and_matrices_decay() -> None:
    learner = make_learner()
    decayed, others = learner._optimiser.param_groups
    assert decayed["weight_decay"] > 0
    assert all(parameter.ndim > 1 for parameter in decayed["params"])
    assert others["weight_decay"] == 0
    assert all(parameter.ndim == 1 for parameter in others["params"])


def test_a_loss_that_is_not_finite_stops_before_the_weights_change() -> None:
    learner, batch = make_learner(), make_batch()
    learner.step(batch)
    before = learner.weights()
    batch.value[0] = np.nan
    with pytest.raises(FloatingPointError, match="learner step 2"):
        learner.step(batch)
    assert all(torch.equal(before[name], tensor) for name, tensor in learner.weights().items())
    assert learner.steps == 1


@pytest.mark.usefixtures("deterministic")
@pytest.mark.parametrize("lost", [None, "optimiser", "steps", "average"])
def test_n_steps_equal_k_steps_resume_and_the_rest_bit_for_bit(tmp_path: Path, lost: str | None) -> None:
    settings = {"lr": 2e-3, "warmup_steps": 15, "schedule": "cosine"}
    straight = make_learner(**settings)
    interrupted = make_learner(**settings)
    fresh = interrupted.state_dict()
    for step in range(20):
        straight.step(make_batch(seed=step), step / 40)
        if step < 8:
            interrupted.step(make_batch(seed=step), step / 40)
    save_training_state(tmp_path / "state.pt", interrupted.state_dict())
    state = load_training_state(tmp_path / "state.pt")
    if lost is not None:
        state[lost] = fresh[lost]
    resumed = make_learner(**settings)
    resumed.load_state_dict(state)
    for step in range(8, 20):
        report = resumed.step(make_batch(seed=step), step / 40)
    same = all(
        torch.equal(mine[name], tensor)
        for theirs, mine in (
            (straight.weights(), resumed.weights()),
            (straight.average_weights(), resumed.average_weights()),
        )
        for name, tensor in theirs.items()
    )
    assert same == (lost is None)
    assert math.isfinite(report["loss"])


def test_the_calibration_error_of_hand_made_values() -> None:
    value = torch.tensor([0.9, 0.9, -0.5, -0.5])
    assert calibration_error(value, value.clone()) == 0.0
    assert calibration_error(value, torch.tensor([1.0, 0.8, -1.0, 0.0])) == pytest.approx(0.0, abs=1e-6)
    assert calibration_error(value, torch.tensor([-1.0, -1.0, -0.5, -0.5])) == pytest.approx(0.95)
