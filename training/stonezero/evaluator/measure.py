"""How fast and how exact engines are."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezero.evaluator.engines import Engine, Floats, label
from stonezero.evaluator.positions import Probe

TOLERANCES = {"fp32": 1e-3, "bf16": 0.05}
"""An engine of this precision serves only while every probability of a legal action and every value on the probe is so
close to eager fp32."""

MINIMUM_GAIN = 1.1
"""Another engine than the present one is taken only when it is so many times as fast: less may be noise."""

MEASURE_SECONDS = 2.0  # for the rounds of all engines together
MIN_ROUNDS, MAX_ROUNDS = 3, 9
LONGEST_CALL = 0.15  # seconds of the first engine; a larger batch is measured on its first rows
SHORTEST_CALL = 0.01  # seconds measured at a time; faster engines are called repeatedly
HOPELESS = 3.0  # times as slow as the fastest at first sight: measured no further
MIN_ROWS = 16

Say = Callable[[str], object]  # takes a line for the terminal


def measure(engines: Sequence[Engine], probe: Floats) -> dict[str, float]:
    """Positions a second of each engine by its label, in batches of the probe's size.

    The engines take turns, so that others on the machine disturb all alike, and each has the median of its calls. It
    takes about 3 s at most, unless a single call is very slow.
    """
    rows = probe[
        : max(MIN_ROWS, min(len(probe), int(LONGEST_CALL / _seconds(engines[0], probe[:MIN_ROWS]) * MIN_ROWS)))
    ]
    first = {label(engine): _seconds(engine, rows) for engine in engines}
    fastest = min(first.values())
    times: dict[str, list[float]] = {name: [] for name in first}
    repeats = {name: max(1, round(SHORTEST_CALL / seconds)) for name, seconds in first.items()}
    start = time.perf_counter()
    for number in range(MAX_ROUNDS):
        if number >= MIN_ROUNDS and time.perf_counter() - start > MEASURE_SECONDS:
            break
        for engine in engines:
            name = label(engine)
            if first[name] <= HOPELESS * fastest:
                times[name].append(_seconds(engine, rows, repeats[name], warm=False))
    return {name: len(rows) / (statistics.median(times[name]) if times[name] else first[name]) for name in first}


def _seconds(engine: Engine, rows: Floats, repeats: int = 1, warm: bool = True) -> float:
    """Seconds of a call on the rows, the mean of `repeats`; before it one that does not count."""
    if warm:
        engine(rows)
    start = time.perf_counter()
    for _ in range(repeats):
        engine(rows)
    return max(1e-9, (time.perf_counter() - start) / repeats)


def difference(reference: Engine, other: Engine, probe: Probe | Floats) -> float:
    """The largest difference of any legal action's probability, or of any value, between two engines on a probe.

    Logits of illegal actions are never trained and may hold any share of an unmasked softmax: they do not count.
    """
    observations, mask = Probe.of(probe)
    exact_logits, exact_value = reference(observations)
    logits, value = other(observations)
    gaps = (_softmax(exact_logits, mask) - _softmax(logits, mask), exact_value - value)
    worst = float(np.max([np.abs(gap).max() for gap in gaps]))
    return float("inf") if np.isnan(worst) else worst  # NaN is never exact enough


def exact_enough(reference: Engine, other: Engine, probe: Probe | Floats) -> bool:
    """Whether an engine keeps its precision's tolerance, on an odd number of the probe's positions.

    Odd, so that what an engine does with batches of a size of their own is checked too.
    """
    observations, mask = Probe.of(probe)
    odd = len(observations) - 1 + len(observations) % 2
    part = Probe(observations[:odd], None if mask is None else mask[:odd])
    return difference(reference, other, part) <= TOLERANCES[other.precision]


def _softmax(logits: Floats, mask: NDArray[Any] | None) -> Floats:
    if mask is not None:
        logits = np.where(mask, logits, -np.inf)
    powers = np.exp(logits - logits.max(1, keepdims=True))
    probabilities: Floats = powers / powers.sum(1, keepdims=True)
    return probabilities
