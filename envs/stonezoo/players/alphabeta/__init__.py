"""Alpha-beta search: `search` is the compiled search of one state, `player` plays with it."""

from stonezoo.players.alphabeta.player import AlphaBetaPlayer, Found

__all__ = ["AlphaBetaPlayer", "Found"]
