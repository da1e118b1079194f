"""Resolve: a connection game on n x n points; a placed stone that makes a crosscut is swapped until it is in none.

Rules S1 to S11. A board is kept as rows of bits: bit c of row r is the point (r, c), row 0 at the top.
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core import square
from stonezoo.core.bits import lowest, popcount, select
from stonezoo.core.board import BoardLayout
from stonezoo.core.game import (
    BLACK,
    BLACK_WON,
    DRAWN,
    EMPTY,
    HEADER,
    MARK,
    NOTHING,
    ONGOING,
    OTHER_STONE,
    OUTCOME,
    OWN_STONE,
    PHASE,
    TO_PLAY,
    WHITE,
    Parameter,
    StateRow,
    Symmetry,
    game_rules,
    mask_found,
    read_parameters,
)
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, randint
from stonezoo.core.text import Fields, owner

STANDARD, ORIGINAL = 0, 1
PROFILES = ("standard", "original")

# Entries of a state row.
STONE = HEADER  # the resolving stone's point, or -1
FULL = HEADER + 1  # consecutive turns that began on a full board, the one under way included (S9)
OWED = HEADER + 2  # 1 while a placement must follow the resolution under way (S11)
EMPTIES = HEADER + 3  # number of empty points
STONES = HEADER + 4  # Black's rows, then White's rows
NO_STONE = -1
WORD_LINES = 7  # of boards that fit into one word of 62 bits
WEIGHT = 64  # of a stone that is lacking, more than there are points on such boards

# Directions of a swap, in ascending order of the point swapped to.
NORTH, WEST, EAST, SOUTH = 1, 2, 4, 8


class Phase(IntEnum):
    """The kind of action due."""

    PLACE = 0  # start of a turn; in the original profile a stone in a crosscut may be chosen instead
    CHOOSE = 1  # start of a turn on a full board (S7)
    SWAP = 2  # the stone is in a crosscut (S5)
    PLACE_AFTER = 3  # the placement after a resolution (S11)


PLACE, CHOOSE, SWAP, PLACE_AFTER = int(Phase.PLACE), int(Phase.CHOOSE), int(Phase.SWAP), int(Phase.PLACE_AFTER)

OWN, OTHER, ON_BOARD, TO_ACT, IS_BLACK, OWN_SIDES, OTHER_SIDES = range(7)
PHASE_PLANES = 7  # place, choose, swap, place_after
OWED_PLANE, STONE_PLANE, SWAPPED_PLANE, FULL_PLANE = 11, 12, 13, 14
NUM_PLANES = 15


@jit
def _around(row: int, column: int) -> int:
    """Bits of the columns c - 1, c, c + 1 of a row, at places 0, 1, 2."""
    return ((row << 1) >> column) & 7


@jit
def _fill(seeds: int, row: int) -> int:
    """The runs of `row` that hold a bit of `seeds`."""
    found = seeds & row
    while True:
        wider = (found | found << 1 | found >> 1) & row
        if wider == found:
            return found
        found = wider


# --- Where things stand in a row -------------------------------------------------------------------------------


@jit
def own_rows(rules: "ResolveRules", player: int) -> int:
    """Index of the first of the player's rows of stones."""
    return STONES + player * rules.board_size


@jit
def swapped_rows(rules: "ResolveRules") -> int:
    """Index of the rows that mark enemy stones already swapped in this resolution (S5)."""
    return STONES + 2 * rules.board_size


@jit
def linked_rows(rules: "ResolveRules") -> int:
    """Index of the rows that mark stones joined to their owner's first side: top for Black, left for White."""
    return STONES + 3 * rules.board_size


# --- Connection (S2, S8) ---------------------------------------------------------------------------------------


@jit
def _spread(rules: "ResolveRules", state: StateRow, player: int, row: int) -> None:
    """Extends the player's linked stones from `row`, where some have just been linked, as far as they reach."""
    n = rules.board_size
    own, linked = own_rows(rules, player), linked_rows(rules)
    low, high = row, row  # rows that changed and whose neighbours have not been looked at
    while low <= high:
        first, last = max(low - 1, 0), min(high + 1, n - 1)
        low, high = n, -1
        for r in range(first, last + 1):
            mine = int(state[own + r])
            seeds = state[linked + r] & mine
            if r > 0:
                seeds |= state[linked + r - 1] & state[own + r - 1] & mine
            if r < n - 1:
                seeds |= state[linked + r + 1] & state[own + r + 1] & mine
            found = _fill(seeds, mine)
            if found != state[linked + r] & mine:
                state[linked + r] |= found
                low, high = min(low, r), max(high, r)


