"""Exact depth-first search over "and" and "or" with a transposition table of fixed size, resumable at any node.

A node is asked one question: can the player to act get at least `ASKED`, a draw (0) or a win (1)? The answer is a bound
on the value, as sharp as the children's bounds allow (Fishburn's fail-soft), so that a game without draws answers both
questions at once. All children are made first, but for actions that the rules know to be useless: one that is over,
settled or known may answer at once, and is not searched otherwise. Of the others those come first where the same player
acts again (a capture, a swap), then those that promise most by the rules, then those whose action answered most often
before (Schaeffer's history heuristic).

Positions that differ in the count of endless play are different here, so that play cannot cycle and every stored bound
is exact.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, PHASE, TO_PLAY, Rules, StateRow, copy_row
from stonezoo.core.jit import jit, kernel
from stonezoo.solve.keys import Keys, find_key

# Fields of a level of the path.
KEY, CHECK, COUNT, CURSOR, ASKED, BEST, ANSWER, BEGAN = range(8)
FIELDS = 8
ON = -1  # in the place of a question: go on with the last one
FRESH = -1  # in CURSOR: the children are still to be made

# Entries of `control`.
LEVEL, NODES, RESULT, STORED, DEEPEST = range(5)
CONTROL_SIZE = 5

SOLVED, OUT_OF_BUDGET, FULL_STACK = range(3)
OPEN = 2  # no value: the node has children to be searched

# An entry of the table: bounds + 1 of the value for the player to act, 2 bits each; the tag of the child that answered
# (the end of its check, since an action would be another one in a symmetric position), or 0; the nodes it cost.
UPPER_SHIFT, TAG_SHIFT, SIZE_SHIFT = 2, 4, 20
TAG_BITS = 0xFFFF
UNKNOWN = 0 | 2 << UPPER_SHIFT  # from -1 to 1
BUCKET = 4  # entries among which a new one takes the place of the one that cost least
# Order of the child that answered before, of what goes on with a turn, of what promises more, of what answered more.
FIRST_TRIED, ACTS_AGAIN, PROMISE, MOST_ANSWERS = 1 << 42, 1 << 41, 1 << 24, (1 << 24) - 1


class Search(NamedTuple):
    """A search that may be under way: D levels, A actions, T entries of the table."""

    rows: NDArray[np.int32]  # [D, S] the path; the last is work space
    actions: NDArray[np.int32]  # [D, A] those still to be searched at each level, in order
    child_keys: NDArray[np.int64]  # [D, 2A] key and check after each of them
    frames: NDArray[np.int64]  # [D, FIELDS]
    scores: NDArray[np.int64]  # [A] work space
    legal: NDArray[np.int32]  # [A] work space
    history: NDArray[np.int64]  # [2 * phases * A] how often an action answered, by player and phase
    table: NDArray[np.int64]  # [2T] check and entry; an entry of 0 is empty
    control: NDArray[np.int64]  # [CONTROL_SIZE]


@jit
def _probe(table: NDArray[np.int64], key: int, check: int) -> int:
    """The entry of a position, or UNKNOWN."""
    slots = table.shape[0] // (2 * BUCKET)
    at = 2 * BUCKET * (key % slots)
    for i in range(BUCKET):
        if table[at + 2 * i] == check and table[at + 2 * i + 1] != 0:
            return int(table[at + 2 * i + 1])
    return UNKNOWN


@jit
def _keep(search: Search, key: int, check: int, lower: int, upper: int, tag: int, size: int) -> None:
    """Stores bounds, which sharpen those that are stored already."""
    table = search.table
    slots = table.shape[0] // (2 * BUCKET)
    at = 2 * BUCKET * (key % slots)
    place, least = at, -1
    for i in range(BUCKET):
        here = at + 2 * i
        entry = int(table[here + 1])
        if entry == 0:
            place, least = here, 0
            search.control[STORED] += 1
            break
        if table[here] == check:
            lower = max(lower, (entry & 3) - 1)
            upper = min(upper, (entry >> UPPER_SHIFT & 3) - 1)
            size += entry >> SIZE_SHIFT
            place = here
            break
        if least < 0 or entry >> SIZE_SHIFT < least:
            place, least = here, entry >> SIZE_SHIFT
    table[place] = check
    table[place + 1] = lower + 1 | upper + 1 << UPPER_SHIFT | tag << TAG_SHIFT | size << SIZE_SHIFT


@jit
def _look_up(rules: Rules, search: Search, keys: Keys, state: StateRow) -> int:
    """The entry of an ongoing position: of an outcome that is settled, which needs no key, or as stored; then its key
    goes to `keys`.
    """
    settled = int(rules.settled_outcome(state))
    if settled != ONGOING:
        keys.found[1] = 0  # no tag
        value = _value(settled, int(state[TO_PLAY]))
        return value + 1 | value + 1 << UPPER_SHIFT
    find_key(rules, state, keys)
    return _probe(search.table, int(keys.found[0]), int(keys.found[1]))


@jit
def _score(rules: Rules, child: StateRow, player: int, answers: int, tried: bool) -> int:
    """How early a child is searched, by who acts in it, its promise and how often its action answered."""
    promise = int(rules.promise(child))
    score = min(answers, MOST_ANSWERS)
    if child[TO_PLAY] == player:
        score += promise * PROMISE + ACTS_AGAIN
    else:
        score -= promise * PROMISE
    return score + FIRST_TRIED if tried else score


@jit
def _value(outcome: int, player: int) -> int:
    """What an outcome is worth for a player."""
    return 0 if outcome == DRAWN else 1 if outcome == BLACK_WON + player else -1


@jit
def _open(rules: Rules, search: Search, keys: Keys, level: int) -> int:
    """Makes the children of a level's node. Returns the value if they answer already, else OPEN."""
    frame, state = search.frames[level], search.rows[level]
    child = search.rows[search.rows.shape[0] - 1]
    asked, player = int(frame[ASKED]), int(state[TO_PLAY])
    entry = _probe(search.table, int(frame[KEY]), int(frame[CHECK]))
    lower, upper = (entry & 3) - 1, (entry >> UPPER_SHIFT & 3) - 1
    if lower >= asked:
        return lower
    if upper < asked:
        return upper
    tried = entry >> TAG_SHIFT & TAG_BITS
    count, best = 0, -1
    number = rules.useful_actions(state, search.legal)
    phases = search.history.shape[0] // (2 * search.scores.shape[0])
    row_of_history = (player * phases + int(state[PHASE])) * search.scores.shape[0]
    for i in range(number):
        action = int(search.legal[i])
        copy_row(state, child)
        rules.step(child, action)
        search.control[NODES] += 1
        outcome = int(child[OUTCOME])
        if outcome != ONGOING:
            low = _value(outcome, player)
            high = low
        else:
            entry = _look_up(rules, search, keys, child)
            low, high = (entry & 3) - 1, (entry >> UPPER_SHIFT & 3) - 1
            if child[TO_PLAY] != player:
                low, high = -high, -low
        if low >= asked:
            frame[ANSWER] = 0 if outcome != ONGOING else keys.found[1] & TAG_BITS
            return low
        if high < asked:
            best = max(best, high)
            continue
        was_tried = tried != 0 and keys.found[1] & TAG_BITS == tried
        score = _score(rules, child, player, int(search.history[row_of_history + action]), was_tried)
        place = count
        while place > 0 and search.scores[place - 1] < score:
            search.scores[place] = search.scores[place - 1]
            search.actions[level, place] = search.actions[level, place - 1]
            search.child_keys[level, 2 * place] = search.child_keys[level, 2 * place - 2]
            search.child_keys[level, 2 * place + 1] = search.child_keys[level, 2 * place - 1]
            place -= 1
        search.scores[place] = score
        search.actions[level, place] = action
        search.child_keys[level, 2 * place] = keys.found[0]
        search.child_keys[level, 2 * place + 1] = keys.found[1]
        count += 1
    frame[COUNT] = count
    frame[CURSOR] = 0
    frame[BEST] = best
    return best if count == 0 else OPEN


