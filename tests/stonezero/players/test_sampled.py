"""A policy that draws."""

import numpy as np

from stonezero.players import SampledPlayer
from stonezero.players.network import Floats
from stonezero.players.sampled import draw_uniform
from stonezoo import load_game
from stonezoo.core.rng import new_streams, uniform

GAME = load_game("rive", board_size=2)


def logits_of_cells(observations: Floats) -> tuple[Floats, Floats]:
    """Cell i has the weight i + 1."""
    weights = np.log(np.arange(1, 8, dtype=np.float32))
    return np.tile(weights, (len(observations), 1)), np.zeros(len(observations), np.float32)


def test_the_batch_of_random_numbers_is_that_of_the_streams() -> None:
    streams, alone = new_streams(7, 50), new_streams(7, 50)
    for _ in range(20):
        np.testing.assert_array_equal(draw_uniform(streams), [uniform(stream) for stream in alone])
    np.testing.assert_array_equal(streams, alone)


def test_legal_actions_are_drawn_in_proportion_and_no_others() -> None:
    state = GAME.parse_state("X. / ... / .. w".replace(" / ", "/"))
    legal = set(state.legal_actions.tolist())
    assert len(legal) == 3
    n = 20_000
    player = SampledPlayer(GAME, logits_of_cells, "drawn")
    actions = player.act(np.tile(state.row, (n, 1)), new_streams(1, n))
    assert actions.dtype == np.int32
    assert set(actions.tolist()) == legal
    total = sum(action + 1 for action in legal)
    for action in legal:
        p = (action + 1) / total
        sigma = np.sqrt(p * (1 - p) / n)
        assert abs(np.mean(actions == action) - p) < 4 * sigma


def test_an_action_depends_on_its_own_state_and_stream_alone() -> None:
    player = SampledPlayer(GAME, logits_of_cells, "drawn")
    states = np.tile(GAME.initial_state().row, (30, 1))
    together = player.act(states, new_streams(5, 30))
    one_by_one = [player.act(states[:1], stream[None].copy())[0] for stream in new_streams(5, 30)]
    np.testing.assert_array_equal(together, one_by_one)
