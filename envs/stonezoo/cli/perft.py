"""`stonezoo perft`: counts the legal sequences of actions, or of whole turns, from a position."""

import argparse
import time
from typing import Any

from stonezoo.cli.command import (
    Command,
    Parser,
    add_games,
    chosen_game,
    chosen_state,
    describe_game,
    interruptible,
    positive,
    print_json,
)
from stonezoo.kernels.playout import perft
from stonezoo.state import State

DEFAULT_DEPTH = 3


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.description = (
        "Counts the legal sequences of 1, 2, … N actions from a position. A finished game has no further actions.\n"
        "Such counts find nearly every fault in a game's rules: compare them with those on its rules page."
    )
    parser.epilog = "Options follow the game: stonezoo perft GAME --depth 4 --divide."
    add_games(parser, _configure_game)


def _configure_game(parser: Parser) -> None:
    parser.add_argument("--depth", type=positive, default=DEFAULT_DEPTH, metavar="N", help="count up to N (default 3)")
    parser.add_argument(
        "--turns", action="store_true", help="count whole turns instead of actions; a chain is one turn"
    )
    parser.add_argument("--divide", action="store_true", help="count for each first action, at depth N alone")
    parser.add_argument("--position", metavar="TEXT", help="a position text (default: the start of the game)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def count(state: State, depth: int, turns: bool) -> int:
    """Returns the number of legal sequences of `depth` actions or turns from `state`."""
    return perft(state.game.rules, state.row, depth, turns=turns)


def divide(state: State, depth: int, turns: bool) -> dict[str, int]:
    """Returns, for the name of each legal action, the number of sequences that begin with it; their sum is `count`."""
    counts = {}
    for action in state.legal_actions.tolist():
        after = state.copy()
        after.step(action)
        whole = not turns or after.terminated or after.to_play != state.to_play  # it uses up one of `depth`
        counts[state.action_to_str(action)] = count(after, depth - whole, turns)
    return counts


def run(arguments: argparse.Namespace) -> int:
    """Prints the counts."""
    game = chosen_game(arguments)
    state = chosen_state(game, arguments.position)
    unit = "turns" if arguments.turns else "actions"
    count(state, 1, arguments.turns)  # compiles or loads, which must not be timed
    result: dict[str, Any] = {
        **describe_game(game),
        "position": state.to_text(),
        "unit": unit,
        "depth": arguments.depth,
    }
    if not arguments.json:
        print(f"{game.rules_id} {result['position']}")
    with interruptible():
        if arguments.divide:
            result["divide"] = _print_division(state, arguments)
        else:
            result["counts"], result["seconds"] = _print_counts(state, arguments, unit)
    if arguments.json:
        print_json(result)
    return 0


def _print_division(state: State, arguments: argparse.Namespace) -> dict[str, int]:
    counts = divide(state, arguments.depth, arguments.turns)
    if not arguments.json:
        for name, number in counts.items():
            print(f"{name:<8} {number:>20,}")
        print(f"{'total':<8} {sum(counts.values()):>20,}")
    return counts


def _print_counts(state: State, arguments: argparse.Namespace, unit: str) -> tuple[list[int], list[float]]:
    counts, times = [], []
    if not arguments.json:
        print(f"{unit:>7} {'sequences':>20} {'seconds':>10} {'sequences/s':>14}")
    for depth in range(1, arguments.depth + 1):
        start = time.perf_counter()
        counts.append(count(state, depth, arguments.turns))
        times.append(time.perf_counter() - start)
        if not arguments.json:
            rate = counts[-1] / times[-1] if times[-1] > 0 else 0.0
            print(f"{depth:>7} {counts[-1]:>20,} {times[-1]:>10.3f} {rate:>14,.0f}", flush=True)
    return counts, times


COMMAND = Command("perft", "Counts legal sequences of actions or turns from a position", configure, run)
