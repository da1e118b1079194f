"""One run of MaskablePPO: play, learn, save, measure, again. The folder always holds what the next iteration needs."""

from __future__ import annotations

import io
import json
import math
import time
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger
from torch import Tensor

from stonezero.arena import Evaluation, evaluate, evaluate_network
from stonezero.checkpoint import checkpoint_name, load_training_state, save_checkpoint, save_training_state
from stonezero.config import SearchConfig, flatten_config
from stonezero.device import describe_device, prepare_device
from stonezero.evaluator import Evaluator
from stonezero.events import TensorBoardWriter
from stonezero.loop.limits import RunClock
from stonezero.loop.report import Reporter, clock
from stonezero.networks import NetworkSpec, build_network, count_parameters
from stonezero.players import NetworkPlayer
from stonezero.run import write_atomic
from stonezero.sb3.opponents import Opponents
from stonezero.sb3.policy import BoardPolicy, board_policy_kwargs
from stonezero.sb3.run import Sb3RunFolder
from stonezoo.players import make_player
from stonezoo.state import load_game

STATE_FILE = "training.pt"
EVALUATION_FILE = "evaluation.json"
NEVER = 1 << 62  # iterations between two outputs of stable-baselines3's own logger
ADAM_EPS = 1e-5  # as stable-baselines3 sets it where nothing else is said
FORGOTTEN = ("_last_obs", "_last_episode_starts", "_last_original_obs", "ep_info_buffer", "ep_success_buffer")
"""What a saved model needs not hold: the games under way are in the training state."""


