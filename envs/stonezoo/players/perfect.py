"""The player who knows the value of everything: best value, then the shortest win or the longest loss."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.rng import randint
from stonezoo.players.player import PlayerError
from stonezoo.solve import MemoryLimitError, Table
from stonezoo.solve.table import make_command
from stonezoo.state import Game

SMALL = 96 << 20  # bytes of a table that is made at once, in a few seconds
TABLES_KEPT = 4  # of those that were made at once


class PerfectPlayer:
    """`perfect`: plays from a solved table; of equally good actions each with the same probability."""

    name = "perfect"

    def __init__(self, game: Game, table: Table | None = None) -> None:
        """`table` by default the saved one of the game; where there is none and the game is small, it is made at once.

        Raises:
            PlayerError: there is none, and the game is not small; the message names the command that makes it.
            TableError: the saved one cannot be used.
        """
        self.table = table or table_of(game)

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `Player.act`."""
        best = self.table.best_actions(states)
        actions = np.empty(len(states), np.int32)
        for lane, found in enumerate(best):
            choices = np.flatnonzero(found)
            actions[lane] = choices[randint(streams[lane], len(choices)) if len(choices) > 1 else 0]
        return actions


def table_of(game: Game) -> Table:
    """Returns the saved table of a game, or a new one if the game is small.

    Raises:
        PlayerError: there is none, and the game is not small.
        TableError: the saved one cannot be used.
    """
    if Table.usual_path(game).exists():
        return Table.load(game)
    return _small_table(game)


@lru_cache(TABLES_KEPT)
def _small_table(game: Game) -> Table:
    try:
        return Table.build(game, memory=SMALL)
    except MemoryLimitError:
        raise PlayerError(
            f"perfect: {game!r} is not solved yet, and too large to be solved in passing: {make_command(game)} makes "
            f"its table, if it is small enough for one, as {Table.usual_path(game)}"
        ) from None
