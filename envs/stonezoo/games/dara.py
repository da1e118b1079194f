"""Dara: drop twelve stones each, then slide; an exact three captures and a four is forbidden.

Rules D1 to D8. A board is kept as rows of bits: bit c of row r is the cell (r, c), row 0 at the top.
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
    ONGOING,
    OUTCOME,
    PHASE,
    TO_PLAY,
    WHITE,
    Parameter,
    StateRow,
    Symmetry,
    game_rules,
    read_parameters,
)
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, randint
from stonezoo.core.text import Fields, owner

STANDARD, NO_DROP_THREES = 0, 1
PROFILES = ("standard", "no_drop_threes")

# Entries of a state row.
HAND = HEADER  # Black's stones in hand, then White's
QUIET = HEADER + 2  # consecutive slides without a capture (D7)
STONES = HEADER + 3  # Black's rows, then White's rows

LINE = 3  # a run of exactly three captures (D5), a longer one is forbidden (D3)
LOST = 2  # a player reduced to two stones loses (D6)
MAX_QUIET = 10_000  # largest quiet_limit

# Planes of actions: drop or take, then slides.
NORTH, EAST, SOUTH, WEST = 1, 2, 3, 4
NUM_DIRECTIONS = 5
ROW_STEP = (0, -1, 0, 1, 0)
COLUMN_STEP = (0, 0, 1, 0, -1)


class Phase(IntEnum):
    """The kind of action due."""

    DROP = 0  # a stone from the hand (D2)
    SLIDE = 1  # a stone to a cell beside it (D4)
    TAKE = 2  # an enemy stone leaves (D5)


DROP, SLIDE, TAKE = int(Phase.DROP), int(Phase.SLIDE), int(Phase.TAKE)

OWN, OTHER, ON_BOARD, TO_ACT = range(4)
PHASE_PLANES = 4  # drop, slide, take
OWN_HAND, OTHER_HAND, QUIET_PLANE, OWN_THREES, OTHER_THREES = 7, 8, 9, 10, 11
NUM_PLANES = 12


@jit
def own_rows(rules: "DaraRules", player: int) -> int:
    """Index of the first of the player's rows of stones."""
    return STONES + player * rules.rows


@jit
def _row(rules: "DaraRules", state: StateRow, own: int, row: int) -> int:
    """Row `row` of the stones that begin at `own`; 0 outside the board."""
    if row < 0 or row >= rules.rows:
        return 0
    return int(state[own + row])


@jit
def empty(rules: "DaraRules", state: StateRow, row: int) -> int:
    """Bits of the empty cells in `row`; 0 outside the board."""
    if row < 0 or row >= rules.rows:
        return 0
    return ((1 << rules.columns) - 1) & ~(int(state[STONES + row]) | int(state[STONES + rules.rows + row]))


@jit
def _three_or_more(before: int, before2: int, before3: int, after: int, after2: int, after3: int, least: int) -> int:
    """Cells where the stones just before and just after in a line number `least` or more (2 or 3), as bits.

    `before` marks cells whose neighbour on one side is a stone, `before2` those whose second neighbour is one, and so
    on.
    """
    one, two, three = before, before & before2, before & before2 & before3
    one_, two_, three_ = after, after & after2, after & after2 & after3
    if least == 2:
        return two | two_ | (one & one_)
    return three | three_ | (two & one_) | (one & two_)


@jit
def _across(row: int, least: int) -> int:
    """Cells of a row where a stone would stand in a horizontal run with `least` or more others."""
    return _three_or_more(row << 1, row << 2, row << 3, row >> 1, row >> 2, row >> 3, least)


@jit
def _upright(rules: "DaraRules", state: StateRow, own: int, row: int, least: int) -> int:
    """Cells of `row` where a stone would stand in a vertical run with `least` or more others."""
    return _three_or_more(
        _row(rules, state, own, row - 1),
        _row(rules, state, own, row - 2),
        _row(rules, state, own, row - 3),
        _row(rules, state, own, row + 1),
        _row(rules, state, own, row + 2),
        _row(rules, state, own, row + 3),
        least,
    )


@jit
def drops(rules: "DaraRules", state: StateRow, row: int) -> int:
    """Bits of the cells in `row` on which the player to act may drop a stone (D3, D8)."""
    free = empty(rules, state, row)
    if free == 0:
        return 0
    own = own_rows(rules, int(state[TO_PLAY]))
    least = 2 if rules.rules == NO_DROP_THREES else 3
    return free & ~_across(int(state[own + row]), least) & ~_upright(rules, state, own, row, least)


