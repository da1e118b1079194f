"""Groups of games that advance side by side, a thread each, while the learner learns.

A group's search and network let go of the interpreter, so that every core has work: one group's network works while
another is searched, and self-play goes on while the trainer learns, saves and evaluates. It runs ahead by no more
than an iteration's rows and then waits, so that rows are reused as often as the configuration says.

A deterministic run plays its groups in turn on the trainer's own thread, and only when it is asked to.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from stonezero.config import Config, SearchConfig, SelfplayConfig
from stonezero.device import usable_cores
from stonezero.loop.watch_time import TimedEvaluator
from stonezero.selfplay import FinishedGame, SelfPlay, VersionedEvaluator
from stonezero.tally import Statistics, Totals, summarise
from stonezoo.state import Game

MOST_GROUPS = 4  # taken unasked: with more of them the interpreter, which only one thread has at a time, is the limit
FEWEST_LANES = 32  # of a group, unless it is asked for: smaller batches waste the network's time
WAKE_SECONDS = 0.2  # after which the trainer moves its progress bar, though nothing has happened


def group_count(config: Config, device: str) -> int:
    """The groups of a new run on a device of this kind (`cpu`, `cuda`): as configured, else what fits the machine.

    One a core on the processor; two on a GPU, so that one is searched while the other is evaluated; one in a
    deterministic run.
    """
    wanted, num_games = config.selfplay.groups, config.selfplay.num_games
    if wanted:
        return min(wanted, num_games)
    if config.deterministic:
        return 1
    return max(1, min(usable_cores() if device == "cpu" else 2, MOST_GROUPS, num_games // FEWEST_LANES))


class NetworkUse(NamedTuple):
    """What the network did for self-play in a while."""

    calls: int
    positions: int
    seconds: float  # of all groups together

    def since(self, before: NetworkUse) -> NetworkUse:
        """What came after `before`."""
        return NetworkUse(self.calls - before.calls, self.positions - before.positions, self.seconds - before.seconds)


class _Counters(NamedTuple):
    """Where everything that is counted stands at some time."""

    time: float
    totals: Totals
    network: NetworkUse


class Groups:
    """The self-play of a run. Used by one thread, the trainer's; the groups' own threads are inside."""

    def __init__(
        self,
        game: Game,
        search: SearchConfig,
        config: SelfplayConfig,
        evaluate: VersionedEvaluator,
        *,
        seed: int,
        count: int,
        threaded: bool,
    ) -> None:
        """Begin the games; nothing is played before the first `play`.

        Args:
            game: what is played.
            search: of every decision.
            config: `num_games` lanes in all, shared out evenly.
            evaluate: the network; with threads it is called by several at once.
            seed: of the run.
            count: groups.
            threaded: play on threads, ahead of the trainer; False: in turn and only within `play`.
        """
        # Fixed.
        self._parts = game, search, config
        self._seed = seed
        self._threaded = threaded
        # Owned elsewhere.
        self._evaluate = evaluate
        # Changed. The condition guards all that follows, and the workers while their threads are not playing.
        self._condition = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._playing = 0  # threads within `advance`
        self._pauses = 0
        self._closed = False
        self._ahead = 0  # rows that may wait before the groups do
        self._error: BaseException | None = None
        self._mark: _Counters  # when games were last taken
        self._used: NetworkUse  # between the last two times
        self._make(count)

    def __len__(self) -> int:
        return len(self._workers)

    @property
    def workers(self) -> list[SelfPlay]:
        """The groups, for whoever plays them otherwise than by `play`."""
        return list(self._workers)

    @property
    def simulations(self) -> int:
        """Made since the run began."""
        return sum(worker.simulations for worker in self._workers)

    def play(self, rows: int, progress: Callable[[int], object] | None = None) -> tuple[list[FinishedGame], Statistics]:
        """The games that have ended, as soon as they hold `rows` rows or more, and what was done since the last call.

        `progress` is called now and then with the rows so far; it may take a `snapshot`. With threads the groups go on
        after the return, up to as many rows again. What a group's thread raises is raised here.
        """
        if self._threaded:
            self._await(rows, progress)
        else:
            while self._rows() < rows:
                for worker in self._workers:
                    worker.advance()
                if progress is not None:
                    progress(self._rows())
        with self._condition:
            games = [finished for worker in self._workers for finished in worker.take()]
            before, self._mark = self._mark, self._counters()
            self._condition.notify_all()
        self._used = self._mark.network.since(before.network)
        return games, summarise(games, self._mark.totals.since(before.totals), self._mark.time - before.time)

    def network_use(self) -> NetworkUse:
        """What the network did between the last two returns of `play`."""
        return self._used

    @contextmanager
    def paused(self) -> Iterator[None]:
        """No group plays within: each has finished the action under way. What a thread raised is raised here."""
        with self._condition:
            self._pauses += 1
            try:
                while self._playing:
                    self._condition.wait()
                self._raise()
                yield
            finally:
                self._pauses -= 1
                self._condition.notify_all()

    def snapshot(self) -> list[bytes]:
        """Of each group all that its next game depends on, the games that `play` has not returned included."""
        with self.paused():
            return [worker.snapshot() for worker in self._workers]

    def restore(self, snapshots: Sequence[bytes]) -> None:
        """Go on from a `snapshot` of a run of the same configuration, with as many groups as it had.

        Raises ValueError when it is of another game or number of lanes. Only before the first `play`.
        """
        if self._threads:
            raise RuntimeError("self-play is under way")
        if len(snapshots) != len(self._workers):
            self._make(len(snapshots))
        for worker, snapshot in zip(self._workers, snapshots, strict=True):
            worker.restore(snapshot)
        self._mark = self._counters()

    def close(self) -> None:
        """End the threads; each finishes the action under way."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()
        for thread in self._threads:
            thread.join()
        self._threads = []

    def _make(self, count: int) -> None:
        game, search, config = self._parts
        if not 1 <= count <= config.num_games:
            raise ValueError(f"{config.num_games} games do not make {count} groups")
        lanes = [config.num_games // count + (index < config.num_games % count) for index in range(count)]
        self.networks = [TimedEvaluator(self._evaluate) for _ in lanes]
        self._workers = [
            SelfPlay(
                game,
                search,
                replace(config, num_games=size),
                network,
                seed=self._seed,
                worker=index,
                num_workers=count,
            )
            for index, (size, network) in enumerate(zip(lanes, self.networks, strict=True))
        ]
        self._used = NetworkUse(0, 0, 0.0)
        self._mark = self._counters()

    def _counters(self) -> _Counters:
        networks = self.networks
        used = NetworkUse(
            sum(network.calls for network in networks),
            sum(network.positions for network in networks),
            sum(network.seconds for network in networks),
        )
        return _Counters(time.perf_counter(), Totals.of(self._workers), used)

    def _rows(self) -> int:
        return sum(worker.ended_rows for worker in self._workers)

    def _await(self, rows: int, progress: Callable[[int], object] | None) -> None:
        with self._condition:
            self._ahead = rows
            self._condition.notify_all()
        self._start()
        while True:
            with self._condition:
                self._raise()
                found = self._rows()
                if found < rows:
                    self._condition.wait(WAKE_SECONDS)
                    found = self._rows()
                self._raise()
            if progress is not None:
                progress(found)
            if found >= rows:
                return

    def _start(self) -> None:
        if self._closed:
            raise RuntimeError("self-play was closed")
        if not self._threads:
            self._mark = self._counters()
            for index in range(len(self._workers)):
                thread = threading.Thread(target=self._run, args=(index,), name=f"self-play {index}", daemon=True)
                self._threads.append(thread)
                thread.start()

    def _run(self, index: int) -> None:
        worker = self._workers[index]
        while True:
            with self._condition:
                while not self._closed and (self._pauses or self._rows() >= self._ahead):
                    self._condition.wait()
                if self._closed:
                    return
                self._playing += 1
            error = None
            try:
                worker.advance()
            except BaseException as raised:
                error = raised
            with self._condition:
                self._playing -= 1
                if error is not None:
                    self._error, self._closed = self._error or error, True
                self._condition.notify_all()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error