@jit
def _go_down(rules: Rules, search: Search, level: int) -> None:
    """Makes the next child of a level's node the next level."""
    frame, below, state = search.frames[level], search.frames[level + 1], search.rows[level + 1]
    at = int(frame[CURSOR])
    copy_row(search.rows[level], state)
    rules.step(state, int(search.actions[level, at]))
    below[KEY] = search.child_keys[level, 2 * at]
    below[CHECK] = search.child_keys[level, 2 * at + 1]
    below[CURSOR] = FRESH
    below[ASKED] = frame[ASKED] if state[TO_PLAY] == search.rows[level, TO_PLAY] else 1 - frame[ASKED]
    below[ANSWER] = 0
    below[BEGAN] = search.control[NODES]


@jit
def _go_up(search: Search, level: int, value: int) -> None:
    """Stores the answer of a level's node and gives it to the level above."""
    frame = search.frames[level]
    lower, upper = (value, 1) if value >= frame[ASKED] else (-1, value)
    size = 1 + int(search.control[NODES] - frame[BEGAN])  # never 0, so that no entry is 0 either
    _keep(search, int(frame[KEY]), int(frame[CHECK]), lower, upper, int(frame[ANSWER]), size)
    if level == 0:
        search.control[RESULT] = value
        return
    above, state = search.frames[level - 1], search.rows[level - 1]
    if search.rows[level, TO_PLAY] != state[TO_PLAY]:
        value = -value
    at = int(above[CURSOR])
    above[CURSOR] = at + 1
    if value > above[BEST]:
        above[BEST] = value
    if value >= above[ASKED]:
        action = int(search.actions[level - 1, at])
        above[ANSWER] = int(frame[CHECK]) & TAG_BITS
        above[COUNT] = above[CURSOR]  # nothing more to search
        phases = search.history.shape[0] // (2 * search.scores.shape[0])
        row_of_history = (int(state[TO_PLAY]) * phases + int(state[PHASE])) * search.scores.shape[0]
        search.history[row_of_history + action] += 1


