"""`uct:N` is pinned: these games must never change, since bars everywhere are measured against it.

Made by `python -m tests.stonezoo.players.test_uct_pinned`, which prints them anew.
"""

from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.core.rng import new_streams
from stonezoo.players import UctPlayer

SETTINGS: list[tuple[str, dict[str, Any], int]] = [
    ("rive", {"board_size": 3}, 60),
    ("resolve", {"board_size": 5}, 60),
    ("resolve", {"board_size": 5, "rules": "original"}, 60),
    ("dara", {"rows": 4, "columns": 4, "stones": 4, "quiet_limit": 20}, 60),
]
GOLDEN = [
    [
        [17, 5, 7, 11, 0, 2, 14, 12, 18, 8, 1, 5, 15, 17, 5, 16, 13, 18, 16, 7, 12, 7, 6, 5],
        [12, 1, 9, 6, 3, 15, 17, 8, 3, 9, 14, 17, 0, 5, 6, 7, 18, 9, 7, 18, 15, 12, 14, 8],
        [24, 17, 10, 9, 0, 0, 0, 0],
    ],
    [
        [21, 5, 6, 12, 22, 18, 11, 9, 17, 0, 19, 15, 1, 16, 11, 13, 12, 7, 12, 10, 11],
        [6, 11, 20, 7, 10, 12, 15, 16, 14, 1, 23, 5, 10, 4, 17, 2, 7, 19, 18, 13, 18],
        [50, 5, 5, 0, 0, 0, 0, 0],
    ],
    [
        [22, 10, 5, 14, 16, 13, 4, 9, 0, 1, 7, 12, 8, 11],
        [13, 19, 14, 3, 9, 4, 7, 1, 0, 17, 8, 10, 2, 18, 6, 11, 16, 12],
        [11, 9, 9, 9, 6, 6, 5, 5],
    ],
    [
        [5, 6, 2, 7, 8, 11, 12, 3, 40, 54, 66, 10, 75, 65, 42, 0, 21, 59, 41, 31, 10],
        [15, 8, 13, 5, 9, 0, 10, 6, 31, 5, 32, 59, 22, 58, 1],
        [20, 20, 20, 0, 0, 0, 0, 0],
    ],
]


def first_actions(name: str, parameters: dict[str, Any], simulations: int) -> list[list[int]]:
    """The first 24 actions of two games against itself, and the visits of the last search's root."""
    game = stonezoo.load_game(name, **parameters)
    player, streams = UctPlayer(game, simulations), new_streams(2026, 2)
    states = [game.initial_state() for _ in range(2)]
    found: list[list[int]] = [[], []]
    visits = np.zeros((2, game.num_actions), np.int32)
    for _ in range(24):
        going = [lane for lane, state in enumerate(states) if not state.terminated]
        if not going:
            break
        rows, used = np.stack([states[lane].row for lane in going]), np.ascontiguousarray(streams[going])
        actions, visits = player.search(rows, used)
        streams[going] = used
        for lane, action in zip(going, actions.tolist(), strict=True):
            states[lane].step(action)
            found[lane].append(action)
    return [*found, np.sort(visits[0])[::-1][:8].tolist()]


@pytest.mark.parametrize(("number", "setting"), list(enumerate(SETTINGS)), ids=[str(s[:2]) for s in SETTINGS])
def test_the_pinned_search_plays_the_games_it_always_played(
    number: int, setting: tuple[str, dict[str, Any], int]
) -> None:
    assert first_actions(*setting) == GOLDEN[number]


if __name__ == "__main__":
    for setting in SETTINGS:
        print(f"    {first_actions(*setting)},")
