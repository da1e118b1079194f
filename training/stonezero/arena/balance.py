"""Which openings are lopsided: a short tree search says what each is worth to Black."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stonezoo import Game
from stonezoo.core.game import BLACK, BLACK_WON, DRAWN, ONGOING, OUTCOME, TO_PLAY
from stonezoo.kernels.batch import mask_batch, step_batch
from stonezoo.kernels.uct import (
    EXPLORATION,
    FIRST_CHILD,
    NEXT_SIBLING,
    NODE_FIELDS,
    NOTHING,
    POINTS,
    VISITS,
    WIN_POINTS,
    uct_batch,
)
from stonezoo.players.uct import usable_cores

DRAW_VALUE = 0.5


@dataclass(frozen=True)
class Balance:
    """Openings are kept whose value to Black, by `uct` of so many simulations, lies in a band.

    The value is the mean of the rollouts through the most visited action, 0 a loss and 1 a win. Where too few openings
    lie in the band, it is an error if `required`; otherwise lopsided ones are played too.
    """

    simulations: int = 500
    low: float = 0.2
    high: float = 0.8
    required: bool = True

    def __post_init__(self) -> None:
        """Raises ValueError when the band is none."""
        if not (0 <= self.low < self.high <= 1 and self.simulations >= 1):
            raise ValueError(
                f"balance from {self.low:g} to {self.high:g} by uct:{self.simulations}: it must be a band in [0, 1] "
                "and at least one simulation"
            )

    @property
    def search(self) -> str:
        """The search, as a player's text."""
        return f"uct:{self.simulations}"

    def __str__(self) -> str:
        return f"{self.search} values for Black outside {self.low:g} to {self.high:g}"


def black_values(
    game: Game, states: NDArray[np.int32], simulations: int, streams: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What positions [B, S] that are not over are worth to Black, float [B] in [0, 1]; see `Balance`.

    `streams` int64 [B, 2] are left as they are.
    """
    values = np.empty(len(states))
    parts = max(1, min(usable_cores(), len(states)))

    def fill(first: int) -> None:
        for lane, value in zip(
            range(first, len(states), parts),
            _values(game, states[first::parts], simulations, streams[first::parts]),
            strict=True,
        ):
            values[lane] = value

    with ThreadPoolExecutor(parts) as pool:  # the search releases Python's lock
        list(pool.map(fill, range(parts)))
    return values


def _values(game: Game, states: NDArray[np.int32], simulations: int, streams: NDArray[np.int64]) -> Iterator[float]:
    num_actions = game.num_actions
    nodes = np.empty((simulations + 1, NODE_FIELDS), np.int32)
    path = np.empty(simulations + 1, np.int32)
    work = np.empty((2, num_actions), np.int32)
    scratch = np.empty(game.rules.state_size, np.int32)
    visits, action = np.empty((1, num_actions), np.int32), np.empty(1, np.int32)
    for lane in range(len(states)):
        state = _past_forced_actions(game, states[lane])
        outcome = int(state[0, OUTCOME])
        if outcome != ONGOING:
            yield DRAW_VALUE if outcome == DRAWN else float(outcome == BLACK_WON)
            continue
        stream = streams[lane : lane + 1].copy()
        uct_batch(game.rules, state, stream, simulations, EXPLORATION, nodes, path, work, scratch, visits, action)
        value = _best_value(nodes)  # to the player to act
        yield value if state[0, TO_PLAY] == BLACK else 1 - value


def _past_forced_actions(game: Game, state: NDArray[np.int32]) -> NDArray[np.int32]:
    """The first state [1, S] from here on with a choice, or the end: a forced action is not searched."""
    rows = np.ascontiguousarray(state[None]).copy()
    found, mask = np.empty(game.num_actions, np.int32), np.empty((1, game.num_actions), np.int8)
    mask_batch(game.rules, rows, found, mask)
    while mask.sum() == 1:
        step_batch(game.rules, rows, mask.argmax(1).astype(np.int32))
        mask_batch(game.rules, rows, found, mask)
    return rows


def _best_value(nodes: NDArray[np.int32]) -> float:
    """The mean points of the root's most visited child, in [0, 1], to the player who acts into it."""
    best, child = NOTHING, int(nodes[0, FIRST_CHILD])
    while child != NOTHING:
        if best == NOTHING or nodes[child, VISITS] > nodes[best, VISITS]:
            best = child
        child = int(nodes[child, NEXT_SIBLING])
    return float(nodes[best, POINTS] / (WIN_POINTS * nodes[best, VISITS]))
