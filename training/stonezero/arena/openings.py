"""Openings: positions from which both players play, once with each colour."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo import Game
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import reset_batch, step_batch
from stonezoo.kernels.choose import random_batch

DRAWS_AN_OPENING = 100  # random openings drawn for each one wanted before there are said to be too few


class OpeningsError(ValueError):
    """There are fewer different openings than asked for; the message says how many were found."""


class Openings(NamedTuple):
    """Different positions P, none of them over."""

    states: NDArray[np.int32]  # [P, S]
    actions: NDArray[np.int32]  # [P, K] the random actions that lead there from the initial state


def draw_openings(game: Game, count: int, num_actions: int, seed: np.random.SeedSequence) -> Openings:
    """Returns `count` positions after `num_actions` uniformly random actions, no two the same.

    Raises:
        OpeningsError: so many different ones are not found.
    """
    found: dict[bytes, int] = {}
    states: list[NDArray[np.int32]] = []
    actions: list[NDArray[np.int32]] = []
    for block in seed.spawn(DRAWS_AN_OPENING):
        drawn_states, drawn_actions = _draw(game, count, num_actions, block)
        for state, path in zip(drawn_states, drawn_actions, strict=True):
            if (
                state[OUTCOME] == ONGOING
                and len(found) < count
                and found.setdefault(state.tobytes(), len(states)) == len(states)
            ):
                states.append(state)
                actions.append(path)
        if len(states) == count:
            return Openings(np.array(states), np.array(actions))
    raise OpeningsError(
        f"only {len(states)} different openings of {num_actions} random actions were found for {game!r}, but "
        f"{2 * count} games in pairs need {count}: ask for fewer games or for more opening actions"
    )


def _draw(
    game: Game, count: int, num_actions: int, seed: np.random.SeedSequence
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Random play from the initial state: states [count, S], actions [count, K]; -1 where a game was over before."""
    states = np.zeros((count, game.rules.state_size), np.int32)
    reset_batch(game.rules, states)
    streams = new_streams(seed, count)
    played = np.full((count, num_actions), -1, np.int32)
    for k in range(num_actions):
        ongoing = np.flatnonzero(states[:, OUTCOME] == ONGOING)
        own_streams, actions = streams[ongoing], np.empty(len(ongoing), np.int32)
        random_batch(game.rules, states[ongoing], own_streams, actions)
        streams[ongoing], played[ongoing, k] = own_streams, actions
        step_batch(game.rules, states, played[:, k].copy())
    return states, played
