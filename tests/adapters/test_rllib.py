from typing import Any

import numpy as np
import pytest
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode

from examples import rllib_ppo
from stonezoo.adapters.rllib import make_rllib_env
from tests.adapters.cases import AGENTS, every_case, mask_of, results
from tests.stonezoo.games.referees import Case, rng_of, start


@every_case
def test_rllibs_own_episodes_hold_the_rewards_and_masks_of_each_agent(case: Case) -> None:
    env, rng = make_rllib_env({"game": case[0], **case[1]}), rng_of("rllib", case)
    again = lost_without_moving = 0
    for _ in range(12):
        referee = start(case)
        seen, infos = env.reset(seed=1)
        episode: Any = MultiAgentEpisode(
            observation_space=env.observation_spaces,
            action_space=env.action_spaces,
            agent_to_module_mapping_fn=lambda agent, episode: agent,
        )
        episode.add_env_reset(observations=seen, infos=infos)
        steps = [0, 0]
        while not referee.over:
            assert not episode.is_done
            mover = referee.to_play
            ((agent, observation),) = seen.items()
            assert agent == AGENTS[mover]
            assert episode.get_agents_to_act() == {agent}
            assert env.observation_spaces[agent].contains(observation)
            assert observation["action_mask"].tolist() == mask_of(referee, mover, len(observation["action_mask"]))
            actions = {agent: rng.choice(referee.legal())}
            seen, rewards, terminated, truncated, infos = env.step(actions)
            episode.add_env_step(
                observations=seen,
                actions=actions,
                rewards=rewards,
                infos=infos,
                terminateds=terminated,
                truncateds=truncated,
            )
            referee = referee.play(actions[agent])
            steps[mover] += 1
            again += referee.to_play == mover and not referee.over
        assert episode.is_done
        for player, agent in enumerate(AGENTS):
            assert episode.agent_episodes[agent].get_return() == results(referee)[player]
            assert len(episode.agent_episodes[agent]) == steps[player]
            assert not seen[agent]["action_mask"].any()
        lost_without_moving += results(referee)[1 - mover] == -1.0
    assert again
    assert lost_without_moving


def test_observations_are_the_flat_planes() -> None:
    env = make_rllib_env({"game": "rive", "board_size": 3})
    seen, _ = env.reset()
    inside = env.env.unwrapped.game_state
    assert np.array_equal(seen["player_0"]["observations"], inside.observation(0).ravel())


def test_a_config_without_a_game_or_with_a_wrong_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="names no game"):
        make_rllib_env({"board_size": 3})
    with pytest.raises(ValueError, match="board_size must be an integer from 2 to 8"):
        make_rllib_env({"game": "rive", "board_size": 9})


@pytest.mark.slow
def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    rllib_ppo.main(["--iterations", "1", "--games", "4"])
    assert "against random, trained: {'won'" in capsys.readouterr().out
