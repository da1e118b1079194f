"""Observations to measure and to compare ways of computing with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezero.evaluator.engines import Floats
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import mask_batch, observe_batch, reset_batch, step_batch
from stonezoo.kernels.choose import random_batch
from stonezoo.state import Game

LONGEST_GAME = 400  # random actions from which the depths of the positions are drawn, at most
PROBE_SIZE = 256


class Probe(NamedTuple):
    """Positions to compare ways of computing with."""

    observations: Floats  # [N, H, W, C]
    legal_action_mask: NDArray[Any] | None = None  # bool [N, A]; None: every action counts

    @classmethod
    def of(cls, probe: Probe | Floats) -> Probe:
        """Observations [N, H, W, C] alone are a probe in which every action counts."""
        return probe if isinstance(probe, Probe) else cls(probe)


def game_probe(game: Game, size: int = PROBE_SIZE, seed: int = 0) -> Probe:
    """`size` positions from random games, at all stages, with their legal actions."""
    states, _ = mixed_positions(game, size, seed)
    observations = np.empty((size, *game.observation_shape), np.float32)
    observe_batch(game.rules, states, observations)
    mask = np.zeros((size, game.num_actions), np.int8)
    mask_batch(game.rules, states, np.zeros(game.num_actions, np.int32), mask)
    return Probe(observations, mask.astype(np.bool_))


def mixed_positions(game: Game, count: int, seed: int) -> tuple[NDArray[np.int32], int]:
    """Positions int32 [count, S] of random games, at all stages, none of them over; the median length of such games."""
    rng = np.random.default_rng(seed)
    states, streams = np.zeros((count, game.rules.state_size), np.int32), new_streams(int(rng.integers(1 << 31)), count)
    actions = np.zeros(count, np.int32)
    reset_batch(game.rules, states)
    ends = np.full(count, LONGEST_GAME)
    for ply in range(LONGEST_GAME):
        live = states[:, OUTCOME] == ONGOING
        if not live.any():
            break
        random_batch(game.rules, states, streams, actions)
        step_batch(game.rules, states, np.where(live, actions, -1).astype(np.int32))
        ends[live & (states[:, OUTCOME] != ONGOING)] = ply
    # The same number of actions again, in other games, up to a point drawn within a game's length.
    depth = rng.integers(0, np.maximum(ends, 1))
    reset_batch(game.rules, states)
    for ply in range(int(depth.max())):
        random_batch(game.rules, states, streams, actions)
        step_batch(game.rules, states, np.where(ply < depth, actions, -1).astype(np.int32))
    states[states[:, OUTCOME] != ONGOING] = game.initial_state().row
    return states, int(np.median(ends))
