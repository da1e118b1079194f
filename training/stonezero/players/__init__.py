"""Players that are networks. Importing this package makes checkpoints known to `stonezoo.players.make_player`."""

from stonezero.players.checkpoint import CHECKPOINT_KIND, load_evaluator, load_player, locate_checkpoint, play_device
from stonezero.players.network import NetworkPlayer
from stonezoo.players import register_player

register_player(CHECKPOINT_KIND)

__all__ = ["CHECKPOINT_KIND", "NetworkPlayer", "load_evaluator", "load_player", "locate_checkpoint", "play_device"]