@jit
def _link(rules: "ResolveRules", state: StateRow, player: int, point: int) -> None:
    """Links the player's new stone on `point` if it touches the first side or a linked stone."""
    n = rules.board_size
    own, linked = own_rows(rules, player), linked_rows(rules)
    row, column = divmod(point, n)
    touches = row == 0 if player == BLACK else column == 0
    if not touches:
        near = _around(state[linked + row] & state[own + row], column) & 5
        if row > 0:
            near |= _around(state[linked + row - 1] & state[own + row - 1], column) & 2
        if row < n - 1:
            near |= _around(state[linked + row + 1] & state[own + row + 1], column) & 2
        touches = near != 0
    if touches:
        state[linked + row] |= 1 << column
        _spread(rules, state, player, row)


@jit
def _relink(rules: "ResolveRules", state: StateRow, player: int) -> None:
    """Finds the player's linked stones anew."""
    n = rules.board_size
    own, linked = own_rows(rules, player), linked_rows(rules)
    for r in range(n):
        state[linked + r] &= ~state[own + r]
    if player == BLACK:
        state[linked] |= state[own]
        _spread(rules, state, player, 0)
    else:
        for r in range(n):
            state[linked + r] |= state[own + r] & 1
        for r in range(n):
            _spread(rules, state, player, r)


@jit
def joined(rules: "ResolveRules", state: StateRow, player: int) -> bool:
    """Whether one group of the player's joins both sides (S8)."""
    n = rules.board_size
    own, linked = own_rows(rules, player), linked_rows(rules)
    if player == BLACK:
        return bool((state[linked + n - 1] & state[own + n - 1]) != 0)
    reached = 0
    for r in range(n):
        reached |= state[linked + r] & state[own + r]
    return reached >> (n - 1) != 0


# --- Crosscuts (S3, S5, S7) ------------------------------------------------------------------------------------


@jit
def swap_directions(rules: "ResolveRules", state: StateRow, player: int, point: int) -> int:
    """Directions to enemy stones that share a crosscut with the player's stone on `point`: NORTH | WEST | …"""
    n = rules.board_size
    own, enemy = own_rows(rules, player), own_rows(rules, 1 - player)
    row, column = divmod(point, n)
    beside = _around(int(state[enemy + row]), column)
    directions = 0
    if row > 0:
        mine, theirs = _around(int(state[own + row - 1]), column), _around(int(state[enemy + row - 1]), column)
        if theirs & 2:
            if mine & beside & 1:
                directions |= NORTH | WEST
            if mine & beside & 4:
                directions |= NORTH | EAST
    if row < n - 1:
        mine, theirs = _around(int(state[own + row + 1]), column), _around(int(state[enemy + row + 1]), column)
        if theirs & 2:
            if mine & beside & 1:
                directions |= SOUTH | WEST
            if mine & beside & 4:
                directions |= SOUTH | EAST
    return directions


@jit
def legal_swaps(rules: "ResolveRules", state: StateRow) -> int:
    """Directions in which the resolving stone may be swapped: no enemy stone twice (S5)."""
    n = rules.board_size
    swapped = swapped_rows(rules)
    point = int(state[STONE])
    directions = swap_directions(rules, state, int(state[TO_PLAY]), point)
    row, column = divmod(point, n)
    beside = _around(int(state[swapped + row]), column)
    if beside & 1:
        directions &= ~WEST
    if beside & 4:
        directions &= ~EAST
    if row > 0 and state[swapped + row - 1] >> column & 1:
        directions &= ~NORTH
    if row < n - 1 and state[swapped + row + 1] >> column & 1:
        directions &= ~SOUTH
    return directions


@jit
def choosable(rules: "ResolveRules", state: StateRow, player: int, row: int) -> int:
    """Bits of the player's stones in `row` that are in a crosscut (S7, S11)."""
    n = rules.board_size
    own, enemy = own_rows(rules, player), own_rows(rules, 1 - player)
    mine, theirs = state[own + row], state[enemy + row]
    found = 0
    for other in range(max(row - 1, 0), min(row + 1, n - 1) + 1):
        if other != row:
            mine2, theirs2 = state[own + other], state[enemy + other]
            found |= mine & (mine2 >> 1) & (theirs >> 1) & theirs2
            found |= mine & (mine2 << 1) & (theirs << 1) & theirs2
    return int(found)


@jit
def empty(rules: "ResolveRules", state: StateRow, row: int) -> int:
    """Bits of the empty points in `row`."""
    n = rules.board_size
    return ((1 << n) - 1) & ~(int(state[STONES + row]) | int(state[STONES + n + row]))


@jit
def startable(rules: "ResolveRules", state: StateRow, row: int) -> int:
    """Bits of the points in `row` that are legal when the phase is not SWAP."""
    phase = int(state[PHASE])
    found = 0
    if phase != CHOOSE:
        found = empty(rules, state, row)
    if phase == CHOOSE or (phase == PLACE and rules.rules == ORIGINAL):
        found |= choosable(rules, state, int(state[TO_PLAY]), row)
    return found


