"""What a measurement of the distance from perfect play says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FORMAT = "stonezoo/truth@1"
Z = 1.959964  # of the 95% interval


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


@dataclass(frozen=True)
class Share:
    """`hits` of `count` decisions. `low` and `high` bound the share with 95% confidence (Wilson 1927)."""

    hits: int
    count: int

    @property
    def value(self) -> float:
        """The share, in [0, 1]; nan when nothing was counted."""
        return self.hits / self.count if self.count else math.nan

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self._bound(-1)

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self._bound(1)

    def _bound(self, side: int) -> float:
        if not self.count:
            return 0.0 if side < 0 else 1.0
        share, z2 = self.value, Z * Z / self.count
        spread = Z * math.sqrt(share * (1 - share) / self.count + z2 / (4 * self.count))
        return min(1.0, max(0.0, (share + z2 / 2 + side * spread) / (1 + z2)))

    def to_dict(self) -> dict[str, float | int | None]:
        """For JSON, which has no nan: null stands for it."""
        return {
            "share": _number(self.value),
            "low": self.low,
            "high": self.high,
            "hits": self.hits,
            "count": self.count,
        }


@dataclass(frozen=True)
class Truth:
    """How often a player chose a best action, on decisive positions.

    Attributes:
        player: its text.
        setting: a Python expression that makes the game.
        source: which positions, in words.
        positions: how many were looked at.
        optimal: decisive positions, and those where the player chose a best action.
        uniform: the share that choosing uniformly has on the same decisive positions, exactly.
        uniform_everywhere: the same over all positions that were looked at, forced ones and all.
        value_signs: decisive positions, and those where the player's value has the sign of the true one; where draws
            are among them, a value within a third of zero says draw. None for a player that says no values.
        by_phase: `optimal` for each phase.
        by_distance: `optimal` for ranges of actions to the end under best play, in order; empty where they are unknown.
        illegal: actions that were not legal; they count as wrong.
    """

    player: str
    setting: str
    source: str
    positions: int
    optimal: Share
    uniform: float
    uniform_everywhere: float
    value_signs: Share | None
    by_phase: Mapping[str, Share]
    by_distance: Mapping[str, Share]
    illegal: int = 0

    @property
    def decisive(self) -> int:
        """The number of decisive positions."""
        return self.optimal.count

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "format": FORMAT,
            "player": self.player,
            "game": self.setting,
            "source": self.source,
            "positions": self.positions,
            "decisive": self.decisive,
            "optimal": self.optimal.to_dict(),
            "uniform": _number(self.uniform),
            "uniform_everywhere": _number(self.uniform_everywhere),
            "value_signs": None if self.value_signs is None else self.value_signs.to_dict(),
            "by_phase": {name: share.to_dict() for name, share in self.by_phase.items()},
            "by_distance": {name: share.to_dict() for name, share in self.by_distance.items()},
            "illegal": self.illegal,
        }

    def __str__(self) -> str:
        shown = self.optimal
        return (
            f"{self.player}: {shown.value:.3f} [{shown.low:.3f}, {shown.high:.3f}] optimal on {shown.count} decisive "
            f"positions ({self.uniform:.3f} uniformly); {self.source}"
        )
