"""Tree search with random rollouts, in its pinned form: bars are measured against it."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from stonezoo.kernels.uct import (
    ACTION,
    EXPLORATION,
    FIRST_CHILD,
    NEXT_SIBLING,
    NODE_FIELDS,
    POINTS,
    WIN_POINTS,
    uct_batch,
)
from stonezoo.players.player import check_whole
from stonezoo.state import Game

MAX_SIMULATIONS = 10_000_000  # their tree takes 320 MB a thread
THREADED_FROM = 500  # simulations in a batch that are worth a second thread


class UctPlayer:
    """`uct:N`: N uniformly random rollouts a move, a fresh tree each; what is pinned stands in `kernels.uct`."""

    def __init__(self, game: Game, num_simulations: int, threads: int | None = None) -> None:
        """`threads` search side by side, by default one a processor core; they change no result.

        Raises:
            PlayerError: `num_simulations` is out of range.
        """
        num_simulations = check_whole("uct", num_simulations, "simulations", MAX_SIMULATIONS)
        self.name = f"uct:{num_simulations}"
        self.num_simulations = num_simulations
        self._rules = game.rules
        self._threads = usable_cores() if threads is None else threads

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `Player.act`."""
        return self.search(states, streams)[0]

    def search(
        self, states: NDArray[np.int32], streams: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Returns the actions int32 [B] and how often each action was visited at the root, int32 [B, A].

        A forced action is not searched, and all its visit counts are 0.
        """
        actions = np.empty(len(states), np.int32)
        visit_counts = np.empty((len(states), self._rules.num_actions), np.int32)

        def search_part(part: slice) -> None:
            own_streams = np.ascontiguousarray(streams[part])
            own_states = np.ascontiguousarray(states[part])
            actions[part], visit_counts[part] = self._search_lanes(own_states, own_streams, self._new_nodes())
            streams[part] = own_streams

        self._side_by_side(search_part, len(states))
        return actions, visit_counts

    def assess(
        self, states: NDArray[np.int32], streams: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Returns the actions int32 [B] of `act`, and the mean return after each, float64 [B] in [-1, 1].

        Values are for the player to act; that of a forced action, which is not searched, is 0.
        """
        actions, values = np.empty(len(states), np.int32), np.zeros(len(states))

        def assess_part(part: slice) -> None:
            nodes = self._new_nodes()
            for lane in range(len(states))[part]:
                own = slice(lane, lane + 1)
                own_streams = np.ascontiguousarray(streams[own])
                own_states = np.ascontiguousarray(states[own])
                actions[own], visit_counts = self._search_lanes(own_states, own_streams, nodes)
                streams[own] = own_streams
                if visits := int(visit_counts[0, actions[lane]]):
                    child = int(nodes[0, FIRST_CHILD])
                    while nodes[child, ACTION] != actions[lane]:
                        child = int(nodes[child, NEXT_SIBLING])
                    values[lane] = 2.0 * nodes[child, POINTS] / (WIN_POINTS * visits) - 1.0

        self._side_by_side(assess_part, len(states))
        return actions, values

    def _side_by_side(self, work: Callable[[slice], None], lanes: int) -> None:
        """Does `work` for slices that together are all lanes, in threads where that pays."""
        parts = self._threads if self.num_simulations * lanes >= THREADED_FROM else 1
        parts = max(1, min(parts, lanes))
        if parts == 1:
            work(slice(None))
            return
        with ThreadPoolExecutor(parts) as pool:
            list(pool.map(lambda first: work(slice(first, None, parts)), range(parts)))

    def _new_nodes(self) -> NDArray[np.int32]:
        return np.empty((self.num_simulations + 1, NODE_FIELDS), np.int32)

    def _search_lanes(
        self, states: NDArray[np.int32], streams: NDArray[np.int64], nodes: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        num_actions = self._rules.num_actions
        actions = np.empty(len(states), np.int32)
        visit_counts = np.empty((len(states), num_actions), np.int32)
        uct_batch(
            self._rules,
            states,
            streams,
            self.num_simulations,
            EXPLORATION,
            nodes,
            np.empty(self.num_simulations + 1, np.int32),
            np.empty((2, num_actions), np.int32),
            np.empty(self._rules.state_size, np.int32),
            visit_counts,
            actions,
        )
        return actions, visit_counts


def usable_cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
