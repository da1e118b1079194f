"""Actions chosen without looking ahead."""

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import Rules
from stonezoo.core.jit import jit, kernel


@jit
def _random_batch(
    rules: Rules, states: NDArray[np.int32], streams: NDArray[np.int64], actions: NDArray[np.int32]
) -> None:
    for lane in range(states.shape[0]):
        actions[lane] = rules.random_action(states[lane], streams[lane])


random_batch = kernel(_random_batch)
"""random_batch(rules, states int32 [B, S], streams int64 [B, 2], actions int32 [B]): a uniformly random legal
action a lane; no state may be over."""