@jit
def slides(rules: "DaraRules", state: StateRow, player: int, direction: int, row: int) -> int:
    """Bits of the player's stones in `row` that may slide in `direction` (D3, D4).

    The stone's own cell counts as empty, and it lies just behind the target: along the line of the slide only the
    stones ahead count, across it both sides do.
    """
    own = own_rows(rules, player)
    mine = int(state[own + row])
    if mine == 0:
        return 0
    if direction == EAST:
        free = empty(rules, state, row)
        targets = mine << 1 & free
        four = (mine >> 1 & mine >> 2 & mine >> 3) | _upright(rules, state, own, row, 3) if targets else 0
        return (targets & ~four) >> 1
    if direction == WEST:
        free = empty(rules, state, row)
        targets = mine >> 1 & free
        four = (mine << 1 & mine << 2 & mine << 3) | _upright(rules, state, own, row, 3) if targets else 0
        return (targets & ~four) << 1
    ahead = -1 if direction == NORTH else 1
    targets = mine & empty(rules, state, row + ahead)
    if targets == 0:
        return 0
    beyond = (
        _row(rules, state, own, row + 2 * ahead)
        & _row(rules, state, own, row + 3 * ahead)
        & _row(rules, state, own, row + 4 * ahead)
    )
    return targets & ~(beyond | _across(_row(rules, state, own, row + ahead), 3))


@jit
def can_slide(rules: "DaraRules", state: StateRow, player: int) -> bool:
    """Whether the player has a legal slide."""
    for row in range(rules.rows):
        for direction in range(NORTH, NUM_DIRECTIONS):
            if slides(rules, state, player, direction, row):
                return True
    return False


@jit
def can_drop(rules: "DaraRules", state: StateRow) -> bool:
    """Whether the player to act has a legal drop."""
    for row in range(rules.rows):
        if drops(rules, state, row):
            return True
    return False


@jit
def _exact_across(row: int) -> int:
    """Bits of the stones of a row that are in a horizontal run of exactly three."""
    starts = row & (row >> 1) & (row >> 2) & ~(row << 1) & ~(row >> 3)
    return starts | starts << 1 | starts << 2


@jit
def threes(rules: "DaraRules", state: StateRow, player: int, row: int) -> int:
    """Bits of the player's stones in `row` that are in a run of exactly three, in either direction (D5)."""
    own = own_rows(rules, player)
    found = _exact_across(int(state[own + row]))
    for top in range(row - 2, row + 1):
        run = _row(rules, state, own, top) & _row(rules, state, own, top + 1) & _row(rules, state, own, top + 2)
        found |= run & ~_row(rules, state, own, top - 1) & ~_row(rules, state, own, top + 3)
    return found


@jit
def takeable(rules: "DaraRules", state: StateRow, player: int, row: int) -> int:
    """Bits of the stones in `row` that `player` may take: enemy stones in no three (D5)."""
    return int(state[own_rows(rules, 1 - player) + row]) & ~threes(rules, state, 1 - player, row)


@jit
def can_take(rules: "DaraRules", state: StateRow, player: int) -> bool:
    """Whether `player` has an enemy stone to take."""
    for row in range(rules.rows):
        if takeable(rules, state, player, row):
            return True
    return False


@jit
def stones_left(rules: "DaraRules", state: StateRow, player: int) -> int:
    """Stones of the player on the board and in hand."""
    own = own_rows(rules, player)
    count = int(state[HAND + player])
    for row in range(rules.rows):
        count += popcount(int(state[own + row]))
    return count


@jit
def _end_turn(rules: "DaraRules", state: StateRow) -> None:
    """Passes the turn, and sees whether the player who must act now has lost (D6) or play has gone quiet (D7)."""
    player = 1 - int(state[TO_PLAY])
    last = int(state[PHASE])
    state[TO_PLAY] = player
    if state[HAND + player] > 0:
        state[PHASE] = DROP
        able = can_drop(rules, state)
    else:
        state[PHASE] = SLIDE
        able = can_slide(rules, state, player)
    if not able or (last == TAKE and stones_left(rules, state, player) <= LOST):
        state[OUTCOME] = BLACK_WON + 1 - player
    elif state[QUIET] >= rules.quiet_limit:
        state[OUTCOME] = DRAWN
    if state[OUTCOME] != ONGOING:
        state[PHASE] = last


