"""The adapter for stable-baselines3 against the single Gymnasium environment, step by step."""

from typing import Any

import numpy as np
import pytest
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from stonezero.sb3 import SeatedVecEnv, make_vec_env
from stonezoo.api.gym import SeatEnv
from stonezoo.api.vector import SeatVectorEnv

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("rive", {"board_size": 2}),
    ("resolve", {"board_size": 3}),
    ("resolve", {"board_size": 4, "rules": "original"}),
    ("dara", {"rows": 3, "columns": 3, "stones": 3}),
]


def last_legal(observation: Any, mask: Any) -> int:
    return int(np.flatnonzero(mask)[-1])


def play(env: SeatedVecEnv, steps: int, seed: int) -> list[Any]:
    """Random legal actions; everything that the environment said."""
    rng = np.random.default_rng(seed)
    told = []
    for _ in range(steps):
        masks = env.action_masks()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        told.append((masks, *env.step(actions)))
    return told


@pytest.mark.parametrize(("game", "parameters"), GAMES)
@pytest.mark.parametrize("opponent", ["random", last_legal])
def test_every_lane_says_what_the_single_environment_with_its_seed_says(
    game: str, parameters: dict[str, Any], opponent: Any
) -> None:
    B, seed = 3, 11
    env = make_vec_env(game, B, opponent=opponent, **parameters)
    singles = [SeatEnv(game, opponent=opponent, **parameters) for _ in range(B)]
    env.seed(seed)
    observations = env.reset()
    for lane, single in enumerate(singles):
        np.testing.assert_array_equal(observations[lane], single.reset(seed=seed + lane)[0])
    rng = np.random.default_rng(5)
    rewards_seen = set()
    lengths = [0] * B
    for _ in range(150):
        masks = get_action_masks(env)
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        for lane, single in enumerate(singles):
            np.testing.assert_array_equal(masks[lane], single.action_masks())
        observations, rewards, dones, infos = env.step(actions)
        for lane, single in enumerate(singles):
            observation, reward, terminated, _, _ = single.step(actions[lane])
            lengths[lane] += 1
            assert (rewards[lane], dones[lane]) == (reward, terminated)
            if terminated:
                rewards_seen.add(reward)
                np.testing.assert_array_equal(infos[lane]["terminal_observation"], observation)
                assert infos[lane]["TimeLimit.truncated"] is False
                assert infos[lane]["episode"]["r"] == reward
                assert infos[lane]["episode"]["l"] == lengths[lane]
                lengths[lane] = 0
                observation, _ = single.reset()
            else:
                assert infos[lane] == {}
            np.testing.assert_array_equal(observations[lane], observation)
    assert {-1.0, 1.0} <= rewards_seen  # losses arrive as well as wins


def test_lanes_of_several_environments_stand_one_after_the_other() -> None:
    def environments() -> list[SeatVectorEnv]:
        return [
            SeatVectorEnv(n, game="rive", board_size=2, opponent=who, autoreset_mode="SameStep")
            for n, who in ((2, "random"), (3, last_legal))
        ]

    together, (first, second) = SeatedVecEnv(environments()), environments()
    together.seed(40)
    observations = together.reset()
    np.testing.assert_array_equal(observations[:2], first.reset(seed=40)[0])
    np.testing.assert_array_equal(observations[2:], second.reset(seed=42)[0])
    rng = np.random.default_rng(1)
    for _ in range(60):
        masks = together.action_masks()
        actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])
        observations, rewards, dones, infos = together.step(actions)
        for environment, part in ((first, slice(0, 2)), (second, slice(2, 5))):
            expected = environment.step(actions[part])
            np.testing.assert_array_equal(observations[part], expected[0])
            np.testing.assert_array_equal(rewards[part], expected[1])
            np.testing.assert_array_equal(dones[part], expected[2])
            assert [bool(info) for info in infos[part]] == expected[2].tolist()


