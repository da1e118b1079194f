"""`stonezoo check-game`: runs on any game what our own are held to."""

import argparse
import contextlib

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from stonezoo.check import CHECKS, CheckError, Report, check_game, load_subject
from stonezoo.check.subject import DEFAULT_PLIES
from stonezoo.cli.command import Command, CommandError, Parser, positive, print_json, read_settings, seed

FAILED = 1


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.description = (
        "Runs on a game everything that the games of the suite are held to, and says what fails and how to see it.\n"
        "The game is named by its registered name, or by MODULE:CLASS of its rules, found as Python finds it or in\n"
        "the current folder. It is checked with one choice of parameters: run it again for others.\n\n"
        "checks:\n" + "\n".join(f"  {check.name:<13} {check.summary}" for check in CHECKS)
    )
    parser.epilog = (
        "A referee is a second implementation in plain Python: MODULE:NAME of a callable that takes the parameters\n"
        "and returns the initial position, which has legal(), play(action) (a new position), over, winner and to_play\n"
        "(and board() and phase, if it likes).\n\n"
        "Exit code 0 when every check passes, 1 when one fails, 2 when the game cannot be found.\n\n"
        "  stonezoo check-game my_games.pairs:PairsRules --parameter size=4 --referee my_games.slow:Pairs"
    )
    parser.add_argument("target", metavar="GAME", help="a registered name, or MODULE:CLASS of a rules class")
    parser.add_argument(
        "--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the game; may be repeated"
    )
    parser.add_argument("--referee", metavar="MODULE:NAME", help="a slow second implementation to compare with")
    parser.add_argument(
        "--plies",
        type=positive,
        default=DEFAULT_PLIES,
        metavar="N",
        help=f"about how many states of random games to look at (default {DEFAULT_PLIES})",
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="of all random choices (default 0)")
    parser.add_argument("--only", action="append", default=[], metavar="CHECK", help="run this check; may be repeated")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Prints what the checks found."""
    try:
        subject = load_subject(
            arguments.target,
            read_settings(arguments.parameter),
            plies=arguments.plies,
            seed=arguments.seed,
            referee=arguments.referee,
        )
        columns = (TextColumn("{task.description:<14}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("random games", total=None)
            report = check_game(
                subject,
                only=arguments.only,
                progress=lambda name, done, total: bar.update(task, description=name, completed=done, total=total),
            )
    except CheckError as error:
        raise CommandError(str(error)) from error
    if arguments.json:
        print_json(report.to_dict())
    else:
        _print(report)
    return 0 if report.passed else FAILED


def _print(report: Report) -> None:
    console = Console(highlight=False)
    seen = report.seen
    with contextlib.suppress(KeyError):
        results = ", ".join(f"{name} {count}" for name, count in sorted(seen["results"].items()))
        console.print(
            f"{report.setting}: {seen['states']} states of {seen['games']} games ({results}), the longest of "
            f"{seen['longest_game']} actions, {seen['actions_a_turn']} actions a turn, "
            f"phases {', '.join(seen['phases'])}",
            markup=False,
            soft_wrap=True,
        )
    table = Table(box=None, pad_edge=False)
    for heading in ("check", "result", "seconds", "what holds when it passes"):
        table.add_column(heading, justify="right" if heading == "seconds" else "left")
    for result in report.results:
        word = "[yellow]not run[/]" if result.skipped else "[green]passed[/]" if result.passed else "[red]FAILED[/]"
        table.add_row(result.name, word, f"{result.seconds:.1f}", result.skipped or result.summary)
    console.print(table)
    for result in report.results:
        for fault in result.faults:
            console.print(f"\n{result.name}: {fault.message}", markup=False, soft_wrap=True)
            if fault.position is not None:
                console.print(f"  in {fault.position}", markup=False, soft_wrap=True)
            if fault.actions is not None:
                for line in report.how_to_see(fault).splitlines():
                    console.print(f"    {line}", markup=False, soft_wrap=True)


COMMAND = Command("check-game", "Runs on any game what our own games are held to", configure, run)
