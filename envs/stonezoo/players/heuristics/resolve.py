"""Resolve: how many stones each player lacks for a connection of the own sides."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK, PHASE, TO_PLAY, StateRow
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream
from stonezoo.games.resolve import CHOOSE, SWAP, ResolveRules, own_rows
from stonezoo.players.heuristics.heuristic import HIGHEST, UNIT, SearchSettings, heuristic_methods

ENEMY_COST = 2  # stones, for a point that an enemy stone holds


@jit
def _diagonal(reached: int, free: int, free2: int) -> int:
    """Points of a row that lie diagonally from `reached` points of the next row, over two common empty points.

    `free` are the empty points of the row itself, `free2` of the row of the reached ones. The enemy can take only one
    of the two, so that the two stones are as good as joined.
    """
    return (reached >> 1) & (free >> 1) & free2 | (reached << 1) & (free << 1) & free2


@jit
def _near(rules: ResolveRules, row: int, reached: NDArray[np.int32], free: NDArray[np.int32]) -> int:
    """Points of a row that are one step, straight or safely diagonal, from what is reached."""
    here = int(reached[row])
    found = here << 1 | here >> 1
    if row > 0:
        above = int(reached[row - 1])
        found |= above | _diagonal(above, int(free[row]), int(free[row - 1]))
    if row < rules.board_size - 1:
        below = int(reached[row + 1])
        found |= below | _diagonal(below, int(free[row]), int(free[row + 1]))
    return found


@jit
def distance(rules: ResolveRules, state: StateRow, player: int, work: NDArray[np.int32]) -> int:
    """Stones that the player lacks for a connection of the own sides, if the enemy passed (S8).

    Stones side by side are joined, and so are stones that touch diagonally over two empty points. An empty point costs
    one stone, a point of the enemy's ENEMY_COST: a swap may win it (S5). All that costs no more than 0 is found first,
    then all that costs no more than 1, and so on.
    """
    n = rules.board_size
    full = (1 << n) - 1
    reached, free = work[:n], work[n : 2 * n]
    own, enemy = own_rows(rules, player), own_rows(rules, 1 - player)
    for row in range(n):
        reached[row] = 0
        free[row] = full & ~(state[own + row] | state[enemy + row])
        for k in range(ENEMY_COST):
            work[(2 + k) * n + row] = 0
    cost = 0
    while True:
        # What could be had for ENEMY_COST less; then it is overwritten by what can be had for 1 less.
        before = 2 + cost % ENEMY_COST
        earlier = work[before * n : (before + 1) * n]
        for row in range(n):
            start = (full if row == 0 else 0) if player == BLACK else 1
            found = 0
            if cost >= ENEMY_COST:
                found |= (start | _near(rules, row, earlier, free)) & int(state[enemy + row])
            if cost >= 1:
                found |= (start | _near(rules, row, reached, free)) & int(free[row])
            else:
                found |= start & int(state[own + row])
            work[(2 + ENEMY_COST) * n + row] = found
        for row in range(n):
            reached[row] |= work[(2 + ENEMY_COST) * n + row]
        # What the new points touch of the player's own stones costs nothing more.
        grows = True
        while grows:
            grows = False
            for row in range(n):
                here = int(reached[row])
                found = here | (_near(rules, row, reached, free) & int(state[own + row]))
                if found != here:
                    reached[row] = found
                    grows = True
        columns = 0
        for row in range(n):
            earlier[row] = reached[row]
            columns |= int(reached[row])
        if (reached[n - 1] != 0) if player == BLACK else (columns >> (n - 1) != 0):
            return cost
        cost += 1


@heuristic_methods
class ResolveHeuristic(NamedTuple):
    """The shortest connections of both players; the field is a weight, beside UNIT for a stone that is lacking."""

    tempo: int = 80  # to place next

    @jit
    def value(self, rules: ResolveRules, state: StateRow, player: int, work: NDArray[np.int32]) -> int:
        """UNIT for every stone that the enemy lacks more for a connection."""
        mover = int(state[TO_PLAY])
        value = UNIT * (distance(rules, state, 1 - mover, work) - distance(rules, state, mover, work))
        if state[PHASE] != SWAP and state[PHASE] != CHOOSE:
            value += self.tempo
        value = max(-HIGHEST, min(HIGHEST, value))
        return value if player == mover else -value

    @jit
    def quick_action(self, rules: ResolveRules, state: StateRow, stream: Stream, work: NDArray[np.int32]) -> int:
        """Any action."""
        return int(rules.random_action(state, stream))

    def work_size(self, rules: ResolveRules) -> int:
        """Entries of `work`: boards of rows."""
        return (3 + ENEMY_COST) * rules.board_size

    @property
    def settings(self) -> SearchSettings:
        """As matches of `uct+` against itself said."""
        return SearchSettings(1.0, 100.0, 0.2, 200.0, 0.0, 0, 0)
