"""Where a run's time goes, and how much memory it holds."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stonezero.selfplay import VersionedEvaluator

Floats = NDArray[np.float32]

PARTS = ("network", "search", "games", "learning", "saving", "evaluation", "watching")
"""What the clock tells apart; all else is `other`."""


class Clock:
    """Seconds spent on the parts of a run since the last `shares`. Parts may not lie within each other."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._since = time.perf_counter()

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time inside to a part of `PARTS`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - start

    def shares(self) -> dict[str, float]:
        """Each part's share of the wall time since the last call, and `other`; begins anew.

        They sum to 1 as long as nothing runs side by side. Where the network works while another group of games is
        searched, both count, and the sum is greater.
        """
        now = time.perf_counter()
        wall = max(now - self._since, 1e-9)
        found = {name: seconds / wall for name, seconds in self.seconds.items()}
        found["other"] = max(0.0, 1.0 - sum(found.values()))
        self.seconds = dict.fromkeys(PARTS, 0.0)
        self._since = now
        return found


class TimedEvaluator:
    """An evaluator that counts its calls, their positions and their time; for self-play. Two clock readings a call."""

    def __init__(self, evaluate: VersionedEvaluator) -> None:
        self.calls = 0
        self.positions = 0
        self.seconds = 0.0
        self._evaluate = evaluate

    @property
    def version(self) -> int:
        """Of the weights."""
        return self._evaluate.version

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        """As the evaluator's own: policy_logits [R, A] and value [R] of observations [R, H, W, C]."""
        start = time.perf_counter()
        found = self._evaluate(observations)
        self.seconds += time.perf_counter() - start
        self.calls += 1
        self.positions += len(observations)
        return found


def resident_memory() -> int:
    """Bytes of this process in memory now; where the system does not tell, the most that it ever held, else 0."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    try:
        import resource  # not on Windows
    except ImportError:
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most << 10
