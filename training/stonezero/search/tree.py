"""Search trees in flat memory: the nodes of one tree side by side, and nothing allocated while searching.

Only legal actions have edges. Values are from player 0's point of view everywhere, because players act several times in
a row: a reader compares with the player to act at the node, and nothing is ever negated from step to step.

A node is a block of a tree's words, of eight bytes each: its head, then a policy pair for every edge, then a
statistics pair for every edge. What one descent reads of a node lies in two or three cache lines, and the statistics
of edges that were never visited are never written, nor is their memory taken from the machine:

    head         value | edge_count, visited_count | ranked_count, to_play | node, -
    policy       prior | action, -         one an edge
    statistics   value_sum | visits, child       one an edge; not yet written behind the visited ones

A whole number stands in half a word. `Pool` shows the same memory as float64 and as int32.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK_WON, ONGOING, OUTCOME, TO_PLAY, WHITE_WON, Rules, copy_row
from stonezoo.core.jit import jit

ROOT = 0  # where the root's block begins
UNVISITED = -1
LEAST_PRIOR = 1e-300  # so that a prior has a logarithm
RANKED_AT_ONCE = 4  # unvisited edges put in order by one look at all of them

MOST_WORDS = 2**31 - 1  # a word's number is kept as int32
LINE = 8  # words in a cache line; blocks begin at one
HEAD = 4  # words of a node's head
VALUE = 0  # word of the head
EDGE_COUNT, VISITED_COUNT, RANKED_COUNT, PLAYER, NODE = 2, 3, 4, 5, 6  # half words of the head
PAIR = 2  # words of a policy or statistics pair
PRIOR, ACTION = 0, 2  # word and half word of a policy pair
VALUE_SUM, VISITS, CHILD = 0, 2, 3  # word and half words of a statistics pair

NODES_USED, WORDS_USED, DEPTH = 0, 1, 2  # columns of `Tree.use`

Ints = NDArray[np.int32]


class Tree(NamedTuple):
    """B trees of at most N nodes and W words."""

    state: Ints  # [B, N, S]
    numbers: NDArray[np.float64]  # [B, W] the blocks
    halves: Ints  # [B, 2 W] the same memory
    path: Ints  # [B, N] the statistics pairs that the latest descent passed
    legal: Ints  # [B, A] legal actions of the newest node
    use: Ints  # [B, 3] nodes and words in use, length of the path
    work: NDArray[np.float64]  # [A] scratch


class Pool(NamedTuple):
    """The blocks of one tree."""

    numbers: NDArray[np.float64]  # [W]
    halves: Ints  # [2 W] the same memory


def new_tree(batch_size: int, num_nodes: int, num_actions: int, state_size: int) -> Tree:
    """Returns empty trees. Memory that no edge ever needs is reserved but, as usual, not taken from the machine.

    Raises:
        ValueError: more than MOST_WORDS in a tree.
    """
    words = num_nodes * block_size(num_actions)
    if words > MOST_WORDS:
        most = MOST_WORDS // block_size(num_actions) - 1
        raise ValueError(f"{num_nodes - 1} simulations do not fit {num_actions} actions: ask for at most {most}")
    memory = np.zeros(batch_size * words + LINE, np.float64)
    start = -(memory.ctypes.data // 8) % LINE
    numbers = memory[start : start + batch_size * words].reshape(batch_size, words)
    return Tree(
        state=np.zeros((batch_size, num_nodes, state_size), np.int32),
        numbers=numbers,
        halves=numbers.view(np.int32),
        path=np.zeros((batch_size, num_nodes), np.int32),
        legal=np.zeros((batch_size, num_actions), np.int32),
        use=np.zeros((batch_size, 3), np.int32),
        work=np.zeros(num_actions, np.float64),
    )


@jit
def block_size(edges: int) -> int:
    """Words of a node with so many edges."""
    return (HEAD + 2 * PAIR * edges + LINE - 1) // LINE * LINE


@jit
def pool_of(tree: Tree, b: int) -> Pool:
    """The blocks of tree b."""
    return Pool(tree.numbers[b], tree.halves[b])


@jit
def edge_count(pool: Pool, at: int) -> int:
    """Number of edges of the node at a word; 0: the game is over."""
    return int(pool.halves[2 * at + EDGE_COUNT])


@jit
def side(pool: Pool, at: int) -> float:
    """1 when player 0 acts at the node, else -1: a stored value times this is that player's own."""
    return 1.0 if pool.halves[2 * at + PLAYER] == 0 else -1.0


