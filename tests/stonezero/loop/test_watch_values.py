"""Calibration and the look at fresh positions, against figures computed by hand."""

import numpy as np
import pytest

from stonezero.bench import mixed_positions, random_samples
from stonezero.loop.watch_values import BINS, Reliability, foretell
from stonezero.replay import Samples
from stonezoo import load_game
from stonezoo.core.game import TO_PLAY


def test_bins_hold_mean_prediction_and_mean_outcome() -> None:
    reliability = Reliability()
    reliability.add(np.array([-1, -0.9, 0.05, 0.15, 1], np.float32), np.array([-1, 1, 0, 1, 1], np.float32))
    rows, predicted, outcome = reliability.bins()
    assert rows.tolist() == [2, 0, 0, 0, 0, 2, 0, 0, 0, 1]
    assert predicted[[0, 5, 9]] == pytest.approx([-0.95, 0.1, 1.0])
    assert outcome[[0, 5, 9]] == pytest.approx([0.0, 0.5, 1.0])
    assert np.isnan(predicted[1])
    scalars = reliability.scalars()
    assert scalars["error"] == pytest.approx((2 * 0.95 + 2 * 0.4 + 0) / 5)
    assert set(scalars) == {"error", *(f"{kind}_{b}" for kind in ("predicted", "outcome") for b in (0, 5, 9))}


def test_only_the_latest_predictions_are_remembered() -> None:
    reliability = Reliability(remembered=10)
    for value in (0.5, -0.5):
        reliability.add(np.full(10, value, np.float32), np.ones(10, np.float32))
    assert reliability.values().tolist() == [-0.5] * 10


def test_a_calibrated_forecaster_has_a_small_error_and_a_boaster_a_large_one() -> None:
    rng = np.random.default_rng(0)
    value = rng.uniform(-1, 1, 4_000)
    outcome = np.where(rng.random(4_000) < (1 + value) / 2, 1.0, -1.0)
    honest, boaster = Reliability(), Reliability()
    honest.add(value.astype(np.float32), outcome.astype(np.float32))
    boaster.add(np.sign(value).astype(np.float32), outcome.astype(np.float32))
    # A bin's mean of 400 outcomes has a standard deviation below 1/20; 4 sigma of their mean absolute error.
    assert honest.scalars()["error"] < 0.2 / np.sqrt(BINS) + 0.05
    assert boaster.scalars()["error"] > 0.4


class Knowing:
    """Says the search policy itself and that the player who began wins."""

    def __init__(self, samples: Samples, logit: float = 0.0) -> None:
        self.samples, self.at, self.sizes, self.logit = samples, 0, list[int](), logit

    def __call__(self, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = slice(self.at, self.at + len(observations))
        self.at += len(observations)
        self.sizes.append(len(observations))
        policy = self.samples.search_policy[rows]
        illegal = np.float32(self.logit)  # whatever the network says of illegal actions does not count
        logits = np.where(policy > 0, np.log(np.maximum(policy, 1e-30)), illegal).astype(np.float32)
        return logits, np.where(self.samples.states[rows, TO_PLAY] == 0, 0.5, -0.5).astype(np.float32)


def samples_of_a_game_that_black_wins(count: int) -> Samples:
    game = load_game("rive", board_size=2)
    states, _ = mixed_positions(game, count, 1)
    rows = random_samples(game, states)
    value = np.where(states[:, TO_PLAY] == 0, 1, -1).astype(np.float32)
    return Samples(rows.states, rows.search_policy, rows.legal_action_mask, value, rows.version)


@pytest.mark.parametrize("logit", [0.0, 50.0])
def test_a_network_that_says_what_the_search_said_has_no_divergence(logit: float) -> None:
    samples = samples_of_a_game_that_black_wins(40)
    found, value, outcome = foretell(
        load_game("rive", board_size=2), Knowing(samples, logit), samples, rows=100, batch_size=16
    )
    assert found["policy_kl"] == pytest.approx(0, abs=1e-6)
    assert found["prior_entropy"] == pytest.approx(found["target_entropy"], abs=1e-6)
    legal = np.asarray(samples.legal_action_mask).sum(1)
    assert found["target_entropy"] == pytest.approx(np.log(legal).mean(), rel=1e-5)  # the targets are uniform
    assert found["value_sign"] == 1
    assert found["value_loss"] == pytest.approx(0.25)
    assert found["value_correlation"] == pytest.approx(1, abs=1e-6)
    assert np.array_equal(np.sign(value), outcome)


def test_no_more_rows_are_asked_than_wanted_and_no_call_is_larger_than_a_batch() -> None:
    samples = samples_of_a_game_that_black_wins(100)
    network = Knowing(samples)
    foretell(load_game("rive", board_size=2), network, samples, rows=50, batch_size=16)
    assert network.sizes == [16, 16, 16, 2]


def test_divergence_is_that_of_the_masked_softmax() -> None:
    samples = samples_of_a_game_that_black_wins(30)
    game = load_game("rive", board_size=2)
    logits = np.random.default_rng(2).normal(size=(30, 7)).astype(np.float32)
    found, _, _ = foretell(game, lambda o: (logits[: len(o)], np.zeros(len(o), np.float32)), samples, 30, 64)
    expected = []
    for row in range(30):
        legal = np.asarray(samples.legal_action_mask[row], bool)
        prior = np.exp(logits[row, legal]) / np.exp(logits[row, legal]).sum()
        target = samples.search_policy[row, legal]
        expected.append((target * np.log(target / prior)).sum())
    assert found["policy_kl"] == pytest.approx(np.mean(expected), rel=1e-4)
    assert found["value_correlation"] == 0  # a value that does not vary
