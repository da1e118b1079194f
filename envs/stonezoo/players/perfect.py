"""The player who knows the value of everything.

From a table it wins as soon and loses as late as it can. Where a game has no table and play cannot cycle, it searches,
which tells values alone: it never gives a result away, and of the actions that keep it, it takes any.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import TO_PLAY, StateRow
from stonezoo.core.rng import Stream, randint
from stonezoo.kernels.batch import step_batch
from stonezoo.players.player import PlayerError
from stonezoo.solve import Search, SearchLimitError, Table, can_be_searched, known_table, saved_search
from stonezoo.solve.known import IN_PASSING
from stonezoo.solve.memory import show_memory
from stonezoo.solve.table import make_command
from stonezoo.state import Game

MAX_NODES = 300_000_000  # of a search for one decision: minutes; the start of Rive 3 takes 1.6 million
TOLD_AFTER = 3_000_000  # nodes, about two seconds: then a line says what takes so long
SEARCHES_KEPT = 2  # one takes a gigabyte
SEARCHING = threading.Lock()  # a search is shared by all players of its game, and answers one at a time
LOSS = -1


class UnsolvedError(PlayerError):
    """A position that was not solved within the limit: there is no perfect action to be had."""


class PerfectPlayer:
    """`perfect`, `perfect:4G`: of equally good actions it plays each with the same probability.

    From a table, the best action is the one with the best value and then the shortest win or the longest loss; from a
    search, one with the best value.

    Attributes:
        source: where it knows from.
    """

    def __init__(
        self,
        game: Game,
        source: Table | Search | None = None,
        *,
        memory: int | None = None,
        max_nodes: int | None = None,
        name: str = "perfect",
    ) -> None:
        """`source` is by default what `perfect_source` finds; `memory` is a search's, and `max_nodes` are those of one
        decision, by default MAX_NODES.

        Raises:
            PlayerError, TableError: as `perfect_source`.
        """
        self.name = name
        self.game = game
        self.source = perfect_source(game, memory=memory) if source is None else source
        self.max_nodes = MAX_NODES if max_nodes is None else max_nodes

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `Player.act`.

        Raises:
            UnsolvedError: (a ValueError) a search made `max_nodes` nodes for one of them; the message says the remedy.
        """
        actions = np.empty(len(states), np.int32)
        if isinstance(self.source, Search):
            for lane, row in enumerate(states):
                actions[lane] = self._search(row, streams[lane])
            return actions
        for lane, found in enumerate(self.source.best_actions(states)):
            choices = np.flatnonzero(found)
            actions[lane] = choices[randint(streams[lane], len(choices)) if len(choices) > 1 else 0]
        return actions

    def value(self, row: StateRow) -> int:
        """Returns the value of a state int32 [S] for the player to act: 1 won, 0 drawn, -1 lost.

        Raises:
            UnsolvedError: (a ValueError) a search made `max_nodes` nodes for it.
        """
        if not isinstance(self.source, Search):
            return int(self.source.values(row[np.newaxis])[0])
        with SEARCHING:
            return self._ask(self.source, row, self.source.nodes + self.max_nodes, row)

    def _search(self, row: StateRow, stream: Stream) -> int:
        """The first of the actions, in random order, that keeps the state's value."""
        assert isinstance(self.source, Search)
        search, actions = self.source, self.game.from_row(row).legal_actions.tolist()
        if len(actions) == 1:
            return int(actions[0])
        with SEARCHING:
            last = search.nodes + self.max_nodes
            value = self._ask(search, row, last, row)
            for done in range(len(actions)):
                drawn = done + (randint(stream, len(actions) - done) if len(actions) - done > 1 else 0)
                actions[done], actions[drawn] = actions[drawn], actions[done]
                if value == LOSS:  # every action is as good
                    return int(actions[done])
                after = row[np.newaxis].copy()
                step_batch(self.game.rules, after, np.array(actions[done : done + 1], np.int32))
                found = self._ask(search, after[0], last, row)
                if (found if after[0, TO_PLAY] == row[TO_PLAY] else -found) == value:
                    return int(actions[done])
        raise AssertionError(f"no action keeps the value {value}: {self.game.from_row(row).to_text()}")

    def _ask(self, search: Search, row: StateRow, last: int, decided: StateRow) -> int:
        try:
            return search.value(row, max(1, last - search.nodes))
        except SearchLimitError:
            raise UnsolvedError(
                f"{self.name}: {self.max_nodes:,} nodes of search in {show_memory(search.memory)} do not solve "
                f"{self.game.from_row(decided).to_text()} of {self.game!r}: more memory helps, as in perfect:4G; so "
                f"does a search that is solved once and kept, by {search_command(self.game)}, unless the board is too "
                "large for any search"
            ) from None


def perfect_source(game: Game, *, made_with: int = IN_PASSING, memory: int | None = None) -> Table | Search:
    """Returns where perfect play of a game is known from, by the rule of `stonezoo.solve.known`.

    Args:
        game: the game.
        made_with: bytes that a table may take which is made at once.
        memory: bytes of a search's table that begins anew; by default 1 GB, or half of what is available. A saved
            search has its own size.

    Raises:
        PlayerError: there is neither a table nor, since play can cycle, a search that answers any position; the message
            names the command that makes a table.
        TableError: what was saved cannot be used.
    """
    table = known_table(game, made_with)
    if table is not None:
        return table
    if can_be_searched(game):
        return _search_of(game, memory)
    raise PlayerError(
        f"perfect: {game!r} is not solved yet, and too large to be solved in passing: {make_command(game)} makes "
        f"its table, if it is small enough for one, as {Table.usual_path(game)}"
    )


@lru_cache(SEARCHES_KEPT)
def _search_of(game: Game, memory: int | None) -> Search:
    search = saved_search(game) or Search(game, memory)
    search.progress = _teller(game, search.nodes)
    return search


def _teller(game: Game, before: int) -> Callable[[Search], None]:
    """Returns what says, once and only if it is so, that the first decisions take a while."""
    told = False

    def tell(search: Search) -> None:
        nonlocal told
        if not told and search.nodes - before > TOLD_AFTER:
            told = True
            print(
                f"perfect: {game!r} has no table and is searched, in {show_memory(search.memory)}: the first decisions "
                f"take a while, minutes perhaps, later ones less ({search_command(game)} keeps what is found)",
                file=sys.stderr,
                flush=True,
            )

    return tell


def search_command(game: Game) -> str:
    """The command that solves the start of a game by search and keeps the search."""
    return make_command(game).replace(" --save", " --method search --memory 4G --save")
