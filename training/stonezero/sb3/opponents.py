"""Who plays against a learner in training: frozen copies of it, and players that never change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor, nn

from stonezero.checkpoint import load_training_state, save_training_state
from stonezero.evaluator import Evaluator
from stonezero.players.sampled import SampledPlayer
from stonezero.replay import restore_rng, rng_state
from stonezero.sb3.config import SELF, Sb3Config, share_lanes
from stonezero.sb3.vec_env import SeatedVecEnv
from stonezoo import Game
from stonezoo.api.vector import SeatVectorEnv
from stonezoo.players import make_player

POOL_SPAWN_KEY = 1  # of the draws from the pool among all that comes from the run's seed
COPY_FILE = "copy-{:010d}.pt"

Weights = Mapping[str, Tensor]


def check_players(config: Sb3Config, game: Game) -> None:
    """Raises ValueError unless every opponent, in training and evaluation, is a player: before a run is begun."""
    for text in (*config.opponents.mix, *config.evaluation.opponents):
        if text != SELF or text in config.evaluation.opponents:
            make_player(text, game)


class Opponents:
    """The lanes of a run, an environment for each opponent, and the pool of past copies.

    Attributes:
        env: all lanes as one `VecEnv`.
        names: of the opponent in each environment of `env.environments`: a player's text, or `self`.
    """

    def __init__(
        self, game: Game, config: Sb3Config, make: Callable[[], nn.Module], device: torch.device | str
    ) -> None:
        """Seats the opponents; `make()` makes a network of the learner's kind.

        Raises:
            ValueError: an opponent's text names no player.
        """
        self.config = config.opponents
        self.rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(POOL_SPAWN_KEY,)))
        self.pool: dict[int, Weights] = {}  # by the learner's actions before the copy was made
        self.playing: list[int] = []  # keys of the pool, one a slot
        self.names: list[str] = []
        self._evaluators: list[Evaluator] = []
        environments = []
        parameters: dict[str, Any] = dict(game.parameters)
        for text, lanes in share_lanes(config):
            opponent: Any = text
            if text == SELF:
                self._evaluators.append(Evaluator(make(), device=device, precision="fp32"))
                opponent = SampledPlayer(game, self._evaluators[-1], SELF)
            environments.append(
                SeatVectorEnv(
                    lanes,
                    game=game.name,
                    opponent=opponent,
                    autoreset_mode=AutoresetMode.SAME_STEP,
                    **parameters,
                )
            )
            self.names.append(text)
        self.env = SeatedVecEnv(environments)

    def add(self, step: int, weights: Weights) -> None:
        """Takes a copy of the learner into the pool, drops the oldest beyond its size, and draws who plays.

        The first slot plays the new copy, each other slot one drawn from the pool. Games under way go on.
        """
        if not self._evaluators:
            return
        self.pool[step] = weights
        for old in sorted(self.pool)[: -self.config.pool_size]:
            del self.pool[old]
        steps = sorted(self.pool)
        drawn = self.rng.choice(steps, len(self._evaluators) - 1)
        self._seat([step, *(int(other) for other in drawn)])

    def state_dict(self, folder: Path) -> dict[str, Any]:
        """All that the games go on from, for `load_state_dict`; copies are written to files in `folder` once."""
        for step, weights in self.pool.items():
            if not (folder / COPY_FILE.format(step)).exists():
                save_training_state(folder / COPY_FILE.format(step), weights)
        games = {name: torch.from_numpy(array) for name, array in self.env.snapshot().items()}
        return {"pool": list(self.pool), "playing": self.playing, "rng": rng_state(self.rng), "games": games}

    def load_state_dict(self, state: Mapping[str, Any], folder: Path) -> np.typing.NDArray[np.float32]:
        """Goes on from `state_dict`, and returns what the learner sees: float32 [B, H, W, C].

        Raises:
            CheckpointError: the file of a copy is missing or torn.
            ValueError: the games are not those of this configuration.
        """
        self.pool = {step: load_training_state(folder / COPY_FILE.format(step)) for step in state["pool"]}
        self._seat(list(state["playing"]))
        self.rng = restore_rng(state["rng"])
        return self.env.restore({name: tensor.numpy() for name, tensor in state["games"].items()})

    def prune(self, folder: Path) -> None:
        """Removes the files of copies that the pool has dropped."""
        needed = {COPY_FILE.format(step) for step in self.pool}
        for path in folder.glob(COPY_FILE.replace("{:010d}", "*")):
            if path.name not in needed:
                path.unlink()

    def _seat(self, playing: list[int]) -> None:
        self.playing = playing
        for evaluator, step in zip(self._evaluators, playing, strict=False):
            evaluator.load_weights(self.pool[step], step)
