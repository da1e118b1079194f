"""A ladder of the players that need no network: everybody against everybody on six boards, in paired games, as Elo.

    python benchmarks/ladder.py --results ladder.jsonl [--boards "Rive 3,Dara"] [--players random,uct:100]
                                [--seconds 18] [--most 100] [--write docs/baselines.md]

Each pair of players plays as many games as its budget of CPU seconds allows, at least 10 and at most --most, from
openings of random actions, each twice with colours swapped. Every result is a JSON line in --results, written when its
match ends: a ladder that was stopped goes on where it was. Costs are CPU milliseconds a move on one thread, as in
bench_players.py. The whole ladder takes about 25 minutes on two cores. --write puts the tables in place of those in a
document, between the marks <!-- ladder --> and <!-- /ladder -->.
"""

import argparse
import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from bench_players import BOARDS, milliseconds, positions
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

import stonezoo
from stonezero.arena import evaluate
from stonezero.rating import Meeting, rate
from stonezoo.cli.command import describe_hardware
from stonezoo.core.rng import new_streams
from stonezoo.kernels.playout import random_games
from stonezoo.players import make_player

PLAYERS = "random,greedy,uct:100,uct:1000,uct+:100,uct+:1000,alphabeta:2,alphabeta:4"
ANCHOR = "uct:100"
LEAST_GAMES = 10
PROBED = 12  # positions from which the cost of a move is estimated
OPENING_ACTIONS = 4
BEGIN, END = "<!-- ladder -->", "<!-- /ladder -->"


def load(path: Path) -> dict[tuple[str, ...], dict[str, Any]]:
    """Lines by (kind, board, players); a torn last line, of a ladder that was killed, is dropped."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[tuple(entry["key"])] = entry
    return found


def append(path: Path, entry: dict[str, Any]) -> None:
    """Adds a line and waits until it is on the disk; a torn line before it is ended first."""
    torn = path.exists() and path.stat().st_size > 0 and path.read_bytes()[-1:] != b"\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if torn else "") + json.dumps(entry) + "\n")
        file.flush()
        os.fsync(file.fileno())


def mean_length(game: stonezoo.Game) -> float:
    """Actions in a random game."""
    states, lengths = np.zeros((100, game.rules.state_size), np.int32), np.zeros(100, np.int32)
    random_games(game.rules, states, new_streams(0, 100), lengths)
    return float(lengths.mean())


def play(text: str, other: str, game: stonezoo.Game, games: int, seed: int) -> list[tuple[float, float]]:
    """The first player's points as Black and as White, pair by pair."""
    match = evaluate(
        make_player(text, game),
        make_player(other, game),
        game,
        games=games,
        seed=seed,
        opening_actions=OPENING_ACTIONS,
        min_distinct=0.0,
    )
    pairs: dict[int, list[float]] = {}
    for result in sorted(match.results, key=lambda result: not result.player_is_black):
        pairs.setdefault(result.pair, []).append(result.points)
    return [(points[0], points[1]) for points in pairs.values()]


def run(arguments: argparse.Namespace, texts: list[str], boards: list[str]) -> None:
    """Plays what is not in the results yet."""
    done = load(arguments.results)
    pairings = list(itertools.combinations(texts, 2))
    columns = (
        TextColumn("{task.description:<40}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=len(boards) * len(pairings))
        for board in boards:
            name, parameters = BOARDS[board]
            game = stonezoo.load_game(name, **parameters)
            rows, length = positions(game, PROBED), mean_length(game)
            costs: dict[str, float] = {}
            for text in texts:
                if (key := ("cost", board, text)) not in done:
                    progress.update(task, description=f"{board}: cost of {text}")
                    done[key] = {"key": key, "milliseconds": milliseconds(text, game, rows)}
                    append(arguments.results, done[key])
                costs[text] = done[key]["milliseconds"]
            for number, (text, other) in enumerate(pairings):
                key = ("match", board, text, other)
                if key not in done:
                    progress.update(task, description=f"{board}: {text} against {other}")
                    seconds = (costs[text] + costs[other]) / 1000 * length / 2
                    games = 2 * int(min(max(arguments.seconds / seconds, LEAST_GAMES), arguments.most) / 2)
                    done[key] = {"key": key, "points": play(text, other, game, games, seed=number)}
                    append(arguments.results, done[key])
                progress.advance(task)


def report(results: Path, texts: list[str], boards: list[str]) -> str:
    """Markdown: a table of Elo with intervals, and one of costs."""
    done = load(results)
    elo: dict[str, list[str]] = {text: [] for text in texts}
    cost: dict[str, list[str]] = {text: [] for text in texts}
    games = []
    for board in boards:
        meetings = [
            Meeting.of(
                first, second, [tuple(pair) for pair in done["match", board, texts[first], texts[second]]["points"]]
            )
            for first, second in itertools.combinations(range(len(texts)), 2)
        ]
        games.append(str(2 * sum(int(meeting.pairs.sum()) for meeting in meetings)))
        ratings = rate(texts, meetings, anchor=ANCHOR if ANCHOR in texts else None)
        for player in ratings.players:
            elo[player.name].append(f"{player.elo:.0f} [{player.low:.0f}, {player.high:.0f}]")
            cost[player.name].append(f"{done['cost', board, player.name]['milliseconds']:.2g}")
    lines = ["Elo, with 95% intervals; `uct:100` is 0.", ""]
    head = [f"| player | {' | '.join(boards)} |", f"| --- |{' ---: |' * len(boards)}"]
    lines += head + [f"| `{text}` | {' | '.join(elo[text])} |" for text in texts]
    lines += [f"| games | {' | '.join(games)} |", "", "CPU milliseconds a move, one thread.", ""]
    lines += head + [f"| `{text}` | {' | '.join(cost[text])} |" for text in texts]
    return "\n".join([*lines, "", describe_hardware()])


def write(document: Path, text: str) -> None:
    """Replaces what stands between the marks, whole or not at all."""
    old = document.read_text(encoding="utf-8")
    if BEGIN not in old or END not in old:
        raise SystemExit(f"{document} has no {BEGIN} and {END} between which the tables could stand")
    new = old[: old.index(BEGIN) + len(BEGIN)] + f"\n{text}\n" + old[old.index(END) :]
    temporary = document.with_name(document.name + ".new")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(new)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(document)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--results", type=Path, default=Path("ladder.jsonl"), help="of all matches (default: %(default)s)"
    )
    parser.add_argument("--boards", default=",".join(BOARDS), help="with commas (default: %(default)s)")
    parser.add_argument("--players", default=PLAYERS, help="their texts, with commas (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=18.0, help="of CPU time a pair (default: %(default)s)")
    parser.add_argument("--most", type=int, default=100, help="games a pair (default: %(default)s)")
    parser.add_argument("--write", type=Path, metavar="DOCUMENT", help="put the tables into it rather than print them")
    arguments = parser.parse_args()
    texts, boards = arguments.players.split(","), arguments.boards.split(",")
    if unknown := [board for board in boards if board not in BOARDS]:
        parser.error(f"there is no board {unknown[0]!r}; boards are {', '.join(BOARDS)}")
    run(arguments, texts, boards)
    tables = report(arguments.results, texts, boards)
    if arguments.write:
        write(arguments.write, tables)
    else:
        print(tables)


if __name__ == "__main__":
    main()
