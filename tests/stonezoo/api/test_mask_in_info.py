from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils import wrappers

from stonezoo import rive_v0
from stonezoo.api.mask_in_info import MaskInInfo
from tests.stonezoo.api.settings import every_setting, make, make_raw


@every_setting
def test_every_agent_has_its_mask_in_its_info_from_reset_on(game: str, parameters: dict[str, Any]) -> None:
    env, plain = MaskInInfo(make(game, parameters)), make(game, parameters)
    rng = np.random.default_rng(2)
    env.reset()
    plain.reset()
    for agent in env.agent_iter():
        assert set(env.infos) == set(env.agents)
        for seat in env.agents:
            assert list(env.infos[seat]) == ["action_mask"]
            expected = plain.observe(seat)
            mask = env.infos[seat]["action_mask"]
            assert mask.dtype == np.int8
            assert np.array_equal(mask, expected["action_mask"])
            assert np.array_equal(env.observe(seat), expected["observation"])
        observation, _, terminated, truncated, info = env.last()
        assert env.observation_space(agent).contains(observation)
        over = terminated or truncated
        action = None if over else int(rng.choice(np.flatnonzero(info["action_mask"])))
        env.step(action)
        plain.step(action)
    assert plain.agents == env.agents == []


def test_observations_are_boxes_and_pettingzoos_tests_pass_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    env = MaskInInfo(rive_v0.env(board_size=3))
    assert isinstance(env.observation_space("player_0"), spaces.Box)
    assert env.observation_space("player_0") is env.observation_space("player_0")
    api_test(env, num_cycles=500)
    seed_test(lambda: MaskInInfo(rive_v0.env(board_size=3)))
    assert [str(warning.message) for warning in recwarn] == []


def test_the_illegal_action_wrapper_reads_the_mask_from_the_info() -> None:
    env = wrappers.TerminateIllegalWrapper(MaskInInfo(make_raw("rive", {"board_size": 2})), illegal_reward=-1)
    env.reset()
    env.last()
    env.step(0)
    env.last()
    env.step(0)
    assert env.rewards == {"player_0": 0.0, "player_1": -1.0}
    assert all(env.truncations.values())


def test_an_environment_without_masks_is_refused() -> None:
    env = MaskInInfo(rive_v0.env())
    with pytest.raises(ValueError, match="'observation' and 'action_mask'"):
        MaskInInfo(env)


def test_infos_before_reset_are_refused_as_without_the_wrapper() -> None:
    with pytest.raises(AttributeError, match="infos cannot be accessed before reset"):
        _ = MaskInInfo(rive_v0.env()).infos
