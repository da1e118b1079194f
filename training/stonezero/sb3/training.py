"""A whole run, from an empty folder or from where it stopped."""

from __future__ import annotations

from rich.console import Console

from stonezero.arena import Evaluation
from stonezero.loop import read_evaluation, show
from stonezero.loop.report import Reporter, clock
from stonezero.sb3.run import Sb3RunFolder
from stonezero.sb3.trainer import Sb3Trainer


def train(run: Sb3RunFolder, console: Console) -> Evaluation:
    """Trains as `run.config` says, goes on where an earlier start stopped, and evaluates at the end.

    Raises:
        RunError: another trainer is at work in the folder.
        ValueError: a player's text names nobody, or there are other faults in the configuration.
    """
    with run.lock(), Reporter(console) as reporter:
        trainer = Sb3Trainer(run, reporter)
        try:
            trainer.train()
            reporter.line(f"trained for {clock(trainer.seconds)}, {trainer.steps} actions, {trainer.games} games")
            evaluation = read_evaluation(run.path) or trainer.evaluate()
        finally:
            trainer.events.close()
    show(evaluation, console)
    console.print(
        f"checkpoints in {run.checkpoints}: the folders play as any checkpoint, the zips are stable-baselines3's",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    return evaluation
