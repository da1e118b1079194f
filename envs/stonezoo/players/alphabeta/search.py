"""Alpha-beta search (Knuth and Moore 1975) with iterative deepening, where players may act several times in a row.

* Whose view: every value is Black's. Black raises alpha and White lowers beta, so that nothing is negated on the way
  up, whoever acted.
* Depth: a search of depth D looks D actions ahead, not counting actions after which the same player acts on, of which
  each line has `free_actions` for nothing: so captures and swaps are mostly seen to their end.
* Results: a win after p actions is WIN - p, so that the nearest win and the farthest loss are taken.
* Order: the action that the table remembers, then by the heuristic's value of the state behind each action; at the last
  level, where that would be as dear as the search itself, killer actions and the history of cut-offs.
* Table: the whole row's hash finds what a deeper or equal search knew; entries of other searches do not count.
* Of equal actions at the root a random one is taken: they are shuffled first.

The search keeps its stack in arrays, so that it can stop after so many states and go on later: a clock is looked at
in between, in Python.
"""

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK, DRAWN, ONGOING, OUTCOME, TO_PLAY, Rules, copy_row
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, randint
from stonezoo.players.heuristics import Heuristic, heuristic_kernel

WIN = 1_000_000  # at the root; one less for each action before it
SURE = WIN - 100_000  # beyond it a value is a proven result
INFINITE = 2 * WIN

# Entries of `control`.
STATUS, LEVEL, DEPTH, ACTION, VALUE, STATES, SEARCH, NUM_ROOT = range(8)
CONTROL_FIELDS = 8
NEW, PAUSED, DONE = 0, 1, 2  # STATUS

# Fields of a frame: one level of the stack.
CURSOR, COUNT, LOW, HIGH, ALPHA, BETA, BEST, BEST_ACTION, LEFT, FREE, KEY = range(11)
FRAME_FIELDS = 11

# Fields of a table entry.
ENTRY_KEY, ENTRY_SEARCH, ENTRY_VALUE, ENTRY_LEFT, ENTRY_BOUND, ENTRY_ACTION = range(6)
ENTRY_FIELDS = 6
EXACT, AT_LEAST, AT_MOST = 0, 1, 2

NOTHING = -1
KILLERS = 2
LOW_WORD = 0x7FFFFFFF
FIRST_MULTIPLIER, SECOND_MULTIPLIER = 1_540_483_477, 1_103_515_245  # odd, and below 2**31


@jit
def _key(state: NDArray[np.int32], free: int) -> int:
    """A hash of the row and of what is left for nothing, 62 bits; products stay below 2**62."""
    first, second = 1 + free, 7 + free
    for i in range(state.shape[0]):
        entry = int(state[i]) & LOW_WORD
        first = (first ^ entry) * FIRST_MULTIPLIER
        first = (first ^ first >> 31) & LOW_WORD
        second = (second + entry) * SECOND_MULTIPLIER
        second = (second ^ second >> 29) & LOW_WORD
    return first << 31 | second


@jit
def _result(state: NDArray[np.int32], actions: int) -> int:
    """The value of a finished state so many actions after the root."""
    outcome = int(state[OUTCOME])
    if outcome == DRAWN:
        return 0
    return WIN - actions if outcome - 1 == BLACK else actions - WIN


@jit
def _sort(moves: NDArray[np.int32], scores: NDArray[np.int64], count: int) -> None:
    """Sorts moves by falling scores; equals stay in their order."""
    for i in range(1, count):
        move, score = int(moves[i]), int(scores[i])
        j = i
        while j > 0 and scores[j - 1] < score:
            moves[j], scores[j] = moves[j - 1], scores[j - 1]
            j -= 1
        moves[j], scores[j] = move, score


@jit
def _order(
    rules: Rules,
    heuristic: Heuristic,
    state: NDArray[np.int32],
    moves: NDArray[np.int32],
    count: int,
    remembered: int,
    left: int,
    killers: NDArray[np.int32],
    history: NDArray[np.int64],
    scores: NDArray[np.int64],
    after: NDArray[np.int32],
    work: NDArray[np.int32],
) -> None:
    """Sorts the moves of a state, those first that promise most."""
    mover = int(state[TO_PLAY])
    for i in range(count):
        action = int(moves[i])
        if action == remembered:
            scores[i] = 2 * INFINITE
        elif left > 1:
            copy_row(state, after)
            rules.step(after, action)
            if after[OUTCOME] == ONGOING:
                scores[i] = heuristic.value(rules, after, mover, work)
            elif after[OUTCOME] == DRAWN:
                scores[i] = 0
            else:
                scores[i] = WIN if after[OUTCOME] - 1 == mover else -WIN
        else:
            scores[i] = history[mover, action]
            for k in range(KILLERS):
                if killers[k] == action:
                    scores[i] = INFINITE - k
    _sort(moves, scores, count)


