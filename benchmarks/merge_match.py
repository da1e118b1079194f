"""Does it pay to merge positions that several orders of actions reach (`search.merge_orders`)?

    python benchmarks/merge_match.py rive-3 [--parameter board_size=4] [--simulations 16,64,256] [--games 200,200,60]
                                     [--json]

One checkpoint against itself, with merging against without, every opening twice with colours swapped; a score above
0.5 says that merging plays better. First with equally many simulations. Then in equal time: merging gets as many more
simulations as its searches are faster, CPU time measured in turns with both on the same positions of random play, one
thread. "network calls saved" counts positions given to the network in these searches, at equal simulations; "slower
without network" compares simulations a second of the bare search, answered by a uniform policy.
"""

import argparse
import json
import statistics
import time
from dataclasses import replace
from typing import Any

import numpy as np
import torch

import stonezoo
from stonezero.arena import MatchResult, evaluate
from stonezero.checkpoint import load_checkpoint
from stonezero.config import SearchConfig
from stonezero.evaluator import UniformEvaluator
from stonezero.players import NetworkPlayer, load_evaluator, locate_checkpoint, play_device
from stonezero.search import Search
from stonezoo.cli.command import describe_hardware
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import reset_batch, step_batch
from stonezoo.kernels.choose import random_batch

LANES = 64  # positions of the measurement, each at another moment of a random game
REPEATS = 5
OPENING_ACTIONS = 4


def positions(game: stonezoo.Game) -> np.ndarray:
    """States [LANES, S] of random play that are not over, the k-th after k-th parts of a game."""
    states, streams = np.zeros((LANES, game.rules.state_size), np.int32), new_streams(1, LANES)
    actions, kept = np.zeros(LANES, np.int32), np.zeros((LANES, game.rules.state_size), np.int32)
    reset_batch(game.rules, states)
    length = 0
    history = [states.copy()]
    while (states[:, OUTCOME] == ONGOING).any() and length < 1000:
        random_batch(game.rules, states, streams, actions)
        step_batch(game.rules, states, actions)
        history.append(states.copy())
        length += 1
    for lane in range(LANES):
        own = [rows[lane] for rows in history if rows[lane, OUTCOME] == ONGOING]
        kept[lane] = own[lane * (len(own) - 1) // LANES]
    return kept


class Counted:
    """An evaluator that counts positions."""

    def __init__(self, evaluate_batch: Any) -> None:
        self._evaluate = evaluate_batch
        self.rows = 0

    def __call__(self, observations: Any) -> Any:
        self.rows += len(observations)
        return self._evaluate(observations)


def measure(
    game: stonezoo.Game, searches: list[tuple[SearchConfig, int]], evaluate_batch: Any
) -> list[tuple[float, int, int]]:
    """Of each search with its simulations: CPU seconds (median), positions given to the network, simulations made."""
    states = positions(game)
    made = [Search(game, config, LANES, simulations) for config, simulations in searches]
    seconds: list[list[float]] = [[] for _ in made]
    rows, visits = [0] * len(made), [0] * len(made)
    for repeat in range(REPEATS + 1):  # the first compiles
        for k, search in enumerate(made):
            counted = Counted(evaluate_batch)
            start = time.thread_time()
            result = search.run(states, counted)
            if repeat:
                seconds[k].append(time.thread_time() - start)
            rows[k], visits[k] = counted.rows, int(result.visit_counts.sum())
    return [(statistics.median(times), rows[k], visits[k]) for k, times in enumerate(seconds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", help="a checkpoint's name or path")
    parser.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the game played")
    parser.add_argument("--simulations", default="16,64,256", help="of the search without merging (16,64,256)")
    parser.add_argument("--games", default="200,200,60", help="of each match, for each number of simulations")
    parser.add_argument("--json", action="store_true", help="a JSON line a row instead of a Markdown table")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    path = locate_checkpoint(arguments.checkpoint)
    trained = load_checkpoint(path).config
    given = dict(item.split("=", 1) for item in arguments.parameter)
    parameters = trained.game.parameters | {k: int(v) if v.isdigit() else v for k, v in given.items()}
    game = stonezoo.load_game(trained.game.name, **parameters)
    checkpoint = load_checkpoint(path, game)
    network = load_evaluator(checkpoint, replace(play_device(checkpoint), threads=1))
    apart, merged = (replace(trained.search, merge_orders=merge) for merge in (False, True))

    def play(simulations: int, others: int, games: int) -> MatchResult:
        players = (
            NetworkPlayer(game, network, merged, simulations, f"merged:{simulations}"),
            NetworkPlayer(game, network, apart, others, f"apart:{others}"),
        )
        return evaluate(*players, game, games=games, seed=7, opening_actions=OPENING_ACTIONS, min_distinct=0.0)

    label = " ".join([game.name, *map(str, game.parameters.values())])
    if not arguments.json:
        print(f"{describe_hardware()}; {arguments.checkpoint} on {label}; scores with 95% intervals over pairs\n")
        print(
            "| simulations | network calls saved | slower without network | score, equal simulations "
            "| simulations in equal time | score, equal time | games |"
        )
        print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    numbers, sizes = ([int(word) for word in text.split(",")] for text in (arguments.simulations, arguments.games))
    for simulations, games in zip(numbers, sizes, strict=True):
        (bare, _, made), (bare_merged, _, made_merged) = measure(
            game, [(apart, simulations), (merged, simulations)], UniformEvaluator(game.num_actions)
        )
        slower = 1 - (made_merged / bare_merged) / (made / bare)
        (seconds, rows, _), (seconds_merged, rows_merged, _) = measure(
            game, [(apart, simulations), (merged, simulations)], network
        )
        more = max(1, round(simulations * seconds / seconds_merged))
        equal, timed = play(simulations, simulations, games), play(more, simulations, games)
        if arguments.json:
            row: dict[str, Any] = {
                "game": label,
                "checkpoint": arguments.checkpoint,
                "simulations": simulations,
                "saved": 1 - rows_merged / rows,
                "slower": slower,
                "simulations_in_equal_time": more,
                "equal_simulations": [equal.score, equal.low, equal.high],
                "equal_time": [timed.score, timed.low, timed.high],
                "games": games,
                "distinct": [equal.distinct_games, timed.distinct_games],
            }
            print(json.dumps(row), flush=True)
        else:
            scores = [f"{match.score:.3f} ({match.low:.3f}–{match.high:.3f})" for match in (equal, timed)]
            print(
                f"| {simulations} | {1 - rows_merged / rows:.0%} | {slower:.0%} | {scores[0]} | {more} | {scores[1]} "
                f"| {games} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
