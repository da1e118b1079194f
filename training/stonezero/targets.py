"""What is learnt from a game.

Of every position that was searched in full: the search policy, the outcome, and whose each cell is in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stonezero.replay import Samples
from stonezoo.core.game import BLACK, BLACK_WON, DRAWN, EMPTY, NO_WINNER, OUTCOME, TO_PLAY, WHITE, WHITE_WON
from stonezoo.kernels.batch import mask_batch
from stonezoo.state import Game


@dataclass
class Trajectory:
    """One game of self-play, finished or under way."""

    number: int  # of the game: unique among the games of one start of a run
    actions: list[int] = field(default_factory=list)  # from the initial state, an opening included
    turns: int = 0  # turns begun by the other player
    # Of each recorded position: what was seen, what the search thought of it, and whose network it was.
    plies: list[int] = field(default_factory=list)  # number of actions before it
    states: list[NDArray[np.int32]] = field(default_factory=list)  # each [S]
    search_policies: list[NDArray[np.float32]] = field(default_factory=list)  # each [A]
    versions: list[int] = field(default_factory=list)

    def record(self, state: NDArray[np.int32], search_policy: NDArray[np.float32], version: int) -> None:
        """Keep a position to learn from, as copies."""
        self.plies.append(len(self.actions))
        self.states.append(state.copy())
        self.search_policies.append(search_policy.copy())
        self.versions.append(version)


def winner_of(outcome: int) -> int:
    """0 or 1 for the OUTCOME of a finished state, -1 for a draw; ValueError when the game is not over."""
    winners = {BLACK_WON: BLACK, WHITE_WON: WHITE, DRAWN: NO_WINNER}
    if outcome not in winners:
        raise ValueError(f"outcome {outcome}: the game is not over")
    return winners[outcome]


def outcome_values(to_play: NDArray[np.int32], winner: int) -> NDArray[np.float32]:
    """The outcome float32 [N] for the player `to_play` [N] of each row: 1 won, -1 lost, 0 drawn.

    It is that row's own player: who acts several times in a row sees the same sign at each of them.
    """
    if winner == NO_WINNER:
        return np.zeros(len(to_play), np.float32)
    return np.where(to_play == winner, np.float32(1), np.float32(-1))


def final_owners(to_play: NDArray[np.int32], final_board: NDArray[np.int8]) -> NDArray[np.int8]:
    """Whose each cell is when the game ends, int8 [N, cells]: 1 the row's player's, -1 the other's, 0 nobody's.

    `to_play` [N] is the player of each row, `final_board` [cells] the stones at the end as `Rules.board` gives them.
    As with `outcome_values`, a player who acts several times in a row sees the same signs at each of them.
    """
    own = final_board == to_play[:, None]  # [N, cells]
    return np.where(final_board == EMPTY, 0, np.where(own, 1, -1)).astype(np.int8)


def make_samples(game: Game, trajectory: Trajectory, final_state: NDArray[np.int32]) -> Samples | None:
    """The rows of a finished game, in order; None when nothing was recorded.

    Raises ValueError when the game is not over in `final_state` [S].
    """
    winner = winner_of(int(final_state[OUTCOME]))
    if not trajectory.states:
        return None
    states = np.stack(trajectory.states)  # [N, S]
    mask = np.zeros((len(states), game.num_actions), np.int8)
    mask_batch(game.rules, states, np.zeros(game.num_actions, np.int32), mask)
    return Samples(
        states=states,
        search_policy=np.stack(trajectory.search_policies),
        legal_action_mask=mask.astype(np.bool_),
        value=outcome_values(states[:, TO_PLAY], winner),
        version=np.array(trajectory.versions, np.int32),
        owner=final_owners(states[:, TO_PLAY], game.rules.board(final_state)),
    )
