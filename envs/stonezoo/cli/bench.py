"""`stonezoo bench`: how fast this machine plays, from the engine's inside to PettingZoo's loop."""

import argparse
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from stonezoo.cli.command import (
    Command,
    Parser,
    add_games,
    chosen_game,
    describe_game,
    describe_hardware,
    interruptible,
    print_json,
    seconds,
)
from stonezoo.cli.measure import BOARDS, Rate, benchmarks, measure
from stonezoo.games import game_names
from stonezoo.games.usual import usual_parameters
from stonezoo.state import Game, load_game

DEFAULT_SECONDS = 1.0
CLOCK = "CPU time of one process, one thread"


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.description = (
        "Measures one game, or all of them in their usual sizes: random play inside the engine, perft, batches of\n"
        f"{BOARDS:,} boards, the Python API, PettingZoo's loop, UCT. Rates are medians of repeats, by the CPU time of\n"
        "this process, so that others on the machine disturb little. Ratios travel to other machines, rates do not."
    )
    add_games(parser, _configure, required=False)
    _configure(parser)
    parser.set_defaults(seconds=DEFAULT_SECONDS, json=False)


def _configure(parser: Parser) -> None:
    """Adds the options before or after GAME; a default of the one would undo what was given at the other."""
    unset: dict[str, Any] = {"default": argparse.SUPPRESS}
    summary = f"time for each rate (default {DEFAULT_SECONDS:g})"
    parser.add_argument("--seconds", type=seconds, metavar="S", help=summary, **unset)
    parser.add_argument("--json", action="store_true", help="print JSON", **unset)


def run(arguments: argparse.Namespace) -> int:
    """Measures and prints a table or JSON."""
    if arguments.game:
        games = [chosen_game(arguments)]
    else:
        games = [load_game(name, **parameters) for name in game_names() for parameters in usual_parameters(name)]
    rows: list[tuple[Game, str, Rate]] = []
    with Progress(console=Console(stderr=True), transient=True) as progress, interruptible():
        work = [(game, benchmark) for game in games for benchmark in benchmarks(game)]
        task = progress.add_task("", total=len(work))
        for game, benchmark in work:
            progress.update(task, description=f"{game.name}: {benchmark.what}")
            rows.append((game, benchmark.what, measure(benchmark, arguments.seconds)))
            progress.advance(task)
    if arguments.json:
        found = [{**describe_game(game), "what": what, **rate._asdict()} for game, what, rate in rows]
        print_json({"hardware": describe_hardware(), "clock": CLOCK, "rows": found})
        return 0
    _print_table(rows)
    return 0


def _print_table(rows: list[tuple[Game, str, Rate]]) -> None:
    table = Table("game", "what", caption=f"{describe_hardware()}; {CLOCK}", caption_justify="left")
    for heading in ("median", "lowest", "highest"):
        table.add_column(heading, justify="right")
    table.add_column("unit")
    last = None
    for game, what, rate in rows:
        if last is not None and game is not last:
            table.add_section()
        values = " ".join(map(str, game.parameters.values()))
        figures = [f"{value:,.0f}" for value in (rate.median, rate.low, rate.high)]
        table.add_row(f"{game.name} {values}" if game is not last else "", what, *figures, rate.unit)
        last = game
    Console().print(table)


COMMAND = Command("bench", "Measures how fast this machine plays", configure, run)
