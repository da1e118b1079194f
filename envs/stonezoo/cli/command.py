"""What a subcommand is, and what all of them share: games and positions as options, errors, output."""

import argparse
import contextlib
import errno
import json
import platform
import re
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numba
import numpy as np

from stonezoo.core.game import Parameter
from stonezoo.games import game_names, rules_class
from stonezoo.players.uct import usable_cores
from stonezoo.state import Game, State, load_game

BAD_INPUT = 2  # the exit code that argparse uses too
INTERRUPTED = 130  # 128 + SIGINT, as shells count
PARAMETER_PREFIX = "parameter_"  # of the names under which argparse keeps a game's parameters


class CommandError(ValueError):
    """Input that makes no sense; its first line is shown, and the exit code is 2."""


@dataclass(frozen=True)
class Command:
    """A subcommand: `configure` adds its options to its parser, `run` does it and returns the exit code."""

    name: str
    summary: str
    configure: Callable[["Parser"], None]
    run: Callable[[argparse.Namespace], int]


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line on stderr."""

    def __init__(self, *args: Any, **options: Any) -> None:
        defaults = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
        super().__init__(*args, **{**defaults, **options})

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {message}; {self.prog} --help says more\n")


def positive(text: str) -> int:
    """Reads a whole number of at least 1, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return value


def seed(text: str) -> int:
    """Reads what random choices are made from, a whole number of at least 0, for argparse."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return value


def seconds(text: str) -> float:
    """Reads a positive number of seconds, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number of seconds")
    return value


def add_games(parser: Parser, configure: Callable[[Parser], None], *, required: bool = True) -> None:
    """Adds the argument GAME: a game is a parser of its own, with its parameters and `configure`'s options."""
    games = parser.add_subparsers(title="games", metavar="GAME", dest="game", required=required)
    for name in game_names():
        rules = rules_class(name)
        inner = games.add_parser(name, help=_parameter_names(rules.parameters), description=parser.description)
        group = inner.add_argument_group(f"parameters of {name}")
        for parameter in rules.parameters:
            _add_parameter(group, parameter)
        configure(inner)


def _parameter_names(parameters: tuple[Parameter, ...]) -> str:
    return " ".join(map(option_of, parameters)) or "no parameters"


def option_of(parameter: Parameter) -> str:
    """Returns the option that sets a parameter, such as `--board-size`."""
    return "--" + parameter.name.replace("_", "-")


def _add_parameter(group: Any, parameter: Parameter) -> None:
    help_text = f"{parameter.summary}: {parameter.accepted} (default {parameter.default})"
    options: dict[str, Any] = {"metavar": "PROFILE" if parameter.choices else "N"}
    if not parameter.choices:
        options["type"] = int
    group.add_argument(
        option_of(parameter), dest=PARAMETER_PREFIX + parameter.name, help=help_text.replace("%", "%%"), **options
    )


def read_settings(texts: Sequence[str], option: str = "--parameter") -> dict[str, int | str]:
    """Returns a game's parameters out of the texts NAME=VALUE of an option.

    Raises:
        CommandError: (a ValueError) one is something else.
    """
    parameters: dict[str, int | str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise CommandError(f"{option} {text}: expected NAME=VALUE, such as board_size=3")
        parameters[name] = int(value) if re.fullmatch("-?[0-9]+", value) else value
    return parameters


def chosen_game(arguments: argparse.Namespace) -> Game:
    """Returns the game of the arguments; CommandError when its parameters are out of range."""
    given = {
        key.removeprefix(PARAMETER_PREFIX): value
        for key, value in vars(arguments).items()
        if key.startswith(PARAMETER_PREFIX) and value is not None
    }
    try:
        return load_game(arguments.game, **given)
    except ValueError as error:
        raise CommandError(str(error)) from None


def chosen_state(game: Game, position: str | None) -> State:
    """Returns the state of a position text, or the initial one; CommandError when the text is wrong."""
    if position is None:
        return game.initial_state()
    try:
        return game.parse_state(position)
    except ValueError as error:
        raise CommandError(str(error)) from None


def check_writable(path: Path) -> None:
    """CommandError when a file cannot be written later, whose folders need not be there yet: better before the work."""
    folder = path.absolute().parent
    while not folder.exists():
        folder = folder.parent
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}") from None


def describe_game(game: Game) -> dict[str, Any]:
    """Returns what JSON output says of a game."""
    return {"game": game.name, "rules_id": game.rules_id, "parameters": dict(game.parameters)}


def print_json(value: Any) -> None:
    """Prints a value as JSON."""
    print(json.dumps(value, indent=2))


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Lets Ctrl-C end the process even inside compiled code, where Python cannot notice it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def describe_hardware() -> str:
    """Returns processor, cores that may be used, and the versions that decide speed."""
    return (
        f"{_processor()}, {usable_cores()} of its cores usable, Python {platform.python_version()}, "
        f"numpy {np.__version__}, numba {numba.__version__}"
    )


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