class Sb3Trainer:
    """The parts of a run and how they work together. The run's lock must be held."""

    def __init__(self, run: Sb3RunFolder, reporter: Reporter) -> None:
        config = run.config
        # Fixed.
        self.run = run
        self.config = config
        self.reporter = reporter
        self.game = load_game(config.game.name, **config.game.parameters)
        self.spec = NetworkSpec.from_game(self.game)
        self.device = prepare_device(config.device, config.deterministic)
        self.baselines = [make_player(text, self.game) for text in config.evaluation.opponents]
        # Changed.
        self.opponents = Opponents(
            self.game, config, lambda: build_network(config.network, self.spec, seed=config.seed), self.device
        )
        self.model = self._new_model()
        self.evaluator = Evaluator(self.network, device=self.device, precision="fp32")
        self.untrained = Evaluator(self.network, device=self.device, precision="fp32")  # stays as it is: the control
        self.iteration = 0
        self.games = 0  # finished, in all starts together
        self._clock = RunClock()
        self._restore()
        self.events = TensorBoardWriter(run.events, purge_step=self.steps + 1 if self.iteration else None)

    @property
    def network(self) -> torch.nn.Module:
        """The network under training."""
        policy = self.model.policy
        assert isinstance(policy, BoardPolicy)
        return policy.network

    @property
    def steps(self) -> int:
        """The learner's actions so far: the time of everything that the run writes."""
        return int(self.model.num_timesteps)

    @property
    def seconds(self) -> float:
        """Seconds spent on training, all starts of the run together."""
        return self._clock.seconds

    @property
    def fraction(self) -> float:
        """The share of the run that is behind, by the limit that is nearest; 1 or more when it is met."""
        loop = self.config.loop
        counts = (self.iteration, loop.iterations), (self.steps, loop.timesteps)
        return self._clock.fraction(loop.max_minutes, *counts)

    def weights(self) -> dict[str, Tensor]:
        """A copy on the processor of the network's weights."""
        return {name: tensor.detach().cpu().clone() for name, tensor in self.network.state_dict().items()}

    def train(self) -> None:
        """Go on until a limit of `config.loop` is met."""
        self._describe()
        if self.iteration == 0:
            self._save_checkpoint()
        loop = self.config.loop
        while self.fraction < 1:
            self._iterate()
            last = self.fraction >= 1
            if last or self.iteration % loop.checkpoint_every == 0:
                self._save_checkpoint()
            self._save_state()
            if loop.evaluate_every and self.iteration % loop.evaluate_every == 0 and not last:
                self._measure()
            self.events.flush()

    def evaluate(self) -> Evaluation:
        """The evaluation at the end: the policy alone, with a search too, and the untrained network as control."""
        config = self.config.as_checkpoint_config()
        self.evaluator.load_weights(self.weights(), self.steps)
        evaluation = evaluate_network(
            self.game,
            self.evaluator,
            config,
            untrained=self.untrained,
            opponents=self.baselines,
            name=str(self.run.checkpoints / checkpoint_name(self.steps)),
            seed=self.config.seed,
            progress=self.reporter.matches,
        )
        scores = {f"{row.kind}_{_tag(row.match.opponent)}": row.match.score for row in evaluation.rows}
        self.events.scalars(scores, self.steps, "evaluation/final_")
        hparams = {f"evaluation/final_{key}": score for key, score in scores.items()}
        self.events.hparams(flatten_config(self.config), hparams)
        write_atomic(self.run.path / EVALUATION_FILE, json.dumps(evaluation.to_dict(), indent=2) + "\n")
        return evaluation

    def _new_model(self) -> MaskablePPO:
        config, ppo = self.config, self.config.ppo
        model = MaskablePPO(
            BoardPolicy,
            self.opponents.env,
            learning_rate=ppo.learning_rate,
            n_steps=ppo.n_steps,
            batch_size=ppo.batch_size,
            n_epochs=ppo.n_epochs,
            gamma=ppo.gamma,
            gae_lambda=ppo.gae_lambda,
            clip_range=ppo.clip_range,
            ent_coef=ppo.ent_coef,
            vf_coef=ppo.vf_coef,
            max_grad_norm=ppo.max_grad_norm,
            target_kl=ppo.target_kl,
            policy_kwargs={
                **board_policy_kwargs(config.network, self.spec),
                "optimizer_kwargs": {"eps": ADAM_EPS},
            },
            seed=config.seed,
            device=self.device,
        )
        model.set_logger(Logger(folder=None, output_formats=[]))  # its numbers go to our events
        return model

    def _describe(self) -> None:
        line = self.reporter.line
        line(f"run {self.run.path}: {self.game!r}, seed {self.config.seed}, MaskablePPO of stable-baselines3")
        line(
            f"network {self.config.network.module or self.config.network.preset}, "
            f"{count_parameters(self.network):,} parameters, on {describe_device(self.device)}"
        )
        lanes = ", ".join(
            f"{name} {environment.num_envs}"
            for name, environment in zip(self.opponents.names, self.opponents.env.environments, strict=True)
        )
        line(f"{self.opponents.env.num_envs} games side by side, by opponent: {lanes}")
        if self.iteration:
            line(f"going on after iteration {self.iteration}, step {self.steps}, {clock(self.seconds)}")

    def _iterate(self) -> None:
        if self.iteration % self.config.opponents.snapshot_every == 0:
            self.opponents.add(self.steps, self.weights())
        watch = _Watch(self)
        start = time.perf_counter()
        rows = self.config.ppo.num_games * self.config.ppo.n_steps
        # One iteration of stable-baselines3's own: `rows` actions, then the passes over them.
        self.model.learn(rows, callback=watch, log_interval=NEVER, reset_num_timesteps=False)
        seconds = time.perf_counter() - start
        self.iteration += 1
        self.games += watch.games
        learning = {name: float(value) for name, value in self.model.logger.name_to_value.items()}
        if not all(math.isfinite(value) for value in learning.values()):
            raise FloatingPointError(f"iteration {self.iteration}: what PPO measured is not finite: {learning}")
        playing = watch.scalars()
        self.events.scalars(learning, self.steps, "ppo/")
        self.events.scalars(playing, self.steps, "play/")
        self.events.scalar("play/actions_per_second", rows / seconds, self.steps)
        self.events.scalar("play/copies", len(self.opponents.pool), self.steps)
        self.events.scalar("loop/minutes", self.seconds / 60, self.steps)
        self.events.scalar("loop/iteration", self.iteration, self.steps)
        self.reporter.line(
            f"iteration {self.iteration}  {clock(self.seconds)}  step {self.steps}  {watch.games} games  "
            f"{rows / seconds:,.0f} actions/s  "
            f"score {', '.join(f'{score:.2f} against {name}' for name, score in watch.scores().items())}  "
            f"KL {learning['train/approx_kl']:.3f}  entropy {-learning['train/entropy_loss']:.2f}  "
            f"explained {learning['train/explained_variance']:.2f}"
        )

    def _measure(self) -> None:
        """A small evaluation of the policy alone, for the curves."""
        plan = self.config.evaluation
        self.evaluator.load_weights(self.weights(), self.steps)
        player = NetworkPlayer(self.game, self.evaluator, SearchConfig(), 0, "policy")
        scores = {}
        for baseline in self.baselines:
            match = evaluate(
                player,
                baseline,
                self.game,
                games=plan.games_while_training,
                seed=self.config.seed,
                opening_actions=plan.opening_actions,
                min_distinct=0.0,
                progress=partial(self.reporter.matches, f"policy against {baseline.name}"),
            )
            scores[baseline.name] = match.score
            self.events.scalar(f"evaluation/policy_{_tag(baseline.name)}", match.score, self.steps)
        self.reporter.line(
            f"  policy alone: {', '.join(f'{score:.2f} against {text}' for text, score in scores.items())} "
            f"({plan.games_while_training} games each)"
        )

    def _save_checkpoint(self) -> None:
        """A checkpoint as any other, which plays without `--trust`, and the model as stable-baselines3 saves it."""
        name = checkpoint_name(self.steps)
        file = io.BytesIO()
        self.model.save(file, exclude=FORGOTTEN)
        write_atomic(self.run.checkpoints / f"{name}.zip", file.getvalue())
        config = self.config
        save_checkpoint(
            self.run.checkpoints / name,
            self.weights(),
            config=config.as_checkpoint_config(),
            spec=self.spec,
            rules_id=self.game.rules_id,
            version=self.steps,
            card=(
                f"# {self.game!r}, {self.steps} actions of MaskablePPO\n\n- rules: `{self.game.rules_id}`\n"
                f"- network: `{config.network.module or config.network.preset}`\n- seed: {config.seed}\n"
                f"- trained by `stonezero train-sb3`; nothing was searched in training\n"
            ),
        )

    def _save_state(self) -> None:
        """Copies first, then the state that names them, then those that it no longer names are removed."""
        model = self.model
        shuffling: Any = np.random.get_state()  # noqa: NPY002  PPO shuffles with it
        name, keys, position, has_gauss, cached = shuffling
        save_training_state(
            self.run.state / STATE_FILE,
            {
                "iteration": self.iteration,
                "games": self.games,
                "seconds": self.seconds,
                "num_timesteps": self.steps,
                "n_updates": int(model._n_updates),
                "network": self.weights(),
                "optimiser": model.policy.optimizer.state_dict(),
                "torch_rng": torch.get_rng_state(),
                "numpy_rng": [name, torch.from_numpy(keys.astype(np.int64)), position, has_gauss, cached],
                "episode_starts": torch.from_numpy(np.asarray(model._last_episode_starts, np.bool_)),
                "opponents": self.opponents.state_dict(self.run.state),
            },
        )
        self.opponents.prune(self.run.state)

    def _restore(self) -> None:
        """Go on from the state on the disk; without one, a killed first iteration is played again."""
        path = self.run.state / STATE_FILE
        if not path.exists():
            return
        state = load_training_state(path)
        model = self.model
        self.iteration, self.games = int(state["iteration"]), int(state["games"])
        self._clock.go_on(float(state["seconds"]))
        self.network.load_state_dict(state["network"])
        model.policy.optimizer.load_state_dict(state["optimiser"])
        model.num_timesteps = int(state["num_timesteps"])
        model._n_updates = int(state["n_updates"])
        model._last_obs = self.opponents.load_state_dict(state["opponents"], self.run.state)
        model._last_episode_starts = state["episode_starts"].numpy()
        # At last: what is above draws random numbers where the learner would not.
        torch.set_rng_state(state["torch_rng"])
        name, keys, position, has_gauss, cached = state["numpy_rng"]
        np.random.set_state((name, keys.numpy().astype(np.uint32), position, has_gauss, cached))  # noqa: NPY002


