"""Ways to play a referee forward."""

import random
from collections.abc import Iterable

from .perft import R


def random_game(position: R, rng: random.Random) -> list[R]:
    """Return the positions of a random game, the first and the last included."""
    positions = [position]
    while not positions[-1].over:
        positions.append(positions[-1].play(rng.choice(positions[-1].legal())))
    return positions


def play_all(position: R, actions: Iterable[int]) -> R:
    """Return the position after the actions, played in turn."""
    for action in actions:
        position = position.play(action)
    return position
