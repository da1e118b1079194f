"""The training loop: self-play, learning, evaluation, and a run's folder from which it goes on after any stop."""

from stonezero.loop.report import Reporter
from stonezero.loop.trainer import Trainer
from stonezero.loop.whole_run import read_evaluation, show, train

__all__ = ["Reporter", "Trainer", "read_evaluation", "show", "train"]
