"""Dara: drop twelve stones each, then slide; an exact three captures and a four is forbidden.

Rules D1 to D8. A board is kept as bits in words: the cell (r, c) has the place r * (columns + 1) + c, so that one step
east or west is one place, one step south or north is columns + 1 of them, and every step over an edge of the board
meets a place that is no cell. A place is bit `place % WORD` of word `place // WORD`; 5 x 6 cells fit into one word.
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core import square
from stonezoo.core.bits import HALF, WORD, Window, earlier, later, lowest, popcount, select, toggle, window_at, word_at
from stonezoo.core.board import BoardLayout
from stonezoo.core.game import (
    BLACK,
    BLACK_WON,
    DRAWN,
    EMPTY,
    HEADER,
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
WORDS = HEADER + 3  # words of Black's stones, White's and the empty cells, with a word of zeros between and around
FREE = 2  # after BLACK and WHITE, the part of the state that holds the empty cells

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


# --- Words and windows -----------------------------------------------------------------------------------------


@jit
def pitch(rules: "DaraRules") -> int:
    """Places from a cell to the one south of it."""
    return rules.columns + 1


@jit
def count_words(rules: "DaraRules") -> int:
    """Words of a board: 1 or 2."""
    return 1 if rules.rows * pitch(rules) <= WORD else 2


@jit
def words_of(rules: "DaraRules", part: int) -> int:
    """Index of the words of a part of the state: Black's stones, White's, or FREE, the empty cells.

    The mask changes nothing: it tells the compiler that no index is negative.
    """
    return WORDS + 2 + (part & 3) * 2 * (count_words(rules) + 1)


@jit
def word_of(rules: "DaraRules", state: StateRow, part: int, word: int) -> int:
    """A word of a part of the state."""
    return word_at(state, words_of(rules, part) + 2 * word)


@jit
def window_of(rules: "DaraRules", state: StateRow, part: int, word: int) -> Window:
    """A word of a part of the state, between the one before it and the one after it."""
    return window_at(state, words_of(rules, part) + 2 * word)


@jit
def _toggle(rules: "DaraRules", state: StateRow, player: int, place: int) -> None:
    """Puts a stone of the player's on an empty cell, or takes it away."""
    toggle(state, words_of(rules, player), place)
    toggle(state, words_of(rules, FREE), place)


# --- Runs (D3, D5, D8) -----------------------------------------------------------------------------------------


@jit
def _in_run(mine: Window, step: int, others: int) -> int:
    """Places where a stone would stand in a run along `step` with `others` (2 or 3) or more others of `mine`."""
    before, after = earlier(mine, step), later(mine, step)
    before2, after2 = before & earlier(mine, 2 * step), after & later(mine, 2 * step)
    if others == 2:
        return before2 | before & after | after2
    return before2 & (after | earlier(mine, 3 * step)) | after2 & (before | later(mine, 3 * step))


@jit
def _in_three(mine: Window, step: int) -> int:
    """Stones of `mine` that are in a run of exactly three along `step`."""
    before, before2 = earlier(mine, step), earlier(mine, 2 * step)
    after, after2 = later(mine, step), later(mine, 2 * step)
    first = after & after2 & ~(before | later(mine, 3 * step))
    middle = before & after & ~(before2 | after2)
    last = before & before2 & ~(after | earlier(mine, 3 * step))
    return mine[1] & (first | middle | last)


@jit
def threes(rules: "DaraRules", state: StateRow, player: int, word: int) -> int:
    """The player's stones that are in a run of exactly three, in either direction (D5)."""
    mine = window_of(rules, state, player, word)
    return _in_three(mine, 1) | _in_three(mine, pitch(rules))


# --- Legal actions, as the places of one word ------------------------------------------------------------------


@jit
def drops(rules: "DaraRules", state: StateRow, player: int, word: int) -> int:
    """Cells on which the player may drop a stone (D2, D3, D8)."""
    mine = window_of(rules, state, player, word)
    others = 2 if rules.rules == NO_DROP_THREES else 3
    run = _in_run(mine, 1, others) | _in_run(mine, pitch(rules), others)
    return word_of(rules, state, FREE, word) & ~run


