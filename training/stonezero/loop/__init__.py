"""The training loop: self-play, learning, evaluation, and a run's folder from which it goes on after any stop."""

from stonezero.loop.report import Reporter
from stonezero.loop.trainer import Trainer, read_evaluation, train

__all__ = ["Reporter", "Trainer", "read_evaluation", "train"]
