"""`uct+`: tree search with proven results, priors and leaf values from a game's heuristic, and sensible rollouts.

Each simulation walks down from the root by PUCT (Rosin 2011; Silver et al. 2017) to a leaf, judges it, and adds the
value to every node of its path.

* Whose view: all values are Black's, in [-1, 1]; who acts at a node maximises or minimises. Nothing is negated on the
  way up, so a player may act several times in a row.
* Leaf: at its visit number `expand_after` + 1 all its actions become nodes, each with a prior, the softmax over the
  heuristic's values of the states behind them; the best of those is the leaf's own heuristic value (the state's own,
  before). A rollout of `quick_action`s from the leaf is weighed against it by `rollout_share`.
* Proven results (MCTS-Solver, Winands et al. 2008), where players act several times in a row: a node is won for who
  acts there if one child is, and has the best of its children's results when all are known. What the rules call settled
  (`settled_outcome`) is proven, too. A proven child's value is
  its result, and it is walked no more; once the root is proven the search ends.
* Result: a proven win; else the most visited action that is not a proven loss; of equals the one of the better mean,
  then the one that stands first, in random order.
"""

import math

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK, DRAWN, ONGOING, OUTCOME, TO_PLAY, Rules, copy_row
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, randint
from stonezoo.players.heuristics import HIGHEST, Heuristic, SearchSettings, heuristic_kernel

# Fields of a node, int32.
ACTION, MOVER, VISITS, FIRST_CHILD, NUM_CHILDREN, OUTCOME_KNOWN = range(6)
NODE_FIELDS = 6
TOTAL, PRIOR = range(2)  # numbers of a node, float64: the sum of values for Black, and its prior
NODE_NUMBERS = 2
NOTHING = -1
FORCED_VALUE = HIGHEST + 1  # of a finished state, for its winner


@jit
def _known_value(outcome: int) -> float:
    """The value for Black of a finished game."""
    return 0.0 if outcome == DRAWN else (1.0 if outcome - 1 == BLACK else -1.0)


@jit
def _write_node(nodes: NDArray[np.int32], numbers: NDArray[np.float64], node: int, action: int) -> None:
    nodes[node, ACTION] = action
    nodes[node, MOVER] = NOTHING
    nodes[node, VISITS] = 0
    nodes[node, FIRST_CHILD] = NOTHING
    nodes[node, NUM_CHILDREN] = 0
    nodes[node, OUTCOME_KNOWN] = ONGOING
    numbers[node, TOTAL] = 0.0
    numbers[node, PRIOR] = 0.0


@jit
def _expand(
    rules: Rules,
    heuristic: Heuristic,
    settings: SearchSettings,
    state: NDArray[np.int32],
    node: int,
    used: int,
    stream: Stream,
    nodes: NDArray[np.int32],
    numbers: NDArray[np.float64],
    legal: NDArray[np.int32],
    after: NDArray[np.int32],
    work: NDArray[np.int32],
) -> int:
    """Makes a node of every action, with its prior; returns the best heuristic value of them, for who acts.

    Children stand in random order.
    """
    mover = int(state[TO_PLAY])
    count = int(rules.legal_actions(state, legal))
    for i in range(count - 1, 0, -1):
        j = randint(stream, i + 1)
        legal[i], legal[j] = int(legal[j]), int(legal[i])
    nodes[node, FIRST_CHILD] = used
    nodes[node, NUM_CHILDREN] = count
    nodes[node, MOVER] = mover
    best = -FORCED_VALUE
    for i in range(count):
        child = used + i
        _write_node(nodes, numbers, child, int(legal[i]))
        copy_row(state, after)
        rules.step(after, int(legal[i]))
        outcome, worth = int(after[OUTCOME]), FORCED_VALUE
        if outcome == ONGOING:
            outcome, worth = int(rules.settled_outcome(after)), HIGHEST  # a win at once is better still
        nodes[child, OUTCOME_KNOWN] = outcome
        if outcome == ONGOING:
            value = heuristic.value(rules, after, mover, work)
        elif outcome == DRAWN:
            value = 0
        else:
            value = worth if outcome - 1 == mover else -worth
        numbers[child, PRIOR] = value
        best = max(best, value)
    total = 0.0
    for child in range(used, used + count):
        weight = math.exp((numbers[child, PRIOR] - best) / settings.prior_temperature)
        numbers[child, PRIOR] = weight
        total += weight
    for child in range(used, used + count):
        numbers[child, PRIOR] /= total
    return best


