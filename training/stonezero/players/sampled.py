"""A policy that draws its actions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stonezero.players.network import Evaluate
from stonezoo import Game
from stonezoo.core.rng import LOW, MULTIPLIER
from stonezoo.kernels.batch import mask_batch, observe_batch


class SampledPlayer:
    """Draws each action with the probability that a network's policy gives it among the legal ones."""

    def __init__(self, game: Game, evaluate: Evaluate, name: str) -> None:
        """`evaluate` maps observations to policy logits and values; `name` is the player's text."""
        self.name = name
        self._game = game
        self._evaluate = evaluate

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `stonezoo.players.Player.act`. One number is drawn from each stream."""
        game, batch_size = self._game, len(states)
        observations = np.empty((batch_size, *game.observation_shape), np.float32)
        mask = np.empty((batch_size, game.num_actions), np.int8)
        observe_batch(game.rules, states, observations)
        mask_batch(game.rules, states, np.empty(game.num_actions, np.int32), mask)
        logits = np.where(mask, self._evaluate(observations)[0], -np.inf).astype(np.float64)
        edges = np.exp(logits - logits.max(1, keepdims=True)).cumsum(1)  # [B, A], rising only at legal actions
        threshold = draw_uniform(streams) * edges[:, -1]
        chosen: NDArray[np.int64] = (edges <= threshold[:, None]).sum(1)
        return chosen.astype(np.int32)


def draw_uniform(streams: NDArray[np.int64]) -> NDArray[np.float64]:
    """`stonezoo.core.rng.uniform` of each stream [B, 2], which is advanced in place: float64 [B] in [0, 1)."""
    product = MULTIPLIER * streams[:, 0] + streams[:, 1]
    streams[:, 0] = product & LOW
    streams[:, 1] = product >> 32
    return (streams[:, 0] ^ streams[:, 1]) / 4294967296.0
