"""`stonezero tournament`: ratings of many players."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from stonezero.cli.command import (
    INTERRUPTED,
    Command,
    add_arena,
    check_number,
    check_writable_folder,
    chosen_balance,
    players_game,
    refuse,
)

if TYPE_CHECKING:
    from stonezero.arena.tournament import TournamentPlan, TournamentResult

RESULT, REPORT, GAMES = "result.json", "report.md", "games.txt"
DESCRIPTION = f"""\
Play everybody against everybody (or, with --gauntlet, one against the rest), every opening twice with colours swapped,
and rate them: Bradley-Terry with draws and a first-player term, intervals by a bootstrap over pairs of games.

The folder given by --output holds every finished pair of games. The same command goes on after a kill: nothing that was
finished is lost, and nothing is counted twice. At the end it also holds {RESULT} (docs/arena.md), {REPORT} with the
tables and {GAMES} with every game as a record.

A player that answers an illegal action, raises an error or, with a process of its own, dies or exceeds the time limit,
loses that game and no other.
"""
EPILOG = """\
example:
  stonezero tournament random uct:10 uct:100 rive-3:16 --parameter board_size=3 --games 200 --output ladder
"""


def _configure(command: argparse.ArgumentParser) -> None:
    command.epilog = EPILOG
    command.add_argument("players", nargs="+", metavar="PLAYER", help="two or more, as for `stonezero match`")
    command.add_argument("--output", type=Path, required=True, metavar="DIR", help="the tournament's folder")
    command.add_argument("--games", type=int, default=100, help="of each meeting, even (default: %(default)s)")
    command.add_argument("--gauntlet", metavar="PLAYER", help="this one meets all others, who do not meet")
    command.add_argument("--anchor", metavar="PLAYER", help="whose rating is 0 (default: the mean is)")
    add_arena(command)
    command.add_argument("--json", action="store_true", help=f"print what {RESULT} holds instead of tables")


def _tournament(chosen: argparse.Namespace, rest: list[str]) -> int:
    from rich.console import Console

    import stonezero.players  # noqa: F401  makes checkpoints known as players
    from stonezero.arena import progress_bar
    from stonezero.arena.tournament import run_tournament

    refuse(rest, "see --help")
    check_number("--seed", chosen.seed)
    check_number("--opening-actions", chosen.opening_actions)
    check_writable_folder(chosen.output)
    plan = _plan(chosen)
    try:
        with progress_bar(Console(stderr=True)) as progress:
            result = run_tournament(plan, chosen.output, anchor=chosen.anchor, progress=progress)
    except KeyboardInterrupt:
        print(f"stopped; the same command goes on in {chosen.output}", file=sys.stderr)
        return INTERRUPTED
    _show(chosen, result)  # first: a folder that cannot be written any more hides no result
    sys.stdout.flush()
    _write(chosen.output, result)
    if not chosen.json:
        print(f"{chosen.output}: {RESULT}, {REPORT}, {GAMES}")
    return 0


def _plan(chosen: argparse.Namespace) -> TournamentPlan:
    from stonezero.arena.clock import calibrate
    from stonezero.arena.storage import TournamentFolder
    from stonezero.arena.tournament import TournamentPlan

    asked = list(chosen.players)
    if chosen.gauntlet is not None and chosen.gauntlet not in asked:
        asked.insert(0, chosen.gauntlet)
    game, balance = players_game(chosen, asked), chosen_balance(chosen)
    players, gauntlet, anchor = asked, chosen.gauntlet, chosen.anchor
    if chosen.seconds_per_move is not None:
        stored = TournamentFolder.stored_plan(chosen.output) or {}
        if (stored.get("asked"), stored.get("seconds_per_move")) == (asked, chosen.seconds_per_move):
            players = stored["players"]  # what was measured when it began
        else:
            players = [calibrate(text, game, chosen.seconds_per_move, chosen.seed).player for text in asked]
        print(f"{chosen.seconds_per_move:g} s a move: {', '.join(players)}", file=sys.stderr)
        renamed = dict(zip(asked, players, strict=True))
        gauntlet, anchor = renamed.get(gauntlet, gauntlet), renamed.get(anchor, anchor)
    if anchor is not None and anchor not in players:
        raise ValueError(f"--anchor {chosen.anchor} is not one of the players {', '.join(asked)}")
    chosen.anchor = anchor
    return TournamentPlan(
        tuple(players),
        game.name,
        dict(game.parameters),
        chosen.games,
        seed=chosen.seed,
        opening_actions=chosen.opening_actions,
        balance=balance,
        openings_file=None if chosen.openings is None else str(chosen.openings),
        gauntlet=gauntlet,
        time_limit=chosen.time_limit,
        isolate=True if chosen.isolate else None,
        asked=None if chosen.seconds_per_move is None else tuple(asked),
        seconds_per_move=chosen.seconds_per_move,
    )


def _write(folder: Path, result: TournamentResult) -> None:
    from stonezero.arena.match_report import cross_sheet, markdown, rating_sheet, tournament_notes, write_records
    from stonezero.run import write_atomic

    write_atomic(folder / RESULT, json.dumps(result.to_dict(), indent=1))
    write_atomic(folder / REPORT, markdown([rating_sheet(result), cross_sheet(result)], tournament_notes(result)))
    date = time.strftime("%Y-%m-%d")
    write_records(folder / GAMES, (record for match in result.matches for record in match.records(date)))


def _show(chosen: argparse.Namespace, result: TournamentResult) -> None:
    from stonezero.arena.match_report import WIDEST_CROSS_TABLE, cross_sheet, rating_sheet, tournament_notes
    from stonezero.loop.report import new_console

    if chosen.json:
        print(json.dumps(result.to_dict(), indent=2))
        return
    console = new_console()
    rating_sheet(result).show(console)
    if len(result.plan.players) <= WIDEST_CROSS_TABLE:
        cross_sheet(result).show(console)
    for note in tournament_notes(result):
        console.print(note, highlight=False, markup=False, soft_wrap=True)


COMMAND = Command(
    "tournament", "rate players by games of everybody against everybody", _configure, _tournament, DESCRIPTION
)
