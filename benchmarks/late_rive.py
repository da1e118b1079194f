"""How often late positions of Rive 4 are decisive, which is why there is no probe set of it.

    python benchmarks/late_rive.py [--seconds 60] [--max-nodes 300000]

Takes the last position of each random game that has 8 to 14 empty cells and at most two stones' difference.
"""

import argparse
import time

import numpy as np

import stonezoo
from stonezoo.cli.command import describe_hardware
from stonezoo.solve import ILLEGAL
from stonezoo.truth.oracle import SearchOracle

EMPTIES, DIFFERENCE = range(8, 15), 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of the process's CPU time (default: %(default)s)")
    parser.add_argument("--max-nodes", type=int, default=300_000, help="for a position (default: %(default)s)")
    arguments = parser.parse_args()
    game = stonezoo.load_game("rive", board_size=4)
    oracle, rng = SearchOracle(game, arguments.max_nodes), np.random.default_rng(3)
    counts: dict[tuple[int, int], list[int]] = {}
    start = time.process_time()
    while time.process_time() - start < arguments.seconds:
        state, late = game.initial_state(), None
        while not state.terminated:
            board = state.board
            empty, difference = int((board < 0).sum()), abs(int((board == 0).sum()) - int((board == 1).sum()))
            if empty in EMPTIES and difference <= DIFFERENCE:
                late = (difference, empty, state.row)
            state.step(int(rng.choice(state.legal_actions)))
        if late is None:
            continue
        count = counts.setdefault(late[:2], [0, 0, 0])
        count[0] += 1
        values = oracle.solve(late[2])
        if values is not None:
            legal = values[values != ILLEGAL]
            count[1] += 1
            count[2] += int(legal.max() > legal.min())
    print(f"{describe_hardware()}; {arguments.max_nodes:,} nodes a position\n")
    print("| difference | empty | positions | solved | decisive |\n| ---: | ---: | ---: | ---: | ---: |")
    for (difference, empty), (positions, solved, decisive) in sorted(counts.items()):
        print(f"| {difference} | {empty} | {positions} | {solved} | {decisive} |")


if __name__ == "__main__":
    main()
