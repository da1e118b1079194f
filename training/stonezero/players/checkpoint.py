"""Checkpoints as players: `rive-3:64`, `runs/x/checkpoints/latest:64`, `runs/x:policy`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from stonezero.checkpoint import CONFIG, Checkpoint, latest_checkpoint, load_checkpoint
from stonezero.config import DeviceConfig, load_config
from stonezero.device import join_device
from stonezero.evaluator import Evaluator, game_probe
from stonezero.players.network import NetworkPlayer
from stonezero.resources import find_checkpoint, list_checkpoints
from stonezoo import Game, load_game
from stonezoo.players import Player, PlayerKind, read_number

POLICY = "policy"
LATEST = "latest"


def locate_checkpoint(name: str | Path) -> Path:
    """The folder of the checkpoint that `name` stands for.

    It is a checkpoint's path or the name of one that ships; a run's folder, its `checkpoints` folder or `latest` in
    there stand for the newest checkpoint of the run.

    Raises:
        FileNotFoundError: there is none; the message lists those that ship.
    """
    path = Path(name).expanduser()
    if path.name == LATEST and not path.exists():
        path = path.parent
    for folder in (path / "checkpoints", path):
        if folder.is_dir() and (found := latest_checkpoint(folder)) is not None:
            return found
    return find_checkpoint(name)


def load_evaluator(checkpoint: Checkpoint, device: DeviceConfig, game: Game | None = None) -> Evaluator:
    """The network of a checkpoint, ready for play on `device`; eager fp32, unless another way is asked for.

    What is fastest depends on the machine and the moment: a player that chose by it would not be fixed by its seed.
    `game` is what it plays, by default what it was trained on; only an engine that is asked for is tried on it.
    """
    engine = "eager" if device.engine == "auto" else device.engine
    precision = "fp32" if device.precision == "auto" and engine == "eager" else device.precision
    probe = None
    if engine != "eager":
        own = checkpoint.config.game
        probe = game_probe(load_game(own.name, **own.parameters) if game is None else game)
    return Evaluator(
        checkpoint.network,
        device=join_device(device),
        precision=precision,
        engine=engine,
        version=checkpoint.version,
        probe=probe,
    )


def play_device(checkpoint: Checkpoint) -> DeviceConfig:
    """Where and how a checkpoint plays unless told otherwise: in its run's precision, on the best device here."""
    return replace(checkpoint.config.device, kind="auto", engine="auto")


def load_player(text: str, game: Game | None = None, device: DeviceConfig | None = None) -> NetworkPlayer:
    """Returns the player of a text `CHECKPOINT`, `CHECKPOINT:SIMULATIONS` or `CHECKPOINT:policy`.

    Args:
        text: without a number of simulations it is the one with which the checkpoint's run evaluates; 0 is `policy`.
        game: what to play, of any size; by default what the checkpoint was trained on.
        device: where to compute; by default as it was trained, on the best device here.

    Raises:
        FileNotFoundError: there is no such checkpoint.
        ValueError: the checkpoint is torn or of other rules (CheckpointError), or what follows the colon is no number.
    """
    path, simulations = _split(text)
    checkpoint = load_checkpoint(path, game)
    if simulations is None:
        simulations = checkpoint.config.evaluation.num_simulations
    if game is None:
        game = load_game(checkpoint.config.game.name, **checkpoint.config.game.parameters)
    evaluator = load_evaluator(checkpoint, play_device(checkpoint) if device is None else device, game)
    return NetworkPlayer(game, evaluator, checkpoint.config.search, simulations, text)


def trained_game(text: str) -> tuple[str, dict[str, int | str]] | None:
    """Name and parameters of the game that the checkpoint of a player's text was trained on; None for other players.

    Raises ValueError when the checkpoint's config cannot be read.
    """
    try:
        path, _ = _split(text)
    except (FileNotFoundError, ValueError):  # what is wrong with it is said where the player is made
        return None
    config = load_config(path / CONFIG)
    return config.game.name, dict(config.game.parameters)


def _split(text: str) -> tuple[Path, int | None]:
    """The checkpoint and the number of simulations; a colon may also belong to the path."""
    try:
        return locate_checkpoint(text), None
    except FileNotFoundError:
        name, colon, simulations = text.rpartition(":")
        if not colon:
            raise
    path = locate_checkpoint(name)
    return path, 0 if simulations == POLICY else read_number(text, simulations, "simulations, as in rive-3:64")


def _create(text: str, game: Game) -> Player | None:
    try:
        _split(text)
    except FileNotFoundError:
        return None
    return load_player(text, game)


def _describe() -> str:
    names = ", ".join(name.rpartition("/")[2] for name in list_checkpoints()) or "none yet"
    return f"CHECKPOINT:N (a network with N simulations, or :{POLICY}; a path, or one that ships: {names})"


CHECKPOINT_KIND = PlayerKind(_create, _describe)
