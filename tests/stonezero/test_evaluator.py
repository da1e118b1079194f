import numpy as np
import pytest
import torch

from stonezero import evaluator as evaluator_module
from stonezero.config import NetworkConfig
from stonezero.evaluator import Evaluator, UniformEvaluator, random_probe
from stonezero.networks import build_network
from tests.stonezero.network_specs import ON_BOARD, random_observations, square_spec
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


def test_bf16_agrees_with_fp32_within_the_tolerance() -> None:
    network = build_network(CONFIG, SPEC, seed=0)
    observations = random_observations(SPEC, 64)
    exact, coarse = Evaluator(network), Evaluator(network, precision="bf16")
    assert (exact.precision, coarse.precision) == ("fp32", "bf16")
    np.testing.assert_allclose(coarse(observations)[1], exact(observations)[1], atol=evaluator_module.TOLERANCE)
    assert coarse(observations)[0].dtype == np.float32


@pytest.mark.parametrize(("speeds", "tolerance", "expected"), [
    ({torch.float32: 100.0, torch.bfloat16: 120.0}, 0.05, "bf16"),
    ({torch.float32: 100.0, torch.bfloat16: 105.0}, 0.05, "fp32"),
    ({torch.float32: 100.0, torch.bfloat16: 500.0}, 0.0, "fp32"),
])  # fmt: skip
def test_bf16_is_taken_when_faster_and_exact_enough(
    monkeypatch: pytest.MonkeyPatch, speeds: dict[torch.dtype, float], tolerance: float, expected: str
) -> None:
    monkeypatch.setattr(evaluator_module, "_speed", lambda network, probe: speeds[next(network.parameters()).dtype])
    monkeypatch.setattr(evaluator_module, "TOLERANCE", tolerance)
    probe = random_probe(SPEC.observation_shape, ON_BOARD, 32)
    evaluator = Evaluator(build_network(CONFIG, SPEC, seed=0), probe=probe)
    assert evaluator.precision == expected
    assert "fp32 100 positions/s" in evaluator.describe()


def test_weights_too_coarse_for_bf16_are_played_in_fp32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        evaluator_module, "_speed", lambda network, probe: 1.0 + (next(network.parameters()).element_size() == 2)
    )
    network = build_network(CONFIG, SPEC, seed=0)
    evaluator = Evaluator(network, probe=random_probe(SPEC.observation_shape, ON_BOARD, 32))
    assert evaluator.precision == "bf16"
    steep = {
        name: 30 * tensor if name.startswith(("policy", "value")) else tensor
        for name, tensor in network.state_dict().items()
    }
    evaluator.load_weights(steep, version=1)
    assert evaluator.precision == "fp32"


def test_the_measured_choice_is_described() -> None:
    evaluator = Evaluator(build_network(CONFIG, SPEC), probe=random_probe(SPEC.observation_shape, ON_BOARD, 8))
    assert set(evaluator.speeds) == {"fp32", "bf16"}
    assert evaluator.precision in evaluator.describe()


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(ValueError, match="empty batch"):
        Evaluator(build_network(CONFIG, SPEC))(random_observations(SPEC, 0))


def test_the_uniform_evaluator_knows_nothing() -> None:
    logits, value = UniformEvaluator(7)(random_observations(SPEC, 3))
    assert logits.shape == (3, 7)
    assert not logits.any()
    assert not value.any()
