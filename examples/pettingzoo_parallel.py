"""A game of turns through PettingZoo's parallel interface, by `turn_based_aec_to_parallel`.

Libraries that know `ParallelEnv` only take an action of every agent at every step. PettingZoo's conversion plays that
of the agent to act and drops the others', so an agent that is not to act may send anything: its mask is all zeros then.
Here both agents play at random; the result is compared with the same actions played on a `stonezoo.State`.

    python examples/pettingzoo_parallel.py
    python examples/pettingzoo_parallel.py --game rive --board-size 4 --games 20
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import stonezoo
from stonezoo.api.aec import AGENTS
from stonezoo.api.checked import make_env


def play(env: Any, rng: np.random.Generator) -> tuple[list[int], list[int], dict[str, float]]:
    """Plays one game at random; returns who moved, the actions, and each agent's total reward."""
    observations, _ = env.reset(seed=int(rng.integers(2**31)))
    movers, played, totals = [], [], dict.fromkeys(AGENTS, 0.0)
    while env.agents:
        masks = {agent: observations[agent]["action_mask"] for agent in env.agents}
        (mover,) = [agent for agent in env.agents if masks[agent].any()]
        actions = dict.fromkeys(env.agents, 0)
        actions[mover] = int(rng.choice(np.flatnonzero(masks[mover])))
        observations, rewards, _, _, _ = env.step(actions)
        movers.append(AGENTS.index(mover))
        played.append(actions[mover])
        for agent, reward in rewards.items():
            totals[agent] += reward
    return movers, played, totals


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="resolve", help="a game's name (default: resolve)")
    parser.add_argument("--board-size", type=int, default=5, help="its board (default: 5)")
    parser.add_argument("--games", type=int, default=10, help="how many to play (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    env = turn_based_aec_to_parallel(make_env(options.game, board_size=options.board_size))
    for number in range(options.games):
        movers, played, totals = play(env, rng)
        state = stonezoo.load_game(options.game, board_size=options.board_size).initial_state()
        for action in played:
            state.step(action)  # an illegal action would raise an error
        assert state.terminated
        assert tuple(totals.values()) == state.returns
        print(f"game {number}: movers {''.join(map(str, movers))}, rewards {totals}")


if __name__ == "__main__":
    main()
