"""The game in the environments: the libraries' own checks, and ours of the batched one."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from stonezoo.api.checked import make_env
from stonezoo.api.gym import SeatEnv
from stonezoo.api.vector_game import VectorGame
from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject

LANES = 32
STEPS = 200
# PettingZoo gives these to every environment with Dict observations that its own list does not name.
ALLOWED = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
)


def find(subject: Subject) -> Iterator[Fault]:
    """What the checks of PettingZoo and Gymnasium say."""
    from gymnasium.utils.env_checker import check_env  # both are slow to import
    from pettingzoo import test as pettingzoo_test

    game = subject.game
    suite: Any = pettingzoo_test
    parameters: dict[str, Any] = dict(game.parameters)

    def run_api_test() -> None:
        suite.api_test(make_env(game.name, **parameters), num_cycles=200)

    def run_seed_test() -> None:
        suite.seed_test(lambda: make_env(game.name, **parameters), num_cycles=100)

    def run_check_env() -> None:
        check_env(SeatEnv(game.name, **parameters), skip_render_check=True)

    for name, test in {
        "PettingZoo's api_test": run_api_test,
        "PettingZoo's seed_test": run_seed_test,
        "Gymnasium's check_env": run_check_env,
    }.items():
        with (
            warnings.catch_warnings(record=True) as caught,
            contextlib.redirect_stdout(io.StringIO()),
        ):
            warnings.simplefilter("always")
            try:
                test()
            except Exception as error:
                yield Fault(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:500]}")
        for text in sorted({str(warning.message) for warning in caught} - {*ALLOWED}):
            yield Fault(f"{name} warns: {' '.join(text.split())[:500]}")


def find_vector_faults(subject: Subject) -> Iterator[Fault]:
    """Lanes that play another game than single states do."""
    game, rng = subject.game, subject.rng
    batch = VectorGame(game, LANES, autoreset=False)
    states = [game.initial_state() for _ in range(LANES)]
    for _ in range(STEPS):
        actions = np.zeros(LANES, np.int32)
        for lane, state in enumerate(states):
            if not state.terminated:
                actions[lane] = rng.choice(state.legal_actions)
        over = [state.terminated for state in states]
        batch.step(actions)
        for lane, state in enumerate(states):
            if over[lane]:
                continue
            state.step(int(actions[lane]))
            mask = state.legal_action_mask if not state.terminated else np.ones(game.num_actions, np.int8)
            if not np.array_equal(batch.legal_action_mask[lane], mask):
                yield fault_at(state, "VectorGame's mask is not the state's")
            elif not np.array_equal(batch.observations[lane], state.observation()):
                yield fault_at(state, "VectorGame's observation is not the state's")
            elif tuple(batch.rewards[lane].tolist()) != state.returns:
                yield fault_at(state, f"VectorGame's rewards are {batch.rewards[lane].tolist()}, not {state.returns}")
        if all(state.terminated for state in states):
            break
    illegal = VectorGame(game, 1, autoreset=False)
    forbidden = np.flatnonzero(illegal.legal_action_mask[0] == 0)
    if len(forbidden):
        illegal.step(forbidden[:1].astype(np.int32))
        if not illegal.illegal[0] or illegal.rewards[0].tolist() != [-1.0, 1.0]:
            yield Fault(f"VectorGame: the illegal action {forbidden[0]} does not lose the game for Black")
