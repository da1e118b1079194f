"""Search trees in flat arrays: nodes and edges in pools, one of each a tree, and nothing allocated while searching.

Only legal actions have edges. Values are from player 0's point of view everywhere, because players act several times in
a row: a reader compares with the player to act at the node, and nothing is ever negated from step to step.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK_WON, ONGOING, OUTCOME, TO_PLAY, WHITE_WON, Rules, copy_row
from stonezoo.core.jit import jit

ROOT = 0
UNVISITED = -1
LEAST_PRIOR = 1e-300  # so that a prior has a logarithm


class Tree(NamedTuple):
    """B trees of at most N nodes and E edges."""

    state: NDArray[np.int32]  # [B, N, S]
    first_edge: NDArray[np.int32]  # [B, N] a node's edges stand side by side
    edge_count: NDArray[np.int32]  # [B, N] legal actions; 0: the game is over
    visited_count: NDArray[np.int32]  # [B, N] so many of the edges, in front, were visited (not at a Gumbel root)
    parent: NDArray[np.int32]  # [B, N]
    parent_edge: NDArray[np.int32]  # [B, N]
    value: NDArray[np.float64]  # [B, N] of the network, or the outcome
    size: NDArray[np.int32]  # [B] nodes in use
    edge_size: NDArray[np.int32]  # [B] edges in use
    action: NDArray[np.int32]  # [B, E]
    child: NDArray[np.int32]  # [B, E] a node or UNVISITED
    visits: NDArray[np.int32]  # [B, E]
    value_sum: NDArray[np.float64]  # [B, E]
    prior: NDArray[np.float64]  # [B, E] sums to 1 over a node's edges
    work: NDArray[np.float64]  # [A] scratch


def new_tree(batch_size: int, num_nodes: int, num_actions: int, state_size: int) -> Tree:
    """Returns empty trees. Memory that no edge ever needs is reserved but, as usual, not taken from the machine."""

    def zeros(*shape: int, dtype: Any = np.int32) -> NDArray[Any]:
        return np.zeros((batch_size, *shape), dtype)

    edges = num_nodes * num_actions
    return Tree(
        state=zeros(num_nodes, state_size),
        first_edge=zeros(num_nodes),
        edge_count=zeros(num_nodes),
        visited_count=zeros(num_nodes),
        parent=zeros(num_nodes),
        parent_edge=zeros(num_nodes),
        value=zeros(num_nodes, dtype=np.float64),
        size=zeros(),
        edge_size=zeros(),
        action=zeros(edges),
        child=zeros(edges),
        visits=zeros(edges),
        value_sum=zeros(edges, dtype=np.float64),
        prior=zeros(edges, dtype=np.float64),
        work=np.zeros(num_actions, np.float64),
    )


@jit
def side(tree: Tree, b: int, node: int) -> float:
    """1 when player 0 acts at the node, else -1: a stored value times this is that player's own."""
    return 1.0 if tree.state[b, node, TO_PLAY] == 0 else -1.0


@jit
def _find_edges(rules: Rules, tree: Tree, b: int, node: int, first: int) -> int:
    """Lists the legal actions in place; an ended game gets its value."""
    state = tree.state[b, node]
    count = rules.legal_actions(state, tree.action[b, first : first + tree.work.shape[0]])
    tree.edge_count[b, node] = count
    if state[OUTCOME] != ONGOING:
        if state[OUTCOME] == BLACK_WON:
            tree.value[b, node] = 1.0
        elif state[OUTCOME] == WHITE_WON:
            tree.value[b, node] = -1.0
        else:
            tree.value[b, node] = 0.0
    return count


@jit
def _open_node(tree: Tree, b: int, node: int) -> None:
    """Takes the edges of a new node, whose actions are known, into use."""
    first, count = int(tree.first_edge[b, node]), int(tree.edge_count[b, node])
    tree.visited_count[b, node] = 0
    tree.edge_size[b] = first + count
    for edge in range(first, first + count):
        tree.child[b, edge] = UNVISITED
        tree.visits[b, edge] = 0
        tree.value_sum[b, edge] = 0.0


@jit
def plant(rules: Rules, tree: Tree, b: int, state: NDArray[np.int32]) -> int:
    """Makes tree b the root alone and returns the number of its legal actions."""
    copy_row(state, tree.state[b, ROOT])
    tree.size[b] = 1
    tree.first_edge[b, ROOT] = 0
    count = _find_edges(rules, tree, b, ROOT, 0)
    _open_node(tree, b, ROOT)
    return count


@jit
def add_child(rules: Rules, tree: Tree, b: int, parent: int, edge: int) -> int:
    """Adds the node below an edge and returns it. Where only one action is legal it is played at once."""
    node, first = int(tree.size[b]), int(tree.edge_size[b])
    tree.size[b] = node + 1
    tree.child[b, edge] = node
    tree.parent[b, node] = parent
    tree.parent_edge[b, node] = edge
    tree.first_edge[b, node] = first
    state = tree.state[b, node]
    copy_row(tree.state[b, parent], state)
    chosen = edge
    while True:
        rules.step(state, int(tree.action[b, chosen]))
        if _find_edges(rules, tree, b, node, first) != 1:
            break
        chosen = first
    _open_node(tree, b, node)
    return node


@jit
def expand(tree: Tree, b: int, node: int, policy_logits: NDArray[np.float32], value: float) -> None:
    """Gives a node the network's policy over its legal actions, and the network's value for the player to act there."""
    first = int(tree.first_edge[b, node])
    end = first + int(tree.edge_count[b, node])
    highest = -np.inf
    for edge in range(first, end):
        highest = max(highest, np.float64(policy_logits[tree.action[b, edge]]))
    total = 0.0
    for edge in range(first, end):
        tree.prior[b, edge] = np.exp(np.float64(policy_logits[tree.action[b, edge]]) - highest)
        total += tree.prior[b, edge]
    for edge in range(first, end):
        tree.prior[b, edge] = max(tree.prior[b, edge] / total, LEAST_PRIOR)
    tree.value[b, node] = side(tree, b, node) * value


@jit
def bring_best_forward(tree: Tree, b: int, node: int) -> None:
    """Swaps the unvisited edge of the highest prior (the lowest action among equals) to the front of the unvisited.

    Except at the root of a Gumbel search an unvisited edge is only ever chosen for its prior, so the visited ones
    always stand in front, and a choice looks at them and one more.
    """
    first = int(tree.first_edge[b, node])
    front = first + int(tree.visited_count[b, node])
    end = first + int(tree.edge_count[b, node])
    best = front
    for edge in range(front + 1, end):
        more = tree.prior[b, edge] - tree.prior[b, best]
        if more > 0.0 or (more == 0.0 and tree.action[b, edge] < tree.action[b, best]):
            best = edge
    if best != front:
        action, prior = tree.action[b, front], tree.prior[b, front]
        tree.action[b, front], tree.prior[b, front] = tree.action[b, best], tree.prior[b, best]
        tree.action[b, best], tree.prior[b, best] = action, prior


@jit
def backup(tree: Tree, b: int, leaf: int) -> None:
    """Counts the leaf's value on every edge from the root to it."""
    value = tree.value[b, leaf]
    node = leaf
    while node != ROOT:
        edge = int(tree.parent_edge[b, node])
        tree.visits[b, edge] += 1
        tree.value_sum[b, edge] += value
        node = int(tree.parent[b, node])
