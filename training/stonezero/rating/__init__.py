"""Statistics of strength: what a number of games says about players. docs/arena.md has the formulas.

Games come in pairs that share an opening, with colours swapped. The two games of a pair are not independent, pairs are,
so everything here that states a doubt computes it over pairs.
"""

from stonezero.rating.bradley_terry import ELO, Fit, fit, log_likelihood, outcome_probabilities
from stonezero.rating.ratings import Meeting, PlayerRating, Ratings, rate
from stonezero.rating.score import CONFIDENCE, Interval, elo_difference, expected_score, score_interval
from stonezero.rating.sprt import PAIR_SCORES, Sprt, SprtState, count_pairs, log_likelihood_ratio

__all__ = [
    "CONFIDENCE",
    "ELO",
    "PAIR_SCORES",
    "Fit",
    "Interval",
    "Meeting",
    "PlayerRating",
    "Ratings",
    "Sprt",
    "SprtState",
    "count_pairs",
    "elo_difference",
    "expected_score",
    "fit",
    "log_likelihood",
    "log_likelihood_ratio",
    "outcome_probabilities",
    "rate",
    "score_interval",
]
