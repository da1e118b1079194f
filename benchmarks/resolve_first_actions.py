"""Solves Resolve on a board that is too large for a table: who wins after each first action of Black's.

    python benchmarks/resolve_first_actions.py --table FILE [--board-size 5] [--rules standard] [--memory 6G]
                                               [--first c3,b2]

Of first actions that a symmetry makes the same one is asked, the centre first, all with one transposition table, which
FILE keeps: it is written after each action and every ten minutes, as large as --memory, and the same command goes on
from it. A line an action: what it is worth for Black, nodes, and processor seconds.
"""

import argparse
import sys
import time
from pathlib import Path

import stonezoo
from stonezoo.cli.command import describe_hardware
from stonezoo.solve import Search, compile_solver
from stonezoo.solve.memory import read_memory

SAVE_SECONDS = 600.0
WORDS = {1: "wins", 0: "draws", -1: "loses"}


def kinds(game: stonezoo.Game) -> list[int]:
    """One first action of each kind, the nearest to the centre first.

    A symmetry that exchanges the players makes of Black's first action one of White's, and so no other of Black's.
    """
    centre = (game.rules.board_size - 1) / 2
    state, seen, found = game.initial_state(), set[int](), list[int]()

    def from_centre(action: int) -> float:
        row, column = divmod(action, game.rules.board_size)
        return (row - centre) ** 2 + (column - centre) ** 2

    for action in sorted(state.legal_actions.tolist(), key=from_centre):
        if action not in seen:
            found.append(action)
            seen.update(int(symmetry.actions[action]) for symmetry in game.symmetries if not symmetry.swaps_players)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, required=True, help="where the search is kept")
    parser.add_argument("--board-size", type=int, default=5)
    parser.add_argument("--rules", default="standard")
    parser.add_argument("--memory", default="6G", help="of a new table (default: %(default)s)")
    parser.add_argument("--first", help="these actions alone, with commas")
    arguments = parser.parse_args()
    game = stonezoo.load_game("resolve", board_size=arguments.board_size, rules=arguments.rules)
    start = game.initial_state()
    actions = [start.str_to_action(name) for name in arguments.first.split(",")] if arguments.first else kinds(game)
    saved, shown = time.monotonic(), time.monotonic()

    def progress(search: Search) -> None:
        nonlocal saved, shown
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(
                f"  {search.nodes / 1e6:,.0f} million nodes, table {search.table_load:.0%} full",
                file=sys.stderr,
                flush=True,
            )
        if time.monotonic() - saved > SAVE_SECONDS:
            search.save(arguments.table)
            saved = time.monotonic()

    compile_solver(game)  # or loads it, which must not be timed
    search = Search(game, read_memory(arguments.memory), progress=progress, local_tables=False)
    if arguments.table.exists():
        search.load(arguments.table)
        print(f"going on from {arguments.table}, {search.nodes:,} nodes", file=sys.stderr)
    print(f"{describe_hardware()}\n\n| first action | Black | nodes | seconds |\n| --- | --- | ---: | ---: |")
    for action in actions:
        after = start.copy()
        after.step(action)
        before, began = search.nodes, time.process_time()
        value = -search.value(after.row)
        seconds = time.process_time() - began
        print(
            f"| {start.action_to_str(action)} | {WORDS[value]} | {search.nodes - before:,} | {seconds:,.0f} |",
            flush=True,
        )
        search.save(arguments.table)
        saved = time.monotonic()


if __name__ == "__main__":
    main()
