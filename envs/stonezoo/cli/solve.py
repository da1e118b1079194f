"""`stonezoo solve`: the exact value of a position and of every action."""

import argparse
import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from stonezoo.cli.command import (
    INTERRUPTED,
    Command,
    CommandError,
    Parser,
    add_games,
    check_writable,
    chosen_game,
    chosen_state,
    describe_game,
    positive,
    print_json,
)
from stonezoo.cli.solve_show import describe, show_answer, show_limits
from stonezoo.core.game import has_layers
from stonezoo.solve import (
    MemoryLimitError,
    Search,
    SearchLimitError,
    Table,
    TableError,
    checked_table,
    compile_solver,
)
from stonezoo.solve.graph import Builder
from stonezoo.solve.layer_file import remove_layers
from stonezoo.solve.layers import LayerSolver
from stonezoo.solve.limits import limit_report
from stonezoo.solve.memory import default_memory, read_memory, show_memory
from stonezoo.state import Game, State

METHODS = ("auto", "table", "search")
PARTIAL = ".partial"  # after a table's path: what an interrupted command leaves, for the next one to go on from
LAYERS = ".layers"  # after it: the folder of a game that is solved layer by layer
LIMITS = ".limits"  # after it: that of a game whose limits are looked at so; what a table has begun is not touched
NOT_SOLVED = 1  # the exit code when a limit was reached first

Found = TypeVar("Found")


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.description = (
        "Says who wins a position with best play, and what every action is worth.\n\n"
        "There are two ways. A table holds every position that can be reached from the start, with the number of\n"
        "actions to the end; it is made once and can be kept (--save), and the player `perfect` plays from it.\n"
        "A search looks forward from one position; near the end of a game it works on any board. Kept (--save), it is\n"
        "where later searches begin, and where play cannot cycle `perfect` plays from it too.\n"
        "Endless play is a draw, as the game's rules say, and the count towards that draw is part of the answer.\n"
        "Wins are as short as possible, losses as long.\n\n"
        "Ctrl-C leaves a file from which the same command goes on. Where a game falls into layers (Resolve, Dara)\n"
        "each one is a file, several times the memory in all, in a folder beside the table until that is done;\n"
        "the command goes on after a kill too, and once there is room where the disk was full, or --disk reached."
    )
    parser.epilog = (
        "Options follow the game:\n"
        "  stonezoo solve rive --board-size 2                         solve it and show the first actions' values\n"
        "  stonezoo solve resolve --board-size 4 --save               and keep the table\n"
        "  stonezoo solve resolve --board-size 4 --position 'TEXT'    ask the kept table, or search\n"
        "  stonezoo solve rive --board-size 3 --method search --save  what no table holds\n"
        "  stonezoo solve dara --rows 4 --columns 4 --stones 4 --limits    how the limit on endless play matters"
    )
    add_games(parser, _configure_game)


