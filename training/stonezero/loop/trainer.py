"""One run: play, learn, save, measure, again. After each iteration the folder holds all that the next one needs."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stonezero.arena import Evaluation, evaluate_network
from stonezero.arena.exact import known_positions, network_players, saved_table, training_scalars
from stonezero.checkpoint import checkpoint_name, initial_weights, save_checkpoint
from stonezero.config import flatten_config
from stonezero.device import describe_device, prepare_device
from stonezero.evaluator import Choice, Evaluator, game_probe
from stonezero.events import TensorBoardWriter, scalars_at
from stonezero.learner import Learner
from stonezero.loop.groups import Groups, group_count
from stonezero.loop.limits import RunClock
from stonezero.loop.report import Reporter, clock, iteration_line
from stonezero.loop.watch import Watch, bound_tags, score_tag, score_tags
from stonezero.networks import NetworkSpec, build_network, count_parameters
from stonezero.players import locate_checkpoint
from stonezero.replay import ReplayBuffer, restore_rng, rng_state
from stonezero.run import RunError, RunFolder, write_atomic
from stonezero.selfplay import FinishedGame, game_records
from stonezero.storage import EVALUATION_FILE, EVALUATOR_FILE, RunStorage
from stonezero.tally import Statistics
from stonezoo.solve import TableError
from stonezoo.state import load_game
from stonezoo.truth import Positions

LEARNER_SPAWN_KEY = 1  # of the learner among all that draws from the run's seed; self-play has 0
FEWEST_COMPARED = 64  # positions on which ways to evaluate the network are compared, however few play at a time
EVALUATION, FINAL = "evaluation/", "evaluation/final_"  # tags of scores while training and at the end begin so
SAVE_SECONDS = 120.0  # of self-play that a kill may cost at most: so often it is saved within an iteration


class Trainer:
    """The parts of a run and how they work together. The run's lock must be held."""

    def __init__(self, run: RunFolder, reporter: Reporter) -> None:
        config = run.config
        # Fixed.
        self.run = run
        self.config = config
        self.reporter = reporter
        self.game = load_game(config.game.name, **config.game.parameters)
        self.spec = NetworkSpec.from_game(self.game)
        self.device = prepare_device(config.device, config.deterministic, sharers=group_count(config, "cpu"))
        # Changed.
        network = build_network(config.network, self.spec, seed=config.seed)
        self.parameters = count_parameters(network)
        self.evaluator = Evaluator(
            network,
            device=self.device,
            precision="fp32" if config.deterministic else config.device.precision,
            engine="eager" if config.deterministic else config.device.engine,
        )
        self.untrained = Evaluator(network, device=self.device, precision="fp32")  # stays as it is: the control
        self.learner = Learner(network, config.learner, device=self.device)
        self.buffer = ReplayBuffer(
            self.game, config.replay, symmetries=config.learner.symmetries, owner=config.network.owner_head
        )
        self.selfplay = Groups(
            self.game,
            config.search,
            config.selfplay,
            self.evaluator,
            seed=config.seed,
            count=group_count(config, self.device.type),
            threaded=not config.deterministic,
        )
        self.known = self._known_positions()  # of perfect play, to measure the distance
        self.rng = np.random.default_rng(np.random.SeedSequence(config.seed, spawn_key=(LEARNER_SPAWN_KEY,)))
        self.iteration = 0
        self.games = 0  # finished, in all starts together
        self.recorded = 0  # of them as text in the run's folder
        self.measured = -1  # the step of the last evaluation while training; -1 before the first
        self._clock = RunClock()
        self._saved = time.monotonic()
        self.storage = RunStorage(run, self.game, reporter.line)
        recorded = self._restore()
        self._choose_engine(recorded)
        self._trained = False  # by this start
        purge_step = self.learner.steps + 1 if self.iteration else 0  # the first that is written from here on
        self.events = TensorBoardWriter(run.events, purge_step=purge_step if self.storage.number else None)
        self.watch = Watch(self.game, self.events, reporter.line)

    @property
    def seconds(self) -> float:
        """Seconds spent on training, all starts of the run together."""
        return self._clock.seconds

    @property
    def fraction(self) -> float:
        """The share of the run that is behind, by the limit that is nearest; 1 or more when it is met."""
        loop = self.config.loop
        counts = (self.iteration, loop.iterations), (self.learner.steps, loop.steps)
        return self._clock.fraction(loop.max_minutes, *counts)

    def train(self) -> None:
        """Go on until a limit of `config.loop` is met."""
        self._describe()
        if not self.storage.number:
            self._save_state()  # before all else, so that a run without a state has nothing to lose
        self._save_checkpoint_if_due()
        self._measure_if_due()
        while self.fraction < 1:
            self._trained = True
            self._iterate()
            with self.watch.clock.part("saving"):
                self._save_state()
                self._save_checkpoint_if_due()
            self._measure_if_due()
            self.events.flush()
        self._save_checkpoint_if_due()  # measuring may have taken the minutes that were left
        self.selfplay.close()  # what it played ahead is lost

    def close(self) -> None:
        """End self-play and the events, whatever happened."""
        self.selfplay.close()
        self.events.close()

    def evaluate(self) -> Evaluation:
        """Write the evaluation at the end: with search, the policy alone, and the untrained network as control."""
        name = str(self.run.checkpoints / checkpoint_name(self.learner.steps))
        evaluation = evaluate_network(
            self.game,
            self.evaluator,
            self.config,
            untrained=self.untrained,
            name=name,
            seed=self.config.seed,
            progress=self.reporter.matches,
        )
        write_atomic(self.run.path / EVALUATION_FILE, json.dumps(evaluation.to_dict(), indent=2) + "\n")
        return evaluation

    def show_evaluation(self, evaluation: Evaluation) -> None:
        """Write the evaluation at the end into the events, unless an earlier start did."""
        scores = {FINAL + name: score for name, score in score_tags(evaluation).items()}
        if not self._trained and (not scores or self._is_shown([*scores][-1])):
            return
        if self.measured != self.learner.steps:
            self._measure_truth()
        self.events.hparams(flatten_config(self.config), scores)
        self.watch.scores(evaluation, self.learner.steps, FINAL)
        self.events.flush()

    def _describe(self) -> None:
        line = self.reporter.line
        line(f"run {self.run.path}: {self.game!r}, seed {self.config.seed}")
        line(
            f"network {self.config.network.module or self.config.network.preset}, {self.parameters:,} parameters, on "
            f"{describe_device(self.device)}; play in {self.evaluator.describe()}"
        )
        if self.iteration:
            line(
                f"going on after iteration {self.iteration}, step {self.learner.steps}, {self.buffer.total_rows} rows, "
                f"{clock(self.seconds)}"
            )

    def _iterate(self) -> None:
        target = self.config.loop.rows_per_iteration
        doing = f"iteration {self.iteration + 1}: self-play"

        def progress(rows: int) -> None:
            self.reporter.advance(doing, min(1.0, self.fraction), self.seconds)
            if time.monotonic() - self._saved > SAVE_SECONDS:
                self._save_state()

        games, statistics = self.selfplay.play(target, progress)
        self.games += len(games)
        self.watch.fresh_games(games, self.evaluator, self.config.selfplay.num_games)
        first_row = self.buffer.total_rows
        for game in games:
            if game.samples is not None:
                self.buffer.add(game.samples)
        start = time.perf_counter()
        with self.watch.clock.part("learning"):
            learning, steps = self._learn()
            if steps:
                learning["steps_per_second"] = steps / (time.perf_counter() - start)
                weights = self.learner.average_weights()
                with self.selfplay.paused():  # no search sees two versions
                    self.evaluator.load_weights(weights, self.learner.steps)
        self.iteration += 1  # not before: the schedule counts what is behind
        self._write_events(games, statistics, learning)
        with self.watch.clock.part("saving"):
            self._write_games(games, first_row)

    def _learn(self) -> tuple[dict[str, float], int]:
        """The learner steps that are due: the mean of what they measured, and their number."""
        batch_size = self.config.learner.batch_size
        due = self.buffer.steps_due(self.learner.steps, batch_size)
        if self.config.loop.steps is not None:
            due = min(due, self.config.loop.steps - self.learner.steps)
        measured: list[dict[str, float]] = []
        for _ in range(due):
            measured.append(self.learner.step(self.buffer.sample(batch_size, self.rng), self.fraction))
            self.reporter.advance(f"iteration {self.iteration + 1}: learning", min(1.0, self.fraction), self.seconds)
        if not measured:
            return {}, 0
        return {key: float(np.mean([values[key] for values in measured])) for key in measured[0]}, due

    def _measure_if_due(self) -> None:
        """Measure the network of a state that is saved already, unless it was measured; a kill may have come between.

        Not at the end, where it is measured at length, nor twice at one step.
        """
        every = self.config.loop.evaluate_every
        due = every and self.iteration and self.iteration % every == 0 and self.fraction < 1
        if not due or self.measured == self.learner.steps:
            return
        opponents = self.config.evaluation.opponents
        if self._trained or not opponents or not self._is_shown(EVALUATION + score_tag("search", opponents[-1])):
            with self.watch.clock.part("evaluation"):
                self._measure()
        self.measured = self.learner.steps
        self.events.flush()
        with self.watch.clock.part("saving"):
            self._save_state(again=True)

    def _is_shown(self, last: str) -> bool:
        """Whether the events have all of a measurement of this step, whose `last` score is written last of all.

        A kill may have come before the state said so. One that came within leaves a part, and the writer adds the rest.
        """
        return bound_tags(last)[-1] in scalars_at(self.run.events, self.learner.steps)

    def _measure(self) -> None:
        """A small evaluation for the curves; with search only."""
        evaluation = evaluate_network(
            self.game,
            self.evaluator,
            self.config,
            games=self.config.evaluation.games_while_training,
            seed=self.config.seed,
            policy=False,
            progress=self.reporter.matches,
        )
        scores = ", ".join(f"{row.match.score:.2f} against {row.match.opponent}" for row in evaluation.rows)
        self.reporter.line(f"  scores {scores} ({self.config.evaluation.games_while_training} games each)")
        self._measure_truth()
        self.watch.scores(evaluation, self.learner.steps, EVALUATION)  # last of all, as `_is_shown` has it

    def _known_positions(self) -> Positions | None:
        """Positions with known values, if there are any; a solved table that cannot be used stops no run."""
        try:
            return known_positions(self.game, saved_table(self.game))
        except TableError as error:
            self.reporter.line(f"the distance from perfect play is not measured: {error}")
            return None

    def _measure_truth(self) -> None:
        """The distance from perfect play, where it is known."""
        if self.known is None:
            return
        simulations = self.config.evaluation.num_simulations
        players = network_players(self.game, self.evaluator, self.config.search, simulations)
        found = training_scalars(self.known, players)
        self.watch.truth(found, self.learner.steps)
        self.reporter.line(
            f"  best actions on decisive positions: policy {found['policy_optimal']:.3f}, with search "
            f"{found['search_optimal']:.3f}, uniformly {found['uniform_optimal']:.3f} ({self.known.source})"
        )

    def _write_events(
        self, games: Sequence[FinishedGame], statistics: Statistics, learning: Mapping[str, float]
    ) -> None:
        step = self.learner.steps
        replay = {"rows": float(self.buffer.total_rows), "window": float(self.buffer.window)}
        replay["reuse"] = step * self.config.learner.batch_size / max(1, self.buffer.total_rows)
        selfplay = self.watch.iteration(
            step,
            games=games,
            statistics=statistics,
            network=self.selfplay.network_use(),
            learning=learning,
            replay=replay,
            loop={"minutes": self.seconds / 60, "iteration": float(self.iteration)},
            shown=bool(learning) or self.iteration == 1,
        )
        self.reporter.line(
            iteration_line(self.iteration, self.seconds, selfplay, learning, step, self.buffer.total_rows)
        )

    def _write_games(self, games: Sequence[FinishedGame], first_row: int) -> None:
        kept = games[: self.config.selfplay.record_games]
        name = f"{self.run.run_id}/{checkpoint_name(self.evaluator.version)}"
        records = game_records(self.game, kept, name, self._game_id)
        self.storage.write_games(self.iteration, first_row, games, records)
        self.recorded += len(kept)

    def _game_id(self, number: int) -> str:
        return self.run.game_id(number % len(self.selfplay), number)

    def _save_checkpoint_if_due(self) -> None:
        """Write the checkpoint of a state that is saved already, if it ought to have one and a kill came between."""
        due = self.iteration % self.config.loop.checkpoint_every == 0 or self.fraction >= 1
        path = self.run.checkpoints / checkpoint_name(self.learner.steps)
        if due and not path.exists():
            save_checkpoint(
                path,
                self.learner.average_weights(),
                config=self.config,
                spec=self.spec,
                rules_id=self.game.rules_id,
                version=self.learner.steps,
            )

    def _save_state(self, again: bool = False) -> None:
        """Save everything that the next step depends on; within self-play too, where its games are in its snapshot.

        `again`: in the place of the last save, after which nothing was played or learnt that must be kept apart.
        """
        state = {
            "iteration": self.iteration,
            "games": self.games,
            "recorded": self.recorded,
            "measured": self.measured,
            "seconds": self.seconds,
            "learner": self.learner.state_dict(),
            "rng": rng_state(self.rng),
            "selfplay": self.selfplay.snapshot(),
            "evaluator": self.evaluator.choice.to_dict(),
        }
        (self.storage.replace if again else self.storage.save)(state, self.buffer)
        self._saved = time.monotonic()

    def _begin(self) -> None:
        """Begin with the weights of a checkpoint where the configuration names one; they are not needed again."""
        if self.config.start_from is None:
            return
        weights, source = initial_weights(locate_checkpoint(self.config.start_from), self.config, self.game)
        self.learner.begin(weights)
        self.evaluator.load_weights(self.learner.average_weights(), self.learner.steps)
        self.reporter.line(f"beginning with the weights of {source['checkpoint']}")

    def _choose_engine(self, recorded: Choice | None) -> None:
        """Find the fastest way to evaluate the network here, and write down which it is."""
        batch_size = max(1, self.config.selfplay.num_games // len(self.selfplay))
        self.evaluator.choose(
            game_probe(self.game, max(batch_size, FEWEST_COMPARED)),
            batch_size=batch_size,
            recorded=recorded,
            minutes=self.config.loop.max_minutes,
            say=self.reporter.line,
        )
        path, text = self.run.path / EVALUATOR_FILE, json.dumps(self.evaluator.choice.to_dict(), indent=2) + "\n"
        if not path.exists() or path.read_bytes() != text.encode():  # bytes: a torn one may be no text
            write_atomic(path, text)

    def _restore(self) -> Choice | None:
        """Go on from the newest whole state on the disk; without one, the run begins.

        The way to evaluate the network that the run had before comes back, where there is one.
        """
        state = self.storage.restore(self.buffer)
        if state is None:
            self._begin()
            return None
        try:
            self._go_on(state)
            return Choice.from_dict(state["evaluator"]) if "evaluator" in state else None
        except (KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            reason = f"it lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())[:300]
            raise RunError(
                f"{self.run.state}: its training state does not fit {self.run.path / 'config.yaml'}: {reason}; put the "
                "run's own states back, or begin a new run"
            ) from error

    def _go_on(self, state: Mapping[str, Any]) -> None:
        self.iteration, self.games, self.recorded = (int(state[key]) for key in ("iteration", "games", "recorded"))
        self._clock.go_on(float(state["seconds"]))
        self.learner.load_state_dict(state["learner"])
        self.rng = restore_rng(state["rng"])
        self.selfplay.restore(state["selfplay"])
        self.evaluator.load_weights(self.learner.average_weights(), self.learner.steps)
        self.measured = int(state.get("measured", self.learner.steps))  # states of the first days do not say
