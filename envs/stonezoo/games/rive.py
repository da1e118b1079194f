"""Rive: a hexagonal board fills up; placing where groups meet captures, and the player picks which stones leave.

Rules V1 to V10. The board is kept in a frame: a cell in row r and slanted column c stands at place
(r + 1) * width + c, with width = 2n, so that the six neighbours of any cell are six fixed steps away and every step off
the board lands on the frame.
In a capture the merged group is also kept as bits: bit `place - width` of the words at MERGED.
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.bits import (
    HALF,
    HALF_BITS,
    WORD,
    Window,
    earlier,
    later,
    lowest,
    popcount,
    put_word,
    select,
    toggle,
    window_at,
    word_at,
)
from stonezoo.core.board import BoardLayout
from stonezoo.core.entries import LANES, equal_bits, peek, poke
from stonezoo.core.game import (
    BLACK,
    BLACK_WON,
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
    WHITE_WON,
    Parameter,
    StateRow,
    Symmetry,
    game_rules,
    read_parameters,
)
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, randint
from stonezoo.core.text import Fields, owner

# Entries of a state row, then three frames: what stands on each place, its group, and its group's size.
STONE = HEADER  # place of the stone that captures, or 0
REMOVE_LEFT = HEADER + 1  # stones still to remove (V5)
FILLED = HEADER + 2  # stones on the board
STONES = HEADER + 3

VACANT, BLACK_STONE, WHITE_STONE, OFF_BOARD = 0, 1, 2, 3  # what stands on a place
MANY = 1000  # more than any number of stones
NO_GROUP = 0  # a group is known by its first place, which is never 0
SMALLEST, LARGEST = 2, 8  # board_size
LARGEST_FRAME = 288  # places
ROW_LETTERS = "abcdefghijklmno"


class Phase(IntEnum):
    """The kind of action due."""

    PLACE = 0  # a stone on an empty cell (V3)
    REMOVE = 1  # a stone leaves the merged group (V6)


PLACE, REMOVE = int(Phase.PLACE), int(Phase.REMOVE)

OWN, OTHER, ON_BOARD, TO_ACT = range(4)
PHASE_PLANES = 4  # place, remove
STONE_PLANE, MERGED_PLANE, LEFT_PLANE, SIZE_PLANE, LEGAL_PLANE = 6, 7, 8, 9, 10
NUM_PLANES = 11


def _rows(size: int) -> list[tuple[int, int]]:
    """First slanted column and number of cells of each row, from the top (V1)."""
    return [(max(0, size - 1 - r), 2 * size - 1 - abs(size - 1 - r)) for r in range(2 * size - 1)]


def _places(size: int) -> list[int]:
    return [
        (r + 1) * 2 * size + c for r, (first, length) in enumerate(_rows(size)) for c in range(first, first + length)
    ]


# For each board size: the place of every cell, and the cell of every place (-1 for the frame).
PLACES = np.zeros((LARGEST + 1, 3 * LARGEST * (LARGEST - 1) + 1), np.int64)
CELLS = np.full((LARGEST + 1, LARGEST_FRAME), -1, np.int64)
for _size in range(SMALLEST, LARGEST + 1):
    PLACES[_size, : len(_places(_size))] = _places(_size)
    CELLS[_size, _places(_size)] = np.arange(len(_places(_size)))


@jit
def _width(rules: "RiveRules") -> int:
    """Places in a row of the frame."""
    return 2 * rules.board_size


@jit
def count_words(rules: "RiveRules") -> int:
    """Number of words that hold the cells; the first begins with the second row of the frame."""
    return ((_width(rules) - 1) * _width(rules) + WORD - 1) // WORD


@jit
def _num_places(rules: "RiveRules") -> int:
    """Places from the second row of the frame on that loops visit: in whole vectors, and past the last cell."""
    return count_words(rules) * 2 * LANES


@jit
def frame_size(rules: "RiveRules") -> int:
    """Number of places in a frame."""
    return 2 * _width(rules) + _num_places(rules)


@jit
def merged_words(rules: "RiveRules") -> int:
    """Index of the words of the merged group's places; no bit is set when nothing is to be removed."""
    return STONES + 3 * frame_size(rules) + 2


@jit
def _reached_words(rules: "RiveRules") -> int:
    """Index of words to work with, between words of zeros; they are left at 0."""
    return merged_words(rules) + 2 * count_words(rules) + 2


