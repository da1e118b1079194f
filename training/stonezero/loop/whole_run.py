"""A run from wherever it stands to its end, its evaluation included."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

from stonezero.arena import Evaluation, match_table, warnings
from stonezero.loop.report import Reporter, clock
from stonezero.loop.trainer import Trainer
from stonezero.run import RunError, RunFolder
from stonezero.storage import EVALUATION_FILE


def train(run: RunFolder, console: Console) -> Evaluation:
    """Train a run to its end, from wherever it stands, then evaluate it and print the table.

    Raises:
        RunError: another trainer is at work in the folder, it cannot be written (what was saved before stays whole), or
            nothing that it can go on from is whole; the message names the files.
    """
    with run.lock(), run.writing(), Reporter(console) as reporter:
        trainer = Trainer(run, reporter)
        try:
            trainer.train()
            reporter.line(f"trained for {clock(trainer.seconds)}, {trainer.learner.steps} steps, {trainer.games} games")
            evaluation = _whole_evaluation(run, reporter) or trainer.evaluate()
            trainer.show_evaluation(evaluation)
        finally:
            trainer.close()
    show(evaluation, console)
    console.print(f"checkpoints in {run.checkpoints}", highlight=False, markup=False, soft_wrap=True)
    return evaluation


def show(evaluation: Evaluation, console: Console) -> None:
    """Print an evaluation's table and what its reader must know."""
    if not evaluation.rows:
        text = f"{evaluation.name} was not evaluated: evaluation.opponents names no player"
        console.print(text, highlight=False, markup=False, soft_wrap=True)
        return
    match = evaluation.rows[0].match
    console.print(match_table(evaluation.rows, f"{match.games} games each, in pairs with colours swapped"))
    for line in warnings(evaluation.rows):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def read_evaluation(run: Path) -> Evaluation | None:
    """The evaluation at the end of a run, when there was one. RunError, which names the file, when it is torn."""
    path = run / EVALUATION_FILE
    if not path.exists():
        return None
    try:
        return Evaluation.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise RunError(f"{path}: not a whole evaluation: {error}") from error


def _whole_evaluation(run: RunFolder, reporter: Reporter) -> Evaluation | None:
    try:
        return read_evaluation(run.path)
    except RunError as error:
        reporter.line(f"{error}; evaluating again")
        return None
