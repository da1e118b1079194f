"""Evaluations for people: a table, a progress bar, and what `stonezero evaluate` prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from stonezero.arena.evaluation import Evaluation, MatchProgress, Row, evaluate_checkpoint
from stonezero.arena.match import OPENING_ACTIONS
from stonezero.arena.result import MatchResult
from stonezoo.state import Game

LABELS = {"search": "with search", "policy": "policy alone", "untrained": "untrained"}  # the last with search too
FAULT_WORDS = {"illegal": "by an illegal action", "crash": "by a crash", "time": "for want of an answer in time"}
PLAIN_WIDTH = 120  # columns of a table that goes to a file or a pipe
EXIT_MISSED, EXIT_WRONG = 1, 2


def match_table(rows: Sequence[Row], title: str = "") -> Table:
    """A table of matches, one a row; scores are the network's."""
    table = Table(title=title or None, title_justify="left", box=SIMPLE_HEAD, padding=0)
    table.add_column("opponent", overflow="fold")
    table.add_column("network", no_wrap=True)
    for heading in ("score", "95% interval", "Black", "White", "drawn", "distinct", "length", "s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        match = row.match
        table.add_row(
            match.opponent,
            LABELS[row.kind],
            f"{match.score:.3f}",
            f"{match.low:.3f}–{match.high:.3f}",
            f"{match.as_black.score:.3f}",
            f"{match.as_white.score:.3f}",
            str(match.draws),
            f"{match.distinct_games}/{match.games}",
            f"{match.mean_length:.0f}",
            f"{match.seconds:.1f}",
        )
    return table


def warnings(rows: Sequence[Row]) -> list[str]:
    """What a reader of the table must know: repeated games and illegal actions."""
    found = []
    for row in rows:
        match = row.match
        if row.repeats:
            found.append(
                f"{match.player} against {match.opponent}: only {match.distinct_games} of {match.games} games are "
                "distinct; the score is no evidence"
            )
        found += fault_lines(match)
    return found


def fault_lines(match: MatchResult) -> list[str]:
    """Who lost games otherwise than by the rules, how many, and an example of why."""
    found = []
    for side, name, counts in (
        ("player", match.player, match.player_faults),
        ("opponent", match.opponent, match.opponent_faults),
    ):
        for kind, count in counts.items():
            if count:
                reasons = (
                    result.fault.reason
                    for result in match.results
                    if result.fault is not None and (result.fault_by, result.fault.kind) == (side, kind)
                )
                line = f"{name} lost {count} game{'s' if count > 1 else ''} {FAULT_WORDS[kind]}"
                example = next(reasons, None)
                found.append(line if example is None else f"{line} ({example})")
    return found


@contextmanager
def progress_bar(console: Console) -> Iterator[MatchProgress]:
    """A bar of the games of the match under way, for `evaluate_network` to call; it vanishes at the end."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("")

        def show(text: str, done: int, total: int) -> None:
            bar.update(task, description=text, completed=done, total=total)

        yield show


def read_required(text: str | None, opponents: Sequence[str]) -> dict[str, float]:
    """The score required against each opponent: one number for all, or one for each, with commas between.

    Raises:
        ValueError: a part is no number from 0 to 1, or there are neither one nor as many as there are opponents.
    """
    if text is None:
        return {}
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(0 <= number <= 1 for number in numbers):
        raise ValueError(f"--require {text}: required scores are numbers from 0 to 1, such as 0.8 or 0.98,0.8")
    if len(numbers) == 1:
        numbers *= len(opponents)
    if len(numbers) != len(opponents):
        raise ValueError(
            f"--require {text}: {len(numbers)} scores for {len(opponents)} opponents ({', '.join(opponents)})"
        )
    return dict(zip(opponents, numbers, strict=True))


def evaluate_command(
    checkpoint: str | Path,
    *,
    opponents: str = "random,uct:100",
    games: int = 200,
    require: str | None = None,
    as_json: bool = False,
    num_simulations: int | None = None,
    opening_actions: int = OPENING_ACTIONS,
    seed: int = 0,
    policy: bool = True,
    control: bool = True,
    game: Game | None = None,
    console: Console | None = None,
) -> int:
    """Evaluates a checkpoint, prints a table (or JSON) on stdout and all else on stderr; returns the exit code.

    Args:
        checkpoint: a path, a run's folder, or the name of one that ships.
        opponents: texts of players, with commas between.
        games: against each opponent, even.
        require: the score that the network with search must reach: one number, or one for each opponent.
        as_json: print the evaluation as one JSON object.
        num_simulations: of the search; None: as the checkpoint's run evaluates.
        opening_actions: random actions before the players begin.
        seed: of openings and opponents.
        policy: whether to measure the policy alone too.
        control: whether to measure an untrained network too.
        game: what to play, of any size; None: what the checkpoint was trained on.
        console: where the table goes; None: stdout.

    Returns:
        0; 1 when a required score was missed; 2 when what was asked for cannot be done.
    """
    errors = Console(stderr=True)
    texts = [text.strip() for text in opponents.split(",") if text.strip()]
    try:
        if not texts:
            raise ValueError("there is no opponent")
        required = read_required(require, texts)
        with progress_bar(errors) as progress:
            evaluation = evaluate_checkpoint(
                checkpoint,
                game=game,
                opponents=texts,
                games=games,
                num_simulations=num_simulations,
                opening_actions=opening_actions,
                seed=seed,
                policy=policy,
                control=control,
                progress=progress,
            )
    except (ValueError, FileNotFoundError) as error:
        print(f"stonezero evaluate: error: {' '.join(str(error).split())}", file=sys.stderr)
        return EXIT_WRONG
    # Players have their names as they call themselves: alphabeta:1.0s is alphabeta:1s.
    names = [row.match.opponent for row in evaluation.rows if row.kind == "search"]
    required = {name: required[text] for name, text in zip(names, texts, strict=True) if text in required}
    missed = evaluation.missed(required)
    if as_json:
        print(json.dumps({**evaluation.to_dict(), "required": required, "missed": missed}, indent=2))
    else:
        target = console or Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH)
        target.print(match_table(evaluation.rows, title_of(evaluation)))
    for line in (*warnings(evaluation.rows), *(f"missed: {fault}" for fault in missed)):
        print(line, file=sys.stderr)
    return EXIT_MISSED if missed else 0


def title_of(evaluation: Evaluation) -> str:
    """What was played, in a line."""
    match = evaluation.rows[0].match
    parameters = ", ".join(f"{key}={value}" for key, value in match.parameters.items())
    return f"{match.player} on {match.rules_id} ({parameters}), {match.games} games each in pairs with colours swapped"
