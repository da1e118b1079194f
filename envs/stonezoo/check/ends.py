"""Positions at the ends of games with their values, by a minimax that knows rows alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.check.positions import children
from stonezoo.check.subject import Subject
from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, TO_PLAY
from stonezoo.state import Game, State

GAMES = 8  # whose ends are played out in full
REACHABLE = 400  # positions from one end, at most


class End(NamedTuple):
    """An ongoing state, and the value of every ongoing position that can be reached from it, by its row's bytes.

    Values are those of the player to act: 1 won, 0 drawn, -1 lost.
    """

    state: State
    values: dict[bytes, int]

    def rows(self) -> NDArray[np.int32]:
        """The positions as rows [B, S], in the order of `values`."""
        return np.array([np.frombuffer(row, np.int32) for row in self.values])


def find_ends(subject: Subject) -> list[End]:
    """Of each of some games the earliest state from which not too many positions can be reached."""
    ends: list[End] = []
    for last in subject.games[:GAMES]:
        state, known = last.copy(), None
        while state.ply:
            state.undo()
            values: dict[bytes, int] = {}
            if _minimax(subject.game, state.row, values) is None:
                break
            known = End(state.copy(), values)
        if known is not None:
            ends.append(known)
    return ends


def _minimax(game: Game, row: NDArray[np.int32], values: dict[bytes, int]) -> int | None:
    """The value of a position for the player to act; None when more than REACHABLE positions follow."""
    outcome, player = int(row[OUTCOME]), int(row[TO_PLAY])
    if outcome != ONGOING:
        return value_of(outcome, player)
    key = row.tobytes()
    if key in values:
        return values[key]
    if len(values) >= REACHABLE:
        return None
    best = -1
    for after in children(game, row)[0]:
        value = _minimax(game, after, values)
        if value is None:
            return None
        best = max(best, value if after[TO_PLAY] == player else -value)
    values[key] = best
    return best


def value_of(outcome: int, player: int) -> int:
    """What an outcome is worth for a player."""
    return 0 if outcome == DRAWN else 1 if outcome == BLACK_WON + player else -1
