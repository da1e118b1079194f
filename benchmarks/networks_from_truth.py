"""How well a network learns what is true: trained on solved positions of random games, measured on a probe set.

    stonezoo solve rive --board-size 3 --method search --save       # a minute and 800 MB, once
    python benchmarks/networks_from_truth.py rive-3 positions.npz dense small "{preset: tiny, blocks: 4, channels: 48}"
    python benchmarks/networks_from_truth.py rive-3 positions.npz dense --no-symmetries --minutes 4

Self-play teaches a network its own positions by its own search; here every network learns the same positions with their
true values, so that what differs is the network alone. The positions are found and solved first, and kept in the file;
none of them is in the probe set. The target of the policy is the best actions, all alike; of the value, the best value.
One thread, cosine schedule over the minutes, averaged weights, as in the trainer.
"""

import argparse
import dataclasses
import time
from pathlib import Path

import numpy as np
import torch
import yaml
from numpy.typing import NDArray
from rich.progress import Progress

from stonezero.config import LearnerConfig, parse_config
from stonezero.learner import Learner
from stonezero.networks import NetworkSpec, build_network, count_parameters
from stonezero.replay import Batch
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import observe_batch, transform_batch
from stonezoo.solve import ILLEGAL
from stonezoo.state import Game
from stonezoo.truth import load_probes
from stonezoo.truth.oracle import SearchOracle, usable_oracle
from stonezoo.truth.positions import ask, join, play
from stonezoo.truth.probes import ProbeSet

GAMES = 256  # random games at a time
MAX_NODES = 20_000  # of a search for one position
NETWORKS = ("dense", "{preset: tiny, blocks: 4, channels: 48}")


def solved_positions(probes: ProbeSet, count: int, seed: int) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """States [N, S] of random games, each once, and the values of their actions [N, A]; none of the probe set's."""
    game, oracle = probes.game, usable_oracle(probes.game)
    if isinstance(oracle, SearchOracle):
        oracle.max_nodes = MAX_NODES
    seen = {row.tobytes() for row in probes.positions.states}
    streams, parts, found = new_streams(seed, GAMES), [], 0
    with Progress() as progress:
        task = progress.add_task("positions", total=count)
        while found < count:
            fresh = []
            for row in play(game, streams):
                key = row.tobytes()
                if key not in seen:
                    seen.add(key)
                    fresh.append(row)
            parts.append(ask(game, oracle, np.array(fresh, np.int32), "random games"))
            found += len(parts[-1])
            progress.update(task, completed=found)
    whole = join(game, "random games", parts)
    return whole.states[:count], whole.values[:count]


def observe(game: Game, states: NDArray[np.int32]) -> NDArray[np.float32]:
    out = np.zeros((len(states), *game.observation_shape), np.float32)
    observe_batch(game.rules, np.ascontiguousarray(states), out)
    return out


class Sampler:
    """Batches of solved positions, each under a random symmetry."""

    def __init__(self, game: Game, states: NDArray[np.int32], values: NDArray[np.int8], seed: int) -> None:
        self.game, self.states, self.values = game, states, values
        self.rng = np.random.default_rng(seed)
        self.cells = np.stack([symmetry.cells for symmetry in game.symmetries])
        self.swaps = np.array([symmetry.swaps_players for symmetry in game.symmetries], np.int8)
        self.actions = np.stack([symmetry.actions for symmetry in game.symmetries]).astype(np.int64)

    def sample(self, size: int) -> Batch:
        rows = self.rng.integers(len(self.states), size=size)
        turn = self.rng.integers(len(self.cells), size=size).astype(np.int32)
        states = np.zeros((size, self.states.shape[1]), np.int32)
        transform_batch(self.game.rules, self.states[rows], self.cells, self.swaps, turn, states)
        values = np.full((size, self.game.num_actions), ILLEGAL, np.int8)
        np.put_along_axis(values, self.actions[turn], self.values[rows], 1)
        legal, highest = values != ILLEGAL, values.max(1)
        best = (values == highest[:, np.newaxis]) & legal
        return Batch(
            observation=observe(self.game, states),
            legal_action_mask=legal,
            search_policy=(best / best.sum(1, keepdims=True)).astype(np.float32),
            value=highest.astype(np.float32),
            age=np.zeros(size, np.int64),
            version=np.zeros(size, np.int32),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("probes", help="name of a probe set, such as rive-3")
    parser.add_argument("positions", type=Path, help="file of solved positions, .npz; made where it is not there")
    parser.add_argument("networks", nargs="*", default=NETWORKS, help="presets, or sections `network` in YAML")
    parser.add_argument("--count", type=int, default=1_500_000, help="solved positions to make (default: %(default)s)")
    parser.add_argument("--minutes", type=float, default=4.0, help="of training, each network (default: %(default)s)")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-symmetries", action="store_true", help="dense networks know no symmetry: plain layers")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    probes = load_probes(arguments.probes)
    game, positions = probes.game, probes.positions
    if not arguments.positions.exists():
        states, values = solved_positions(probes, arguments.count, arguments.seed)
        np.savez_compressed(arguments.positions, states=states, values=values)
    with np.load(arguments.positions) as kept:
        states, values = kept["states"], kept["values"]
    print(f"{len(states):,} solved positions of random games; measured on the {len(positions):,} of {probes.name}")

    legal = positions.values != ILLEGAL
    best = legal & (positions.values == positions.values.max(1, keepdims=True))
    phases = np.array([game.from_row(row).phase.name.lower() for row in positions.states])
    seen = torch.from_numpy(observe(game, positions.states))
    spec = NetworkSpec.from_game(game)
    if arguments.no_symmetries:
        spec = dataclasses.replace(spec, symmetries=(), colour_plane=None)
    names = list(dict.fromkeys(phases))
    print("| network | weights | steps | best actions | " + " | ".join(names) + " |")
    print("| --- | ---: | ---: | ---: |" + " ---: |" * len(names))
    for text in arguments.networks:
        config = parse_config({"game": {"name": game.name}, "network": yaml.safe_load(text)}).network
        network = build_network(config, spec, arguments.seed)
        settings = LearnerConfig(
            batch_size=arguments.batch_size, lr=arguments.lr, schedule="cosine", clip_norm=4.0, ema_decay=0.99
        )
        learner = Learner(network, settings)
        sampler = Sampler(game, states, values, arguments.seed)
        start = time.perf_counter()
        while (done := (time.perf_counter() - start) / (60 * arguments.minutes)) < 1:
            learner.step(sampler.sample(arguments.batch_size), done)
        network.load_state_dict(learner.average_weights())
        with torch.no_grad():
            logits = network.eval()(seen).policy_logits.numpy()
        right = best[np.arange(len(best)), np.where(legal, logits, -np.inf).argmax(1)]
        shares = [right.mean(), *(right[phases == name].mean() for name in names)]
        cells = " | ".join(f"{share:.3f}" for share in shares)
        print(f"| `{text}` | {count_parameters(network):,} | {learner.steps:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
