"""How the values of a game depend on the limit that makes endless play a draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.solve.graph import Builder
from stonezoo.solve.keys import NO_ENTRY
from stonezoo.solve.memory import default_memory
from stonezoo.solve.retrograde import DRAW, solve_endless, solve_limited, turn_edges
from stonezoo.solve.walk import COUNTED, FIRST_NODE, FLAGS, LATER, NUM_NODES, TESTED, Graph
from stonezoo.state import Game


class Look(NamedTuple):
    """What one limit does: how many positions that are decided without a limit are draws, the value of the initial
    state for the player to act, and whether it and its actions have the values that they have without a limit.
    """

    drawn: int
    start: int
    start_holds: bool


class LimitReport(NamedTuple):
    """What limits change. A limit only turns wins into draws, and the larger it is, the fewer.

    Attributes:
        enough: the smallest limit with which every position has its value without a limit; 0 where nothing is counted.
        start_enough: the smallest limit with which the initial state and all of its actions have theirs.
        decided: positions that are not drawn without a limit.
        looks: what was found for each limit that was looked at, ascending.
    """

    enough: int
    start_enough: int
    decided: int
    looks: dict[int, Look]


def limit_report(game: Game, memory: int | None = None) -> LimitReport:
    """Solves `game` under many limits, in one piece; symmetric positions count once, and all with the counter at 0.

    `LayerSolver.limit_report` says the same, layer by layer.

    Raises:
        MemoryLimitError: the game needs more memory.
    """
    builder = Builder(game, default_memory() if memory is None else memory)
    builder.add(game.initial_state().row[np.newaxis])
    graph = builder.run()
    backward = turn_edges(graph, builder.memory - builder.bytes())
    solution = solve_endless(graph, backward)
    decided = int(np.count_nonzero(solution.value[FIRST_NODE:]))
    if builder.counter == NO_ENTRY:
        return LimitReport(0, 0, decided, {})
    needs: dict[int, NDArray[np.int16]] = {}

    def look(limit: int) -> Look:
        nearest = max((other for other in needs if other < limit), default=0)
        needs[limit] = solve_limited(graph, backward, solution.value, limit, needs.get(nearest))
        return look_at(graph, solution.value, needs[limit], limit)

    return report_of(look, decided)


def report_of(look: Callable[[int], Look], decided: int) -> LimitReport:
    """Returns what limits change of a game of `decided` positions that are no draws; `look` is asked once a limit."""
    looks: dict[int, Look] = {}

    def looked(limit: int) -> Look:
        if limit not in looks:
            looks[limit] = look(limit)
        return looks[limit]

    enough = _least(lambda limit: looked(limit).drawn == 0)
    start_enough = _least(lambda limit: looked(limit).start_holds)
    return LimitReport(enough, start_enough, decided, dict(sorted(looks.items())))


def look_at(graph: Graph, value: NDArray[np.int8], need: NDArray[np.int16], limit: int) -> Look:
    """Returns what a limit does to a graph's own positions, of which the first is taken for the initial state.

    `value` [C] are those of endless play, `need` [C] what must be left of the count for them, under this limit.
    """
    nodes = slice(FIRST_NODE, int(graph.sizes[NUM_NODES]))
    drawn = (graph.first[nodes] != LATER) & (value[nodes] != DRAW) & (need[nodes] > limit)
    won = bool(need[FIRST_NODE] <= limit)
    holds = bool(won or value[FIRST_NODE] == DRAW)
    first = int(graph.first[FIRST_NODE])
    edges = graph.edges[first : first + int(graph.degree[FIRST_NODE])]
    return Look(
        int(drawn.sum()),
        int(value[FIRST_NODE]) if won else DRAW,
        holds and _actions_hold(edges, value, need, limit),
    )


def _least(holds: Callable[[int], bool]) -> int:
    """Returns the smallest number from 1 on that holds; all larger ones do."""
    low, high = 1, 1
    while not holds(high):
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _actions_hold(edges: NDArray[np.int32], value: NDArray[np.int8], need: NDArray[np.int16], limit: int) -> bool:
    """Whether each action from the initial state has the value that it has without a limit."""
    for edge in edges.tolist():
        target, flags = divmod(edge, FLAGS)
        left = limit - (1 if flags & COUNTED else 0)
        if target >= FIRST_NODE and value[target] != DRAW:
            if need[target] > left or (flags & TESTED and left == 0):
                return False
    return True