@jit
def policy_pair(at: int, edge: int) -> int:
    """The word of an edge's prior."""
    return at + HEAD + PAIR * edge


@jit
def statistics_pair(pool: Pool, at: int, edge: int) -> int:
    """The word of an edge's sum of values."""
    return at + HEAD + PAIR * (int(pool.halves[2 * at + EDGE_COUNT]) + edge)


@jit
def action_of(pool: Pool, at: int, edge: int) -> int:
    """The action of an edge."""
    return int(pool.halves[2 * policy_pair(at, edge) + ACTION])


@jit
def visits_of(pool: Pool, at: int, edge: int) -> int:
    """Visits of an edge whose statistics were written: visited, or of the root."""
    return int(pool.halves[2 * statistics_pair(pool, at, edge) + VISITS])


@jit
def clear_statistics(pool: Pool, pair: int) -> None:
    """Writes the statistics of an unvisited edge."""
    pool.numbers[pair + VALUE_SUM] = 0.0
    pool.halves[2 * pair + VISITS] = 0
    pool.halves[2 * pair + CHILD] = UNVISITED


@jit
def _open_node(tree: Tree, b: int, pool: Pool, at: int, node: int, count: int) -> None:
    """Writes the head of the node with that state and number of legal actions; an ended game gets its value."""
    state = tree.state[b, node]
    pool.halves[2 * at + EDGE_COUNT] = count
    pool.halves[2 * at + VISITED_COUNT] = 0
    pool.halves[2 * at + RANKED_COUNT] = 0
    pool.halves[2 * at + PLAYER] = state[TO_PLAY]
    pool.halves[2 * at + NODE] = node
    if state[OUTCOME] != ONGOING:
        if state[OUTCOME] == BLACK_WON:
            pool.numbers[at + VALUE] = 1.0
        elif state[OUTCOME] == WHITE_WON:
            pool.numbers[at + VALUE] = -1.0
        else:
            pool.numbers[at + VALUE] = 0.0
    tree.use[b, NODES_USED] = node + 1
    tree.use[b, WORDS_USED] = at + block_size(count)


@jit
def plant(rules: Rules, tree: Tree, b: int, state: NDArray[np.int32]) -> int:
    """Makes tree b the root alone and returns the number of its legal actions."""
    pool = pool_of(tree, b)
    copy_row(state, tree.state[b, 0])
    count = rules.legal_actions(tree.state[b, 0], tree.legal[b])
    _open_node(tree, b, pool, ROOT, 0, count)
    for edge in range(count):
        clear_statistics(pool, statistics_pair(pool, ROOT, edge))
    return count


@jit
def play_new(rules: Rules, tree: Tree, b: int, pool: Pool, parent: int, action: int) -> tuple[int, int]:
    """Writes the state that an action leads to as that of the next node, and its legal actions as `tree.legal`.

    A single legal action is played at once. Returns the number of legal actions and the number of actions played.
    """
    state, legal = tree.state[b, tree.use[b, NODES_USED]], tree.legal[b]
    copy_row(tree.state[b, pool.halves[2 * parent + NODE]], state)
    rules.step(state, action)
    count, played = rules.legal_actions(state, legal), 1
    while count == 1:
        rules.step(state, int(legal[0]))
        count = rules.legal_actions(state, legal)
        played += 1
    return count, played


