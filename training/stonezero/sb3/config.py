"""The fields of a run of MaskablePPO, each with its scale. Names of `ppo` are those of stable-baselines3."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stonezero.config import (
    Config,
    ConfigError,
    DeviceConfig,
    EvaluationConfig,
    GameConfig,
    Limits,
    NetworkConfig,
    load_fields,
)

SELF = "self"  # among opponents: frozen copies of the learner


@dataclass(frozen=True)
class PpoConfig:
    """MaskablePPO of sb3-contrib."""

    num_games: int = 128  # lanes that are played side by side, the learner in one seat of each
    n_steps: int = 64  # actions of the learner in each lane, an iteration
    batch_size: int = 512  # of a gradient step
    n_epochs: int = 4  # passes over an iteration's actions
    learning_rate: float = 1e-3  # of Adam
    gamma: float = 1.0  # discount an action; 1: winning late counts as winning soon
    gae_lambda: float = 0.95  # of the generalised advantage; 0.9 to 1
    clip_range: float = 0.2  # limit on the change of a probability's ratio
    ent_coef: float = 0.01  # weight of the policy's entropy
    vf_coef: float = 0.5  # weight of the value's squared error
    max_grad_norm: float = 0.5  # limit on the norm of the gradient
    target_kl: float | None = None  # stop an iteration's passes beyond 1.5 times this; null: never


@dataclass(frozen=True)
class OpponentsConfig:
    """Who has the other seat. Each opponent plays in lanes of its own; frozen copies draw their actions."""

    # Share of the lanes by opponent: `self` (frozen copies), or a player's text such as random or uct:20.
    mix: dict[str, float] = field(default_factory=lambda: {SELF: 0.8, "random": 0.1, "uct:20": 0.1})
    slots: int = 3  # copies that play at once, the newest among them, the others drawn from the pool
    pool_size: int = 20  # copies that are kept, the newest ones
    snapshot_every: int = 5  # iterations between two copies; the copies at play are drawn anew then


@dataclass(frozen=True)
class Sb3LoopConfig:
    """How long a run lasts (the first limit that is met ends it) and its rhythm."""

    iterations: int | None = None  # limit in iterations; null: none
    max_minutes: float | None = None  # limit in minutes of this run, all starts together; null: none
    timesteps: int | None = None  # limit in the learner's actions; null: none
    checkpoint_every: int = 10  # iterations between two checkpoints; one at the end in any case
    evaluate_every: int = 20  # iterations between two evaluations; 0: only at the end


@dataclass(frozen=True)
class Sb3Config:
    """All of a run."""

    game: GameConfig
    seed: int = 0  # of everything random in the run
    network: NetworkConfig = field(default_factory=NetworkConfig)
    ppo: PpoConfig = field(default_factory=PpoConfig)
    opponents: OpponentsConfig = field(default_factory=OpponentsConfig)
    loop: Sb3LoopConfig = field(default_factory=Sb3LoopConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    device: DeviceConfig = field(default_factory=DeviceConfig)
    deterministic: bool = False  # the same run bit for bit on one machine: fp32, one thread, slower

    def as_checkpoint_config(self) -> Config:
        """What the checkpoints of the run say of it: all that plays and evaluates a network of it."""
        return Config(
            self.game,
            self.seed,
            self.network,
            evaluation=self.evaluation,
            device=self.device,
            deterministic=self.deterministic,
        )


_INF = math.inf
LIMITS: Limits = {
    "seed": (0, 2**32 - 1),  # numpy's old generator, which stable-baselines3 seeds, takes no more
    "network.blocks": (1, 40),
    "network.channels": (8, 4096),
    "ppo.num_games": (1, 1_000_000),
    "ppo.n_steps": (1, _INF),
    "ppo.batch_size": (2, _INF),
    "ppo.n_epochs": (1, 1_000),
    "ppo.learning_rate": (0, 10),
    "ppo.gamma": (0, 1),
    "ppo.gae_lambda": (0, 1),
    "ppo.clip_range": (1e-6, 1),
    "ppo.ent_coef": (0, _INF),
    "ppo.vf_coef": (0, _INF),
    "ppo.max_grad_norm": (1e-6, _INF),
    "ppo.target_kl": (1e-6, _INF),
    "opponents.slots": (1, 1_000),
    "opponents.pool_size": (1, 100_000),
    "opponents.snapshot_every": (1, _INF),
    "loop.iterations": (1, _INF),
    "loop.max_minutes": (0, _INF),
    "loop.timesteps": (1, _INF),
    "loop.checkpoint_every": (1, _INF),
    "loop.evaluate_every": (0, _INF),
    "evaluation.games": (2, _INF),
    "evaluation.num_simulations": (1, 1_000_000),
    "evaluation.opening_actions": (0, _INF),
    "evaluation.games_while_training": (2, _INF),
    "device.threads": (0, 1_024),
}
"""The range of each number, by its path: lowest and highest value accepted."""


def load_sb3_config(path_or_name: str | Path, overrides: Sequence[str] = ()) -> Sb3Config:
    """Reads a configuration file as `stonezero.config.load_config` does, and checks it.

    Raises:
        ConfigError: one line with the file and the key's path.
    """
    config = load_fields(Sb3Config, LIMITS, path_or_name, overrides)
    try:
        _check_together(config)
    except ConfigError as error:
        raise ConfigError(f"{path_or_name}: {error}") from None
    return config


def _check_together(config: Sb3Config) -> None:
    for key in ("games", "games_while_training"):
        games = getattr(config.evaluation, key)
        if games % 2:
            raise ConfigError(f"evaluation.{key}: must be even, for games are played in pairs, got {games}")
    loop = config.loop
    if loop.iterations is None and loop.max_minutes is None and loop.timesteps is None:
        raise ConfigError("loop: set one of iterations, max_minutes and timesteps, or the run never ends")
    rows = config.ppo.num_games * config.ppo.n_steps
    if config.ppo.batch_size > rows:
        raise ConfigError(
            f"ppo.batch_size: must be at most num_games * n_steps, an iteration's {rows} actions, got "
            f"{config.ppo.batch_size}"
        )
    mix = config.opponents.mix
    if not mix or not all(0 <= share < math.inf for share in mix.values()) or not sum(mix.values()) > 0:
        raise ConfigError(
            f"opponents.mix: expected opponents with shares that are not negative, such as {{self: 0.9, random: 0.1}}, "
            f"got {mix}"
        )
    share_lanes(config)


def share_lanes(config: Sb3Config) -> list[tuple[str, int]]:
    """Opponents and their numbers of lanes, `num_games` in all; `self` stands once for each of the slots.

    Shares are rounded by largest remainders, and nobody with a share is left without a lane.

    Raises:
        ConfigError: there are fewer lanes than opponents.
    """
    slots = config.opponents.slots
    shares: list[tuple[str, float]] = []
    for text, share in config.opponents.mix.items():
        if share > 0:
            shares += [(text, share / slots)] * slots if text == SELF else [(text, share)]
    num_games = config.ppo.num_games
    if len(shares) > num_games:
        raise ConfigError(f"ppo.num_games: must be at least {len(shares)}, one for each opponent, got {num_games}")
    total = sum(share for _, share in shares)
    exact = [(num_games - len(shares)) * share / total for _, share in shares]
    lanes = [1 + int(number) for number in exact]
    by_remainder = sorted(range(len(shares)), key=lambda index: (int(exact[index]) - exact[index], index))
    for index in by_remainder[: num_games - sum(lanes)]:
        lanes[index] += 1
    return [(text, number) for (text, _), number in zip(shares, lanes, strict=True)]
