"""Legality and steps, looked at through the kernels that everything else uses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject
from stonezoo.core.game import DRAWN, ONGOING, OUTCOME, PHASE, TO_PLAY
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import legal_batch, mask_batch, observe_batch, reset_batch, step_batch
from stonezoo.kernels.choose import random_batch
from stonezoo.state import State

GUARD = -1_234_567_890  # written around a row; it must stay there
DRAWS = 400  # random actions a state
SIGMAS = 8.0  # of a chi-squared statistic: far beyond what a fair choice ever gives


def find_endless(subject: Subject) -> Iterator[Fault]:
    """Games that do not end, or end beyond the claimed bound or without a result."""
    bound = subject.game.max_steps
    for state in subject.games:
        if bound is not None and state.ply > bound:
            yield fault_at(state, f"a game of {state.ply} actions or more, where max_steps says {bound}")
        elif not state.terminated and len(state.legal_actions):
            yield fault_at(state, f"a random game goes on after {state.ply} actions; every game must end")
        if state.terminated and state.winner == -1 and state.row[OUTCOME] != DRAWN:
            yield fault_at(state, f"a finished game has the outcome {state.row[OUTCOME]}")
    for state in subject.states:
        row, count = state.row, len(state.legal_actions)
        if not (row[TO_PLAY] in (0, 1) and ONGOING <= row[OUTCOME] <= DRAWN and row[PHASE] in list(state.game.phases)):
            yield fault_at(state, f"the row starts with {row[:3].tolist()}, no known player, phase and outcome")
        if (count == 0) != state.terminated:
            yield fault_at(state, f"{count} legal actions, and terminated is {state.terminated}")


def find_illegal(subject: Subject) -> Iterator[Fault]:
    """Disagreement between the ways in which a game says what is legal."""
    game = subject.game
    rules, size = game.rules, game.num_actions
    streams = new_streams(subject.seed, DRAWS)
    for state in subject.states:
        row, legal = state.row, state.legal_actions
        if len(legal) and (np.diff(legal).min(initial=1) <= 0 or legal[0] < 0 or legal[-1] >= size):
            yield fault_at(state, f"legal_actions must ascend from 0 to {size - 1}: {legal.tolist()}")
            continue
        asked = np.arange(-2, size + 2, dtype=np.int32)
        rows = np.tile(row, (len(asked), 1))
        answers = np.zeros(len(asked), np.bool_)
        legal_batch(rules, rows, asked, answers)
        if not np.array_equal(asked[answers], legal):
            wrong = sorted({*asked[answers].tolist()} ^ {*legal.tolist()})
            yield fault_at(state, f"is_legal and legal_actions disagree about actions {wrong[:10]}")
        masks = [_mask(subject, row, filled) for filled in (0, 77)]
        if not np.array_equal(masks[0], masks[1]):
            yield fault_at(state, "legal_mask depends on what was in its work space or in the mask before")
        if not np.array_equal(np.flatnonzero(masks[0]), legal) or not set(masks[0].tolist()) <= {0, 1}:
            yield fault_at(state, "legal_mask and legal_actions disagree")
        if not np.array_equal(rows, np.tile(row, (len(asked), 1))):
            yield fault_at(state, "is_legal changes the state")
    for state in subject.some_states:
        if not state.terminated:
            yield from _random_faults(state, streams)


def _mask(subject: Subject, row: NDArray[np.int32], filled: int) -> NDArray[np.int8]:
    game = subject.game
    mask = np.full((1, game.num_actions), filled, np.int8)
    mask_batch(game.rules, row[np.newaxis].copy(), np.full(game.num_actions, filled, np.int32), mask)
    return mask.reshape(-1)


def _random_faults(state: State, streams: NDArray[np.int64]) -> Iterator[Fault]:
    legal = state.legal_actions
    rows = np.tile(state.row, (len(streams), 1))
    drawn = np.empty(len(streams), np.int32)
    random_batch(state.game.rules, rows, streams, drawn)
    if not np.array_equal(rows, np.tile(state.row, (len(streams), 1))):
        yield fault_at(state, "random_action changes the state")
    if not np.isin(drawn, legal).all():
        wrong = sorted(set(drawn.tolist()) - set(legal.tolist()))
        yield fault_at(state, f"random_action draws illegal actions, such as {wrong[:5]}")
    elif 1 < len(legal) <= len(drawn) // 10:
        expected = len(drawn) / len(legal)
        counts = np.array([(drawn == action).sum() for action in legal])
        statistic, freedom = ((counts - expected) ** 2 / expected).sum(), len(legal) - 1
        if (statistic - freedom) / np.sqrt(2 * freedom) > SIGMAS:
            yield fault_at(
                state,
                f"random_action is not uniform: {dict(zip(legal.tolist(), counts.tolist(), strict=True))} "
                f"in {len(drawn)} draws",
            )


def find_step_faults(subject: Subject) -> Iterator[Fault]:
    """Steps that depend on more than row and action, or write beside the row."""
    game = subject.game
    rules, size = game.rules, game.rules.state_size
    fresh, used = np.zeros((1, size), np.int32), np.full((1, size), GUARD, np.int32)
    reset_batch(rules, fresh)
    reset_batch(rules, used)
    if not np.array_equal(fresh, used):
        yield Fault(f"reset leaves entries {np.flatnonzero(fresh[0] != used[0]).tolist()} of the row as they were")
    for state in subject.states:
        for action in state.legal_actions.tolist()[:8]:
            buffer = np.full((3, size), GUARD, np.int32)
            buffer[1] = state.row
            step_batch(rules, buffer[1:2], np.array([action], np.int32))
            if (buffer[[0, 2]] != GUARD).any():
                yield fault_at(state, f"action {action} writes beside its row of {size} entries")
            after = state.copy()
            after.step(action)
            again = state.copy()
            again.step(action)
            if not (np.array_equal(after.row, buffer[1]) and np.array_equal(again.row, after.row)):
                yield fault_at(state, f"action {action} leads to different rows when it is played again")
            if np.array_equal(after.row, state.row):
                yield fault_at(state, f"action {action} changes nothing: a game that does so need not end")
        mask = np.full((3, game.num_actions), 99, np.int8)
        mask_batch(rules, state.row[np.newaxis], np.empty(game.num_actions, np.int32), mask[1:2])
        seen = np.full((3, *game.observation_shape), -77.0, np.float32)
        observe_batch(rules, state.row[np.newaxis], seen[1:2])
        if (mask[[0, 2]] != 99).any() or (seen[[0, 2]] != -77.0).any():
            yield fault_at(state, "legal_mask or observe writes beside its array")


def find_batch_faults(subject: Subject) -> Iterator[Fault]:
    """Lanes that depend on each other, or differ from single states."""
    game, rng = subject.game, subject.rng
    states = subject.states
    rows = np.ascontiguousarray(np.stack([state.row for state in states]))
    chosen = [int(rng.choice(state.legal_actions)) if not state.terminated else -1 for state in states]
    actions = np.array(chosen, np.int32)
    after = rows.copy()
    step_batch(game.rules, after, actions)
    order = rng.permutation(len(states))
    shuffled = np.ascontiguousarray(rows[order])
    step_batch(game.rules, shuffled, actions[order])
    masks = np.zeros((len(rows), game.num_actions), np.int8)
    mask_batch(game.rules, after, np.empty(game.num_actions, np.int32), masks)
    seen = np.full((len(rows), *game.observation_shape), np.nan, np.float32)
    observe_batch(game.rules, after, seen)
    for lane, (state, action) in enumerate(zip(states, chosen, strict=True)):
        single = state.copy()
        if action >= 0:
            single.step(action)
        if not np.array_equal(after[lane], single.row):
            yield fault_at(state, f"action {action} leads a lane of a batch elsewhere than a single state")
        elif not np.array_equal(masks[lane], single.legal_action_mask):
            yield fault_at(single, "the mask of a lane of a batch is not that of the single state")
        elif not np.array_equal(seen[lane], single.observation()):
            yield fault_at(single, "the observation of a lane of a batch is not that of the single state")
    if not np.array_equal(after[order], shuffled):
        lane = int(np.flatnonzero((after[order] != shuffled).any(1))[0])
        yield fault_at(states[int(order[lane])], "a lane depends on the others in its batch")