# --- Play ------------------------------------------------------------------------------------------------------


@jit
def _end_resolution(rules: "ResolveRules", state: StateRow) -> None:
    state[STONE] = NO_STONE
    swapped = swapped_rows(rules)
    for r in range(rules.board_size):
        state[swapped + r] = 0


@jit
def _end_turn(rules: "ResolveRules", state: StateRow) -> None:
    state[TO_PLAY] = 1 - state[TO_PLAY]
    state[PHASE] = PLACE if state[EMPTIES] > 0 else CHOOSE
    state[OWED] = 0
    if state[FULL] == rules.board_size * rules.board_size and state[OUTCOME] == ONGOING:  # S9
        state[OUTCOME] = DRAWN


@jit
def _resolve(rules: "ResolveRules", state: StateRow) -> None:
    """Goes on with the resolution if the stone can be swapped, and ends it otherwise (S5, S6)."""
    if legal_swaps(rules, state) != 0:
        state[PHASE] = SWAP
        return
    _end_resolution(rules, state)
    if state[OWED] and state[EMPTIES] > 0:  # S11
        state[PHASE] = PLACE_AFTER
        state[OWED] = 0
    else:
        _end_turn(rules, state)


@jit
def _swap(rules: "ResolveRules", state: StateRow, action: int) -> None:
    """Exchanges the resolving stone with the enemy stone on `action`, which is then marked as swapped."""
    n = rules.board_size
    player = int(state[TO_PLAY])
    own, enemy, linked = own_rows(rules, player), own_rows(rules, 1 - player), linked_rows(rules)
    here = int(state[STONE])
    row, column = divmod(here, n)
    bit = 1 << column
    row2, column2 = divmod(action, n)
    bit2 = 1 << column2
    own_linked = state[linked + row] & bit
    enemy_linked = state[linked + row2] & bit2
    state[own + row] &= ~bit
    state[own + row2] |= bit2
    state[enemy + row2] &= ~bit2
    state[enemy + row] |= bit
    state[linked + row] &= ~bit
    state[linked + row2] &= ~bit2
    state[swapped_rows(rules) + row] |= bit
    state[STONE] = action
    if own_linked:
        _relink(rules, state, player)
    else:
        _link(rules, state, player, action)
    if enemy_linked:
        _relink(rules, state, 1 - player)
    else:
        _link(rules, state, 1 - player, here)


@jit
def _offset(rules: "ResolveRules", direction: int) -> int:
    """Difference in point numbers: 0 north, 1 west, 2 east, 3 south."""
    if direction == 0:
        return -rules.board_size
    if direction == 3:
        return rules.board_size
    return 2 * direction - 3


# --- What the solver asks: boards of up to WORD_LINES lines as one word, row after row with a gap between them -------


@jit
def _word(rules: "ResolveRules", state: StateRow, rows: int) -> int:
    """The rows of a board that begin at `rows` as a word."""
    n = rules.board_size
    found = 0
    for r in range(n):
        found |= int(state[rows + r]) << r * (n + 1)
    return found


@jit
def _side(rules: "ResolveRules", player: int) -> int:
    """The player's first side: the top row for Black, the left column for White."""
    n = rules.board_size
    if player == BLACK:
        return (1 << n) - 1
    return ((1 << n * (n + 1)) - 1) // ((1 << n + 1) - 1)


@jit
def _board(rules: "ResolveRules") -> int:
    """All points."""
    return _side(rules, WHITE) * _side(rules, BLACK)


@jit
def _touched(side: int, own: int, width: int) -> int:
    """Points that a side or stones of `own` joined to it reach: the side itself, the stones and what they touch."""
    found = side
    while True:
        held = found & own
        wider = side | held | held << 1 | held >> 1 | held << width | held >> width
        if wider == found:
            return found
        found = wider


@jit
def _linking(rules: "ResolveRules", own: int, player: int) -> int:
    """Points on which one more stone would join the player's sides; among them may be some beyond the board."""
    n = rules.board_size
    first = _side(rules, player)
    last = first << ((n - 1) * (n + 1) if player == BLACK else n - 1)
    return _touched(first, own, n + 1) & _touched(last, own, n + 1)


@jit
def _winning(own: int, enemy: int, free: int, linking: int, width: int) -> int:
    """Empty points where a stone wins at once, or with its first swap (S5): p, beside an enemy stone e on a linking
    point, in a crosscut with it: the enemy has p + v too, and e + v is the player's own.
    """
    found = linking & free
    target = linking & enemy
    if target == 0:
        return found
    below, above = target & own >> width, target & own << width  # v is a row down, up: e beside p in its row
    found |= (below << 1 | below >> 1) & enemy >> width & free
    found |= (above << 1 | above >> 1) & enemy << width & free
    right, left = target & own >> 1, target & own << 1  # v is a column right, left
    found |= (right << width | right >> width) & enemy >> 1 & free
    found |= (left << width | left >> width) & enemy << 1 & free
    return found


