"""Ours beside OpenSpiel and PettingZoo, in turns within one process, so that the ratios hold on a busy machine too.

    python benchmarks/bench_peers.py [--seconds 0.5] [--repeats 5] [--json]

Rows whose peer is not installed are left out: `pip install open-spiel "pettingzoo[classic]"` brings all of them. Rates
are per second of the process's own CPU time, on one thread; the ratio is that of the medians. The games differ, so a
peer is the nearest game that its library has: a connection game on the same number of points, another game of rows of
three, another game on hexagons.
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import stonezoo
from stonezoo.cli.command import describe_hardware
from stonezoo.core.rng import new_streams
from stonezoo.players.uct import UctPlayer

Work = Callable[[], int]  # does some work and returns how much it was

SIMULATIONS = 1000
draw = random.Random(1).random

PAIRS = (
    ("resolve", {"board_size": 5}, "hex(board_size=5)"),
    ("resolve", {"board_size": 9}, "hex(board_size=9)"),
    ("rive", {"board_size": 4}, "havannah(board_size=4)"),
    ("dara", {}, "nine_mens_morris"),
)


def our_loop(game: stonezoo.Game) -> Work:
    def work() -> int:
        state = game.initial_state()
        while not state.terminated:
            legal = state.legal_actions
            state.step(legal[int(draw() * len(legal))])
        return state.ply

    return work


def their_loop(game: Any) -> Work:
    def work() -> int:
        state, steps = game.new_initial_state(), 0
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
            steps += 1
        return steps

    return work


def our_uct(game: stonezoo.Game) -> Work:
    player, streams = UctPlayer(game, SIMULATIONS, threads=1), new_streams(1, 1)
    states = game.initial_state().row[np.newaxis]

    def work() -> int:
        player.act(states, streams)
        return SIMULATIONS

    return work


def their_uct(game: Any, pyspiel: Any) -> Work:
    evaluator = pyspiel.RandomRolloutEvaluator(1, 7)
    bot = pyspiel.MCTSBot(game, evaluator, 1.4, SIMULATIONS, 2000, False, 11, False)
    state = game.new_initial_state()

    def work() -> int:
        bot.mcts_search(state)
        return SIMULATIONS

    return work


def aec_loop(env: Any, documented: bool) -> Work:
    def work() -> int:
        env.reset(seed=1)
        steps = 0
        for agent in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
                continue
            mask = observation["action_mask"]
            if documented:
                action = env.action_space(agent).sample(mask)
            else:
                legal = np.flatnonzero(mask)
                action = int(legal[int(draw() * len(legal))])
            env.step(action)
            steps += 1
        return steps

    return work


def contests() -> list[tuple[str, str, Work, str, Work]]:
    """(what, our game, our work, the peer, its work) of everything whose peer is installed."""
    found = []
    try:
        import pyspiel
    except ImportError:
        pyspiel = None
    if pyspiel is not None:
        for name, parameters, peer in PAIRS:
            ours, theirs = stonezoo.load_game(name, **parameters), pyspiel.load_game(peer)
            label, other = " ".join([name, *map(str, parameters.values())]), f"OpenSpiel {peer}"
            found += [
                ("scalar Python loop, actions/s", label, our_loop(ours), other, their_loop(theirs)),
                ("UCT with rollouts, simulations/s", label, our_uct(ours), other, their_uct(theirs, pyspiel)),
            ]
    try:
        from pettingzoo.classic import connect_four_v3
    except ImportError:
        return found
    for name, parameters, _ in PAIRS:
        module = __import__(f"stonezoo.{name}_v0", fromlist=["env"])
        label = " ".join([name, *map(str, parameters.values())])
        for documented in (True, False):
            what = "AEC, documented loop, steps/s" if documented else "AEC, numpy chooses, steps/s"
            theirs = aec_loop(connect_four_v3.env(), documented)
            found.append(
                (what, label, aec_loop(module.env(**parameters), documented), "PettingZoo connect_four", theirs)
            )
    return found


def rate(work: Work, seconds: float) -> float:
    total, start, elapsed = 0, time.process_time(), 0.0
    while elapsed < seconds:
        total += work()
        elapsed = time.process_time() - start
    return total / elapsed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each repeat (default 0.5)")
    parser.add_argument("--repeats", type=int, default=5, help="of each side, in turns (default 5)")
    parser.add_argument("--json", action="store_true", help="a JSON line a row instead of a Markdown table")
    arguments = parser.parse_args()
    if not arguments.json:
        print(f"{describe_hardware()}; median of {arguments.repeats} repeats of {arguments.seconds} s\n")
        print("| what | game | ours | peer | its rate | ratio |\n| --- | --- | ---: | --- | ---: | ---: |")
    for what, label, ours, peer, theirs in contests():
        ours()
        theirs()
        rates = [(rate(ours, arguments.seconds), rate(theirs, arguments.seconds)) for _ in range(arguments.repeats)]
        mine, its = (statistics.median(side) for side in zip(*rates, strict=True))
        if arguments.json:
            row = {"what": what, "game": label, "ours": mine, "peer": peer, "theirs": its, "ratio": mine / its}
            print(json.dumps(row), flush=True)
        else:
            print(f"| {what} | {label} | {mine:,.0f} | {peer} | {its:,.0f} | {mine / its:.2f} |", flush=True)


if __name__ == "__main__":
    main()
