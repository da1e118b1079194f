"""The network through torch.compile.

The weights are arguments of the compiled function and the batch is of any size, so that it is compiled once for all
weights and sizes; freezing would fold the weights in and compile again, for many seconds, at every change of them.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable

import torch
from torch import Tensor, nn

from stonezero.evaluator.engines import DTYPES, EngineError, Floats, Kind, Precision, freeze, pad

SMALLEST_BATCH = 2  # torch.compile would compile once more for a batch of one

Function = Callable[[dict[str, Tensor], Tensor], tuple[Tensor, Tensor]]


class CompiledEngine:
    """A compiled function of weights and observations; compiling takes place here, on an example."""

    kind: Kind = "compiled"

    def __init__(self, network: nn.Module, device: torch.device, precision: Precision, example: Floats) -> None:
        """`example` float32 [N, H, W, C] is what it is compiled for; other batch sizes are served too.

        Raises EngineError when there is no compiler, or the network cannot be compiled.
        """
        require_compiler(device)
        self.device = device
        self.precision: Precision = precision
        frozen = freeze(network, device, DTYPES[precision])
        self._function = _function(frozen)
        self._weights = _weights(frozen)
        try:
            self(example)
        except Exception as error:  # of many kinds, from Dynamo, Inductor and the compiler
            raise EngineError(
                f"device.engine: torch.compile fails on this network or machine ({_first_line(error)}); use "
                f"device.engine: eager"
            ) from error

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        size = len(observations)
        batch = torch.from_numpy(pad(observations, SMALLEST_BATCH)).to(self.device)
        torch._dynamo.mark_dynamic(batch, 0)
        with torch.inference_mode():
            policy_logits, value = self._function(self._weights, batch)
        return policy_logits[:size].cpu().numpy(), value[:size].cpu().numpy()

    def with_weights(self, network: nn.Module) -> CompiledEngine:
        other = object.__new__(CompiledEngine)
        other.device, other.precision, other._function = self.device, self.precision, self._function
        other._weights = _weights(freeze(network, self.device, DTYPES[self.precision]))
        return other


def require_compiler(device: torch.device) -> None:
    """Raise EngineError unless there is the compiler that torch.compile calls; on cuda it brings its own."""
    if device.type != "cpu":
        return
    standard = {"darwin": "clang++", "win32": "cl"}.get(sys.platform, "g++")  # as torch's own choice
    compiler = os.environ.get("CXX", standard)
    if shutil.which(compiler) is None:
        raise EngineError(
            f"device.engine: compiled needs a C++ compiler, and there is no {compiler} here; install one (Debian: "
            f"apt-get install g++) or use device.engine: eager"
        )


def _function(network: nn.Module) -> Function:
    def evaluate(weights: dict[str, Tensor], observations: Tensor) -> tuple[Tensor, Tensor]:
        output = torch.func.functional_call(network, weights, (observations,))
        return output.policy_logits, output.value

    compiled: Function = torch.compile(evaluate)
    return compiled


def _weights(network: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach() for name, tensor in network.state_dict().items()}


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
