"""What a move of each player costs on each board, and how many simulations or states a second that is.

    python benchmarks/bench_players.py [--players greedy,uct:100] [--positions 24] [--json]

The positions are those of random games, one after every so many actions, so that mid-turn states and the end of the
game have their share. A cost is the process's own CPU time a move, on one thread, in milliseconds; compilation is not
counted.
"""

import argparse
import json
import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import stonezoo
from stonezoo.cli.command import describe_hardware
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import reset_batch, step_batch
from stonezoo.kernels.choose import random_batch
from stonezoo.players import make_player

PLAYERS = "random,greedy,uct:100,uct:1000,uct+:100,uct+:1000,alphabeta:1,alphabeta:2,alphabeta:4"
BOARDS: dict[str, tuple[str, dict[str, Any]]] = {
    "Rive 3": ("rive", {"board_size": 3}),
    "Rive 4": ("rive", {"board_size": 4}),
    "Rive 5": ("rive", {"board_size": 5}),
    "Resolve 5": ("resolve", {"board_size": 5}),
    "Resolve 9": ("resolve", {"board_size": 9}),
    "Dara": ("dara", {}),
}


def positions(game: stonezoo.Game, count: int, seed: int = 1) -> NDArray[np.int32]:
    """`count` ongoing states [count, S] spread evenly over one random game, or over several when it is too short."""
    row, stream = np.zeros((1, game.rules.state_size), np.int32), new_streams(seed, 1)
    seen, action = [], np.empty(1, np.int32)
    while len(seen) < count:
        reset_batch(game.rules, row)
        while row[0, OUTCOME] == ONGOING:
            seen.append(row[0].copy())
            random_batch(game.rules, row, stream, action)
            step_batch(game.rules, row, action)
    return np.array(seen)[np.linspace(0, len(seen) - 1, count).astype(int)]


def milliseconds(text: str, game: stonezoo.Game, rows: NDArray[np.int32]) -> float:
    """CPU time a move."""
    player = make_player(text, game)
    if hasattr(player, "_threads"):
        player._threads = 1
    player.act(rows[-1:], new_streams(0, 1))  # compiles
    start = time.process_time()
    player.act(rows, new_streams(2, len(rows)))
    return 1000 * (time.process_time() - start) / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", default=PLAYERS, help="their texts, with commas (default: %(default)s)")
    parser.add_argument("--positions", type=int, default=24, help="on each board (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="a JSON line a player and board instead of a table")
    arguments = parser.parse_args()
    texts = arguments.players.split(",")
    costs: dict[tuple[str, str], float] = {}
    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("moves", total=len(texts) * len(BOARDS))
        for board, (name, parameters) in BOARDS.items():
            game = stonezoo.load_game(name, **parameters)
            rows = positions(game, arguments.positions)
            for text in texts:
                progress.update(task, description=f"{board}: {text}")
                costs[text, board] = milliseconds(text, game, rows)
                progress.advance(task)
    if arguments.json:
        for (text, board), cost in costs.items():
            print(json.dumps({"player": text, "board": board, "milliseconds": cost}))
        return
    table = Table("player", *BOARDS, title="CPU milliseconds a move, one thread", caption=describe_hardware())
    for text in texts:
        table.add_row(text, *(f"{costs[text, board]:.3g}" for board in BOARDS))
    Console().print(table)


if __name__ == "__main__":
    main()
