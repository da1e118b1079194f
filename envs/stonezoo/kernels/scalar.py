"""What one scalar state needs of compiled code: a single call a step, with arrays and integers only.

Handing a named tuple from Python to compiled code costs more than a step does, so these kernels are made for one class
of rules and take its integers one by one.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from stonezoo.core.game import ONGOING, OUTCOME, PHASE, TO_PLAY
from stonezoo.core.jit import bound_kernel, jit

ILLEGAL = -1  # returned by `advance` for an action that is not legal

# What `advance` and `describe` return: legal actions, then player, outcome and phase, packed in one integer.
COUNT_BITS, TO_PLAY_SHIFT, OUTCOME_SHIFT, PHASE_SHIFT = 0xFFFF, 16, 18, 24


class ScalarKernels(NamedTuple):
    """The kernels of one class of rules.

    advance(rows int32 [P, S], k, action, legal int32 [A], *parameters): copies row k to row k + 1, plays `action` there
        if it is legal, fills `legal`, and returns the packed status; ILLEGAL, with nothing changed that counts, if not.
    describe(rows, k, legal, *parameters): fills `legal` for row k and returns the packed status.
    observe(rows, k, player, out float32 [H, W, C], *parameters): writes what `player` sees in row k.
    look(rows, k, player, legal, count, out, mask int8 [A], *parameters): `observe`, and in `mask` 1 for the first
        `count` actions of `legal`, else 0.
    start(rows, k, *parameters): writes the initial state to row k.
    """

    advance: Callable[..., int]
    describe: Callable[..., int]
    observe: Callable[..., None]
    look: Callable[..., None]
    start: Callable[..., None]


@jit
def _pack(state: Any, count: int) -> int:
    return int(count | state[TO_PLAY] << TO_PLAY_SHIFT | state[OUTCOME] << OUTCOME_SHIFT | state[PHASE] << PHASE_SHIFT)


@functools.cache
def scalar_kernels(rules_class: Any) -> ScalarKernels:
    """Returns the scalar kernels of a class of rules."""

    def advance(rows, k, action, legal, *parameters):  # type: ignore[no-untyped-def]
        rules = rules_class(*parameters)
        if rows[k, OUTCOME] != ONGOING or not rules.is_legal(rows[k], action):
            return ILLEGAL
        for i in range(rows.shape[1]):
            rows[k + 1, i] = rows[k, i]
        rules.step(rows[k + 1], action)
        return _pack(rows[k + 1], rules.legal_actions(rows[k + 1], legal))

    def describe(rows, k, legal, *parameters):  # type: ignore[no-untyped-def]
        rules = rules_class(*parameters)
        return _pack(rows[k], rules.legal_actions(rows[k], legal))

    def observe(rows, k, player, out, *parameters):  # type: ignore[no-untyped-def]
        rules_class(*parameters).observe(rows[k], player, out)

    def look(rows, k, player, legal, count, out, mask, *parameters):  # type: ignore[no-untyped-def]
        rules_class(*parameters).observe(rows[k], player, out)
        for i in range(mask.shape[0]):
            mask[i] = 0
        for i in range(count):
            mask[legal[i]] = 1

    def start(rows, k, *parameters):  # type: ignore[no-untyped-def]
        rules_class(*parameters).reset(rows[k])

    functions = (advance, describe, observe, look, start)
    return ScalarKernels(*(bound_kernel(function, rules_class) for function in functions))
