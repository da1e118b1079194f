"""The score of one player against another, its interval, and what it means in Elo.

Games come in pairs that share an opening, with colours swapped. The two games of a pair are not independent, pairs are,
so intervals are computed over pairs (as fishtest does; its "pentanomial" model).
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """An estimate with its confidence interval."""

    score: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.score:.3f} [{self.low:.3f}, {self.high:.3f}]"


def score_interval(pair_scores: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """The mean score a game, in [0, 1], and its confidence interval.

    Args:
        pair_scores: float [P], the mean score of the games of each pair: 0, 1/4, 1/2, 3/4 or 1.
        confidence: that the true score lies inside.

    It is Wilson's interval for P / d Bernoulli trials, where d is the variance of a pair's score divided by that of one
    Bernoulli trial of the same mean: 1 where both games of a pair always end alike, 1/2 where they are independent,
    less where one colour wins. d is estimated with one more pair of d = 1 thrown in, so that a few equal pairs do not
    make certain: 20 pairs that are all won give [0.84, 1].

    Raises:
        ValueError: there are no pairs, or a score is outside [0, 1].
    """
    scores = np.asarray(pair_scores, np.float64)
    if scores.ndim != 1 or len(scores) == 0 or not ((scores >= 0) & (scores <= 1)).all():
        raise ValueError(f"pair scores are one or more numbers in [0, 1], not {pair_scores!r}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence} is not between 0 and 1")
    num_pairs = len(scores)
    mean = float(scores.mean())
    bernoulli = mean * (1 - mean)
    spread = float(scores.var()) / bernoulli if bernoulli > 0 else 1.0
    trials = num_pairs / ((num_pairs * spread + 1) / (num_pairs + 1))
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (mean + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z * math.sqrt(bernoulli / trials + z * z / (4 * trials * trials)) / (1 + z * z / trials)
    return Interval(mean, max(0.0, min(mean, centre - half)), min(1.0, max(mean, centre + half)))


def elo_difference(score: float) -> float:
    """The difference in Elo that an expected score in [0, 1] means: 0.64 is 100; infinite at 0 and 1."""
    if not 0 <= score <= 1:
        raise ValueError(f"score={score} is not between 0 and 1")
    if score in (0, 1):
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def expected_score(elo: float) -> float:
    """The expected score, in [0, 1], of the player who is stronger by `elo`."""
    return 1 / (1 + 10 ** (-elo / 400))
