"""Which engines there are to choose from, and what was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast, get_args

from stonezero.evaluator.compiled import CompiledEngine, require_compiler
from stonezero.evaluator.engines import EagerEngine, Engine, EngineError, Floats, Kind, Precision, label
from stonezero.evaluator.measure import Say
from stonezero.evaluator.openvino import OpenVINOEngine

EngineSetting = Literal["auto", "eager", "compiled", "openvino"]
PrecisionSetting = Literal["auto", "fp32", "bf16"]

COMPILE_MINUTES = 60.0
"""`auto` compiles only for runs of at least so many minutes: compiling takes a minute or two, and wins 10 to 40%."""


@dataclass(frozen=True)
class Choice:
    """An engine, its precision, and what was measured when it was chosen last."""

    engine: Kind = "eager"
    precision: Precision = "fp32"
    batch_size: int = 0  # positions a call in the measurement; 0: nothing was measured
    speeds: dict[str, float] = field(default_factory=dict)  # positions a second, by `ENGINE PRECISION`

    @property
    def label(self) -> str:
        """Such as `openvino bf16`."""
        return f"{self.engine} {self.precision}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Choice:
        """The inverse of `to_dict`. Raises ValueError when it is none."""
        try:
            engine, precision = values["engine"], values["precision"]
            speeds = {str(name): float(speed) for name, speed in values["speeds"].items()}
            batch_size = int(values["batch_size"])
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a choice of an engine: {values!r}") from error
        if engine not in get_args(Kind) or precision not in get_args(Precision):
            raise ValueError(f"unknown engine {engine!r} or precision {precision!r}")
        return cls(cast(Kind, engine), cast(Precision, precision), batch_size, speeds)


def build_engines(
    reference: EagerEngine,
    *,
    engine: EngineSetting,
    precision: PrecisionSetting,
    example: Floats,
    recorded: Choice | None,
    minutes: float | None,
    say: Say,
) -> tuple[list[Engine], list[str]]:
    """The engines that come into question, and why others were left out.

    Args:
        reference: eager fp32, the network to compute.
        engine: one of them, or `auto`.
        precision: one of them, or `auto`.
        example: observations [N, H, W, C].
        recorded: an engine chosen earlier: compiled, it is compiled again.
        minutes: how long the engine will be used, where that is known.
        say: told before something slow.

    Raises EngineError when one that was asked for cannot be had.
    """
    precisions = _precisions(precision)
    if engine != "auto":
        built = _build(engine, reference, precisions, example, say)
        working, left_out = _working(built, example)
        if not working:
            raise EngineError(f"device.engine: {left_out[0]}")
        return working, left_out
    engines = _build("eager", reference, precisions, example, say)
    left_out = []
    try:
        engines += _build("openvino", reference, precisions, example, say)
    except EngineError as error:
        left_out.append(_reason(error))
    was_compiled = recorded is not None and recorded.engine == "compiled" and recorded.precision in precisions
    if was_compiled and recorded is not None:
        precisions = (recorded.precision,)
    reason = None if was_compiled else _why_not_compile(engines, minutes)
    try:
        if reason is None:
            engines += _build("compiled", reference, precisions, example, say)
        else:
            left_out.append(reason)
    except EngineError as error:
        left_out.append(_reason(error))
    working, failing = _working(engines, example)
    if not working:
        raise EngineError(f"device.precision: {failing[0]}")
    return working, [*left_out, *failing]


def _working(engines: Sequence[Engine], example: Floats) -> tuple[list[Engine], list[str]]:
    """Those that can be called, and what the others say: a network of one's own need not know bf16."""
    working: list[Engine] = []
    failing = []
    for engine in engines:
        try:
            engine(example[:1])
            working.append(engine)
        except Exception as error:  # whatever somebody's network raises
            failing.append(f"{label(engine)} fails: {(str(error).strip() or repr(error)).splitlines()[0]}")
    return working, failing


def _build(
    kind: Kind, reference: EagerEngine, precisions: Sequence[Precision], example: Floats, say: Say
) -> list[Engine]:
    """One kind of engine in each precision."""
    network, device = reference.network, reference.device
    if kind == "eager":
        return [
            reference if precision == "fp32" else EagerEngine(network, device, precision) for precision in precisions
        ]
    if kind == "openvino":
        first = OpenVINOEngine(network, device, precisions[0], example)
        return [first, *(first.at(precision, network) for precision in precisions[1:])]
    require_compiler(device)
    say(f"compiling the network in {' and '.join(precisions)}: a minute or two the first time, seconds later")
    return [CompiledEngine(network, device, precision, example) for precision in precisions]


def _precisions(setting: PrecisionSetting) -> tuple[Precision, ...]:
    return ("fp32", "bf16") if setting == "auto" else (setting,)


def _why_not_compile(engines: Sequence[Engine], minutes: float | None) -> str | None:
    """Why `auto` does not try torch.compile, or None where it does."""
    if any(engine.kind == "openvino" for engine in engines):
        return "compiled not tried: openvino is as fast and compiles at once"
    if minutes is None or minutes < COMPILE_MINUTES:
        return f"compiled not tried: a run limited to {COMPILE_MINUTES:.0f} minutes or more would win the time back"
    return None


def _reason(error: EngineError) -> str:
    return str(error).removeprefix("device.engine: ")