def _configure_game(parser: Parser) -> None:
    parser.add_argument("--position", metavar="TEXT", help="a position text (default: the start of the game)")
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="auto",
        help="table: solve the whole game, or ask its kept table; search: look forward from the position; auto "
        "(default): a kept table if there is one, else a table for the start and a search for any other position",
    )
    parser.add_argument(
        "--memory",
        type=_memory,
        metavar="SIZE",
        help="the most to take, such as 4G or 500M (default: 6G, or half of what is free if that is less)",
    )
    parser.add_argument(
        "--disk",
        type=_disk,
        metavar="SIZE",
        help="the most that the files of a game's layers may take, such as 20G (default: what is free)",
    )
    parser.add_argument("--save", action="store_true", help="keep the table, or the search, where `perfect` looks")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="keep the table in FILE instead, and ask FILE if it is there"
    )
    parser.add_argument("--again", action="store_true", help="begin anew though a table, or a search, is kept")
    parser.add_argument(
        "--max-nodes",
        type=positive,
        metavar="N",
        help="give a search up after N nodes an action; with --save, what it has found is kept all the same",
    )
    parser.add_argument(
        "--limits",
        action="store_true",
        help="say instead how values depend on the limit on endless play; with --save or --output, keep the table too",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def _memory(text: str) -> int:
    try:
        return read_memory(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _disk(text: str) -> int:
    try:
        return read_memory(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount of disk, such as 20G or 500M") from None


def run(arguments: argparse.Namespace) -> int:
    """Solves and prints."""
    game = chosen_game(arguments)
    state = chosen_state(game, arguments.position)
    memory = default_memory() if arguments.memory is None else arguments.memory
    path = arguments.output or Table.usual_path(game)
    kept = path.exists() and not arguments.again
    by_table = arguments.method == "table" or (arguments.method == "auto" and (kept or arguments.position is None))
    if arguments.output is not None and not by_table and not arguments.limits:
        raise CommandError(
            f"--output {arguments.output}: it keeps a table, and this position is searched; --save keeps a search, as "
            f"{Search.usual_path(game)}"
        )
    if (by_table or arguments.limits) and not kept and (arguments.save or arguments.output):
        check_writable(path)
    try:
        if arguments.limits:
            return _answer_limits(game, path, memory, kept, arguments)
        answer = (
            _by_table(state, path, memory, kept, arguments) if by_table else _by_search(state, path, memory, arguments)
        )
    except (MemoryLimitError, TableError) as error:
        raise CommandError(str(error)) from None
    except SearchLimitError as error:
        print(f"{arguments.prog}: {error}", file=sys.stderr)
        return NOT_SOLVED
    if answer is None:
        return INTERRUPTED
    if arguments.json:
        print_json(answer)
    else:
        show_answer(state, answer)
    return 0


# --- Solving ------------------------------------------------------------------------------------------------------


def _by_table(
    state: State, path: Path, memory: int, kept: bool, arguments: argparse.Namespace
) -> dict[str, Any] | None:
    table: Table | None
    folder, partial = path.with_name(path.name + LAYERS), path.with_name(path.name + PARTIAL)
    if kept:
        table = checked_table(state.game, path)
        if (arguments.save or arguments.output) and _is_older(path, folder, partial):
            # A kill came after the table was written. What --again has begun since is newer, and stays.
            remove_layers(folder)
            partial.unlink(missing_ok=True)
    else:
        table = _make_table(state.game, path, folder, memory, arguments.disk)
        if table is None:
            return None
        if arguments.save or arguments.output:
            table.save(path)
        # Only now: it may have taken an hour.
        remove_layers(folder)
        partial.unlink(missing_ok=True)
    rows = state.row[np.newaxis]
    answer = describe(state, int(table.values(rows)[0]), table.action_values(rows)[0], table.action_distances(rows)[0])
    answer["distance"] = int(table.distances(rows)[0])
    return {
        **answer,
        "method": "table",
        "positions": len(table),
        "edges": table.about["edges"],
        "seconds": table.about["seconds"],
        "memory": table.about["bytes"],
        "file": str(path) if path.exists() else None,
    }


def _answer_limits(game: Game, path: Path, memory: int, kept: bool, arguments: argparse.Namespace) -> int:
    folder = path.with_name(path.name + LIMITS)
    if has_layers(game.rules):
        report = _by_layers(game, folder, memory, arguments.disk, LayerSolver.limit_report)
        if report is None:
            return INTERRUPTED
    else:
        report = limit_report(game, memory)
    if arguments.json:
        looks = {str(limit): look._asdict() for limit, look in report.looks.items()}
        print_json({**describe_game(game), **report._asdict(), "looks": looks})
    else:
        show_limits(game, report)
    if (arguments.save or arguments.output) and not kept:
        table = _make_table(game, path, folder, memory, arguments.disk)  # out of the same layers
        if table is None:
            return INTERRUPTED
        table.save(path)
        path.with_name(path.name + PARTIAL).unlink(missing_ok=True)
    remove_layers(folder)
    return 0


def _is_older(path: Path, folder: Path, partial: Path) -> bool:
    """Whether all that a table was made of, in `folder` or as `partial`, was written before the table was."""
    written = path.stat().st_mtime_ns
    return all(other.stat().st_mtime_ns <= written for other in (*folder.glob("*"), partial) if other.exists())


def _make_table(game: Game, path: Path, folder: Path, memory: int, disk: int | None) -> Table | None:
    """Returns the table of a game; None after Ctrl-C, when what was found lies beside `path`, or in `folder`."""
    if has_layers(game.rules):
        return _by_layers(game, folder, memory, disk, LayerSolver.run)
    compile_solver(game)
    with _progress() as show:
        return _make_in_one(game, path, memory, _reporter(show, memory))


def _reporter(show: Callable[[str], None], memory: int) -> Callable[[str, int, int, int], None]:
    """Returns what shows how far a table is; its rate is that of what is being done."""
    began: dict[str, tuple[float, int]] = {}

    def report(what: str, positions: int, edges: int, size: int) -> None:
        started, first = began.setdefault(what, (time.perf_counter(), positions))
        rate = (positions - first) / max(time.perf_counter() - started, 1e-3)
        show(
            f"{what}: {positions:,} positions, {edges:,} actions, {rate:,.0f} positions/s, "
            f"{show_memory(size)} of {show_memory(memory)}"
        )

    return report


def _make_in_one(game: Game, path: Path, memory: int, report: Callable[[str, int, int, int], None]) -> Table | None:
    partial = path.with_name(path.name + PARTIAL)
    builder = Builder(game, memory)
    if partial.exists():
        builder.load(partial)
        print(f"going on from {partial}", file=sys.stderr)
    else:
        builder.add(game.initial_state().row[np.newaxis])
    try:
        table = Table.finish(builder, progress=report)
    except KeyboardInterrupt:
        builder.save(partial)
        print(f"\ninterrupted; the same command goes on from {partial}", file=sys.stderr)
        return None
    return table


def _by_layers(
    game: Game, folder: Path, memory: int, disk: int | None, find: Callable[[LayerSolver], Found]
) -> Found | None:
    """Returns what is found out of a game's layers; None after Ctrl-C, when they lie in `folder`."""
    compile_solver(game)
    if folder.exists():
        print(f"going on from {folder}", file=sys.stderr)
    with _progress() as show:
        try:
            return find(LayerSolver(game, folder, memory, _reporter(show, memory), disk))
        except KeyboardInterrupt:
            print(f"\ninterrupted; the same command goes on from {folder}", file=sys.stderr)
            return None


def _by_search(state: State, path: Path, memory: int, arguments: argparse.Namespace) -> dict[str, Any] | None:
    game, partial = state.game, path.with_name(path.name + ".search" + PARTIAL)
    kept = Search.usual_path(game)
    compile_solver(game)  # or loads it, which must not be timed
    start = time.perf_counter()
    with _progress() as show:

        def report(search: Search) -> None:
            rate = search.nodes / max(time.perf_counter() - start, 1e-3)
            show(
                f"{search.nodes:,} nodes, {rate:,.0f} nodes/s, {search.table_load:.0%} of a table of "
                f"{show_memory(search.memory)}"
            )

        search = Search(game, min(memory, _search_memory(arguments)), progress=report)
        if partial.exists():
            search.load(partial)
            print(f"going on from {partial}", file=sys.stderr)
        elif kept.exists() and not arguments.again:
            search.load(kept)
        try:
            value = search.value(state.row, arguments.max_nodes)
            values = search.action_values(state.row, arguments.max_nodes)
        except KeyboardInterrupt:
            search.save(partial)
            print(f"\ninterrupted; the same command goes on from {partial}", file=sys.stderr)
            return None
        except SearchLimitError:
            if arguments.save:
                search.save(kept)
                partial.unlink(missing_ok=True)
                print(f"not solved yet; what was found is kept in {kept}, from which searches go on", file=sys.stderr)
            raise
    if arguments.save:
        search.save(kept)
    partial.unlink(missing_ok=True)
    return {
        **describe(state, value, values, None),
        "method": "search",
        "nodes": search.nodes,
        "seconds": round(time.perf_counter() - start, 3),
        "memory": search.memory,
        "file": str(kept) if kept.exists() else None,
    }


def _search_memory(arguments: argparse.Namespace) -> int:
    """What was asked for; else an eighth of the usual limit, which a short search need not fill with zeros first."""
    return default_memory() // 8 if arguments.memory is None else int(arguments.memory)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A line on stderr that is written anew; nothing where stderr is no terminal."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=None)
        yield lambda text: progress.update(task, description=text)


COMMAND = Command("solve", "Finds the exact value of a position and of every action", configure, run)