@jit
def actable(rules: "DaraRules", state: StateRow, plane: int, row: int) -> int:
    """Bits of the cells in `row` where the action of `plane` is legal: 0 drop or take, 1 to 4 slide."""
    phase = int(state[PHASE])
    if phase == SLIDE:
        return slides(rules, state, int(state[TO_PLAY]), plane, row) if plane else 0
    if plane:
        return 0
    if phase == DROP:
        return drops(rules, state, row)
    return takeable(rules, state, int(state[TO_PLAY]), row)


class _Fields(NamedTuple):
    rows: int
    columns: int
    stones: int
    rules: int
    quiet_limit: int


@game_rules
class DaraRules(_Fields):
    """The rules of Dara on `rows` x `columns` cells, `stones` a player; `rules` is STANDARD or NO_DROP_THREES (D8)."""

    __slots__ = ()

    name: ClassVar[str] = "dara"
    version: ClassVar[Mapping[str, int]] = MappingProxyType({"standard": 1, "no_drop_threes": 1})
    phases: ClassVar[type[IntEnum]] = Phase
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("rows", 5, 1, 10, summary="rows of the board (D1)"),
        Parameter("columns", 6, 1, 10, summary="columns of the board (D1)"),
        Parameter("stones", 12, 3, 49, summary="stones of each player; twice as many leave a cell empty (D1)"),
        Parameter("rules", "standard", choices=PROFILES, summary="rule profile (D8)"),
        Parameter("quiet_limit", 100, 1, MAX_QUIET, summary="slides without a capture that make a draw (D7)"),
    )
    planes: ClassVar[tuple[str, ...]] = (
        "own stones",
        "other stones",
        "on board",
        "1 if it is the observer's turn to act",
        "phase: drop",
        "phase: slide",
        "phase: take",
        "own stones in hand / stones",
        "other stones in hand / stones",
        "quiet slides / quiet_limit",
        "own stones in a run of exactly three",
        "other stones in a run of exactly three",
    )
    on_board_plane: ClassVar[int] = ON_BOARD
    keys: ClassVar[tuple[str, ...]] = ("phase", "hand", "quiet", "last")

    # --- Play ------------------------------------------------------------------------------------------------------

    @jit
    def reset(self, state: StateRow) -> None:
        """Writes the initial state: an empty board, all stones in hand, Black to act."""
        state[:] = 0
        state[HAND] = self.stones
        state[HAND + 1] = self.stones

    @jit
    def step(self, state: StateRow, action: int) -> None:
        """Drops (D2), slides (D4) or takes (D5), and sees whether that ends the game (D6, D7)."""
        player, phase = int(state[TO_PLAY]), int(state[PHASE])
        cells = self.rows * self.columns
        plane, cell = divmod(action, cells)
        row, column = divmod(cell, self.columns)
        bit = 1 << column
        own = own_rows(self, player)
        if phase == DROP:
            state[own + row] |= bit
            state[HAND + player] -= 1
            _end_turn(self, state)
        elif phase == SLIDE:
            row2 = row + ROW_STEP[plane]
            bit2 = 1 << (column + COLUMN_STEP[plane])
            state[own + row] &= ~bit
            state[own + row2] |= bit2
            if threes(self, state, player, row2) & bit2 and can_take(self, state, player):
                state[PHASE] = TAKE
                state[QUIET] = 0
            else:
                state[QUIET] += 1
                _end_turn(self, state)
        else:
            state[own_rows(self, 1 - player) + row] &= ~bit
            _end_turn(self, state)

    # --- Legal actions ---------------------------------------------------------------------------------------------

    @jit
    def is_legal(self, state: StateRow, action: int) -> bool:
        """Whether the action is legal now."""
        cells = self.rows * self.columns
        if state[OUTCOME] != ONGOING or action < 0 or action >= NUM_DIRECTIONS * cells:
            return False
        plane, cell = divmod(action, cells)
        row, column = divmod(cell, self.columns)
        return actable(self, state, plane, row) >> column & 1 != 0

    @jit
    def legal_actions(self, state: StateRow, out: NDArray[np.int32]) -> int:
        """Writes the legal actions, ascending, and returns their number; 0 when the game is over."""
        count = 0
        if state[OUTCOME] != ONGOING:
            return count
        sliding = state[PHASE] == SLIDE
        for plane in range(1 if sliding else 0, NUM_DIRECTIONS if sliding else 1):
            for row in range(self.rows):
                found = actable(self, state, plane, row)
                while found:
                    out[count] = (plane * self.rows + row) * self.columns + lowest(found)
                    count += 1
                    found &= found - 1
        return count

    @jit
    def random_action(self, state: StateRow, stream: Stream) -> int:
        """Returns a legal action, each with the same probability; the game is not over."""
        sliding = state[PHASE] == SLIDE
        first, last = (NORTH, NUM_DIRECTIONS) if sliding else (0, 1)
        count = 0
        for plane in range(first, last):
            for row in range(self.rows):
                count += popcount(actable(self, state, plane, row))
        k = randint(stream, count)
        for plane in range(first, last):
            for row in range(self.rows):
                found = actable(self, state, plane, row)
                here = popcount(found)
                if k < here:
                    return (plane * self.rows + row) * self.columns + select(found, k)
                k -= here
        return -1

    # --- Observation and symmetry ----------------------------------------------------------------------------------

    @jit
    def observe(self, state: StateRow, player: int, out: NDArray[np.float32]) -> None:
        """Writes the planes [rows, columns, 12] as `player` sees them."""
        own, enemy = own_rows(self, player), own_rows(self, 1 - player)
        to_act = 1.0 if state[TO_PLAY] == player else 0.0
        own_hand, other_hand = state[HAND + player] / self.stones, state[HAND + 1 - player] / self.stones
        quiet = state[QUIET] / self.quiet_limit
        for row in range(self.rows):
            mine, theirs = int(state[own + row]), int(state[enemy + row])
            my_threes, their_threes = threes(self, state, player, row), threes(self, state, 1 - player, row)
            for column in range(self.columns):
                planes = out[row, column]
                planes[OWN] = mine >> column & 1
                planes[OTHER] = theirs >> column & 1
                planes[ON_BOARD] = 1.0
                planes[TO_ACT] = to_act
                for phase in range(3):
                    planes[PHASE_PLANES + phase] = 1.0 if state[PHASE] == phase and state[OUTCOME] == ONGOING else 0.0
                planes[OWN_HAND] = own_hand
                planes[OTHER_HAND] = other_hand
                planes[QUIET_PLANE] = quiet
                planes[OWN_THREES] = my_threes >> column & 1
                planes[OTHER_THREES] = their_threes >> column & 1

    @jit
    def transform(self, state: StateRow, cells: NDArray[np.int32], swaps: int, out: StateRow) -> None:
        """Writes the image of a state: the stone on cell c moves to cells[c]."""
        for i in range(STONES):
            out[i] = state[i]
        for i in range(STONES, out.shape[0]):
            out[i] = 0
        for player in range(2):
            own = own_rows(self, player)
            for row in range(self.rows):
                found = int(state[own + row])
                while found:
                    row2, column2 = divmod(int(cells[row * self.columns + lowest(found)]), self.columns)
                    out[own + row2] |= 1 << column2
                    found &= found - 1

    # --- What Python sees ------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, **parameters: Any) -> "DaraRules":
        """Returns the rules with these parameters; ValueError lists what is accepted."""
        values = read_parameters(cls.name, cls.parameters, parameters)
        rows, columns, stones = int(values["rows"]), int(values["columns"]), int(values["stones"])
        if 2 * stones >= rows * columns:
            most = (rows * columns - 1) // 2
            remedy = f"at most {most} stones fit" if most >= LINE else "choose a larger board"
            raise ValueError(
                f"stones={stones} leaves no cell of {rows} x {columns} empty once all are dropped (D1): {remedy}"
            )
        return cls(rows, columns, stones, PROFILES.index(str(values["rules"])), int(values["quiet_limit"]))

    @property
    def profile(self) -> str:
        """The rule profile's name."""
        return PROFILES[self.rules]

    @property
    def num_cells(self) -> int:
        """The number of cells."""
        return self.rows * self.columns

    @property
    def num_actions(self) -> int:
        """Five planes of cells: drop or take, slide north, east, south, west."""
        return NUM_DIRECTIONS * self.rows * self.columns

    @property
    def state_size(self) -> int:
        """Entries of a state row."""
        return STONES + 2 * self.rows

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """(rows, columns, planes)."""
        return self.rows, self.columns, NUM_PLANES

    @property
    def policy_shape(self) -> tuple[int, int, int]:
        """(5, rows, columns): drop or take, slide north, east, south, west."""
        return NUM_DIRECTIONS, self.rows, self.columns

    @property
    def policy_index(self) -> NDArray[np.int64]:
        """Flat place [A] of each action in the policy planes."""
        return np.arange(self.num_actions, dtype=np.int64)

    @property
    def max_steps(self) -> int:
        """Bound on the actions of a game; the proof stands in docs/rules/dara.md."""
        captures = 2 * self.stones - 2 * LOST - 1
        return 2 * self.stones + captures * (self.quiet_limit + 1) + self.quiet_limit

    def layout(self) -> BoardLayout:
        """The cells."""
        return square.layout(self.rows, self.columns, points=False)

    def symmetries(self) -> tuple[Symmetry, ...]:
        """Four, or eight where rows equal columns."""
        found = []
        steps = list(zip(ROW_STEP, COLUMN_STEP, strict=True))
        for name, _, move in square.rectangle_symmetries(self.rows, self.columns):
            cells = square.cell_table(self.rows, self.columns, move)
            origin = move(0, 0)
            actions = []
            for row_step, column_step in steps:
                target = move(row_step, column_step)  # affine: works for cells off the board too
                plane = steps.index((target[0] - origin[0], target[1] - origin[1]))
                actions.append(plane * self.num_cells + cells)
            found.append(Symmetry(name, cells, np.concatenate(actions).astype(np.int32)))
        return tuple(found)

    def board(self, state: StateRow) -> NDArray[np.int8]:
        """The stones [rows * columns]: -1 empty, 0 Black, 1 White."""
        board = np.full(self.num_cells, EMPTY, np.int8)
        for player in (BLACK, WHITE):
            for row in range(self.rows):
                for column in range(self.columns):
                    if int(state[STONES + player * self.rows + row]) >> column & 1:
                        board[row * self.columns + column] = player
        return board

    def marks(self, state: StateRow) -> dict[str, tuple[int, ...]]:
        """Nothing: the stone that captures is no part of the state."""
        return {}

    def counters(self, state: StateRow) -> dict[str, int]:
        """Stones in hand and quiet slides."""
        return {"hand_black": int(state[HAND]), "hand_white": int(state[HAND + 1]), "quiet": int(state[QUIET])}

    def text_rows(self) -> tuple[int, ...]:
        """Cells in each row of a position text."""
        return (self.columns,) * self.rows

    def _default_phase(self, state: StateRow) -> int:
        return DROP if state[HAND + int(state[TO_PLAY])] > 0 else SLIDE

    def text_fields(self, state: StateRow) -> list[tuple[str, str]]:
        """What the board and the player do not say."""
        fields = []
        if state[PHASE] != self._default_phase(state):
            key = "phase" if state[OUTCOME] == ONGOING else "last"
            fields.append((key, Phase(int(state[PHASE])).name.lower()))
        if state[HAND] or state[HAND + 1]:
            fields.append(("hand", f"{state[HAND]},{state[HAND + 1]}"))
        if state[QUIET]:
            fields.append(("quiet", str(state[QUIET])))
        return fields

    def from_position(self, board: list[int], to_play: int, fields: Fields) -> StateRow:
        """Returns the state row [S] of a position; PositionError where it contradicts itself."""
        state = np.zeros(self.state_size, np.int32)
        state[TO_PLAY] = to_play
        for cell, player in enumerate(board):
            if player != EMPTY:
                state[STONES + player * self.rows + cell // self.columns] |= 1 << cell % self.columns
        hand = fields.pair("hand", 0, self.stones)
        state[HAND : HAND + 2] = hand
        for player in (BLACK, WHITE):
            count = board.count(player)
            if count + hand[player] > self.stones:
                key = "hand" if "hand" in fields else None
                fields.fail(
                    f"{owner(player)} has {count} stones on the board and {hand[player]} in hand, of {self.stones}", key
                )
            self._refuse_fours(state, player, fields)
        state[QUIET] = fields.integer("quiet", 0, self.quiet_limit)
        if any(hand):
            fields.refuse(("quiet",), "slides are counted once every stone is dropped (D7)")
        default = self._default_phase(state)
        phase = fields.word("phase", [p.name.lower() for p in Phase]) or Phase(default).name.lower()
        if self._is_over(state, phase, fields):
            fields.refuse(("phase",), "the game is over on this board")
            last = fields.word("last", [p.name.lower() for p in Phase])
            state[PHASE] = Phase[last.upper()] if last else default
            return state
        fields.refuse(("last",), "the game is not over on this board")
        state[PHASE] = Phase[phase.upper()]
        if state[PHASE] == TAKE:
            if any(hand):
                fields.refuse(("phase",), "nothing is captured while stones are dropped (D2)")
            if not can_take(self, state, to_play):
                fields.refuse(("phase",), "there is no stone to take, so that the turn is over (D5)")
            if not any(threes(self, state, to_play, row) for row in range(self.rows)):
                fields.refuse(("phase",), f"{owner(to_play)} has no run of exactly three, which captures (D5)")
            fields.refuse(("quiet",), "the capture sets the count to 0 (D7)")
        elif state[PHASE] != default:
            fields.refuse(("phase",), "the stones in hand say otherwise (D2)")
        return state

    def _is_over(self, state: StateRow, phase: str, fields: Fields) -> bool:
        """Whether the game is over at a position (D6, D7); sets its outcome."""
        to_play = int(state[TO_PLAY])
        lost = [stones_left(self, state, player) <= LOST for player in (BLACK, WHITE)]
        if all(lost):
            fields.fail(f"both players have {LOST} stones or fewer, so both have lost (D6); hand= gives stones to drop")
        if any(lost):
            state[OUTCOME] = BLACK_WON + lost.index(False)
        elif phase != "take":
            state[PHASE] = self._default_phase(state)
            able = can_drop(self, state) if state[PHASE] == DROP else can_slide(self, state, to_play)
            if not able:
                state[OUTCOME] = BLACK_WON + 1 - to_play
            elif state[QUIET] == self.quiet_limit:
                state[OUTCOME] = DRAWN
        return bool(state[OUTCOME] != ONGOING)

    def _refuse_fours(self, state: StateRow, player: int, fields: Fields) -> None:
        own = STONES + player * self.rows
        for row in range(self.rows):
            across = int(state[own + row])
            down = int(np.bitwise_and.reduce(state[own + row : own + row + LINE + 1])) if row + LINE < self.rows else 0
            if across & across >> 1 & across >> 2 & across >> 3 or down:
                fields.fail(f"{owner(player)} has a run of four or more, which no move makes (D3)")

    def action_cells(self, action: int) -> tuple[int, ...]:
        """The cell of a drop or capture; the source and the target of a slide."""
        plane, cell = divmod(action, self.num_cells)
        if plane == 0:
            return (cell,)
        row, column = divmod(cell, self.columns)
        row, column = row + ROW_STEP[plane], column + COLUMN_STEP[plane]
        if not (0 <= row < self.rows and 0 <= column < self.columns):
            return (cell,)
        return cell, row * self.columns + column

    def action_name(self, phase: int, action: int) -> str:
        """A drop `c3`, a slide `c3-c4`, a capture `xc3`; a slide off the board is named by its direction."""
        names = square.cell_names(self.rows, self.columns)
        plane, cell = divmod(action, self.num_cells)
        if plane == 0:
            return "x" + names[cell] if phase == TAKE else names[cell]
        cells = self.action_cells(action)
        return f"{names[cells[0]]}-{names[cells[1]]}" if len(cells) == 2 else f"{names[cell]}-{'.nesw'[plane]}"

    def why_illegal(self, state: StateRow, action: int) -> str:
        """Why the action is illegal."""
        names, board, player = square.cell_names(self.rows, self.columns), self.board(state), int(state[TO_PLAY])
        plane, cell = divmod(action, self.num_cells)
        if (plane > 0) != (state[PHASE] == SLIDE):
            due = Phase(int(state[PHASE])).name.lower()
            return f"{self.action_name(int(state[PHASE]), action)} is no {due}, and a {due} is due"
        if state[PHASE] == TAKE:
            if board[cell] != 1 - player:
                return f"{names[cell]} holds no stone of {owner(1 - player)} (D5)"
            return f"the stone on {names[cell]} is in a run of exactly three, and protected (D5)"
        if state[PHASE] == DROP:
            if board[cell] != EMPTY:
                return f"{names[cell]} is not empty (D2)"
            limit = "three or more (D8)" if self.rules == NO_DROP_THREES else "four or more (D3)"
            return f"a stone on {names[cell]} would stand in a run of {limit}"
        if board[cell] != player:
            return f"{names[cell]} holds no stone of {owner(player)} (D4)"
        cells = self.action_cells(action)
        if len(cells) == 1:
            return f"the stone on {names[cell]} would leave the board (D4)"
        if board[cells[1]] != EMPTY:
            return f"{names[cells[1]]} is not empty (D4)"
        return f"the stone on {names[cells[1]]} would stand in a run of four or more (D3)"
