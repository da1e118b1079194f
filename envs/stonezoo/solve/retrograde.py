"""Values of all positions of a graph, worked out backwards from the ends of games.

Two questions are answered. `solve_endless`: who can force a win when play may go on for ever, and in how many actions
(the winner as few as possible, the loser as many). `solve_limited`: how much of the count of endless play must be left
for that win, so that a limit on the count is exact for every count, as depth-to-zeroing tables are for the rule of
fifty moves in chess. What nobody can force is a draw.

Where a graph is one layer of a game, what is known of the positions of later layers comes in beside the ends of games.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.jit import jit, kernel
from stonezoo.solve.code import CODE, Code
from stonezoo.solve.memory import MemoryLimitError, show_memory
from stonezoo.solve.walk import (
    CONTINUES,
    COUNTED,
    FIRST_NODE,
    FLAGS,
    LOST,
    NUM_EDGES,
    NUM_NODES,
    RESET,
    TESTED,
    WON,
    Graph,
)

WIN, DRAW, LOSS = 1, 0, -1  # for the player to act
NEVER = (1 << 15) - 1  # of `need`: the win cannot be forced within the limit, however much is left


class Backward(NamedTuple):
    """The edges of a graph by target; edge i leads from `source[i] // FLAGS` with the flags `source[i] % FLAGS`."""

    first: NDArray[np.int64]  # [C + 1] number of the first edge to each node
    source: NDArray[np.int32]  # [E]


class Solution(NamedTuple):
    """The nodes' values with endless play a draw. Entries of the first three nodes are the ends of games."""

    value: NDArray[np.int8]  # [C] WIN, DRAW or LOSS for the player to act
    distance: NDArray[np.int16]  # [C] actions to the end; 0 in draws


class Known(NamedTuple):
    """Nodes of later layers, which are solved."""

    node: NDArray[np.int32]  # [K]
    result: NDArray[np.int16]  # [K] distance, negative in losses; 0 in draws
    need: NDArray[np.int16]  # [K or 0] what must be left of the count; empty where nothing is forgotten


NOTHING_KNOWN = Known(np.empty(0, np.int32), np.empty(0, np.int16), np.empty(0, np.int16))


