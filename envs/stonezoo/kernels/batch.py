"""Kernels over a batch of states [B, S]: serial over lanes, so that threads may run them side by side."""

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import ONGOING, OUTCOME, TO_PLAY, Rules
from stonezoo.core.jit import jit, kernel


@jit
def _reset_batch(rules: Rules, states: NDArray[np.int32]) -> None:
    for lane in range(states.shape[0]):
        rules.reset(states[lane])


@jit
def _step_batch(rules: Rules, states: NDArray[np.int32], actions: NDArray[np.int32]) -> None:
    for lane in range(states.shape[0]):
        if actions[lane] >= 0 and states[lane, OUTCOME] == ONGOING:
            rules.step(states[lane], int(actions[lane]))


@jit
def _legal_batch(rules: Rules, states: NDArray[np.int32], actions: NDArray[np.int32], legal: NDArray[np.bool_]) -> None:
    for lane in range(states.shape[0]):
        legal[lane] = rules.is_legal(states[lane], int(actions[lane]))


@jit
def _mask_batch(rules: Rules, states: NDArray[np.int32], found: NDArray[np.int32], mask: NDArray[np.int8]) -> None:
    for lane in range(states.shape[0]):
        rules.legal_mask(states[lane], found, mask[lane])


@jit
def _observe_batch(rules: Rules, states: NDArray[np.int32], out: NDArray[np.float32]) -> None:
    for lane in range(states.shape[0]):
        rules.observe(states[lane], int(states[lane, TO_PLAY]), out[lane])


@jit
def _transform_batch(
    rules: Rules,
    states: NDArray[np.int32],
    cells: NDArray[np.int32],
    swaps: NDArray[np.int8],
    index: NDArray[np.int32],
    out: NDArray[np.int32],
) -> None:
    for lane in range(states.shape[0]):
        k = index[lane]
        rules.transform(states[lane], cells[k], int(swaps[k]), out[lane])


reset_batch = kernel(_reset_batch)
"""reset_batch(rules, states int32 [B, S]): writes the initial state to every lane."""
step_batch = kernel(_step_batch)
"""step_batch(rules, states int32 [B, S], actions int32 [B]): plays legal actions; lanes that are over, and lanes whose
action is negative, are left alone."""
legal_batch = kernel(_legal_batch)
"""legal_batch(rules, states int32 [B, S], actions int32 [B], legal bool [B]): whether each lane's action is legal."""
mask_batch = kernel(_mask_batch)
"""mask_batch(rules, states int32 [B, S], found int32 [A] (work space), mask int8 [B, A]): 1 for legal actions; all
0 where the game is over."""
observe_batch = kernel(_observe_batch)
"""observe_batch(rules, states int32 [B, S], out float32 [B, H, W, C]): what the player to act sees."""
transform_batch = kernel(_transform_batch)
"""transform_batch(rules, states [B, S], cells int32 [K, N], swaps int8 [K], index int32 [B], out [B, S]): symmetric
images, lane b by symmetry index[b]."""
