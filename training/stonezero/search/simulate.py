"""The steps of a search over a batch of trees: what Python calls between two calls of the network."""

import numpy as np
from numpy.typing import NDArray

from stonezero.search.gumbel import (
    Root,
    Settings,
    best_root_edge,
    choose_candidates,
    gumbel,
    improved_policy,
    select_inner,
    select_root,
)
from stonezero.search.puct import mix_dirichlet, most_visited, sample_visited, select_puct, visit_policy
from stonezero.search.tree import ROOT, UNVISITED, Tree, add_child, backup, bring_best_forward, expand, plant, side
from stonezoo.core.game import ONGOING, OUTCOME, TO_PLAY, Rules
from stonezoo.core.jit import jit, kernel

NOT_EVALUATED = -1

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]


@jit
def _plant_roots(rules: Rules, tree: Tree, states: Ints, active: NDArray[np.bool_], row: Ints, out: Floats) -> int:
    waiting = 0
    for b in range(states.shape[0]):
        row[b] = NOT_EVALUATED
        tree.edge_count[b, ROOT] = 0
        if not active[b] or states[b, OUTCOME] != ONGOING:
            continue
        if plant(rules, tree, b, states[b]) > 1:
            rules.observe(tree.state[b, ROOT], int(tree.state[b, ROOT, TO_PLAY]), out[waiting])
            row[b] = waiting
            waiting += 1
    return waiting


@jit
def _expand_roots(
    settings: Settings,
    tree: Tree,
    root: Root,
    row: Ints,
    policy_logits: Floats,
    value: Floats,
    noise: NDArray[np.bool_],
    streams: NDArray[np.int64],
) -> None:
    for b in range(row.shape[0]):
        root.made[b] = 0
        if row[b] == NOT_EVALUATED:
            root.budget[b] = 0
            continue
        expand(tree, b, ROOT, policy_logits[row[b]], np.float64(value[row[b]]))
        for edge in range(int(tree.edge_count[b, ROOT])):
            root.prior[b, tree.action[b, edge]] = tree.prior[b, edge]
            root.noise[b, edge] = 0.0
        if settings.use_puct:
            if noise[b]:
                mix_dirichlet(tree, settings, b, streams[b])
            bring_best_forward(tree, b, ROOT)
        else:
            if noise[b]:
                for edge in range(int(tree.edge_count[b, ROOT])):
                    root.noise[b, edge] = gumbel(streams[b])
            choose_candidates(tree, root, settings, b)


@jit
def _select(tree: Tree, root: Root, settings: Settings, b: int, node: int) -> int:
    if settings.use_puct:
        return select_puct(tree, settings, b, node)
    if node == ROOT:
        return select_root(tree, root, settings, b)
    return select_inner(tree, settings, b, node)


@jit
def _descend(rules: Rules, tree: Tree, root: Root, settings: Settings, b: int) -> int:
    """Goes down tree b to a new node or to the end of a game."""
    node = ROOT
    while tree.edge_count[b, node] > 0:
        edge = _select(tree, root, settings, b, node)
        child = int(tree.child[b, edge])
        if child == UNVISITED:
            if settings.use_puct or node != ROOT:
                tree.visited_count[b, node] += 1
                bring_best_forward(tree, b, node)
            return add_child(rules, tree, b, node, edge)
        node = child
    return node


@jit
def _select_leaves(rules: Rules, tree: Tree, root: Root, settings: Settings, leaf: Ints, row: Ints, out: Floats) -> int:
    waiting = 0
    for b in range(leaf.shape[0]):
        row[b] = NOT_EVALUATED
        if root.made[b] >= root.budget[b]:
            continue
        root.made[b] += 1
        node = _descend(rules, tree, root, settings, b)
        leaf[b] = node
        if tree.edge_count[b, node] == 0:
            backup(tree, b, node)
        else:
            rules.observe(tree.state[b, node], int(tree.state[b, node, TO_PLAY]), out[waiting])
            row[b] = waiting
            waiting += 1
    return waiting


@jit
def _expand_leaves(settings: Settings, tree: Tree, leaf: Ints, row: Ints, policy_logits: Floats, value: Floats) -> None:
    for b in range(leaf.shape[0]):
        if row[b] != NOT_EVALUATED:
            node = int(leaf[b])
            expand(tree, b, node, policy_logits[row[b]], np.float64(value[row[b]]))
            bring_best_forward(tree, b, node)
            backup(tree, b, node)


@jit
def _root_value(tree: Tree, b: int) -> float:
    """The mean of all evaluations at and below the root, for the player to act there."""
    count, total = 1, tree.value[b, ROOT]
    for edge in range(int(tree.edge_count[b, ROOT])):
        count += int(tree.visits[b, edge])
        total += tree.value_sum[b, edge]
    return float(side(tree, b, ROOT) * total / count)


@jit
def _read_roots(
    settings: Settings,
    tree: Tree,
    root: Root,
    searched: NDArray[np.bool_],
    temperature: NDArray[np.float64],
    streams: NDArray[np.int64],
    action: Ints,
    search_policy: Floats,
    root_value: Floats,
    visit_counts: Ints,
    prior: Floats,
) -> None:
    for b in range(action.shape[0]):
        action[b] = -1
        edges = int(tree.edge_count[b, ROOT])
        if not searched[b]:
            if edges == 1:
                action[b] = tree.action[b, 0]
                search_policy[b, action[b]] = 1.0
                prior[b, action[b]] = 1.0
            continue
        root_value[b] = _root_value(tree, b)
        for edge in range(edges):
            visit_counts[b, tree.action[b, edge]] = tree.visits[b, edge]
            prior[b, tree.action[b, edge]] = root.prior[b, tree.action[b, edge]]
        if settings.use_puct:
            visit_policy(tree, b, search_policy[b])
            if temperature[b] > 0.0:
                best = sample_visited(tree, b, temperature[b], streams[b])
            else:
                best = most_visited(tree, b)
        else:
            improved_policy(tree, settings, b, search_policy[b])
            best = best_root_edge(tree, root, settings, b, temperature[b])
        action[b] = tree.action[b, best]


plant_roots = kernel(_plant_roots)
"""plant_roots(rules, tree, states [B, S], active [B], row [B], out [B, H, W, C]) -> number of observations written to
`out`: one a tree with a choice, `row` says which."""
expand_roots = kernel(_expand_roots)
"""expand_roots(settings, tree, root, row, policy_logits [R, A], value [R], noise [B], streams [B, 2]): priors,
noise and candidates of the evaluated roots."""
select_leaves = kernel(_select_leaves)
"""select_leaves(rules, tree, root, settings, leaf [B], row [B], out) -> number of observations written to `out`:
descends every tree with simulations left; where a game's end is met its value is backed up at once."""
expand_leaves = kernel(_expand_leaves)
"""expand_leaves(settings, tree, leaf, row, policy_logits [R, A], value [R]): priors of the evaluated leaves,
and backup."""
read_roots = kernel(_read_roots)
"""read_roots(settings, tree, root, searched, temperature, streams, action, search_policy, root_value,
visit_counts, prior): fills the results, which come zeroed."""
