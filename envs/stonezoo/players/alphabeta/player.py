"""Alpha-beta as a player: to a depth, or for a time."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK, TO_PLAY
from stonezoo.core.rng import Stream
from stonezoo.players.alphabeta.search import (
    ACTION,
    CONTROL_FIELDS,
    DEPTH,
    DONE,
    ENTRY_FIELDS,
    FRAME_FIELDS,
    KILLERS,
    NEW,
    STATES,
    STATUS,
    SURE,
    VALUE,
    search,
)
from stonezoo.players.heuristics import Heuristic, Neutral, find_heuristic
from stonezoo.players.player import PlayerError, check_whole
from stonezoo.players.uct import usable_cores
from stonezoo.state import Game

MAX_DEPTH = 40
MAX_SECONDS = 86_400.0
FREE_ACTIONS = 2  # actions a line that cost no depth because the same player goes on
TABLE_ENTRIES, LARGE_TABLE_ENTRIES = 1 << 16, 1 << 20  # of 48 bytes; the large one for searches by time
STATES_A_CALL = 200_000  # between two chances to interrupt
STATES_A_LOOK = 2_000  # between two looks at the clock


class Found(NamedTuple):
    """What a search of one state found."""

    action: int
    value: int  # for Black, at the last depth that was finished; beyond `search.SURE` a proven result
    depth: int  # the depth under way at the end
    states: int  # looked at


class AlphaBetaPlayer:
    """`alphabeta:D` looks D actions ahead; `alphabeta:2s` deepens for two seconds a move, which no seed fixes.

    Actions after which the same player goes on cost no depth, up to FREE_ACTIONS a line. A game that has no heuristic
    is searched for wins and losses alone.
    """

    def __init__(
        self,
        game: Game,
        depth: int | None = None,
        *,
        seconds: float | None = None,
        heuristic: Heuristic | None = None,
        threads: int | None = None,
        free_actions: int = FREE_ACTIONS,
    ) -> None:
        """`threads` search different games side by side, by default one a processor core; they change no result, but
        for more depth in the same time.

        Raises:
            PlayerError: not exactly one of `depth` and `seconds` is given, or it is out of range.
        """
        if (depth is None) == (seconds is None):
            raise PlayerError(
                "alphabeta needs either a depth, as in alphabeta:4, or seconds a move, as in alphabeta:2s"
            )
        if depth is not None:
            depth = check_whole("alphabeta", depth, "depths", MAX_DEPTH)
        if seconds is not None and not 0 < seconds <= MAX_SECONDS:
            raise PlayerError(f"alphabeta:{seconds:g}s: seconds a move are more than 0 and at most {MAX_SECONDS:.0f}")
        self.name = f"alphabeta:{depth}" if depth is not None else f"alphabeta:{seconds:g}s"
        self._max_depth = MAX_DEPTH if depth is None else depth
        self._seconds = seconds
        self._rules = game.rules
        self._free_actions = free_actions
        self._heuristic = heuristic or find_heuristic(game.name) or Neutral()
        self._threads = usable_cores() if threads is None else threads
        self._idle: list[_Searcher] = []  # work space, kept between moves

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `Player.act`."""
        return np.array([found.action for found in self.search(states, streams)], np.int32)

    def assess(
        self, states: NDArray[np.int32], streams: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Returns the actions int32 [B] of `act`, and each state's value for the player to act, float64 [B] in [-1, 1].

        A proven value is -1 or 1; that of a forced action, which is not searched, is 0.
        """
        found = self.search(states, streams)
        scale = 2.0 * self._heuristic.settings.scale
        for_black = [np.sign(lane.value) if abs(lane.value) > SURE else np.tanh(lane.value / scale) for lane in found]
        signs = np.where(states[:, TO_PLAY] == BLACK, 1.0, -1.0)
        return np.array([lane.action for lane in found], np.int32), signs * np.array(for_black, np.float64)

    def search(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> list[Found]:
        """What the search of each state found; `streams` are advanced as by `act`."""
        lanes = range(len(states))
        parts = min(self._threads, len(states))
        if parts <= 1:
            return self._search_lanes(states, streams, lanes)
        with ThreadPoolExecutor(parts) as pool:
            found = pool.map(lambda first: self._search_lanes(states, streams, lanes[first::parts]), range(parts))
            by_part = list(found)
        return [by_part[lane % parts][lane // parts] for lane in lanes]

    def _search_lanes(self, states: NDArray[np.int32], streams: NDArray[np.int64], lanes: range) -> list[Found]:
        try:
            searcher = self._idle.pop()
        except IndexError:
            searcher = _Searcher(self._rules, self._heuristic, self._max_depth, self._free_actions, self._seconds)
        try:
            return [searcher.search(states[lane], streams[lane]) for lane in lanes]
        finally:
            self._idle.append(searcher)


class _Searcher:
    """The work space of one search at a time."""

    def __init__(
        self, rules: Any, heuristic: Heuristic, max_depth: int, free_actions: int, seconds: float | None
    ) -> None:
        levels, num_actions = max_depth + free_actions + 2, rules.num_actions
        self._rules, self._heuristic = rules, heuristic
        self._limits = max_depth, free_actions
        self._seconds = seconds
        self._control = np.zeros(CONTROL_FIELDS, np.int64)
        entries = TABLE_ENTRIES if seconds is None else LARGE_TABLE_ENTRIES
        self._arrays: tuple[Any, ...] = (
            np.empty((levels, rules.state_size), np.int32),
            np.empty((levels, num_actions), np.int32),
            np.empty((levels, FRAME_FIELDS), np.int64),
            np.empty((levels, KILLERS), np.int32),
            np.empty((2, num_actions), np.int64),
            np.empty(num_actions, np.int64),
            np.zeros((entries, ENTRY_FIELDS), np.int64),
            np.empty(rules.state_size, np.int32),
            np.empty(heuristic.work_size(rules), np.int32),
        )

    def search(self, row: NDArray[np.int32], stream: Stream) -> Found:
        end = None if self._seconds is None else time.perf_counter() + self._seconds
        budget = STATES_A_CALL if end is None else STATES_A_LOOK
        control = self._control
        control[STATUS] = NEW
        while True:
            status = search(self._rules, self._heuristic, row, stream, *self._limits, budget, control, *self._arrays)
            # The search of depth 1 is always finished.
            if status == DONE or (end is not None and control[DEPTH] > 1 and time.perf_counter() >= end):
                return Found(int(control[ACTION]), int(control[VALUE]), int(control[DEPTH]), int(control[STATES]))
