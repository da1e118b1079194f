"""The model of Bradley and Terry (1952) with draws and a first-player term, fitted by maximum likelihood.

Of a game between Black i and White j, with strengths p, the first player's advantage g and the frequency of draws d,

    P(Black wins) : P(draw) : P(White wins)  =  g p_i  :  d sqrt(g p_i p_j)  :  p_j

(Davidson 1970 for draws, Davidson and Beaver 1977 for the order of play). In the logarithms of p, g and d it is a
multinomial logit whose likelihood is concave, so Newton's method finds the one maximum; there, each player's expected
points are those that it made. All that is here works on many sets of results at once, for the bootstrap.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

ELO = 400 / math.log(10)  # Elo of one unit of log strength
MAX_STEP = 2.0  # of a parameter in one step of Newton's method; a full step may leap too far from poor starts
MAX_STEPS = 200
TOLERANCE = 1e-8  # the last step's size, in units of log strength
UNDETERMINED = (
    "these results determine no finite ratings: some players won or lost every game against the others, or never met "
    "them"
)

Floats: TypeAlias = NDArray[np.float64]


class Fit(NamedTuple):
    """Parameters of the model for R sets of results; log strengths are centred at 0."""

    strengths: Floats  # [R, N] log strength of each player
    advantage: Floats  # [R] log of the first player's advantage
    draws: Floats  # [R] log of the frequency of draws; -inf where draws are not in the model


def fit(games: Floats, players: NDArray[np.int64], num_players: int, start: Fit | None = None) -> Fit:
    """The parameters of maximum likelihood for each of R sets of results.

    Args:
        games: float [R, M, 3], of each kind of game how many (in any weights) Black won, were drawn, White won. If no
            set has a draw, there are none in the model.
        players: int [M, 2], Black and White of each kind of game.
        num_players: N.
        start: where to begin, of 1 or R sets.

    Raises:
        ValueError: the results determine no finite strengths: some players won (or lost) all their games against the
            rest, or did not meet them.
    """
    games = np.asarray(games, np.float64)
    features, with_draws = _features(games, players, num_players)  # [M, 3, K]
    num_sets, num_parameters = len(games), features.shape[2]
    totals = games.sum(2)  # [R, M]
    parameters = np.zeros((num_sets, num_parameters))
    if start is not None:
        parameters[:, :num_players] = start.strengths
        parameters[:, num_players] = start.advantage
        if with_draws:
            parameters[:, -1] = np.where(np.isfinite(start.draws), start.draws, 0.0)
    flat = features.reshape(-1, num_parameters)  # [3 M, K]
    outer = (flat[:, :, None] * flat[:, None, :]).reshape(len(flat), -1)  # [3 M, K K]
    gauge = np.zeros((num_parameters, num_parameters))
    gauge[:num_players, :num_players] = 1.0  # results leave the strengths' sum open: it stays as it is
    for _ in range(MAX_STEPS):
        expected = totals[:, :, None] * _probabilities(parameters, features)  # [R, M, 3]
        gradient = (games - expected).reshape(num_sets, -1) @ flat
        # Information: sum over games of E[x x'] - E[x] E[x]'.
        second = (expected.reshape(num_sets, -1) @ outer).reshape(num_sets, num_parameters, num_parameters)
        mean = np.einsum("rmo,mok->rmk", expected, features) / np.sqrt(np.maximum(totals, 1e-300))[:, :, None]
        information = second - np.matmul(mean.transpose(0, 2, 1), mean) + gauge
        try:
            step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            raise ValueError(UNDETERMINED) from None
        largest = np.abs(step).max(1, keepdims=True)
        parameters += step * np.minimum(1.0, MAX_STEP / np.maximum(largest, MAX_STEP))
        if largest.max() < TOLERANCE:
            break
    else:
        raise ValueError(UNDETERMINED)
    strengths = parameters[:, :num_players]
    return Fit(
        strengths - strengths.mean(1, keepdims=True),
        parameters[:, num_players],
        parameters[:, -1] if with_draws else np.full(num_sets, -math.inf),
    )


def outcome_probabilities(difference: float, advantage: float = 0.0, draws: float = -math.inf) -> Floats:
    """Probabilities float [3] that Black wins, of a draw, and that White wins.

    All arguments are logarithms: Black's strength less White's, the first player's advantage, the frequency of draws.
    """
    lead = difference + advantage
    logits = np.array([lead / 2, draws, -lead / 2])
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def log_likelihood(games: Floats, players: NDArray[np.int64], found: Fit) -> Floats:
    """The logarithm of the likelihood [R] of results as for `fit`, up to a constant."""
    features, with_draws = _features(np.asarray(games, np.float64), players, found.strengths.shape[1])
    columns = [found.strengths, found.advantage[:, None]]
    if with_draws:
        columns.append(found.draws[:, None])
    probabilities = _probabilities(np.concatenate(columns, 1), features)
    return np.asarray((games * np.log(np.maximum(probabilities, 1e-300))).sum((1, 2)))


def _features(games: Floats, players: NDArray[np.int64], num_players: int) -> tuple[Floats, bool]:
    """What each parameter adds to the logit of each outcome, float [M, 3, K], and whether draws are in the model."""
    with_draws = bool((games[:, :, 1] > 0).any())
    features = np.zeros((len(players), 3, num_players + 1 + with_draws))
    kind = np.arange(len(players))
    for outcome, sign in ((0, 0.5), (2, -0.5)):  # the common factor sqrt(g p_i p_j) is taken out
        features[kind, outcome, players[:, 0]] += sign
        features[kind, outcome, players[:, 1]] -= sign
        features[:, outcome, num_players] = sign
    if with_draws:
        features[:, 1, -1] = 1.0
    return features, with_draws


def _probabilities(parameters: Floats, features: Floats) -> Floats:
    """Of each outcome, float [R, M, 3]."""
    shape = features.shape
    logits = (parameters @ features.reshape(-1, shape[2]).T).reshape(len(parameters), shape[0], 3)
    if shape[2] == 0 or not features[:, 1].any():
        logits[:, :, 1] = -np.inf  # no draws
    weights = np.exp(logits - logits.max(2, keepdims=True))
    return np.asarray(weights / weights.sum(2, keepdims=True))
