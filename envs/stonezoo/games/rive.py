"""Rive: a hexagonal board fills up; placing where groups meet captures, and the player picks which stones leave.

Rules V1 to V10. The board is kept in a frame: a cell in row r and slanted column c stands at place
(r + 1) * width + c, with width = 2n, so that the six neighbours of any cell are six fixed steps away and every step off
the board lands on the frame.
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.board import BoardLayout
from stonezoo.core.game import (
    BLACK_WON,
    EMPTY,
    HEADER,
    ONGOING,
    OUTCOME,
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
NO_GROUP = 0  # a group is known by its first place, which is never 0
SMALLEST, LARGEST = 2, 8  # board_size
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
CELLS = np.full((LARGEST + 1, (2 * LARGEST + 1) * 2 * LARGEST), -1, np.int64)
for _size in range(SMALLEST, LARGEST + 1):
    PLACES[_size, : len(_places(_size))] = _places(_size)
    CELLS[_size, _places(_size)] = np.arange(len(_places(_size)))


@jit
def frame_size(rules: "RiveRules") -> int:
    """Number of places in a frame."""
    return (2 * rules.board_size + 1) * 2 * rules.board_size


@jit
def _step_around(rules: "RiveRules", k: int) -> int:
    """Step to the k-th of the six neighbours, going round: each touches the next, and the last the first."""
    width = 2 * rules.board_size
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
def touched(rules: "RiveRules", state: StateRow, place: int) -> int:
    """Size of the largest group that `place` touches: the m of V3."""
    width = 2 * rules.board_size
    at = STONES + 2 * frame_size(rules) + place
    beside = max(state[at - 1], state[at + 1])
    above = max(state[at - width], state[at - width + 1])
    below = max(state[at + width - 1], state[at + width])
    return int(max(beside, max(above, below)))


@jit
def least_touched(rules: "RiveRules", state: StateRow) -> int:
    """The smallest m over all empty cells (V3)."""
    width = 2 * rules.board_size
    least = 4 * width * width
    for place in range(width, frame_size(rules) - width):
        m = int(touched(rules, state, place))
        least = min(least, m if state[STONES + place] == VACANT else least)
    return least


@jit
def _set_group(rules: "RiveRules", state: StateRow, old: int, new: int, size: int) -> None:
    """Gives every stone of group `old` the group `new` and its size."""
    groups = STONES + frame_size(rules)
    sizes = groups + frame_size(rules)
    for place in range(frame_size(rules)):
        if state[groups + place] == old:
            state[groups + place] = new
            state[sizes + place] = size


@jit
def _place(rules: "RiveRules", state: StateRow, place: int) -> None:
    """Places a stone: it ends the turn (V4), or merges groups, from which stones must then leave (V5)."""
    frame = frame_size(rules)
    groups, sizes = STONES + frame, STONES + 2 * frame
    player = int(state[TO_PLAY])
    first, second, third = NO_GROUP, NO_GROUP, NO_GROUP  # the distinct groups touched: three at most
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
    if first != NO_GROUP:
        _set_group(rules, state, first, name, total + 1)
    if second != NO_GROUP:
        _set_group(rules, state, second, name, total + 1)
        if third != NO_GROUP:
            _set_group(rules, state, third, name, total + 1)
        state[PHASE] = REMOVE
        state[STONE] = place
        state[REMOVE_LEFT] = total - largest
        return
    state[TO_PLAY] = 1 - player
    if state[FILLED] == count_cells(rules):
        _finish(rules, state)


@jit
def count_cells(rules: "RiveRules") -> int:
    """Number of cells (V1)."""
    return 3 * rules.board_size * (rules.board_size - 1) + 1


@jit
def _finish(rules: "RiveRules", state: StateRow) -> None:
    """The board is full: more stones wins (V9)."""
    balance = 0
    for place in range(frame_size(rules)):
        if state[STONES + place] == BLACK_STONE:
            balance += 1
        elif state[STONES + place] == WHITE_STONE:
            balance -= 1
    state[OUTCOME] = BLACK_WON if balance > 0 else WHITE_WON


# --- Removal (V5, V6, V7) ------------------------------------------------------------------------------------------


@jit
def _connected_without(rules: "RiveRules", state: StateRow, place: int) -> bool:
    """Whether the group of the stone on `place` stays one group without it.

    Visits the rest from one neighbour. While it does, visited stones carry their group negated, and the sizes of those
    that wait to be looked at hold the place of the next that waits; both are put back at the end.
    """
    frame = frame_size(rules)
    groups, sizes = STONES + frame, STONES + 2 * frame
    group, size = int(state[groups + place]), int(state[sizes + place])
    waiting, reached = 0, 0
    state[groups + place] = -group
    for k in range(6):
        near = place + _step_around(rules, k)
        if state[groups + near] == group:
            state[groups + near] = -group
            state[sizes + near] = 0
            waiting, reached = near, 1
            break
    while waiting:
        here = waiting
        waiting = int(state[sizes + here])
        for k in range(6):
            near = here + _step_around(rules, k)
            if state[groups + near] == group:
                state[groups + near] = -group
                state[sizes + near] = waiting
                waiting = near
                reached += 1
    _set_group(rules, state, -group, group, size)
    return reached == size - 1


@jit
def removable(rules: "RiveRules", state: StateRow, place: int) -> bool:
    """Whether the stone on `place` may leave the merged group now (V6)."""
    groups = STONES + frame_size(rules)
    group = state[groups + int(state[STONE])]
    if state[groups + place] != group or place == state[STONE]:
        return False
    arcs = 0  # runs of neighbours in the group, going round
    before = state[groups + place + _step_around(rules, 5)] == group
    for k in range(6):
        here = state[groups + place + _step_around(rules, k)] == group
        if here and not before:
            arcs += 1
        before = here
    return arcs <= 1 or _connected_without(rules, state, place)


@jit
def _remove(rules: "RiveRules", state: StateRow, place: int) -> None:
    """Takes a stone from the merged group; when enough have left, the same player places again (V7)."""
    frame = frame_size(rules)
    groups, sizes = STONES + frame, STONES + 2 * frame
    group, size = int(state[groups + place]), int(state[sizes + place])
    state[STONES + place] = VACANT
    state[groups + place] = NO_GROUP
    state[sizes + place] = 0
    name = group
    if place == group:
        name = place + 1
        while state[groups + name] != group:
            name += 1
    _set_group(rules, state, group, name, size - 1)
    state[FILLED] -= 1
    state[REMOVE_LEFT] -= 1
    if state[REMOVE_LEFT] == 0:
        state[PHASE] = PLACE
        state[STONE] = 0


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
        _set_group(rules, state, start, start, count)


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
        place = int(PLACES[self.board_size, action])
        if state[PHASE] == REMOVE:
            return removable(self, state, place)
        return state[STONES + place] == VACANT and touched(self, state, place) == least_touched(self, state)

    @jit
    def legal_actions(self, state: StateRow, out: NDArray[np.int32]) -> int:
        """Writes the legal actions, ascending, and returns their number; 0 when the game is over."""
        count = 0
        if state[OUTCOME] != ONGOING:
            return count
        width = 2 * self.board_size
        removing = state[PHASE] == REMOVE
        least = 0 if removing else least_touched(self, state)
        for place in range(width, frame_size(self) - width):
            if removing:
                legal = removable(self, state, place)
            else:
                legal = state[STONES + place] == VACANT and touched(self, state, place) == least
            if legal:
                out[count] = CELLS[self.board_size, place]
                count += 1
        return count

    @jit
    def random_action(self, state: StateRow, stream: Stream) -> int:
        """Returns a legal action, each with the same probability; the game is not over."""
        cells = count_cells(self)
        if state[PHASE] == REMOVE:
            while True:  # at least one stone of a connected group can leave it
                action = randint(stream, cells)
                if removable(self, state, int(PLACES[self.board_size, action])):
                    return action
        width = 2 * self.board_size
        least = least_touched(self, state)
        count = 0
        for place in range(width, frame_size(self) - width):
            count += (state[STONES + place] == VACANT) & (touched(self, state, place) == least)
        k = randint(stream, count)
        for place in range(width, frame_size(self) - width):
            if state[STONES + place] == VACANT and touched(self, state, place) == least:
                if k == 0:
                    return int(CELLS[self.board_size, place])
                k -= 1
        return -1

    # --- Observation and symmetry ----------------------------------------------------------------------------------

    @jit
    def observe(self, state: StateRow, player: int, out: NDArray[np.float32]) -> None:
        """Writes the planes [2n - 1, 2n - 1, 11] as `player` sees them, in slanted columns; off the board all are 0."""
        size = 2 * self.board_size - 1
        frame = frame_size(self)
        groups, sizes = STONES + frame, STONES + 2 * frame
        cells = count_cells(self)
        to_act = 1.0 if state[TO_PLAY] == player else 0.0
        placing = state[PHASE] == PLACE and state[OUTCOME] == ONGOING
        least = least_touched(self, state) if placing else -1
        merged = state[groups + int(state[STONE])] if state[PHASE] == REMOVE else -1
        left = state[REMOVE_LEFT] / cells
        for row in range(size):
            for column in range(size):
                place = (row + 1) * (size + 1) + column
                stone = int(state[STONES + place])
                planes = out[row, column]
                for plane in range(NUM_PLANES):
                    planes[plane] = 0.0
                if stone == OFF_BOARD:
                    continue
                planes[ON_BOARD] = 1.0
                planes[TO_ACT] = to_act
                planes[PHASE_PLANES + state[PHASE]] = 1.0 if state[OUTCOME] == ONGOING else 0.0
                planes[LEFT_PLANE] = left
                if stone == VACANT:
                    planes[LEGAL_PLANE] = 1.0 if placing and touched(self, state, place) == least else 0.0
                else:
                    planes[OWN if stone == BLACK_STONE + player else OTHER] = 1.0
                    planes[SIZE_PLANE] = state[sizes + place] / cells
                    planes[MERGED_PLANE] = 1.0 if state[groups + place] == merged else 0.0
        if state[STONE] > 0:
            row, column = divmod(int(state[STONE]), size + 1)
            out[row - 1, column, STONE_PLANE] = 1.0

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
        return STONES + 3 * (2 * self.board_size + 1) * 2 * self.board_size

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
