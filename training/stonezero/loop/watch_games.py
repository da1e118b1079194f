"""What finished games of self-play were like, found by playing them once more in lockstep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stonezero.selfplay import FinishedGame
from stonezoo.core.game import DRAWN, ONGOING, OUTCOME, PHASE, TO_PLAY, endless_counter
from stonezoo.kernels.batch import reset_batch, step_batch
from stonezoo.state import Game

DISTINCT_ALARM = 0.95  # share of distinct games below which the terminal says so
ALARM_GAMES = 20  # of fewer games nothing can be said


def game_scalars(game: Game, games: Sequence[FinishedGame]) -> dict[str, float]:
    """What TensorBoard shows of games: {} when there are none.

    Keys: `actions_<phase>` (mean actions a game in each phase of the rules, openings included), `turn_length` (mean
    actions a turn), `longest_turn` (actions, of all games), `second_player_win_rate`, `limit_rate` (share of games that
    the limit on endless play ended; they are draws too).
    """
    if not games:
        return {}
    G, T = len(games), max(len(finished.actions) for finished in games)
    actions = np.full((T, G), -1, np.int32)
    for number, finished in enumerate(games):
        actions[: len(finished.actions), number] = finished.actions
    states = np.zeros((G, game.rules.state_size), np.int32)
    reset_batch(game.rules, states)
    phases = list(game.rules.phases)
    counts = np.zeros(1 + max(int(phase) for phase in phases), np.int64)
    length, longest, turns = np.zeros(G, np.int64), np.zeros(G, np.int64), np.ones(G, np.int64)  # [G]
    for action in actions:
        live = action >= 0
        counts += np.bincount(states[live, PHASE], minlength=len(counts))
        to_play = states[:, TO_PLAY].copy()
        length += live
        longest = np.maximum(longest, length)
        step_batch(game.rules, states, action)
        changed = live & (states[:, TO_PLAY] != to_play)
        length[changed] = 0
        turns += changed & (states[:, OUTCOME] == ONGOING)
    found = {f"actions_{phase.name.lower()}": counts[int(phase)] / G for phase in phases}
    found |= {
        "turn_length": counts.sum() / turns.sum(),
        "longest_turn": longest.max(),
        "second_player_win_rate": np.mean([finished.winner == 1 for finished in games]),
        "limit_rate": ended_by_limit(game, states).mean(),
    }
    return {name: float(value) for name, value in found.items()}


def repeats_alarm(games: int, distinct: int) -> str | None:
    """The line that the terminal shows when self-play repeats its games; None when all is well."""
    if games < ALARM_GAMES or distinct >= DISTINCT_ALARM * games:
        return None
    return (
        f"only {distinct} of {games} games are distinct: self-play repeats itself; raise selfplay.temperature_turns or "
        "selfplay.random_opening_actions"
    )


def ended_by_limit(game: Game, states: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which finished states [G, S] are draws by endless play."""
    endless = endless_counter(game.rules)
    if endless is None:
        return np.zeros(len(states), np.bool_)
    entry, limit = endless
    ended: NDArray[np.bool_] = (states[:, OUTCOME] == DRAWN) & (states[:, entry] >= limit)
    return ended
