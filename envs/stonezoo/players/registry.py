"""Players by text: the one place where a text becomes a player."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from stonezoo.players.alphabeta import AlphaBetaPlayer
from stonezoo.players.function import FunctionPlayer, import_function
from stonezoo.players.greedy import GreedyPlayer
from stonezoo.players.heuristics import heuristic_names
from stonezoo.players.human import HumanPlayer
from stonezoo.players.perfect import PerfectPlayer
from stonezoo.players.player import Player, PlayerError
from stonezoo.players.uct import UctPlayer
from stonezoo.players.uct_plus import UctPlusPlayer
from stonezoo.players.uniform import RandomPlayer
from stonezoo.solve.memory import read_memory
from stonezoo.state import Game

ENTRY_POINT_GROUP = "stonezoo.players"
SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?s")


class PlayerKind(NamedTuple):
    """A kind of players that have a text in common.

    create(text, game) returns the player, or None when the text is of another kind; it raises PlayerError (or another
        ValueError) when the text is of this kind and wrong.
    describe() says in a few words what the texts look like.
    """

    create: Callable[[str, Game], Player | None]
    describe: Callable[[], str]


def make_player(what: Any, game: Game) -> Player:
    """Returns the player of `game` that `what` stands for.

    `what` is a text such as `random`, `uct:1000` or `py:module:function`, a function `(observation, mask) -> action or
    probabilities`, or a player already.

    Raises:
        PlayerError: (a ValueError) it stands for no player; the message lists what is accepted.
    """
    if not isinstance(what, str):
        if hasattr(what, "act"):
            return what  # type: ignore[no-any-return]
        if callable(what):
            return FunctionPlayer(game, what, getattr(what, "__name__", repr(what)))
        raise PlayerError(f"{what!r} is no player: it is neither a text nor a function nor has it a method `act`")
    tried = tuple(_KINDS)
    for kind in tried:
        if (player := kind.create(what, game)) is not None:
            return player
    installed, missing = _installed()
    # A package that is imported for its entry point may register its kinds itself.
    others = [kind for kind in dict.fromkeys((*_KINDS, *installed)) if kind not in tried]
    for kind in others:
        if (player := kind.create(what, game)) is not None:
            return player
    accepted = "; ".join(kind.describe() for kind in (*tried, *others))
    raise PlayerError(f"{what!r} is no player; players are {accepted}{''.join(missing)}")


def register_player(kind: PlayerKind) -> None:
    """Adds a kind of players; kinds are tried in the order of their registration. TypeError when it is none."""
    if not isinstance(kind, PlayerKind):
        raise TypeError(f"{kind!r} is no PlayerKind: make one of `create` and `describe`")
    if kind not in _KINDS:
        _KINDS.append(kind)


def read_number(text: str, number: str, what: str) -> int:
    """Returns the whole number in a player's text.

    Raises:
        PlayerError: it is none; `what` says what it stands for.
    """
    if not (number.isascii() and number.isdigit()):
        raise PlayerError(f"{text}: {number!r} is not a number of {what}")
    return int(number)


def _installed() -> tuple[list[PlayerKind], list[str]]:
    """Kinds that packages bring: each entry point in the group `stonezoo.players` names a PlayerKind.

    Also says of each that cannot be imported what it lacks.
    """
    kinds: list[PlayerKind] = []
    missing: list[str] = []
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        try:
            kind = entry.load()
        except ImportError as error:
            missing.append(f"; {entry.name} (cannot be used here: {error})")
            continue
        kinds.append(kind)
    return kinds, missing


def _random(text: str, game: Game) -> Player | None:
    return RandomPlayer(game) if text == "random" else None


def _uct(text: str, game: Game) -> Player | None:
    name, _, number = text.partition(":")
    return UctPlayer(game, read_number(text, number, "simulations, as in uct:100")) if name == "uct" else None


def _greedy(text: str, game: Game) -> Player | None:
    return GreedyPlayer(game) if text == "greedy" else None


def _uct_plus(text: str, game: Game) -> Player | None:
    name, _, number = text.partition(":")
    return UctPlusPlayer(game, read_number(text, number, "simulations, as in uct+:100")) if name == "uct+" else None


def _alphabeta(text: str, game: Game) -> Player | None:
    name, _, limit = text.partition(":")
    if name != "alphabeta":
        return None
    if SECONDS.fullmatch(limit):
        return AlphaBetaPlayer(game, seconds=float(limit[:-1]))
    depth = read_number(text, limit, "actions to look ahead, as in alphabeta:4, nor a time, as in alphabeta:2s")
    return AlphaBetaPlayer(game, depth)


def _perfect(text: str, game: Game) -> Player | None:
    name, colon, size = text.partition(":")
    if name != "perfect":
        return None
    try:
        memory = read_memory(size) if colon else None
    except ValueError as error:
        raise PlayerError(f"{text}: {error}, as in perfect:4G") from None
    return PerfectPlayer(game, memory=memory, name=text)


def _human(text: str, game: Game) -> Player | None:
    return HumanPlayer(game) if text == "human" else None


def _function(text: str, game: Game) -> Player | None:
    name, _, path = text.partition(":")
    return FunctionPlayer(game, import_function(path), text) if name == "py" else None


_KINDS: list[PlayerKind] = [
    PlayerKind(_random, lambda: "random"),
    PlayerKind(_greedy, lambda: f"greedy (one action ahead; games with a heuristic: {', '.join(heuristic_names())})"),
    PlayerKind(_uct, lambda: "uct:N (tree search with N random rollouts a move)"),
    PlayerKind(_uct_plus, lambda: "uct+:N (a stronger tree search with N simulations a move)"),
    PlayerKind(
        _alphabeta,
        lambda: (
            "alphabeta:D (looks D actions ahead) or alphabeta:2s (deepens for so many seconds a move; not fixed by a "
            "seed); without a heuristic it sees wins and losses alone"
        ),
    ),
    PlayerKind(
        _perfect,
        lambda: (
            "perfect (from a solved table, see stonezoo solve; or by search where there is none and play cannot cycle, "
            "in 1 GB, or 4 GB as perfect:4G)"
        ),
    ),
    PlayerKind(_human, lambda: "human (at the terminal)"),
    PlayerKind(_function, lambda: "py:module:function (your own: (observation, mask) -> action or probabilities)"),
]
