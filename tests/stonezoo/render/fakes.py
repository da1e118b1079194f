"""States made by hand, one of each kind of board, so that drawing is tested apart from the rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.board import BoardLayout

LETTERS = "abcdefghijklmnopqrstuvwxyz"
Phase = IntEnum("Phase", ["PLACE", "REMOVE", "SWAP", "DROP", "SLIDE", "TAKE"], start=0)


@dataclass(frozen=True)
class FakeGame:
    """Actions below `num_cells` are cells; action num_cells * s + d slides from s - 1 to d."""

    name: str
    layout: BoardLayout

    @property
    def num_cells(self) -> int:
        return len(self.layout.centers)

    def action_cells(self, action: int) -> tuple[int, ...]:
        source, cell = divmod(action, self.num_cells)
        return (source - 1, cell) if source else (cell,)

    def slide(self, source: int, destination: int) -> int:
        return (source + 1) * self.num_cells + destination


@dataclass
class FakeState:
    game: FakeGame
    board: NDArray[np.int8]
    phase: IntEnum = Phase.PLACE
    to_play: int = 0
    legal_actions: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    terminated: bool = False
    winner: int = -1
    history: tuple[int, ...] = ()
    marks: dict[str, tuple[int, ...]] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)

    def action_to_str(self, action: int) -> str:
        return "-".join(self.game.layout.names[cell] for cell in self.game.action_cells(action))

    def with_stone(self, cell: int, player: int) -> FakeState:
        board = self.board.copy()
        board[cell] = player
        return replace(self, board=board)


def hexagons(side: int) -> BoardLayout:
    centers: list[tuple[float, float]] = []
    names: list[str] = []
    labels: list[tuple[str, float, float]] = []
    grid: list[tuple[int, ...]] = []
    for row in range(2 * side - 1):
        length = 2 * side - 1 - abs(side - 1 - row)
        y = (row - side + 1) * sqrt(3) / 2
        letter = LETTERS[2 * side - 2 - row]
        labels.append((letter, -(length + 1) / 2, y))
        skipped = max(0, side - 1 - row)
        numbers = range(len(centers), len(centers) + length)
        grid.append(tuple([-1] * skipped + list(numbers) + [-1] * (2 * side - 1 - length - skipped)))
        for i in range(length):
            centers.append((i - (length - 1) / 2, y))
            names.append(f"{letter}{i + 1}")
    return BoardLayout("hexagons", tuple(centers), tuple(names), tuple(labels), (), (), tuple(grid))


def rectangle(rows: int, columns: int, points: bool) -> BoardLayout:
    bottom, right = rows - 1.0, columns - 1.0
    top_left, top_right, bottom_left, bottom_right = (
        (-0.6, -0.6),
        (right + 0.6, -0.6),
        (-0.6, bottom + 0.6),
        (right + 0.6, bottom + 0.6),
    )
    sides = (
        (0, (top_left, top_right)),
        (0, (bottom_left, bottom_right)),
        (1, (top_left, bottom_left)),
        (1, (top_right, bottom_right)),
    )
    return BoardLayout(
        "points" if points else "squares",
        tuple((float(column), float(row)) for row in range(rows) for column in range(columns)),
        tuple(f"{LETTERS[column]}{rows - row}" for row in range(rows) for column in range(columns)),
        tuple((str(rows - row), -0.9, float(row)) for row in range(rows)),
        tuple((LETTERS[column], float(column), bottom + 0.9) for column in range(columns)),
        sides if points else (),
        tuple(tuple(range(row * columns, (row + 1) * columns)) for row in range(rows)),
    )


def stones(text: str) -> NDArray[np.int8]:
    """Reads `XO. / ...` as in the rules."""
    return np.array([".XO".index(letter) - 1 for letter in text if letter in ".XO"], np.int8)


def hexagon_state() -> FakeState:
    """Side 3 in the middle of a capture: White has placed at d3 and must remove two more stones."""
    game = FakeGame("hexagonal", hexagons(3))
    state = FakeState(game, stones("XO. / .OX. / ..O.. / X..O / ..."), Phase.REMOVE, to_play=1)
    state.legal_actions = np.array([0, 1, 5], np.int32)
    state.history = (0, 9, 4, 2)
    state.marks = {"stone": (4,)}
    state.counters = {"remove": 2}
    return state


def points_state() -> FakeState:
    """5 x 5 in a chain of swaps: Black's stone at c3 has swapped once and may swap to the left or upward."""
    game = FakeGame("crossings", rectangle(5, 5, points=True))
    state = FakeState(game, stones("..... / .XO.. / .OXO. / ..OX. / ....."), Phase.SWAP)
    state.legal_actions = np.array([7, 11], np.int32)
    state.history = (6, 7, 12, 13, 12)
    state.marks = {"stone": (12,), "swapped": (13,)}
    state.counters = {"full": 0}
    return state


def squares_state() -> FakeState:
    """5 x 6 after Black slid c2-c3 and must take a stone."""
    game = FakeGame("squares", rectangle(5, 6, points=False))
    state = FakeState(game, stones("...... / OO.... / XXX... / ....O. / ...O.O"), Phase.TAKE)
    state.legal_actions = np.array([6, 7, 22, 27, 29], np.int32)
    state.history = (6, game.slide(20, 14))
    state.counters = {"quiet": 0, "hand_black": 0}
    return state


def all_states() -> list[FakeState]:
    return [hexagon_state(), points_state(), squares_state()]
