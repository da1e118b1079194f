"""PettingZoo's own tests, which must pass with no warning but two that it gives every Dict observation."""

import importlib
import itertools
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pettingzoo.test
import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from tests.stonezoo.api.settings import SETTINGS, every_setting, make, make_raw

ALLOWED = {
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
}


@every_setting
@pytest.mark.parametrize("maker", [make, make_raw])
def test_the_api_test_passes_with_the_two_allowed_warnings(game: str, parameters: dict[str, Any], maker: Any) -> None:
    env = maker(game, parameters)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pettingzoo.test.api_test(env, num_cycles=1000)
    assert {str(warning.message) for warning in caught} <= ALLOWED


@every_setting
def test_the_seed_test_passes(game: str, parameters: dict[str, Any]) -> None:
    pettingzoo.test.seed_test(lambda: make(game, parameters), num_cycles=500)


@pytest.mark.parametrize(("game", "parameters"), [SETTINGS[1], SETTINGS[5], SETTINGS[8]])
def test_the_render_test_passes_in_every_mode(
    game: str, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")

    def fast(render_mode: str) -> Any:
        env = make(game, parameters, render_mode)
        env.unwrapped.metadata["render_fps"] = 1000
        return env

    pettingzoo.test.render_test(fast, custom_tests={"svg": lambda text: text.startswith("<svg")})


@every_setting
def test_the_performance_benchmark_runs(
    game: str, parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = itertools.count(0.0, 0.02)  # five of its seconds pass in 250 cycles
    module = importlib.import_module("pettingzoo.test.performance_benchmark")
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: next(clock)))
    pettingzoo.test.performance_benchmark(make(game, parameters))
    assert "Finished performance benchmark" in capsys.readouterr().out


@every_setting
def test_the_turn_based_parallel_conversion_plays_a_game_to_its_end(game: str, parameters: dict[str, Any]) -> None:
    parallel = turn_based_aec_to_parallel(make(game, parameters))
    observations, _ = parallel.reset(seed=3)
    rng = np.random.default_rng(3)
    totals = dict.fromkeys(parallel.possible_agents, 0.0)
    while parallel.agents:
        mover = parallel.aec_env.agent_selection
        for agent, observation in observations.items():
            assert observation["action_mask"].any() == (agent == mover)
        actions = {agent: int(rng.integers(10)) for agent in parallel.agents}
        actions[mover] = int(rng.choice(np.flatnonzero(observations[mover]["action_mask"])))
        observations, rewards, *_ = parallel.step(actions)
        for agent, reward in rewards.items():
            totals[agent] += reward
    assert tuple(totals.values()) in {(1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)}
