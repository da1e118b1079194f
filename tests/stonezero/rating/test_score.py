"""Statistics against closed forms and by simulation."""

import math

import numpy as np
import pytest

from stonezero.rating import elo_difference, expected_score, score_interval


def test_pairs_whose_games_always_end_alike_give_wilsons_interval() -> None:
    # Wilson (1927) for 70 of 100: 95% from 0.6042 to 0.7811.
    interval = score_interval([1.0] * 70 + [0.0] * 30)
    assert interval.score == pytest.approx(0.7)
    assert interval.low == pytest.approx(0.6042, abs=1e-4)
    assert interval.high == pytest.approx(0.7811, abs=1e-4)


def test_pairs_that_are_all_won_leave_wilsons_doubt() -> None:
    # With x = P of P trials Wilson's lower end is P / (P + z^2).
    for pairs in (1, 20, 100):
        interval = score_interval([1.0] * pairs)
        assert interval.score == interval.high == 1.0
        assert interval.low == pytest.approx(pairs / (pairs + 1.959964**2), abs=1e-6)
        lost = score_interval([0.0] * pairs)
        assert lost.high == pytest.approx(1 - interval.low)
        assert lost.low == 0.0


def test_many_pairs_give_the_normal_interval_over_pairs() -> None:
    scores = np.random.default_rng(1).choice([0, 0.25, 0.5, 0.75, 1], 20_000, p=[0.1, 0.1, 0.5, 0.1, 0.2])
    interval = score_interval(scores)
    half = 1.959964 * scores.std() / math.sqrt(len(scores))
    assert interval.low == pytest.approx(scores.mean() - half, abs=2e-5)
    assert interval.high == pytest.approx(scores.mean() + half, abs=2e-5)


def test_games_that_the_colour_decides_say_more_than_independent_games() -> None:
    coloured = score_interval([0.5] * 50)
    independent = score_interval([0.0, 0.5, 0.5, 1.0] * 12 + [0.5, 0.5])
    assert coloured.score == independent.score == 0.5
    assert coloured.high - coloured.low < 0.3 * (independent.high - independent.low)
    assert coloured.low < 0.5 < coloured.high


@pytest.mark.parametrize("pairs", [30, 100])
@pytest.mark.parametrize(
    ("as_black", "as_white", "drawn", "alike"),
    [(0.5, 0.5, 0, 0), (0.8, 0.8, 0, 0), (0.95, 0.9, 0, 0), (0.9, 0.2, 0, 0), (0.6, 0.5, 0.5, 0), (0.8, 0.8, 0, 0.8)],
)
def test_the_interval_holds_the_true_score_in_95_percent_of_simulated_matches(
    pairs: int, as_black: float, as_white: float, drawn: float, alike: float
) -> None:
    rng, matches = np.random.default_rng(2), 2_000
    luck = rng.random((matches, pairs, 2))
    luck[..., 1] = np.where(rng.random((matches, pairs)) < alike, luck[..., 0], luck[..., 1])
    points = (luck < [as_black, as_white]).astype(float)
    points = np.where(rng.random(points.shape) < drawn, 0.5, points)
    true = (1 - drawn) * (as_black + as_white) / 2 + drawn / 2
    inside = [low <= true <= high for _, low, high in map(score_interval, points.mean(2))]
    sigma = math.sqrt(0.95 * 0.05 / matches)
    assert abs(np.mean(inside) - 0.95) < 4 * sigma


def test_a_wider_confidence_gives_a_wider_interval() -> None:
    scores = [1.0, 0.5, 0.5, 0.0, 1.0]
    assert score_interval(scores, 0.99).low < score_interval(scores, 0.9).low


@pytest.mark.parametrize("scores", [[], [1.2], [-0.1], [math.nan], [[0.5]]])
def test_scores_that_are_none_are_refused(scores: list[float]) -> None:
    with pytest.raises(ValueError, match="pair scores"):
        score_interval(scores)


def test_elo_and_expected_score_are_inverse() -> None:
    assert elo_difference(0.5) == 0
    assert elo_difference(10 / 11) == pytest.approx(400)
    assert elo_difference(1) == math.inf
    assert elo_difference(0) == -math.inf
    for score in (0.01, 0.3, 0.76):
        assert expected_score(elo_difference(score)) == pytest.approx(score)
    with pytest.raises(ValueError, match=r"score=1\.5"):
        elo_difference(1.5)
