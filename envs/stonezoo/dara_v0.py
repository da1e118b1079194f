"""Dara as a PettingZoo AEC environment: `dara_v0.env()` with PettingZoo's checks, `raw_env()` without."""

from typing import Any

from stonezoo.api.aec import GameEnv
from stonezoo.api.checked import CheckedEnv

__all__ = ["env", "raw_env"]


def env(
    rows: int = 5,
    columns: int = 6,
    stones: int = 12,
    rules: str = "standard",
    quiet_limit: int = 100,
    render_mode: str | None = None,
    **unknown: Any,
) -> CheckedEnv:
    """Returns Dara for two agents, `player_0` (Black) and `player_1` (White), who take turns of several actions.

    Args:
        rows: rows of the board.
        columns: columns of the board.
        stones: stones of each player; twice as many must leave a cell empty.
        rules: the rule profile, `"standard"` or `"no_drop_threes"`.
        quiet_limit: slides in a row without a capture that make a draw.
        render_mode: `"human"`, `"rgb_array"`, `"ansi"`, `"svg"` or None.
        unknown: refused.

    Raises:
        ValueError: an unknown argument or a value out of range; the message lists what is accepted.
    """
    return CheckedEnv(raw_env(rows, columns, stones, rules, quiet_limit, render_mode, **unknown))


def raw_env(
    rows: int = 5,
    columns: int = 6,
    stones: int = 12,
    rules: str = "standard",
    quiet_limit: int = 100,
    render_mode: str | None = None,
    **unknown: Any,
) -> GameEnv:
    """Returns the environment of `env` without PettingZoo's checks: an illegal action raises `IllegalActionError`."""
    return GameEnv(
        "dara", render_mode, rows=rows, columns=columns, stones=stones, rules=rules, quiet_limit=quiet_limit, **unknown
    )
