"""Undo, copies and pickles."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject
from stonezoo.state import IllegalActionError, State

COPIERS: dict[str, Callable[[State], State]] = {
    "copy": State.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda state: pickle.loads(pickle.dumps(state)),
}


def _look(state: State) -> tuple[Any, ...]:
    return (
        state.row.tobytes(),
        state.history,
        state.turn,
        state.to_play,
        state.phase,
        state.terminated,
        state.returns,
        state.legal_actions.tobytes(),
        state.observation(0).tobytes(),
        state.observation(1).tobytes(),
    )


def find(subject: Subject) -> Iterator[Fault]:
    """Undo that leads elsewhere, copies that differ or share something, illegal actions that change the state."""
    rng = subject.rng
    for state in subject.some_states:
        before = _look(state)
        for name, duplicate in COPIERS.items():
            other = duplicate(state)
            if _look(other) != before or other != state or hash(other) != hash(state):
                yield fault_at(state, f"{name} makes a different state")
                continue
            if state.terminated:
                continue
            action = int(rng.choice(state.legal_actions))
            other.step(action)
            if _look(state) != before:
                yield fault_at(state, f"action {action} on what {name} made changes the original")
            own = state.copy()
            own.step(action)
            if _look(other) != _look(own):
                yield fault_at(state, f"after {name}, action {action} leads elsewhere")
            other.undo()
            if _look(other) != before:
                yield fault_at(state, f"undo of action {action} leads to another state")
        illegal = np.setdiff1d(np.arange(-1, state.game.num_actions + 1), state.legal_actions)
        for action in rng.choice(illegal, min(5, len(illegal)), replace=False).tolist():
            try:
                state.step(action)
                yield fault_at(state, f"the illegal action {action} is played")
            except IllegalActionError as error:
                if not str(error) or _look(state) != before:
                    yield fault_at(state, f"the illegal action {action} changes the state, or gives no reason")
    for state in subject.games[:20]:
        reached = [_look(state)]
        back = state.copy()
        while back.ply:
            back.undo()
            reached.append(_look(back))
        if back != subject.game.initial_state():
            yield fault_at(state, "undo does not lead back to the initial state")
        for action, expected in zip(state.history, reached[-2::-1], strict=True):
            back.step(action)
            if _look(back) != expected:
                yield fault_at(back, "undo and play again lead to another state")
                break
