"""What the drawing code needs to know of a state, and the words and hints that every output shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Protocol

from numpy.typing import NDArray

from stonezoo.core.board import BoardLayout
from stonezoo.core.game import PLAYER_NAMES

STONE_MARK = "stone"
"""The mark of the stone that is resolving, or was just placed in a turn that goes on."""
SWAPPED_MARK = "swapped"
"""The mark of the stones that this resolution has swapped already."""


class DrawableGame(Protocol):
    """The part of a game that drawing uses."""

    @property
    def name(self) -> str: ...

    @property
    def layout(self) -> BoardLayout: ...

    def action_cells(self, action: int) -> tuple[int, ...]: ...


class Drawable(Protocol):
    """The part of a state that drawing uses; `board` is int8 [num_cells], -1 empty, 0 Black, 1 White."""

    @property
    def game(self) -> DrawableGame: ...

    @property
    def board(self) -> NDArray[Any]: ...

    @property
    def to_play(self) -> int: ...

    @property
    def phase(self) -> IntEnum: ...

    @property
    def legal_actions(self) -> NDArray[Any]: ...

    @property
    def terminated(self) -> bool: ...

    @property
    def winner(self) -> int: ...

    @property
    def history(self) -> Sequence[int]: ...

    @property
    def marks(self) -> Mapping[str, tuple[int, ...]]: ...

    @property
    def counters(self) -> Mapping[str, int]: ...

    def action_to_str(self, action: int) -> str: ...


def status(state: Drawable, names: Sequence[str] = PLAYER_NAMES) -> str:
    """The line above a board, such as `"Black to remove 2"` or `"White won"`; counters at zero are left out."""
    if state.terminated:
        return f"{names[state.winner]} won" if state.winner >= 0 else "Draw"
    phase = state.phase.name.lower()
    text = f"{names[state.to_play]} to {phase.replace('_', ' ')}"
    if state.counters.get(phase):
        text += f" {state.counters[phase]}"
    others = [f"{key.replace('_', ' ')} {value}" for key, value in state.counters.items() if value and key != phase]
    return " · ".join([text, *others])


def last_cells(state: Drawable) -> tuple[int, ...]:
    """The cells of the last action, the destination last; empty at the start of the history."""
    history = state.history
    return tuple(state.game.action_cells(history[-1])) if len(history) else ()


def hints(state: Drawable) -> dict[int, int]:
    """The legal actions that a player could not guess: cell to action, in the order of action numbers.

    Legal cells that hold a stone are always hinted (a stone to choose, to swap, to remove). Empty ones are hinted only
    where some other empty cell is not legal. Actions of several cells, such as slides, are never hinted.
    """
    board = state.board.tolist()
    cells = {action: state.game.action_cells(action) for action in state.legal_actions.tolist()}
    legal = {places[0]: action for action, places in cells.items() if len(places) == 1}
    if sum(board[cell] < 0 for cell in legal) == sum(stone < 0 for stone in board):
        return {cell: action for cell, action in legal.items() if board[cell] >= 0}
    return legal
