"""The sequential test against closed forms, and its errors in simulated matches."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from stonezero.rating import PAIR_SCORES, Sprt, count_pairs, expected_score, log_likelihood_ratio


def test_pairs_that_are_won_or_lost_alone_give_the_ratio_of_bernoulli_trials() -> None:
    # With scores 0 and 1 alone the mean fixes the distribution: LLR = 70 log(.6 / .5) + 30 log(.4 / .5).
    closed = 70 * math.log(0.6 / 0.5) + 30 * math.log(0.4 / 0.5)
    assert log_likelihood_ratio([30, 0, 0, 0, 70], 0.5, 0.6) == pytest.approx(closed, abs=0.01)


def test_many_pairs_give_the_normal_approximation() -> None:
    # Near the observed mean m the LLR tends to n (s1 - s0) (2 m - s0 - s1) / (2 v), v the variance of a pair.
    counts = np.array([1000, 5000, 9000, 6000, 1500])
    mean = counts @ PAIR_SCORES / counts.sum()
    variance = counts @ (PAIR_SCORES - mean) ** 2 / counts.sum()
    score0, score1 = mean - 0.004, mean + 0.008
    normal = counts.sum() * (score1 - score0) * (2 * mean - score0 - score1) / (2 * variance)
    assert log_likelihood_ratio(counts, score0, score1) == pytest.approx(normal, rel=0.02)


def test_exchanging_players_and_hypotheses_changes_the_sign() -> None:
    counts = np.array([3, 8, 20, 11, 6])
    there = Sprt(0, 30).llr(counts)
    assert there == pytest.approx(-Sprt(-30, 0).llr(counts[::-1]))
    assert there == pytest.approx(-log_likelihood_ratio(counts, expected_score(30), expected_score(0)))


def test_the_likelihood_ratio_is_that_of_the_most_likely_distributions_of_each_mean() -> None:
    # Maximum likelihood under a mean, by brute force over the three scores that were seen.
    counts = np.array([10, 0, 25, 0, 18])

    def best(score: float) -> float:
        top = np.linspace(1e-6, 1 - 1e-6, 200_001)  # probability of 1; of 0.5 it is 2 (score - top)
        half = 2 * (score - top)
        zero = 1 - half - top
        inside = (half > 0) & (zero > 0)
        return float(np.max(10 * np.log(zero[inside]) + 25 * np.log(half[inside]) + 18 * np.log(top[inside])))

    assert log_likelihood_ratio(counts, 0.5, 0.62) == pytest.approx(best(0.62) - best(0.5), abs=2e-3)


def test_bounds_are_walds() -> None:
    assert Sprt(0, 10, 0.05, 0.1).bounds == pytest.approx((math.log(0.1 / 0.95), math.log(0.9 / 0.05)))


def test_the_test_stops_at_the_first_pair_that_crosses_a_bound_and_looks_no_further() -> None:
    test = Sprt(0, 200)
    won = test.test([1.0] * 50)
    assert won.decision == "H1"
    assert won.pairs < 20
    assert test.llr(count_pairs([1.0] * won.pairs)) == won.llr >= won.upper
    assert test.llr(count_pairs([1.0] * (won.pairs - 1))) < won.upper
    assert test.test([1.0] * won.pairs + [0.0] * 50) == won  # what comes after the decision changes nothing
    assert test.test([0.0] * 50).decision == "H0"
    assert test.test([1.0] * (won.pairs - 1)).decision is None
    assert test.test([]).pairs == 0
    assert "H1 accepted" in str(won)


def test_texts_of_tests_are_read() -> None:
    assert Sprt.parse("0,20") == Sprt(0, 20, 0.05, 0.05)
    assert Sprt.parse("-5, 5, 0.1, 0.2") == Sprt(-5, 5, 0.1, 0.2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0", "expected ELO0,ELO1"),
        ("a,b", "expected ELO0,ELO1"),
        ("0,1,2", "expected ELO0,ELO1"),
        ("0,inf", "expected ELO0,ELO1"),
        ("5,5", "must be below"),
        ("-1000000,0", "between -2000 and 2000"),
        ("0,20000", "between -2000 and 2000"),
        ("0,1e-300", "too near each other"),
        ("0,5,0.6,0.05", "between 0 and 0.5"),
    ],
)
def test_a_test_that_makes_no_sense_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Sprt.parse(text)


def simulated_decisions(
    test: Sprt, elo: float, matches: int, seed: int, drawn: float = 0.3, opening: float = 150.0, longest: int = 4000
) -> NDArray[np.int64]:
    """How many of so many matches accept H0, H1 and neither, [3]; the test looks at every pair.

    Openings favour a colour by a normal number of Elo, so that the games of a pair are not independent.
    """
    rng = np.random.default_rng(seed)
    counts = np.zeros((matches, 5), np.int64)
    live, decided = np.arange(matches), np.zeros(3, np.int64)
    lower, upper = test.bounds
    offsets = rng.normal(0, opening, 20_000)

    def chances(lead: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """To win (unless drawn) and to draw."""
        win = 1 / (1 + 10 ** (-lead / 400))
        return win, drawn * 4 * win * (1 - win)

    def score(strength: float) -> float:
        win, draw = chances(strength + np.concatenate([offsets, -offsets]))
        return float(np.mean((1 - draw) * win + draw / 2))

    # Draws and tilted openings flatten the score: the strength is such that the score is what `elo` means.
    low, high = -1000.0, 1000.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if score(middle) < expected_score(elo) else (low, middle)
    for _ in range(longest):
        tilt = rng.normal(0, opening, len(live))
        points = np.zeros(len(live))
        for sign in (1, -1):
            win, draw = chances(low + sign * tilt)
            luck = (rng.random(len(live)) < win).astype(float)
            points += np.where(rng.random(len(live)) < draw, 0.5, luck)
        counts[live, (2 * points).astype(int)] += 1
        llr = test.llr(counts[live])
        decided += [int((llr <= lower).sum()), int((llr >= upper).sum()), 0]
        live = live[(llr > lower) & (llr < upper)]
        if len(live) == 0:
            break
    decided[2] = len(live)
    return decided


def test_errors_stay_within_their_bounds_in_simulated_matches_small() -> None:
    # 3 sigma of a share of 0.05 in 400 is 0.033.
    test = Sprt(0, 100)
    for elo, wrong in ((0.0, 1), (100.0, 0)):
        decided = simulated_decisions(test, elo, 400, seed=1, longest=600)
        assert decided[2] == 0
        assert decided[wrong] / 400 < 0.05 + 0.033


@pytest.mark.slow
@pytest.mark.parametrize(("elo0", "elo1", "alpha", "beta"), [(0, 50, 0.05, 0.05), (-20, 30, 0.1, 0.02)])
def test_errors_stay_within_their_bounds_in_simulated_matches(
    elo0: float, elo1: float, alpha: float, beta: float
) -> None:
    # 4 sigma above the nominal error; Wald's bounds overshoot, so true errors are below it.
    test, matches = Sprt(elo0, elo1, alpha, beta), 2000
    for elo, wrong, error in ((elo0, 1, alpha), (elo1, 0, beta)):
        decided = simulated_decisions(test, elo, matches, seed=2)
        print(f"{test}, true Elo {elo:g}: H0 {decided[0] / matches:.4f}, H1 {decided[1] / matches:.4f}")
        assert decided[2] == 0
        assert decided[wrong] / matches < error + 4 * math.sqrt(error * (1 - error) / matches)
        assert decided[1 - wrong] / matches > 1 - error - 4 * math.sqrt(error * (1 - error) / matches)