@jit
def _step_around(rules: "RiveRules", k: int) -> int:
    """Step to the k-th of the six neighbours, going round: each touches the next, and the last the first."""
    width = _width(rules)
    if k == 0:
        return 1
    if k == 1:
        return 1 - width
    if k == 2:
        return -width
    if k == 3:
        return -1
    if k == 4:
        return width - 1
    return width


# --- Placement (V3) ------------------------------------------------------------------------------------------------


@jit
def touched(rules: "RiveRules", state: StateRow, place: int) -> np.int32:
    """Size of the largest group that `place` touches: the m of V3. As narrow as it is stored, for wide vectors."""
    width = _width(rules)
    at = STONES + 2 * frame_size(rules) + place
    beside = max(peek(state, at - 1), peek(state, at + 1))
    above = max(peek(state, at - width), peek(state, at - width + 1))
    below = max(peek(state, at + width - 1), peek(state, at + width))
    m: np.int32 = max(beside, max(above, below))
    return m


@jit
def least_touched(rules: "RiveRules", state: StateRow) -> int:
    """The smallest m over all empty cells (V3)."""
    width, least = _width(rules), np.int32(MANY)
    for i in range(_num_places(rules)):
        place = width + i
        least = min(least, touched(rules, state, place) if peek(state, STONES + place) == VACANT else np.int32(MANY))
    return int(least)


@jit
def _placeable_half(rules: "RiveRules", state: StateRow, least: int, first: int) -> int:
    found = 0
    for i in range(LANES):
        here = (peek(state, STONES + first + i) == VACANT) & (touched(rules, state, first + i) == np.int32(least))
        found |= here << i
    return int(found) & HALF_BITS


@jit
def placeable(rules: "RiveRules", state: StateRow, least: int, word: int) -> int:
    """Places in a word where a stone may be placed, when `least` is the smallest m (V3)."""
    first = _width(rules) + word * WORD
    lower, upper = _placeable_half(rules, state, least, first), _placeable_half(rules, state, least, first + HALF)
    return lower | upper << HALF


@jit
def _rename(rules: "RiveRules", state: StateRow, a: int, b: int, c: int, new: int, size: int) -> None:
    """Gives the stones of the groups a, b and c another group and size."""
    first, second, third = np.int32(a), np.int32(b), np.int32(c)
    groups = STONES + frame_size(rules)
    sizes = groups + frame_size(rules)
    for place in range(frame_size(rules)):
        group = peek(state, groups + place)
        hit = (group == first) | (group == second) | (group == third)
        poke(state, groups + place, new if hit else group)
        poke(state, sizes + place, size if hit else peek(state, sizes + place))


@jit
def _place(rules: "RiveRules", state: StateRow, place: int) -> None:
    """Places a stone: it ends the turn (V4), or merges groups, from which stones must then leave (V5)."""
    frame = frame_size(rules)
    groups, sizes = STONES + frame, STONES + 2 * frame
    player = int(state[TO_PLAY])
    first, second, third = place, place, place  # the distinct groups touched: three at most
    total, largest, name = 0, 0, place
    for k in range(6):
        near = place + _step_around(rules, k)
        group = int(state[groups + near])
        if group != NO_GROUP and group != first and group != second and group != third:
            first, second, third = group, first, second
            size = int(state[sizes + near])
            total += size
            largest = max(largest, size)
            name = min(name, group)
    state[STONES + place] = BLACK_STONE + player
    state[FILLED] += 1
    state[groups + place] = name
    state[sizes + place] = total + 1
    _rename(rules, state, first, second, third, name, total + 1)
    if total > largest:
        state[PHASE] = REMOVE
        state[STONE] = place
        state[REMOVE_LEFT] = total - largest
        _find_merged(rules, state, name)
        return
    state[TO_PLAY] = 1 - player
    if state[FILLED] == count_cells(rules):
        _finish(rules, state)


@jit
def count_cells(rules: "RiveRules") -> int:
    """Number of cells (V1)."""
    return 3 * rules.board_size * (rules.board_size - 1) + 1


@jit
def _balance(rules: "RiveRules", state: StateRow) -> int:
    """Black stones minus white ones."""
    balance = 0
    for place in range(frame_size(rules)):
        if state[STONES + place] == BLACK_STONE:
            balance += 1
        elif state[STONES + place] == WHITE_STONE:
            balance -= 1
    return balance


