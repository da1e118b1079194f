"""What a run shows of itself on TensorBoard; docs/watching.md says what each tag means."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from stonezero.arena import Evaluation
from stonezero.events import EventWriter
from stonezero.loop.groups import NetworkUse
from stonezero.loop.watch_games import game_scalars, repeats_alarm
from stonezero.loop.watch_pictures import game_picture, reliability_picture
from stonezero.loop.watch_time import Clock, resident_memory
from stonezero.loop.watch_values import Reliability, foretell
from stonezero.players.network import Evaluate
from stonezero.replay import Samples
from stonezero.selfplay import FinishedGame
from stonezero.tally import Statistics
from stonezoo.state import Game

BUDGET = 0.01  # share of a run's time that pictures and the look at fresh positions may take, each start's first aside
TRUTH = "truth/"  # tags of the distance from perfect play begin so
FRESH_ROWS = 512  # positions an iteration on which the network is asked before it learns from them


def score_tags(evaluation: Evaluation) -> dict[str, float]:
    """The scores of an evaluation by tag, without the prefix."""
    return {score_tag(row.kind, row.match.opponent): row.match.score for row in evaluation.rows}


def score_tag(kind: str, opponent: str) -> str:
    """The tag of a score, without the prefix; `kind` as in an evaluation's rows."""
    return f"{kind}_{opponent.replace(':', '_')}"


def bound_tags(name: str) -> tuple[str, str]:
    """The tags of the ends of a score's interval; they are written after the score itself."""
    return f"{name}_low", f"{name}_high"


class Watch:
    """Writes the events of a run, and says on the terminal what needs a person's eye."""

    def __init__(self, game: Game, events: EventWriter, say: Callable[[str], object]) -> None:
        """`say` is given a line for the terminal."""
        # Fixed.
        self._game = game
        self._events = events
        self._say = say
        # Changed.
        self.clock = Clock()
        self._reliability = Reliability()
        self._fresh: dict[str, float] = {}
        self._spent = 0.0  # on what has a budget, in seconds
        self._looks = 0  # of them
        self._started = time.perf_counter()
        self._looking = True

    def fresh_games(self, games: Sequence[FinishedGame], evaluate: Evaluate, batch_size: int) -> None:
        """Ask the network that played `games` about them, before it learns from them."""
        self._looking = self._within_budget()
        samples = [finished.samples for finished in games if finished.samples is not None]
        self._fresh = {}
        if not samples or not self._looking:
            return
        with self.clock.part("watching"):
            start = time.perf_counter()
            every = max(1, sum(map(len, samples)) // (4 * FRESH_ROWS))  # no more rows are copied than are needed
            found, value, outcome = foretell(
                self._game, evaluate, Samples.concatenate(samples[::every]), FRESH_ROWS, batch_size
            )
            self._reliability.add(value, outcome)
            self._fresh = found
            self._spent += time.perf_counter() - start

    def iteration(
        self,
        step: int,
        *,
        games: Sequence[FinishedGame],
        statistics: Statistics,
        network: NetworkUse,
        learning: Mapping[str, float],
        replay: Mapping[str, float],
        loop: Mapping[str, float],
        shown: bool = True,
    ) -> dict[str, float]:
        """Write all of one iteration under the learner's `step`; returns the scalars of self-play.

        Args:
            step: of the learner.
            games: that ended in this iteration.
            statistics: of self-play.
            network: what it did for self-play.
            learning: the learner's measurements; {} when it made no step.
            replay: of the buffer.
            loop: of the run.
            shown: whether to write at all; an iteration without a learner's step would be a second point at one step.
        """
        selfplay = statistics.scalars()
        with self.clock.part("watching"):
            selfplay |= game_scalars(self._game, games)
            selfplay["network_positions_per_second"] = network.positions / statistics.seconds
            if network.calls:
                selfplay["network_batch"] = network.positions / network.calls
            if shown:
                events = self._events
                events.scalars(selfplay, step, "selfplay/")
                events.scalars(learning, step, "learner/")
                events.scalars(replay, step, "replay/")
                events.scalars({**loop, "memory_mb": resident_memory() / 1e6}, step, "loop/")
                start = time.perf_counter()
                self._look(step, games)
                self._spent += time.perf_counter() - start
                if self._looks == 1 and self._looking:
                    self._spent = 0.0  # the first imports and fills caches, and every run is to show each tag
            alarm = repeats_alarm(statistics.games, statistics.distinct_games)
        self._count_times(statistics, network)
        if shown:
            self._events.scalars(self.clock.shares(), step, "time/")
        if alarm is not None:
            self._say(f"  {alarm}")
        return selfplay

    def scores(self, evaluation: Evaluation, step: int, prefix: str) -> None:
        """Write scores with their 95% intervals."""
        for row, (name, score) in zip(evaluation.rows, score_tags(evaluation).items(), strict=True):
            bounds = dict(zip(bound_tags(name), (row.match.low, row.match.high), strict=True))
            self._events.scalars({name: score, **bounds}, step, prefix)

    def truth(self, found: Mapping[str, float], step: int) -> None:
        """Write the distance from perfect play."""
        self._events.scalars(found, step, TRUTH)

    def _look(self, step: int, games: Sequence[FinishedGame]) -> None:
        """What has a budget: fresh positions, calibration, pictures."""
        if not self._looking:
            return
        self._looks += 1
        events = self._events
        if self._fresh:
            events.scalars(self._fresh, step, "fresh/")
            events.scalars(self._reliability.scalars(), step, "calibration/")
            events.histogram("calibration/values", self._reliability.values(), step)
            events.image("calibration/reliability", reliability_picture(*self._reliability.bins()), step)
        shown = next((finished for finished in reversed(games) if finished.samples is not None), None)
        picture = None if shown is None else game_picture(self._game, shown)
        if picture is not None:
            events.image("selfplay/latest_game", picture, step)

    def _count_times(self, statistics: Statistics, network: NetworkUse) -> None:
        seconds = self.clock.seconds
        seconds["network"] += network.seconds
        seconds["search"] += max(0.0, statistics.search_seconds - network.seconds)
        seconds["games"] += max(0.0, statistics.busy_seconds - statistics.search_seconds)

    def _within_budget(self) -> bool:
        return self._looks == 0 or self._spent <= BUDGET * (time.perf_counter() - self._started)
