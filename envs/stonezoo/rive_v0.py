"""Rive as a PettingZoo AEC environment: `rive_v0.env()` with PettingZoo's checks, `raw_env()` without."""

from typing import Any

from stonezoo.api.aec import GameEnv
from stonezoo.api.checked import CheckedEnv

__all__ = ["env", "raw_env"]


def env(board_size: int = 4, render_mode: str | None = None, **unknown: Any) -> CheckedEnv:
    """Returns Rive for two agents, `player_0` (Black) and `player_1` (White), who take turns of several actions.

    Args:
        board_size: cells on a side of the hexagon, 2 to 8.
        render_mode: `"human"`, `"rgb_array"`, `"ansi"`, `"svg"` or None.
        unknown: refused.

    Raises:
        ValueError: an unknown argument or a value out of range; the message lists what is accepted.
    """
    return CheckedEnv(raw_env(board_size, render_mode, **unknown))


def raw_env(board_size: int = 4, render_mode: str | None = None, **unknown: Any) -> GameEnv:
    """Returns the environment of `env` without PettingZoo's checks: an illegal action raises `IllegalActionError`."""
    return GameEnv("rive", render_mode, board_size=board_size, **unknown)