@jit
def _count_targets(code: Code, edges: NDArray[np.int32], num_edges: int, first: NDArray[np.int64]) -> None:
    for edge in range(num_edges):
        first[int(edges[edge]) // FLAGS + 1] += 1


@jit
def _turn_around(
    code: Code,
    starts: NDArray[np.int64],
    degree: NDArray[np.int16],
    edges: NDArray[np.int32],
    num_nodes: int,
    first: NDArray[np.int64],
    source: NDArray[np.int32],
) -> None:
    """Writes `source`, moving each entry of `first` from the start of its edges to their end."""
    for node in range(FIRST_NODE, num_nodes):
        for edge in range(starts[node], starts[node] + degree[node]):
            target, flags = divmod(int(edges[edge]), FLAGS)
            source[first[target]] = node * FLAGS + flags
            first[target] += 1


@jit
def _solve_endless(
    code: Code,
    first: NDArray[np.int64],
    source: NDArray[np.int32],
    value: NDArray[np.int8],
    distance: NDArray[np.int16],
    left: NDArray[np.int16],
    known: NDArray[np.int32],
    queue: NDArray[np.int32],
) -> int:
    """Breadth first from the ends: a win is found at its nearest lost child, a loss at its farthest won one.

    `known` [K]: nodes whose value and distance are there, by distance; each has its turn among the others of that
    distance. `left` [C]: edges of each node, used up; `queue` [C] is work space. Returns the greatest distance.
    """
    value[WON] = WIN
    value[LOST] = LOSS
    queue[0] = WON
    queue[1] = LOST
    done, waiting, farthest, taken = 0, 2, 0, 0
    while done < waiting or taken < known.shape[0]:
        if taken < known.shape[0] and (done == waiting or distance[known[taken]] <= distance[queue[done]]):
            node = int(known[taken])
            taken += 1
        else:
            node = int(queue[done])
            done += 1
        for edge in range(first[node], first[node + 1]):
            parent, flags = divmod(int(source[edge]), FLAGS)
            if value[parent] != DRAW:
                continue
            if (value[node] == WIN) == (flags & CONTINUES != 0):
                value[parent] = WIN
            else:
                left[parent] -= 1
                if left[parent] > 0:
                    continue
                value[parent] = LOSS
            distance[parent] = distance[node] + 1
            farthest = max(farthest, int(distance[parent]))
            queue[waiting] = parent
            waiting += 1
    return farthest


@jit
def _apply(
    parent: int,
    enough: int,
    limit: int,
    value: NDArray[np.int8],
    need: NDArray[np.int16],
    left: NDArray[np.int16],
) -> bool:
    """Takes into account that one child of `parent` is decided when `enough` of the count is left; says whether the
    parent's need is now known to be `need[parent]`, or lower than it was.

    A winner needs the least of the children's, a loser is lost when the most is left that any child needs.
    """
    if enough > limit:
        return False
    if value[parent] == WIN:
        if enough < need[parent]:
            need[parent] = enough
            return True
        return False
    # `need` of a loser holds -1 - the most so far, until all children are known.
    if need[parent] == NEVER:
        need[parent] = -1 - enough
    else:
        need[parent] = min(int(need[parent]), -1 - enough)
    left[parent] -= 1
    if left[parent] == 0:
        need[parent] = -1 - need[parent]
        return True
    return False


@jit
def _solve_limited(
    code: Code,
    first: NDArray[np.int64],
    source: NDArray[np.int32],
    value: NDArray[np.int8],
    limit: int,
    before: NDArray[np.bool_],
    given: Known,
    need: NDArray[np.int16],
    left: NDArray[np.int16],
    queues: NDArray[np.int32],
    known: NDArray[np.bool_],
) -> bool:
    """One round: the least count that must be left, in ascending order (Knuth 1977, on graphs of "and" and "or").

    A step that sets the count to 0 restores the whole limit; whether that is enough is taken from the round before:
    `before` [C]. `given`: decided nodes of later layers, by need. Work space: queues [3, C] for the level at hand and
    the two after it, known [C]. `need` [C] comes in as NEVER, `left` [C] as the number of edges. `known` [C] comes
    back as who has a need within the limit; returns whether that changes anything for a step that sets the count to 0.
    """
    sizes_0, sizes_1, sizes_2 = 2, 0, 0
    queues[0, 0] = WON
    queues[0, 1] = LOST
    need[WON] = 0
    need[LOST] = 0
    for node in range(before.shape[0]):
        if before[node]:
            for edge in range(first[node], first[node + 1]):
                parent, flags = divmod(int(source[edge]), FLAGS)
                if flags & RESET and value[parent] != DRAW:
                    if value[parent] == LOSS or (value[node] == WIN) == (flags & CONTINUES != 0):
                        if _apply(parent, 0, limit, value, need, left):
                            queues[0, sizes_0] = parent
                            sizes_0 += 1
    taken, again = 0, False
    for level in range(limit + 1):
        at = level % 3
        while taken < given.node.shape[0] and given.need[taken] == level:
            node = int(given.node[taken])
            need[node] = level
            queues[at, sizes_0] = node
            sizes_0 += 1
            taken += 1
        done = 0
        while done < sizes_0:
            node = int(queues[at, done])
            done += 1
            if known[node] or need[node] != level:
                continue
            known[node] = True
            for edge in range(first[node], first[node + 1]):
                parent, flags = divmod(int(source[edge]), FLAGS)
                if flags & RESET:
                    again = again or (value[parent] != DRAW and not before[node])
                    continue
                if value[parent] == DRAW or known[parent]:
                    continue
                if value[parent] == WIN and (value[node] == WIN) != (flags & CONTINUES != 0):
                    continue
                enough = level
                if node >= FIRST_NODE and flags & TESTED:
                    enough = max(enough, 1)
                if flags & COUNTED:
                    enough += 1
                if _apply(parent, enough, limit, value, need, left):
                    ahead = int(need[parent]) - level
                    if ahead == 0:
                        queues[at, sizes_0] = parent
                        sizes_0 += 1
                    elif ahead == 1:
                        queues[(level + 1) % 3, sizes_1] = parent
                        sizes_1 += 1
                    else:
                        queues[(level + 2) % 3, sizes_2] = parent
                        sizes_2 += 1
        sizes_0, sizes_1, sizes_2 = sizes_1, sizes_2, 0
    for node in range(known.shape[0]):
        if not known[node]:
            need[node] = NEVER
    return again


count_targets = kernel(_count_targets)
turn_around = kernel(_turn_around)
endless_kernel = kernel(_solve_endless)
limited_kernel = kernel(_solve_limited)


def backward_bytes(graph: Graph) -> int:
    """Bytes that `turn_edges` and `solve_endless` need beside the graph."""
    nodes, edges = int(graph.sizes[NUM_NODES]), int(graph.sizes[NUM_EDGES])
    return 4 * edges + (8 + 8 + 1 + 2 + 2 + 4) * nodes


def turn_edges(graph: Graph, memory: int) -> Backward:
    """Returns the edges of a finished graph by target.

    Raises:
        MemoryLimitError: that needs more than `memory` bytes.
    """
    if backward_bytes(graph) > memory:
        raise MemoryLimitError(
            f"{show_memory(backward_bytes(graph))} more are needed to work out the values of "
            f"{int(graph.sizes[NUM_NODES]):,} positions, and {show_memory(memory)} are left; allow more memory"
        )
    nodes, edges = int(graph.sizes[NUM_NODES]), int(graph.sizes[NUM_EDGES])
    first = np.zeros(nodes + 1, np.int64)
    count_targets(CODE, graph.edges, edges, first)
    first = np.cumsum(first)
    source = np.empty(edges, np.int32)
    ends = first[:-1].copy()
    turn_around(CODE, graph.first, graph.degree, graph.edges, nodes, ends, source)
    return Backward(first, source)


def _decided(known: Known, order: NDArray[np.int16]) -> Known:
    """Returns what is known but for draws, ascending by `order` [K]."""
    chosen = np.argsort(order, kind="stable")
    chosen = chosen[known.result[chosen] != 0]
    need = known.need[chosen] if len(known.need) else known.need
    return Known(known.node[chosen], known.result[chosen], need)


def solve_endless(graph: Graph, backward: Backward, known: Known = NOTHING_KNOWN) -> Solution:
    """Returns the value and the distance of every node, endless play being a draw."""
    nodes = int(graph.sizes[NUM_NODES])
    value, distance = np.zeros(nodes, np.int8), np.zeros(nodes, np.int16)
    value[known.node] = np.sign(known.result)
    distance[known.node] = np.abs(known.result)
    by_distance = _decided(known, np.abs(known.result)).node
    left, queue = graph.degree[:nodes].copy(), np.empty(nodes, np.int32)
    farthest = endless_kernel(CODE, backward.first, backward.source, value, distance, left, by_distance, queue)
    if farthest >= NEVER:
        raise OverflowError(f"a game of {farthest:,} actions: tables keep distances below {NEVER:,}")
    return Solution(value, distance)


def solve_limited(
    graph: Graph,
    backward: Backward,
    value: NDArray[np.int8],
    limit: int,
    smaller: NDArray[np.int16] | None = None,
    known: Known = NOTHING_KNOWN,
) -> NDArray[np.int16]:
    """Returns what must be left of the count for each node's `value` [C] to hold, int16 [C]; NEVER where it is a draw.

    `smaller`, what was returned for a smaller limit, saves time: what that one allows, this one does. What is `known`
    was found for the same limit.

    A position whose count stands at c has its value of endless play if `limit` - c is at least its need, else it is a
    draw.
    """
    nodes = int(graph.sizes[NUM_NODES])
    need, queues = np.empty(nodes, np.int16), np.empty((3, nodes), np.int32)
    before, reached = np.zeros(nodes, np.bool_), np.zeros(nodes, np.bool_)
    given = _decided(known, known.need)
    before[:2] = True
    before[given.node[given.need != NEVER]] = True
    if smaller is not None:
        before |= smaller != NEVER
    again = True
    while again:
        need[:] = NEVER
        reached[:] = False
        left = graph.degree[:nodes].copy()
        again = limited_kernel(
            CODE, backward.first, backward.source, value, limit, before, given, need, left, queues, reached
        )
        before = reached.copy()
    return need
