"""How the values of a game depend on the limit that makes endless play a draw."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.solve.graph import Builder
from stonezoo.solve.keys import NO_ENTRY
from stonezoo.solve.memory import default_memory
from stonezoo.solve.retrograde import DRAW, solve_endless, solve_limited, turn_edges
from stonezoo.solve.walk import COUNTED, FIRST_NODE, FLAGS, TESTED
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
    """Solves `game` under many limits; symmetric positions count once, and all with the counter at 0.

    Raises:
        MemoryLimitError: the game needs more memory.
    """
    builder = Builder(game, default_memory() if memory is None else memory)
    builder.add(game.initial_state().row[np.newaxis])
    graph = builder.run()
    backward = turn_edges(graph, builder.memory - builder.bytes())
    solution = solve_endless(graph, backward)
    decided = solution.value[FIRST_NODE:] != DRAW
    if builder.counter == NO_ENTRY:
        return LimitReport(0, 0, int(decided.sum()), {})
    first = int(graph.first[FIRST_NODE])
    edges = graph.edges[first : first + int(graph.degree[FIRST_NODE])]
    looks: dict[int, Look] = {}
    needs: dict[int, NDArray[np.int16]] = {}

    @cache
    def look(limit: int) -> Look:
        nearest = max((other for other in needs if other < limit), default=0)
        need = needs[limit] = solve_limited(graph, backward, solution, limit, needs.get(nearest))
        won = bool(need[FIRST_NODE] <= limit)
        start = int(solution.value[FIRST_NODE]) if won else DRAW
        holds = bool(won or solution.value[FIRST_NODE] == DRAW)
        holds = holds and _actions_hold(edges, solution.value, need, limit)
        looks[limit] = Look(int((decided & (need[FIRST_NODE:] > limit)).sum()), start, holds)
        return looks[limit]

    enough = _least(lambda limit: look(limit).drawn == 0)
    start_enough = _least(lambda limit: look(limit).start_holds)
    return LimitReport(enough, start_enough, int(decided.sum()), dict(sorted(looks.items())))


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
