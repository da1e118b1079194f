"""Players: each is made from one text, and acts in whole batches of states."""

from stonezoo.players.function import FunctionPlayer
from stonezoo.players.human import HumanPlayer
from stonezoo.players.player import Player, PlayerError, choose
from stonezoo.players.registry import PlayerKind, make_player, read_number, register_player
from stonezoo.players.uct import UctPlayer
from stonezoo.players.uniform import RandomPlayer

__all__ = [
    "FunctionPlayer",
    "HumanPlayer",
    "Player",
    "PlayerError",
    "PlayerKind",
    "RandomPlayer",
    "UctPlayer",
    "choose",
    "make_player",
    "read_number",
    "register_player",
]
