"""PPO from self-play in one file, with an advantage that is right when a turn has several actions.

One network plays both colours: it sees the board from the mover's side, and its value is the mover's. So the value of
the next state counts with a minus sign when the other player is to act there, and with a plus sign when the same player
acts again. Two wrong ways are here to compare with: never to change the sign, as PPO does that knows one player only,
and to change it at every step, as in games whose players alternate.

    python examples/cleanrl_ppo.py
    python examples/cleanrl_ppo.py --advantage always --seed 2
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.distributions import Categorical

import stonezoo

GAMMA, LAMBDA = 0.99, 0.95
CLIP, ENTROPY_WEIGHT, VALUE_WEIGHT, LEARNING_RATE = 0.2, 0.01, 0.5, 1e-3
EPOCHS, MINIBATCHES = 4, 4


def signs(mode: str, to_play: NDArray[np.int64], next_to_play: NDArray[np.int64]) -> NDArray[np.float32]:
    """What the next state's value counts for the mover: 1 or -1, of the shape of `to_play`; `mover` is right."""
    if mode == "mover":
        return np.where(to_play == next_to_play, 1.0, -1.0).astype(np.float32)
    return np.full(to_play.shape, 1.0 if mode == "never" else -1.0, np.float32)


def advantages(
    rewards: NDArray[np.float32],
    values: NDArray[np.float32],
    ended: NDArray[np.bool_],
    signs: NDArray[np.float32],
    last_values: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Generalised advantages [T, B] of T steps in B lanes (Schulman et al. 2016), each for the mover of its step.

    `rewards` and `values` [T, B] are the mover's, `ended` [T, B] says whether the step ended its game, `signs` [T, B]
    are those of `signs` above, and `last_values` [B] are of the states after the last step.
    """
    found, after, next_values = np.zeros_like(values), np.zeros_like(last_values), last_values
    for t in reversed(range(len(rewards))):
        onward = signs[t] * ~ended[t]
        surprise = rewards[t] + GAMMA * onward * next_values - values[t]
        found[t] = after = surprise + GAMMA * LAMBDA * onward * after
        next_values = values[t]
    return found


class Network(nn.Module):
    """A masked policy over the actions [B, A] and the mover's value [B] of observations [B, H, W, C]."""

    def __init__(self, game: stonezoo.Game, width: int = 128) -> None:
        super().__init__()
        cells = int(np.prod(game.observation_shape))
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(cells, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.policy, self.value = nn.Linear(width, game.num_actions), nn.Linear(width, 1)

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        hidden = self.body(observations)  # [B, width]
        logits = self.policy(hidden).masked_fill(masks == 0, -1e9)  # finite: -inf * 0 would be NaN in the entropy
        return Categorical(logits=logits), self.value(hidden).squeeze(-1)


@torch.no_grad()
def score_against_random(network: Network, game: stonezoo.Game, games: int, rng: np.random.Generator) -> float:
    """Mean result of `games` games, the network Black in the first half: 1 a win, 0 a draw, -1 a loss."""
    lanes = stonezoo.VectorGame(game, games, autoreset=False)
    seats, results = np.arange(games) * 2 // games, np.zeros(games)
    while not lanes.terminated.all():
        masks = lanes.legal_action_mask
        policy, _ = network(torch.from_numpy(lanes.observations), torch.from_numpy(masks))
        drawn = np.argmax(rng.random(masks.shape) * masks, axis=1)
        lanes.step(np.where(lanes.to_play == seats, policy.sample().numpy(), drawn))
        results += lanes.rewards[np.arange(games), seats]
    return float(results.mean())


def train(
    game: stonezoo.Game, advantage: str, seed: int, updates: int, lanes: int = 64, horizon: int = 64, games: int = 400
) -> dict[str, float]:
    """Trains a network; returns its scores against random before and after, and what happened on the way."""
    torch.manual_seed(seed)
    rng, lane = np.random.default_rng(seed), np.arange(lanes)
    network = Network(game)
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE)
    told = {"before": score_against_random(network, game, games, rng), "games": 0.0, "again": 0.0, "illegal": 0.0}
    selfplay = stonezoo.VectorGame(game, lanes)
    for _ in range(updates):
        steps = []
        for _ in range(horizon):
            seen, masks, movers = selfplay.observations, selfplay.legal_action_mask, selfplay.to_play
            with torch.no_grad():
                policy, values = network(torch.from_numpy(seen), torch.from_numpy(masks))
                actions = policy.sample()
            selfplay.step(actions.numpy())
            ended, chances = selfplay.terminated, policy.log_prob(actions).numpy()
            # The mover's own reward: a loss that the other player's action brings reaches it through the next values.
            rewards, next_movers = selfplay.rewards[lane, movers], selfplay.to_play
            kept = (seen, masks, actions.numpy(), chances, values.numpy(), rewards, ended)
            steps.append((*kept, signs(advantage, movers, next_movers)))
            told["games"] += ended.sum()
            told["again"] += (~ended & (movers == next_movers)).mean() / (updates * horizon)
            told["illegal"] += selfplay.illegal.sum()
        seen, masks, actions, chances, values, rewards, ended, turns = map(np.stack, zip(*steps, strict=True))
        with torch.no_grad():
            now = torch.from_numpy(selfplay.observations), torch.from_numpy(selfplay.legal_action_mask)
            gained = advantages(rewards, values, ended, turns, network(*now)[1].numpy())
        kept = (seen, masks, actions, chances, gained, gained + values)
        batch = [torch.from_numpy(array.reshape(horizon * lanes, *array.shape[2:])) for array in kept]
        for _ in range(EPOCHS):
            for rows in torch.randperm(horizon * lanes).chunk(MINIBATCHES):
                seen_, masks_, actions_, chances_, gained_, targets = (part[rows] for part in batch)
                policy, value = network(seen_, masks_)
                ratio = (policy.log_prob(actions_) - chances_).exp()
                gained_ = (gained_ - gained_.mean()) / (gained_.std() + 1e-8)
                loss = -torch.min(ratio * gained_, ratio.clamp(1 - CLIP, 1 + CLIP) * gained_).mean()
                loss += VALUE_WEIGHT * (value - targets).square().mean() - ENTROPY_WEIGHT * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
    return {**told, "after": score_against_random(network, game, games, rng)}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="rive", help="a game's name (default: rive)")
    parser.add_argument("--board-size", type=int, default=3, help="its board (default: 3)")
    parser.add_argument("--advantage", default="mover", choices=("mover", "never", "always"), help="default: mover")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--updates", type=int, default=60, help="of 4,096 steps of self-play each (default: 60)")
    parser.add_argument("--games", type=int, default=400, help="against random, before and after (default: 400)")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    game, start = stonezoo.load_game(options.game, board_size=options.board_size), time.monotonic()
    told = train(game, options.advantage, options.seed, options.updates, games=options.games)
    print(
        f"{game!r}, advantage {options.advantage}, seed {options.seed}: {told['games']:.0f} games of self-play, the "
        f"same player again in {told['again']:.0%} of the steps, {told['illegal']:.0f} illegal actions; score against "
        f"random {told['before']:+.2f} before, {told['after']:+.2f} after; {time.monotonic() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
