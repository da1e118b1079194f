"""The walk that finds positions and the actions between them, depth first: a state in arrays, so that it can stop
anywhere, grow, and be saved.

Rows are kept for the path that is being walked, not for all nodes. Where a single layer of a game is walked, the path
has a greatest length, since it would be nearly as long as the layer is large: what lies beyond is handed out, to be
begun with later, and so are positions of later layers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, TO_PLAY, Rules, copy_row
from stonezoo.core.jit import jit, kernel
from stonezoo.solve.code import Code
from stonezoo.solve.keys import NO_ENTRY, Keys, find_key

# Nodes that stand for the ends of games, seen by the player who acted last.
WON, LOST, TIED = 0, 1, 2
FIRST_NODE = 3

# An edge is its target * FLAGS plus what is to know of the step.
FLAGS = 16
CONTINUES = 1  # the same player acts again; always set for the end of a game
COUNTED, RESET = 2, 4  # the step adds to the count of endless play, or sets it to 0; neither: leaves it
TESTED = 8  # the game is drawn here if the count has then reached its limit
MOST_NODES = (1 << 31) // FLAGS

NOT_EXPANDED, LATER = -1, -2  # in `first`; LATER: the position was handed out, and in a later layer stays without edges
LAST_LAYER = (1 << 31) - 1  # there is no later one
FRESH = -1  # in `cursor`: the level's node is still to be expanded

DONE, OUT_OF_BUDGET, FULL_NODES, FULL_EDGES, FULL_STACK, FULL_EXITS = range(6)  # why the kernel came back
# Arrays that get longer then. The kernel goes by the length of the last one: until that has grown too, the longer ones
# beside it do no harm, so that an interruption between two of them leaves a graph to go on with.
GROWING = {
    FULL_NODES: ("check", "first", "degree", "slots", "key"),
    FULL_EDGES: ("edges",),
    FULL_STACK: ("legal", "path", "rows"),
}
WORK_ROWS = 3  # the last of `rows`
NUM_NODES, NUM_EDGES, LEVEL, DEEPEST, NEXT_ROOT, NUM_EXITS = range(6)  # entries of `sizes`

LOAD = 0.6  # nodes a slot


class Graph(NamedTuple):
    """A graph that may be under way. C nodes and E edges fit in."""

    key: NDArray[np.int64]  # [C] first half of each node's key
    check: NDArray[np.int64]  # [C] second half
    first: NDArray[np.int64]  # [C] number of the node's first edge; its edges stand side by side
    degree: NDArray[np.int16]  # [C] their number
    edges: NDArray[np.int32]  # [E]
    slots: NDArray[np.int32]  # [slots] nodes, by key; 0 is empty
    rows: NDArray[np.int32]  # [D, S] the path; the last three are work space
    legal: NDArray[np.int32]  # [D, A] legal actions on the path
    path: NDArray[np.int32]  # [3, D] on the path: node, number of legal actions, the next to look at
    exits: NDArray[np.int32]  # [X, S] positions that are to be handed out
    sizes: NDArray[np.int64]  # [6] nodes, edges, level of the path (-1: none), deepest level so far, next root, exits


@jit
def _slot_of(graph: Graph, key: int, check: int) -> int:
    """The slot of a key, or the empty one where it belongs."""
    slot = int(key % graph.slots.shape[0])
    while True:
        node = int(graph.slots[slot])
        if node == 0 or (graph.check[node] == check and graph.key[node] == key):
            return slot
        slot += 1
        if slot == graph.slots.shape[0]:
            slot = 0


@jit
def _node_of(rules: Rules, graph: Graph, keys: Keys, state: NDArray[np.int32]) -> int:
    """The node of an ongoing position; a new one if there is none yet."""
    find_key(rules, state, keys)
    key, check = int(keys.found[0]), int(keys.found[1])
    slot = _slot_of(graph, key, check)
    node = int(graph.slots[slot])
    if node == 0:
        node = int(graph.sizes[NUM_NODES])
        graph.sizes[NUM_NODES] = node + 1
        graph.slots[slot] = node
        graph.key[node] = key
        graph.check[node] = check
        graph.first[node] = NOT_EXPANDED
    return node


@jit
def count_flags(
    rules: Rules,
    state: NDArray[np.int32],
    action: int,
    counter: int,
    limit: int,
    work: NDArray[np.int32],
) -> int:
    """COUNTED, RESET and TESTED of an action that does not end the game: it is tried with the counter at the limit."""
    copy_row(state, work)
    work[counter] = limit - 1
    rules.step(work, action)
    if work[counter] == 0:
        return RESET
    if work[counter] == limit:
        return COUNTED | (TESTED if work[OUTCOME] == DRAWN else 0)
    copy_row(state, work)
    work[counter] = limit
    rules.step(work, action)
    return TESTED if work[OUTCOME] == DRAWN else 0


@jit
def _step_to(rules: Rules, state: NDArray[np.int32], action: int, counter: int, child: NDArray[np.int32]) -> None:
    copy_row(state, child)
    rules.step(child, action)
    if counter != NO_ENTRY:
        child[counter] = 0


@jit
def _leave(graph: Graph, node: int, state: NDArray[np.int32]) -> None:
    """Hands the position of a node out."""
    graph.first[node] = LATER
    graph.degree[node] = 0
    copy_row(state, graph.exits[int(graph.sizes[NUM_EXITS])])
    graph.sizes[NUM_EXITS] += 1


@jit
def _expand(rules: Rules, graph: Graph, keys: Keys, level: int, counter: int, limit: int, layer: int) -> None:
    """Writes the edges of the last node of the path."""
    state, depth = graph.rows[level], graph.rows.shape[0]
    child, work = graph.rows[depth - 1], graph.rows[depth - 2]
    count = rules.legal_actions(state, graph.legal[level])
    node, mover, edge = int(graph.path[0, level]), int(state[TO_PLAY]), int(graph.sizes[NUM_EDGES])
    graph.first[node] = edge
    graph.degree[node] = count
    for i in range(count):
        action = int(graph.legal[level, i])
        _step_to(rules, state, action, counter, child)
        outcome = int(child[OUTCOME])
        flags = 0
        if outcome == ONGOING:
            nodes = int(graph.sizes[NUM_NODES])
            target = _node_of(rules, graph, keys, child)
            if target == nodes and rules.layer(child) > layer:
                _leave(graph, target, child)
            if child[TO_PLAY] == mover:
                flags = CONTINUES
        else:
            flags = CONTINUES
            target = TIED if outcome == DRAWN else WON if outcome == BLACK_WON + mover else LOST
        if counter != NO_ENTRY:
            flags |= count_flags(rules, state, action, counter, limit, work)
        graph.edges[edge + i] = target * FLAGS + flags
    graph.sizes[NUM_EDGES] = edge + count
    graph.path[1, level] = count
    graph.path[2, level] = 0


@jit
def _add_root(rules: Rules, graph: Graph, keys: Keys, row: NDArray[np.int32], counter: int) -> None:
    """Begins a walk at a position that is not over, unless it is known already."""
    copy_row(row, graph.rows[0])
    if counter != NO_ENTRY:
        graph.rows[0, counter] = 0
    node = _node_of(rules, graph, keys, graph.rows[0])
    if graph.first[node] < 0:
        graph.path[0, 0] = node
        graph.path[2, 0] = FRESH
        graph.sizes[LEVEL] = 0


@jit
def _walk(
    rules: Rules,
    graph: Graph,
    keys: Keys,
    roots: NDArray[np.int32],
    counter: int,
    limit: int,
    layer: int,
    budget: int,
) -> int:
    """Goes on with the walk until `budget` nodes are expanded, all are, or something is full; says which.

    `roots` [B, S]: positions of this layer or an earlier one that are not over; those from NEXT_ROOT on are begun with.
    """
    actions, depth = graph.legal.shape[1], graph.rows.shape[0]
    level = int(graph.sizes[LEVEL])
    while True:
        if level < 0:
            root = int(graph.sizes[NEXT_ROOT])
            if root == roots.shape[0]:
                return DONE
            most = int(graph.sizes[NUM_NODES]) + 1
            if most > graph.key.shape[0] or most > graph.slots.shape[0] * LOAD:
                return FULL_NODES
            _add_root(rules, graph, keys, roots[root], counter)
            graph.sizes[NEXT_ROOT] = root + 1
            level = int(graph.sizes[LEVEL])
            continue
        if graph.path[2, level] == FRESH:
            if budget == 0:
                return OUT_OF_BUDGET
            most = int(graph.sizes[NUM_NODES]) + actions
            if most > graph.key.shape[0] or most > graph.slots.shape[0] * LOAD:
                return FULL_NODES
            if graph.sizes[NUM_EDGES] + actions > graph.edges.shape[0]:
                return FULL_EDGES
            if graph.sizes[NUM_EXITS] + actions > graph.exits.shape[0]:
                return FULL_EXITS
            budget -= 1
            _expand(rules, graph, keys, level, counter, limit, layer)
        here, node = int(graph.path[2, level]), int(graph.path[0, level])
        count, first = int(graph.path[1, level]), int(graph.first[node])
        target = 0
        while here < count:
            target = int(graph.edges[first + here]) // FLAGS
            if target >= FIRST_NODE and graph.first[target] == NOT_EXPANDED:
                break
            here += 1
        graph.path[2, level] = here
        if here == count:
            level -= 1
            graph.sizes[LEVEL] = level
            continue
        if level + 4 >= depth:
            if layer == LAST_LAYER:
                return FULL_STACK
            if graph.sizes[NUM_EXITS] == graph.exits.shape[0]:
                return FULL_EXITS
            child = graph.rows[depth - 1]
            _step_to(rules, graph.rows[level], int(graph.legal[level, here]), counter, child)
            _leave(graph, target, child)
            graph.path[2, level] = here + 1
            continue
        _step_to(rules, graph.rows[level], int(graph.legal[level, here]), counter, graph.rows[level + 1])
        graph.path[2, level] = here + 1
        level += 1
        graph.path[0, level] = target
        graph.path[2, level] = FRESH
        graph.sizes[LEVEL] = level
        graph.sizes[DEEPEST] = max(int(graph.sizes[DEEPEST]), level)


@jit
def _refill(code: Code, graph: Graph) -> None:
    """Writes all nodes into slots that are empty."""
    for node in range(FIRST_NODE, int(graph.sizes[NUM_NODES])):
        slot = int(graph.key[node]) % graph.slots.shape[0]
        while graph.slots[slot] != 0:
            slot += 1
            if slot == graph.slots.shape[0]:
                slot = 0
        graph.slots[slot] = node


walk = kernel(_walk)
refill = kernel(_refill)
