"""Parameters that each game is usually played and measured with, the smaller board first."""

from collections.abc import Mapping
from types import MappingProxyType

Parameters = Mapping[str, int | str]

_USUAL: Mapping[str, tuple[Parameters, ...]] = MappingProxyType(
    {
        "rive": ({"board_size": 3}, {"board_size": 4}),
        "resolve": ({"board_size": 5}, {"board_size": 9}),
    }
)


def usual_parameters(name: str) -> tuple[Parameters, ...]:
    """Returns parameters for `load_game`; a game that says nothing else is usually played with its defaults."""
    return _USUAL.get(name, ({},))
