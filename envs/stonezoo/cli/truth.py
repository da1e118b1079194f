"""`stonezoo truth`, `stonezoo probe` and `stonezoo make-probes`: how far players are from perfect play."""

import argparse
import contextlib
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from stonezoo.cli.command import (
    Command,
    CommandError,
    Parser,
    add_games,
    check_writable,
    chosen_game,
    positive,
    print_json,
    seed,
)
from stonezoo.players import make_player
from stonezoo.players.perfect import perfect_source
from stonezoo.solve import Table, known_table
from stonezoo.solve.memory import read_memory
from stonezoo.state import Game
from stonezoo.truth import (
    Truth,
    load_probes,
    play_perfect,
    probe,
    probe_names,
    score,
    truth_table,
    versus_line,
)
from stonezoo.truth.make import Plan, from_boards, from_games, from_sample
from stonezoo.truth.measure import OWN_GAMES, SAMPLE, SOURCES, draw_positions
from stonezoo.truth.oracle import BUILD_BYTES, Oracle, SearchOracle
from stonezoo.truth.probes import save_probes

PLAYERS = "random,uct:100,uct:1000"
PLAIN_WIDTH = 160  # columns of a table when the output is no terminal


def _configure_truth(parser: Parser) -> None:
    parser.description = (
        "Says how often players choose a best action on decisive positions of a solved game: those with a best action\n"
        "and a worse one. Small games are solved on the spot, others once (stonezoo solve GAME --save); of a game\n"
        "that is too large for a table, positions that a search can solve are taken, which are late ones."
    )
    parser.epilog = (
        "  stonezoo truth rive --board-size 3 --players random,uct:100,uct:1000\n"
        "  stonezoo truth resolve --board-size 3 --players py:my_agent:policy --positions all --versus 100"
    )
    add_games(parser, _configure_truth_of_game)


