"""The games, sizes and rule profiles that the environments are tested with, and random play through them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from stonezoo import dara_v0, resolve_v0, rive_v0
from stonezoo.api.aec import GameEnv

MODULES = {"rive": rive_v0, "resolve": resolve_v0, "dara": dara_v0}
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("rive", {"board_size": 2}),
    ("rive", {"board_size": 3}),
    ("rive", {}),
    ("resolve", {"board_size": 2}),
    ("resolve", {"board_size": 3, "rules": "original"}),
    ("resolve", {"board_size": 5}),
    ("resolve", {"board_size": 5, "rules": "original"}),
    ("resolve", {"board_size": 13}),
    ("dara", {}),
    ("dara", {"rules": "no_drop_threes"}),
    ("dara", {"rows": 3, "columns": 4, "stones": 3, "quiet_limit": 4}),
]
every_setting = pytest.mark.parametrize(
    ("game", "parameters"),
    SETTINGS,
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values())) or "default",
)


def make(game: str, parameters: dict[str, Any], render_mode: str | None = None) -> Any:
    return MODULES[game].env(**parameters, render_mode=render_mode)


def make_raw(game: str, parameters: dict[str, Any]) -> GameEnv:
    return MODULES[game].raw_env(**parameters)


def wrap(raw: AECEnv[Any, Any, Any]) -> Any:
    """PettingZoo's own wrappers in their usual order."""
    env: Any = wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


def play(env: Any, seed: int, max_steps: int = 10**9) -> Iterator[tuple[str, Any, int]]:
    """Plays at random from the position that `env` is in; yields agent, observation and action before each step."""
    rng = np.random.default_rng(seed)
    for agent in env.agent_iter(max_steps):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        assert observation["action_mask"].any(), f"{agent} is to act and has no legal action"
        action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
        yield agent, observation, action
        env.step(action)


def advance(env: Any, steps: int, seed: int = 0) -> None:
    """Resets `env` and plays at most `steps` actions at random."""
    env.reset()
    for _ in play(env, seed, steps):
        pass