@jit
def _absorb(frame: NDArray[np.int64], mover: int, action: int, value: int) -> None:
    """Takes the value of one action into the frame where `mover` chooses."""
    if mover == BLACK:
        if value > frame[BEST]:
            frame[BEST] = value
            frame[BEST_ACTION] = action
        frame[ALPHA] = max(int(frame[ALPHA]), value)
    else:
        if value < frame[BEST]:
            frame[BEST] = value
            frame[BEST_ACTION] = action
        frame[BETA] = min(int(frame[BETA]), value)


@jit
def _open(frame: NDArray[np.int64], mover: int, alpha: int, beta: int, left: int, free: int) -> None:
    frame[CURSOR] = 0
    frame[LOW] = alpha
    frame[HIGH] = beta
    frame[ALPHA] = alpha
    frame[BETA] = beta
    frame[BEST] = -INFINITE if mover == BLACK else INFINITE
    frame[BEST_ACTION] = NOTHING
    frame[LEFT] = left
    frame[FREE] = free


@jit
def _store(
    table: NDArray[np.int64], frame: NDArray[np.int64], search: int, level: int, alpha: int, beta: int, action: int
) -> None:
    """Remembers what came out of a frame. Results count from this state, not from the root."""
    entry = table[int(frame[KEY]) % table.shape[0]]
    left, value = int(frame[LEFT]), int(frame[BEST])
    if entry[ENTRY_SEARCH] == search and entry[ENTRY_KEY] != frame[KEY] and entry[ENTRY_LEFT] > left:
        return
    entry[ENTRY_BOUND] = AT_MOST if value <= alpha else AT_LEAST if value >= beta else EXACT
    if value > SURE:
        value += level
    elif value < -SURE:
        value -= level
    entry[ENTRY_KEY] = frame[KEY]
    entry[ENTRY_SEARCH] = search
    entry[ENTRY_VALUE] = value
    entry[ENTRY_LEFT] = left
    entry[ENTRY_ACTION] = action


@jit
def _start(
    rules: Rules,
    heuristic: Heuristic,
    row: NDArray[np.int32],
    stream: Stream,
    control: NDArray[np.int64],
    states: NDArray[np.int32],
    moves: NDArray[np.int32],
    frames: NDArray[np.int64],
    killers: NDArray[np.int32],
    history: NDArray[np.int64],
    scores: NDArray[np.int64],
    after: NDArray[np.int32],
    work: NDArray[np.int32],
) -> None:
    """Shuffles and sorts the root's actions, and opens it for a search of depth 1."""
    copy_row(row, states[0])
    count = int(rules.legal_actions(row, moves[0]))
    if count > 1:
        for i in range(count - 1, 0, -1):
            j = randint(stream, i + 1)
            moves[0, i], moves[0, j] = int(moves[0, j]), int(moves[0, i])
        _order(rules, heuristic, row, moves[0], count, NOTHING, 2, killers[0], history, scores, after, work)
    for level in range(killers.shape[0]):
        for k in range(KILLERS):
            killers[level, k] = NOTHING
    for player in range(2):
        for action in range(history.shape[1]):
            history[player, action] = 0
    control[ACTION] = moves[0, 0]
    control[VALUE] = 0
    control[STATES] = 0
    control[SEARCH] += 1
    control[NUM_ROOT] = count
    control[DEPTH] = 1
    control[LEVEL] = 0