def _configure_truth_of_game(parser: Parser) -> None:
    parser.add_argument("--players", default=PLAYERS, help="players by their texts, with commas (default: %(default)s)")
    parser.add_argument(
        "--positions",
        choices=SOURCES,
        default="sample",
        help="sample: of random games; all: every position that can be reached; own: the player's own games "
        "(default: sample)",
    )
    parser.add_argument(
        "--count", type=positive, help=f"decisive positions of a sample ({SAMPLE}), or own games ({OWN_GAMES})"
    )
    parser.add_argument(
        "--versus",
        type=positive,
        metavar="N",
        help="also play N games in each seat against best play: the player perfect's, by table or by search",
    )
    parser.add_argument("--seed", type=seed, default=0, help="of the sample and the players (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _run_truth(arguments: argparse.Namespace) -> int:
    game = chosen_game(arguments)
    count = arguments.count or (OWN_GAMES if arguments.positions == "own" else SAMPLE)
    with _clear_errors():
        players = [make_player(text, game) for text in arguments.players.split(",")]
        perfect = perfect_source(game, made_with=BUILD_BYTES) if arguments.versus else None
        table = perfect if isinstance(perfect, Table) else None
        positions = arguments.positions
        if positions != "own":  # the same ones for all players
            positions = draw_positions(game, positions, count=count, seed=arguments.seed, table=table)
        truths, versus = [], []
        with _bar() as progress:
            for player in players:
                truths.append(
                    score(
                        player,
                        game,
                        positions=positions,
                        count=count,
                        seed=arguments.seed,
                        table=table,
                        progress=progress(player.name),
                    )
                )
                if perfect is not None:
                    versus.append(play_perfect(player, game, perfect, games=arguments.versus, seed=arguments.seed))
    if arguments.json:
        told = [truth.to_dict() for truth in truths]
        for entry, seats in zip(told, versus, strict=False):
            entry["versus_perfect"] = [seat.to_dict() for seat in seats]
        print_json(told)
        return 0
    print_truths(truths)
    for truth, seats in zip(truths, versus, strict=False):
        print(versus_line(truth.player, seats))
    return 0


def print_truths(truths: list[Truth]) -> None:
    """Prints measurements as a table with a column a player."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(width=PLAIN_WIDTH, highlight=False)
    console.print(truth_table(truths))
    print(f"{truths[0].setting}; {truths[0].source}")


def _configure_probe(parser: Parser) -> None:
    parser.description = (
        "Says how often players choose a best action on a probe set: decisive positions of an official board, each of\n"
        "whose actions has been solved."
    )
    parser.epilog = "  stonezoo probe resolve-9 random uct:1000 py:my_agent:policy"
    parser.add_argument("set", metavar="SET", help=f"one of {', '.join(probe_names()) or 'none yet'}, or a file")
    parser.add_argument("players", metavar="PLAYER", nargs="+", help="players by their texts")
    parser.add_argument("--limit", type=positive, metavar="N", help="measure on the first N positions (default: all)")
    parser.add_argument("--seed", type=seed, default=0, help="of the players (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _run_probe(arguments: argparse.Namespace) -> int:
    with _clear_errors():
        found = load_probes(arguments.set)
        players = [make_player(text, found.game) for text in arguments.players]
        with _bar() as progress:
            truths = [
                probe(player, found, limit=arguments.limit, seed=arguments.seed, progress=progress(player.name))
                for player in players
            ]
    if arguments.json:
        print_json([truth.to_dict() for truth in truths])
    else:
        print_truths(truths)
    return 0


def _configure_make(parser: Parser) -> None:
    parser.description = (
        "Makes a probe set, a small file of decisive positions with the value of every action. Positions come late in\n"
        "games of good players, as far from the end as --max-nodes lets them be solved, and where no action wins at\n"
        "once; or, with --sample, from random games, by the game's table or, where it has none, by a search; or, with\n"
        "--boards, from games that start on random boards, all of whose continuations fit into one table."
    )
    add_games(parser, _configure_make_of_game)


def _configure_make_of_game(parser: Parser) -> None:
    plan = Plan()
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="where to write the set")
    parser.add_argument("--players", default="uct:300,uct:1000", help="who plays, with commas (default: %(default)s)")
    parser.add_argument("--count", type=positive, default=plan.count, help="positions (default: %(default)s)")
    parser.add_argument("--per-game", type=positive, default=plan.per_game, help="of one game (default: %(default)s)")
    parser.add_argument(
        "--max-nodes", type=positive, default=plan.max_nodes, help="to solve a position (default: %(default)s)"
    )
    parser.add_argument(
        "--random-share", type=float, default=plan.random_share, help="of actions at random (default: %(default)s)"
    )
    parser.add_argument(
        "--opening-actions",
        type=int,
        default=plan.opening_actions,
        metavar="N",
        help="random actions that open a game, at most: with many, the players meet full boards before either has won "
        "(default: %(default)s)",
    )
    parser.add_argument("--seed", type=seed, default=plan.seed, help="of everything (default: %(default)s)")
    parser.add_argument(
        "--sample",
        action="store_true",
        help="positions of random games, early ones too where there is a table or\n--max-nodes and --memory are enough",
    )
    parser.add_argument("--boards", type=positive, metavar="N", help="start on random boards with N stones each")
    parser.add_argument(
        "--memory", default="6G", help="for the table of --boards, or of a search for --sample (default: %(default)s)"
    )


def _run_make(arguments: argparse.Namespace) -> int:
    game = chosen_game(arguments)
    if not 0 <= arguments.random_share < 1:
        raise CommandError(f"--random-share {arguments.random_share} must be in [0, 1)")
    if arguments.opening_actions < 0:
        raise CommandError(f"--opening-actions {arguments.opening_actions} must not be negative")
    check_writable(arguments.output)
    plan = Plan(
        count=arguments.count,
        seed=arguments.seed,
        opening_actions=arguments.opening_actions,
        random_share=arguments.random_share,
        per_game=arguments.per_game,
        max_nodes=arguments.max_nodes,
        boards=arguments.boards or 0,
    )
    with _clear_errors(), _bar() as progress:
        found = _make(game, arguments, plan, progress("positions"))
    words = [word for word in sys.argv[1:] if word != "--json"]
    for place, word in enumerate(words):
        if word == str(arguments.output):
            words[place] = arguments.output.name  # a path says something of this machine only
    save_probes(arguments.output, found, source=found.source, command=shlex.join(["stonezoo", *words]))
    print(f"{len(found)} positions in {arguments.output}, {arguments.output.stat().st_size:,} bytes; {found.source}")
    return 0


def _make(game: Game, arguments: argparse.Namespace, plan: Plan, progress: Callable[[int, int], None]) -> Any:
    if arguments.sample:
        return from_sample(game, _sample_oracle(game, arguments, plan), plan, progress)
    players = [make_player(text, game) for text in arguments.players.split(",")]
    if plan.boards:
        return from_boards(game, players, plan, read_memory(arguments.memory), progress)
    return from_games(game, players, plan, progress)


def _sample_oracle(game: Game, arguments: argparse.Namespace, plan: Plan) -> Oracle:
    """The game's table, or where that does not fit a search that early positions can be asked of too."""
    table = known_table(game, BUILD_BYTES)
    return SearchOracle(game, plan.max_nodes, read_memory(arguments.memory), symmetric=True) if table is None else table


@contextlib.contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except ValueError as error:  # of players, tables, probe sets and memory
        raise CommandError(str(error)) from error


@contextlib.contextmanager
def _bar() -> Iterator[Callable[[str], Callable[[int, int], None]]]:
    columns = (TextColumn("{task.description:<20}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def start(name: str) -> Callable[[int, int], None]:
            task = bar.add_task(name, total=None)
            return lambda done, total: bar.update(task, completed=done, total=total)

        yield start


TRUTH = Command("truth", "Says how far players are from perfect play in a solved game", _configure_truth, _run_truth)
PROBE = Command(
    "probe", "Says how far players are from perfect play on an official board", _configure_probe, _run_probe
)
MAKE = Command("make-probes", "Makes a probe set for `stonezoo probe`", _configure_make, _run_make)
