"""The command `stonezero`: a subcommand is a module with its `Command` (or several), and a line in COMMANDS.

The modules import what they need when they run: --help should not wait for torch.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from stonezero.cli import bench, check_network, evaluate, match, pack, tournament, train, train_sb3
from stonezero.cli.command import BAD_INPUT, INTERRUPTED, Command, Parser, split_settings, trusting

COMMANDS: tuple[Command, ...] = (
    train.TRAIN,
    train.QUICKSTART,
    train.RESUME,
    pack.COMMAND,
    train_sb3.COMMAND,
    evaluate.COMMAND,
    match.COMMAND,
    tournament.COMMAND,
    bench.COMMAND,
    check_network.COMMAND,
)


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; `--set.some.field value` is left over by it."""
    parser = Parser(
        prog="stonezero",
        description="Learn board games with multi-action turns from self-play.",
        epilog="Fields of a config are set by --set.some.field value, as in --set.search.num_simulations 32.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for command in COMMANDS:
        inner = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.description or command.summary + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.configure(inner)
        inner.set_defaults(run=command.run, prog=inner.prog)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (default: the process's own) and return the exit code.

    Returns:
        0 when all went well, 1 when a required score was missed, 2 after input or files that cannot be used (one line
        on stderr says why), 130 when interrupted.
    """
    try:
        words, settings = split_settings(sys.argv[1:] if arguments is None else arguments)
        chosen, rest = build_parser().parse_known_args(words)
    except SystemExit as stop:  # --help, or an error that argparse has printed
        return stop.code if isinstance(stop.code, int) else BAD_INPUT
    from stonezero.run import RunError

    try:
        with trusting(chosen):
            code: int = chosen.run(chosen, [*settings, *rest])
        return code
    except (ValueError, RunError, OSError, MemoryError, OverflowError, FloatingPointError) as error:
        # ConfigError, CheckpointError, ReplayError and PlayerError are ValueErrors. Anything else is a fault of ours.
        print(f"{chosen.prog}: error: {_one_line(error)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED


def _one_line(error: Exception) -> str:
    """What an error says, on one line: of files their name first, and of numbers that are too large that they are."""
    said = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        return ": ".join(map(str, filter(None, (error.filename, error.strerror))))
    if isinstance(error, MemoryError):
        return f"not enough memory{said and f': {said}'}; ask for less, such as smaller sizes or fewer simulations"
    if isinstance(error, ArithmeticError):
        return f"a number that was given is too large or too small to compute with: {said or type(error).__name__}"
    return said or type(error).__name__


__all__ = ["COMMANDS", "Command", "build_parser", "main"]
