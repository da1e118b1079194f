"""Random actions are uniform over the legal ones, in every game and phase; fixed seeds, 4 sigma."""

import numpy as np
import pytest

from stonezoo.core.game import Rules
from stonezoo.core.jit import jit, kernel
from stonezoo.core.rng import new_streams
from tests.stonezoo.games.referees import Case, case_id, load

DRAWS = 40_000


@jit
def _draw(rules: Rules, state: np.ndarray, stream: np.ndarray, counts: np.ndarray, draws: int) -> None:
    for _ in range(draws):
        counts[rules.random_action(state, stream)] += 1


draw = kernel(_draw)

SIDE_3: Case = ("rive", {"board_size": 3})
STANDARD: Case = ("resolve", {"board_size": 3, "rules": "standard"})
ORIGINAL: Case = ("resolve", {"board_size": 3, "rules": "original"})
DARA: Case = ("dara", {"rows": 3, "columns": 5, "stones": 5, "quiet_limit": 100})
STRICT: Case = ("dara", {"rows": 3, "columns": 5, "stones": 5, "quiet_limit": 100, "rules": "no_drop_threes"})

POSITIONS = [
    (SIDE_3, ".../..../...../..../... b", "PLACE"),
    (SIDE_3, ".../.O.X/...../X.OX/... w", "PLACE"),
    (SIDE_3, ".OO/O.XX/XXX../X.XO/.XX b phase=remove stone=c3 remove=8", "REMOVE"),
    (SIDE_3, ".../O.X./...OX/O.X./... w phase=remove stone=c4 remove=2", "REMOVE"),
    (STANDARD, ".../.../... b", "PLACE"),
    (STANDARD, "XO./.X./O.. w", "PLACE"),
    (STANDARD, "XOX/OXO/... b phase=swap stone=b2", "SWAP"),
    (STANDARD, "XXO/OXX/XOO b", "CHOOSE"),
    (ORIGINAL, "XO./OX./... b", "PLACE"),
    (ORIGINAL, "XO./OX./... w", "PLACE"),
    (ORIGINAL, "XO./OX./... w phase=place_after", "PLACE_AFTER"),
    (ORIGINAL, "XO./OX./... b phase=swap stone=b2 then=place", "SWAP"),
    (DARA, "...../...../..... b hand=5,5", "DROP"),
    (DARA, "XXX../...../OOO.. b hand=2,2", "DROP"),
    (STRICT, "XX.../...../OO..O b hand=2,2", "DROP"),
    (DARA, "X.X.X/.X.O./O.O.O b", "SLIDE"),
    (DARA, "XXX.X/...../O.OO. b phase=take", "TAKE"),
]


@pytest.mark.parametrize(
    ("case", "text", "phase"), POSITIONS, ids=[f"{case_id(case)} {text}" for case, text, _ in POSITIONS]
)
def test_each_legal_action_is_as_likely_as_any_other(case: Case, text: str, phase: str) -> None:
    """Chi-square within 4 standard deviations of its mean; no other action is ever drawn."""
    game = load(case)
    state = game.parse_state(text)
    assert state.phase.name == phase
    counts, row = np.zeros(game.num_actions, np.int64), state.row
    draw(game.rules, row, new_streams(17, 1)[0], counts, DRAWS)
    legal = state.legal_actions
    assert counts.sum() == counts[legal].sum() == DRAWS
    freedom = len(legal) - 1
    expected = DRAWS / len(legal)
    assert ((counts[legal] - expected) ** 2 / expected).sum() <= freedom + 4 * (2 * freedom) ** 0.5 + 4
    assert np.array_equal(row, state.row)
