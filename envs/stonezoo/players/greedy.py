"""One action ahead: the player who takes what looks best now."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import DRAWN, ONGOING, OUTCOME, TO_PLAY, Rules, copy_row
from stonezoo.core.jit import jit
from stonezoo.core.rng import randint
from stonezoo.players.heuristics import HIGHEST, Heuristic, find_heuristic, heuristic_kernel, heuristic_names
from stonezoo.players.player import PlayerError
from stonezoo.state import Game


@jit
def _greedy_batch(
    rules: Rules,
    heuristic: Heuristic,
    states: NDArray[np.int32],
    streams: NDArray[np.int64],
    legal: NDArray[np.int32],
    after: NDArray[np.int32],
    work: NDArray[np.int32],
    actions: NDArray[np.int32],
) -> None:
    for lane in range(states.shape[0]):
        state, stream = states[lane], streams[lane]
        mover = int(state[TO_PLAY])
        best, best_value, equals = -1, 0, 0
        for i in range(rules.legal_actions(state, legal)):
            copy_row(state, after)
            rules.step(after, int(legal[i]))
            outcome = int(after[OUTCOME])
            if outcome == ONGOING:
                value = heuristic.value(rules, after, mover, work)
            elif outcome == DRAWN:
                value = 0
            else:
                value = HIGHEST + 1 if outcome - 1 == mover else -HIGHEST - 1
            if best < 0 or value > best_value:
                best, best_value, equals = int(legal[i]), value, 1
            elif value == best_value:
                equals += 1
                if randint(stream, equals) == 0:  # each of the equals stays with the same probability
                    best = int(legal[i])
        actions[lane] = best


greedy_batch = heuristic_kernel(_greedy_batch)
"""greedy_batch(rules, heuristic, states int32 [B, S], streams int64 [B, 2], legal int32 [A], after int32 [S], work
int32, actions int32 [B]): the action a lane after which the heuristic's value is highest for who acts."""


class GreedyPlayer:
    """`greedy`: the action after which the game's heuristic values the state highest, wins above all else.

    Of equal actions each is as likely.
    """

    name = "greedy"

    def __init__(self, game: Game, heuristic: Heuristic | None = None) -> None:
        """`heuristic` is by default the one that is registered for the game.

        Raises:
            PlayerError: there is none.
        """
        found = find_heuristic(game.name) if heuristic is None else heuristic
        if found is None:
            raise PlayerError(
                f"greedy: {game.name} has no heuristic, only {', '.join(heuristic_names())} have; "
                "stonezoo.players.heuristics.register_heuristic adds one"
            )
        self._heuristic = found
        self._rules = game.rules

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `Player.act`."""
        rules = self._rules
        actions = np.empty(len(states), np.int32)
        legal, after = np.empty(rules.num_actions, np.int32), np.empty(rules.state_size, np.int32)
        work = np.empty(self._heuristic.work_size(rules), np.int32)
        greedy_batch(rules, self._heuristic, states, streams, legal, after, work, actions)
        return actions
