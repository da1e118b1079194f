"""Ways to compute a network: what they share, and the plain one.

An engine belongs to one set of weights and never changes, so that several threads may call it at once; other weights
make another engine.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from stonezero.networks import NetworkOutput

Floats = NDArray[np.float32]
Precision = Literal["fp32", "bf16"]
Kind = Literal["eager", "compiled", "openvino"]

DTYPES: dict[str, torch.dtype] = {"fp32": torch.float32, "bf16": torch.bfloat16}


class EngineError(ValueError):
    """An engine that cannot be had here; the message says why and what would help."""


class Engine(Protocol):
    """A network with its weights, ready to be called."""

    kind: Kind
    precision: Precision

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        """policy_logits float32 [B, A] and value float32 [B], new arrays, of observations [B, H, W, C]; B >= 1."""
        ...

    def with_weights(self, network: nn.Module) -> Engine:
        """The same way to compute with the weights of `network`, which is in fp32 and of the same architecture."""
        ...


class EagerEngine:
    """torch as it is, kernels with channels last in memory."""

    kind: Kind = "eager"

    def __init__(self, network: nn.Module, device: torch.device, precision: Precision) -> None:
        self.device = device
        self.precision: Precision = precision
        self.network = freeze(network, device, DTYPES[precision])

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        with torch.inference_mode():
            output: NetworkOutput = self.network(torch.from_numpy(observations).to(self.device))
        return output.policy_logits.cpu().numpy(), output.value.cpu().numpy()

    def with_weights(self, network: nn.Module) -> EagerEngine:
        return EagerEngine(network, self.device, self.precision)


def label(engine: Engine) -> str:
    """The name of a way to compute, such as `openvino bf16`."""
    return f"{engine.kind} {engine.precision}"


def freeze(network: nn.Module, device: torch.device, dtype: torch.dtype) -> nn.Module:
    """An independent copy in evaluation mode, its kernels with channels last in memory.

    A network with a method `expanded`, of its own or of the built-in ones, is asked for an equal one to be called.
    """
    expanded: Callable[[], nn.Module] | None = getattr(network, "expanded", None)
    frozen = (copy.deepcopy(network) if expanded is None else expanded()).to(device, dtype)
    for parameter in frozen.parameters():
        if parameter.ndim == 4:  # a kernel
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
    return frozen.eval().requires_grad_(False)


def pad(observations: Floats, rows: int) -> Floats:
    """The observations, the last of them repeated until there are `rows`: of real positions no result is NaN."""
    missing = rows - len(observations)
    if missing <= 0:
        return observations
    return np.concatenate((observations, np.repeat(observations[-1:], missing, axis=0)))
