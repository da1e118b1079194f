"""What a subcommand is, and what several of them share: a run, a game, the options of the arena, trust."""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from stonezero.arena import Balance
    from stonezero.config import DeviceConfig, NetworkConfig
    from stonezoo import Game

BAD_INPUT, INTERRUPTED = 2, 130  # exit codes; 128 + SIGINT, as shells count
RUNS = Path("runs")
DEFAULT_GAME = "rive"
SETTINGS_HELP = """\
Any field of the config is set by --set.some.field value, before or after CONFIG:
  stonezero {command} {config} --set.loop.iterations 3 --set.seed 1"""
RUN_DIR_HELP = "the run's folder, new or empty (default: a new one in runs/)"


@dataclass(frozen=True)
class Command:
    """A subcommand: `configure` adds its options to its parser, `run` does it and returns the exit code.

    `run` is given the parsed options and what the parser left over (`--set.some.field value`).
    """

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace, list[str]], int]
    description: str | None = None  # of --help; None: the summary


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line on stderr."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: error: {message}; {self.prog} --help says more\n")


def split_settings(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Words of a command line without `--set.some.field value` or `--set.some.field=value`, and these, in order.

    So a setting may stand before a config too, whose name argparse would take its value for.
    """
    others: list[str] = []
    settings: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--set."):
            others.append(word)
            continue
        settings.append(word)
        if "=" not in word and rest and not rest[0].startswith("--"):
            settings.append(rest.pop(0))
    return others, settings


def try_network(device: DeviceConfig, network: NetworkConfig, game: Game, seed: int) -> None:
    """ValueError for a device that is not here or a network that cannot be built, before a run's folder is made."""
    from stonezero.device import find_device
    from stonezero.networks import NetworkSpec, build_network

    find_device(device)
    build_network(network, NetworkSpec.from_game(game), seed=seed)


def refuse(rest: Sequence[str], remedy: str) -> None:
    """Raises a ValueError when arguments are left over."""
    if rest:
        raise ValueError(f"unknown argument {rest[0]}: {remedy}")


def interruptible(work: Callable[[], object], run: Path) -> int:
    """Trains by `work()` and returns the exit code; says on Ctrl-C how to go on with the run."""
    try:
        work()
    except KeyboardInterrupt:
        print(f"stopped; `stonezero resume {run}` goes on from its last save", file=sys.stderr)
        return INTERRUPTED
    return 0


def new_run_path(game: str, config: str) -> Path:
    """A name in runs/ that nothing bears yet: game, config and time."""
    stem = f"{game}-{Path(config).stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    path, number = RUNS / stem, 2
    while path.exists():
        path, number = RUNS / f"{stem}-{number}", number + 1
    return path


def add_game(parser: argparse.ArgumentParser, help_text: str = "its name (default: %(default)s)") -> None:
    """Adds the options that `chosen_game` reads; `help_text` is of --game."""
    parser.add_argument("--game", default=DEFAULT_GAME, help=help_text)
    parser.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="of the game, such as board_size=3; may be repeated",
    )


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Adds the option that `trusting` reads, for commands whose players may be files that hold pickles."""
    parser.add_argument(
        "--trust",
        action="store_true",
        help="read the files of players sb3:PATH. They hold pickled Python objects: whoever made such a file decides "
        "what runs on this machine when it is read, so say it only of files whose maker you trust",
    )


def check_number(option: str, value: float | None, low: int = 0) -> None:
    """Raises ValueError when an option's number is below `low`."""
    if value is not None and value < low:
        raise ValueError(f"{option} {value:g}: must be {low} or more")


@contextmanager
def trusting(chosen: argparse.Namespace) -> Iterator[None]:
    """Lets the players of one command be files that hold pickles, when its `--trust` says so."""
    if not getattr(chosen, "trust", False):
        yield
        return
    from stonezero.players import trust_pickles

    with trust_pickles():
        yield


def chosen_game(chosen: argparse.Namespace) -> Game:
    """The game that the options name.

    Raises:
        ValueError: a parameter is not NAME=VALUE, or there is no such game.
    """
    from stonezoo.cli.command import read_settings
    from stonezoo.state import load_game

    return load_game(chosen.game, **read_settings(chosen.parameter))


def players_game(chosen: argparse.Namespace, players: Sequence[str]) -> Game:
    """The game that the options name, or else that of the first checkpoint among the players, or else Rive.

    Raises:
        ValueError: as `chosen_game`, or the checkpoint's config cannot be read.
    """
    from stonezoo.cli.command import read_settings
    from stonezoo.state import load_game

    if chosen.game is not None:
        return chosen_game(chosen)
    from stonezero.players.checkpoint import trained_game

    name, parameters = next(filter(None, map(trained_game, players)), (DEFAULT_GAME, {}))
    return load_game(name, **{**parameters, **read_settings(chosen.parameter)})


def add_arena(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `match` and `tournament` share."""
    add_game(parser, f"its name (default: what a checkpoint among the players was trained on, or else {DEFAULT_GAME})")
    parser.set_defaults(game=None)
    parser.add_argument("--seed", type=int, default=0, help="of openings and players (default: %(default)s)")
    parser.add_argument(
        "--opening-actions",
        type=int,
        default=2,
        metavar="N",
        help="random actions before the players begin, more where there are too few different positions "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--balance",
        metavar="LOW,HIGH",
        help="drop openings whose value to Black, by a search with uct:500, lies outside; `none` drops none (default: "
        "0.2,0.8 where there are enough of those, or else none)",
    )
    parser.add_argument(
        "--openings",
        type=Path,
        metavar="FILE",
        help="play from these instead: records of unfinished games, or position texts, one a line",
    )
    parser.add_argument(
        "--seconds-per-move",
        type=float,
        metavar="S",
        help="give each player that counts simulations as many as it makes in S seconds alone with one position, "
        "measured at start; alphabeta has its time in its text: alphabeta:2s",
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds for one action, after which a player in a process of its own loses its game "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--isolate",
        action="store_true",
        help="give every player a process of its own; otherwise only py: and sb3: players have one",
    )
    add_trust(parser)


def chosen_balance(chosen: argparse.Namespace) -> Balance | None:
    """What --balance says.

    Raises:
        ValueError: it is neither a band nor `none`.
    """
    from stonezero.arena import Balance

    if chosen.balance is None:
        return Balance(required=False)
    if chosen.balance == "none":
        return None
    try:
        low, high = map(float, chosen.balance.split(","))
    except ValueError:
        raise ValueError(f"--balance {chosen.balance}: expected LOW,HIGH such as 0.2,0.8, or none") from None
    return Balance(low=low, high=high)


def check_writable(*paths: Path | None) -> None:
    """Raises ValueError when a file asked for cannot be written later: better before a match than after it."""
    for path in paths:
        if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
            raise ValueError(f"{path} cannot be written: it must be a file in a folder that exists")
        if path is not None:
            _try_to_write(path.absolute().parent, path)


def check_writable_folder(path: Path) -> None:
    """Raises ValueError when nothing can be written into a folder, which need not be there yet."""
    there = path.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise ValueError(f"{path} cannot be written: {there} is a file")
    _try_to_write(there, path)


def _try_to_write(folder: Path, path: Path) -> None:
    from stonezero.run import TEMPORARY_PREFIX

    trial = folder / f"{TEMPORARY_PREFIX}{path.name}-{secrets.token_hex(8)}"
    try:
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from error
