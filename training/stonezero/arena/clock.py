"""Fixed time for a move: how many simulations a player makes in so many seconds.

What is measured is a player alone with one position, as in a game of its own: several positions of random play, one
after the other, in this process. Matches are then played with that number of simulations, in batches as ever: what
another process does at the time, or how well a player fills a batch, changes no result.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo import Game
from stonezoo.core.game import OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import reset_batch, step_batch
from stonezoo.kernels.choose import random_batch
from stonezoo.players import Player, make_player

POSITIONS = 8  # that are measured, after so many random actions as lie evenly between 0 and half a random game
FIRST = 16  # simulations of the first measurement
ENOUGH = 0.25  # of the time that a measurement must take for the rest to be extrapolated
GROWTH = 8  # of the simulations at most, from one measurement to the next
MOST = 1_000_000  # simulations; a tree takes memory
MOST_SECONDS = 1_000_000.0  # a move
NOT_COUNTED = ("alphabeta", "perfect", "py", "sb3")  # a number after these is no number of simulations


class Calibration(NamedTuple):
    """A player with the simulations that fit into a move; plain values, for JSON."""

    player: str  # its text now
    simulations: int | None  # None: it counts none and plays as it is
    seconds: float | None  # a move, as measured


def split_simulations(text: str) -> tuple[str, int] | None:
    """The parts of a text such as `uct:100` or `runs/x:64`; None when it counts no simulations."""
    name, colon, number = text.rpartition(":")
    if not colon or not (number.isascii() and number.isdigit()) or name.partition(":")[0] in NOT_COUNTED:
        return None
    return name, int(number)


def calibrate(text: str, game: Game, seconds: float, seed: int = 0) -> Calibration:
    """Finds how many simulations the player of `text` makes in `seconds` a move, and its text with that number.

    A player that counts none is returned as it is: `alphabeta:2s` has its time in its text.

    Raises:
        ValueError: the time is not positive or above MOST_SECONDS, or not even one simulation fits into it.
        PlayerError: (a ValueError) the text stands for no player.
    """
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"--seconds-per-move {seconds:g}: it must be positive, and at most {MOST_SECONDS:,.0f}")
    parts = split_simulations(text)
    if parts is None:
        return Calibration(text, None, None)
    name = parts[0]
    states = _positions(game, seed)
    simulations = FIRST
    _time_a_move(make_player(f"{name}:{simulations}", game), states[:1], seed)  # compiles, or wakes the network
    while True:
        player = make_player(f"{name}:{simulations}", game)
        taken = _time_a_move(player, states, seed)
        fitting = int(simulations * seconds / taken)
        if taken >= ENOUGH * seconds or simulations == MOST:
            break
        simulations = min(MOST, max(2 * simulations, min(fitting, GROWTH * simulations)))
    fitting = min(fitting, MOST)
    if fitting < 1:
        raise ValueError(f"--seconds-per-move {seconds:g}: {name} takes {taken / simulations:.3g} s for one simulation")
    return Calibration(f"{name}:{fitting}", fitting, taken * fitting / simulations)


def _time_a_move(player: Player, states: NDArray[np.int32], seed: int) -> float:
    """Seconds a move over the states, one at a time."""
    streams = new_streams(seed, len(states))
    start = time.perf_counter()
    for lane in range(len(states)):
        player.act(states[lane : lane + 1].copy(), streams[lane : lane + 1])
    return (time.perf_counter() - start) / len(states)


def _positions(game: Game, seed: int) -> NDArray[np.int32]:
    """Positions int32 [POSITIONS, S] of random play, none of them over."""
    rules = game.rules
    states = np.zeros((POSITIONS, rules.state_size), np.int32)
    reset_batch(rules, states)
    streams = new_streams(np.random.SeedSequence(seed, spawn_key=(2,)), POSITIONS)
    history = [states.copy()]
    while (states[:, OUTCOME] == 0).all():
        actions = np.empty(POSITIONS, np.int32)
        random_batch(rules, states, streams, actions)
        step_batch(rules, states, actions)
        history.append(states.copy())
    half = max(1, len(history) // 2)
    return np.stack([history[lane * half // POSITIONS][lane] for lane in range(POSITIONS)])
