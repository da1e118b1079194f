"""`stonezoo show`: a position, drawn and explained."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from stonezoo.cli.command import (
    Command,
    CommandError,
    Parser,
    add_games,
    chosen_game,
    chosen_state,
    describe_game,
    positive,
    print_json,
)
from stonezoo.core.game import NO_WINNER, PLAYER_NAMES
from stonezoo.render import to_ansi, to_rgb_array, to_svg
from stonezoo.render.png import to_png
from stonezoo.state import State

PIXELS = 480  # height of a picture unless asked otherwise


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.description = (
        "Shows a position: the board, who acts in which phase, the legal actions by name, and whether it is over.\n"
        "A position text is the rows from the top joined by '/', X Black, O White, '.' empty, then b or w, then\n"
        "key=value fields for what the board does not show; the game's rules page lists them."
    )
    add_games(parser, _configure_game)


def _configure_game(parser: Parser) -> None:
    parser.add_argument(
        "position", nargs="?", metavar="POSITION", help="a position text (default: the start of the game)"
    )
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write the picture as SVG")
    parser.add_argument("--png", type=Path, metavar="FILE", help="write the picture as PNG")
    parser.add_argument(
        "--height", type=positive, default=PIXELS, metavar="N", help=f"pixels of the PNG (default {PIXELS})"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Prints the position and writes its pictures."""
    game = chosen_game(arguments)
    state = chosen_state(game, arguments.position)
    if arguments.svg:
        _write(arguments.svg, to_svg(state).encode())
    if arguments.png:
        try:
            pixels = to_rgb_array(state, arguments.height)
        except ValueError as error:
            raise CommandError(f"--height: {error}") from None
        _write(arguments.png, to_png(pixels))
    if arguments.json:
        print_json(describe(state))
    else:
        color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        print(f"{game.rules_id}\n\n{to_ansi(state, color)}\n\n{explain(state)}")
    return 0


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}") from None


def explain(state: State) -> str:
    """Returns lines that say player, phase, counters, legal actions or the end, and the shortest position text."""
    lines = []
    if state.terminated:
        result = "draw" if state.winner == NO_WINNER else f"{PLAYER_NAMES[state.winner]} has won"
        lines.append(f"over:      {result}")
    else:
        names = [state.action_to_str(action) for action in state.legal_actions.tolist()]
        lines.append(f"to play:   {PLAYER_NAMES[state.to_play]}")
        lines.append(f"phase:     {state.phase.name.lower()}")
        lines.append(f"legal:     {' '.join(names)}  ({len(names)})")
    for name, value in state.counters.items():
        lines.append(f"{name + ':':<10} {value}")
    lines.append(f"position:  {state.to_text()}")
    return "\n".join(lines)


def describe(state: State) -> dict[str, Any]:
    """Returns what JSON output says of a state."""
    actions = state.legal_actions.tolist()
    names = state.game.layout.names
    return {
        **describe_game(state.game),
        "position": state.to_text(),
        "board": state.board.tolist(),
        "to_play": state.to_play,
        "phase": state.phase.name.lower(),
        "terminated": state.terminated,
        "winner": state.winner,
        "legal_actions": actions,
        "legal_action_names": [state.action_to_str(action) for action in actions],
        "counters": state.counters,
        "marks": {mark: [names[cell] for cell in cells] for mark, cells in state.marks.items()},
    }


COMMAND = Command("show", "Shows a position, its legal actions and its state", configure, run)
