"""Outcomes that a game calls settled before its end, against the ends that random play comes to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stonezoo.check.positions import children
from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject
from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, Rules
from stonezoo.core.jit import jit, kernel
from stonezoo.state import Game, State

NAMES = ("ongoing", "Black won", "White won", "drawn")


@jit
def _settled(rules: Rules, states: NDArray[np.int32], found: NDArray[np.int32]) -> None:
    for lane in range(states.shape[0]):
        found[lane] = rules.settled_outcome(states[lane])


settled_batch = kernel(_settled)
"""settled_batch(rules, ongoing states int32 [B, S], found int32 [B])"""


def find(subject: Subject) -> Iterator[Fault]:
    """Outcomes said to be settled that are none, that are not those of the end, or that an action changes."""
    for last in subject.games:
        state, outcome = last.copy(), int(last.row[OUTCOME])
        while state.ply:
            state.undo()
            if (fault := _fault(subject.game, state, outcome)) is not None:
                yield fault
                break


def _fault(game: Game, state: State, outcome: int) -> Fault | None:
    """What is wrong with what is said of a state of a game that ended with `outcome`."""
    before = state.row
    row = before[np.newaxis].copy()
    says = int(_ask(game, row)[0])
    if not np.array_equal(row[0], before):
        return fault_at(state, "settled_outcome changes the state")
    if says == ONGOING:
        return None
    if not BLACK_WON <= says <= DRAWN:
        return fault_at(state, f"settled_outcome returns {says}: it must be {ONGOING} to {DRAWN}")
    rows, _ = children(game, before)
    after = rows[:, OUTCOME].copy()
    after[after == ONGOING] = _ask(game, np.ascontiguousarray(rows[after == ONGOING]))
    others = [int(other) for other in (*after, outcome) if other not in (ONGOING, says)]
    if others:
        return fault_at(
            state,
            f"settled_outcome says '{NAMES[says]}' here, and play goes on to '{NAMES[others[0]]}': an outcome is "
            "settled when no action can change it",
        )
    return None


def _ask(game: Game, rows: NDArray[np.int32]) -> NDArray[np.int32]:
    found = np.zeros(len(rows), np.int32)
    settled_batch(game.rules, rows, found)
    return found
