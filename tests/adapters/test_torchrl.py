from typing import Any

import pytest
import torch
from torchrl.envs import check_env_specs

from examples import torchrl_masked
from examples.torchrl_masked import check_masks, make_torchrl_env, returns_to_go
from tests.adapters.cases import AGENTS, CASES, every_case, mask_of, results
from tests.stonezoo.games.referees import Case, start


def rollout(case: Case, steps: int) -> Any:
    env = make_torchrl_env(case[0], 1, **case[1])
    assert list(env.group_map) == list(AGENTS)
    torch.manual_seed(1)
    return env.rollout(steps, break_when_any_done=False)


@every_case
def test_the_specs_agree_with_what_the_environment_does(case: Case) -> None:
    check_env_specs(make_torchrl_env(case[0], 1, **case[1]))


@every_case
def test_masks_and_rewards_of_both_groups_are_the_referees_step_by_step(case: Case) -> None:
    data = rollout(case, 400)
    referee, again, lost_without_moving = start(case), 0, 0
    for step in data.unbind(0):
        mover = referee.to_play
        assert [bool(step[agent, "mask"]) for agent in AGENTS] == [mover == 0, mover == 1]
        mask = step[AGENTS[mover], "action_mask"].flatten()
        assert mask.int().tolist() == mask_of(referee, mover, len(mask))
        # TorchRL makes the mask of who is not to act all ones: of our zeros nothing could be sampled.
        assert step[AGENTS[1 - mover], "action_mask"].all()
        referee = referee.play(int(step[AGENTS[mover], "action"]))
        rewards = tuple(float(step["next", agent, "reward"]) for agent in AGENTS)
        assert rewards == (results(referee) if referee.over else (0.0, 0.0))
        assert bool(step["next", "done"]) == referee.over
        if referee.over:
            lost_without_moving += rewards[1 - mover] == -1.0
            referee = start(case)
        else:
            again += referee.to_play == mover
    assert again
    assert lost_without_moving  # a loss reached an agent that was not the last to act


def test_returns_to_go_reach_the_loser_and_do_not_cross_from_game_to_game() -> None:
    data = rollout(CASES[0], 300)
    done = data["next", "done"].flatten()
    first, second = (int(step) + 1 for step in done.nonzero()[:2])
    gained = [returns_to_go(data, agent) for agent in AGENTS]
    for start_, end in ((0, first), (first, second)):
        ends = [float(data["next", agent, "reward"][end - 1]) for agent in AGENTS]
        assert sorted(ends) == [-1.0, 1.0]
        for found, reward in zip(gained, ends, strict=True):
            assert found[start_:end].eq(reward).all()


def test_the_examples_check_sees_an_illegal_action() -> None:
    data = rollout(CASES[0], 50)
    assert check_masks(data, AGENTS) > 0
    acting = data[AGENTS[0], "mask"].flatten().nonzero()[3]
    legal = data[AGENTS[0], "action_mask"][acting].flatten()
    data[AGENTS[0], "action"][acting] = int(legal.int().argmin())
    with pytest.raises(AssertionError):
        check_masks(data, AGENTS)


@pytest.mark.slow
def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    torchrl_masked.main(["--updates", "2", "--steps", "200"])
    assert "update 2: player_0 won" in capsys.readouterr().out