@jit
def slides(rules: "DaraRules", state: StateRow, player: int, word: int) -> tuple[int, int, int, int]:
    """Cells to which the player may slide a stone north, east, south and west (D3, D4).

    The cell that the stone leaves counts as empty, and it lies just behind the target: along the line of the slide only
    the stones ahead count, across it both sides do.
    """
    mine, south = window_of(rules, state, player, word), pitch(rules)
    free = word_of(rules, state, FREE, word)
    upright, level = free & ~_in_run(mine, south, 3), free & ~_in_run(mine, 1, 3)
    four_north = earlier(mine, south) & earlier(mine, 2 * south) & earlier(mine, 3 * south)
    four_east = later(mine, 1) & later(mine, 2) & later(mine, 3)
    four_south = later(mine, south) & later(mine, 2 * south) & later(mine, 3 * south)
    four_west = earlier(mine, 1) & earlier(mine, 2) & earlier(mine, 3)
    return (
        level & later(mine, south) & ~four_north,
        upright & earlier(mine, 1) & ~four_east,
        level & earlier(mine, south) & ~four_south,
        upright & later(mine, 1) & ~four_west,
    )


@jit
def takes(rules: "DaraRules", state: StateRow, player: int, word: int) -> int:
    """Stones that the player may take: the enemy's that are in no three (D5)."""
    return word_of(rules, state, 1 - player, word) & ~threes(rules, state, 1 - player, word)


@jit
def on_cell(rules: "DaraRules", state: StateRow, word: int) -> int:
    """Cells where the action that names only a cell is legal: a drop or a capture."""
    player = int(state[TO_PLAY])
    return drops(rules, state, player, word) if state[PHASE] == DROP else takes(rules, state, player, word)


@jit
def _step_to(rules: "DaraRules", plane: int) -> int:
    """Places from a cell to where a slide of `plane` arrives."""
    return ROW_STEP[plane] * pitch(rules) + COLUMN_STEP[plane]


@jit
def place_of(rules: "DaraRules", cell: int) -> int:
    """The place of a cell."""
    return cell + cell // rules.columns


@jit
def action_at(rules: "DaraRules", plane: int, place: int) -> int:
    """The number of the action of `plane` whose stone arrives, is dropped or is taken on `place`."""
    source = place - _step_to(rules, plane)
    return plane * rules.rows * rules.columns + source - source // pitch(rules)


@jit
def row_of(rules: "DaraRules", first: int, second: int, row: int) -> int:
    """The places of one row of the board, out of a board's two words."""
    place = row * pitch(rules)
    return first >> place | second << WORD - place if place < WORD else second >> place - WORD


# --- Turns -----------------------------------------------------------------------------------------------------


@jit
def can_drop(rules: "DaraRules", state: StateRow, player: int) -> bool:
    """Whether the player has a legal drop."""
    found = 0
    for word in range(count_words(rules)):
        found |= drops(rules, state, player, word)
    return found != 0


@jit
def can_slide(rules: "DaraRules", state: StateRow, player: int) -> bool:
    """Whether the player has a legal slide."""
    found = 0
    for word in range(count_words(rules)):
        north, east, south, west = slides(rules, state, player, word)
        found |= north | east | south | west
    return found != 0


@jit
def can_take(rules: "DaraRules", state: StateRow, player: int) -> bool:
    """Whether the player has an enemy stone to take."""
    found = 0
    for word in range(count_words(rules)):
        found |= takes(rules, state, player, word)
    return found != 0


@jit
def stones_left(rules: "DaraRules", state: StateRow, player: int) -> int:
    """Stones of the player on the board and in hand."""
    count = int(state[HAND + player])
    for word in range(count_words(rules)):
        count += popcount(word_of(rules, state, player, word))
    return count


