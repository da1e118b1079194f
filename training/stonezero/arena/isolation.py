"""Contestants in processes of their own: what raises, dies or never answers there loses a game and hurts nobody else.

The process makes the player from its text, so nothing of it is imported here. It is asked for as many lanes at a time
as it has been answering well within the limit. When it raises, dies or takes too long, it is ended if need be, a new
one is started at the next question, and the lanes in question are asked again one by one, as all are from then on: each
has the whole limit for itself, and only those that fail alone are lost.
"""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess

import numpy as np
from numpy.typing import NDArray

from stonezero.arena.contestant import Answer, Contestant, Fault, InProcess, as_contestant, plain_line
from stonezero.player_process import serve
from stonezero.players import pickles_are_trusted
from stonezoo import Game
from stonezoo.players import Player, PlayerError, UnsolvedError, make_player

ISOLATED_KINDS = ("py", "sb3")  # foreign code: a player's text up to the colon
TIME_LIMIT = 60.0  # s, for one action
START_LIMIT = 300.0  # s; a first start may wait for the compiler
MOST_LANES = 256  # asked for at once
STOP_LIMIT = 5.0  # s, for a process that was ended
MOST_TIME = 1_000_000.0  # s, eleven days: the operating system waits no longer than about twice that


def check_time_limit(time_limit: float) -> None:
    """Raises ValueError for a number of seconds that nobody can be given for an action."""
    if not 0 < time_limit <= MOST_TIME:
        raise ValueError(
            f"a time limit of {time_limit:g} s an action: it must be positive, and at most {MOST_TIME:,.0f}"
        )


def open_contestant(
    what: str | Player | Contestant,
    game: Game,
    *,
    time_limit: float = TIME_LIMIT,
    isolate: bool | None = None,
) -> Contestant:
    """The contestant of a text such as `uct:100`; players and contestants are taken as they are.

    Args:
        what: who plays.
        game: what it plays.
        time_limit: seconds for one action of a player that has a process of its own.
        isolate: whether it gets one; None: if its text is of ISOLATED_KINDS.

    Raises:
        PlayerError: (a ValueError) the text stands for no player.
        ValueError: the limit is not above 0 s, or above MOST_TIME.
    """
    check_time_limit(time_limit)
    if not isinstance(what, str):
        return as_contestant(what)
    if isolate is None:
        isolate = what.partition(":")[0] in ISOLATED_KINDS
    if isolate:
        return Isolated(what, game, time_limit)
    return InProcess(make_player(what, game), forgiving=True)


class Isolated:
    """A player in a process of its own."""

    def __init__(self, text: str, game: Game, time_limit: float = TIME_LIMIT) -> None:
        """Starts it.

        Raises:
            PlayerError: the text stands for no player, or the process ended before it had made it.
            ValueError: the limit is not above 0 s, or above MOST_TIME.
        """
        check_time_limit(time_limit)
        self.name = text
        self.time_limit = time_limit
        self._game = game
        self._lanes = 1  # asked for at once
        self._careful = False  # one by one for good
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        if (fault := self._start()) is not None:
            raise PlayerError(fault)

    def answer(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> Answer:
        """See `Contestant`.

        Raises:
            UnsolvedError: (a ValueError) it is a perfect player that gives up: a game that it lost would tell nothing.
        """
        actions, faults = np.zeros(len(states), np.int64), {}
        first = 0
        while first < len(states):
            lanes = slice(first, min(first + self._lanes, len(states)))
            fault = self._ask(states[lanes], streams[lanes], actions[lanes])
            if fault is not None:
                self._careful, self._lanes = True, 1
                if lanes.stop - first > 1:
                    continue  # the same lanes again, one by one
                faults[first] = fault
            first = lanes.stop
        return Answer(actions, faults)

    def close(self) -> None:
        """Ends the process."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            self._process.kill()
            self._process.join(STOP_LIMIT)
            self._process = None

    def _ask(self, states: NDArray[np.int32], streams: NDArray[np.int64], actions: NDArray[np.int64]) -> Fault | None:
        """Fills `actions` and advances `streams`, or says what went wrong and leaves them alone."""
        if self._process is None and (fault := self._start()) is not None:
            return Fault("crash", plain_line(f"it could not be started again: {fault}"))
        assert self._connection is not None
        began = time.monotonic()
        try:
            self._connection.send((states, streams))
            if not self._connection.poll(self.time_limit):
                self.close()
                return Fault("time", f"no action within {self.time_limit:g} s")
            kind, *content = self._connection.recv()
        except (EOFError, OSError):
            return Fault("crash", self._epitaph())
        if kind == "unsolved":
            raise UnsolvedError(content[0])
        if kind == "error":
            return Fault("crash", plain_line(content[0]))
        actions[:], streams[:] = content
        share = (time.monotonic() - began) / self.time_limit
        if share < 1 / 8 and not self._careful:
            self._lanes = min(2 * self._lanes, MOST_LANES)
        elif share > 1 / 2:
            self._lanes = max(1, self._lanes // 2)
        return None

    def _start(self) -> str | None:
        """Starts the process; returns what went wrong."""
        context = _context()
        self._connection, far = context.Pipe()
        process = context.Process(  # type: ignore[attr-defined]
            target=serve,
            args=(far, self.name, self._game, pickles_are_trusted()),
            name=f"player {self.name}",
            daemon=True,
        )
        process.start()
        self._process = process
        far.close()
        try:
            if not self._connection.poll(START_LIMIT):
                self.close()
                return f"{self.name}: its process was not ready within {START_LIMIT:g} s"
            kind, *content = self._connection.recv()
        except (EOFError, OSError):
            return f"{self.name}: {self._epitaph()} before it was ready"
        if kind == "ready":
            return None
        self.close()
        return str(content[0])

    def _epitaph(self) -> str:
        process = self._process
        if process is not None:
            process.join(STOP_LIMIT)
        code = None if process is None else process.exitcode
        self.close()
        return "its process ended" if code is None else f"its process ended with exit code {code}"


def _context() -> BaseContext:
    """How processes are started: anew, and where that is possible from a server that has imported the common part."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([serve.__module__])
    return context