@jit
def _finish(rules: "RiveRules", state: StateRow) -> None:
    """The board is full: more stones wins (V9)."""
    state[OUTCOME] = BLACK_WON if _balance(rules, state) > 0 else WHITE_WON


# --- Removal (V5, V6, V7) ------------------------------------------------------------------------------------------


@jit
def _find_merged(rules: "RiveRules", state: StateRow, group: int) -> None:
    """Writes the words of the merged group."""
    first, merged = STONES + frame_size(rules) + _width(rules), merged_words(rules)
    for half in range(2 * count_words(rules)):
        state[merged + half] = equal_bits(state, first + half * HALF, group) & HALF_BITS


@jit
def _beside(places: Window, width: int) -> tuple[int, int, int, int, int, int]:
    """For each place of a word, whether its six neighbours, going round, are among `places`."""
    return (
        later(places, 1),
        earlier(places, width - 1),
        earlier(places, width),
        earlier(places, 1),
        later(places, width - 1),
        later(places, width),
    )


@jit
def count_holes(rules: "RiveRules", state: StateRow) -> int:
    """Number of holes in the merged group, by Euler: stones - pairs + triangles of neighbours = 1 - holes."""
    euler = 0
    for word in range(count_words(rules)):
        merged = window_at(state, merged_words(rules) + 2 * word)
        east, _, _, _, southwest, southeast = _beside(merged, _width(rules))
        here = merged[1]
        euler += popcount(here) - popcount(here & east) - popcount(here & southwest) - popcount(here & southeast)
        euler += popcount(here & east & southeast) + popcount(here & southwest & southeast)
    return 1 - euler


@jit
def _connected_without(rules: "RiveRules", state: StateRow, place: int) -> bool:
    """Whether the merged group stays one group without the stone on `place`: all of it is reached from STONE."""
    width, merged, reached = _width(rules), merged_words(rules), _reached_words(rules)
    toggle(state, merged, place - width)
    toggle(state, reached, int(state[STONE]) - width)
    grows = True
    while grows:
        grows = False
        for word in range(count_words(rules)):
            group = word_at(state, merged + 2 * word)
            before, here, after = window_at(state, reached + 2 * word)
            found, last = here, -1
            while found != last:
                last = found
                a, b, c, d, e, f = _beside((before, found, after), width)
                found |= (a | b | c | d | e | f) & group
            if found != here:
                put_word(state, reached + 2 * word, found)
                grows = True
    whole = True
    for word in range(count_words(rules)):
        whole &= word_at(state, reached + 2 * word) == word_at(state, merged + 2 * word)
        put_word(state, reached + 2 * word, 0)
    toggle(state, merged, place - width)
    return whole


@jit
def removable(rules: "RiveRules", state: StateRow, holes: int, word: int) -> int:
    """Stones in a word that may leave the merged group, which has so many holes (V6).

    Where, going round a stone, its neighbours in the group stand side by side, they stay connected without it. Where
    they stand in several runs, only a way around a hole can connect them.
    """
    merged = window_at(state, merged_words(rules) + 2 * word)
    around = _beside(merged, _width(rules))
    before, once, twice = around[5], 0, 0
    for k in range(6):
        begins = around[k] & ~before  # here a run begins
        twice |= once & begins
        once |= begins
        before = around[k]
    found, doubtful = merged[1] & ~twice, merged[1] & twice
    while holes and doubtful:
        place = _width(rules) + word * WORD + lowest(doubtful)
        if place != state[STONE] and _connected_without(rules, state, place):
            found |= doubtful & -doubtful
        doubtful &= doubtful - 1
    return found


@jit
def _remove(rules: "RiveRules", state: StateRow, place: int) -> None:
    """Takes a stone from the merged group; when enough have left, the same player places again (V7)."""
    frame = frame_size(rules)
    groups, sizes = STONES + frame, STONES + 2 * frame
    group, size = int(state[groups + place]), int(state[sizes + place])
    state[STONES + place] = VACANT
    state[groups + place] = NO_GROUP
    state[sizes + place] = 0
    toggle(state, merged_words(rules), place - _width(rules))
    name = group
    if place == group:
        name = place + 1
        while state[groups + name] != group:
            name += 1
    _rename(rules, state, group, group, group, name, size - 1)
    state[FILLED] -= 1
    state[REMOVE_LEFT] -= 1
    if state[REMOVE_LEFT] == 0:
        state[PHASE] = PLACE
        state[STONE] = 0
        for half in range(2 * count_words(rules)):
            state[merged_words(rules) + half] = 0


