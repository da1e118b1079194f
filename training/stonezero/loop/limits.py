"""How long a run has been going on, and how much of it is behind."""

from __future__ import annotations

import time


class RunClock:
    """Counts the seconds of a run, all its starts together, from when it is made."""

    def __init__(self) -> None:
        self._before = 0.0  # seconds of earlier starts
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds spent on the run, all starts together."""
        return self._before + time.monotonic() - self._started

    def go_on(self, seconds: float) -> None:
        """Adds the seconds of earlier starts."""
        self._before = seconds

    def fraction(self, max_minutes: float | None, *counts: tuple[float, float | None]) -> float:
        """The share of the run that is behind, by the limit that is nearest; 1 or more when it is met.

        Args:
            max_minutes: limit of the run's minutes; None: none.
            counts: pairs of what was counted, such as iterations, and its limit; None: none.
        """
        shares = [0.0, *(count / limit for count, limit in counts if limit is not None)]
        if max_minutes is not None:
            shares.append(self.seconds / 60 / max_minutes if max_minutes else 1.0)
        return max(shares)
