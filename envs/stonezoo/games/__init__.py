"""The registry of games: the only list of them in the project."""

from importlib.metadata import entry_points
from typing import Any

from stonezoo.games.dara import DaraRules
from stonezoo.games.resolve import ResolveRules
from stonezoo.games.rive import RiveRules

ENTRY_POINT_GROUP = "stonezoo.games"

_GAMES: dict[str, Any] = {cls.name: cls for cls in (RiveRules, ResolveRules, DaraRules)}
BUILT_IN = tuple(_GAMES)
"""Names of the games that come with the project."""


def register_game(rules: Any) -> None:
    """Registers the rules class of a game under its `name`.

    Raises:
        TypeError: it is no such class.
        ValueError: another class has the name.
    """
    is_class = isinstance(rules, type)
    if not is_class or not isinstance(getattr(rules, "name", None), str):
        raise TypeError(f"{rules!r} is no rules class: a class with a `name`, as stonezoo.core.game.Rules describes it")
    if _GAMES.get(rules.name, rules) is not rules:
        raise ValueError(f"a game named {rules.name!r} is registered already")
    _GAMES[rules.name] = rules


def installed_names() -> list[str]:
    """Names of the games that installed packages bring, none of which is imported yet."""
    return [entry.name for entry in entry_points(group=ENTRY_POINT_GROUP)]


def game_names() -> list[str]:
    """Names of all registered games, those of installed packages included."""
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        if entry.name not in _GAMES:
            _GAMES[entry.name] = entry.load()
    return list(_GAMES)


def rules_class(name: Any) -> Any:
    """Returns the rules class of a game.

    Raises:
        ValueError: no game has that name; the message lists those there are.
    """
    if not isinstance(name, str) or (name not in _GAMES and name not in game_names()):
        raise ValueError(f"there is no game named {name!r}; games are {', '.join(game_names())}")
    return _GAMES[name]
