"""The sequential probability ratio test on pairs of games: is the player stronger by `elo1` rather than by `elo0`?

The test is Wald's (1945): go on while the logarithm of the likelihood ratio (LLR) of the two hypotheses lies between
log(beta / (1 - alpha)) and log((1 - beta) / alpha). The observation is a pair's score, one of five values
("pentanomial"), whose distribution is unknown but for its mean under each hypothesis. The likelihood is therefore the
generalised one: each hypothesis has the distribution of maximum likelihood among those with its mean (Van den Bergh,
"The Generalized Maximum Likelihood Ratio for the Expectation Value of a Distribution"; it is fishtest's test). That
distribution is p_i / (1 + t (a_i - s)) for the observed frequencies p_i of the scores a_i, with t such that its mean is
s (Owen 2001, "Empirical Likelihood", section 2.9).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stonezero.rating.score import expected_score

PAIR_SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # points a game of a pair
UNSEEN = 1e-3  # pairs credited to a score that was not seen: each hypothesis needs scores on both sides of its mean
BISECTIONS = 60
MOST_ELO = 2_000.0  # of a hypothesis: one point in a hundred thousand games
FORM = "ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA, such as 0,20 or 0,20,0.05,0.05"

Decision: TypeAlias = Literal["H0", "H1"]


class Sprt(NamedTuple):
    """The hypotheses and the errors allowed. Elo is logistic: the expected score is 1 / (1 + 10^(-elo / 400))."""

    elo0: float  # H0: the player is stronger by this
    elo1: float  # H1: by this
    alpha: float = 0.05  # probability of accepting H1 where H0 holds
    beta: float = 0.05  # probability of accepting H0 where H1 holds

    @classmethod
    def parse(cls, text: str) -> Sprt:
        """Reads `elo0,elo1[,alpha,beta]`.

        Raises:
            ValueError: it is of another form, or elo0 is not below elo1, or one of them is farther from 0 than
                MOST_ELO, or an error is not between 0 and 1/2.
        """
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) not in (2, 4) or not all(map(math.isfinite, numbers)):
            raise ValueError(f"--sprt {text}: expected {FORM}")
        found = cls(*numbers)
        if max(abs(found.elo0), abs(found.elo1)) > MOST_ELO:
            raise ValueError(f"--sprt {text}: elo0 and elo1 lie between {-MOST_ELO:g} and {MOST_ELO:g}")
        if not found.elo0 < found.elo1:
            raise ValueError(f"--sprt {text}: elo0={found.elo0:g} must be below elo1={found.elo1:g}")
        if expected_score(found.elo0) == expected_score(found.elo1):
            raise ValueError(f"--sprt {text}: elo0 and elo1 are too near each other to be told apart")
        if not (0 < found.alpha < 0.5 and 0 < found.beta < 0.5):
            raise ValueError(f"--sprt {text}: alpha and beta lie between 0 and 0.5")
        return found

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLR at which H0 and H1 are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: ArrayLike) -> NDArray[np.float64]:
        """The LLR [...] of pairs counted by score, [..., 5]."""
        return log_likelihood_ratio(counts, expected_score(self.elo0), expected_score(self.elo1))

    def begin(self) -> SprtState:
        """The test before its first pair."""
        return SprtState(*self, *self.bounds, llr=0.0, pairs=0, decision=None, counts=(0,) * len(PAIR_SCORES))

    def test(self, pair_scores: Iterable[float]) -> SprtState:
        """Looks at pairs one after the other until the test is decided, and says how it stands; see `SprtState.add`."""
        state = self.begin()
        for score in pair_scores:
            state = state.add(score)
        return state


class SprtState(NamedTuple):
    """How a test stands; plain values, for JSON."""

    elo0: float
    elo1: float
    alpha: float
    beta: float
    lower: float  # LLR at or below which H0 is accepted
    upper: float  # LLR at or above which H1 is accepted
    llr: float
    pairs: int  # that the test has looked at; pairs finished after its decision are not among them
    decision: Decision | None  # None: not decided yet
    counts: tuple[int, ...]  # of these pairs by score, [5]

    def add(self, pair_score: float) -> SprtState:
        """The test after one more pair; one that is decided stays as it is.

        Args:
            pair_score: 0, 1/4, 1/2, 3/4 or 1, points a game. Pairs come in an order that does not depend on their
                results (the order in which games end does).
        """
        if self.decision is not None:
            return self
        counts = list(self.counts)
        counts[round(4 * pair_score)] += 1
        llr = float(Sprt(self.elo0, self.elo1, self.alpha, self.beta).llr(counts))
        decision: Decision | None = "H0" if llr <= self.lower else "H1" if llr >= self.upper else None
        return self._replace(llr=llr, pairs=self.pairs + 1, decision=decision, counts=tuple(counts))

    def __str__(self) -> str:
        said = {None: "not decided", "H0": "H0 accepted", "H1": "H1 accepted"}[self.decision]
        return (
            f"SPRT [{self.elo0:g}, {self.elo1:g}] Elo, alpha={self.alpha:g}, beta={self.beta:g}: {said} after "
            f"{self.pairs} pairs, LLR {self.llr:.2f} in ({self.lower:.2f}, {self.upper:.2f})"
        )


def count_pairs(pair_scores: Sequence[float]) -> NDArray[np.int64]:
    """Counts pairs by their score, int [5]."""
    return np.bincount([round(4 * score) for score in pair_scores], minlength=len(PAIR_SCORES)).astype(np.int64)


def log_likelihood_ratio(counts: ArrayLike, score0: float, score1: float) -> NDArray[np.float64]:
    """The generalised LLR [...] of an expected score of `score1` against `score0`, both inside (0, 1).

    `counts` [..., 5] are pairs by their score.
    """
    pairs = np.maximum(np.asarray(counts, np.float64), UNSEEN)
    total = pairs.sum(-1, keepdims=True)
    seen = pairs / total
    ratio = np.log(_constrained(seen, score1)) - np.log(_constrained(seen, score0))
    return np.asarray((pairs * ratio).sum(-1))


def _constrained(seen: NDArray[np.float64], score: float) -> NDArray[np.float64]:
    """The most likely distribution [..., 5] of mean `score` where frequencies `seen` [..., 5] were observed."""
    away = PAIR_SCORES - score  # from -score to 1 - score
    # The mean is right where sum p_i away_i / (1 + t away_i) = 0, which falls in t between the poles.
    low = np.full(seen.shape[:-1], -1 / away[-1])
    high = np.full(seen.shape[:-1], -1 / away[0])
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        rises = (seen * away / (1 + middle[..., None] * away)).sum(-1) > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    found = seen / (1 + ((low + high) / 2)[..., None] * away)
    return np.asarray(found / found.sum(-1, keepdims=True))
