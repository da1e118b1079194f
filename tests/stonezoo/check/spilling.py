"""Twofold that writes one entry past its row: harmless to a single state, ruinous in a batch."""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[3] / "examples" / "twofold"))

from twofold.rules import CELLS, TwofoldRules, count_empty

from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, PHASE, TO_PLAY, game_rules
from stonezoo.core.jit import jit


@game_rules
class SpillingRules(TwofoldRules):
    name = "spilling"

    @jit
    def step(self, state: NDArray[np.int32], action: int) -> None:
        player, last = int(state[TO_PLAY]), state[PHASE] == 1
        state[CELLS + action] = 1 + player
        state[state.shape[0]] = 1
        if last:
            state[TO_PLAY] = 1 - player
        if count_empty(self, state) == 0:
            state[OUTCOME] = DRAWN if action else BLACK_WON
        elif state[OUTCOME] == ONGOING:
            state[PHASE] = 0 if last else 1
