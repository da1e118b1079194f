"""Rive: stones, and how many enemy stones the player to act can take at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.bits import WORD, lowest, popcount, select
from stonezoo.core.game import PHASE, TO_PLAY, StateRow
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, randint
from stonezoo.games.rive import (
    BLACK_STONE,
    CELLS,
    NO_GROUP,
    PLACE,
    PLACES,
    REMOVE_LEFT,
    STONE,
    STONES,
    VACANT,
    RiveRules,
    _step_around,
    _width,
    count_cells,
    count_words,
    frame_size,
    least_touched,
    legal_places,
    measure,
    touched,
)
from stonezoo.players.heuristics.heuristic import UNIT, SearchSettings, heuristic_methods


@jit
def _best_capture(rules: RiveRules, state: StateRow, enemies: NDArray[np.int32]) -> int:
    """Enemy stones minus own that the best placement takes (V3, V5); `enemies` counts them for each group."""
    frame = frame_size(rules)
    groups, sizes = STONES + frame, STONES + 2 * frame
    least, best = least_touched(rules, state), 0
    if least == 0:
        return 0
    for cell in range(count_cells(rules)):
        place = int(PLACES[rules.board_size, cell])
        if state[STONES + place] != VACANT or touched(rules, state, place) != least:
            continue
        first, second, third = NO_GROUP, NO_GROUP, NO_GROUP
        total, largest, takable = 0, 0, 0
        for k in range(6):
            near = place + _step_around(rules, k)
            group = int(state[groups + near])
            if group != NO_GROUP and group != first and group != second and group != third:
                first, second, third = group, first, second
                size = int(state[sizes + near])
                total += size
                largest = max(largest, size)
                takable += int(enemies[group])
        removed = total - largest
        taken = min(removed, takable)
        best = max(best, 2 * taken - removed)
    return best


@heuristic_methods
class RiveHeuristic(NamedTuple):
    """Stones and reach; the fields are weights, beside UNIT for a stone."""

    reach: int = 70  # an enemy stone that can be taken at once
    tempo: int = 40  # to act

    @jit
    def value(self, rules: RiveRules, state: StateRow, player: int, work: NDArray[np.int32]) -> int:
        """UNIT for every stone more than the enemy has, and less for those that can be taken at once."""
        frame, mover = frame_size(rules), int(state[TO_PLAY])
        groups = STONES + frame
        own_stone = BLACK_STONE + mover
        placing = state[PHASE] == PLACE
        if placing:
            for i in range(frame):
                work[i] = 0
        merged = int(state[groups + int(state[STONE])])
        balance, takable = 0, 0  # of the player to act
        for cell in range(count_cells(rules)):
            place = int(PLACES[rules.board_size, cell])
            stone = int(state[STONES + place])
            if stone == VACANT:
                continue
            if stone == own_stone:
                balance += 1
                continue
            balance -= 1
            group = int(state[groups + place])
            if placing:
                work[group] += 1
            elif group == merged:
                takable += 1
        value = UNIT * balance + self.tempo
        if placing:
            value += self.reach * _best_capture(rules, state, work)
        else:
            left = int(state[REMOVE_LEFT])
            value += UNIT * (2 * min(left, takable) - left)
        return value if player == mover else -value

    @jit
    def quick_action(self, rules: RiveRules, state: StateRow, stream: Stream, work: NDArray[np.int32]) -> int:
        """Any placement; of the stones that may leave, one of the enemy's where there is one."""
        if state[PHASE] == PLACE:
            return int(rules.random_action(state, stream))
        enemy = BLACK_STONE + 1 - int(state[TO_PLAY])
        measured = measure(rules, state)
        count, kept, first, preferred = 0, 0, 0, False
        for word in range(count_words(rules)):
            base = _width(rules) + word * WORD
            found = legal_places(rules, state, measured, word)
            hostile, rest = 0, found
            while rest:
                bit = rest & -rest
                if state[STONES + base + lowest(rest)] == enemy:
                    hostile |= bit
                rest &= rest - 1
            if hostile and not preferred:
                count, preferred = 0, True
            if preferred:
                found = hostile
            here = popcount(found)
            count += here
            # Keeps the places of one word: those of a new one replace them with their share of all so far.
            if here and randint(stream, count) < here:
                kept, first = found, base
        return int(CELLS[rules.board_size, first + select(kept, randint(stream, popcount(kept)))])

    def work_size(self, rules: RiveRules) -> int:
        """Entries of `work`: one a place, for the groups that begin there."""
        return frame_size(rules)

    @property
    def settings(self) -> SearchSettings:
        """As matches of `uct+` against itself said."""
        return SearchSettings(1.0, 100.0, 0.2, 300.0, 0.0, 0, 0)
