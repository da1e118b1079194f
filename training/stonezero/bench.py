"""Where a run's time goes, measured part by part at the sizes of its configuration."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from stonezero.config import Config
from stonezero.device import describe_device, prepare_device
from stonezero.evaluator import Evaluator, UniformEvaluator, mixed_positions
from stonezero.learner import Learner
from stonezero.loop.groups import Groups, group_count
from stonezero.loop.watch_time import TimedEvaluator
from stonezero.networks import NetworkSpec, build_network, count_parameters
from stonezero.replay import ReplayBuffer, Samples
from stonezero.search import Search
from stonezero.selfplay import SelfPlay
from stonezero.tally import Totals
from stonezoo.cli.command import describe_hardware
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import mask_batch, observe_batch
from stonezoo.state import Game, load_game

FORMAT = "stonezero/bench@1"
REPEATS = 3  # of every part, in turns, so that others on the machine disturb all alike
BATCHES = 4  # training batches in the buffer that the learner is measured with

Progress = Callable[[str], object]  # called before each measurement with what is measured
Work = Callable[[], dict[str, float]]  # does some work and counts it, by unit


class Rate(NamedTuple):
    """Units a second: the median of the repeats, the lowest and the highest."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Bench:
    """What a configuration costs on this machine."""

    game: str
    hardware: str
    device: str
    precision: str  # the engine of the network in play, with the speeds that were measured, and what was left out
    engines: dict[str, float]  # positions/s of every way to evaluate the network that was measured, in turns
    parameters: int  # weights of the network
    num_games: int  # under way in self-play
    groups: int  # that advance side by side; a network call's batch is num_games / groups
    num_simulations: int
    network: Rate  # positions/s of the network alone, in whole batches
    bare_search: Rate  # simulations/s of the search with a network that costs nothing
    search: Rate  # simulations/s of the search with the network
    search_share: float  # of the network's own speed that its calls inside the search reach, by positions
    actions: Rate  # /s of self-play
    simulations: Rate  # /s of self-play
    rows: Rate  # positions/s that self-play records for learning
    learner: Rate  # steps/s, drawing the batch included
    shares: dict[str, float]  # of a run's time, by what a row costs: see `_shares`

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        values = asdict(self)
        rates = {key: value._asdict() for key, value in vars(self).items() if isinstance(value, Rate)}
        return {"format": FORMAT, **values, **rates}


def bench(config: Config, seconds: float, progress: Progress | None = None) -> Bench:
    """Measure a configuration's parts for about `seconds` in all, a first call of each aside.

    A part that takes longer than its share of the time is done once a repeat, so a large configuration takes longer.

    Raises ValueError when the game or the device cannot be had.
    """
    say = progress or (lambda _: None)
    say("set up")
    parts = _Parts(config)
    slice_seconds = seconds / (REPEATS * len(parts.works))
    for name, work in parts.works.items():
        say(f"{name}, a first time")
        work()
    rates: dict[str, dict[str, list[float]]] = {name: {} for name in parts.works}
    for repeat in range(REPEATS):
        for name, work in parts.works.items():
            say(f"{name}, {repeat + 1} of {REPEATS}")
            for unit, speed in _measure(work, slice_seconds).items():
                rates[name].setdefault(unit, []).append(speed)

    def rate(part: str, unit: str) -> Rate:
        found = rates[part][unit]
        return Rate(statistics.median(found), min(found), max(found))

    network = rate("network", "positions")
    return Bench(
        game=repr(parts.game).removeprefix("load_game"),
        hardware=describe_hardware(),
        device=describe_device(parts.device),
        precision=parts.evaluator.describe(),
        engines=parts.evaluator.speeds,
        parameters=parts.parameters,
        num_games=config.selfplay.num_games,
        groups=parts.groups,
        num_simulations=config.search.num_simulations,
        network=network,
        bare_search=rate("search without network", "simulations"),
        search=rate("search", "simulations"),
        search_share=rate("search", "positions").median / network.median,
        actions=rate("self-play", "actions"),
        simulations=rate("self-play", "simulations"),
        rows=rate("self-play", "rows"),
        learner=rate("learner", "steps"),
        shares=_shares(
            config,
            rows=rate("self-play", "rows").median,
            network=rate("self-play", "network seconds").median,
            search=rate("self-play", "search seconds").median,
            steps=rate("learner", "steps").median,
            drawing=rate("learner", "drawing seconds").median,
        ),
    )