class _Watch(BaseCallback):
    """Moves the bar and counts games while one iteration is played."""

    def __init__(self, trainer: Sb3Trainer) -> None:
        super().__init__()
        self.trainer = trainer
        self.games = 0
        self._rewards: dict[str, list[float]] = defaultdict(list)  # by opponent
        self._lengths: list[int] = []
        self._illegal = 0

    def _on_step(self) -> bool:
        trainer = self.trainer
        env = trainer.opponents.env
        if self.locals["dones"].any():
            for name, lanes in zip(trainer.opponents.names, env.lanes, strict=True):
                for info in self.locals["infos"][lanes]:
                    if "episode" in info:
                        self._rewards[name].append(info["episode"]["r"])
                        self._lengths.append(info["episode"]["l"])
                        self._illegal += info["illegal_action"] or info["opponent_illegal_action"]
            self.games = len(self._lengths)
        trainer.reporter.advance(
            f"iteration {trainer.iteration + 1}: playing", min(1.0, trainer.fraction), trainer.seconds
        )
        return True

    def _on_rollout_end(self) -> None:
        trainer = self.trainer
        trainer.reporter.advance(
            f"iteration {trainer.iteration + 1}: learning", min(1.0, trainer.fraction), trainer.seconds
        )

    def scores(self) -> dict[str, float]:
        """Points a game against each opponent, in [0, 1]."""
        return {name: (1 + float(np.mean(rewards))) / 2 for name, rewards in self._rewards.items()}

    def scalars(self) -> Mapping[str, float]:
        """What TensorBoard shows of the iteration's games."""
        values = {f"score_{_tag(name)}": score for name, score in self.scores().items()}
        values |= {"games": float(self.games), "games_lost_by_illegal_actions": float(self._illegal)}
        if self._lengths:
            values["learner_actions_a_game"] = float(np.mean(self._lengths))
        return values


def _tag(player: str) -> str:
    """A player's text as a name that TensorBoard accepts, such as `uct_100`."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in player)
