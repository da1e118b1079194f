"""Paired games between players, and what came out of them."""

from stonezero.arena.evaluation import Evaluation, Row, evaluate_checkpoint, evaluate_network
from stonezero.arena.match import RepeatedGamesError, evaluate
from stonezero.arena.openings import OpeningsError
from stonezero.arena.report import evaluate_command, match_table, progress_bar, warnings
from stonezero.arena.result import GameResult, MatchResult, Tally

__all__ = [
    "Evaluation",
    "GameResult",
    "MatchResult",
    "OpeningsError",
    "RepeatedGamesError",
    "Row",
    "Tally",
    "evaluate",
    "evaluate_checkpoint",
    "evaluate_command",
    "evaluate_network",
    "match_table",
    "progress_bar",
    "warnings",
]
