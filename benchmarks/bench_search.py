"""The trainer's search: without the network's cost, and with a network beside that network's own speed.

    python benchmarks/bench_search.py [--lanes 256] [--simulations 64] [--bare] [--json]

One thread; CPU time, so that other work on the machine disturbs less. "without network" answers every call with a
uniform policy and a zero value. "with 4 x 64 network" makes both figures in turns: simulations a second of the search,
and positions a second of the same network alone in the same batches; their ratio is the share that reaches the network.
"""

import argparse
import json
import statistics
import time

import numpy as np
import torch

import stonezoo
from stonezero.config import parse_config
from stonezero.evaluator import Evaluator, UniformEvaluator, game_probe
from stonezero.networks import NetworkSpec, build_network
from stonezero.search import Search
from stonezoo.cli.command import describe_hardware
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import reset_batch, step_batch
from stonezoo.kernels.choose import random_batch

GAMES = (("resolve", {"board_size": 5}), ("rive", {"board_size": 4}), ("dara", {}))
OPENING = 8  # random actions before the searched positions
REPEATS = 3
BARE_REPEATS = 9  # of the search without a network, which is soon done


def positions(game: stonezoo.Game, lanes: int) -> np.ndarray:
    states, streams = np.zeros((lanes, game.rules.state_size), np.int32), new_streams(1, lanes)
    actions = np.zeros(lanes, np.int32)
    reset_batch(game.rules, states)
    for _ in range(OPENING):
        random_batch(game.rules, states, streams, actions)
        step_batch(game.rules, states, actions)
    return states


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lanes", type=int, default=256, help="positions searched together (default 256)")
    parser.add_argument("--simulations", type=int, default=64, help="of each search (default 64)")
    parser.add_argument("--bare", action="store_true", help="only without the network, which takes seconds")
    parser.add_argument("--json", action="store_true", help="a JSON line a row instead of a Markdown table")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    lanes, simulations = arguments.lanes, arguments.simulations
    if not arguments.json:
        print(f"{describe_hardware()}; {lanes} positions, {simulations} simulations; CPU time, medians of {REPEATS}\n")
        print("| game | without network, simulations/s | with 4 x 64 network | network alone, positions/s | share |")
        print("| --- | ---: | ---: | ---: | ---: |")
    for name, parameters in GAMES:
        game = stonezoo.load_game(name, **parameters)
        config = parse_config(
            {"game": {"name": name, "parameters": parameters}, "network": "small", "loop": {"iterations": 1}}
        )
        search, states = Search(game, config.search, lanes, simulations), positions(game, lanes)
        uniform = UniformEvaluator(game.num_actions)
        search.run(states, uniform)
        bare, full, alone = [], [], []
        for _ in range(BARE_REPEATS):
            start = time.process_time()
            made = int(search.run(states, uniform).visit_counts.sum())
            bare.append(made / (time.process_time() - start))
        label, a = " ".join([name, *map(str, parameters.values())]), statistics.median(bare)
        if arguments.bare:
            if arguments.json:
                print(json.dumps({"game": label, "without_network": a}), flush=True)
            else:
                print(f"| {label} | {a:,.0f} | | | |", flush=True)
            continue
        spec = NetworkSpec.from_game(game)
        probe = game_probe(game, lanes)
        evaluate = Evaluator(build_network(config.network, spec, seed=0), precision="auto", probe=probe)
        for _ in range(REPEATS):
            start = time.process_time()
            made = int(search.run(states, evaluate).visit_counts.sum())
            full.append(made / (time.process_time() - start))
            start = time.process_time()
            for _ in range(simulations):
                evaluate(probe.observations)
            alone.append(lanes * simulations / (time.process_time() - start))
        b, c = statistics.median(full), statistics.median(alone)
        if arguments.json:
            print(json.dumps({"game": label, "without_network": a, "with_network": b, "network": c}), flush=True)
        else:
            print(f"| {label} | {a:,.0f} | {b:,.0f} | {c:,.0f} | {b / c:.2f} |", flush=True)


if __name__ == "__main__":
    main()
