"""Values of positions out of a table that is stored by key: kernels over batches of states."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, TO_PLAY, Rules, copy_row
from stonezoo.core.jit import jit, kernel
from stonezoo.solve.code import Code
from stonezoo.solve.keys import NO_ENTRY, Keys, find_key

WIN, DRAW, LOSS = 1, 0, -1  # for the player to act
ILLEGAL = -2  # in the place of an action's value
MISSING = -3  # the position is not in the table
NO_KEY = -1  # the second half of the key in an empty slot
NO_DISTANCE = -1  # of draws
SLOT_LOAD = 0.7  # positions a slot of a stored table


class Stored(NamedTuple):
    """A solved game by key, in open addressing: a key's first half picks the slot, the second is compared."""

    check: NDArray[np.int64]  # [slots] second half of the key, or NO_KEY
    result: NDArray[np.int16]  # [slots] distance, negative in losses; 0 in draws
    need: NDArray[np.int16]  # [slots or 0] what must be left of the count; empty where nothing is forgotten


def new_stored(positions: int, with_need: bool) -> Stored:
    """Returns an empty table with room for so many positions."""
    slots = max(8, int(positions / SLOT_LOAD)) | 1
    return Stored(
        np.full(slots, NO_KEY, np.int64),
        np.zeros(slots, np.int16),
        np.zeros(slots if with_need else 0, np.int16),
    )


@jit
def _store(
    code: Code,
    key: NDArray[np.int64],
    check: NDArray[np.int64],
    result: NDArray[np.int16],
    need: NDArray[np.int16],
    stored: Stored,
) -> None:
    """Adds positions [N] that are not stored yet, by the halves of their keys."""
    slots = stored.check.shape[0]
    for node in range(key.shape[0]):
        slot = int(key[node]) % slots
        while stored.check[slot] != NO_KEY:
            slot += 1
            if slot == slots:
                slot = 0
        stored.check[slot] = check[node]
        stored.result[slot] = result[node]
        if stored.need.shape[0]:
            stored.need[slot] = need[node]


@jit
def find_slot(stored: Stored, key: int, check: int) -> int:
    """The slot of a key, or -1."""
    slots = stored.check.shape[0]
    slot = int(key % slots)
    while True:
        found = int(stored.check[slot])
        if found == check:
            return slot
        if found == NO_KEY:
            return -1
        slot += 1
        if slot == slots:
            slot = 0


@jit
def _look_up_keys(
    code: Code,
    key: NDArray[np.int64],
    check: NDArray[np.int64],
    stored: Stored,
    result: NDArray[np.int16],
    need: NDArray[np.int16],
) -> int:
    """Writes what is stored of positions [N] by the halves of their keys; returns how many are stored."""
    count = 0
    for i in range(key.shape[0]):
        slot = find_slot(stored, int(key[i]), int(check[i]))
        if slot >= 0:
            count += 1
            result[i] = stored.result[slot]
            if stored.need.shape[0]:
                need[i] = stored.need[slot]
    return count


@jit
def look_up(
    rules: Rules,
    stored: Stored,
    keys: Keys,
    counter: int,
    limit: int,
    state: NDArray[np.int32],
    distances: NDArray[np.int32],
    lane: int,
) -> int:
    """Returns the value of a state for the player to act, or MISSING, and writes distances[lane]."""
    outcome = int(state[OUTCOME])
    distances[lane] = NO_DISTANCE
    if outcome != ONGOING:
        if outcome == DRAWN:
            return DRAW
        distances[lane] = 0
        return WIN if outcome == BLACK_WON + state[TO_PLAY] else LOSS
    find_key(rules, state, keys)
    slot = find_slot(stored, int(keys.found[0]), int(keys.found[1]))
    if slot < 0:
        return MISSING
    result = int(stored.result[slot])
    if counter != NO_ENTRY and stored.need[slot] > limit - state[counter]:
        return DRAW
    if result == 0:
        return DRAW
    distances[lane] = abs(result)
    return WIN if result > 0 else LOSS


@jit
def _values(
    rules: Rules,
    stored: Stored,
    keys: Keys,
    counter: int,
    limit: int,
    states: NDArray[np.int32],
    values: NDArray[np.int8],
    distances: NDArray[np.int32],
) -> None:
    for lane in range(states.shape[0]):
        values[lane] = look_up(rules, stored, keys, counter, limit, states[lane], distances, lane)


@jit
def _action_values(
    rules: Rules,
    stored: Stored,
    keys: Keys,
    counter: int,
    limit: int,
    states: NDArray[np.int32],
    child: NDArray[np.int32],
    legal: NDArray[np.int32],
    values: NDArray[np.int8],
    distances: NDArray[np.int32],
) -> None:
    for lane in range(states.shape[0]):
        state = states[lane]
        for action in range(values.shape[1]):
            values[lane, action] = ILLEGAL
            distances[lane, action] = NO_DISTANCE
        for i in range(rules.legal_actions(state, legal)):
            action = int(legal[i])
            copy_row(state, child)
            rules.step(child, action)
            value = look_up(rules, stored, keys, counter, limit, child, distances[lane], action)
            if value != MISSING and child[TO_PLAY] != state[TO_PLAY]:
                value = -value
            values[lane, action] = value
            if distances[lane, action] != NO_DISTANCE:
                distances[lane, action] += 1


store = kernel(_store)
look_up_keys = kernel(_look_up_keys)
values_kernel = kernel(_values)
"""values_kernel(rules, stored, keys, counter, limit, states int32 [B, S], values int8 [B], distances int32 [B])"""
action_values_kernel = kernel(_action_values)
"""action_values_kernel(rules, stored, keys, counter, limit, states int32 [B, S], child int32 [S], legal int32 [A],
values int8 [B, A], distances int32 [B, A]): for the player to act in `states`; distances count the action itself."""
