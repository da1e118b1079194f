"""The player who knows nothing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stonezoo.kernels.choose import random_batch
from stonezoo.state import Game


class RandomPlayer:
    """Each legal action with the same probability."""

    name = "random"

    def __init__(self, game: Game) -> None:
        self._rules = game.rules

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `Player.act`."""
        actions = np.empty(len(states), np.int32)
        random_batch(self._rules, states, streams, actions)
        return actions
