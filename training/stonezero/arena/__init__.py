"""Paired games between players, and what came out of them."""

from stonezero.arena.balance import Balance
from stonezero.arena.contestant import Contestant, Fault
from stonezero.arena.evaluation import Evaluation, Row, evaluate_checkpoint, evaluate_network
from stonezero.arena.isolation import Isolated, open_contestant
from stonezero.arena.match import RepeatedGamesError, evaluate
from stonezero.arena.openings import Openings, OpeningsError, OpeningsPlan, find_openings, read_openings
from stonezero.arena.report import evaluate_command, match_table, progress_bar, warnings
from stonezero.arena.result import GameResult, MatchResult, Tally

__all__ = [
    "Balance",
    "Contestant",
    "Evaluation",
    "Fault",
    "GameResult",
    "Isolated",
    "MatchResult",
    "Openings",
    "OpeningsError",
    "OpeningsPlan",
    "RepeatedGamesError",
    "Row",
    "Tally",
    "evaluate",
    "evaluate_checkpoint",
    "evaluate_command",
    "evaluate_network",
    "find_openings",
    "match_table",
    "open_contestant",
    "progress_bar",
    "read_openings",
    "warnings",
]
