"""Pictures for TensorBoard: what they show where."""

import numpy as np
import pytest

from stonezero.config import SearchConfig, SelfplayConfig
from stonezero.loop.watch_pictures import (
    BOARD_HEIGHT,
    BOARDS,
    DIAGRAM_SCALE,
    GAP,
    MARGIN,
    SIDE,
    game_picture,
    reliability_picture,
)
from stonezero.selfplay import FinishedGame, SelfPlay
from stonezoo import load_game
from stonezoo.render import to_rgb_array
from tests.stonezero.toy_game import ToyNetwork


@pytest.mark.parametrize(
    ("name", "parameters"), [("rive", {"board_size": 2}), ("resolve", {"board_size": 3}), ("dara", {"quiet_limit": 8})]
)
def test_a_game_s_picture_has_its_positions_with_their_search_policies(name: str, parameters: dict[str, int]) -> None:
    game = load_game(name, **parameters)
    worker = SelfPlay(
        game, SearchConfig(num_simulations=4), SelfplayConfig(num_games=4), ToyNetwork(game.num_actions), seed=1
    )
    finished = worker.play(1)[0][0]
    samples = finished.samples
    assert samples is not None
    picture = game_picture(game, finished)
    assert picture is not None
    width = to_rgb_array(game.initial_state(), BOARD_HEIGHT).shape[1]
    count = min(BOARDS, len(samples) + 1)
    assert picture.shape == (BOARD_HEIGHT, count * width + (count - 1) * GAP, 3)
    chosen = np.unique(np.linspace(0, len(samples) - 1, count - 1).astype(int))
    states = [game.initial_state()]
    for action in finished.actions:
        states.append(states[-1].copy())
        states[-1].step(action)
    for place, k in enumerate(chosen.tolist()):
        state = next(state for state in states if np.array_equal(state.row, samples.states[k]))
        left = place * (width + GAP)
        expected = to_rgb_array(state, BOARD_HEIGHT, samples.search_policy[k])
        assert np.array_equal(picture[:, left : left + width], expected)
    assert np.array_equal(picture[:, -width:], to_rgb_array(states[-1], BOARD_HEIGHT))


def test_a_game_of_which_nothing_was_recorded_has_no_picture() -> None:
    assert game_picture(load_game("rive", board_size=2), FinishedGame(0, (), 0, 0, None)) is None


def test_the_diagram_has_a_dot_where_prediction_and_outcome_meet() -> None:
    rows = np.array([0] * 9 + [50])
    predicted, outcome = np.full(10, np.nan), np.full(10, np.nan)
    empty = reliability_picture(np.zeros(10, np.int64), predicted, outcome)
    predicted[9], outcome[9] = 0.9, -0.5
    picture = reliability_picture(rows, predicted, outcome)
    changed = np.argwhere((picture != empty).any(2)) / DIAGRAM_SCALE  # row, column in units
    assert changed.mean(0) == pytest.approx((MARGIN + 0.75 * SIDE, MARGIN + 0.95 * SIDE), abs=0.05)
