"""Twofold: place two stones a turn, get several in a row.

T1. The board has size × size squares and is empty at first. Black begins.
T2. A turn places two stones, one after the other, on empty squares; Black's first turn places one.
T3. Whoever first has `line` stones in a row, across, down or along a diagonal, wins at once, in mid-turn too. Longer
    rows count.
T4. A full board without such a row is a draw.
"""

from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core import square
from stonezoo.core.board import BoardLayout
from stonezoo.core.game import (
    BLACK_WON,
    DRAWN,
    EMPTY,
    HEADER,
    ONGOING,
    OUTCOME,
    PHASE,
    TO_PLAY,
    Parameter,
    StateRow,
    Symmetry,
    game_rules,
    read_parameters,
)
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, randint
from stonezoo.core.text import Fields, owner

CELLS = HEADER  # a state row holds the usual header, then each square: 0 empty, 1 Black, 2 White
ROW_STEP, COLUMN_STEP = (0, 1, 1, 1), (1, 0, 1, -1)  # across, down, and the two diagonals


class Phase(IntEnum):
    """Which stone of the turn is due."""

    FIRST = 0
    SECOND = 1  # the last of the turn


FIRST, SECOND = int(Phase.FIRST), int(Phase.SECOND)

OWN, OTHER, ON_BOARD, TO_ACT, SECOND_PLANE = range(5)
NUM_PLANES = 5


@jit
def stones_beside(rules: "TwofoldRules", state: StateRow, cell: int, direction: int, sign: int) -> int:
    """Stones of the colour on `cell` that follow it without a gap, one way."""
    row, column, count = cell // rules.size, cell % rules.size, 0
    while True:
        row += sign * ROW_STEP[direction]
        column += sign * COLUMN_STEP[direction]
        if row < 0 or row >= rules.size or column < 0 or column >= rules.size:
            return count
        if state[CELLS + row * rules.size + column] != state[CELLS + cell]:
            return count
        count += 1


@jit
def makes_line(rules: "TwofoldRules", state: StateRow, cell: int) -> bool:
    """Whether the stone on `cell` stands in a row that wins (T3)."""
    for direction in range(4):
        beside = stones_beside(rules, state, cell, direction, 1) + stones_beside(rules, state, cell, direction, -1)
        if 1 + beside >= rules.line:
            return True
    return False


@jit
def count_empty(rules: "TwofoldRules", state: StateRow) -> int:
    """Empty squares."""
    count = 0
    for cell in range(rules.size * rules.size):
        if state[CELLS + cell] == 0:
            count += 1
    return count


class _Fields(NamedTuple):
    size: int
    line: int


