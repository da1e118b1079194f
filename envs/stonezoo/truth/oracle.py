"""What knows the values of actions: a table, or a search that may give up."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import TO_PLAY
from stonezoo.kernels.batch import step_batch
from stonezoo.solve import ILLEGAL, Search, SearchLimitError, Table, can_be_searched, known_table, saved_search
from stonezoo.state import Game

MAX_NODES = 30_000  # of a search for all actions of one position
START_NODES = 5_000_000  # seconds: a search that solves the start with them may take what it takes for all else
BUILD_BYTES = 500_000_000  # a table that needs no more is built where none is saved


class Oracle(Protocol):
    """What knows values, such as a table."""

    def action_values(self, states: NDArray[np.int32]) -> NDArray[np.int8]:
        """Returns int8 [B, A]: 1, 0 or -1 for the player to act, ILLEGAL where an action is not legal.

        A row is ILLEGAL throughout where the oracle does not know.
        """
        ...


class SearchOracle:
    """Solves every position it is asked for by search, and gives up on those that take more than `max_nodes`.

    Attributes:
        max_nodes: for all actions of one position; None: as many as it takes.
    """

    def __init__(
        self,
        game: Game,
        max_nodes: int | None = MAX_NODES,
        memory_bytes: int | None = None,
        *,
        symmetric: bool = False,
        search: Search | None = None,
    ) -> None:
        """The transposition table, of 1 GB at most unless `memory_bytes` says more, is kept between questions.

        `symmetric`: symmetric positions share an entry, which costs time and pays early in games only. `search`: who
        searches, instead of a new one.
        """
        self.game = game
        self.max_nodes = max_nodes
        self._search = Search(game, memory_bytes, symmetric=symmetric) if search is None else search

    def action_values(self, states: NDArray[np.int32]) -> NDArray[np.int8]:
        """Returns int8 [B, A]; see `Oracle.action_values`."""
        values = np.full((len(states), self.game.num_actions), ILLEGAL, np.int8)
        for lane, row in enumerate(states):
            found = self.solve(row)
            if found is not None:
                values[lane] = found
        return values

    def solve(self, row: NDArray[np.int32]) -> NDArray[np.int8] | None:
        """Returns the value of every action of one state int8 [A], or None when it gives up."""
        values = np.full(self.game.num_actions, ILLEGAL, np.int8)
        last = None if self.max_nodes is None else self._search.nodes + self.max_nodes
        for action in self.game.from_row(row).legal_actions.tolist():
            after = row[np.newaxis].copy()
            step_batch(self.game.rules, after, np.array([action], np.int32))
            try:
                value = self._search.value(after[0], None if last is None else max(1, last - self._search.nodes))
            except SearchLimitError:
                return None
            values[action] = value if after[0, TO_PLAY] == row[TO_PLAY] else -value
        return values


def usable_table(game: Game) -> Table:
    """The saved table of a game, or a new one where that is quick.

    Raises:
        TableError: there is none, and the game is too large to solve on the spot; or the saved one cannot be used.
    """
    table = known_table(game, BUILD_BYTES)
    return Table.load(game) if table is None else table  # which says that there is none, and what makes one


def usable_oracle(game: Game) -> Table | SearchOracle:
    """The table of a game, saved or quickly built; else a search that begins with what a saved one knows.

    The search knows every position of a game whose start is solved within START_NODES, and late ones of others.

    Raises:
        TableError: what was saved cannot be used.
    """
    table = known_table(game, BUILD_BYTES)
    if table is not None:
        return table
    search = saved_search(game)
    if can_be_searched(game):
        whole = Search(game) if search is None else search
        try:
            whole.value(game.initial_state().row, START_NODES)
        except SearchLimitError:
            pass
        else:
            return SearchOracle(game, None, search=whole)
    return SearchOracle(game, search=search)
