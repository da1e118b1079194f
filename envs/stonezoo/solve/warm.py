"""Compiling the solver without solving anything."""

from __future__ import annotations

import contextlib

import numpy as np

from stonezoo.solve.code import CODE
from stonezoo.solve.graph import Builder
from stonezoo.solve.search import Search, SearchLimitError
from stonezoo.solve.table import Table
from stonezoo.solve.walk import refill, walk
from stonezoo.state import Game


def compile_solver(game: Game) -> None:
    """Compiles or loads all that tables and searches of a game need, in calls as they make them."""
    row = game.initial_state().row
    builder = Builder(game, 1 << 30)
    table = Table.finish(builder)  # of no positions
    table.values(np.empty((0, len(row)), np.int32))
    table.action_values(np.empty((0, len(row)), np.int32))
    walk(game.rules, builder.graph, builder.keys, row[np.newaxis], builder.counter, builder.limit, builder.layer, 1)
    refill(CODE, builder.graph)
    with contextlib.suppress(SearchLimitError):
        Search(game, 1).value(row, max_nodes=1)
