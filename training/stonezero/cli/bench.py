"""`stonezero bench`: where a run's time goes."""

from __future__ import annotations

import argparse
import json
import math

from stonezero.cli.command import Command

DEFAULT_SECONDS = 30.0
DESCRIPTION = """\
measure the parts of a run at the sizes of a config, and print where its time would go:

  network alone            positions a second, in batches of a group's games: selfplay.num_games / groups
  search without network   simulations a second when the network costs nothing: what the search itself takes
  search with network      simulations a second, and what share of the network's own speed its calls reach
                           (their batches are smaller where games end or only one action is legal)
  self-play                simulations, actions and recorded positions (rows) a second, all that belongs to it
  learner                  steps a second, drawing the batches included

Then the shares of self-play and learning, by what one row costs to play and to learn replay.reuse times. The
ways to evaluate the network that this machine offers are measured first; the fastest that is exact enough is
used for the rest, as in a run (--set.device.engine compiled tries torch.compile, for a minute or two). The
network is fresh: its speed does not depend on its weights. Rates are of wall time, medians of 3 repeats in
turns; on a busy machine look at the lowest and highest too. Nothing is written."""


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", help="a path, or the name of one that ships, such as rive/quickstart")
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=DEFAULT_SECONDS,
        metavar="S",
        help="for all measurements together (default: %(default)g); each part runs 4 times at least, however long",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def _run(chosen: argparse.Namespace, rest: list[str]) -> int:
    from rich.console import Console
    from rich.progress import Progress

    from stonezero.bench import bench, bench_table
    from stonezero.config import load_config
    from stonezero.loop.report import new_console

    config = load_config(chosen.config, rest)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=None)
        found = bench(config, chosen.seconds, lambda what: progress.update(task, description=what))
    if chosen.json:
        print(json.dumps(found.to_dict(), indent=2))
    else:
        new_console().print(bench_table(found))
    return 0


COMMAND = Command("bench", "measure where a run's time goes", _configure, _run, DESCRIPTION)
