"""StoneZoo: board games with multi-action turns, for reinforcement learning."""

from stonezoo.api.registration import register_game, register_with_gymnasium, register_with_pettingzoo
from stonezoo.api.vector_game import VectorGame
from stonezoo.games import BUILT_IN, game_names, installed_names
from stonezoo.state import Game, IllegalActionError, State, load_game

__version__ = "0.1.0"

__all__ = [
    "Game",
    "IllegalActionError",
    "State",
    "VectorGame",
    "__version__",
    "game_names",
    "load_game",
    "register_game",
]

_names = (*BUILT_IN, *installed_names())
register_with_pettingzoo(_names)
register_with_gymnasium(_names)
