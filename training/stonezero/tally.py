"""What self-play did: counters of its workers, and their summary for people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

HALF_LIFE = 4_096  # positions after which an old one counts half in the mean surprise


class Counted(Protocol):
    """A worker's counters, each since it was made, what belongs to unfinished games included."""

    @property
    def actions(self) -> int:
        """Played."""

    @property
    def simulations(self) -> int:
        """Made since the run began."""

    @property
    def busy_seconds(self) -> float:
        """Spent on playing."""

    @property
    def search_seconds(self) -> float:
        """Of them within searches, network calls included."""


class Played(Protocol):
    """A finished game, as far as it is summed up."""

    @property
    def actions(self) -> tuple[int, ...]:
        """From the initial state."""

    @property
    def turns(self) -> int:
        """Begun by the other player."""

    @property
    def winner(self) -> int:
        """0, 1, or -1 for a draw."""

    @property
    def num_rows(self) -> int:
        """Positions to learn from."""


@dataclass(frozen=True)
class Statistics:
    """What self-play did in a while."""

    games: int
    distinct_games: int
    actions: int  # played in all lanes, those of unfinished games included
    simulations: int
    rows: int  # recorded in the games that ended
    seconds: float  # of wall time
    busy_seconds: (
        float  # spent on playing, all groups of games together: more than `seconds` where several play at once
    )
    search_seconds: float  # of `busy_seconds`, within searches, network calls included
    length: float  # mean actions of a finished game; NaN, like the next three, when there is none
    turns: float  # mean turns of a finished game
    first_player_win_rate: float
    draw_rate: float

    def scalars(self) -> dict[str, float]:
        """What TensorBoard shows of it."""
        values = {
            "games": float(self.games),
            "rows_per_second": self.rows / self.seconds,
            "actions_per_second": self.actions / self.seconds,
            "simulations_per_second": self.simulations / self.seconds,
        }
        if self.games:
            values |= {
                "game_length": self.length,
                "game_turns": self.turns,
                "first_player_win_rate": self.first_player_win_rate,
                "draw_rate": self.draw_rate,
                "distinct_game_rate": self.distinct_games / self.games,
            }
        return values


@dataclass
class RunningMean:
    """Mean over the latest values, some thousands of them."""

    total: float = 0.0
    weight: float = 0.0

    @property
    def value(self) -> float:
        """0 before there are any."""
        return self.total / self.weight if self.weight else 0.0

    def add(self, values: NDArray[np.floating[Any]]) -> None:
        """Take in new values; older ones fade."""
        keep = 0.5 ** (len(values) / HALF_LIFE)
        self.total = keep * self.total + float(values.sum())
        self.weight = keep * self.weight + len(values)


class Totals(NamedTuple):
    """What workers did since they were made, all together."""

    actions: int
    simulations: int
    busy_seconds: float
    search_seconds: float

    @classmethod
    def of(cls, workers: Sequence[Counted]) -> Totals:
        """The sums of the workers' counters."""
        return cls(
            sum(worker.actions for worker in workers),
            sum(worker.simulations for worker in workers),
            sum(worker.busy_seconds for worker in workers),
            sum(worker.search_seconds for worker in workers),
        )

    def since(self, before: Totals) -> Totals:
        """What came after `before`."""
        return Totals(
            self.actions - before.actions,
            self.simulations - before.simulations,
            self.busy_seconds - before.busy_seconds,
            self.search_seconds - before.search_seconds,
        )


def summarise(games: Sequence[Played], spent: Totals, seconds: float) -> Statistics:
    """What self-play did in so many `seconds` of wall time, in which `games` ended."""
    nothing = float("nan")
    return Statistics(
        games=len(games),
        distinct_games=len({game.actions for game in games}),
        actions=spent.actions,
        simulations=spent.simulations,
        rows=sum(game.num_rows for game in games),
        seconds=max(seconds, 1e-9),
        busy_seconds=spent.busy_seconds,
        search_seconds=spent.search_seconds,
        length=float(np.mean([len(game.actions) for game in games])) if games else nothing,
        turns=float(np.mean([game.turns for game in games])) if games else nothing,
        first_player_win_rate=float(np.mean([game.winner == 0 for game in games])) if games else nothing,
        draw_rate=float(np.mean([game.winner == -1 for game in games])) if games else nothing,
    )
