"""Whether a network's value tells good actions from bad ones, one action ahead, beside its policy.

    python benchmarks/one_action_ahead.py rive-3 rive-3 [RUN ...]

The first word is a probe set; the others are shipped networks, checkpoints or runs. On each decisive position every
action is tried and the network asked for the value of what follows. Printed, for each phase: the share of best actions
of the policy and of the highest value one action ahead, and the share of following positions whose value has the true
sign. A policy learns what a search found; where even the value one action ahead cannot tell, there is little to learn.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from stonezero.checkpoint import load_checkpoint
from stonezero.players.checkpoint import load_evaluator, locate_checkpoint, play_device
from stonezoo.core.game import ONGOING, OUTCOME, TO_PLAY
from stonezoo.kernels.batch import observe_batch, step_batch
from stonezoo.solve import ILLEGAL
from stonezoo.state import Game
from stonezoo.truth import load_probes

BATCH = 4096


def evaluate(game: Game, evaluator, states: NDArray[np.int32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Logits [N, A] and values [N] for the players to act in `states` [N, S]."""
    parts = []
    for first in range(0, len(states), BATCH):
        rows = np.ascontiguousarray(states[first : first + BATCH])
        observations = np.zeros((len(rows), *game.observation_shape), np.float32)
        observe_batch(game.rules, rows, observations)
        parts.append(evaluator(observations))
    logits, values = zip(*parts, strict=True)
    return np.concatenate(logits), np.concatenate(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("probes", help="name of a probe set, such as rive-3")
    parser.add_argument("networks", nargs="+", help="shipped networks, checkpoints or runs")
    arguments = parser.parse_args()
    probes = load_probes(arguments.probes)
    game, positions = probes.game, probes.positions
    legal = positions.values != ILLEGAL  # [N, A]
    best = legal & (positions.values == positions.values.max(1, keepdims=True))
    phases = np.array([game.from_row(row).phase.name.lower() for row in positions.states])

    rows, actions = np.nonzero(legal)
    after = positions.states[rows]
    step_batch(game.rules, after, actions.astype(np.int32))
    same = after[:, TO_PLAY] == positions.states[rows, TO_PLAY]
    going = after[:, OUTCOME] == ONGOING
    true = positions.values[rows, actions].astype(np.float32)  # for who chooses

    print("| network | phase | positions | uniformly | policy | one action ahead | true signs |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name in arguments.networks:
        checkpoint = load_checkpoint(locate_checkpoint(name), game)
        evaluator = load_evaluator(checkpoint, play_device(checkpoint), game)
        logits, _ = evaluate(game, evaluator, positions.states)
        policy = np.where(legal, logits, -np.inf).argmax(1)
        values = true.copy()  # of what is over
        _, found = evaluate(game, evaluator, after[going])
        values[going] = np.where(same[going], found, -found)
        ahead = np.full(legal.shape, -np.inf)
        ahead[rows, actions] = values
        lanes = np.arange(len(positions))
        for phase in dict.fromkeys(sorted(phases)):
            here, there = phases == phase, (phases[rows] == phase) & going
            cells = [
                best[here].sum(1) / legal[here].sum(1),
                best[lanes, policy][here],
                best[lanes, ahead.argmax(1)][here],
                (np.sign(values) == np.sign(true))[there],
            ]
            shares = " | ".join(f"{np.mean(cell):.3f}" for cell in cells)
            print(f"| {name} | {phase} | {here.sum():,} | {shares} |")


if __name__ == "__main__":
    main()