@jit
def _cutting(own: int, enemy: int, free: int, width: int) -> int:
    """Empty points where a stone of the player's would be part of a crosscut (S3)."""
    found = (enemy >> 1) & (enemy >> width) & (own >> width + 1)
    found |= (enemy << 1) & (enemy >> width) & (own >> width - 1)
    found |= (enemy >> 1) & (enemy << width) & (own << width - 1)
    found |= (enemy << 1) & (enemy << width) & (own << width + 1)
    return found & free


@jit
def _useful(rules: "ResolveRules", state: StateRow) -> int:
    """Empty points, as a word, where a placement does not lose in the next turn; or -1 if the player to act wins now.

    A stone that makes no crosscut changes no other stone, so that it takes a winning point from the enemy only by
    standing on it.
    """
    n, player = rules.board_size, int(state[TO_PLAY])
    own, enemy = _word(rules, state, own_rows(rules, player)), _word(rules, state, own_rows(rules, 1 - player))
    free = _board(rules) & ~(own | enemy)
    if _winning(own, enemy, free, _linking(rules, own, player), n + 1) != 0:
        return -1
    threats = _winning(enemy, own, free, _linking(rules, enemy, 1 - player), n + 1)
    if threats == 0:
        return free
    if threats & (threats - 1) != 0:
        threats = 0
    return threats | _cutting(own, enemy, free, n + 1)


@jit
def _wider(reached: int, before: int, own: int, enemy: int, free: int, width: int) -> int:
    """What is touched with one stone more than `reached`, two more than `before`: a swap may win an enemy's point."""
    held = reached & free | before & enemy
    return _touched(reached | held << 1 | held >> 1 | held << width | held >> width, own, width)


@jit
def _lack(rules: "ResolveRules", own: int, enemy: int, free: int, player: int) -> int:
    """WEIGHT for each stone that the player lacks for a connection, an enemy's point counted as two, less the number of
    empty points where the shortest ways from both sides meet.
    """
    n = rules.board_size
    side = _side(rules, player)
    last = side << ((n - 1) * (n + 1) if player == BLACK else n - 1)
    here, there = _touched(side, own, n + 1), _touched(last, own, n + 1)
    here_before, there_before = 0, 0
    stones = 1
    while here & there & free == 0 and stones < 2 * n:
        stones += 1
        if stones & 1 == 0:
            here, here_before = _wider(here, here_before, own, enemy, free, n + 1), here
        else:
            there, there_before = _wider(there, there_before, own, enemy, free, n + 1), there
    return WEIGHT * stones - popcount(here & there & free)


def _last_phase(state: StateRow) -> int:
    """The phase of a finished game's last action where its text says nothing: a turn on a full board ends in a swap."""
    return SWAP if state[FULL] else PLACE


class _Fields(NamedTuple):
    board_size: int
    rules: int


