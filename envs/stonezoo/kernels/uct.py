"""UCT with uniform random rollouts (Kocsis and Szepesvári 2006), the pinned opponent that strength is measured against.

A search of n simulations grows a tree from nothing. Each simulation walks down from the root, adds one node, plays
uniformly random actions from there to the end of the game, and credits the result to every node of its path: n
simulations are n rollouts, the root's children have n visits together, and the tree has n + 1 nodes. (A walk that ends
in a finished state adds no node and its rollout is empty.)

* Walking: a node with legal actions that have no node yet gets one for a random one of them. Else the walk goes on to
  the child with the largest mean + c * sqrt(ln(n) / n_child), with c the exploration constant, means in [0, 1] and n
  the visits of the children together. Of equals the child added last is taken; they are added in random order.
* Whose view: a child's points belong to the player who acts into it, whom the node stores. Nothing is negated on the
  way up, so a player may act several times in a row.
* Result: the child with the most visits; of equals the one with more points, then the one added last.
* Nothing is proven: a child that wins at once is a child whose every rollout wins.

The conventions are those of OpenSpiel's MCTSBot, but for four: its first simulation is spent on the root, a finished
child's value there knows no exploration term, its returns lie in [-1, 1], and its random order is a shuffle.
"""

import math

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import DRAWN, ONGOING, OUTCOME, TO_PLAY, Rules, copy_row
from stonezoo.core.jit import jit, kernel
from stonezoo.core.rng import Stream, randint
from stonezoo.kernels.playout import _play_out

EXPLORATION = 1.4  # the exploration constant of the pinned opponent

# Fields of a node, int32. Points are half-points, so that they stay integers: a win is 2, a draw 1.
ACTION, MOVER, VISITS, POINTS, FIRST_CHILD, NEXT_SIBLING, NUM_CHILDREN, NUM_LEGAL = range(8)
NODE_FIELDS = 8
NOTHING = -1  # no such node; number of legal actions not known yet
WIN_POINTS, DRAW_POINTS = 2, 1


@jit
def _write_node(node: NDArray[np.int32], action: int, mover: int, sibling: int) -> None:
    node[ACTION] = action
    node[MOVER] = mover
    node[VISITS] = 0
    node[POINTS] = 0
    node[FIRST_CHILD] = NOTHING
    node[NEXT_SIBLING] = sibling
    node[NUM_CHILDREN] = 0
    node[NUM_LEGAL] = NOTHING


@jit
def _best_child(nodes: NDArray[np.int32], parent: int, visits: int, exploration: float) -> int:
    """Returns the child with the largest upper bound; `visits` is those of the children together."""
    log_visits = math.log(visits)
    best, best_bound = NOTHING, -1.0
    child = int(nodes[parent, FIRST_CHILD])
    while child != NOTHING:
        share = 1.0 / nodes[child, VISITS]
        bound = nodes[child, POINTS] * share / WIN_POINTS + exploration * math.sqrt(log_visits * share)
        if bound > best_bound:
            best, best_bound = child, bound
        child = int(nodes[child, NEXT_SIBLING])
    return best


@jit
def _untried_action(
    nodes: NDArray[np.int32],
    parent: int,
    legal: NDArray[np.int32],
    num_legal: int,
    tried: NDArray[np.int32],
    stamp: int,
    stream: Stream,
) -> int:
    """Returns a uniformly random one of the legal actions that have no child; `tried` [A] holds no `stamp` yet."""
    child = int(nodes[parent, FIRST_CHILD])
    while child != NOTHING:
        tried[nodes[child, ACTION]] = stamp
        child = int(nodes[child, NEXT_SIBLING])
    left = randint(stream, num_legal - int(nodes[parent, NUM_CHILDREN]))
    for i in range(num_legal):
        if tried[legal[i]] != stamp:
            if left == 0:
                return int(legal[i])
            left -= 1
    return NOTHING