@jit
def _end_turn(rules: "DaraRules", state: StateRow) -> None:
    """Passes the turn, and sees whether the player who must act now has lost (D6) or play has gone quiet (D7)."""
    player = 1 - int(state[TO_PLAY])
    last = int(state[PHASE])
    state[TO_PLAY] = player
    if state[HAND + player] > 0:
        state[PHASE] = DROP
        able = can_drop(rules, state, player)
    else:
        state[PHASE] = SLIDE
        able = can_slide(rules, state, player)
    if not able or (last == TAKE and stones_left(rules, state, player) <= LOST):
        state[OUTCOME] = BLACK_WON + 1 - player
    elif state[QUIET] >= rules.quiet_limit:
        state[OUTCOME] = DRAWN
    if state[OUTCOME] != ONGOING:
        state[PHASE] = last


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
        for i in range(state.shape[0]):
            state[i] = 0
        state[HAND] = self.stones
        state[HAND + 1] = self.stones
        for cell in range(self.rows * self.columns):
            place = place_of(self, cell)
            state[words_of(self, FREE) + place // HALF] |= 1 << place % HALF

    @jit
    def step(self, state: StateRow, action: int) -> None:
        """Drops (D2), slides (D4) or takes (D5), and sees whether that ends the game (D6, D7)."""
        player, phase = int(state[TO_PLAY]), int(state[PHASE])
        plane, cell = divmod(action, self.rows * self.columns)
        place = place_of(self, cell)
        if phase == DROP:
            _toggle(self, state, player, place)
            state[HAND + player] -= 1
            _end_turn(self, state)
        elif phase == SLIDE:
            _toggle(self, state, player, place)
            place += _step_to(self, plane)
            _toggle(self, state, player, place)
            word, bit = divmod(place, WORD)
            if threes(self, state, player, word) >> bit & 1 and can_take(self, state, player):
                state[PHASE] = TAKE
                state[QUIET] = 0
            else:
                state[QUIET] += 1
                _end_turn(self, state)
        else:
            _toggle(self, state, 1 - player, place)
            _end_turn(self, state)

    # --- Legal actions ---------------------------------------------------------------------------------------------

    @jit
    def is_legal(self, state: StateRow, action: int) -> bool:
        """Whether the action is legal now."""
        plane, cell = divmod(action, self.rows * self.columns)
        if state[OUTCOME] != ONGOING or plane < 0 or plane >= NUM_DIRECTIONS:
            return False
        if (plane > 0) != (state[PHASE] == SLIDE):
            return False
        word, bit = divmod(place_of(self, cell) + _step_to(self, plane), WORD)
        if plane == 0:
            return on_cell(self, state, word) >> bit & 1 != 0
        return slides(self, state, int(state[TO_PLAY]), word)[plane - NORTH] >> bit & 1 != 0

    @jit
    def legal_actions(self, state: StateRow, out: NDArray[np.int32]) -> int:
        """Writes the legal actions, ascending, and returns their number; 0 when the game is over."""
        count = 0
        if state[OUTCOME] != ONGOING:
            return count
        sliding = state[PHASE] == SLIDE
        for plane in range(1 if sliding else 0, NUM_DIRECTIONS if sliding else 1):
            for word in range(count_words(self)):
                if sliding:
                    found = slides(self, state, int(state[TO_PLAY]), word)[plane - NORTH]
                else:
                    found = on_cell(self, state, word)
                while found:
                    out[count] = action_at(self, plane, word * WORD + lowest(found))
                    count += 1
                    found &= found - 1
        return count

    @jit
    def random_action(self, state: StateRow, stream: Stream) -> int:
        """Returns a legal action, each with the same probability; the game is not over.

        Keeps the actions of one word: those of a new word replace them with the share that is theirs of all so far.
        """
        player, sliding = int(state[TO_PLAY]), state[PHASE] == SLIDE
        count, kept = 0, 0
        north, east, south, west = 0, 0, 0, 0
        for word in range(count_words(self)):
            if sliding:
                a, b, c, d = slides(self, state, player, word)
            else:
                a, b, c, d = on_cell(self, state, word), 0, 0, 0
            here = popcount(a) + popcount(b) + popcount(c) + popcount(d)
            count += here
            if randint(stream, count) < here:
                kept, north, east, south, west = word, a, b, c, d
        to_east = popcount(north)
        to_south = to_east + popcount(east)
        to_west = to_south + popcount(south)
        k = randint(stream, to_west + popcount(west))
        plane, found, skipped = 0, north, 0
        if k >= to_east:
            plane, found, skipped = 1, east, to_east
        if k >= to_south:
            plane, found, skipped = 2, south, to_south
        if k >= to_west:
            plane, found, skipped = 3, west, to_west
        return action_at(self, plane + (1 if sliding else 0), kept * WORD + select(found, k - skipped))

    # --- Observation and symmetry ----------------------------------------------------------------------------------

    @jit
    def observe(self, state: StateRow, player: int, out: NDArray[np.float32]) -> None:
        """Writes the planes [rows, columns, 12] as `player` sees them."""
        _, own, own2 = window_of(self, state, player, 0)
        _, enemy, enemy2 = window_of(self, state, 1 - player, 0)
        own_threes, enemy_threes = threes(self, state, player, 0), threes(self, state, 1 - player, 0)
        own_threes2, enemy_threes2 = 0, 0
        if count_words(self) == 2:
            own_threes2, enemy_threes2 = threes(self, state, player, 1), threes(self, state, 1 - player, 1)
        due = int(state[PHASE]) if state[OUTCOME] == ONGOING else -1
        to_act = 1.0 if state[TO_PLAY] == player else 0.0
        drop, slide, take = 1.0 if due == DROP else 0.0, 1.0 if due == SLIDE else 0.0, 1.0 if due == TAKE else 0.0
        own_hand, other_hand = state[HAND + player] / self.stones, state[HAND + 1 - player] / self.stones
        quiet = state[QUIET] / self.quiet_limit
        for row in range(self.rows):
            mine, theirs = row_of(self, own, own2, row), row_of(self, enemy, enemy2, row)
            my_threes = row_of(self, own_threes, own_threes2, row)
            their_threes = row_of(self, enemy_threes, enemy_threes2, row)
            for column in range(self.columns):
                planes = out[row, column]
                planes[OWN] = mine >> column & 1
                planes[OTHER] = theirs >> column & 1
                planes[ON_BOARD] = 1.0
                planes[TO_ACT] = to_act
                planes[PHASE_PLANES + DROP] = drop
                planes[PHASE_PLANES + SLIDE] = slide
                planes[PHASE_PLANES + TAKE] = take
                planes[OWN_HAND] = own_hand
                planes[OTHER_HAND] = other_hand
                planes[QUIET_PLANE] = quiet
                planes[OWN_THREES] = my_threes >> column & 1
                planes[OTHER_THREES] = their_threes >> column & 1

    @jit
    def contents(self, state: StateRow, cells: NDArray[np.int32], rest: NDArray[np.int32]) -> None:
        """Writes the stones, and the stones in hand: own, other."""
        player = int(state[TO_PLAY])
        own, enemy = words_of(self, player), words_of(self, 1 - player)
        for cell in range(self.rows * self.columns):
            half, bit = divmod(place_of(self, cell), HALF)
            mine, theirs = int(state[own + half]) >> bit & 1, int(state[enemy + half]) >> bit & 1
            cells[cell] = NOTHING + OWN_STONE * mine + OTHER_STONE * theirs
        rest[0] = state[HAND + player]
        rest[1] = state[HAND + 1 - player]

    @jit
    def layer(self, state: StateRow) -> int:
        """Stones that were dropped, and stones that were taken: neither comes back."""
        dropped = 2 * self.stones - int(state[HAND]) - int(state[HAND + 1])
        on_board = self.rows * self.columns
        for word in range(count_words(self)):
            on_board -= popcount(word_of(self, state, FREE, word))
        return dropped + (dropped - on_board)

    @jit
    def transform(self, state: StateRow, cells: NDArray[np.int32], swaps: int, out: StateRow) -> None:
        """Writes the image of a state: the stone on cell c moves to cells[c]."""
        for i in range(state.shape[0]):
            out[i] = state[i] if i < WORDS else 0
        for cell in range(self.rows * self.columns):
            place, image = place_of(self, cell), place_of(self, int(cells[cell]))
            for part in range(FREE + 1):
                bit = int(state[words_of(self, part) + place // HALF]) >> place % HALF & 1
                out[words_of(self, part) + image // HALF] |= bit << image % HALF

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
        return WORDS + 2 + 3 * 2 * (count_words(self) + 1)

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

    @property
    def rest_size(self) -> int:
        """Both players' stones in hand."""
        return 2

    @property
    def endless_counter(self) -> tuple[int, int]:
        """Quiet slides (D7)."""
        return QUIET, self.quiet_limit

    @property
    def colours_alike(self) -> bool:
        """Yes: only whose turn it is tells the players apart."""
        return True

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
        for cell in range(self.num_cells):
            half, bit = divmod(place_of(self, cell), HALF)
            for player in (BLACK, WHITE):
                if int(state[words_of(self, player) + half]) >> bit & 1:
                    board[cell] = player
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
        self.reset(state)
        state[TO_PLAY] = to_play
        for cell, player in enumerate(board):
            if player != EMPTY:
                _toggle(self, state, player, place_of(self, cell))
        hand = fields.pair("hand", 0, self.stones)
        state[HAND : HAND + 2] = hand
        if hand[to_play] - hand[1 - to_play] not in (0, 1):
            fields.fail(
                f"{owner(to_play)} is to act, with as many stones in hand as the other player, or one more (D2)",
                "hand",
            )
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
            if not any(threes(self, state, to_play, word) for word in range(count_words(self))):
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
            able = can_drop(self, state, to_play) if state[PHASE] == DROP else can_slide(self, state, to_play)
            if not able:
                state[OUTCOME] = BLACK_WON + 1 - to_play
            elif state[QUIET] == self.quiet_limit:
                state[OUTCOME] = DRAWN
        return bool(state[OUTCOME] != ONGOING)

    def _refuse_fours(self, state: StateRow, player: int, fields: Fields) -> None:
        for word in range(count_words(self)):
            mine = window_of(self, state, player, word)
            if mine[1] & (_in_run(mine, 1, 3) | _in_run(mine, pitch(self), 3)):
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