@jit
def add_node(tree: Tree, b: int, pool: Pool, count: int) -> int:
    """Adds the node whose state `play_new` wrote, with so many legal actions, and returns its word."""
    at = int(tree.use[b, WORDS_USED])
    _open_node(tree, b, pool, at, int(tree.use[b, NODES_USED]), count)
    return at


@jit
def expand(pool: Pool, legal: Ints, at: int, policy_logits: NDArray[np.float32], value: float) -> None:
    """Gives a node the network's policy over its legal actions, and the network's value for the player to act there."""
    count = edge_count(pool, at)
    highest = -np.inf
    for edge in range(count):
        highest = max(highest, np.float64(policy_logits[legal[edge]]))
    total = 0.0
    for edge in range(count):
        pair = policy_pair(at, edge)
        weight = np.exp(np.float64(policy_logits[legal[edge]]) - highest)
        pool.numbers[pair + PRIOR] = weight
        pool.halves[2 * pair + ACTION] = legal[edge]
        total += weight
    for edge in range(count):
        pair = policy_pair(at, edge)
        pool.numbers[pair + PRIOR] = max(pool.numbers[pair + PRIOR] / total, LEAST_PRIOR)
    pool.numbers[at + VALUE] = side(pool, at) * value


@jit
def rank_unvisited(pool: Pool, at: int) -> None:
    """Puts the unvisited edges of the highest prior (the lowest action among equals) in front of the others, in order.

    Except at the root of a Gumbel search an unvisited edge is only ever chosen for its prior, so the visited ones
    always stand in front, and a choice looks at them and one more. All ranked edges must have been visited.
    """
    start = int(pool.halves[2 * at + RANKED_COUNT])
    count = edge_count(pool, at)
    ranked = start
    for edge in range(start, count):
        pair = policy_pair(at, edge)
        prior, action = pool.numbers[pair + PRIOR], int(pool.halves[2 * pair + ACTION])
        place = edge
        if ranked < start + RANKED_AT_ONCE:
            ranked += 1
        else:
            last = policy_pair(at, ranked - 1)
            more = prior - pool.numbers[last + PRIOR]
            if more < 0.0 or (more == 0.0 and action > pool.halves[2 * last + ACTION]):
                continue
            pool.numbers[pair + PRIOR] = pool.numbers[last + PRIOR]
            pool.halves[2 * pair + ACTION] = pool.halves[2 * last + ACTION]
            place = ranked - 1
        while place > start:
            before = policy_pair(at, place - 1)
            more = prior - pool.numbers[before + PRIOR]
            if more < 0.0 or (more == 0.0 and action > pool.halves[2 * before + ACTION]):
                break
            pool.numbers[before + PAIR + PRIOR] = pool.numbers[before + PRIOR]
            pool.halves[2 * (before + PAIR) + ACTION] = pool.halves[2 * before + ACTION]
            place -= 1
        pair = policy_pair(at, place)
        pool.numbers[pair + PRIOR] = prior
        pool.halves[2 * pair + ACTION] = action
    pool.halves[2 * at + RANKED_COUNT] = ranked


@jit
def visit_front(pool: Pool, at: int) -> None:
    """Makes the best of the unvisited edges the last of the visited."""
    front = int(pool.halves[2 * at + VISITED_COUNT])
    clear_statistics(pool, statistics_pair(pool, at, front))
    pool.halves[2 * at + VISITED_COUNT] = front + 1
    if front + 1 == pool.halves[2 * at + RANKED_COUNT]:
        rank_unvisited(pool, at)


@jit
def backup(tree: Tree, b: int, pool: Pool, value: float) -> None:
    """Counts a value on every edge of the latest descent."""
    for k in range(int(tree.use[b, DEPTH])):
        pair = int(tree.path[b, k])
        pool.numbers[pair + VALUE_SUM] += value
        pool.halves[2 * pair + VISITS] += 1
