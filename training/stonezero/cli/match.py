"""`stonezero match`: two players against each other."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from stonezero.cli.command import (
    Command,
    add_arena,
    check_number,
    check_writable,
    chosen_balance,
    players_game,
    refuse,
)

if TYPE_CHECKING:
    from stonezero.arena import MatchResult

GAMES, SPRT_GAMES = 200, 2000  # at most so many, with a test
MISSED = 1  # exit code
DESCRIPTION = """\
Play two players against each other: every opening twice with colours swapped. Prints wins, draws and losses in all and
per colour, the score with its 95% interval over pairs, and Elo.

Players: random, greedy, uct:1000, alphabeta:4, alphabeta:2s, a checkpoint with simulations (rive-3:64, runs/x:64, or
:policy without search), py:module:function, and others that `stonezoo.players` knows.

A player that answers an illegal action, raises an error or, with a process of its own, dies or exceeds the time limit,
loses that game; the result says so. A match of which fewer than 95% of the games are distinct is refused: exit code 2.
"""
EPILOG = """\
examples:
  stonezero match rive-3:64 uct:1000                       (on the board that rive-3 was trained on)
  stonezero match rive-4:64 uct:1000 --parameter board_size=5      (its weights serve other sizes too)
  stonezero match uct:1000 uct:100 --game resolve --parameter board_size=5
  stonezero match perfect:4G uct:1000 --parameter board_size=3     (by search in 4 GB, where no table fits)
  stonezero match runs/x:64 rive-3:64 --sprt 0,40 --games 4000
  stonezero match py:my_agent:act greedy --require 0.6 --records games.txt --json
"""


def _configure(command: argparse.ArgumentParser) -> None:
    command.epilog = EPILOG
    command.add_argument("player", help="whose score is shown")
    command.add_argument("opponent", help="who plays the other colour")
    command.add_argument(
        "--games", type=int, help=f"an even number (default: {GAMES}; with --sprt at most {SPRT_GAMES})"
    )
    command.add_argument(
        "--sprt",
        metavar="ELO0,ELO1[,ALPHA,BETA]",
        help="stop as soon as it is decided whether the player is stronger by ELO1 (H1) rather than by ELO0 (H0), with "
        "errors ALPHA and BETA (default 0.05)",
    )
    add_arena(command)
    command.add_argument(
        "--require", type=float, metavar="SCORE", help="exit code 1 if the player scores less, from 0 to 1"
    )
    command.add_argument("--records", type=Path, metavar="FILE", help="write every game as a record")
    command.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables as Markdown")
    command.add_argument("--json", action="store_true", help="print JSON (docs/arena.md) instead of tables")


def _match(chosen: argparse.Namespace, rest: list[str]) -> int:
    import stonezero.players  # noqa: F401  makes checkpoints known as players
    from stonezero.arena import RepeatedGamesError

    refuse(rest, "see --help")
    if chosen.require is not None and not 0 <= chosen.require <= 1:
        raise ValueError(f"--require {chosen.require:g}: a score is a number from 0 to 1")
    check_number("--seed", chosen.seed)
    check_number("--opening-actions", chosen.opening_actions)
    check_writable(chosen.records, chosen.markdown)
    try:
        result = _play(chosen)
    except RepeatedGamesError as error:
        _write(chosen, error.result)
        raise
    _show(chosen, result)  # first: what hours have found out is not lost when a file cannot be written
    sys.stdout.flush()
    _write(chosen, result)
    if chosen.require is not None and result.score < chosen.require:
        print(f"missed: {result.player} scored {result.score:.3f}, required {chosen.require:g}", file=sys.stderr)
        return MISSED
    return 0


def _play(chosen: argparse.Namespace) -> MatchResult:
    from rich.console import Console

    from stonezero.arena import evaluate, open_contestant, progress_bar, read_openings
    from stonezero.arena.clock import calibrate
    from stonezero.arena.match import check_games
    from stonezero.rating import Sprt

    texts = [chosen.player, chosen.opponent]
    game, balance = players_game(chosen, texts), chosen_balance(chosen)
    sprt = None if chosen.sprt is None else Sprt.parse(chosen.sprt)
    default = GAMES if sprt is None else SPRT_GAMES
    games = default if chosen.games is None else chosen.games
    check_games(games)
    openings = None if chosen.openings is None else read_openings(chosen.openings, game, games // 2)
    if chosen.seconds_per_move is not None:
        texts = [calibrate(text, game, chosen.seconds_per_move, chosen.seed).player for text in texts]
        print(f"{chosen.seconds_per_move:g} s a move: {texts[0]} against {texts[1]}", file=sys.stderr)
    contestants = []
    try:
        for text in texts:
            isolate = True if chosen.isolate else None
            contestants.append(open_contestant(text, game, time_limit=chosen.time_limit, isolate=isolate))
        with progress_bar(Console(stderr=True)) as progress:
            progress("choosing openings", 0, games)
            result = evaluate(
                contestants[0],
                contestants[1],
                game,
                games=games,
                seed=chosen.seed,
                opening_actions=chosen.opening_actions,
                balance=balance,
                openings=openings,
                sprt=sprt,
                progress=lambda done, total: progress(f"{texts[0]} against {texts[1]}", done, total),
            )
    finally:
        for contestant in contestants:
            contestant.close()
    return replace(result, seconds_per_move=chosen.seconds_per_move)


def _write(chosen: argparse.Namespace, result: MatchResult) -> None:
    from stonezero.arena.match_report import markdown, match_notes, match_sheet, write_records
    from stonezero.run import write_atomic

    if chosen.records is not None:
        write_records(chosen.records, result.records(date=time.strftime("%Y-%m-%d")))
    if chosen.markdown is not None:
        write_atomic(chosen.markdown, markdown([match_sheet(result)], match_notes(result)))


def _show(chosen: argparse.Namespace, result: MatchResult) -> None:
    from stonezero.arena.match_report import match_notes, match_sheet
    from stonezero.arena.report import fault_lines
    from stonezero.loop.report import new_console

    if chosen.json:
        print(json.dumps(result.to_dict(), indent=2))
        for line in fault_lines(result):
            print(line, file=sys.stderr)
        return
    console = new_console()
    match_sheet(result).show(console)
    for note in match_notes(result):
        console.print(note, highlight=False, markup=False, soft_wrap=True)


COMMAND = Command(
    "match",
    "play two players against each other, every opening twice with colours swapped",
    _configure,
    _match,
    DESCRIPTION,
)
