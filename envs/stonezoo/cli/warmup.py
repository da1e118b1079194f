"""`stonezoo warmup`: compiles everything now, so that nothing else waits for it later."""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from stonezoo.api.vector import SeatVectorEnv
from stonezoo.api.vector_game import VectorGame
from stonezoo.cli.command import Command, CommandError, Parser, interruptible
from stonezoo.core.jit import cache_root
from stonezoo.core.rng import new_streams
from stonezoo.games import game_names
from stonezoo.kernels import batch, choose, playout
from stonezoo.players import AlphaBetaPlayer, GreedyPlayer, UctPlusPlayer
from stonezoo.players.heuristics import Neutral, find_heuristic
from stonezoo.players.uct import UctPlayer
from stonezoo.solve import compile_solver
from stonezoo.state import Game, load_game

Step = tuple[str, Callable[[], object]]


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.description = (
        "Compiles all kernels of the named games, or of all games. What is compiled is kept: a second run only\n"
        "loads it. One size of a board serves all sizes."
    )
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"any of {', '.join(game_names())} (default: all)")


def warmup_steps(game: Game) -> list[Step]:
    """Returns what compiles or loads every kernel of a game, by name, in calls as the library makes them."""
    rules = game.rules
    states = np.zeros((1, rules.state_size), np.int32)
    images = np.zeros_like(states)
    streams = new_streams(0, 1)
    actions = np.zeros(1, np.int32)
    found = np.zeros(game.num_actions, np.int32)
    start = game.initial_state().row[np.newaxis]
    first = game.initial_state().legal_actions[:1]
    parameters: dict[str, Any] = dict(game.parameters)
    cells = np.stack([symmetry.cells for symmetry in game.symmetries])
    swaps = np.array([symmetry.swaps_players for symmetry in game.symmetries], np.int8)
    return [
        ("scalar", lambda: game.initial_state().observation()),
        ("reset", lambda: batch.reset_batch(rules, states)),
        ("choose", lambda: choose.random_batch(rules, states, streams, actions)),
        ("legal", lambda: batch.legal_batch(rules, states, actions, np.zeros(1, np.bool_))),
        ("step", lambda: batch.step_batch(rules, states, actions)),
        ("mask", lambda: batch.mask_batch(rules, states, found, np.zeros((1, game.num_actions), np.int8))),
        ("observe", lambda: batch.observe_batch(rules, states, np.zeros((1, *game.observation_shape), np.float32))),
        ("transform", lambda: batch.transform_batch(rules, states, cells, swaps, np.zeros(1, np.int32), images)),
        ("random games", lambda: playout.random_games(rules, states, streams, np.zeros(1, np.int32))),
        ("perft", lambda: playout.perft(rules, game.initial_state().row, 1)),
        ("vector game", lambda: VectorGame(game, 1).step(first)),
        ("seats", lambda: SeatVectorEnv(1, game=game.name, **parameters).reset(seed=0)),
        ("solver", lambda: compile_solver(game)),
        ("uct", lambda: UctPlayer(game, 1, threads=1).act(start, streams)),
        ("greedy", lambda: GreedyPlayer(game, find_heuristic(game.name) or Neutral()).act(start, streams)),
        ("uct+", lambda: UctPlusPlayer(game, 1, threads=1).act(start, streams)),
        ("alphabeta", lambda: AlphaBetaPlayer(game, 1, threads=1).act(start, streams)),
    ]


def run(arguments: argparse.Namespace) -> int:
    """Compiles, with a progress bar on stderr."""
    names = list(dict.fromkeys(arguments.games)) or game_names()
    for name in names:
        if name not in game_names():
            raise CommandError(f"there is no game named {name!r}; games are {', '.join(game_names())}")
    games = [load_game(name) for name in names]
    start = time.perf_counter()
    columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress, interruptible():
        for game in games:
            steps = warmup_steps(game)
            task = progress.add_task(game.name, total=len(steps))
            for label, step in steps:
                progress.update(task, description=f"{game.name}: {label}")
                step()
                progress.advance(task)
            progress.update(task, description=game.name)
    kept = f"compiled code in {root}" if (root := cache_root()) else "nothing is kept, for want of a home folder"
    print(f"ready in {time.perf_counter() - start:.1f} s: {', '.join(names)}; {kept}")
    return 0


COMMAND = Command("warmup", "Compiles the games now rather than at their first use", configure, run)
