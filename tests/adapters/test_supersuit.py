from typing import Any

import numpy as np
import pytest
import supersuit

from stonezoo.api.checked import make_env
from stonezoo.api.mask_in_info import MaskInInfo
from tests.adapters.cases import AGENTS, every_case, mask_of, results
from tests.stonezoo.games.referees import Case, rng_of, start


def wrap(env: Any) -> Any:
    env = supersuit.dtype_v0(supersuit.frame_stack_v1(env, 2), np.float32)
    return supersuit.flatten_v0(supersuit.clip_reward_v0(env, -1, 1))


@every_case
def test_a_stack_of_wrappers_keeps_masks_and_rewards(case: Case) -> None:
    env, rng = wrap(MaskInInfo(make_env(case[0], **case[1]))), rng_of("supersuit", case)
    size = 2 * int(np.prod(make_env(case[0], **case[1]).observation_space("player_0")["observation"].shape))
    env.reset(seed=1)
    referee, totals, again = start(case), dict.fromkeys(AGENTS, 0.0), 0
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        totals[agent] += reward
        if terminated or truncated:
            env.step(None)
            continue
        assert agent == AGENTS[referee.to_play]
        assert (observation.shape, observation.dtype) == ((size,), np.float32)
        mask = info["action_mask"]
        assert mask.tolist() == mask_of(referee, referee.to_play, len(mask))
        action, mover = rng.choice(referee.legal()), referee.to_play
        env.step(action)
        referee = referee.play(action)
        again += referee.to_play == mover
    assert referee.over
    assert tuple(totals.values()) == results(referee)


def test_dict_observations_are_what_its_wrappers_cannot_take() -> None:
    with pytest.raises(AssertionError, match="Box"):
        supersuit.frame_stack_v1(make_env("rive"), 2)
