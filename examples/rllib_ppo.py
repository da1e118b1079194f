"""RLlib's PPO (new stack) on a game of turns: one module with masks plays both colours.

RLlib keeps one episode for each agent, and a step of an agent reaches to that agent's next one: an agent that acts
again, and one whose game the other ends, both get what is theirs. Trained against itself, the module then plays games
against random by sampling from its masked policy.

RLlib pins an old Gymnasium, so it wants an environment of its own: `make test-adapters` sets one up.

    .venv-rllib/bin/python examples/rllib_ppo.py
    .venv-rllib/bin/python examples/rllib_ppo.py --game resolve --board-size 5 --iterations 4
"""

import argparse
import os
import time
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from stonezoo.adapters.rllib import make_rllib_env


def ppo_config(game: dict[str, Any], seed: int) -> PPOConfig:
    register_env("stonezoo", make_rllib_env)
    module = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [128, 128]})
    return (
        PPOConfig()
        .environment("stonezoo", env_config=game)
        .env_runners(num_env_runners=0)
        .multi_agent(policies={"both"}, policy_mapping_fn=lambda agent, episode, **kwargs: "both")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"both": module}))
        .training(train_batch_size_per_learner=2000, minibatch_size=500, num_epochs=4, lr=1e-3, entropy_coeff=0.01)
        .debugging(seed=seed)
    )


def score_against_random(module: Any, game: dict[str, Any], games: int, seed: int) -> dict[str, int]:
    """Plays with seats by turns; returns how often the module won, drew and lost, by its own seat's rewards."""
    env, rng, counts = make_rllib_env(game), np.random.default_rng(seed), {"won": 0, "drawn": 0, "lost": 0}
    for number in range(games):
        me, total, over = f"player_{number % 2}", 0.0, False
        seen, _ = env.reset()
        while not over:
            ((agent, observation),) = seen.items()
            mask = observation["action_mask"]
            action = int(rng.choice(np.flatnonzero(mask)))
            if agent == me:
                batch = {"obs": {key: torch.from_numpy(value)[None] for key, value in observation.items()}}
                logits = module.forward_inference(batch)["action_dist_inputs"]
                action = int(rng.choice(mask.size, p=torch.softmax(logits[0].double(), 0).numpy()))
                assert mask[action], f"action {action} is illegal"
            seen, rewards, ended, _, _ = env.step({agent: action})
            total, over = total + rewards.get(me, 0.0), ended["__all__"]
        counts["won" if total > 0 else "lost" if total < 0 else "drawn"] += 1
    return counts


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="rive", help="a game's name (default: rive)")
    parser.add_argument("--board-size", type=int, default=3, help="its board (default: 3)")
    parser.add_argument("--iterations", type=int, default=8, help="of 2,000 steps each (default: 8)")
    parser.add_argument("--games", type=int, default=100, help="against random, before and after (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    options = parser.parse_args(arguments)
    game = {"game": options.game, "board_size": options.board_size}
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="warning")
    algorithm, start = ppo_config(game, options.seed).build_algo(), time.monotonic()
    module = algorithm.get_module("both")
    print("against random, untrained:", score_against_random(module, game, options.games, options.seed))
    for iteration in range(1, options.iterations + 1):
        runners = algorithm.train()["env_runners"]
        results = {agent: f"{mean:+.2f}" for agent, mean in sorted(runners["agent_episode_returns_mean"].items())}
        steps = {agent: int(count) for agent, count in sorted(runners["num_agent_steps_sampled"].items())}
        print(f"iteration {iteration}: steps {steps}, mean results {results}, {time.monotonic() - start:.0f} s")
    print("against random, trained:", score_against_random(module, game, options.games, options.seed))
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
