"""Ratings of the players of a tournament, with intervals by a bootstrap over pairs of games.

The bootstrap is Rubin's (1981) Bayesian one: a replicate gives the pairs of each meeting random weights, drawn from a
Dirichlet distribution over the outcomes that a pair can have. To the pairs that were seen it adds PRIOR_PAIRS pairs a
meeting, spread evenly over all outcomes: otherwise a meeting that one player won throughout would leave no doubt in any
replicate, and infinite ratings. The ratings themselves are fitted with the same addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezero.rating.bradley_terry import ELO, Fit, fit
from stonezero.rating.score import CONFIDENCE, Interval

PRIOR_PAIRS = 0.5  # a meeting; chosen by the coverage of the intervals in simulation (docs/arena.md)
LEAST_PAIRS = 0.01  # a meeting, spread like the prior, that no replicate goes below: it bounds how high a rating can go
REPLICATES = 1000
CHUNK = 250  # replicates fitted at once, which bounds the memory
MIN_SHAPE = 0.5  # of all outcomes of a meeting together, where it has few pairs
LOSS, DRAW, WIN = 0, 1, 2  # of a game, as the first player of a meeting sees it
OUTCOMES = 3


@dataclass(frozen=True)
class Meeting:
    """The pairs of games between two players, counted by their outcomes."""

    first: int  # the players' numbers
    second: int
    pairs: NDArray[np.int64] = field(repr=False)  # [3, 3]: the first's result as Black, and as White, LOSS, DRAW or WIN

    @classmethod
    def of(cls, first: int, second: int, points: Sequence[tuple[float, float]]) -> Meeting:
        """Counts pairs; `points` are the first player's 0, 1/2 or 1 with Black and with White, pair by pair."""
        pairs = np.zeros((OUTCOMES, OUTCOMES), np.int64)
        for as_black, as_white in points:
            pairs[round(2 * as_black), round(2 * as_white)] += 1
        return cls(first, second, pairs)


class PlayerRating(NamedTuple):
    """One player's rating."""

    name: str
    elo: float
    low: float
    high: float
    games: int
    score: float  # points a game, in [0, 1]; NaN without games


@dataclass(frozen=True)
class Ratings:
    """What the games of a tournament say; Elo is relative, with the players' mean (or the anchor) at 0."""

    players: tuple[PlayerRating, ...]  # in the order given
    advantage: Interval  # Elo that having the first turn is worth
    draw_rate: float  # of equal players, without the advantage
    anchor: str | None
    confidence: float
    replicates: int
    samples: NDArray[np.float64] = field(repr=False, compare=False)  # Elo [R, N] of the replicates

    def superiority(self, first: int, second: int) -> float:
        """The share of replicates in which `first` is rated above `second`."""
        return float((self.samples[:, first] > self.samples[:, second]).mean())


def rate(
    names: Sequence[str],
    meetings: Sequence[Meeting],
    *,
    anchor: str | None = None,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    prior_pairs: float = PRIOR_PAIRS,
    seed: int = 0,
) -> Ratings:
    """Rates players by the Bradley-Terry model of `stonezero.rating.bradley_terry`.

    Args:
        names: the players'.
        meetings: who met whom with what results; they must connect all players.
        anchor: the player whose rating is set to 0; None: the mean is.
        confidence: that an interval holds the true rating.
        replicates: of the bootstrap.
        prior_pairs: pairs added to each meeting, spread evenly over the outcomes.
        seed: of the bootstrap.

    Raises:
        ValueError: there is no such anchor, or two players are connected by no chain of meetings.
    """
    if anchor is not None and anchor not in names:
        raise ValueError(f"anchor={anchor!r} is not one of the players {', '.join(names)}")
    played = [meeting for meeting in meetings if meeting.pairs.sum() > 0]
    _check_connected(names, played)
    counts = np.array([meeting.pairs for meeting in played], np.float64)  # [M, 3, 3]
    possible = _possible_outcomes(counts)  # [3, 3]
    prior = prior_pairs * possible / possible.sum()
    weights = counts + prior
    players = np.array(
        [
            pairing
            for meeting in played
            for pairing in ((meeting.first, meeting.second), (meeting.second, meeting.first))
        ]
    )
    centre = fit(_games(weights[None]), players, len(names))
    rng = np.random.default_rng(seed)
    totals = weights.sum((1, 2))  # [M]
    # A Dirichlet weight of shapes that add up to T varies as 1 / (T + 1), the mean of P pairs as 1 / (P - 1) estimates.
    shape = weights * (np.maximum(totals - 2, MIN_SHAPE) / totals)[:, None, None]
    samples, advantages = [], []
    for first in range(0, replicates, CHUNK):
        drawn = rng.standard_gamma(shape, (min(CHUNK, replicates - first), *weights.shape))
        drawn *= (totals / drawn.sum((2, 3)))[:, :, None, None]  # Dirichlet weights that add up to the pairs
        drawn += LEAST_PAIRS * possible / possible.sum()
        replicate = fit(_games(drawn), players, len(names), start=centre)
        samples.append(replicate.strengths)
        advantages.append(replicate.advantage)
    return _ratings(names, played, centre, np.concatenate(samples), np.concatenate(advantages), anchor, confidence)


