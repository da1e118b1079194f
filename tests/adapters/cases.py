"""What the other libraries are tested with: games whose turns have several actions, beside their referees."""

from typing import Any

import pytest

from tests.stonezoo.games.referees import Case, Referee, case_id

CASES: list[Case] = [
    ("rive", {"board_size": 3}),
    ("resolve", {"board_size": 5, "rules": "standard"}),
    ("resolve", {"board_size": 4, "rules": "original"}),
    ("dara", {"rows": 3, "columns": 4, "stones": 3, "rules": "standard", "quiet_limit": 30}),
    ("dara", {"rows": 5, "columns": 6, "stones": 12, "rules": "no_drop_threes", "quiet_limit": 100}),
]
every_case = pytest.mark.parametrize("case", CASES, ids=case_id)
AGENTS = ("player_0", "player_1")


def results(referee: Referee) -> tuple[float, float]:
    """What Black and White get in the referee's position."""
    return {-1: (0.0, 0.0), 0: (1.0, -1.0), 1: (-1.0, 1.0)}[referee.winner]


def mask_of(referee: Referee, player: int, num_actions: int) -> list[int]:
    """1 for each action that the player may choose now, all zeros for who is not to act."""
    legal: Any = referee.legal() if player == referee.to_play and not referee.over else ()
    return [int(action in legal) for action in range(num_actions)]
