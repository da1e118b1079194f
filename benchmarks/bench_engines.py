"""The ways to evaluate a network that this machine offers, side by side.

    python benchmarks/bench_engines.py [--batch 256] [--compiled] [--threads] [--json]

One thread a caller. Positions a second in batches of --batch, the engines taking turns (as `stonezero.evaluator` does
when a run starts); the largest difference of a probability or a value from eager fp32; the seconds until the first
answer and for a change of weights, in CPU time. --threads adds the rate of two threads that call the same evaluator
over that of one, which says something only while no other program is at work. --compiled adds torch.compile, which
takes a minute or two for each network and precision the first time, in wall time here, for the compiler is a process of
its own; TORCHINDUCTOR_CACHE_DIR=$(mktemp -d) makes it the first time.
"""

import argparse
import json
import statistics
import threading
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch

import stonezoo
from stonezero.config import NetworkConfig
from stonezero.evaluator import Evaluator, Probe, game_probe
from stonezero.evaluator.measure import difference
from stonezero.networks import NetworkSpec, build_network
from stonezoo.cli.command import describe_hardware

GAMES = (("resolve", 5), ("rive", 4))
NETWORKS = ((3, 32), (4, 64))  # blocks, channels
ROUNDS = 9
THREAD_SECONDS = 0.4  # of calls by one thread and by two


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    start = clock()
    work()
    return clock() - start


def rate(evaluator: Evaluator, probe: np.ndarray, threads: int) -> float:
    """Positions a second of wall time of so many threads that call at once."""
    made = [0] * threads
    stop = time.perf_counter() + THREAD_SECONDS

    def call(number: int) -> None:
        while not made[number] or time.perf_counter() < stop:
            evaluator(probe)
            made[number] += len(probe)

    workers = [threading.Thread(target=call, args=(number,)) for number in range(threads)]
    start = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return sum(made) / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=256, help="positions in a call (default 256)")
    parser.add_argument("--compiled", action="store_true", help="torch.compile too")
    parser.add_argument("--threads", action="store_true", help="two threads against one too")
    parser.add_argument("--json", action="store_true", help="a JSON line a row instead of a Markdown table")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if not arguments.json:
        print(f"{describe_hardware()}; torch {torch.__version__}; batches of {arguments.batch}\n")
        print(
            "| game | network | engine | positions/s | of eager fp32 | difference | start, s | weights, s |"
            + " two threads |" * arguments.threads
        )
        print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |" + " ---: |" * arguments.threads)
    kinds = ("eager", "openvino", *(("compiled",) if arguments.compiled else ()))
    for name, board_size in GAMES:
        game = stonezoo.load_game(name, board_size=board_size)
        probe, mask = game_probe(game, arguments.batch)
        for blocks, channels in NETWORKS:
            network = build_network(
                NetworkConfig(blocks=blocks, channels=channels), NetworkSpec.from_game(game), seed=0
            )
            weights = network.state_dict()
            evaluators: dict[str, Evaluator] = {}
            started: dict[str, float] = {}
            for kind in kinds:
                for precision in ("fp32", "bf16"):
                    start, wall = time.process_time(), time.perf_counter()
                    evaluator = Evaluator(network, engine=kind, precision=precision, probe=Probe(probe, mask))
                    evaluator(probe)
                    # A compiler is a process of its own, whose time only the wall clock shows.
                    spent = time.perf_counter() - wall if kind == "compiled" else time.process_time() - start
                    started[evaluator.engine], evaluators[evaluator.engine] = spent, evaluator
            times: dict[str, list[float]] = {label: [] for label in evaluators}
            for _ in range(ROUNDS):
                for label, evaluator in evaluators.items():
                    times[label].append(seconds(partial(evaluator, probe)))
            base = statistics.median(times["eager fp32"])
            for label, evaluator in evaluators.items():
                median = statistics.median(times[label])
                row = {
                    "game": f"{name} {board_size}",
                    "network": f"{blocks} x {channels}",
                    "engine": label,
                    "positions_per_second": len(probe) / median,
                    "of_eager_fp32": base / median,
                    "difference": difference(evaluators["eager fp32"], evaluator, Probe(probe, mask)),
                    "start_seconds": started[label],
                    "weights_seconds": seconds(partial(evaluator.load_weights, weights, 0)),
                }
                if arguments.threads:
                    scaling = [rate(evaluator, probe, 2) / rate(evaluator, probe, 1) for _ in range(3)]
                    row["two_threads"] = statistics.median(scaling)
                if arguments.json:
                    print(json.dumps(row), flush=True)
                    continue
                print(
                    f"| {row['game']} | {row['network']} | {label} | {len(probe) / median:,.0f} | {base / median:.2f} "
                    f"| {row['difference']:.1g} | {row['start_seconds']:.1f} | {row['weights_seconds']:.2f} |"
                    + (f" {row['two_threads']:.2f} |" if arguments.threads else ""),
                    flush=True,
                )


if __name__ == "__main__":
    main()
