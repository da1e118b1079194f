"""The command `stonezoo`: a subcommand is a module with its `Command`, and a line in COMMANDS."""

import os
import sys
from collections.abc import Sequence

from stonezoo.cli import bench, cache, check_game, games, perft, show, solve, truth, warmup
from stonezoo.cli.command import BAD_INPUT, INTERRUPTED, Command, CommandError, Parser

COMMANDS: tuple[Command, ...] = (
    show.COMMAND,
    perft.COMMAND,
    solve.COMMAND,
    bench.COMMAND,
    games.COMMAND,
    check_game.COMMAND,
    truth.TRUTH,
    truth.PROBE,
    truth.MAKE,
    warmup.COMMAND,
    cache.COMMAND,
)


def build_parser() -> Parser:
    """Returns the parser of the whole command line."""
    parser = Parser(
        prog="stonezoo",
        description="Board games with multi-action turns: look at positions, count move trees, solve, measure speed.",
        epilog="Each command has a --help of its own, and each game's under it: stonezoo perft GAME --help.",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for command in COMMANDS:
        inner = commands.add_parser(command.name, help=command.summary, description=command.summary + ".")
        command.configure(inner)
        inner.set_defaults(run=command.run, prog=inner.prog)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line (default: the process's own) and returns the exit code.

    Returns:
        0 when all went well, 2 after input or files that cannot be used (one line on stderr says why), 130 when
        interrupted.
    """
    try:
        chosen = build_parser().parse_args(arguments)
    except SystemExit as stop:  # --help, or an error that argparse has printed
        return stop.code if isinstance(stop.code, int) else BAD_INPUT
    try:
        code: int = chosen.run(chosen)
        _flush()
    except CommandError as error:
        return _fail(chosen.prog, str(error))
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has seen enough
        _drop_output()
        return 0
    except OSError as error:
        code = _fail(chosen.prog, ": ".join(map(str, filter(None, (error.filename, error.strerror or error)))))
        try:
            _flush()
        except OSError:  # what could not be written is what was to be printed
            _drop_output()
        return code
    except MemoryError as error:
        return _fail(chosen.prog, f"not enough memory{str(error) and f': {error}'}; ask for less")
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _flush() -> None:
    if sys.stdout is not None:  # None: the shell has closed it, as `>&-` does
        sys.stdout.flush()


def _drop_output() -> None:
    """Sends what is still to be printed nowhere: at the end of the process it would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(prog: str, message: str) -> int:
    line = " ".join(message.split("\n")[0].split())
    print(f"{prog}: error: {line}", file=sys.stderr)
    return BAD_INPUT


__all__ = ["COMMANDS", "Command", "CommandError", "build_parser", "main"]
