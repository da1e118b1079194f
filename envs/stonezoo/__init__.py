"""StoneZoo: board games with multi-action turns, for reinforcement learning."""

from stonezoo.api.registration import register_with_gymnasium, register_with_pettingzoo
from stonezoo.api.vector_game import VectorGame
from stonezoo.games import BUILT_IN, game_names, register_game
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

register_with_pettingzoo(BUILT_IN)
register_with_gymnasium(BUILT_IN)
