"""What a game says to the solver of a position, for a batch of states."""

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import Rules
from stonezoo.core.jit import jit, kernel
from stonezoo.solve.keys import Keys, find_key


@jit
def _contents(rules: Rules, states: NDArray[np.int32], cells: NDArray[np.int32], rest: NDArray[np.int32]) -> None:
    for lane in range(states.shape[0]):
        rules.contents(states[lane], cells[lane], rest[lane])


@jit
def _keys(rules: Rules, keys: Keys, states: NDArray[np.int32], found: NDArray[np.int64]) -> None:
    for lane in range(states.shape[0]):
        find_key(rules, states[lane], keys)
        found[lane, 0] = keys.found[0]
        found[lane, 1] = keys.found[1]


contents_batch = kernel(_contents)
"""contents_batch(rules, states int32 [B, S], cells int32 [B, N], rest int32 [B, R])"""
keys_batch = kernel(_keys)
"""keys_batch(rules, keys, states int32 [B, S], found int64 [B, 2])"""