@jit
def regroup(rules: "RiveRules", state: StateRow) -> None:
    """Finds all groups and their sizes from the stones alone (V2)."""
    frame = frame_size(rules)
    groups, sizes = STONES + frame, STONES + 2 * frame
    for place in range(frame):
        state[groups + place] = NO_GROUP
        state[sizes + place] = 0
    for start in range(frame):
        if not (BLACK_STONE <= state[STONES + start] <= WHITE_STONE) or state[groups + start] != NO_GROUP:
            continue
        waiting, count = start, 1
        state[groups + start] = start
        while waiting:
            here = waiting
            waiting = int(state[sizes + here])
            for k in range(6):
                near = here + _step_around(rules, k)
                if BLACK_STONE <= state[STONES + near] <= WHITE_STONE and state[groups + near] == NO_GROUP:
                    state[groups + near] = start
                    state[sizes + near] = waiting
                    waiting = near
                    count += 1
        _rename(rules, state, start, start, start, start, count)


# --- Legal actions -------------------------------------------------------------------------------------------------


@jit
def measure(rules: "RiveRules", state: StateRow) -> int:
    """What `legal_places` needs to know of the whole board: the smallest m, or the holes in the merged group."""
    return least_touched(rules, state) if state[PHASE] == PLACE else count_holes(rules, state)


@jit
def legal_places(rules: "RiveRules", state: StateRow, measured: int, word: int) -> int:
    """Places in a word where acting is legal (V3, V6)."""
    if state[PHASE] == PLACE:
        return placeable(rules, state, measured, word)
    return removable(rules, state, measured, word)


class _Fields(NamedTuple):
    board_size: int


