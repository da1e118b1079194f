"""Players that are networks.

Importing this package makes checkpoints and models of stable-baselines3 known to `stonezoo.players.make_player`.
"""

from stonezero.players.checkpoint import CHECKPOINT_KIND, load_evaluator, load_player, locate_checkpoint, play_device
from stonezero.players.network import NetworkPlayer
from stonezero.players.sampled import SampledPlayer
from stonezero.players.sb3 import SB3_KIND, load_sb3_player, pickles_are_trusted, trust_pickles
from stonezoo.players import register_player

register_player(CHECKPOINT_KIND)
register_player(SB3_KIND)

__all__ = [
    "CHECKPOINT_KIND",
    "SB3_KIND",
    "NetworkPlayer",
    "SampledPlayer",
    "load_evaluator",
    "load_player",
    "load_sb3_player",
    "locate_checkpoint",
    "pickles_are_trusted",
    "play_device",
    "trust_pickles",
]
