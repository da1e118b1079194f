"""Search where several orders of actions lead to one node: a graph, after Czech, Korus and Kersting (2021), Monte-Carlo
graph search for AlphaZero, in the form of KataGo's docs/GraphSearch.md.

Two nodes are one where their whole states are equal, word by word, and equally many actions lead to them from the root:
the orders of one turn, such as a capture's removals, and what turns in another order reach. An edge always leads to a
node that is more actions away, so that there are no cycles in any game, and never to one that waits for the network.

- The visits of an edge are its own: how often its node chose it. They sum to the simulations at the root.
- Values are shared. A node's mean is (value + sum N(a) mean(a)) / (1 + sum N(a)) over its edges' visits N(a) and the
  means of the nodes they lead to; it is taken anew for every node on the way back of a simulation, and what a choice
  reads of an edge is the mean of the node below as it is then, whoever searched it. Without merging these are the
  numbers of a tree.
- A simulation ends at a node that has had more visits than the edge which leads to it: that node's mean supports one
  more visit already. So no network call is made for a merged node, nor for a visit that another order has paid for.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezero.search.choose import choose_edge, is_new, visits_in_order
from stonezero.search.gumbel import BUDGET, MADE, Root, Settings
from stonezero.search.tree import (
    CHILD,
    DEPTH,
    NODE,
    NODES_USED,
    PAIR,
    ROOT,
    VALUE,
    VALUE_SUM,
    VISITED_COUNT,
    VISITS,
    Pool,
    Tree,
    action_of,
    add_node,
    edge_count,
    expand,
    play_new,
    pool_of,
    rank_unvisited,
    statistics_pair,
    visit_front,
)
from stonezoo.core.game import TO_PLAY, Rules
from stonezoo.core.jit import jit, kernel

NOT_EVALUATED = -1
EMPTY_SLOT = -1
WORD_BITS = 62  # of the hash: no sum overflows 63 bits
PRIME = 2147483647
SEED = 20210129  # of the hash's weights

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


class Graph(NamedTuple):
    """What merging adds to B trees of N nodes."""

    table: Ints  # [B, T] open addressing, T a power of two above 2 N: where a node's block begins, or EMPTY_SLOT
    weights: NDArray[np.int64]  # [S + 1] of the hash, for the state's words and the distance
    mean: NDArray[np.float64]  # [B, N] of each node, from player 0's point of view
    visits: Ints  # [B, N] 1 + the sum of its edges' visits
    distance: Ints  # [B, N] actions from the root
    nodes: Ints  # [B, N] where the blocks of the latest descent's nodes begin


def new_graph(batch_size: int, num_nodes: int, state_size: int) -> Graph:
    """Returns the memory for merging; `clear_graph` before each search."""
    slots = 1 << (2 * num_nodes).bit_length()
    bits = max(1, WORD_BITS - 31 - (state_size + 1).bit_length())
    return Graph(
        table=np.full((batch_size, slots), EMPTY_SLOT, np.int32),
        weights=np.random.default_rng(SEED).integers(1, 1 << bits, state_size + 1),
        mean=np.zeros((batch_size, num_nodes), np.float64),
        visits=np.zeros((batch_size, num_nodes), np.int32),
        distance=np.zeros((batch_size, num_nodes), np.int32),
        nodes=np.zeros((batch_size, num_nodes), np.int32),
    )


def clear_graph(graph: Graph) -> None:
    """Forgets all nodes but the roots."""
    graph.table.fill(EMPTY_SLOT)
    graph.distance[:, 0] = 0


@jit
def _equal(first: Ints, second: Ints) -> bool:
    """Whether two state rows are the same, word by word."""
    for i in range(first.shape[0]):
        if first[i] != second[i]:
            return False
    return True


@jit
def _find_or_add(rules: Rules, tree: Tree, graph: Graph, b: int, pool: Pool, parent: int, action: int) -> int:
    """The node that an action leads to: one that is there already, or a new one; returns its word."""
    node = int(tree.use[b, NODES_USED])
    state = tree.state[b, node]
    count, played = play_new(rules, tree, b, pool, parent, action)
    distance = int(graph.distance[b, pool.halves[2 * parent + NODE]]) + played
    code = distance * graph.weights[state.shape[0]]
    for i in range(state.shape[0]):
        code += state[i] * graph.weights[i]
    last = graph.table.shape[1] - 1
    slot = (code % PRIME) & last
    while graph.table[b, slot] != EMPTY_SLOT:
        at = int(graph.table[b, slot])
        known = int(pool.halves[2 * at + NODE])
        if graph.distance[b, known] == distance and _equal(tree.state[b, known], state):
            return at
        slot = (slot + 1) & last
    at = add_node(tree, b, pool, count)
    graph.table[b, slot] = at
    graph.distance[b, node] = distance
    graph.visits[b, node] = 1
    if count == 0:
        graph.mean[b, node] = pool.numbers[at + VALUE]
    return at


@jit
def _refresh(graph: Graph, b: int, pool: Pool, at: int) -> None:
    """Reads the means below a node's visited edges, and takes the node's own from them."""
    edges = edge_count(pool, ROOT) if at == ROOT else int(pool.halves[2 * at + VISITED_COUNT])
    visits, total = 1, pool.numbers[at + VALUE]
    for edge in range(edges):
        pair = statistics_pair(pool, at, 0) + PAIR * edge
        count = int(pool.halves[2 * pair + VISITS])
        if count > 0:
            child = int(pool.halves[2 * pair + CHILD])
            pool.numbers[pair + VALUE_SUM] = count * graph.mean[b, pool.halves[2 * child + NODE]]
            visits += count
            total += pool.numbers[pair + VALUE_SUM]
    node = int(pool.halves[2 * at + NODE])
    graph.visits[b, node] = visits
    graph.mean[b, node] = total / visits


@jit
def _descend(rules: Rules, tree: Tree, graph: Graph, root: Root, settings: Settings, b: int) -> int:
    """Goes down graph b to a new node, the end of a game or a node with visits to spare; returns its word."""
    pool = pool_of(tree, b)
    at, depth, spare = ROOT, 0, False
    while edge_count(pool, at) > 0 and not spare:
        _refresh(graph, b, pool, at)
        edge = choose_edge(tree, pool, root, settings, b, at)
        pair = statistics_pair(pool, at, edge)
        tree.path[b, depth] = pair
        graph.nodes[b, depth] = at
        depth += 1
        if is_new(pool, settings, at, edge):
            before = int(tree.use[b, NODES_USED])
            action = action_of(pool, at, edge)
            if visits_in_order(settings, at):
                visit_front(pool, at)
            at = _find_or_add(rules, tree, graph, b, pool, at, action)
            pool.halves[2 * pair + CHILD] = at
            if tree.use[b, NODES_USED] > before:
                break
        else:
            at = int(pool.halves[2 * pair + CHILD])
        spare = graph.visits[b, pool.halves[2 * at + NODE]] > pool.halves[2 * pair + VISITS]
    tree.use[b, DEPTH] = depth
    return at


@jit
def _back_up(tree: Tree, graph: Graph, b: int, pool: Pool) -> None:
    """Counts a visit on every edge of the latest descent, and takes the means of its nodes anew, the deepest first."""
    depth = int(tree.use[b, DEPTH])
    for k in range(depth):
        pair = int(tree.path[b, depth - 1 - k])
        pool.halves[2 * pair + VISITS] += 1
        _refresh(graph, b, pool, int(graph.nodes[b, depth - 1 - k]))


@jit
def _select_merged(
    rules: Rules, tree: Tree, graph: Graph, root: Root, settings: Settings, leaf: Ints, row: Ints, out: Floats
) -> int:
    waiting = 0
    for b in range(leaf.shape[0]):
        row[b] = NOT_EVALUATED
        while row[b] == NOT_EVALUATED and root.plan[b, MADE] < root.plan[b, BUDGET]:
            root.plan[b, MADE] += 1
            before = int(tree.use[b, NODES_USED])
            at = _descend(rules, tree, graph, root, settings, b)
            pool = pool_of(tree, b)
            if tree.use[b, NODES_USED] == before or edge_count(pool, at) == 0:
                _back_up(tree, graph, b, pool)
            else:
                state = tree.state[b, pool.halves[2 * at + NODE]]
                rules.observe(state, int(state[TO_PLAY]), out[waiting])
                leaf[b] = at
                row[b] = waiting
                waiting += 1
    return waiting


@jit
def _expand_merged(
    settings: Settings, tree: Tree, graph: Graph, leaf: Ints, row: Ints, policy_logits: Floats, value: Floats
) -> None:
    for b in range(leaf.shape[0]):
        if row[b] != NOT_EVALUATED:
            pool, at = pool_of(tree, b), int(leaf[b])
            expand(pool, tree.legal[b], at, policy_logits[row[b]], np.float64(value[row[b]]))
            rank_unvisited(pool, at)
            graph.mean[b, pool.halves[2 * at + NODE]] = pool.numbers[at + VALUE]
            _back_up(tree, graph, b, pool)


select_merged = kernel(_select_merged)
"""select_merged(rules, tree, graph, root, settings, leaf [B], row [B], out) -> number of observations written to `out`:
as `select_leaves`, where a simulation may also end at a node that another order of actions reached."""
expand_merged = kernel(_expand_merged)
"""expand_merged(settings, tree, graph, leaf, row, policy_logits [R, A], value [R]): as `expand_leaves`."""
