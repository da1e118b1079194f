"""Makes the games known to the registries of PettingZoo and Gymnasium."""

from collections.abc import Iterable
from typing import Any

import gymnasium
import pettingzoo

from stonezoo import games as registry


def register_with_pettingzoo(games: Iterable[str]) -> None:
    """Registers `stonezoo/<game>-v0` for `pettingzoo.make("aec", ...)`; does nothing before PettingZoo 1.27.

    The entry point is a text, so that nothing is imported before an environment is asked for.
    """
    if not hasattr(pettingzoo, "register"):
        return
    for game in games:
        if f"stonezoo/{game}-v0" not in pettingzoo.aec_registry:
            pettingzoo.register(
                "aec", f"stonezoo/{game}-v0", entry_point="stonezoo.api.checked:make_env", kwargs={"game": game}
            )


def register_with_gymnasium(games: Iterable[str]) -> None:
    """Registers `stonezoo/<Game>-v0` for `gymnasium.make` and `gymnasium.make_vec`, whose environments are native."""
    for game in games:
        if f"stonezoo/{game.capitalize()}-v0" not in gymnasium.registry:
            gymnasium.register(
                f"stonezoo/{game.capitalize()}-v0",
                entry_point="stonezoo.api.gym:SeatEnv",
                vector_entry_point="stonezoo.api.vector:SeatVectorEnv",
                kwargs={"game": game},
            )


def register_game(rules: Any) -> None:
    """Registers the rules class of a game under its `name`: for `load_game`, PettingZoo and Gymnasium.

    Packages that are installed name their games in the entry-point group `stonezoo.games` instead.

    Raises:
        ValueError: another class has the name.
    """
    registry.register_game(rules)
    register_with_pettingzoo([rules.name])
    register_with_gymnasium([rules.name])
