"""`stonezero train-sb3`: learning by MaskablePPO of stable-baselines3."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from stonezero.cli.command import (
    RUN_DIR_HELP,
    SETTINGS_HELP,
    Command,
    add_trust,
    interruptible,
    new_run_path,
    try_network,
)

CONFIG = "rive/sb3"


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("config", help=f"a path, or the name of one that ships, such as {CONFIG}")
    parser.add_argument("--run-dir", type=Path, help=RUN_DIR_HELP)
    add_trust(parser)
    parser.epilog = SETTINGS_HELP.format(command="train-sb3", config=CONFIG)


def _train(chosen: argparse.Namespace, rest: list[str]) -> int:
    sb3 = _library()
    from stonezero.config import ConfigError
    from stonezero.loop.report import new_console
    from stonezoo.state import load_game

    config = sb3.load_sb3_config(chosen.config, rest)
    try:
        game = load_game(config.game.name, **config.game.parameters)
    except ValueError as error:
        raise ConfigError(f"{chosen.config}: game: {error}") from error
    try_network(config.device, config.network, game, config.seed)
    sb3.check_players(config, game)
    path = chosen.run_dir or new_run_path(config.game.name, chosen.config)
    run = sb3.Sb3RunFolder.create(path, config, game.rules_id)
    return interruptible(lambda: sb3.train(run, new_console()), run.path)


def resume(path: Path) -> int:
    """Goes on with a run; returns the exit code."""
    sb3 = _library()
    from stonezero.loop.report import new_console
    from stonezoo.state import load_game

    config = sb3.Sb3RunFolder.open(path).config
    game = load_game(config.game.name, **config.game.parameters)
    run = sb3.Sb3RunFolder.open(path, game.rules_id)
    return interruptible(lambda: sb3.train(run, new_console()), run.path)


def _library() -> Any:
    """`stonezero.sb3`; ValueError, which says what to install, where its libraries are missing."""
    try:
        import stonezero.sb3
    except ImportError as error:
        raise ValueError(str(error)) from error
    return stonezero.sb3


COMMAND = Command(
    "train-sb3",
    "train a network by MaskablePPO of stable-baselines3, then evaluate it",
    _configure,
    _train,
    f"""Train a network by MaskablePPO of stable-baselines3, then evaluate it.

The learner has one seat in each of many games that are stepped together in compiled code; in the
other sit frozen copies of it, and players such as random or uct:20. The network is the one that
`stonezero train` trains, so that the two can be compared, and its checkpoints are of the same kind:
`stonezero evaluate RUN` and `stonezero match RUN:64 uct:100` take them, with a search or without.
Beside each of them lies the zip that stable-baselines3 saved: sb3:RUN is its newest as a player.

Example: stonezero train-sb3 {CONFIG} --set.ppo.learning_rate 0.0005 --set.seed 1
`stonezero resume RUN` goes on with a run that was stopped.""",
)
