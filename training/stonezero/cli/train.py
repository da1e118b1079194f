"""`stonezero train`, `quickstart` and `resume`: learning, and going on with it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stonezero.cli import train_sb3
from stonezero.cli.command import (
    RUN_DIR_HELP,
    SETTINGS_HELP,
    Command,
    add_trust,
    interruptible,
    new_run_path,
    refuse,
    try_network,
)

if TYPE_CHECKING:
    from stonezero.config import Config
    from stonezero.run import RunFolder
    from stonezoo.state import Game

QUICKSTART_CONFIG = "rive/quickstart"


def _configure_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", help=f"a path, or the name of one that ships, such as {QUICKSTART_CONFIG}")
    parser.add_argument("--run-dir", type=Path, help=RUN_DIR_HELP)
    parser.add_argument(
        "--from",
        dest="start_from",
        metavar="CHECKPOINT",
        help="begin with the weights of this checkpoint (a path, a run, or the name of one that ships); its board may "
        "be of another size",
    )
    add_trust(parser)
    parser.epilog = SETTINGS_HELP.format(command="train", config="rive/smoke")


def _configure_quickstart(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Any field of the config is set by --set.some.field value, as in --set.seed 1."
    parser.set_defaults(config=QUICKSTART_CONFIG, start_from=None)
    parser.add_argument("--run-dir", type=Path, help=RUN_DIR_HELP)


def _configure_resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", type=Path, metavar="RUN", help="the run's folder, or a bundle of `stonezero pack`")
    parser.add_argument("--run-dir", type=Path, help="with a bundle: " + RUN_DIR_HELP)
    add_trust(parser)


def _train(chosen: argparse.Namespace, rest: list[str]) -> int:
    from stonezero.config import ConfigError, load_config
    from stonezero.run import RunFolder
    from stonezoo.state import load_game

    config = load_config(chosen.config, rest)
    loop = config.loop
    if loop.iterations is None and loop.max_minutes is None and loop.steps is None:
        raise ConfigError(f"{chosen.config}: loop: set one of iterations, max_minutes and steps, or the run never ends")
    try:
        game = load_game(config.game.name, **config.game.parameters)
    except ValueError as error:
        raise ConfigError(f"{chosen.config}: game: {error}") from error
    try_network(config.device, config.network, game, config.seed)
    _try_opponents(config, game)
    extra = {}
    if chosen.start_from or config.start_from:
        config, extra["started_from"] = _start(config, chosen.start_from, game)
    path = chosen.run_dir or new_run_path(config.game.name, chosen.config)
    return _work(RunFolder.create(path, config, game.rules_id, **extra))


def _try_opponents(config: Config, game: Game) -> None:
    """ConfigError for an opponent that does not exist, before hours of training are spent on the way to it."""
    from stonezero.arena import open_contestant
    from stonezero.config import ConfigError

    for text in config.evaluation.opponents:
        try:
            open_contestant(text, game).close()
        except (ValueError, OSError) as error:
            raise ConfigError(f"evaluation.opponents: {error}") from error


def _start(config: Config, start_from: str | None, game: Game) -> tuple[Config, dict[str, Any]]:
    """The configuration with the very checkpoint that the run begins with, and what that is; it is tried here."""
    from stonezero.checkpoint import initial_weights
    from stonezero.players import locate_checkpoint

    path = locate_checkpoint(start_from or config.start_from or "").resolve()
    _, source = initial_weights(path, config, game)
    return replace(config, start_from=str(path)), source


def _resume(chosen: argparse.Namespace, rest: list[str]) -> int:
    from stonezero.pack import is_bundle
    from stonezero.run import RunFolder, run_kind
    from stonezoo.state import load_game

    refuse(rest, "a run goes on with its own config")
    path: Path = chosen.source
    if is_bundle(path):
        return _work(_unpack(path, chosen.run_dir))
    if chosen.run_dir is not None:
        raise ValueError(f"--run-dir {chosen.run_dir}: a run goes on in its own folder; only a bundle needs another")
    if run_kind(path) == train_sb3.COMMAND.name:
        return train_sb3.resume(path)
    run = RunFolder.open(path)
    game = load_game(run.config.game.name, **run.config.game.parameters)
    return _work(RunFolder.open(path, game.rules_id))


def _unpack(bundle: Path, run_dir: Path | None) -> RunFolder:
    from stonezero.pack import unpack_run

    return unpack_run(bundle, run_dir or new_run_path(bundle.stem, "packed"))


def _work(run: RunFolder) -> int:
    from stonezero.loop import train
    from stonezero.loop.report import new_console

    return interruptible(lambda: train(run, new_console()), run.path)


TRAIN = Command("train", "train a network as a config says, then evaluate it", _configure_train, _train)
QUICKSTART = Command(
    "quickstart", f"train {QUICKSTART_CONFIG}, about six minutes on two cores", _configure_quickstart, _train
)
RESUME = Command(
    "resume",
    "go on with a run that was stopped, or with a bundle of one",
    _configure_resume,
    _resume,
    """Go on with a run that was stopped, however it was stopped, from its last whole save.

A bundle that `stonezero pack` made is unpacked into a new folder first: a run of its own, which goes on
with the weights, the optimiser, the counters and the recent games of the one that was packed.

Example: stonezero resume runs/rive
Example: stonezero resume rive.stonezero --run-dir runs/rive-2""",
)
