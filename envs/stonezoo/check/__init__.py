"""Checks that any game must pass, for games from outside too: `stonezoo check-game MODULE:CLASS`.

A check looks at states of random games and yields a `Fault` for what is wrong, with the actions that lead there.
"""

from stonezoo.check.report import CheckResult, Fault, Report
from stonezoo.check.run import CHECKS, check_game
from stonezoo.check.subject import CheckError, load_subject

__all__ = ["CHECKS", "CheckError", "CheckResult", "Fault", "Report", "check_game", "load_subject"]