@jit
def _find_out(nodes: NDArray[np.int32], node: int) -> int:
    """The outcome of a node as its children's say: ONGOING while it is not known."""
    mover = int(nodes[node, MOVER])
    first, drawn, open_ones = int(nodes[node, FIRST_CHILD]), False, False
    for child in range(first, first + int(nodes[node, NUM_CHILDREN])):
        outcome = int(nodes[child, OUTCOME_KNOWN])
        if outcome - 1 == mover:
            return outcome
        if outcome == ONGOING:
            open_ones = True
        elif outcome == DRAWN:
            drawn = True
    if open_ones:
        return ONGOING
    return DRAWN if drawn else 2 - mover  # the other player has won


@jit
def _select(nodes: NDArray[np.int32], numbers: NDArray[np.float64], node: int, settings: SearchSettings) -> int:
    """The child to walk to; of those whose result is known only the drawn ones are worth a visit."""
    sign = 1.0 if nodes[node, MOVER] == BLACK else -1.0
    visits = int(nodes[node, VISITS])
    parent_mean = sign * numbers[node, TOTAL] / max(visits, 1)
    explore = settings.c_puct * math.sqrt(visits + 1.0)
    untried = parent_mean - settings.first_play
    first = int(nodes[node, FIRST_CHILD])
    best, best_bound = NOTHING, -1e9
    for child in range(first, first + int(nodes[node, NUM_CHILDREN])):
        outcome = int(nodes[child, OUTCOME_KNOWN])
        if outcome != ONGOING:
            if outcome != DRAWN:
                continue  # lost for who acts: a won one would have ended the walk above
            mean = 0.0
        else:
            mean = untried
        tried = int(nodes[child, VISITS])
        if tried > 0 and outcome == ONGOING:
            mean = sign * numbers[child, TOTAL] / tried
        bound = mean + explore * numbers[child, PRIOR] / (1 + tried)
        if bound > best_bound:
            best, best_bound = child, bound
    return best


@jit
def _rollout(
    rules: Rules,
    heuristic: Heuristic,
    settings: SearchSettings,
    state: NDArray[np.int32],
    stream: Stream,
    work: NDArray[np.int32],
) -> float:
    """Plays on in place and returns the value for Black of where that led."""
    count = 0
    while state[OUTCOME] == ONGOING:
        if count == settings.rollout_actions and count > 0:
            return math.tanh(heuristic.value(rules, state, BLACK, work) / (2.0 * settings.scale))
        rules.step(state, heuristic.quick_action(rules, state, stream, work))
        count += 1
    return _known_value(int(state[OUTCOME]))


@jit
def _best_action(nodes: NDArray[np.int32], numbers: NDArray[np.float64], visit_counts: NDArray[np.int32]) -> int:
    """The action to play, and the visits of all at the root."""
    mover = int(nodes[0, MOVER])
    sign = 1.0 if mover == BLACK else -1.0
    first = int(nodes[0, FIRST_CHILD])
    best, best_rank, best_visits, best_mean = NOTHING, -1, -1, 0.0
    for child in range(first, first + int(nodes[0, NUM_CHILDREN])):
        outcome, visits = int(nodes[child, OUTCOME_KNOWN]), int(nodes[child, VISITS])
        visit_counts[nodes[child, ACTION]] = visits
        mean = sign * numbers[child, TOTAL] / visits if visits > 0 else -2.0 + numbers[child, PRIOR]
        if outcome == DRAWN:
            mean = 0.0
        rank = 1
        if outcome != ONGOING and outcome != DRAWN:
            rank = 2 if outcome - 1 == mover else 0
        better = visits > best_visits or (visits == best_visits and mean > best_mean)
        if rank > best_rank or (rank == best_rank and better):
            best, best_rank, best_visits, best_mean = child, rank, visits, mean
    return int(nodes[best, ACTION])


