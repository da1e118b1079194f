"""The stronger tree search as a player."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from stonezoo.players.heuristics import Heuristic, Neutral, SearchSettings, find_heuristic
from stonezoo.players.player import check_whole
from stonezoo.players.uct import usable_cores
from stonezoo.players.uct_plus.search import NODE_FIELDS, NODE_NUMBERS, search_batch
from stonezoo.state import Game

MAX_SIMULATIONS = 1_000_000
MAX_NODES = 8_000_000  # 320 MB a thread; leaves stay leaves when all are used
MAX_PATH = 4_096
THREADED_FROM = 50  # simulations in a batch that are worth a second thread


class UctPlusPlayer:
    """`uct+:N`: N simulations a move, as strong as they can be made; see `uct_plus.search`.

    A game that has no heuristic is searched with uniform priors and random rollouts, and with proven results.
    """

    def __init__(
        self,
        game: Game,
        num_simulations: int,
        *,
        heuristic: Heuristic | None = None,
        settings: SearchSettings | None = None,
        threads: int | None = None,
    ) -> None:
        """`heuristic` and `settings` are by default those registered for the game; `threads` search side by side, by
        default one a processor core, and change no result.

        Raises:
            PlayerError: `num_simulations` is out of range.
        """
        num_simulations = check_whole("uct+", num_simulations, "simulations", MAX_SIMULATIONS)
        self.name = f"uct+:{num_simulations}"
        self.num_simulations = num_simulations
        self._rules = game.rules
        self._heuristic = heuristic or find_heuristic(game.name) or Neutral()
        self._settings = settings or self._heuristic.settings
        self._threads = usable_cores() if threads is None else threads

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `Player.act`."""
        return self.search(states, streams)[0]

    def assess(
        self, states: NDArray[np.int32], streams: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Returns the actions int32 [B] of `act`, and each state's value for the player to act, float64 [B] in [-1, 1].

        A proven value is -1, 0 or 1; that of a forced action, which is not searched, is 0.
        """
        actions, _, values = self.search(states, streams)
        return actions, values

    def search(
        self, states: NDArray[np.int32], streams: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Returns the actions int32 [B], how often each was visited at the root, int32 [B, A], and the values of
        `assess`.

        A forced action is not searched, and a proven root ends its search: fewer visits, or none.
        """
        actions = np.empty(len(states), np.int32)
        visit_counts = np.empty((len(states), self._rules.num_actions), np.int32)
        values = np.empty(len(states))

        def search_part(part: slice) -> None:
            own_streams = np.ascontiguousarray(streams[part])
            found = self._search_lanes(np.ascontiguousarray(states[part]), own_streams)
            actions[part], visit_counts[part], values[part] = found
            streams[part] = own_streams

        threads = self._threads if self.num_simulations * len(states) >= THREADED_FROM else 1
        parts = max(1, min(threads, len(states)))
        if parts == 1:
            search_part(slice(None))
        else:
            with ThreadPoolExecutor(parts) as pool:
                list(pool.map(lambda first: search_part(slice(first, None, parts)), range(parts)))
        return actions, visit_counts, values

    def _search_lanes(
        self, states: NDArray[np.int32], streams: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        rules = self._rules
        num_actions, state_size = rules.num_actions, rules.state_size
        num_nodes = max(min((self.num_simulations + 2) * num_actions, MAX_NODES), 2 * num_actions)
        actions, values = np.empty(len(states), np.int32), np.empty(len(states))
        visit_counts = np.empty((len(states), num_actions), np.int32)
        search_batch(
            rules,
            self._heuristic,
            self._settings,
            states,
            streams,
            self.num_simulations,
            np.empty((num_nodes, NODE_FIELDS), np.int32),
            np.empty((num_nodes, NODE_NUMBERS), np.float64),
            np.empty(min(self.num_simulations + 3, MAX_PATH), np.int32),
            np.empty(num_actions, np.int32),
            np.empty(state_size, np.int32),
            np.empty(state_size, np.int32),
            np.empty(self._heuristic.work_size(rules), np.int32),
            visit_counts,
            values,
            actions,
        )
        return actions, visit_counts, values
