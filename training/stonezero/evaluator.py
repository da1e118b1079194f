"""A network as self-play and evaluation see it: numpy in, numpy out, as fast as this machine offers.

An evaluator holds a copy of the weights; the learner's training does not reach it until `load_weights`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from stonezero.networks import NetworkOutput

Floats = NDArray[np.float32]
Precision = Literal["fp32", "bf16"]

TOLERANCE = 0.05
"""bf16 is taken only while every probability and value of the probe is this close to fp32."""

MINIMUM_GAIN = 1.1
"""bf16 is taken only when it is this many times as fast as fp32: less may be noise."""

PROBE_SIZE = 256  # positions in the probe for speed
PROBE_SECONDS = 0.25  # spent on each precision


class UniformEvaluator:
    """An evaluator that knows nothing: zero logits and values."""

    version = 0

    def __init__(self, num_actions: int) -> None:
        self.num_actions = num_actions

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        """Zeros: policy_logits float32 [B, A] and value float32 [B]."""
        batch_size = len(observations)
        return np.zeros((batch_size, self.num_actions), np.float32), np.zeros(batch_size, np.float32)

    def describe(self) -> str:
        """One line for the terminal."""
        return "uniform"


class Evaluator:
    """A network in evaluation mode on one device, in the precision that is fastest and exact enough there."""

    def __init__(
        self,
        network: nn.Module,
        *,
        device: torch.device | str = "cpu",
        precision: Literal["auto", "fp32", "bf16"] = "auto",
        chunk_size: int = 1_024,
        version: int = 0,
        probe: Floats | None = None,
    ) -> None:
        """Copy `network`; `auto` measures fp32 against bf16 on `probe`, which then must be given.

        Args:
            network: called with float32 [B, H, W, C]; the copy is independent of it.
            device: where to compute.
            precision: deterministic runs say fp32.
            chunk_size: positions in one call of the network; larger batches are split.
            version: of the weights, such as the learner's steps.
            probe: float32 [N, H, W, C], positions to measure with; without it `auto` is fp32.
        """
        self.device = torch.device(device)
        self.chunk_size = chunk_size
        self.version = version
        self.speeds: dict[str, float] = {}  # positions a second, of each precision that was measured
        self._reference = _freeze(network, self.device, torch.float32)
        self._probe = None if probe is None else torch.from_numpy(np.ascontiguousarray(probe)).to(self.device)
        self._forced = precision == "bf16"
        self._wants_bf16 = self._forced
        if precision == "auto" and self._probe is not None:
            self._wants_bf16 = self._measure()
        self._network = self._reference
        self.precision: Precision = "fp32"
        self._choose()

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        """policy_logits float32 [B, A], raw, and value float32 [B] in [-1, 1] for the player who sees each observation.

        `observations` is float32 [B, H, W, C]; the results are new arrays.
        """
        if len(observations) == 0:
            raise ValueError("an empty batch has no evaluation")
        chunks = [
            self._evaluate(torch.from_numpy(observations[start : start + self.chunk_size]))
            for start in range(0, len(observations), self.chunk_size)
        ]
        if len(chunks) == 1:
            return chunks[0]
        return np.concatenate([logits for logits, _ in chunks]), np.concatenate([value for _, value in chunks])

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None:
        """Play with other weights from now on; a bf16 that was measured is checked again and left if too coarse."""
        self._reference.load_state_dict(weights)
        self.version = version
        self._choose()

    def describe(self) -> str:
        """One line for the terminal, such as `bf16 (bf16 11,900 positions/s, fp32 8,300)`."""
        speeds = ", ".join(f"{name} {speed:,.0f} positions/s" for name, speed in self.speeds.items())
        return f"{self.precision} ({speeds})" if speeds else self.precision

    def _evaluate(self, observations: Tensor) -> tuple[Floats, Floats]:
        with torch.inference_mode():
            output: NetworkOutput = self._network(observations.to(self.device))
        return output.policy_logits.cpu().numpy(), output.value.cpu().numpy()

    def _measure(self) -> bool:
        """Whether bf16 is worth it here."""
        assert self._probe is not None
        coarse = _freeze(self._reference, self.device, torch.bfloat16)
        self.speeds = {"fp32": _speed(self._reference, self._probe), "bf16": _speed(coarse, self._probe)}
        return self.speeds["bf16"] >= MINIMUM_GAIN * self.speeds["fp32"]

    def _choose(self) -> None:
        """Take bf16 where it is wanted and, unless it was asked for, exact enough with the present weights."""
        self._network, self.precision = self._reference, "fp32"
        if self._wants_bf16:
            coarse = _freeze(self._reference, self.device, torch.bfloat16)
            if self._forced or self._probe is None or difference(self._reference, coarse, self._probe) <= TOLERANCE:
                self._network, self.precision = coarse, "bf16"


def difference(reference: nn.Module, other: nn.Module, observations: Tensor) -> float:
    """The largest difference of any probability or value between two networks on the observations [B, H, W, C]."""
    with torch.inference_mode():
        exact: NetworkOutput = reference(observations)
        coarse: NetworkOutput = other(observations)
    probabilities = exact.policy_logits.softmax(1) - coarse.policy_logits.softmax(1)
    worst = max(float(probabilities.abs().max()), float((exact.value - coarse.value).abs().max()))
    return worst if worst == worst else float("inf")  # NaN is never exact enough


def random_probe(observation_shape: tuple[int, int, int], on_board_plane: int, size: int = PROBE_SIZE) -> Floats:
    """Observations [size, H, W, C] of zeros and ones, all cells on the board, to measure speed with."""
    probe = np.random.default_rng(0).integers(0, 2, (size, *observation_shape)).astype(np.float32)
    probe[..., on_board_plane] = 1.0
    return probe


def _freeze(network: nn.Module, device: torch.device, dtype: torch.dtype) -> nn.Module:
    """An independent copy in evaluation mode, its kernels with channels last in memory."""
    frozen = copy.deepcopy(network).to(device, dtype)
    for parameter in frozen.parameters():
        if parameter.ndim == 4:  # a kernel
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
    return frozen.eval().requires_grad_(False)


def _speed(network: nn.Module, probe: Tensor) -> float:
    """Positions a second, from the fastest of several calls."""
    best = float("inf")
    stop = None
    with torch.inference_mode():
        network(probe)
        while stop is None or time.perf_counter() < stop:
            start = time.perf_counter()
            network(probe).value.cpu()  # waits for the device
            best = min(best, time.perf_counter() - start)
            stop = stop or start + PROBE_SECONDS
    return len(probe) / best