@jit
def _search(
    rules: Rules,
    heuristic: Heuristic,
    settings: SearchSettings,
    row: NDArray[np.int32],
    stream: Stream,
    num_simulations: int,
    nodes: NDArray[np.int32],
    numbers: NDArray[np.float64],
    path: NDArray[np.int32],
    legal: NDArray[np.int32],
    state: NDArray[np.int32],
    after: NDArray[np.int32],
    work: NDArray[np.int32],
    visit_counts: NDArray[np.int32],
    value_out: NDArray[np.float64],
) -> int:
    """Returns the action for `row`, an ongoing state, and writes its value for who acts to value_out[0].

    A forced action is returned without a search, with the value 0.
    """
    value_out[0] = 0.0
    for action in range(visit_counts.shape[0]):
        visit_counts[action] = 0
    if rules.legal_actions(row, legal) == 1:
        return int(legal[0])
    _write_node(nodes, numbers, 0, NOTHING)
    copy_row(row, state)
    _expand(rules, heuristic, settings, state, 0, 1, stream, nodes, numbers, legal, after, work)
    used = 1 + int(nodes[0, NUM_CHILDREN])
    nodes[0, OUTCOME_KNOWN] = _find_out(nodes, 0)
    simulation = 0
    while simulation < num_simulations and nodes[0, OUTCOME_KNOWN] == ONGOING:
        simulation += 1
        copy_row(row, state)
        node, depth = 0, 0
        path[0] = 0
        while nodes[node, FIRST_CHILD] != NOTHING and nodes[node, OUTCOME_KNOWN] == ONGOING:
            node = _select(nodes, numbers, node, settings)
            rules.step(state, int(nodes[node, ACTION]))
            depth += 1
            path[depth] = node
        outcome = int(nodes[node, OUTCOME_KNOWN])
        mover = int(state[TO_PLAY])
        if outcome != ONGOING:
            value = _known_value(outcome)
        else:
            judged, sign = 0, 1
            fits = used + legal.shape[0] <= nodes.shape[0] and depth + 2 < path.shape[0]
            if nodes[node, VISITS] >= settings.expand_after and fits:
                judged = _expand(
                    rules, heuristic, settings, state, node, used, stream, nodes, numbers, legal, after, work
                )
                used += int(nodes[node, NUM_CHILDREN])
                if mover != BLACK:
                    sign = -1
                # A result that is found here may be the result of nodes above.
                above = depth
                while above >= 0:
                    found = _find_out(nodes, int(path[above]))
                    if found == ONGOING:
                        break
                    nodes[path[above], OUTCOME_KNOWN] = found
                    above -= 1
            elif settings.rollout_share < 1.0:
                judged = heuristic.value(rules, state, BLACK, work)
            outcome = int(nodes[node, OUTCOME_KNOWN])
            if outcome != ONGOING:
                value = _known_value(outcome)
            else:
                value = sign * math.tanh(judged / (2.0 * settings.scale))
                if settings.rollout_share > 0.0:
                    rolled = _rollout(rules, heuristic, settings, state, stream, work)
                    value += settings.rollout_share * (rolled - value)
        for i in range(depth + 1):
            nodes[path[i], VISITS] += 1
            numbers[path[i], TOTAL] += value
    outcome, sign_out = int(nodes[0, OUTCOME_KNOWN]), 1.0 if row[TO_PLAY] == BLACK else -1.0
    if outcome != ONGOING:
        value_out[0] = sign_out * _known_value(outcome)
    else:
        value_out[0] = sign_out * numbers[0, TOTAL] / nodes[0, VISITS]
    return _best_action(nodes, numbers, visit_counts)


@jit
def _search_batch(
    rules: Rules,
    heuristic: Heuristic,
    settings: SearchSettings,
    states: NDArray[np.int32],
    streams: NDArray[np.int64],
    num_simulations: int,
    nodes: NDArray[np.int32],
    numbers: NDArray[np.float64],
    path: NDArray[np.int32],
    legal: NDArray[np.int32],
    state: NDArray[np.int32],
    after: NDArray[np.int32],
    work: NDArray[np.int32],
    visit_counts: NDArray[np.int32],
    values: NDArray[np.float64],
    actions: NDArray[np.int32],
) -> None:
    for lane in range(states.shape[0]):
        actions[lane] = _search(
            rules,
            heuristic,
            settings,
            states[lane],
            streams[lane],
            num_simulations,
            nodes,
            numbers,
            path,
            legal,
            state,
            after,
            work,
            visit_counts[lane],
            values[lane : lane + 1],
        )


search_batch = heuristic_kernel(_search_batch)
"""search_batch(rules, heuristic, settings, states int32 [B, S], streams int64 [B, 2], num_simulations, nodes int32 [N,
NODE_FIELDS], numbers float64 [N, NODE_NUMBERS], path int32 [P], legal int32 [A], state int32 [S], after int32 [S], work
int32, visit_counts int32 [B, A], values float64 [B], actions int32 [B]): one search a lane. When fewer than A of the N
nodes are left, or a path is as long as P, leaves stay leaves."""
