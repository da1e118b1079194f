"""Resolve as a PettingZoo AEC environment: `resolve_v0.env()` with PettingZoo's checks, `raw_env()` without."""

from typing import Any

from stonezoo.api.aec import GameEnv
from stonezoo.api.checked import CheckedEnv

__all__ = ["env", "raw_env"]


def env(board_size: int = 9, rules: str = "standard", render_mode: str | None = None, **unknown: Any) -> CheckedEnv:
    """Returns Resolve for two agents, `player_0` (Black) and `player_1` (White), who take turns of several actions.

    Args:
        board_size: points on a side of the square, 2 to 19.
        rules: the rule profile, `"standard"` or `"original"`.
        render_mode: `"human"`, `"rgb_array"`, `"ansi"`, `"svg"` or None.
        unknown: refused.

    Raises:
        ValueError: an unknown argument or a value out of range; the message lists what is accepted.
    """
    return CheckedEnv(raw_env(board_size, rules, render_mode, **unknown))


def raw_env(board_size: int = 9, rules: str = "standard", render_mode: str | None = None, **unknown: Any) -> GameEnv:
    """Returns the environment of `env` without PettingZoo's checks: an illegal action raises `IllegalActionError`."""
    return GameEnv("resolve", render_mode, board_size=board_size, rules=rules, **unknown)
