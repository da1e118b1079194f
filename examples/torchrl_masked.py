"""A masked policy gradient with TorchRL, each colour a group of its own, learning against each other.

`PettingZooWrapper(env, use_mask=True)` steps both agents at once. Two masks come out: `(group, "mask")` says whose
step it is, `(group, "action_mask")` which actions are legal, and at an agent that is not to act the latter is all ones,
by TorchRL, so that its unused sample is defined. A return is the sum of a group's rewards over *all* steps that follow,
the other's among them: that is how a loss gets to the loser, and how actions of one turn share their result.

    python examples/torchrl_masked.py
    python examples/torchrl_masked.py --game resolve --board-size 5 --updates 20
"""

import argparse
import time
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from tensordict import TensorDictBase
from tensordict.nn import InteractionType, TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.envs import EnvBase
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor

from stonezoo.api.checked import make_env


def make_torchrl_env(game: str, seed: int, **parameters: Any) -> EnvBase:
    return PettingZooWrapper(make_env(game, **parameters), use_mask=True, categorical_actions=True, seed=seed)


def make_actor(env: EnvBase, group: str, width: int = 128) -> ProbabilisticActor:
    """A masked policy [1, A] of the observation [1, H, W, C] of a group's one agent."""
    num_actions = env.full_action_spec[group, "action"].space.n
    network = nn.Sequential(nn.Flatten(-3), nn.LazyLinear(width), nn.Tanh(), nn.Linear(width, num_actions))
    return ProbabilisticActor(
        TensorDictModule(network, in_keys=[(group, "observation", "observation")], out_keys=[(group, "logits")]),
        in_keys={"logits": (group, "logits"), "mask": (group, "action_mask")},
        out_keys=[(group, "action")],
        distribution_class=MaskedCategorical,
        default_interaction_type=InteractionType.RANDOM,  # or rollouts play the most likely action only
    )


def returns_to_go(data: TensorDictBase, group: str) -> torch.Tensor:
    """The sum [T] of a group's rewards from each step to the end of its game, steps of the other agent included."""
    rewards, done = data["next", group, "reward"].flatten(), data["next", "done"].flatten()
    found, onward = torch.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        found[t] = onward = rewards[t] + (0.0 if done[t] else onward)
    return found


def check_masks(data: TensorDictBase, groups: Sequence[str]) -> int:
    """Asserts that one agent acts in each step and that its action is legal; returns how often one acted again."""
    acts = torch.stack([data[group, "mask"].flatten() for group in groups])  # [2, T]
    assert acts.sum(0).eq(1).all()
    for group, acting in zip(groups, acts, strict=True):
        legal = data[group, "action_mask"].flatten(0, 1).gather(1, data[group, "action"].reshape(-1, 1)).flatten()
        assert legal[acting].all()
    same, done = (acts[:, 1:] & acts[:, :-1]).any(0), data["next", "done"].flatten()[:-1]
    return int((same & ~done).sum())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="rive", help="a game's name (default: rive)")
    parser.add_argument("--board-size", type=int, default=3, help="its board (default: 3)")
    parser.add_argument("--updates", type=int, default=10, help="rollouts with a gradient step each (default: 10)")
    parser.add_argument("--steps", type=int, default=1000, help="of a rollout (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    env, start = make_torchrl_env(options.game, options.seed, board_size=options.board_size), time.monotonic()
    groups = list(env.group_map)
    actors = nn.ModuleDict({group: make_actor(env, group) for group in groups})
    policy = TensorDictSequential(*actors.values())
    policy(env.reset())  # sets the lazy layers' sizes
    optimizer = torch.optim.Adam(actors.parameters(), 3e-3)
    for update in range(1, options.updates + 1):
        with torch.no_grad():
            data = env.rollout(options.steps, policy, break_when_any_done=False)
        again = check_masks(data, groups)
        loss, told = torch.tensor(0.0), []
        for group in groups:
            acting = data[group, "mask"].flatten()
            chances = actors[group].get_dist(data.exclude((group, "action"))).log_prob(data[group, "action"]).flatten()
            loss = loss - (chances * returns_to_go(data, group))[acting].mean()
            rewards = data["next", group, "reward"]
            told.append(f"{group} won {int((rewards > 0).sum())}, lost {int((rewards < 0).sum())}")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"update {update}: {'; '.join(told)}; acted again {again} times; {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    warnings.filterwarnings("ignore", category=UserWarning, module="torchrl")
    main()