@game_rules
class ResolveRules(_Fields):
    """The rules of Resolve on `board_size` lines; `rules` is STANDARD (S10) or ORIGINAL (S11)."""

    __slots__ = ()

    name: ClassVar[str] = "resolve"
    version: ClassVar[Mapping[str, int]] = MappingProxyType({"standard": 1, "original": 1})
    phases: ClassVar[type[IntEnum]] = Phase
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("board_size", 9, 2, 19, summary="lines; official sizes are 5, 9, 13 and 19 (S1)"),
        Parameter("rules", "standard", choices=PROFILES, summary="rule profile (S10, S11)"),
    )
    planes: ClassVar[tuple[str, ...]] = (
        "own stones",
        "other stones",
        "on board",
        "1 if it is the observer's turn to act",
        "1 if the observer is Black",
        "the observer's two sides",
        "the other player's two sides",
        "phase: place",
        "phase: choose",
        "phase: swap",
        "phase: place after",
        "1 if a placement follows this resolution",
        "the resolving stone",
        "enemy stones already swapped",
        "full-board turns / n²",
    )
    on_board_plane: ClassVar[int] = ON_BOARD
    colour_plane: ClassVar[int] = IS_BLACK
    keys: ClassVar[tuple[str, ...]] = ("phase", "stone", "swapped", "then", "full", "last")

    # --- Play ------------------------------------------------------------------------------------------------------

    @jit
    def reset(self, state: StateRow) -> None:
        """Writes the initial state: an empty board, Black to act."""
        state[:] = 0
        state[STONE] = NO_STONE
        state[EMPTIES] = self.board_size * self.board_size

    @jit
    def step(self, state: StateRow, action: int) -> None:
        """Places (S4), chooses (S7, S11) or swaps (S5), and sees whether that ends the game (S8, S9)."""
        n = self.board_size
        player, phase = int(state[TO_PLAY]), int(state[PHASE])
        row, column = divmod(action, n)
        bit = 1 << column
        own = own_rows(self, player)
        if phase == SWAP:
            _swap(self, state, action)
            if joined(self, state, player):
                state[OUTCOME] = BLACK_WON + player
            elif joined(self, state, 1 - player):  # S8: the opponent's action did it
                state[OUTCOME] = BLACK_WON + 1 - player
            _resolve(self, state)
        elif state[own + row] & bit:  # a stone is chosen
            state[STONE] = action
            state[PHASE] = SWAP
            if state[EMPTIES] > 0:
                state[OWED] = 1
            else:
                state[FULL] += 1
        else:
            state[own + row] |= bit
            state[EMPTIES] -= 1
            _link(self, state, player, action)
            if joined(self, state, player):
                state[OUTCOME] = BLACK_WON + player
            if phase == PLACE and swap_directions(self, state, player, action) != 0:
                state[STONE] = action
                state[PHASE] = SWAP
            else:
                _end_turn(self, state)
        if state[OUTCOME] != ONGOING:
            _end_resolution(self, state)
            state[OWED] = 0
            state[PHASE] = phase

    # --- Legal actions ---------------------------------------------------------------------------------------------

    @jit
    def is_legal(self, state: StateRow, action: int) -> bool:
        """Whether the action is legal now."""
        n = self.board_size
        if state[OUTCOME] != ONGOING or action < 0 or action >= n * n:
            return False
        if state[PHASE] == SWAP:
            offset = action - state[STONE]
            directions = legal_swaps(self, state)
            return (
                (offset == -n and directions & NORTH != 0)
                or (offset == n and directions & SOUTH != 0)
                or (offset == -1 and directions & WEST != 0)
                or (offset == 1 and directions & EAST != 0)
            )
        row, column = divmod(action, n)
        return startable(self, state, row) >> column & 1 != 0

    @jit
    def legal_actions(self, state: StateRow, out: NDArray[np.int32]) -> int:
        """Writes the legal actions, ascending, and returns their number; 0 when the game is over."""
        n = self.board_size
        count = 0
        if state[OUTCOME] != ONGOING:
            return count
        if state[PHASE] == SWAP:
            directions = legal_swaps(self, state)
            for direction in range(4):
                if directions >> direction & 1:
                    out[count] = state[STONE] + _offset(self, direction)
                    count += 1
            return count
        for row in range(n):
            points = startable(self, state, row)
            while points:
                out[count] = row * n + lowest(points)
                count += 1
                points &= points - 1
        return count

    @jit
    def legal_mask(self, state: StateRow, found: NDArray[np.int32], mask: NDArray[np.int8]) -> None:
        """Writes 1 for each legal action and 0 for all others, most of them without a branch to mispredict."""
        n = self.board_size
        if state[PHASE] == SWAP or state[OUTCOME] != ONGOING:
            mask_found(self, state, found, mask)
            return
        for row in range(n):
            points = startable(self, state, row)
            for column in range(n):
                mask[row * n + column] = points >> column & 1

    @jit
    def random_action(self, state: StateRow, stream: Stream) -> int:
        """Returns a legal action, each with the same probability; the game is not over."""
        n = self.board_size
        if state[PHASE] == SWAP:
            directions = legal_swaps(self, state)
            direction = select(directions, randint(stream, popcount(directions)))
            return int(state[STONE]) + _offset(self, direction)
        count = state[EMPTIES] + 0
        if state[PHASE] == CHOOSE or (state[PHASE] == PLACE and self.rules == ORIGINAL):
            count = 0
            for row in range(n):
                count += popcount(startable(self, state, row))
        k = randint(stream, count)
        for row in range(n):
            points = startable(self, state, row)
            here = popcount(points)
            if k < here:
                return row * n + select(points, k)
            k -= here
        return -1

    @jit
    def settled_outcome(self, state: StateRow) -> int:
        """The outcome where a placement wins in this turn, or all placements lose in the next (`_useful`)."""
        if state[PHASE] != PLACE or self.board_size > WORD_LINES:
            return ONGOING
        useful = _useful(self, state)
        if useful < 0:
            return BLACK_WON + int(state[TO_PLAY])
        if useful == 0 and self.rules == STANDARD:
            return BLACK_WON + 1 - int(state[TO_PLAY])
        return ONGOING

    @jit
    def promise(self, state: StateRow) -> int:
        """How much more the other player lacks for a connection than the player to act."""
        n, player = self.board_size, int(state[TO_PLAY])
        if n > WORD_LINES:
            return 0
        own, enemy = _word(self, state, own_rows(self, player)), _word(self, state, own_rows(self, 1 - player))
        free = _board(self) & ~(own | enemy)
        return _lack(self, enemy, own, free, 1 - player) - _lack(self, own, enemy, free, player)

    @jit
    def useful_actions(self, state: StateRow, out: NDArray[np.int32]) -> int:
        """Writes the legal actions without placements that lose in the next turn (`_useful`), and returns their number.

        In the original profile, where a turn may begin with a stone on the board (S11), it writes them all.
        """
        if state[PHASE] != PLACE or self.board_size > WORD_LINES or self.rules != STANDARD:
            return self.legal_actions(state, out)
        points = _useful(self, state)
        if points < 0:
            return self.legal_actions(state, out)
        n, count = self.board_size, 0
        while points:
            row, column = divmod(lowest(points), n + 1)
            out[count] = row * n + column
            count += 1
            points &= points - 1
        return count

    # --- Observation and symmetry ----------------------------------------------------------------------------------

    @jit
    def observe(self, state: StateRow, player: int, out: NDArray[np.float32]) -> None:
        """Writes the planes [n, n, 15] as `player` sees them."""
        n = self.board_size
        own, enemy, swapped = own_rows(self, player), own_rows(self, 1 - player), swapped_rows(self)
        black = player == BLACK
        due = int(state[PHASE]) if state[OUTCOME] == ONGOING else -1
        to_act = 1.0 if state[TO_PLAY] == player else 0.0
        is_black = 1.0 if black else 0.0
        place, choose = 1.0 if due == PLACE else 0.0, 1.0 if due == CHOOSE else 0.0
        swap, place_after = 1.0 if due == SWAP else 0.0, 1.0 if due == PLACE_AFTER else 0.0
        owed = 1.0 if state[OWED] else 0.0
        full = state[FULL] / (n * n)
        # Every plane is written once, in order: a tenth to a quarter faster than clearing all and setting some.
        for row in range(n):
            mine, theirs, marked = int(state[own + row]), int(state[enemy + row]), int(state[swapped + row])
            end_row = 1.0 if row == 0 or row == n - 1 else 0.0
            for column in range(n):
                end_column = 1.0 if column == 0 or column == n - 1 else 0.0
                planes = out[row, column]
                planes[OWN] = mine >> column & 1
                planes[OTHER] = theirs >> column & 1
                planes[ON_BOARD] = 1.0
                planes[TO_ACT] = to_act
                planes[IS_BLACK] = is_black
                planes[OWN_SIDES] = end_row if black else end_column
                planes[OTHER_SIDES] = end_column if black else end_row
                planes[PHASE_PLANES + PLACE] = place
                planes[PHASE_PLANES + CHOOSE] = choose
                planes[PHASE_PLANES + SWAP] = swap
                planes[PHASE_PLANES + PLACE_AFTER] = place_after
                planes[OWED_PLANE] = owed
                planes[STONE_PLANE] = 0.0
                planes[SWAPPED_PLANE] = marked >> column & 1
                planes[FULL_PLANE] = full
        if state[STONE] >= 0:
            row, column = divmod(state[STONE], n)
            out[row, column, STONE_PLANE] = 1.0

    @jit
    def contents(self, state: StateRow, cells: NDArray[np.int32], rest: NDArray[np.int32]) -> None:
        """Writes the stones, the resolving one and those already swapped marked, and whether a placement is owed."""
        n, player = self.board_size, int(state[TO_PLAY])
        own, enemy, swapped = own_rows(self, player), own_rows(self, 1 - player), swapped_rows(self)
        for row in range(n):
            mine, theirs, marked = int(state[own + row]), int(state[enemy + row]), int(state[swapped + row])
            for column in range(n):
                found = NOTHING + OWN_STONE * (mine >> column & 1) + OTHER_STONE * (theirs >> column & 1)
                cells[row * n + column] = found + 2 * MARK * (marked >> column & 1)
        if state[STONE] >= 0:
            cells[int(state[STONE])] += MARK
        rest[0] = state[OWED]

    @jit
    def layer(self, state: StateRow) -> int:
        """Stones on the board: none ever leaves."""
        return self.board_size * self.board_size - int(state[EMPTIES])

    @jit
    def transform(self, state: StateRow, cells: NDArray[np.int32], swaps: int, out: StateRow) -> None:
        """Writes the image of a state: the stone on point c moves to cells[c], and changes colour if `swaps` is 1."""
        n = self.board_size
        out[:] = 0
        for i in range(STONES):
            out[i] = state[i]
        if swaps:
            out[TO_PLAY] = 1 - state[TO_PLAY]
            if state[OUTCOME] == BLACK_WON or state[OUTCOME] == BLACK_WON + 1:
                out[OUTCOME] = 2 * BLACK_WON + 1 - state[OUTCOME]
        if state[STONE] >= 0:
            out[STONE] = cells[state[STONE]]
        for part in range(3):  # Black, White, swapped
            target = STONES + part * n
            if swaps and part < 2:
                target = STONES + (1 - part) * n
            for row in range(n):
                points = state[STONES + part * n + row]
                while points:
                    row2, column2 = divmod(cells[row * n + lowest(points)], n)
                    out[target + row2] |= 1 << column2
                    points &= points - 1
        _relink(self, out, BLACK)
        _relink(self, out, WHITE)

    # --- What Python sees ------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, **parameters: Any) -> "ResolveRules":
        """Returns the rules with these parameters; ValueError lists what is accepted."""
        values = read_parameters(cls.name, cls.parameters, parameters)
        return cls(int(values["board_size"]), PROFILES.index(str(values["rules"])))

    @property
    def profile(self) -> str:
        """The rule profile's name."""
        return PROFILES[self.rules]

    @property
    def num_cells(self) -> int:
        """The number of points."""
        return self.board_size**2

    @property
    def num_actions(self) -> int:
        """One action a point: it is placed on, chosen, or swapped to."""
        return self.board_size**2

    @property
    def state_size(self) -> int:
        """Entries of a state row."""
        return STONES + 4 * self.board_size

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """(n, n, planes)."""
        return self.board_size, self.board_size, NUM_PLANES

    @property
    def policy_shape(self) -> tuple[int, int, int]:
        """(1, n, n): one plane of actions."""
        return 1, self.board_size, self.board_size

    @property
    def policy_index(self) -> NDArray[np.int64]:
        """Flat place [A] of each action in the policy planes."""
        return np.arange(self.num_actions, dtype=np.int64)

    @property
    def max_steps(self) -> int:
        """Bound on the actions of a game; the proof stands in docs/rules/resolve.md."""
        points = self.num_cells
        starts = 2 if self.rules == ORIGINAL else 1
        return points * starts + points**2 // 4 + points * (1 + (points + 1) // 2)

    @property
    def rest_size(self) -> int:
        """Whether a placement is owed."""
        return 1

    @property
    def endless_counter(self) -> tuple[int, int]:
        """Turns on a full board (S9)."""
        return FULL, self.board_size**2

    @property
    def colours_alike(self) -> bool:
        """No: their sides differ (S2)."""
        return False

    def layout(self) -> BoardLayout:
        """The points, and the sides that each player joins (S2)."""
        end, gap = self.board_size - 1.0, 0.6
        sides = (
            (BLACK, ((-gap, -gap), (end + gap, -gap))),
            (BLACK, ((-gap, end + gap), (end + gap, end + gap))),
            (WHITE, ((-gap, -gap), (-gap, end + gap))),
            (WHITE, ((end + gap, -gap), (end + gap, end + gap))),
        )
        return square.layout(self.board_size, self.board_size, points=True, sides=sides)

    def symmetries(self) -> tuple[Symmetry, ...]:
        """All eight of the square; the four that exchange rows and columns exchange the players too (S2)."""
        found = []
        for name, swaps, move in square.rectangle_symmetries(self.board_size, self.board_size):
            cells = square.cell_table(self.board_size, self.board_size, move)
            found.append(Symmetry(name, cells, cells, swaps))
        return tuple(found)

    def _points(self, state: StateRow, first: int) -> list[int]:
        n = self.board_size
        return [r * n + c for r in range(n) for c in range(n) if int(state[first + r]) >> c & 1]

    def board(self, state: StateRow) -> NDArray[np.int8]:
        """The stones [n * n]: -1 empty, 0 Black, 1 White."""
        board = np.full(self.num_cells, EMPTY, np.int8)
        for player in (BLACK, WHITE):
            board[self._points(state, STONES + player * self.board_size)] = player
        return board

    def marks(self, state: StateRow) -> dict[str, tuple[int, ...]]:
        """The resolving stone and the stones already swapped."""
        stone = (int(state[STONE]),) if state[STONE] >= 0 else ()
        return {"stone": stone, "swapped": tuple(self._points(state, STONES + 2 * self.board_size))}

    def counters(self, state: StateRow) -> dict[str, int]:
        """Consecutive turns that began on a full board."""
        return {"full": int(state[FULL])}

    def text_rows(self) -> tuple[int, ...]:
        """Cells in each row of a position text."""
        return (self.board_size,) * self.board_size

    def text_fields(self, state: StateRow) -> list[tuple[str, str]]:
        """What the board and the player do not say."""
        names = square.cell_names(self.board_size, self.board_size)
        fields = []
        over = state[OUTCOME] != ONGOING
        default = PLACE if state[EMPTIES] > 0 else CHOOSE
        if over:
            default = _last_phase(state)
        if state[PHASE] != default:
            fields.append(("last" if over else "phase", Phase(int(state[PHASE])).name.lower()))
        for key, points in self.marks(state).items():
            if points:
                fields.append((key, ",".join(names[point] for point in points)))
        if state[OWED]:
            fields.append(("then", "place"))
        if state[FULL]:
            fields.append(("full", str(state[FULL])))
        return fields

    def from_position(self, board: list[int], to_play: int, fields: Fields) -> StateRow:
        """Returns the state row [S] of a position; PositionError where it contradicts itself."""
        n = self.board_size
        state = np.zeros(self.state_size, np.int32)
        state[TO_PLAY], state[STONE] = to_play, NO_STONE
        for point, player in enumerate(board):
            if player != EMPTY:
                state[STONES + player * n + point // n] |= 1 << point % n
        empties = board.count(EMPTY)
        state[EMPTIES] = empties
        _relink(self, state, BLACK)
        _relink(self, state, WHITE)
        phase = fields.word("phase", [p.name.lower() for p in Phase])
        if phase == "place_after" and self.rules != ORIGINAL:
            fields.fail("phase=place_after belongs to rules='original' (S11)", "phase")
        state[FULL] = fields.integer("full", 0, n * n)
        if state[FULL] and empties:
            fields.fail("full= counts turns on a full board (S9), and this board has empty points", "full")
        winners = [joined(self, state, player) for player in (BLACK, WHITE)]
        if all(winners):
            fields.fail("both players' sides are joined, which cannot be (S8)")
        drawn = state[FULL] == n * n and phase in (None, "choose")
        if any(winners) or drawn:
            fields.refuse(("phase", "stone", "swapped", "then"), "the game is over on this board")
            lasts = ["place", "swap", "place_after"] if self.rules == ORIGINAL else ["place", "swap"]
            last = fields.word("last", ["swap"] if state[FULL] else lasts)
            state[OUTCOME] = BLACK_WON + winners.index(True) if any(winners) else DRAWN
            state[PHASE] = Phase[last.upper()] if last else _last_phase(state)
            return state
        fields.refuse(("last",), "the game is not over on this board")
        default = Phase.PLACE if empties else Phase.CHOOSE
        state[PHASE] = Phase[phase.upper()] if phase else default
        if state[PHASE] in (PLACE, PLACE_AFTER) and not empties:
            fields.refuse(("phase",), "no point is empty")
        if state[PHASE] == CHOOSE and empties:
            fields.refuse(
                ("phase",), "the board is not full (S7); in a turn's first action a stone is chosen in phase=place"
            )
        if state[PHASE] == SWAP:
            self._read_swap(state, board, fields)
        else:
            fields.refuse(
                ("stone", "swapped", "then"),
                f"it belongs to phase=swap, not to phase={Phase(int(state[PHASE])).name.lower()}",
            )
        return state

    def _read_swap(self, state: StateRow, board: list[int], fields: Fields) -> None:
        n, player = self.board_size, int(state[TO_PLAY])
        stone = fields.cell("stone")
        if stone is None:
            fields.fail("phase=swap needs stone=, the resolving stone's point", "phase")
        if board[stone] != player:
            fields.fail(f"stone= must name a stone of {owner(player)}, who is to act", "stone")
        state[STONE] = stone
        for point in fields.cells("swapped"):
            if board[point] != 1 - player:
                fields.fail(f"swapped= must name stones of {owner(1 - player)}", "swapped")
            state[STONES + 2 * n + point // n] |= 1 << point % n
        if legal_swaps(self, state) == 0:
            fields.fail("this stone cannot be swapped (S5, S6): the resolution is over", "stone")
        if fields.word("then", ["place"]):
            if self.rules != ORIGINAL or not state[EMPTIES]:
                fields.fail("then=place belongs to rules='original' with an empty point (S11)", "then")
            state[OWED] = 1

    def action_cells(self, action: int) -> tuple[int, ...]:
        """The point of an action."""
        return (action,)

    def action_name(self, phase: int, action: int) -> str:
        """The action's name: its point."""
        return square.cell_names(self.board_size, self.board_size)[action]

    def why_illegal(self, state: StateRow, action: int) -> str:
        """Why the action is illegal."""
        point = square.cell_names(self.board_size, self.board_size)[action]
        if state[PHASE] == SWAP:
            stone = square.cell_names(self.board_size, self.board_size)[int(state[STONE])]
            if action in self.marks(state)["swapped"]:
                return f"the stone on {point} was already swapped in this resolution (S5)"
            return f"{point} holds no enemy stone beside {stone} that shares a crosscut with the stone there (S5)"
        if state[PHASE] == CHOOSE or (
            self.rules == ORIGINAL and state[PHASE] == PLACE and self.board(state)[action] == state[TO_PLAY]
        ):
            return f"{point} holds no stone of {owner(int(state[TO_PLAY]))} that is in a crosscut (S7, S11)"
        return f"{point} is not empty (S4)"
