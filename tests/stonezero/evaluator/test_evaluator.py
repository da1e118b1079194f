"""Evaluators: what they return, whatever computes, in one thread and in several."""

import threading
import time

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from stonezero.config import NetworkConfig
from stonezero.evaluator import Evaluator, UniformEvaluator
from stonezero.networks import NetworkOutput, build_network
from tests.stonezero.network_specs import random_observations, square_spec
from tests.stonezero.test_networks import scrambled

torch.set_num_threads(1)
SPEC = square_spec(4)
CONFIG = NetworkConfig(preset="tiny")


def test_it_returns_what_the_network_returns_whatever_the_chunks() -> None:
    network = scrambled(CONFIG, SPEC)
    observations = random_observations(SPEC, 37)
    expected = network(torch.from_numpy(observations))
    for chunk_size in (8, 37, 1024):
        logits, value = Evaluator(network, chunk_size=chunk_size)(observations)
        assert logits.dtype == value.dtype == np.float32
        assert logits.shape == (37, SPEC.num_actions)
        np.testing.assert_allclose(logits, expected.policy_logits.detach(), atol=1e-5)
        np.testing.assert_allclose(value, expected.value.detach(), atol=1e-5)


def test_training_does_not_reach_it_until_weights_are_loaded() -> None:
    network = scrambled(CONFIG, SPEC, seed=0)
    evaluator = Evaluator(network, version=3)
    observations = random_observations(SPEC, 4)
    before = evaluator(observations)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1)
    np.testing.assert_array_equal(evaluator(observations)[0], before[0])
    assert evaluator.version == 3
    evaluator.load_weights(network.state_dict(), version=4)
    assert evaluator.version == 4
    assert np.abs(evaluator(observations)[0] - before[0]).max() > 1e-3
    assert network.training


def test_weights_of_another_network_are_refused_and_change_nothing() -> None:
    evaluator = Evaluator(scrambled(CONFIG, SPEC), version=3)
    observations = random_observations(SPEC, 4)
    before = evaluator(observations)
    other = build_network(NetworkConfig(blocks=1, channels=8), SPEC)
    with pytest.raises(RuntimeError, match="size mismatch"):
        evaluator.load_weights(other.state_dict(), version=4)
    np.testing.assert_array_equal(evaluator(observations)[0], before[0])
    assert evaluator.version == 3


def test_bf16_agrees_with_fp32_within_the_tolerance() -> None:
    network = build_network(CONFIG, SPEC, seed=0)
    observations = random_observations(SPEC, 64)
    exact, coarse = Evaluator(network), Evaluator(network, precision="bf16")
    assert (exact.precision, coarse.precision) == ("fp32", "bf16")
    difference = np.abs(coarse(observations)[1] - exact(observations)[1]).max()
    assert 0 < difference < 0.05
    assert coarse(observations)[0].dtype == np.float32


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="empty batch"):
        Evaluator(build_network(CONFIG, SPEC))(random_observations(SPEC, 0))


class Constant(nn.Module):
    """Every logit and value is its one weight; slow enough for weights to be loaded within a call."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, observation: torch.Tensor) -> NetworkOutput:
        before = self.weight.expand(len(observation))
        time.sleep(0.001)
        after = self.weight.expand(len(observation))
        return NetworkOutput(torch.stack((before, after), dim=1), before)


def test_a_call_ends_with_the_weights_that_it_began_with() -> None:
    evaluator = Evaluator(Constant(), chunk_size=1)  # a batch of several chunks, all of the same weights
    observations = np.zeros((5, 1, 1, 1), np.float32)
    torn: list[NDArray[np.float32]] = []
    seen = set()
    stop = threading.Event()

    def call() -> None:
        while not stop.is_set():
            logits, value = evaluator(observations)
            if len({*logits.ravel().tolist(), *value.tolist()}) != 1:
                torn.append(logits)
            seen.add(float(value[0]))

    callers = [threading.Thread(target=call) for _ in range(2)]
    for caller in callers:
        caller.start()
    for version in range(1, 60):
        evaluator.load_weights({"weight": torch.full((1,), float(version))}, version)
        time.sleep(0.002)
    stop.set()
    for caller in callers:
        caller.join()
    assert not torn
    assert len(seen) > 5


def test_the_uniform_evaluator_knows_nothing() -> None:
    logits, value = UniformEvaluator(7)(random_observations(SPEC, 3))
    assert logits.shape == (3, 7)
    assert not logits.any()
    assert not value.any()
