"""What one scalar state needs of compiled code: a single call a step, with one array and integers.

Handing a named tuple from Python to compiled code costs more than a step does, so these kernels are made for one class
of rules and take its integers one by one. All that a scalar state is stands in one int32 array, its tape: a header, the
legal actions, then for every ply since the start one state row, followed by the action that led to it.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import OUTCOME, PHASE, TO_PLAY, Rules, copy_row
from stonezoo.core.jit import bound_kernel, jit

# The header: the ply, the plies that there is room for, A, entries a ply, the number of legal actions. They come next.
PLY, CAPACITY, NUM_ACTIONS, LENGTH, COUNT, LEGAL = range(6)

ILLEGAL, NO_ROOM = -1, -2  # returned by `advance`: the action is not legal; the tape is full

# What `advance` and `describe` return: legal actions, then player, outcome and phase, packed in one integer.
COUNT_BITS, TO_PLAY_SHIFT, OUTCOME_SHIFT, PHASE_SHIFT = 0xFFFF, 16, 18, 24


class ScalarKernels(NamedTuple):
    """The kernels of one class of rules; all work at the ply of the tape.

    advance(tape, action, parameters): plays an action on the next row, if it is among the legal ones, and returns the
        packed status there; ILLEGAL or NO_ROOM, with nothing changed, if not.
    describe(tape, fresh, parameters): writes the initial state first if `fresh`; finds the legal actions and returns
        the packed status.
    look(tape, player, out float32 [H, W, C], mask int8 [A or 0], parameters): writes what `player` sees and, into a
        mask that has room, 1 for what `player` may do now, else 0.
    """

    advance: Callable[..., int]
    describe: Callable[..., int]
    look: Callable[..., None]


def new_tape(rules: Rules, capacity: int) -> NDArray[np.int32]:
    """Returns a tape with room for `capacity` plies, at the first, whose row is still to be written."""
    length = rules.state_size + 1
    tape = np.zeros(LEGAL + rules.num_actions + capacity * length, np.int32)
    tape[CAPACITY], tape[NUM_ACTIONS], tape[LENGTH] = capacity, rules.num_actions, length
    return tape


def plies_of(tape: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns the part [capacity, S + 1] that holds state rows, each with the action that led to it; no copy."""
    return tape[LEGAL + int(tape[NUM_ACTIONS]) :].reshape(int(tape[CAPACITY]), int(tape[LENGTH]))


@jit
def _start(tape: NDArray[np.int32], ply: int) -> int:
    """Where the row of a ply begins; compiled code may not return a part of an array."""
    return LEGAL + int(tape[NUM_ACTIONS]) + ply * int(tape[LENGTH])


@jit
def _end(tape: NDArray[np.int32], ply: int) -> int:
    """Where the row of a ply ends, and where the action that led to it stands."""
    return _start(tape, ply + 1) - 1


@jit
def _describe(rules: Rules, tape: NDArray[np.int32], state: NDArray[np.int32]) -> int:
    """Finds the legal actions at the state of the tape's ply, and packs its status."""
    count = rules.legal_actions(state, tape[LEGAL : LEGAL + int(tape[NUM_ACTIONS])])
    tape[COUNT] = count
    return int(count | state[TO_PLAY] << TO_PLAY_SHIFT | state[OUTCOME] << OUTCOME_SHIFT | state[PHASE] << PHASE_SHIFT)


@functools.cache
def scalar_kernels(rules_class: Any) -> ScalarKernels:
    """Returns the scalar kernels of a class of rules."""

    def advance(tape, action, parameters):  # type: ignore[no-untyped-def]
        ply, action = int(tape[PLY]), int(action)
        legal = False
        for i in range(LEGAL, LEGAL + int(tape[COUNT])):
            legal |= tape[i] == action
        if not legal:
            return ILLEGAL
        if ply + 1 == tape[CAPACITY]:
            return NO_ROOM
        rules = rules_class(*parameters)
        state = tape[_start(tape, ply + 1) : _end(tape, ply + 1)]
        copy_row(tape[_start(tape, ply) : _end(tape, ply)], state)
        rules.step(state, action)
        tape[_end(tape, ply + 1)] = action
        tape[PLY] = ply + 1
        return _describe(rules, tape, state)

    def describe(tape, fresh, parameters):  # type: ignore[no-untyped-def]
        rules, ply = rules_class(*parameters), int(tape[PLY])
        state = tape[_start(tape, ply) : _end(tape, ply)]
        if fresh:
            rules.reset(state)
        return _describe(rules, tape, state)

    def look(tape, player, out, mask, parameters):  # type: ignore[no-untyped-def]
        ply = int(tape[PLY])
        state = tape[_start(tape, ply) : _end(tape, ply)]
        rules_class(*parameters).observe(state, player, out)
        for i in range(mask.shape[0]):
            mask[i] = 0
        if state[TO_PLAY] == player and mask.shape[0] > 0:
            for i in range(LEGAL, LEGAL + int(tape[COUNT])):
                mask[int(tape[i])] = 1

    return ScalarKernels(*(bound_kernel(function, rules_class) for function in (advance, describe, look)))