@game_rules
class TwofoldRules(_Fields):
    """The rules with their parameters."""

    __slots__ = ()

    name: ClassVar[str] = "twofold"
    version: ClassVar[Mapping[str, int]] = MappingProxyType({"standard": 1})
    phases: ClassVar[type[IntEnum]] = Phase
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("size", 5, 3, 9, summary="squares on a side"),
        Parameter("line", 4, 3, 9, summary="stones in a row that win"),
    )
    planes: ClassVar[tuple[str, ...]] = (
        "own stones",
        "other stones",
        "on board",
        "1 if it is the observer's turn to act",
        "1 if the second stone of the turn is due",
    )
    on_board_plane: ClassVar[int] = ON_BOARD
    keys: ClassVar[tuple[str, ...]] = ("phase",)

    # --- The rules, compiled ---------------------------------------------------------------------------------------

    @jit
    def reset(self, state: StateRow) -> None:
        """Writes the initial state (T1, T2)."""
        for i in range(state.shape[0]):
            state[i] = 0
        state[PHASE] = SECOND

    @jit
    def step(self, state: StateRow, action: int) -> None:
        """Places a stone; the player changes after the second one (T2)."""
        player, last = int(state[TO_PLAY]), state[PHASE] == SECOND
        state[CELLS + action] = 1 + player
        if last:
            state[TO_PLAY] = 1 - player
        if makes_line(self, state, action):
            state[OUTCOME] = BLACK_WON + player
        elif count_empty(self, state) == 0:
            state[OUTCOME] = DRAWN
        else:  # when the game is over, the phase stays that of the last action
            state[PHASE] = FIRST if last else SECOND

    @jit
    def is_legal(self, state: StateRow, action: int) -> bool:
        """Whether an action, any integer, is legal."""
        return state[OUTCOME] == ONGOING and 0 <= action < self.size * self.size and state[CELLS + action] == 0

    @jit
    def legal_actions(self, state: StateRow, out: NDArray[np.int32]) -> int:
        """Writes the legal actions, ascending, and returns their number."""
        count = 0
        if state[OUTCOME] == ONGOING:
            for cell in range(self.size * self.size):
                if state[CELLS + cell] == 0:
                    out[count] = cell
                    count += 1
        return count

    @jit
    def random_action(self, state: StateRow, stream: Stream) -> int:
        """A legal action, each with the same probability."""
        left = randint(stream, count_empty(self, state))
        for cell in range(self.size * self.size):
            if state[CELLS + cell] == 0:
                if left == 0:
                    return cell
                left -= 1
        return -1

    @jit
    def observe(self, state: StateRow, player: int, out: NDArray[np.float32]) -> None:
        """Writes the planes [size, size, 5] as `player` sees them."""
        to_act = 1.0 if state[TO_PLAY] == player else 0.0
        second = 1.0 if state[PHASE] == SECOND and state[OUTCOME] == ONGOING else 0.0
        for row in range(self.size):
            for column in range(self.size):
                stone = state[CELLS + row * self.size + column]
                out[row, column, OWN] = 1.0 if stone == 1 + player else 0.0
                out[row, column, OTHER] = 1.0 if stone == 2 - player else 0.0
                out[row, column, ON_BOARD] = 1.0
                out[row, column, TO_ACT] = to_act
                out[row, column, SECOND_PLANE] = second

    @jit
    def transform(self, state: StateRow, cells: NDArray[np.int32], swaps: int, out: StateRow) -> None:
        """Writes the image of a state: the stone on square c moves to cells[c]."""
        for i in range(HEADER):
            out[i] = state[i]
        for cell in range(self.size * self.size):
            out[CELLS + cells[cell]] = state[CELLS + cell]

    # --- What Python asks ------------------------------------------------------------------------------------------

    @classmethod
    def create(cls, **parameters: Any) -> "TwofoldRules":
        """Returns the rules with these parameters; ValueError lists what is accepted."""
        values = read_parameters(cls.name, cls.parameters, parameters)
        size, line = int(values["size"]), int(values["line"])
        if line > size:
            raise ValueError(f"line={line} does not fit on a board of size={size}: choose a line of at most {size}")
        return cls(size, line)

    @property
    def profile(self) -> str:
        """The rule profile's name."""
        return "standard"

    @property
    def num_cells(self) -> int:
        """The number of squares."""
        return self.size * self.size

    @property
    def num_actions(self) -> int:
        """One for each square."""
        return self.num_cells

    @property
    def state_size(self) -> int:
        """Entries of a state row."""
        return CELLS + self.num_cells

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        """(size, size, planes)."""
        return self.size, self.size, NUM_PLANES

    @property
    def policy_shape(self) -> tuple[int, int, int]:
        """(1, size, size)."""
        return 1, self.size, self.size

    @property
    def policy_index(self) -> NDArray[np.int64]:
        """Flat place [A] of each action in the policy planes."""
        return np.arange(self.num_actions, dtype=np.int64)

    @property
    def max_steps(self) -> int:
        """Every action fills a square."""
        return self.num_cells

    def layout(self) -> BoardLayout:
        """The squares."""
        return square.layout(self.size, self.size, points=False)

    def symmetries(self) -> tuple[Symmetry, ...]:
        """The eight of a square; an action is a square, so both tables are the same."""
        found = []
        for name, _, move in square.rectangle_symmetries(self.size, self.size):
            cells = square.cell_table(self.size, self.size, move)
            found.append(Symmetry(name, cells, cells.copy()))
        return tuple(found)

    def board(self, state: StateRow) -> NDArray[np.int8]:
        """The stones [size * size]: -1 empty, 0 Black, 1 White."""
        return (state[CELLS:] - 1).astype(np.int8)

    def marks(self, state: StateRow) -> dict[str, tuple[int, ...]]:
        """Nothing to mark."""
        return {}

    def counters(self, state: StateRow) -> dict[str, int]:
        """Nothing that the board does not show."""
        return {}

    def text_rows(self) -> tuple[int, ...]:
        """Squares in each row of a position text."""
        return (self.size,) * self.size

    def text_fields(self, state: StateRow) -> list[tuple[str, str]]:
        """`phase=second` where it holds; of a finished game, the phase of the last action."""
        return [("phase", "second")] if state[PHASE] == SECOND else []

    def from_position(self, board: list[int], to_play: int, fields: Fields) -> StateRow:
        """Returns the state row [S] of a position; PositionError where it contradicts itself."""
        state = np.zeros(self.state_size, np.int32)
        state[TO_PLAY] = to_play
        state[CELLS:] = np.array(board) + 1
        state[PHASE] = SECOND if fields.word("phase", ["first", "second"]) == "second" else FIRST
        stones = [cell for cell in range(self.num_cells) if board[cell] != EMPTY]
        winners = {board[cell] for cell in stones if makes_line(self, state, cell)}
        if len(winners) == 2:
            fields.fail(f"both players have {self.line} in a row (T3)")
        for winner in winners:
            state[OUTCOME] = BLACK_WON + winner
        if not winners and EMPTY not in board:
            state[OUTCOME] = DRAWN
        return state

    def action_cells(self, action: int) -> tuple[int, ...]:
        """The square."""
        return (action,)

    def action_name(self, phase: int, action: int) -> str:
        """The square's name."""
        return square.cell_names(self.size, self.size)[action]

    def why_illegal(self, state: StateRow, action: int) -> str:
        """Why the action is illegal."""
        name, player = self.action_name(0, action), int(self.board(state)[action])
        return f"{name} holds a stone of {owner(player)} (T2)"