@jit
def _search(
    rules: Rules,
    heuristic: Heuristic,
    row: NDArray[np.int32],
    stream: Stream,
    max_depth: int,
    free_actions: int,
    budget: int,
    control: NDArray[np.int64],
    states: NDArray[np.int32],
    moves: NDArray[np.int32],
    frames: NDArray[np.int64],
    killers: NDArray[np.int32],
    history: NDArray[np.int64],
    scores: NDArray[np.int64],
    table: NDArray[np.int64],
    after: NDArray[np.int32],
    work: NDArray[np.int32],
) -> int:
    """Begins or goes on with the search of `row`, an ongoing state, and returns PAUSED after about `budget` states.

    control[STATUS] says whether it is NEW; control[ACTION] is the best action so far, and control[VALUE] its value at
    the last depth that was finished.

    Work space, with L = max_depth + free_actions + 1: control int64 [CONTROL_FIELDS], zeros before the first search;
    states int32 [L, S], moves int32 [L, A], frames int64 [L, FRAME_FIELDS], killers int32 [L, KILLERS], history int64
    [2, A], scores int64 [A], table int64 [T, ENTRY_FIELDS], zeros before the first search, after int32 [S], work int32.
    """
    if control[STATUS] == NEW:
        _start(rules, heuristic, row, stream, control, states, moves, frames, killers, history, scores, after, work)
        if control[NUM_ROOT] == 1:
            control[STATUS] = DONE
            return DONE
        _open(frames[0], int(row[TO_PLAY]), -INFINITE, INFINITE, 1, free_actions)
        frames[0, COUNT] = control[NUM_ROOT]
    search, level, spent = int(control[SEARCH]), int(control[LEVEL]), 0
    while spent < budget:
        frame, state = frames[level], states[level]
        mover = int(state[TO_PLAY])
        alpha, beta = int(frame[ALPHA]), int(frame[BETA])
        cursor = int(frame[CURSOR])
        if cursor < frame[COUNT] and alpha < beta:
            action = int(moves[level, cursor])
            frame[CURSOR] = cursor + 1
            below = level + 1
            child = states[below]
            copy_row(state, child)
            rules.step(child, action)
            spent += 1
            if child[OUTCOME] != ONGOING:
                _absorb(frame, mover, action, _result(child, below))
                continue
            left, free = int(frame[LEFT]), int(frame[FREE])
            if child[TO_PLAY] == mover and free > 0:
                free -= 1
            else:
                left -= 1
            if left <= 0:
                _absorb(frame, mover, action, heuristic.value(rules, child, BLACK, work))
                continue
            key = _key(child, free)
            entry = table[key % table.shape[0]]
            remembered = NOTHING
            if entry[ENTRY_SEARCH] == search and entry[ENTRY_KEY] == key:
                remembered = int(entry[ENTRY_ACTION])
                value, bound = int(entry[ENTRY_VALUE]), int(entry[ENTRY_BOUND])
                if value > SURE:
                    value -= below
                elif value < -SURE:
                    value += below
                if entry[ENTRY_LEFT] >= left and (
                    bound == EXACT or (bound == AT_LEAST and value >= beta) or (bound == AT_MOST and value <= alpha)
                ):
                    _absorb(frame, mover, action, value)
                    continue
            next_frame = frames[below]
            _open(next_frame, int(child[TO_PLAY]), alpha, beta, left, free)
            next_frame[KEY] = key
            count = int(rules.legal_actions(child, moves[below]))
            next_frame[COUNT] = count
            _order(
                rules,
                heuristic,
                child,
                moves[below],
                count,
                remembered,
                left,
                killers[below],
                history,
                scores,
                after,
                work,
            )
            spent += count if left > 1 else 0
            level = below
            continue
        best, best_action = int(frame[BEST]), int(frame[BEST_ACTION])
        if level > 0:
            if cursor < frame[COUNT]:  # cut off
                history[mover, best_action] += int(frame[LEFT]) * int(frame[LEFT])
                if killers[level, 0] != best_action:
                    killers[level, 1] = killers[level, 0]
                    killers[level, 0] = best_action
            _store(table, frame, search, level, int(frame[LOW]), int(frame[HIGH]), best_action)
            level -= 1
            above = frames[level]
            _absorb(above, int(states[level, TO_PLAY]), int(moves[level, int(above[CURSOR]) - 1]), best)
            continue
        depth = int(control[DEPTH])
        control[ACTION] = best_action
        control[VALUE] = best
        if depth == max_depth or best > SURE or best < -SURE:
            control[STATES] += spent
            control[STATUS] = DONE
            return DONE
        # The best action goes first at the next depth; the others keep their order.
        place = 0
        while moves[0, place] != best_action:
            place += 1
        for i in range(place, 0, -1):
            moves[0, i] = moves[0, i - 1]
        moves[0, 0] = best_action
        control[DEPTH] = depth + 1
        _open(frame, mover, -INFINITE, INFINITE, depth + 1, free_actions)
    if frames[0, BEST_ACTION] != NOTHING:  # as good as that of the last depth, which was tried first, or better
        control[ACTION] = frames[0, BEST_ACTION]
    control[STATES] += spent
    control[LEVEL] = level
    control[STATUS] = PAUSED
    return PAUSED


search = heuristic_kernel(_search)
"""The compiled `_search`."""
