"""The fields of a configuration, each with its scale."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

DENSE = "dense"  # the preset that is no convolution
PRESETS: dict[str, tuple[int, int]] = {"tiny": (2, 32), "small": (4, 64), "base": (6, 96), DENSE: (3, 512)}
"""Network presets: (residual blocks, channels)."""


@dataclass(frozen=True)
class GameConfig:
    """Which game is learnt."""

    name: str  # as for `stonezoo.load_game`
    parameters: dict[str, int | str] = field(default_factory=dict)  # as for `load_game`; left out: its defaults


@dataclass(frozen=True)
class NetworkConfig:
    """The network. In YAML also `network: tiny` (a preset) or `network: my.module:Class` (one's own)."""

    # blocks x channels: convolutions of 2 x 32, 4 x 64, 6 x 96; dense: 3 x 512, fully connected, for one size of board
    preset: Literal["tiny", "small", "base", "dense"] = "small"
    blocks: int | None = None  # residual blocks, 1 to 40; null: the preset's
    channels: int | None = None  # planes inside the trunk, or units of a dense one, 8 to 4096; null: the preset's
    owner_head: bool = False  # also predict whose each cell is when the game ends; costs a little, teaches the trunk
    module: str | None = None  # "module:Class", called with (config, spec), instead of the residual network


@dataclass(frozen=True)
class SearchConfig:
    """The tree search of self-play."""

    algorithm: Literal["gumbel", "puct"] = "gumbel"  # Gumbel learns with far fewer simulations
    num_simulations: int = 32  # network evaluations a decision; 8 to 200
    max_considered_actions: int = 16  # Gumbel: actions considered at the root
    c_visit: float = 50.0  # Gumbel: weight of q against the prior, for q in [0, 1]; belongs with c_scale
    c_scale: float = 1.0  # Gumbel: scale of sigma(q); belongs with c_visit
    c_puct: float = 1.25  # PUCT: exploration; 1 to 3
    dirichlet_alpha: float = 0.3  # PUCT: concentration of the root noise; about 10 / legal actions
    dirichlet_fraction: float = 0.25  # PUCT: share of the noise in the root's prior; 0 to 1
    full_search_fraction: float = 1.0  # playout cap: share of turns searched in full and recorded; 1: no cap
    cheap_simulations: int = 16  # playout cap: simulations in the other turns
    merge_orders: bool = False  # one node for a position that several orders of actions reach


@dataclass(frozen=True)
class SelfplayConfig:
    """How games are generated."""

    num_games: int = 256  # games under way; a group's share of them is the batch of one network call
    groups: int = 0  # of games, each on its own thread, while the learner learns; 0: one a core, two on a GPU
    temperature: float = 1.0  # of the played action in a game's first turns; 0: the best action
    temperature_turns: int = 8  # turns (not actions) of a game, a random opening's too, played with the temperature
    surprise_weight: float = 0.0  # share of the rows given out by how far the search policy is from the prior; 0 to 1
    random_opening_actions: int = 0  # up to so many uniform random actions before the first search
    record_games: int = 100  # finished games kept as text records, an iteration; 0: none


@dataclass(frozen=True)
class ReplayConfig:
    """The window of recent positions that the learner draws from: c (1 + beta ((N / c)^alpha - 1) / alpha) rows."""

    window: int = 20_000  # c: rows in the window while no more than c have been seen; 5 thousand to 1 million
    alpha: float = 0.75  # exponent of the window's growth; 0 < alpha <= 1
    beta: float = 0.4  # slope of the window's growth at N = c; 0 (constant) to 1
    capacity: int = 200_000  # rows kept in memory at most
    reuse: float = 4.0  # times that a row is drawn, on average
    min_rows: int = 2_000  # rows before the first learner step


@dataclass(frozen=True)
class LearnerConfig:
    """The optimiser (AdamW) and the loss."""

    batch_size: int = 256  # rows a step; 64 to 4096
    lr: float = 2e-3  # step size after warm-up; 3e-4 to 5e-3
    weight_decay: float = 1e-4  # decoupled, on weight matrices and kernels only
    warmup_steps: int = 100  # steps over which the step size rises linearly
    schedule: Literal["constant", "cosine"] = "constant"  # cosine: down to a tenth at the end of the run
    clip_norm: float = 1.0  # limit on the norm of the gradient
    ema_decay: float = 0.99  # of the averaged weights used for play; 0: the raw weights
    symmetries: bool = True  # each row drawn under a random symmetry of the board
    policy_weight: float = 1.0  # of the policy's cross-entropy, in nats
    value_weight: float = 1.0  # of the value's squared error
    owner_weight: float = 1.0  # of the owner head's squared error, mean over the cells; as in KataGo the value's


@dataclass(frozen=True)
class LoopConfig:
    """How long a run lasts (the first limit that is met ends it) and its rhythm."""

    iterations: int | None = None  # limit in iterations; null: none
    max_minutes: float | None = None  # limit in minutes of this run, all starts together; null: none
    steps: int | None = None  # limit in learner steps; null: none
    rows_per_iteration: int = 4_096  # new rows of self-play an iteration
    checkpoint_every: int = 1  # iterations between two checkpoints
    evaluate_every: int = 5  # iterations between two evaluations; 0: only at the end


@dataclass(frozen=True)
class EvaluationConfig:
    """Paired games, colours swapped, against fixed opponents; no noise, the best action."""

    opponents: tuple[str, ...] = ("random", "uct:100")  # players by their text
    games: int = 200  # against each opponent, at the end; even
    num_simulations: int = 64  # of the network's player
    opening_actions: int = 2  # random actions that open a pair of games
    games_while_training: int = 40  # against each opponent, every `loop.evaluate_every` iterations; even


@dataclass(frozen=True)
class DeviceConfig:
    """Where the network runs."""

    kind: Literal["auto", "cpu", "cuda"] = "auto"  # auto: cuda where there is one
    threads: int = 0  # of torch on the processor; 0: its own choice
    precision: Literal["auto", "fp32", "bf16"] = "auto"  # of evaluation in play; auto: measured at start
    engine: Literal["auto", "eager", "compiled", "openvino"] = "auto"  # of evaluation in play; auto: measured at start


@dataclass(frozen=True)
class Config:
    """All of a run."""

    game: GameConfig
    seed: int = 0  # of everything random in the run
    network: NetworkConfig = field(default_factory=NetworkConfig)
    search: SearchConfig = field(default_factory=SearchConfig)
    selfplay: SelfplayConfig = field(default_factory=SelfplayConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    loop: LoopConfig = field(default_factory=LoopConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    device: DeviceConfig = field(default_factory=DeviceConfig)
    deterministic: bool = False  # the same run bit for bit on one machine: eager fp32, one thread
    start_from: str | None = None  # a checkpoint, of any size of board, whose weights the network begins with


_INF = math.inf
LIMITS: dict[str, tuple[float, float]] = {
    "seed": (0, 2**63 - 1),
    "network.blocks": (1, 40),
    "network.channels": (8, 4096),
    "search.num_simulations": (1, 1_000_000),
    "search.max_considered_actions": (1, _INF),
    "search.c_visit": (0, _INF),
    "search.c_scale": (0, _INF),
    "search.c_puct": (0, _INF),
    "search.dirichlet_alpha": (1e-6, _INF),
    "search.dirichlet_fraction": (0, 1),
    "search.full_search_fraction": (1e-3, 1),
    "search.cheap_simulations": (1, 1_000_000),
    "selfplay.num_games": (1, 1_000_000),
    "selfplay.groups": (0, 1_024),
    "selfplay.temperature": (0, _INF),
    "selfplay.temperature_turns": (0, _INF),
    "selfplay.surprise_weight": (0, 1),
    "selfplay.random_opening_actions": (0, _INF),
    "selfplay.record_games": (0, _INF),
    "replay.window": (1, _INF),
    "replay.alpha": (1e-3, 1),
    "replay.beta": (0, 1),
    "replay.capacity": (1, _INF),
    "replay.reuse": (1e-3, 1_000),
    "replay.min_rows": (1, _INF),
    "learner.batch_size": (1, 1_000_000),
    "learner.lr": (0, 10),
    "learner.weight_decay": (0, 10),
    "learner.warmup_steps": (0, _INF),
    "learner.clip_norm": (1e-6, _INF),
    "learner.ema_decay": (0, 0.999999),
    "learner.policy_weight": (0, _INF),
    "learner.value_weight": (0, _INF),
    "learner.owner_weight": (0, _INF),
    "loop.iterations": (1, _INF),
    "loop.max_minutes": (0, _INF),
    "loop.steps": (1, _INF),
    "loop.rows_per_iteration": (1, _INF),
    "loop.checkpoint_every": (1, _INF),
    "loop.evaluate_every": (0, _INF),
    "evaluation.games": (2, _INF),
    "evaluation.num_simulations": (1, 1_000_000),
    "evaluation.opening_actions": (0, _INF),
    "evaluation.games_while_training": (2, _INF),
    "device.threads": (0, 1_024),
}
"""The range of each number, by its path: lowest and highest value accepted."""