def _ratings(
    names: Sequence[str],
    meetings: Sequence[Meeting],
    centre: Fit,
    samples: NDArray[np.float64],
    advantages: NDArray[np.float64],
    anchor: str | None,
    confidence: float,
) -> Ratings:
    strengths = centre.strengths[0]
    if anchor is not None:
        place = list(names).index(anchor)
        strengths = strengths - strengths[place]
        samples = samples - samples[:, place : place + 1]
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    # Of R replicates the (R + 1) p-th is the percentile p: the usual interpolation makes intervals too short.
    low, high = ELO * np.quantile(samples, tails, axis=0, method="weibull")
    games, points = _points(meetings, len(names))
    rows = tuple(
        PlayerRating(
            name,
            float(ELO * strengths[k]),
            float(low[k]),
            float(high[k]),
            int(games[k]),
            float(points[k] / games[k]) if games[k] else float("nan"),
        )
        for k, name in enumerate(names)
    )
    low_advantage, high_advantage = (float(ELO * edge) for edge in np.quantile(advantages, tails, method="weibull"))
    draws = np.exp(centre.draws[0])
    return Ratings(
        rows,
        Interval(float(ELO * centre.advantage[0]), low_advantage, high_advantage),
        float(draws / (2 + draws)),
        anchor,
        confidence,
        len(samples),
        ELO * samples,
    )


def _possible_outcomes(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 for each outcome that a pair can have, float [3, 3]; draws only where the tournament has any."""
    possible = np.ones((OUTCOMES, OUTCOMES))
    if counts[:, DRAW, :].sum() + counts[:, :, DRAW].sum() == 0:
        possible[DRAW, :] = possible[:, DRAW] = 0
    return possible


def _games(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Games [R, 2 M, 3] that Black won, drew, lost, from pairs [R, M, 3, 3]; rows as the pairings of `rate`."""
    first_black = weights.sum(3)[:, :, ::-1]  # WIN, DRAW, LOSS of the first player, who is Black
    first_white = weights.sum(2)  # LOSS of the first player is a win for Black
    games = np.stack([first_black, first_white], 2)  # [R, M, 2, 3]
    return games.reshape(len(weights), -1, OUTCOMES)


def _points(meetings: Sequence[Meeting], num_players: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Games and points of each player, float [N]."""
    games, points = np.zeros(num_players), np.zeros(num_players)
    for meeting in meetings:
        count = 2 * float(meeting.pairs.sum())
        results = meeting.pairs.sum(1) + meeting.pairs.sum(0)  # losses, draws, wins
        won = float(results[WIN] + results[DRAW] / 2)
        for player, share in ((meeting.first, won), (meeting.second, count - won)):
            games[player] += count
            points[player] += share
    return games, points


def _check_connected(names: Sequence[str], meetings: Sequence[Meeting]) -> None:
    reached, fresh = {0}, [0]
    while fresh:
        player = fresh.pop()
        for meeting in meetings:
            for one, other in ((meeting.first, meeting.second), (meeting.second, meeting.first)):
                if one == player and other not in reached:
                    reached.add(other)
                    fresh.append(other)
    apart = [name for number, name in enumerate(names) if number not in reached]
    if apart:
        raise ValueError(
            f"no chain of games connects {names[0]} with {', '.join(apart)}, so their ratings cannot be compared"
        )
