"""Games and positions on which every player is tried."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import reset_batch, step_batch
from stonezoo.kernels.choose import random_batch

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("rive", {"board_size": 3}),
    ("resolve", {"board_size": 4}),
    ("resolve", {"board_size": 4, "rules": "original"}),
    ("dara", {}),
    ("dara", {"rows": 3, "columns": 4, "stones": 3, "rules": "no_drop_threes"}),
]
every_game = pytest.mark.parametrize(
    "game", [stonezoo.load_game(name, **parameters) for name, parameters in GAMES], ids=lambda game: repr(game)[10:-1]
)


def positions(game: stonezoo.Game, count: int = 60, seed: int = 1) -> NDArray[np.int32]:
    """Ongoing states [count, S] of random games, in mid-turn too: one of each number of actions played."""
    states = np.zeros((4 * count, game.rules.state_size), np.int32)
    reset_batch(game.rules, states)
    streams = new_streams(seed, len(states))
    found: list[NDArray[np.int32]] = []
    while len(found) < count:
        ongoing = np.flatnonzero(states[:, OUTCOME] == ONGOING)
        if len(ongoing) == 0:
            break
        found.append(states[ongoing[0]].copy())
        actions, own = np.full(len(states), -1, np.int32), streams[ongoing]
        chosen = np.empty(len(ongoing), np.int32)
        random_batch(game.rules, states[ongoing], own, chosen)
        actions[ongoing], streams[ongoing] = chosen, own
        step_batch(game.rules, states, actions)
    return np.array(found)
