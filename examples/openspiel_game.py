"""The games as OpenSpiel games: its own tests, its tree search, its reinforcement-learning environment.

`import stonezoo.adapters.open_spiel` registers `python_stonezoo_rive`, `python_stonezoo_resolve` and so on. Use the
algorithms under `open_spiel.python`: OpenSpiel's compiled `pyspiel.MCTSBot` crashes on games written in Python, its own
among them (2.0.2).

    python examples/openspiel_game.py
    python examples/openspiel_game.py --game "python_stonezoo_resolve(board_size=5,rules=original)" --simulations 100
"""

import argparse
import pickle
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import mcts
from open_spiel.python.algorithms.random_agent import RandomAgent

import stonezoo.adapters.open_spiel  # noqa: F401  (registers the games)


def serialise_in_mid_turn(game: Any, rng: np.random.Generator) -> str:
    """Plays at random until the same player has acted twice, and stores that position in all three ways."""
    state, mover = game.new_initial_state(), -1
    while state.current_player() != mover:
        mover = state.current_player()
        state.apply_action(int(rng.choice(state.legal_actions())))
        if state.is_terminal():
            state, mover = game.new_initial_state(), -1
    for copy in (
        game.deserialize_state(state.serialize()),
        pickle.loads(pickle.dumps(state)),
        game.new_initial_state(state.to_dict()),
    ):
        assert str(copy) == str(state)
        assert copy.legal_actions() == state.legal_actions()
    return str(state)


def search_against_random(game: Any, simulations: int, games: int, seed: int) -> list[float]:
    """Results of OpenSpiel's Python tree search against a uniform player, with seats by turns; 1 a win, -1 a loss."""
    results, rng = [], np.random.RandomState(seed)
    for number in range(games):
        evaluator = mcts.RandomRolloutEvaluator(1, rng)
        searcher = mcts.MCTSBot(game, 1.4, simulations, evaluator, random_state=rng)
        bots, seat = [pyspiel.make_uniform_random_bot(player, seed + number) for player in (0, 1)], number % 2
        bots[seat] = searcher
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(int(bots[state.current_player()].step(state)))
        results.append(state.returns()[seat])
    return results


def random_episode(game: Any) -> tuple[str, list[float]]:
    """Plays one game through `rl_environment`; returns the order of the players and the last rewards."""
    env = rl_environment.Environment(game)
    agents = [RandomAgent(player, env.action_spec()["num_actions"]) for player in (0, 1)]
    step, order = env.reset(), ""
    while not step.last():
        player = step.observations["current_player"]
        order += str(player)
        step = env.step([agents[player].step(step).action])
    for agent in agents:
        agent.step(step)  # the end reaches both
    return order, list(step.rewards)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="python_stonezoo_rive(board_size=3)", help="as pyspiel.load_game takes it")
    parser.add_argument("--simulations", type=int, default=50, help="of the tree search, an action (default: 50)")
    parser.add_argument("--games", type=int, default=4, help="of search against random (default: 4)")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    options = parser.parse_args(arguments)
    game, rng = pyspiel.load_game(options.game), np.random.default_rng(options.seed)
    print(f"{game}: {game.num_distinct_actions()} actions, observations {game.observation_tensor_shape()}")
    pyspiel.random_sim_test(game, num_sims=5, serialize=True, verbose=False)
    print("OpenSpiel's random simulation test passed")
    print("in mid-turn, serialised and read back:", serialise_in_mid_turn(game, rng))
    order, rewards = random_episode(game)
    print(f"rl_environment: players {order}, rewards {rewards}")
    start = time.monotonic()
    results = search_against_random(game, options.simulations, options.games, options.seed)
    print(f"tree search against random: {results}, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
