"""What players see."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject
from stonezoo.kernels.batch import observe_batch
from stonezoo.state import State


def find(subject: Subject) -> Iterator[Fault]:
    """Observations out of range or incomplete, alike for different states, or sharing memory."""
    game = subject.game
    grid = np.array(game.layout.grid)
    on_board = game.rules.on_board_plane
    seen: tuple[dict[bytes, State], dict[bytes, State]] = ({}, {})
    acting: dict[bytes, State] = {}
    for state in subject.states:
        for player in (0, 1):
            look = state.observation(player)
            if look.dtype != np.float32 or look.shape != game.observation_shape:
                yield fault_at(state, f"an observation is {look.dtype} {list(look.shape)}")
                return
            if not np.isfinite(look).all() or look.min() < 0 or look.max() > 1:
                plane = int(np.argwhere(~((look >= 0) & (look <= 1)))[0][2])
                yield fault_at(state, f"plane {plane} ({game.planes[plane]}) leaves [0, 1] or is not written")
            if not np.array_equal(look[:, :, on_board], (grid >= 0).astype(np.float32)):
                yield fault_at(state, f"plane {on_board} must be 1 on the board and 0 beside it")
            _, mask = state.look(player)
            if mask.any() and (player != state.to_play or not np.array_equal(mask, state.legal_action_mask)):
                yield fault_at(state, f"the mask that player {player} sees is not what is legal")
            if not state.terminated:
                other = seen[player].setdefault(look.tobytes(), state)
                if other != state:
                    yield fault_at(state, f"player {player} sees the same as in another state: {other.to_text()}")
        if not state.terminated:
            other = acting.setdefault(state.observation().tobytes(), state)
            if not np.array_equal(other.legal_actions, state.legal_actions):
                yield fault_at(state, f"looks as another state with other legal actions does: {other.to_text()}")
    for state in subject.some_states:
        looks = [_observe(state, filled) for filled in (np.nan, 7.0)]
        if not np.array_equal(looks[0], looks[1]):
            plane = int(np.argwhere(looks[0] != looks[1])[0][2])
            yield fault_at(state, f"observe leaves parts of plane {plane} ({game.planes[plane]}) unwritten")
        yield from _aliases(state)


def _observe(state: State, filled: float) -> NDArray[np.float32]:
    seen = np.full((1, *state.game.observation_shape), filled, np.float32)
    observe_batch(state.game.rules, state.row[np.newaxis], seen)
    return seen


def _aliases(state: State) -> Iterator[Fault]:
    before = state.row
    mine = state.observation()
    kept = mine.copy()
    for array in (state.legal_actions, state.legal_action_mask, state.board, state.row, state.observation()):
        array[...] = 1
    if not np.array_equal(state.row, before) or not np.array_equal(state.observation(), kept):
        yield fault_at(state, "writing into an array that the state returned changes the state")
    if np.shares_memory(state.observation(), state.observation()):
        yield fault_at(state, "two observations share memory")
    if not state.terminated:
        after = state.copy()
        after.step(int(after.legal_actions[0]))
        after.observation()
        if not np.array_equal(mine, kept):
            yield fault_at(state, "an observation changes when the game goes on")