def test_what_stable_baselines3_holds_is_not_written_again() -> None:
    env = make_vec_env("rive", 4, board_size=2)
    env.seed(0)
    observations = env.reset()
    before = observations.copy()
    masks = get_action_masks(env)
    env.step(np.array([np.flatnonzero(mask)[0] for mask in masks]))
    np.testing.assert_array_equal(observations, before)


@pytest.mark.parametrize("wrong", [{"autoreset_mode": "NextStep"}, {"autoreset_mode": "SameStep", "copy": False}])
def test_environments_that_would_mislead_stable_baselines3_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="autoreset_mode='SameStep' and copy=True"):
        SeatedVecEnv(SeatVectorEnv(2, game="rive", board_size=2, **wrong))


def test_no_environment_and_two_games_are_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        SeatedVecEnv([])
    with pytest.raises(ValueError, match="one game"):
        SeatedVecEnv(
            [SeatVectorEnv(1, game="rive", board_size=n, autoreset_mode="SameStep") for n in (2, 3)],
        )


def test_masks_always_allow_something_and_sb3_contrib_finds_them() -> None:
    env = make_vec_env("dara", 8, rows=3, columns=3, stones=3)
    assert is_masking_supported(env)
    env.seed(3)
    env.reset()
    for masks, *_ in play(env, 100, 3):
        assert masks.any(1).all()
    assert get_action_masks(env).shape == (8, env.action_space.n)


def test_an_illegal_action_loses_and_says_so() -> None:
    env = make_vec_env("dara", 2, seat=0, rows=3, columns=3, stones=3)
    env.seed(0)
    env.reset()
    slide = 9  # nothing slides before all stones are down
    assert not env.action_masks()[:, slide].any()
    _, rewards, dones, infos = env.step(np.array([slide, 0]))
    assert (rewards.tolist(), dones.tolist()) == ([-1.0, 0.0], [True, False])
    assert infos[0]["illegal_action"] is True
    assert infos[0]["opponent_illegal_action"] is False


def test_unfinished_games_go_on_from_a_snapshot_with_opponents_and_lengths() -> None:
    first = make_vec_env("resolve", 5, board_size=4)
    first.seed(2)
    first.reset()
    play(first, 7, 0)
    snapshot = first.snapshot()
    expected = play(first, 40, 1)
    second = make_vec_env("resolve", 5, board_size=4)
    second.restore(snapshot)
    for old, new in zip(expected, play(second, 40, 1), strict=True):
        for a, b in zip(old[:4], new[:4], strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(old[4], new[4], strict=True):
            assert a.keys() == b.keys()
            if a:
                assert (a["episode"]["r"], a["episode"]["l"]) == (b["episode"]["r"], b["episode"]["l"])


def test_a_snapshot_of_other_games_is_refused_and_changes_nothing() -> None:
    env = make_vec_env("rive", 2, board_size=2)
    env.seed(0)
    env.reset()
    other = make_vec_env("rive", 2, board_size=3)
    other.reset()
    before = env.snapshot()
    with pytest.raises(ValueError, match="no 2 games of"):
        env.restore(other.snapshot())
    for name, array in env.snapshot().items():
        np.testing.assert_array_equal(array, before[name])


def test_methods_and_attributes_are_asked_of_all_lanes_or_none() -> None:
    env = make_vec_env("rive", 3, board_size=2, render_mode="rgb_array")
    env.seed(0)
    env.reset()
    assert env.get_attr("num_envs") == [3, 3, 3]
    assert not env.has_attr("nothing_of_the_kind")
    assert np.stack(env.env_method("action_masks", indices=[0, 2])).shape == (2, 7)
    env.env_method("set_opponent", last_legal)
    with pytest.raises(ValueError, match="share everything"):
        env.env_method("set_opponent", "random", indices=[0])
    with pytest.raises(ValueError, match="share everything"):
        env.set_attr("render_mode", None, indices=1)
    assert env.env_is_wrapped(object) == [False] * 3
    pictures = env.get_images()
    assert len(pictures) == 3
    assert all(picture is not None and picture.dtype == np.uint8 for picture in pictures)
    env.close()
    env.close()
