"""Models of stable-baselines3 as players: `sb3:model.zip`. Nothing here is imported before such a player is made."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezero.config import SearchConfig
from stonezero.players.network import Floats, NetworkPlayer
from stonezero.players.sampled import SampledPlayer
from stonezoo import Game
from stonezoo.players import Player, PlayerError, PlayerKind, read_number

PREFIX = "sb3:"
POLICY, SAMPLE = "policy", "sample"
SEARCH = SearchConfig()  # what `sb3:PATH:N` searches with
_STEP = re.compile(r"step-\d{8,}\.zip")

_trusted = False


@contextmanager
def trust_pickles(trusted: bool = True) -> Iterator[None]:
    """While it is open, texts such as `sb3:model.zip` may make players, in the whole process: their files are trusted.

    A model of stable-baselines3 holds pickled objects, and whoever made the file decides what runs when they are read.
    """
    global _trusted
    before, _trusted = _trusted, trusted
    try:
        yield
    finally:
        _trusted = before


def pickles_are_trusted() -> bool:
    """Whether `trust_pickles` is open, for whoever makes players in another process."""
    return _trusted


def load_sb3_player(path: str | Path, game: Game, *, trust: bool = False) -> Player:
    """Returns a model of MaskablePPO as a player of `game`.

    Args:
        path: `PATH`, which plays the most probable action, as `PATH:policy` does; `PATH:sample` draws each action with
            its probability; `PATH:N` searches with N simulations, with the model's policy and value. PATH is the zip
            that stable-baselines3 saved, with or without its ending, or the folder of a run of `stonezero train-sb3`,
            which stands for its newest model. A leading `sb3:` does no harm.
        game: what to play; the model must have been trained on its observations and actions.
        trust: whether the file may be read although that can run whatever its maker put into it.

    Raises:
        PlayerError: the file is missing, not trusted, no model of MaskablePPO, or one of another game or board size
            (both shapes are named); or stable-baselines3 is not installed.
    """
    text = str(path).removeprefix(PREFIX)
    file, how = _split(text)
    name = f"{PREFIX}{text}"
    if not (trust or _trusted):
        raise PlayerError(
            f"{name}: a model of stable-baselines3 holds pickled Python objects, so that reading it can run any code "
            "that its maker wanted; if you trust the file, say so with --trust, in Python with trust=True or "
            "stonezero.players.trust_pickles(). The checkpoints of `stonezero train-sb3` need no trust"
        )
    evaluate = _PolicyEvaluator(_load(file, game, name))
    if how == SAMPLE:
        return SampledPlayer(game, evaluate, name)
    simulations = 0 if how == POLICY else read_number(name, how, "simulations, as in sb3:model.zip:64")
    return NetworkPlayer(game, evaluate, SEARCH, simulations, name)


class _PolicyEvaluator:
    """A policy of sb3-contrib as an evaluator: policy_logits float32 [B, A], and value float32 [B] kept in [-1, 1]."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        policy.set_training_mode(False)
        policy.requires_grad_(False)

    def __call__(self, observations: NDArray[np.float32]) -> tuple[Floats, Floats]:
        seen, _ = self._policy.obs_to_tensor(observations)
        logits = self._policy.get_distribution(seen).distribution.logits
        value = self._policy.predict_values(seen).flatten().clamp(-1.0, 1.0)
        return logits.cpu().numpy(), value.cpu().numpy()


def _split(text: str) -> tuple[Path, str]:
    """The file, and how it plays; a colon may also belong to the path."""
    if (file := _find(text)) is not None:
        return file, POLICY
    path, colon, how = text.rpartition(":")
    if colon and (file := _find(path)) is not None:
        if how not in (POLICY, SAMPLE):
            read_number(f"{PREFIX}{text}", how, f"simulations, nor {POLICY} nor {SAMPLE}")
        return file, how
    raise PlayerError(f"{PREFIX}{text}: there is no such file; it must be sb3:PATH, such as sb3:runs/x/model.zip")


def _find(text: str) -> Path | None:
    path = Path(text).expanduser()
    for candidate in (path, path.with_name(f"{path.name}.zip")) if path.name else ():
        if candidate.is_file():
            return candidate
    for folder in (path / "checkpoints", path):
        if folder.is_dir():
            models = sorted(file for file in folder.iterdir() if _STEP.fullmatch(file.name))
            if models:
                return models[-1]
    return None


def _load(file: Path, game: Game, name: str) -> Any:
    """The policy of a model, checked to be one for `game`. Reads pickles: only for files that are trusted."""
    try:
        from sb3_contrib import MaskablePPO
    except ImportError as error:
        raise PlayerError(
            f"{name}: stable-baselines3 and sb3-contrib are needed: install the extra `sb3`, as in "
            f"pip install stonezoo[sb3] ({error})"
        ) from error
    try:
        with zipfile.ZipFile(file) as archive:
            whole = {"data", "policy.pth"} <= set(archive.namelist()) and archive.testzip() is None
    except (zipfile.BadZipFile, OSError) as error:
        raise PlayerError(f"{name}: no zip that can be read: {error}") from error
    if not whole:
        raise PlayerError(f"{name}: a zip, but no model that stable-baselines3 saved, or a torn one")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Not seeded: that would set the random generators of the whole process. No room for rollouts either.
            model = MaskablePPO.load(file, device="auto", seed=None, n_steps=1, n_envs=1, tensorboard_log=None)
    except Exception as error:  # what unpickling and foreign classes raise has no end
        raise PlayerError(
            f"{name}: no model of MaskablePPO that can be read here: {' '.join(f'{error!r}'.split())[:300]}"
        ) from error
    observations, actions = model.observation_space.shape, getattr(model.action_space, "n", None)
    if observations != game.observation_shape or actions != game.num_actions:
        raise PlayerError(
            f"{name}: trained on observations {observations} and {actions} actions, but {game!r} has observations "
            f"{game.observation_shape} and {game.num_actions} actions"
        )
    return model.policy


def _create(text: str, game: Game) -> Player | None:
    return load_sb3_player(text, game) if text.startswith(PREFIX) else None


SB3_KIND = PlayerKind(
    _create,
    lambda: f"sb3:PATH (a MaskablePPO zip, the best action; with :{SAMPLE} drawn, with :N searched; needs --trust)",
)
