"""Dara: stones, threes that are made or can be made at once, and mobility."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.bits import WORD, Window, earlier, later, popcount, select
from stonezoo.core.game import PHASE, TO_PLAY, StateRow
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, randint
from stonezoo.games.dara import (
    NORTH,
    SLIDE,
    TAKE,
    DaraRules,
    action_at,
    count_words,
    pitch,
    slides,
    stones_left,
    threes,
    window_of,
)
from stonezoo.players.heuristics.heuristic import HIGHEST, UNIT, SearchSettings, heuristic_methods


@jit
def _line(mine: Window, step: int) -> int:
    """Places where a stone would stand in a run of exactly three along `step` (D5)."""
    before, before2, before3 = earlier(mine, step), earlier(mine, 2 * step), earlier(mine, 3 * step)
    after, after2, after3 = later(mine, step), later(mine, 2 * step), later(mine, 3 * step)
    return (
        after & after2 & ~(before | after3)
        | before & after & ~(before2 | after2)
        | before & before2 & ~(after | before3)
    )


@jit
def capturing(rules: DaraRules, state: StateRow, player: int, word: int) -> tuple[int, int, int, int]:
    """Cells to which a slide north, east, south and west makes a three (D4, D5).

    Along the line of a slide only the stones ahead of it count: behind it is the cell that the stone left.
    """
    mine, south = window_of(rules, state, player, word), pitch(rules)
    north, east, to_south, west = slides(rules, state, player, word)
    upright, level = _line(mine, south), _line(mine, 1)
    ahead_north = earlier(mine, south) & earlier(mine, 2 * south) & ~earlier(mine, 3 * south)
    ahead_east = later(mine, 1) & later(mine, 2) & ~later(mine, 3)
    ahead_south = later(mine, south) & later(mine, 2 * south) & ~later(mine, 3 * south)
    ahead_west = earlier(mine, 1) & earlier(mine, 2) & ~earlier(mine, 3)
    return (
        north & (level | ahead_north),
        east & (upright | ahead_east),
        to_south & (level | ahead_south),
        west & (upright | ahead_west),
    )


@jit
def _side(weights: DaraHeuristic, rules: DaraRules, state: StateRow, player: int) -> int:
    """What the player has, but for the move."""
    value = UNIT * stones_left(rules, state, player)
    for word in range(count_words(rules)):
        north, east, south, west = slides(rules, state, player, word)
        value += weights.mobility * (popcount(north) + popcount(east) + popcount(south) + popcount(west))
        north, east, south, west = capturing(rules, state, player, word)
        value += weights.threat * (popcount(north) + popcount(east) + popcount(south) + popcount(west))
        value += weights.in_three * popcount(threes(rules, state, player, word))
    return value


@heuristic_methods
class DaraHeuristic(NamedTuple):
    """Material, threes and mobility; the fields are weights, beside UNIT for a stone."""

    next_capture: int = 80  # the player to act can make a three now
    threat: int = 40  # a slide that makes a three, for whoever it is
    in_three: int = 4  # a stone in a three: protected, and ready to make it again
    mobility: int = 4  # a legal slide

    @jit
    def value(self, rules: DaraRules, state: StateRow, player: int, work: NDArray[np.int32]) -> int:
        """UNIT for every stone more than the enemy has, and less for what may win one."""
        mover = int(state[TO_PLAY])
        value = _side(self, rules, state, mover) - _side(self, rules, state, 1 - mover)
        if state[PHASE] == TAKE:
            value += UNIT
        elif state[PHASE] == SLIDE:
            found = 0
            for word in range(count_words(rules)):
                north, east, south, west = capturing(rules, state, mover, word)
                found |= north | east | south | west
            if found:
                value += self.next_capture
        value = max(-HIGHEST, min(HIGHEST, value))
        return value if player == mover else -value

    @jit
    def quick_action(self, rules: DaraRules, state: StateRow, stream: Stream, work: NDArray[np.int32]) -> int:
        """A slide that makes a three, where there is one; else any action."""
        if state[PHASE] == SLIDE:
            player = int(state[TO_PLAY])
            for word in range(count_words(rules)):
                found = capturing(rules, state, player, word)
                count = popcount(found[0]) + popcount(found[1]) + popcount(found[2]) + popcount(found[3])
                if count == 0:
                    continue
                k = randint(stream, count)
                for direction in range(4):
                    here = popcount(found[direction])
                    if k < here:
                        return action_at(rules, NORTH + direction, word * WORD + select(found[direction], k))
                    k -= here
        return int(rules.random_action(state, stream))

    def work_size(self, rules: DaraRules) -> int:
        """Entries of `work`: none is used."""
        return 1

    @property
    def settings(self) -> SearchSettings:
        """As matches of `uct+` against itself said."""
        return SearchSettings(1.0, 60.0, 0.2, 200.0, 0.0, 0, 0)
