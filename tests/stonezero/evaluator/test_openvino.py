"""OpenVINO, where it is installed; where STONEZOO_TEST_LIBRARIES names it, a missing one is a failure."""

import builtins
import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from stonezero.config import NetworkConfig
from stonezero.evaluator import EngineError, Evaluator
from stonezero.networks import NetworkOutput, build_network
from tests.stonezero.evaluator.engine_checks import (
    SPEC,
    check_agreement,
    check_threads,
    check_weights,
    make,
    needs_openvino,
)
from tests.stonezero.network_specs import random_observations


@needs_openvino
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_openvino_agrees_with_fp32_at_every_batch_size_with_any_weights_and_in_threads(precision: str) -> None:
    evaluator, exact = make("openvino", precision)
    assert evaluator.engine == f"openvino {precision}"
    check_agreement(evaluator, exact)
    check_weights(evaluator, exact)
    check_threads(evaluator)


@needs_openvino
def test_auto_measures_openvino_too() -> None:
    network = build_network(NetworkConfig(blocks=2, channels=8), SPEC, seed=0)
    evaluator = Evaluator(network, probe=random_observations(SPEC, 64))
    assert {"eager fp32", "openvino fp32"} <= set(evaluator.speeds)


class Normalised(nn.Module):
    """A network of one's own whose buffers change with the weights."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(SPEC.num_actions)
        self.linear = nn.Linear(int(np.prod(SPEC.observation_shape)), SPEC.num_actions)

    def forward(self, observation: torch.Tensor) -> NetworkOutput:
        logits = self.norm(self.linear(observation.flatten(1)))
        return NetworkOutput(logits, torch.tanh(logits.mean(1)))


@needs_openvino
def test_buffers_are_loaded_with_the_weights() -> None:
    network = Normalised()
    evaluator = Evaluator(network, engine="openvino", precision="fp32", probe=random_observations(SPEC, 16))
    network.norm.running_mean += 2.0
    evaluator.load_weights(network.state_dict(), version=1)
    assert evaluator.engine == "openvino fp32"
    observations = random_observations(SPEC, 5)
    expected = network.eval()(torch.from_numpy(observations))
    np.testing.assert_allclose(evaluator(observations)[0], expected.policy_logits.detach(), atol=1e-4)


class Moody(Normalised):
    """Traced, it answers with the branch that the example took."""

    def forward(self, observation: torch.Tensor) -> NetworkOutput:
        found = super().forward(observation)
        return found if len(observation) < 5 else found._replace(value=-found.value)


@needs_openvino
def test_a_network_that_openvino_gets_wrong_is_played_eagerly() -> None:
    lines: list[str] = []
    evaluator = Evaluator(Moody(), engine="openvino", precision="fp32")
    evaluator.choose(random_observations(SPEC, 16), say=lines.append)
    assert evaluator.engine == "eager fp32"
    assert any("openvino fp32 is not within the tolerance" in line for line in lines)


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_openvino(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name.partition(".")[0] == "openvino":
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    for name in [name for name in sys.modules if name.partition(".")[0] == "openvino"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without_openvino)
    network = build_network(NetworkConfig(blocks=1, channels=8), SPEC)
    probe = random_observations(SPEC, 16)
    with pytest.raises(
        ValueError, match=r'device\.engine: openvino is not installed; pip install "stonezoo\[openvino\]"'
    ):
        Evaluator(network, engine="openvino", probe=probe)
    evaluator = Evaluator(network, probe=probe)
    assert evaluator.engine.startswith("eager")
    assert 'openvino is not installed; pip install "stonezoo[openvino]"' in evaluator.describe()


def test_it_computes_on_the_processor_only() -> None:
    from stonezero.evaluator.openvino import require_openvino

    with pytest.raises(EngineError, match="on the cpu, not on cuda"):
        require_openvino(torch.device("cuda"))
