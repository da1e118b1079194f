from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from stonezero.targets import Trajectory, make_samples, outcome_values, winner_of
from stonezoo import load_game
from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, WHITE_WON


def final_state(game: Any, outcome: int) -> NDArray[np.int32]:
    """An empty board on which the game is over."""
    row: NDArray[np.int32] = game.initial_state().row
    row[OUTCOME] = outcome
    return row


def test_the_outcome_is_for_the_player_to_act_in_each_row() -> None:
    to_play = np.array([0, 0, 0, 1, 0, 1, 1], np.int32)
    assert outcome_values(to_play, 0).tolist() == [1, 1, 1, -1, 1, -1, -1]
    assert outcome_values(to_play, 1).tolist() == [-1, -1, -1, 1, -1, 1, 1]
    assert outcome_values(to_play, -1).tolist() == [0] * 7
    assert outcome_values(to_play, 0).dtype == np.float32


def test_the_winner_is_read_from_the_outcome_of_a_finished_state() -> None:
    assert [winner_of(outcome) for outcome in (BLACK_WON, WHITE_WON, DRAWN)] == [0, 1, -1]
    with pytest.raises(ValueError, match="not over"):
        winner_of(ONGOING)


def test_a_player_who_acts_several_times_in_a_row_gets_one_sign() -> None:
    # Black's last stone merges groups; it removes one and places again: three actions of Black's (V5 to V7).
    game = load_game("rive", board_size=2)
    state = game.parse_state("X. / ... / .O b".replace(" / ", "/"))
    trajectory, movers = Trajectory(0), []
    for name in ("b2", "xa2", "a2"):
        row = state.row
        policy = np.zeros(game.num_actions, np.float32)
        policy[state.str_to_action(name)] = 1
        trajectory.record(row, policy, 7)
        movers.append(state.to_play)
        state.step(state.str_to_action(name))
    assert movers == [0, 0, 0]
    samples = make_samples(game, trajectory, final_state(game, WHITE_WON))
    assert samples is not None
    assert samples.value.tolist() == [-1, -1, -1]
    assert samples.version.tolist() == [7, 7, 7]


def test_the_mask_of_a_row_is_that_of_its_state_and_rows_are_copies() -> None:
    game = load_game("rive", board_size=2)
    state, trajectory = game.initial_state(), Trajectory(0)
    row, policy = state.row, np.zeros(game.num_actions, np.float32)
    policy[3] = 1
    trajectory.record(row, policy, 0)
    expected, row[:], policy[:] = row.copy(), 9, 9
    samples = make_samples(game, trajectory, final_state(game, BLACK_WON))
    assert samples is not None
    assert np.array_equal(samples.states, expected[None])
    assert np.array_equal(samples.legal_action_mask[0], state.legal_action_mask)
    assert samples.search_policy.sum() == 1


def test_a_game_without_recorded_positions_teaches_nothing() -> None:
    game = load_game("rive", board_size=2)
    assert make_samples(game, Trajectory(0), final_state(game, DRAWN)) is None
    with pytest.raises(ValueError, match="not over"):
        make_samples(game, Trajectory(0), game.initial_state().row)