@jit
def _ask(rules: Rules, search: Search, keys: Keys, row: NDArray[np.int32], asked: int) -> None:
    """Makes an ongoing position the root and asks for at least `asked`."""
    copy_row(row, search.rows[0])
    find_key(rules, row, keys)
    frame = search.frames[0]
    frame[KEY] = keys.found[0]
    frame[CHECK] = keys.found[1]
    frame[CURSOR] = FRESH
    frame[ASKED] = asked
    frame[ANSWER] = 0
    frame[BEGAN] = search.control[NODES]
    search.control[LEVEL] = 0


@jit
def _search(rules: Rules, search: Search, keys: Keys, row: NDArray[np.int32], asked: int, budget: int) -> int:
    """Goes on until the root's question is answered (control[RESULT]) or `budget` more nodes are made; says which.

    Begins with the ongoing position `row` [S], of which at least `asked` is asked, if that is not ON.
    """
    control = search.control
    if asked != ON:
        _ask(rules, search, keys, row, asked)
    level = int(control[LEVEL])
    stop = int(control[NODES]) + budget
    while level >= 0:
        frame = search.frames[level]
        if frame[CURSOR] == FRESH:
            if control[NODES] >= stop:
                return OUT_OF_BUDGET
            value = _open(rules, search, keys, level)
            if value != OPEN:
                _go_up(search, level, value)
                level -= 1
                control[LEVEL] = level
                continue
        if frame[CURSOR] >= frame[COUNT]:
            _go_up(search, level, int(frame[BEST]))
            level -= 1
            control[LEVEL] = level
            continue
        if level + 3 >= search.rows.shape[0]:
            return FULL_STACK
        _go_down(rules, search, level)
        level += 1
        control[LEVEL] = level
        if level > control[DEEPEST]:
            control[DEEPEST] = level
    return SOLVED


run_search = kernel(_search)