def bench_table(found: Bench) -> Table:
    """A bench for the terminal."""
    table = Table(
        "what",
        title=f"{found.game}: {found.num_games} games in {found.groups} groups, {found.num_simulations} simulations, "
        f"{found.parameters:,} parameters",
        caption=f"{found.hardware}\n{found.device}; play in {found.precision}",
        title_justify="left",
        caption_justify="left",
    )
    for heading in ("median", "lowest", "highest"):
        table.add_column(heading, justify="right")
    table.add_column("unit")
    rows = [
        ("network alone", found.network, "positions/s"),
        ("search without network", found.bare_search, "simulations/s"),
        ("search with network", found.search, "simulations/s"),
        ("self-play", found.simulations, "simulations/s"),
        ("", found.actions, "actions/s"),
        ("", found.rows, "rows/s"),
        ("learner", found.learner, "steps/s"),
    ]
    for what, rate, unit in rows:
        table.add_row(what, *(f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" for value in rate), unit)
    table.add_section()
    for name, speed in found.engines.items():
        table.add_row(f"network in {name}", f"{speed:,.0f}", "", "", "positions/s, measured at the start")
    table.add_section()
    table.add_row("the network's own speed in search", f"{found.search_share:.0%}", "", "", "of its positions/s alone")
    for name, share in found.shares.items():
        table.add_row(name, f"{share:.1%}", "", "", "of a run")
    return table


class _Parts:
    """What is measured, made at the sizes of a configuration."""

    def __init__(self, config: Config) -> None:
        self.game = game = load_game(config.game.name, **config.game.parameters)
        sharers = group_count(config, "cpu")
        self.device = prepare_device(config.device, config.deterministic, sharers=sharers)
        self.groups = group_count(config, self.device.type)
        B = max(1, config.selfplay.num_games // self.groups)
        states, length = mixed_positions(game, B, config.seed)
        observations = np.empty((B, *game.observation_shape), np.float32)
        observe_batch(game.rules, states, observations)
        network = build_network(config.network, NetworkSpec.from_game(game), seed=config.seed)
        self.parameters = count_parameters(network)
        precision = "fp32" if config.deterministic else config.device.precision
        engine = "eager" if config.deterministic else config.device.engine
        self.evaluator = Evaluator(network, device=self.device, precision=precision, engine=engine)
        self.evaluator.choose(observations, minutes=config.loop.max_minutes)
        self.works: dict[str, Work] = {
            "network": self._network(observations),
            "search without network": self._search(config, states, UniformEvaluator(game.num_actions)),
            "search": self._search(config, states, self.evaluator),
            "self-play": self._selfplay(config, length),
            "learner": self._learner(config, network),
        }

    def _network(self, observations: NDArray[np.float32]) -> Work:
        def work() -> dict[str, float]:
            self.evaluator(observations)
            return {"positions": len(observations)}

        return work

    def _search(self, config: Config, states: NDArray[np.int32], evaluate: Evaluator | UniformEvaluator) -> Work:
        search, timed = Search(self.game, config.search, len(states)), TimedEvaluator(evaluate)
        streams = new_streams(config.seed, len(states))

        def work() -> dict[str, float]:
            before = timed.positions
            simulations = config.search.num_simulations
            found = search.run(states, timed, num_simulations=simulations, noise=True, streams=streams)
            return {"simulations": int(found.visit_counts.sum()), "positions": timed.positions - before}

        return work

    def _selfplay(self, config: Config, length: int) -> Work:
        # Openings of any length spread the first games over all stages; those that follow begin as the config says.
        spread = replace(config.selfplay, random_opening_actions=length)
        groups = Groups(
            self.game, config.search, spread, self.evaluator, seed=config.seed, count=self.groups, threaded=False
        )
        workers = groups.workers
        for worker in workers:
            worker.config = replace(worker.config, random_opening_actions=config.selfplay.random_opening_actions)
        threads = ThreadPoolExecutor(len(workers), "self-play")

        def work() -> dict[str, float]:
            totals, rows = Totals.of(workers), sum(worker.recorded for worker in workers)
            network = sum(network.seconds for network in groups.networks)
            list(threads.map(SelfPlay.advance, workers))
            spent = Totals.of(workers).since(totals)
            waited = sum(network.seconds for network in groups.networks) - network
            return {
                "actions": spent.actions,
                "simulations": spent.simulations,
                "rows": sum(worker.recorded for worker in workers) - rows,
                "network seconds": waited / len(workers),
                "search seconds": (spent.search_seconds - waited) / len(workers),
            }

        return work

    def _learner(self, config: Config, network: Any) -> Work:
        batch_size = config.learner.batch_size
        learner = Learner(network, config.learner, device=self.device)
        buffer = ReplayBuffer(
            self.game, config.replay, symmetries=config.learner.symmetries, owner=config.network.owner_head
        )
        states, _ = mixed_positions(self.game, BATCHES * batch_size, config.seed)
        buffer.add(random_samples(self.game, states))
        rng = np.random.default_rng(config.seed)

        def work() -> dict[str, float]:
            start = time.perf_counter()
            batch = buffer.sample(batch_size, rng)
            drawn = time.perf_counter() - start
            learner.step(batch)
            return {"steps": 1, "drawing seconds": drawn}

        return work


def random_samples(game: Game, states: NDArray[np.int32]) -> Samples:
    """Rows to learn from of states [N, S]: uniform search policies, every game drawn on an empty board."""
    mask = np.zeros((len(states), game.num_actions), np.int8)
    mask_batch(game.rules, states, np.zeros(game.num_actions, np.int32), mask)
    policy = (mask / mask.sum(1, keepdims=True)).astype(np.float32)
    N = len(states)
    owner = np.zeros((N, game.num_cells), np.int8)
    return Samples(states, policy, mask.astype(np.bool_), np.zeros(N, np.float32), np.zeros(N, np.int32), owner)


def _measure(work: Work, seconds: float) -> dict[str, float]:
    """Each unit a second, over at least one call of `work`."""
    totals: dict[str, float] = {}
    start, elapsed = time.perf_counter(), 0.0
    while not totals or elapsed < seconds:
        for unit, amount in work().items():
            totals[unit] = totals.get(unit, 0.0) + amount
        elapsed = time.perf_counter() - start
    return {unit: total / elapsed for unit, total in totals.items()}


def _shares(
    config: Config, *, rows: float, network: float, search: float, steps: float, drawing: float
) -> dict[str, float]:
    """By what shares self-play and learning divide a run's time: what one row costs to play, and to learn from.

    Every row is drawn `replay.reuse` times. Saving and evaluation are not in it: they depend on the rhythm chosen.

    Args:
        config: for the reuse and the batch size.
        rows: recorded a second of self-play.
        network: seconds a second of self-play within the network.
        search: likewise in the search around it.
        steps: a second of learning.
        drawing: seconds a second of learning spent on drawing batches.
    """
    play = 1 / rows if rows else float("inf")
    learn = config.replay.reuse / config.learner.batch_size / steps
    whole = play + learn
    if not np.isfinite(whole):
        return {}
    playing, learning = play / whole, learn / whole
    return {
        "self-play": playing,
        "  network": playing * network,
        "  search": playing * search,
        "  games": playing * max(0.0, 1 - network - search),
        "learning": learning,
        "  drawing batches": learning * drawing,
        "  gradient steps": learning * (1 - drawing),
    }
