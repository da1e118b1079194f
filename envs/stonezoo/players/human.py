"""A person at a terminal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from stonezoo.render import to_ansi
from stonezoo.state import Game, State


class HumanPlayer:
    """Shows the position as text and asks for an action by name, until it gets a legal one."""

    name = "human"

    def __init__(self, game: Game, read: Callable[[str], str] = input, write: Callable[[str], None] = print) -> None:
        """`read` shows a prompt and returns a line; `write` shows a text."""
        self._game = game
        self._read = read
        self._write = write

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `Player.act`. An end of input (EOFError) is the caller's."""
        return np.array([self._ask(self._game.from_row(row)) for row in states], np.int32)

    def _ask(self, state: State) -> int:
        self._write(to_ansi(state))
        while True:
            text = self._read(f"{state.phase.name.lower()}> ").strip()
            try:
                action = state.str_to_action(text)
                state.step(action)
            except ValueError as error:
                self._write(f"{error}\nlegal: {' '.join(map(state.action_to_str, state.legal_actions))}")
            else:
                return action
