"""Random play and the counting of move trees."""

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import ONGOING, OUTCOME, TO_PLAY, Rules, copy_row
from stonezoo.core.jit import jit, kernel
from stonezoo.core.rng import Stream

DRAWN_SCORE = 0.5


@jit
def _play_out(rules: Rules, state: NDArray[np.int32], stream: Stream) -> int:
    """Plays uniformly random actions to the end, in place, and returns their number."""
    count = 0
    while state[OUTCOME] == ONGOING:
        rules.step(state, rules.random_action(state, stream))
        count += 1
    return count


@jit
def _random_games(
    rules: Rules, states: NDArray[np.int32], streams: NDArray[np.int64], lengths: NDArray[np.int32]
) -> int:
    total = 0
    for lane in range(states.shape[0]):
        rules.reset(states[lane])
        lengths[lane] = _play_out(rules, states[lane], streams[lane])
        total += lengths[lane]
    return total


@jit
def _perft(
    rules: Rules, states: NDArray[np.int32], legal: NDArray[np.int32], work: NDArray[np.int32], depth: int, turns: bool
) -> int:
    """Counts sequences of `depth` actions (or turns) from states[0], with one row of scratch a level of the tree.

    A turn that ends the game counts as whole. Levels are atomic actions; `left` counts what is still to be made.
    """
    cursor, count, left = work[0], work[1], work[2]
    level, total = 0, 0
    left[0] = depth
    cursor[0] = 0
    count[0] = rules.legal_actions(states[0], legal[0])
    while level >= 0:
        if cursor[level] == count[level]:
            level -= 1
            continue
        action = int(legal[level, cursor[level]])
        cursor[level] += 1
        below = level + 1
        copy_row(states[level], states[below])
        rules.step(states[below], action)
        ended = states[below, OUTCOME] != ONGOING or states[below, TO_PLAY] != states[level, TO_PLAY]
        left[below] = left[level] - (1 if ended or not turns else 0)
        if left[below] == 0:
            total += 1
        elif states[below, OUTCOME] == ONGOING:
            level = below
            cursor[level] = 0
            count[level] = rules.legal_actions(states[level], legal[level])
            if left[level] == 1 and not turns:
                total += count[level]
                level -= 1
    return total


random_games = kernel(_random_games)
"""random_games(rules, states int32 [B, S], streams int64 [B, 2], lengths int32 [B]) -> total actions: one random game a
lane."""
perft_rows = kernel(_perft)
"""perft_rows(rules, states int32 [L, S], legal int32 [L, A], depth, turns) -> number of sequences from states[0]."""


def perft(rules: Rules, row: NDArray[np.int32], depth: int, *, turns: bool = False) -> int:
    """Returns the number of legal sequences of `depth` actions, or of `depth` whole turns, from the state `row` [S].

    A finished game has no further actions; a turn that ends the game counts as a whole one.
    """
    if depth == 0:
        return 1
    longest = depth + 1
    if turns:
        longest = depth * (2 * rules.num_cells + 4) + 1
    states = np.zeros((longest + 1, rules.state_size), np.int32)
    states[0] = row
    legal = np.zeros((longest + 1, rules.num_actions), np.int32)
    work = np.zeros((3, longest + 1), np.int32)
    return int(perft_rows(rules, states, legal, work, depth, turns))
