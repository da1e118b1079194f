"""What `stonezoo bench` measures, and the clock it measures with."""

import importlib
import random
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import mask_batch, observe_batch, reset_batch, step_batch
from stonezoo.kernels.choose import random_batch
from stonezoo.kernels.playout import perft, random_games
from stonezoo.players.uct import UctPlayer
from stonezoo.state import Game

BOARDS = 1024
REPEATS = 5
SEED = 1
GAMES_A_CALL = 64  # random games in one call of the engine
PERFT_SECONDS = 0.02  # the tree counted takes at least this long
PERFT_DEPTH = 12
UCT_SIMULATIONS = 1000


class Benchmark(NamedTuple):
    """One thing to measure: `work` does some of it and returns how many `unit`s that was."""

    what: str
    unit: str
    work: Callable[[], int]


class Rate(NamedTuple):
    """Units a second: the median, lowest and highest of the repeats."""

    unit: str
    median: float
    low: float
    high: float
    repeats: int


def measure(benchmark: Benchmark, seconds: float, repeats: int = REPEATS) -> Rate:
    """Returns the rate of a benchmark, in units a second of CPU time, over about `seconds`."""
    benchmark.work()  # compiles or loads, and fills the caches
    rates = []
    for _ in range(repeats):
        total, start = 0, time.process_time()
        elapsed = 0.0
        while elapsed < seconds / repeats:
            total += benchmark.work()
            elapsed = time.process_time() - start
        rates.append(total / elapsed)
    return Rate(benchmark.unit + "/s", statistics.median(rates), min(rates), max(rates), repeats)


def benchmarks(game: Game) -> list[Benchmark]:
    """Returns everything to measure on a game; PettingZoo's loop only where its environment is there."""
    found = [
        _random_play(game),
        _perft(game),
        _batch(game, "batch, engine chooses", _engine_chooses(game)),
        _batch(game, "batch, numpy chooses", _numpy_chooses(game)),
        _scalar(game),
        _uct(game),
    ]
    if (module := environment_module(game.name)) is not None:
        found += [_aec(game, module, "AEC, documented loop", True), _aec(game, module, "AEC, numpy chooses", False)]
    return found


def _random_play(game: Game) -> Benchmark:
    states = np.zeros((GAMES_A_CALL, game.rules.state_size), np.int32)
    streams, lengths = new_streams(SEED, GAMES_A_CALL), np.zeros(GAMES_A_CALL, np.int32)
    return Benchmark(
        "random play in the engine", "actions", lambda: int(random_games(game.rules, states, streams, lengths))
    )


def _perft(game: Game) -> Benchmark:
    row = game.initial_state().row
    perft(game.rules, row, 1)
    depth, spent = 1, 0.0
    while depth < PERFT_DEPTH and spent < PERFT_SECONDS:
        depth += 1
        start = time.process_time()
        perft(game.rules, row, depth)
        spent = time.process_time() - start
    return Benchmark(f"perft {depth}", "sequences", lambda: perft(game.rules, row, depth))


Chooser = Callable[[Any, Any, Any], None]  # states [B, S], mask [B, A], actions [B], which it writes


def _engine_chooses(game: Game) -> Chooser:
    streams = new_streams(SEED, BOARDS)
    return lambda states, mask, actions: random_batch(game.rules, states, streams, actions)


def _numpy_chooses(game: Game) -> Chooser:
    rng = np.random.default_rng(SEED)

    def choose(states: Any, mask: Any, actions: Any) -> None:
        actions[:] = np.argmax(rng.random(mask.shape, np.float32) * mask, axis=1)

    return choose


def _batch(game: Game, what: str, choose: Chooser) -> Benchmark:
    """Choosing, stepping, resetting finished lanes, mask and observation of BOARDS boards."""
    rules = game.rules
    states, first = np.zeros((BOARDS, rules.state_size), np.int32), game.initial_state().row
    mask, found = np.zeros((BOARDS, game.num_actions), np.int8), np.zeros(game.num_actions, np.int32)
    planes, actions = np.zeros((BOARDS, *game.observation_shape), np.float32), np.zeros(BOARDS, np.int32)
    reset_batch(rules, states)
    mask_batch(rules, states, found, mask)

    def work() -> int:
        choose(states, mask, actions)
        step_batch(rules, states, actions)
        over = states[:, OUTCOME] != ONGOING
        if over.any():
            states[over] = first
        mask_batch(rules, states, found, mask)
        observe_batch(rules, states, planes)
        return BOARDS

    for _ in range(3 * game.num_cells):  # boards at all stages of the game
        work()
    return Benchmark(f"{what}, {BOARDS:,} boards", "steps", work)


def _scalar(game: Game) -> Benchmark:
    draw = random.Random(SEED).random

    def work() -> int:
        state = game.initial_state()
        while not state.terminated:
            legal = state.legal_actions
            state.step(legal[int(draw() * len(legal))])
        return state.ply

    return Benchmark("State.step", "actions", work)


def _uct(game: Game) -> Benchmark:
    player, streams = UctPlayer(game, UCT_SIMULATIONS, threads=1), new_streams(SEED, 1)
    states = game.initial_state().row[np.newaxis]

    def work() -> int:
        player.act(states, streams)
        return UCT_SIMULATIONS

    return Benchmark("UCT from the start", "simulations", work)


def environment_module(name: str) -> Any:
    """Returns the module of the game's PettingZoo environment, or None where there is none or PettingZoo is missing."""
    try:
        return importlib.import_module(f"stonezoo.{name}_v0")
    except ImportError:
        return None


def _aec(game: Game, module: Any, what: str, documented: bool) -> Benchmark:
    env = module.env(**game.parameters)
    rng = np.random.default_rng(SEED)
    for i, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(SEED + i)

    def work() -> int:
        env.reset(seed=SEED)
        steps = 0
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                action = None
            elif documented:
                action = env.action_space(agent).sample(observation["action_mask"])
            else:
                legal = observation["action_mask"].nonzero()[0]
                action = legal[int(rng.random() * len(legal))]
            env.step(action)
            steps += action is not None
        return steps

    return Benchmark(what, "steps", work)
