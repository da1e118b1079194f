"""The stronger tree search: `search` is the compiled search, `player` plays with it."""

from stonezoo.players.uct_plus.player import UctPlusPlayer

__all__ = ["UctPlusPlayer"]
