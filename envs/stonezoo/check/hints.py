"""What a game tells a search of positions and actions: `settled_outcome`, `useful_actions` and `promise`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.check.ends import End, value_of
from stonezoo.check.positions import children
from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject
from stonezoo.core.game import DEFAULTS, DRAWN, ONGOING, OUTCOME, TO_PLAY, Rules
from stonezoo.core.jit import jit, kernel
from stonezoo.state import Game, State

HINTS = ("settled_outcome", "useful_actions", "promise")
MOST_PROMISE = 1 << 16
WORDS = {1: "won", 0: "drawn", -1: "lost"}


@jit
def _hints(
    rules: Rules,
    states: NDArray[np.int32],
    settled: NDArray[np.int32],
    promises: NDArray[np.int64],
    counts: NDArray[np.int32],
    actions: NDArray[np.int32],
) -> None:
    for lane in range(states.shape[0]):
        settled[lane] = rules.settled_outcome(states[lane])
        promises[lane] = rules.promise(states[lane])
        counts[lane] = rules.useful_actions(states[lane], actions[lane])


hints_batch = kernel(_hints)
"""hints_batch(rules, ongoing states int32 [B, S], settled int32 [B], promises int64 [B], counts int32 [B],
actions int32 [B, A])"""


def gives_hints(rules: Any) -> bool:
    """Whether a game tells a search anything."""
    return any(getattr(type(rules), name) is not DEFAULTS[name] for name in HINTS)


def find(subject: Subject, ends: list[End]) -> Iterator[Fault]:
    """Hints that are not true of positions whose values are known, or that change the state."""
    if not gives_hints(subject.game.rules):
        return
    for end in ends:
        faults = list(_end_faults(subject.game, end))
        yield from faults[:1]  # the others follow from the same


def _end_faults(game: Game, end: End) -> Iterator[Fault]:
    rows = end.rows()
    asked = rows.copy()
    settled, counts = np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int32)
    promises, actions = np.zeros(len(rows), np.int64), np.zeros((len(rows), game.num_actions), np.int32)
    hints_batch(game.rules, asked, settled, promises, counts, actions)
    for lane, row in enumerate(rows):
        state = game.from_row(row)
        if not np.array_equal(asked[lane], row):
            yield fault_at(state, f"one of {', '.join(HINTS)} changes the state")
        elif abs(int(promises[lane])) > MOST_PROMISE:
            yield fault_at(
                state, f"promise returns {promises[lane]}: it must be from {-MOST_PROMISE} to {MOST_PROMISE}"
            )
        else:
            yield from _settled_faults(state, int(settled[lane]), end.values[row.tobytes()])
            yield from _useful_faults(game, state, actions[lane, : counts[lane]].tolist(), end.values)


def _settled_faults(state: State, says: int, value: int) -> Iterator[Fault]:
    if not ONGOING <= says <= DRAWN:
        yield fault_at(state, f"settled_outcome returns {says}: it must be {ONGOING} to {DRAWN}")
    elif says != ONGOING and value_of(says, state.to_play) != value:
        told = WORDS[value_of(says, state.to_play)]
        yield fault_at(
            state,
            f"settled_outcome says that this is {told} for the player to act; with best play it is {WORDS[value]}",
        )


def _useful_faults(game: Game, state: State, useful: list[int], values: dict[bytes, int]) -> Iterator[Fault]:
    rows, legal = children(game, state.row)
    if len(set(useful)) < len(useful) or not set(useful) <= set(legal.tolist()):
        yield fault_at(state, f"useful_actions writes {useful}: they must be legal actions, each once")
        return
    for after, action in zip(rows, legal.tolist(), strict=True):
        if action in useful:
            continue
        outcome, player = int(after[OUTCOME]), state.to_play
        value = value_of(outcome, player) if outcome != ONGOING else values[after.tobytes()]
        if outcome == ONGOING and after[TO_PLAY] != player:
            value = -value
        if value != -1:
            yield fault_at(state, f"useful_actions leaves out {action}, which does not lose: it is {WORDS[value]}")
