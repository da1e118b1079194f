"""How far Resolve on 5 x 5 is from being solved: nodes of exact search against the stones on the board.

    python benchmarks/estimate_resolve_5.py [--most 30000000] [--positions 8] [--seconds 150]

Positions come from games of uct:300 against itself that open with four random actions, at the start of turns. For each
number of stones, from many to few, some of them are searched with a fresh table of 1 GB, until a search takes more than
--most nodes or the time is up. The growth from one number of stones to the next says what an empty board would take.
"""

import argparse
import time

import numpy as np

import stonezoo
from stonezoo.cli.command import describe_hardware
from stonezoo.core.rng import new_streams
from stonezoo.players import make_player
from stonezoo.solve import Search, SearchLimitError


def positions(game: stonezoo.Game, count: int, seed: int) -> dict[int, list[np.ndarray]]:
    """Rows by the number of stones, of `count` games, at the start of turns."""
    player, rng = make_player("uct:300", game), np.random.default_rng(seed)
    streams = new_streams(seed, count)
    found: dict[int, list[np.ndarray]] = {}
    for number in range(count):
        state = game.initial_state()
        while not state.terminated:
            if int(state.phase) == 0:
                found.setdefault(int((state.board >= 0).sum()), []).append(state.row)
            if state.ply < 4:
                state.step(int(rng.choice(state.legal_actions)))
            else:
                state.step(int(player.act(state.row[np.newaxis], streams[number : number + 1])[0]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=30_000_000, help="nodes of one search (default: %(default)s)")
    parser.add_argument("--positions", type=int, default=8, help="for each number of stones (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=150.0, help="in all (default: %(default)s)")
    arguments = parser.parse_args()
    game = stonezoo.load_game("resolve", board_size=5)
    rows = positions(game, arguments.positions, 1)
    print(f"{describe_hardware()}; at most {arguments.most:,} nodes\n")
    print("| stones | positions | solved | median nodes | geometric mean |\n| ---: | ---: | ---: | ---: | ---: |")
    start = time.monotonic()
    for stones in range(16, 3, -1):
        nodes, solved = [], 0
        for row in rows.get(stones, [])[: arguments.positions]:
            if time.monotonic() - start > arguments.seconds:
                break
            search = Search(game, 1 << 30)
            try:
                search.value(row, arguments.most)
                solved += 1
            except SearchLimitError:
                pass
            nodes.append(max(1, search.nodes))
        if not nodes:
            break
        mean = float(np.exp(np.log(nodes).mean()))
        print(f"| {stones} | {len(nodes)} | {solved} | {np.median(nodes):,.0f} | {mean:,.0f} |", flush=True)
        if solved * 2 < len(nodes):
            break


if __name__ == "__main__":
    main()
