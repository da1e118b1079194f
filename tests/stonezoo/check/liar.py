"""Referees of Rive on side 2: one forgets who wins, one plays in place."""

from __future__ import annotations

import stonezoo
from stonezoo.state import State


class Position:
    def __init__(self, state: State) -> None:
        self.state = state
        self.over = state.terminated
        self.winner = -1
        self.to_play = state.to_play

    def legal(self) -> list[int]:
        return self.state.legal_actions.tolist()

    def play(self, action: int) -> Position:
        after = self.state.copy()
        after.step(action)
        return Position(after)


def Liar(board_size: int) -> Position:
    return Position(stonezoo.load_game("rive", board_size=board_size).initial_state())


class InPlace(Position):
    def __init__(self, board_size: int) -> None:
        super().__init__(stonezoo.load_game("rive", board_size=board_size).initial_state())

    def play(self, action: int) -> None:  # type: ignore[override]
        self.state.step(action)