@game_rules
class RiveRules(_Fields):
    """The rules of Rive on a hexagon with `board_size` cells on a side (V1)."""

    __slots__ = ()

    name: ClassVar[str] = "rive"
    version: ClassVar[Mapping[str, int]] = MappingProxyType({"standard": 1})
    phases: ClassVar[type[IntEnum]] = Phase
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("board_size", 4, SMALLEST, LARGEST, summary="cells on a side; usual play is 3 to 6 (V1)"),
    )
    planes: ClassVar[tuple[str, ...]] = (
        "own stones",
        "other stones",
        "on board",
        "1 if it is the observer's turn to act",
        "phase: place",
        "phase: remove",
        "the stone that captures",
        "the merged group",
        "stones still to remove / cells",
        "size of the stone's group / cells",
        "legal placements",
    )
    on_board_plane: ClassVar[int] = ON_BOARD
    keys: ClassVar[tuple[str, ...]] = ("phase", "stone", "remove")

    # --- Play ------------------------------------------------------------------------------------------------------

    @jit
    def reset(self, state: StateRow) -> None:
        """Writes the initial state: an empty board, Black to act."""
        for i in range(state.shape[0]):
            state[i] = 0
        for place in range(frame_size(self)):
            if CELLS[self.board_size, place] < 0:
                state[STONES + place] = OFF_BOARD

    @jit
    def step(self, state: StateRow, action: int) -> None:
        """Places (V3 to V5) or removes (V6) a stone, and sees whether the board is full (V9)."""
        place = int(PLACES[self.board_size, action])
        if state[PHASE] == PLACE:
            _place(self, state, place)
        else:
            _remove(self, state, place)

    # --- Legal actions ---------------------------------------------------------------------------------------------

    @jit
    def is_legal(self, state: StateRow, action: int) -> bool:
        """Whether the action is legal now."""
        if state[OUTCOME] != ONGOING or action < 0 or action >= count_cells(self):
            return False
        word, bit = divmod(int(PLACES[self.board_size, action]) - _width(self), WORD)
        return legal_places(self, state, measure(self, state), word) >> bit & 1 != 0

    @jit
    def legal_actions(self, state: StateRow, out: NDArray[np.int32]) -> int:
        """Writes the legal actions, ascending, and returns their number; 0 when the game is over."""
        count = 0
        if state[OUTCOME] != ONGOING:
            return count
        measured = measure(self, state)
        for word in range(count_words(self)):
            found = legal_places(self, state, measured, word)
            while found:
                out[count] = CELLS[self.board_size, _width(self) + word * WORD + lowest(found)]
                count += 1
                found &= found - 1
        return count

    @jit
    def random_action(self, state: StateRow, stream: Stream) -> int:
        """Returns a legal action, each with the same probability; the game is not over.

        Keeps the places of one word: those of a new word replace them with the share that is theirs of all so far.
        """
        measured = measure(self, state)
        count, kept, first = 0, 0, 0
        for word in range(count_words(self)):
            found = legal_places(self, state, measured, word)
            here = popcount(found)
            count += here
            if randint(stream, count) < here:
                kept, first = found, _width(self) + word * WORD
        return int(CELLS[self.board_size, first + select(kept, randint(stream, popcount(kept)))])

    @jit
    def settled_outcome(self, state: StateRow) -> int:
        """The outcome once all stones are one group that every empty cell touches: no stone will join groups any more
        (V5), so that the players fill the board in turn (V4).
        """
        if state[PHASE] != PLACE or state[FILLED] == 0 or least_touched(self, state) != state[FILLED]:
            return ONGOING
        odd = count_cells(self) - state[FILLED] & 1  # then the player to act places one stone more
        balance = _balance(self, state) + (odd if state[TO_PLAY] == BLACK else -odd)
        return BLACK_WON if balance > 0 else WHITE_WON

    # --- Observation and symmetry ----------------------------------------------------------------------------------

    @jit
    def observe(self, state: StateRow, player: int, out: NDArray[np.float32]) -> None:
        """Writes the planes [2n - 1, 2n - 1, 11] as `player` sees them, in slanted columns; off the board all are 0."""
        size, frame, cells = 2 * self.board_size - 1, frame_size(self), count_cells(self)
        due = int(state[PHASE]) if state[OUTCOME] == ONGOING else -1
        to_act = 1.0 if state[TO_PLAY] == player else 0.0
        place_due, remove_due = 1.0 if due == PLACE else 0.0, 1.0 if due == REMOVE else 0.0
        left = state[REMOVE_LEFT] / cells
        merged = state[STONES + frame + int(state[STONE])] if state[STONE] > 0 else MANY
        for row in range(size):
            for column in range(size):
                at = STONES + (row + 1) * (size + 1) + column
                stone, planes = peek(state, at), out[row, column]
                on_board = 1.0 if stone != OFF_BOARD else 0.0
                planes[OWN] = 1.0 if stone == BLACK_STONE + player else 0.0
                planes[OTHER] = 1.0 if stone == WHITE_STONE - player else 0.0
                planes[ON_BOARD] = on_board
                planes[TO_ACT] = on_board * to_act
                planes[PHASE_PLANES + PLACE] = on_board * place_due
                planes[PHASE_PLANES + REMOVE] = on_board * remove_due
                planes[STONE_PLANE] = 0.0
                planes[MERGED_PLANE] = 1.0 if peek(state, at + frame) == merged else 0.0
                planes[LEFT_PLANE] = on_board * left
                planes[SIZE_PLANE] = peek(state, at + 2 * frame) / cells
                planes[LEGAL_PLANE] = 0.0
        if state[STONE] > 0:
            row, column = divmod(int(state[STONE]), size + 1)
            out[row - 1, column, STONE_PLANE] = 1.0
        if due == PLACE:
            least = least_touched(self, state)
            for word in range(count_words(self)):
                found = placeable(self, state, least, word)
                while found:
                    row, column = divmod(word * WORD + lowest(found), size + 1)
                    out[row, column, LEGAL_PLANE] = 1.0
                    found &= found - 1

    @jit
    def contents(self, state: StateRow, cells: NDArray[np.int32], rest: NDArray[np.int32]) -> None:
        """Writes the stones, the one that captures marked, and how many must still leave."""
        own = BLACK_STONE + int(state[TO_PLAY])
        for cell in range(count_cells(self)):
            stone = int(state[STONES + PLACES[self.board_size, cell]])
            cells[cell] = NOTHING if stone == VACANT else OWN_STONE if stone == own else OTHER_STONE
        if state[STONE] > 0:
            cells[CELLS[self.board_size, state[STONE]]] += MARK
        rest[0] = state[REMOVE_LEFT]

    @jit
    def transform(self, state: StateRow, cells: NDArray[np.int32], swaps: int, out: StateRow) -> None:
        """Writes the image of a state: the stone on cell c moves to cells[c]."""
        for i in range(state.shape[0]):
            out[i] = state[i]
        for cell in range(count_cells(self)):
            out[STONES + PLACES[self.board_size, cells[cell]]] = state[STONES + PLACES[self.board_size, cell]]
        if state[STONE] > 0:
            out[STONE] = PLACES[self.board_size, cells[CELLS[self.board_size, state[STONE]]]]
        regroup(self, out)
        if state[PHASE] == REMOVE:
            _find_merged(self, out, int(out[STONES + frame_size(self) + int(out[STONE])]))

    # --- What Python sees ------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, **parameters: Any) -> "RiveRules":
        """Returns the rules with these parameters; ValueError lists what is accepted."""
        return cls(int(read_parameters(cls.name, cls.parameters, parameters)["board_size"]))

    @property
    def profile(self) -> str:
        """The rule profile's name: there is one."""
        return "standard"

    @property
    def num_cells(self) -> int:
        """The number of cells (V1)."""
        return 3 * self.board_size * (self.board_size - 1) + 1

    @property
    def num_actions(self) -> int:
        """One action a cell: a stone is placed on it, or removed from it."""
        return self.num_cells

    @property
    def state_size(self) -> int:
        """Entries of a state row."""
        return _reached_words(self) + 2 * count_words(self) + 2

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """(2n - 1, 2n - 1, planes)."""
        return 2 * self.board_size - 1, 2 * self.board_size - 1, NUM_PLANES

    @property
    def policy_shape(self) -> tuple[int, int, int]:
        """(1, 2n - 1, 2n - 1): one plane of actions."""
        return 1, 2 * self.board_size - 1, 2 * self.board_size - 1

    @property
    def policy_index(self) -> NDArray[np.int64]:
        """Flat place [A] of each action in the policy planes."""
        size = 2 * self.board_size - 1
        return np.array([r * size + c for r, c in self._coordinates()], np.int64)

    @property
    def max_steps(self) -> int:
        """Bound on the actions of a game (V10), loose; the proof stands in docs/rules/rive.md."""
        cells = self.num_cells
        partitions = [1] + [0] * cells  # of each total, with parts up to `part`
        for part in range(1, cells + 1):
            for total in range(part, cells + 1):
                partitions[total] += partitions[total - part]
        return 2 * sum(partitions[1:]) - cells

    @property
    def rest_size(self) -> int:
        """The stones still to remove."""
        return 1

    @property
    def colours_alike(self) -> bool:
        """Yes: only whose turn it is tells the players apart (V9)."""
        return True

    def _coordinates(self) -> list[tuple[int, int]]:
        """Row and slanted column of each cell."""
        return [
            (r, c) for r, (first, length) in enumerate(_rows(self.board_size)) for c in range(first, first + length)
        ]

    def _names(self) -> tuple[str, ...]:
        rows = _rows(self.board_size)
        return tuple(
            f"{ROW_LETTERS[len(rows) - 1 - r]}{i + 1}" for r, (_, length) in enumerate(rows) for i in range(length)
        )

    def layout(self) -> BoardLayout:
        """Hexagonal cells; a row is sqrt(3) / 2 below the one above."""
        n, rows, height = self.board_size, _rows(self.board_size), 3**0.5 / 2
        centers = tuple(
            (abs(n - 1 - r) / 2 + i, r * height) for r, (_, length) in enumerate(rows) for i in range(length)
        )
        labels = tuple((ROW_LETTERS[len(rows) - 1 - r], abs(n - 1 - r) / 2 - 0.9, r * height) for r in range(len(rows)))
        grid = tuple(
            tuple(int(CELLS[n, (r + 1) * 2 * n + c]) for c in range(2 * n - 1))  # slanted columns
            for r in range(2 * n - 1)
        )
        return BoardLayout("hexagons", centers, self._names(), labels, (), (), grid)

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Six rotations, each with and without a reflection."""
        n, coordinates = self.board_size, self._coordinates()
        number = {place: cell for cell, place in enumerate(coordinates)}
        found = []
        for mirrored in (False, True):
            for sixths in range(6):
                table = []
                for row, column in coordinates:
                    x, z = column - (n - 1), row - (n - 1)
                    y = -x - z  # the three coordinates of a hexagonal grid: they sum to 0
                    if mirrored:
                        x, y = y, x
                    for _ in range(sixths):
                        x, y, z = -z, -x, -y
                    table.append(number[z + n - 1, x + n - 1])
                cells = np.array(table, np.int32)
                found.append(Symmetry(f"{'mirrored, ' if mirrored else ''}{60 * sixths} degrees", cells, cells))
        return tuple(found)

    def board(self, state: StateRow) -> NDArray[np.int8]:
        """The stones [num_cells]: -1 empty, 0 Black, 1 White."""
        stones = state[STONES + PLACES[self.board_size, : self.num_cells]]
        return (stones - 1).astype(np.int8)

    def marks(self, state: StateRow) -> dict[str, tuple[int, ...]]:
        """The stone that captures."""
        return {"stone": (int(CELLS[self.board_size, state[STONE]]),) if state[STONE] > 0 else ()}

    def counters(self, state: StateRow) -> dict[str, int]:
        """Stones still to remove."""
        return {"remove": int(state[REMOVE_LEFT])}

    def text_rows(self) -> tuple[int, ...]:
        """Cells in each row of a position text."""
        return tuple(length for _, length in _rows(self.board_size))

    def text_fields(self, state: StateRow) -> list[tuple[str, str]]:
        """What the board and the player do not say."""
        if state[PHASE] == PLACE:
            return []
        stone = self._names()[int(CELLS[self.board_size, state[STONE]])]
        return [("phase", "remove"), ("stone", stone), ("remove", str(state[REMOVE_LEFT]))]

    def from_position(self, board: list[int], to_play: int, fields: Fields) -> StateRow:
        """Returns the state row [S] of a position; PositionError where it contradicts itself."""
        state = np.zeros(self.state_size, np.int32)
        self.reset(state)
        state[TO_PLAY] = to_play
        for cell, player in enumerate(board):
            if player != EMPTY:
                state[STONES + PLACES[self.board_size, cell]] = BLACK_STONE + player
        state[FILLED] = self.num_cells - board.count(EMPTY)
        regroup(self, state)
        if fields.word("phase", ["place", "remove"]) == "remove":
            self._read_removal(state, board, fields)
        else:
            fields.refuse(("stone", "remove"), "it belongs to phase=remove")
            if state[FILLED] == self.num_cells:
                _finish(self, state)
        return state

    def _read_removal(self, state: StateRow, board: list[int], fields: Fields) -> None:
        cell = fields.cell("stone")
        if cell is None or "remove" not in fields:
            fields.fail(
                "phase=remove needs stone=, the stone that captures, and remove=, how many stones must still leave",
                "phase",
            )
        if board[cell] != state[TO_PLAY]:
            fields.fail(f"stone= must name a stone of {owner(int(state[TO_PLAY]))}, who is to act", "stone")
        frame = frame_size(self)
        place = int(PLACES[self.board_size, cell])
        without = state.copy()
        without[STONES + place] = VACANT
        regroup(self, without)
        steps = [place + _step_around(self, k) for k in range(6)]
        parts = {int(without[STONES + frame + near]): int(without[STONES + 2 * frame + near]) for near in steps}
        parts.pop(NO_GROUP, None)
        if len(parts) < 2:
            fields.fail("the stone joins no two groups, so that it captures nothing (V5)", "stone")
        state[PHASE], state[STONE] = REMOVE, place
        _find_merged(self, state, int(state[STONES + frame + place]))
        most = sum(parts.values()) - max(parts.values())
        state[REMOVE_LEFT] = fields.integer("remove", 1, most)

    def action_cells(self, action: int) -> tuple[int, ...]:
        """The cell of an action."""
        return (action,)

    def action_name(self, phase: int, action: int) -> str:
        """A placement `c3`, a removal `xc3`."""
        name = self._names()[action]
        return "x" + name if phase == REMOVE else name

    def why_illegal(self, state: StateRow, action: int) -> str:
        """Why the action is illegal."""
        name, place = self._names()[action], int(PLACES[self.board_size, action])
        if state[PHASE] == REMOVE:
            group = STONES + frame_size(self)
            if state[group + place] != state[group + int(state[STONE])]:
                return f"{name} holds no stone of the merged group (V5)"
            return f"without the stone on {name} the merged group would fall apart (V6)"
        if state[STONES + place] != VACANT:
            return f"{name} is not empty (V3)"
        m, least = int(touched(self, state, place)), least_touched(self, state)
        return f"{name} touches a group of {m}, and there are empty cells whose largest group has {least} (V3)"