@jit
def _uct_search(
    rules: Rules,
    row: NDArray[np.int32],
    stream: Stream,
    num_simulations: int,
    exploration: float,
    nodes: NDArray[np.int32],
    path: NDArray[np.int32],
    work: NDArray[np.int32],
    state: NDArray[np.int32],
    visit_counts: NDArray[np.int32],
) -> int:
    """Returns the action for `row`, an ongoing state, and writes the visits of the root's children; a forced action is
    returned without a search and its visit count is 0.

    Work space: nodes int32 [num_simulations + 1, NODE_FIELDS], path int32 [num_simulations + 1], work int32 [2, A],
    state int32 [S].
    """
    legal, tried = work[0], work[1]
    for action in range(visit_counts.shape[0]):
        visit_counts[action] = 0
        tried[action] = 0
    if rules.legal_actions(row, legal) == 1:
        return int(legal[0])
    _write_node(nodes[0], NOTHING, NOTHING, NOTHING)
    used = 1
    for simulation in range(1, num_simulations + 1):
        copy_row(row, state)
        node, depth = 0, 0
        added = False
        while not added and state[OUTCOME] == ONGOING:
            num_legal = int(nodes[node, NUM_LEGAL])
            if num_legal == NOTHING or nodes[node, NUM_CHILDREN] < num_legal:
                num_legal = rules.legal_actions(state, legal)
                action = _untried_action(nodes, node, legal, num_legal, tried, simulation, stream)
                _write_node(nodes[used], action, int(state[TO_PLAY]), int(nodes[node, FIRST_CHILD]))
                nodes[node, FIRST_CHILD] = used
                nodes[node, NUM_CHILDREN] += 1
                nodes[node, NUM_LEGAL] = num_legal
                node = used
                used += 1
                added = True
            else:
                # Every node but the root has had one visit more than its children: the rollout that added it.
                visits = simulation - 1 if node == 0 else int(nodes[node, VISITS]) - 1
                node = _best_child(nodes, node, visits, exploration)
            rules.step(state, int(nodes[node, ACTION]))
            path[depth] = node
            depth += 1
        _play_out(rules, state, stream)
        outcome = int(state[OUTCOME])
        for i in range(depth):
            node = int(path[i])
            nodes[node, VISITS] += 1
            if outcome == DRAWN:
                nodes[node, POINTS] += DRAW_POINTS
            elif outcome - 1 == nodes[node, MOVER]:  # BLACK_WON and WHITE_WON are the players' numbers plus 1
                nodes[node, POINTS] += WIN_POINTS
    best, most_visits, most_points = NOTHING, 0, 0
    child = int(nodes[0, FIRST_CHILD])
    while child != NOTHING:
        visits, points = int(nodes[child, VISITS]), int(nodes[child, POINTS])
        visit_counts[nodes[child, ACTION]] = visits
        if visits > most_visits or (visits == most_visits and points > most_points):
            best, most_visits, most_points = int(nodes[child, ACTION]), visits, points
        child = int(nodes[child, NEXT_SIBLING])
    return best


@jit
def _uct_batch(
    rules: Rules,
    states: NDArray[np.int32],
    streams: NDArray[np.int64],
    num_simulations: int,
    exploration: float,
    nodes: NDArray[np.int32],
    path: NDArray[np.int32],
    work: NDArray[np.int32],
    state: NDArray[np.int32],
    visit_counts: NDArray[np.int32],
    actions: NDArray[np.int32],
) -> None:
    for lane in range(states.shape[0]):
        actions[lane] = _uct_search(
            rules,
            states[lane],
            streams[lane],
            num_simulations,
            exploration,
            nodes,
            path,
            work,
            state,
            visit_counts[lane],
        )


uct_batch = kernel(_uct_batch)
"""uct_batch(rules, states int32 [B, S], streams int64 [B, 2], num_simulations, exploration, nodes, path, work, state,
visit_counts int32 [B, A], actions int32 [B]): one search a lane, one after the other in the same work space; see
`_uct_search`."""
