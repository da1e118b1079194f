"""Heuristics: what players know of a game beyond its rules, a file a game. Only this list names them."""

from __future__ import annotations

from typing import Any

from stonezoo.players.heuristics.dara import DaraHeuristic
from stonezoo.players.heuristics.heuristic import (
    HIGHEST,
    UNIT,
    Heuristic,
    Neutral,
    SearchSettings,
    heuristic_kernel,
    heuristic_methods,
)
from stonezoo.players.heuristics.resolve import ResolveHeuristic
from stonezoo.players.heuristics.rive import RiveHeuristic

__all__ = [
    "HIGHEST",
    "UNIT",
    "Heuristic",
    "Neutral",
    "SearchSettings",
    "find_heuristic",
    "heuristic_kernel",
    "heuristic_methods",
    "heuristic_names",
    "register_heuristic",
]

_HEURISTICS: dict[str, Any] = {"rive": RiveHeuristic(), "resolve": ResolveHeuristic(), "dara": DaraHeuristic()}


def register_heuristic(game: str, heuristic: Heuristic) -> None:
    """Registers the heuristic of the game of that name, in place of one that it may have."""
    _HEURISTICS[game] = heuristic


def find_heuristic(game: str) -> Heuristic | None:
    """The heuristic of the game of that name; None where it has none."""
    return _HEURISTICS.get(game)


def heuristic_names() -> list[str]:
    """Names of the games that have a heuristic."""
    return list(_HEURISTICS)
