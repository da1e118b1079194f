"""The evaluators themselves: a network, and one that knows nothing."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from stonezero.evaluator.choice import Choice, EngineSetting, PrecisionSetting, build_engines
from stonezero.evaluator.engines import EagerEngine, Engine, Floats, Precision, label
from stonezero.evaluator.measure import MINIMUM_GAIN, Say, exact_enough, measure
from stonezero.evaluator.positions import Probe


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


class _Present(NamedTuple):
    """What calls use: swapped as one, so that a call in another thread ends with what it began with."""

    engine: Engine
    version: int


class Evaluator:
    """A network in evaluation mode on one device, computed the way that is fastest and exact enough there.

    Several threads may call it at once, and weights may be loaded meanwhile: a call that is under way ends with the
    weights that it began with.
    """

    def __init__(
        self,
        network: nn.Module,
        *,
        device: torch.device | str = "cpu",
        precision: PrecisionSetting = "auto",
        engine: EngineSetting = "auto",
        chunk_size: int = 1_024,
        version: int = 0,
        probe: Probe | Floats | None = None,
    ) -> None:
        """Copy `network`; with `probe` see `choose`, until then it is eager, and fp32 unless bf16 is asked for.

        Args:
            network: called with float32 [B, H, W, C]; the copy is independent of it.
            device: where to compute.
            precision: deterministic runs say fp32.
            engine: deterministic runs say eager.
            chunk_size: positions in one call of the network; larger batches are split.
            version: of the weights, such as the learner's steps.
            probe: positions to measure and compare with, or observations float32 [N, H, W, C] alone.

        Raises EngineError (a ValueError) when the engine that was asked for cannot be had.
        """
        self.device = torch.device(device)
        self.chunk_size = chunk_size
        self._settings: tuple[EngineSetting, PrecisionSetting] = (engine, precision)
        self._probe: Probe | None = None
        self._network = copy.deepcopy(network)  # weights are loaded into a copy of it; an engine's may look otherwise
        self._reference = EagerEngine(network, self.device, "fp32")
        first: Precision = "bf16" if precision == "bf16" else "fp32"
        self._ranking: list[Engine] = [
            self._reference if first == "fp32" else EagerEngine(network, self.device, first)
        ]  # of what may be used the best first; their weights may be old
        self._present = _Present(self._ranking[0], version)
        self.choice = Choice(precision=first)
        self._left_out: list[str] = []
        if probe is not None:
            self.choose(probe)

    @property
    def version(self) -> int:
        """Of the weights that calls use now."""
        return self._present.version

    @property
    def precision(self) -> Precision:
        """In which calls are computed now."""
        return self._present.engine.precision

    @property
    def engine(self) -> str:
        """Which computes now, such as `openvino bf16`: the choice, unless the present weights are too coarse for it."""
        return label(self._present.engine)

    @property
    def speeds(self) -> dict[str, float]:
        """Positions a second of every engine that was measured."""
        return self.choice.speeds

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        """policy_logits float32 [B, A], raw, and value float32 [B] in [-1, 1] for the player who sees each observation.

        `observations` is float32 [B, H, W, C]; the results are new arrays.
        """
        if len(observations) == 0:
            raise ValueError("an empty batch has no evaluation")
        engine = self._present.engine
        if len(observations) <= self.chunk_size:
            return engine(observations)
        chunks = [
            engine(observations[start : start + self.chunk_size])
            for start in range(0, len(observations), self.chunk_size)
        ]
        return np.concatenate([logits for logits, _ in chunks]), np.concatenate([value for _, value in chunks])

    def choose(
        self,
        probe: Probe | Floats,
        *,
        batch_size: int | None = None,
        recorded: Choice | None = None,
        minutes: float | None = None,
        say: Say | None = None,
    ) -> None:
        """Find the best way to compute on this machine; no other thread may call `choose` or `load_weights` meanwhile.

        Of the engines that the settings allow, the fastest is taken that keeps its precision's tolerance on the probe.
        The present choice (`recorded`, or eager fp32) stays unless another is `MINIMUM_GAIN` times as fast.

        Args:
            probe: positions to measure and compare with, or observations float32 [N, H, W, C] alone.
            batch_size: positions in a call of the measurement, as many as calls will have; by default all of the probe.
            recorded: what was chosen when the run began.
            minutes: how long the evaluator will be used, where that is known; see `COMPILE_MINUTES`.
            say: told of slow steps and of a change of choice.

        Raises EngineError when the engine that was asked for cannot be had.
        """
        engine, precision = self._settings
        say = say or (lambda _: None)
        probe = Probe.of(probe)
        batch = probe.observations[:batch_size]
        engines, self._left_out = build_engines(
            self._reference,
            engine=engine,
            precision=precision,
            example=batch,
            recorded=recorded,
            minutes=minutes,
            say=say,
        )
        speeds: dict[str, float] = {}
        if len(engines) > 1:
            say(f"measuring {len(engines)} ways to evaluate the network, a few seconds")
            speeds = measure(engines, batch)
        self._probe = probe
        allowed = {label(one): one for one in engines if self._exact_enough(one, self._reference)}
        if not allowed:
            say(f"{label(engines[0])} is not within the tolerance of eager fp32, which is used instead")
            allowed = {label(self._reference): self._reference}
        present = recorded.label if recorded is not None else label(engines[0])
        if recorded is not None and present not in speeds and present not in allowed and len(engines) > 1:
            say(f"this run was played in {present}, which cannot be had here")
        best = max(allowed, key=lambda name: speeds.get(name, 0.0))
        if present not in allowed:
            chosen = best
        else:  # eager fp32 that only serves in place of what was asked for is not measured
            chosen = best if speeds.get(best, 0.0) >= MINIMUM_GAIN * speeds.get(present, np.inf) else present
        if recorded is not None and chosen != present and present in speeds:
            gain = f"{speeds[chosen] / speeds[present]:.1f} times as fast"
            say(f"the network is evaluated in {chosen} from now on, no longer in {present}: {gain}")
        rest = sorted((one for one in engines if label(one) != chosen), key=lambda one: -speeds.get(label(one), 0.0))
        self._ranking = [allowed[chosen], *rest]
        self.choice = Choice(allowed[chosen].kind, allowed[chosen].precision, len(batch) if speeds else 0, speeds)
        self._present = _Present(allowed[chosen], self.version)

    def load_weights(self, weights: Mapping[str, Tensor], version: int) -> None:
        """Play with other weights from now on.

        The choice is checked again: while these weights are too coarse for it, the next fastest engine that is exact
        enough serves in its place. Raises RuntimeError, with nothing changed, when the weights are another network's.
        """
        network = copy.deepcopy(self._network)
        network.load_state_dict(weights)
        reference = self._reference.with_weights(network)
        engine: Engine = reference
        for one in self._ranking:
            fresh = reference if label(one) == label(reference) else one.with_weights(network)
            if self._exact_enough(fresh, reference):
                engine = fresh
                break
        self._reference = reference
        self._present = _Present(engine, version)

    def describe(self) -> str:
        """One line for the terminal, such as `eager bf16 (eager bf16 11,900 positions/s, eager fp32 8,300)`."""
        ranked = sorted(self.speeds.items(), key=lambda item: -item[1])
        notes = [", ".join(f"{name} {speed:,.0f}" for name, speed in ranked) + " positions/s"] if ranked else []
        if self.engine != self.choice.label:
            notes.append(f"{self.choice.label} is too coarse for these weights")
        notes += self._left_out
        return f"{self.engine} ({'; '.join(notes)})" if notes else self.engine

    def _exact_enough(self, engine: Engine, reference: EagerEngine) -> bool:
        """Whether it may be used. Where bf16 was asked for, its coarseness was too: eager bf16 is the measure then."""
        measure_of: Engine = reference
        if engine.precision == "bf16" and self._settings[1] == "bf16":
            if engine.kind == "eager":
                return True
            measure_of = EagerEngine(reference.network, self.device, "bf16")
        if engine is reference or self._probe is None:
            return True
        return exact_enough(measure_of, engine, self._probe)
