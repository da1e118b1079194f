"""Players: each is made from one text, and acts in whole batches of states."""

from stonezoo.players.alphabeta import AlphaBetaPlayer
from stonezoo.players.function import FunctionPlayer
from stonezoo.players.greedy import GreedyPlayer
from stonezoo.players.human import HumanPlayer
from stonezoo.players.perfect import PerfectPlayer, UnsolvedError
from stonezoo.players.player import Player, PlayerError, choose, read_actions
from stonezoo.players.registry import PlayerKind, make_player, read_number, register_player
from stonezoo.players.uct import UctPlayer
from stonezoo.players.uct_plus import UctPlusPlayer
from stonezoo.players.uniform import RandomPlayer

__all__ = [
    "AlphaBetaPlayer",
    "FunctionPlayer",
    "GreedyPlayer",
    "HumanPlayer",
    "PerfectPlayer",
    "Player",
    "PlayerError",
    "PlayerKind",
    "RandomPlayer",
    "UctPlayer",
    "UctPlusPlayer",
    "UnsolvedError",
    "choose",
    "make_player",
    "read_actions",
    "read_number",
    "register_player",
]
