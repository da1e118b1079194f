"""The steps of a search over a batch of trees: what Python calls between two calls of the network."""

import numpy as np
from numpy.typing import NDArray

from stonezero.search.choose import choose_edge, is_new, visits_in_order
from stonezero.search.gumbel import (
    BUDGET,
    MADE,
    Root,
    Settings,
    best_root_edge,
    choose_candidates,
    gumbel,
    improved_policy,
)
from stonezero.search.puct import mix_dirichlet, most_visited, sample_visited, visit_policy
from stonezero.search.tree import (
    CHILD,
    DEPTH,
    EDGE_COUNT,
    NODE,
    PRIOR,
    ROOT,
    VALUE,
    VALUE_SUM,
    Pool,
    Tree,
    action_of,
    add_node,
    backup,
    edge_count,
    expand,
    plant,
    play_new,
    policy_pair,
    pool_of,
    rank_unvisited,
    side,
    statistics_pair,
    visit_front,
    visits_of,
)
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
        tree.halves[b, EDGE_COUNT] = 0
        if not active[b] or states[b, OUTCOME] != ONGOING:
            continue
        if plant(rules, tree, b, states[b]) > 1:
            rules.observe(states[b], int(states[b, TO_PLAY]), out[waiting])
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
        root.plan[b, MADE] = 0
        if row[b] == NOT_EVALUATED:
            root.plan[b, BUDGET] = 0
            continue
        pool = pool_of(tree, b)
        expand(pool, tree.legal[b], ROOT, policy_logits[row[b]], np.float64(value[row[b]]))
        for edge in range(edge_count(pool, ROOT)):
            root.prior[b, action_of(pool, ROOT, edge)] = pool.numbers[policy_pair(ROOT, edge) + PRIOR]
            root.noise[b, edge] = 0.0
        if settings.use_puct:
            if noise[b]:
                mix_dirichlet(pool, tree.work, settings, streams[b])
            rank_unvisited(pool, ROOT)
        else:
            if noise[b]:
                for edge in range(edge_count(pool, ROOT)):
                    root.noise[b, edge] = gumbel(streams[b])
            choose_candidates(pool, root, settings, b)


@jit
def _descend(rules: Rules, tree: Tree, root: Root, settings: Settings, b: int) -> int:
    """Goes down tree b to a new node or to the end of a game; returns its word."""
    pool = pool_of(tree, b)
    at, depth = ROOT, 0
    while edge_count(pool, at) > 0:
        edge = choose_edge(tree, pool, root, settings, b, at)
        pair = statistics_pair(pool, at, edge)
        tree.path[b, depth] = pair
        depth += 1
        if is_new(pool, settings, at, edge):
            action = action_of(pool, at, edge)
            if visits_in_order(settings, at):
                visit_front(pool, at)
            count, _ = play_new(rules, tree, b, pool, at, action)
            at = add_node(tree, b, pool, count)
            pool.halves[2 * pair + CHILD] = at
            break
        at = int(pool.halves[2 * pair + CHILD])
    tree.use[b, DEPTH] = depth
    return at


@jit
def _select_leaves(rules: Rules, tree: Tree, root: Root, settings: Settings, leaf: Ints, row: Ints, out: Floats) -> int:
    waiting = 0
    for b in range(leaf.shape[0]):
        row[b] = NOT_EVALUATED
        while row[b] == NOT_EVALUATED and root.plan[b, MADE] < root.plan[b, BUDGET]:
            root.plan[b, MADE] += 1
            at = _descend(rules, tree, root, settings, b)
            pool = pool_of(tree, b)
            if edge_count(pool, at) == 0:
                backup(tree, b, pool, pool.numbers[at + VALUE])
            else:
                state = tree.state[b, pool.halves[2 * at + NODE]]
                rules.observe(state, int(state[TO_PLAY]), out[waiting])
                leaf[b] = at
                row[b] = waiting
                waiting += 1
    return waiting


@jit
def _expand_leaves(settings: Settings, tree: Tree, leaf: Ints, row: Ints, policy_logits: Floats, value: Floats) -> None:
    for b in range(leaf.shape[0]):
        if row[b] != NOT_EVALUATED:
            pool, at = pool_of(tree, b), int(leaf[b])
            expand(pool, tree.legal[b], at, policy_logits[row[b]], np.float64(value[row[b]]))
            rank_unvisited(pool, at)
            backup(tree, b, pool, pool.numbers[at + VALUE])


@jit
def _root_value(pool: Pool) -> float:
    """The mean of all evaluations at and below the root, for the player to act there."""
    count, total = 1, pool.numbers[ROOT + VALUE]
    for edge in range(edge_count(pool, ROOT)):
        count += visits_of(pool, ROOT, edge)
        total += pool.numbers[statistics_pair(pool, ROOT, edge) + VALUE_SUM]
    return float(side(pool, ROOT) * total / count)


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
    action_value: Floats,
    visit_counts: Ints,
    prior: Floats,
) -> None:
    for b in range(action.shape[0]):
        action[b] = -1
        pool = pool_of(tree, b)
        edges = edge_count(pool, ROOT)
        if not searched[b]:
            if edges == 1:
                action[b] = tree.legal[b, 0]
                search_policy[b, action[b]] = 1.0
                prior[b, action[b]] = 1.0
            continue
        root_value[b] = _root_value(pool)
        for edge in range(edges):
            played = action_of(pool, ROOT, edge)
            visit_counts[b, played] = visits_of(pool, ROOT, edge)
            prior[b, played] = root.prior[b, played]
        if settings.use_puct:
            visit_policy(pool, search_policy[b])
            if temperature[b] > 0.0:
                best = sample_visited(pool, tree.work, temperature[b], streams[b])
            else:
                best = most_visited(pool)
        else:
            improved_policy(pool, tree.work, settings, search_policy[b])
            best = best_root_edge(pool, root.noise[b], settings, temperature[b])
        action[b] = action_of(pool, ROOT, best)
        visits = visits_of(pool, ROOT, best)
        action_value[b] = root_value[b]
        if visits > 0:
            total = pool.numbers[statistics_pair(pool, ROOT, best) + VALUE_SUM]
            action_value[b] = side(pool, ROOT) * total / visits


plant_roots = kernel(_plant_roots)
"""plant_roots(rules, tree, states [B, S], active [B], row [B], out [B, H, W, C]) -> number of observations written to
`out`: one a tree with a choice, `row` says which."""
expand_roots = kernel(_expand_roots)
"""expand_roots(settings, tree, root, row, policy_logits [R, A], value [R], noise [B], streams [B, 2]): priors,
noise and candidates of the evaluated roots."""
select_leaves = kernel(_select_leaves)
"""select_leaves(rules, tree, root, settings, leaf [B], row [B], out) -> number of observations written to `out`:
descends every tree with simulations left. Where a game's end is met its value is backed up at once, and the next
simulation of that tree begins. 0 when all simulations are made."""
expand_leaves = kernel(_expand_leaves)
"""expand_leaves(settings, tree, leaf, row, policy_logits [R, A], value [R]): priors of the evaluated leaves,
and backup."""
read_roots = kernel(_read_roots)
"""read_roots(settings, tree, root, searched, temperature, streams, action, search_policy, root_value, action_value,
visit_counts, prior): fills the results, which come zeroed."""
