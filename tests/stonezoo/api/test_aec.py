import copy
import pickle
import random
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import stonezoo
from stonezoo import IllegalActionError, dara_v0, resolve_v0, rive_v0
from stonezoo.api.aec import AGENTS
from tests.stonezoo.api.settings import advance, every_setting, make, make_raw, play


@every_setting
def test_whole_random_games_equal_the_scalar_state(game: str, parameters: dict[str, Any]) -> None:
    env = make(game, parameters)
    for seed in range(3):
        env.reset(seed=seed)
        state = stonezoo.load_game(game, **parameters).initial_state()
        for agent, observation, action in play(env, seed):
            assert AGENTS[state.to_play] == agent
            assert env.agents == list(AGENTS)
            assert env.rewards == env._cumulative_rewards == {"player_0": 0.0, "player_1": 0.0}
            for player, seat in enumerate(AGENTS):
                seen = observation if seat == agent else env.observe(seat)
                assert list(seen) == ["observation", "action_mask"]
                assert np.array_equal(seen["observation"], state.observation(player))
                expected = state.legal_action_mask if seat == agent else np.zeros(state.game.num_actions)
                assert np.array_equal(seen["action_mask"], expected)
            state.step(action)
            if state.terminated:
                break
        # `break` left the last action to be played.
        env.step(action)
        assert env.unwrapped.game_state == state
        assert env.unwrapped.game_state.history == state.history
        assert tuple(env.rewards.values()) == tuple(env._cumulative_rewards.values()) == state.returns
        assert env.terminations == {"player_0": True, "player_1": True}
        assert env.truncations == {"player_0": False, "player_1": False}
        left = []
        for agent in env.agent_iter():
            _, reward, terminated, _, _ = env.last()
            assert terminated
            assert reward == state.returns[AGENTS.index(agent)]
            left.append(agent)
            env.step(None)
        assert sorted(left) == list(AGENTS)
        assert env.agents == []


@every_setting
def test_an_agent_stays_selected_exactly_until_its_turn_ends(game: str, parameters: dict[str, Any]) -> None:
    env = make(game, parameters)
    env.reset()
    agents, turns = [], []
    for agent, _, _ in play(env, 4):
        agents.append(agent)
        turns.append(env.unwrapped.game_state.turn)
    for (agent, turn), (next_agent, next_turn) in pairwise(zip(agents, turns, strict=True)):
        assert (agent == next_agent) == (turn == next_turn)


def test_turns_of_several_actions_are_met_in_every_game() -> None:
    for game in ("rive", "resolve", "dara"):
        env = make(game, {})
        env.reset()
        agents = [agent for agent, _, _ in play(env, 0)]
        assert any(agent == following for agent, following in pairwise(agents)), game


@every_setting
def test_masks_and_observations_are_what_pettingzoo_wants(game: str, parameters: dict[str, Any]) -> None:
    env = make(game, parameters)
    advance(env, 7)
    for agent in AGENTS:
        space, observation = env.observation_space(agent), env.observe(agent)
        assert space.contains(observation)
        mask, planes = observation["action_mask"], observation["observation"]
        assert type(mask) is np.ndarray
        assert mask.dtype == np.int8
        assert mask.shape == (env.action_space(agent).n,)
        assert planes.dtype == np.float32
        assert planes.any()
        assert env.action_space(agent).sample(mask) in range(len(mask))
    env.reset()
    assert env.observe("player_0")["observation"].any()
    assert env.observe("player_1")["observation"].any()


def test_only_the_agent_to_act_has_legal_actions_and_nobody_after_the_end() -> None:
    env = rive_v0.env(board_size=2)
    env.reset()
    for agent, observation, _ in play(env, 1):
        assert observation["action_mask"].any()
        assert not env.observe("player_1" if agent == "player_0" else "player_0")["action_mask"].any()
        last = agent
    assert env.agents == []
    for agent in AGENTS:
        assert not env.observe(agent)["action_mask"].any()
        assert env.observe(agent)["observation"].any()
    assert last in AGENTS


@every_setting
def test_observing_changes_nothing_and_hands_out_arrays_of_its_own(game: str, parameters: dict[str, Any]) -> None:
    env = make_raw(game, parameters)
    advance(env, 6)
    state, agent = env.game_state, env.agent_selection
    first = [env.observe(seat) for seat in AGENTS for _ in range(2)]
    assert env.game_state == state
    assert env.agent_selection == agent
    for one, two in pairwise(first):
        for key in one:
            assert not np.shares_memory(one[key], two[key])
    kept = {key: array.copy() for key, array in first[0].items()}
    for _ in play(env, 2, 3):
        pass
    for key, array in kept.items():
        assert np.array_equal(first[0][key], array)


def test_infos_stay_empty() -> None:
    env = resolve_v0.env(board_size=3)
    env.reset()
    for _ in play(env, 0):
        assert env.infos == {"player_0": {}, "player_1": {}}


def test_flags_are_python_bools_and_the_dicts_plain() -> None:
    env = dara_v0.env(rows=3, columns=3, stones=3)
    env.reset()
    for _ in play(env, 0):
        for flags in (env.terminations, env.truncations):
            assert type(flags) is dict
            assert {type(flag) for flag in flags.values()} == {bool}
        assert type(env.rewards) is type(env._cumulative_rewards) is dict
    env.reset()
    while not env.terminations["player_0"]:
        env.step(int(np.argmax(env.last()[0]["action_mask"])))
    assert {type(flag) for flag in (*env.terminations.values(), *env.truncations.values())} == {bool}
    assert {type(reward) for reward in env.rewards.values()} == {float}


def test_step_clears_what_the_mover_had_and_keeps_what_the_other_is_owed() -> None:
    env = rive_v0.raw_env(board_size=3)
    env.reset()
    env.rewards = {"player_0": 5.0, "player_1": 5.0}
    env._cumulative_rewards = {"player_0": 2.0, "player_1": 3.0}
    assert env.step(0) is None
    assert env.rewards == {"player_0": 0.0, "player_1": 0.0}
    assert env._cumulative_rewards == {"player_0": 0.0, "player_1": 3.0}


def test_spaces_are_the_same_objects_at_every_call_and_each_agent_has_its_own() -> None:
    env = rive_v0.env()
    for agent in AGENTS:
        assert env.action_space(agent) is env.action_space(agent) is env.unwrapped.action_spaces[agent]
        assert env.observation_space(agent) is env.observation_space(agent)
        assert isinstance(env.action_space(agent), spaces.Discrete)
    assert env.action_space("player_0") is not env.action_space("player_1")
    assert env.action_space("player_0") == env.action_space("player_1")
    env.reset()
    assert env.action_space("player_0") is env.unwrapped.action_spaces["player_0"]


def test_seeding_the_action_spaces_fixes_a_sampled_game_and_resets_change_nothing() -> None:
    def game(reset_seed: int | None) -> list[int]:
        env = resolve_v0.env(board_size=4)
        for i, agent in enumerate(AGENTS):
            env.action_space(agent).seed(20 + i)
        env.reset(seed=reset_seed)
        actions = []
        for agent in env.agent_iter():
            observation, _, terminated, _, _ = env.last()
            action = None if terminated else env.action_space(agent).sample(observation["action_mask"])
            actions.append(action)
            env.step(action)
        return actions

    assert game(None) == game(1) == game(2)


def test_reset_ignores_seed_and_options_and_leaves_global_random_states_alone() -> None:
    env = rive_v0.env(board_size=3)
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002 the global state is what is tested
    states = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002
    for seed, options in ((None, None), (0, {"options": 1}), (2**40, {"board_size": 5})):
        env.reset(seed=seed, options=options)
        assert env.unwrapped.game_state == stonezoo.load_game("rive", board_size=3).initial_state()
    assert states == (random.getstate(), np.random.get_state()[1].tobytes())  # noqa: NPY002


def test_two_environments_of_different_sizes_live_side_by_side() -> None:
    envs = [rive_v0.env(board_size=2), rive_v0.env(board_size=4), rive_v0.env(board_size=3)]
    alone = []
    for env in envs:
        env.reset()
        alone.append([action for _, _, action in play(env, 9)])
    for env in envs:
        env.reset()
    together: list[list[int]] = [[], [], []]
    games = [play(env, 9) for env in envs]
    while any(env.agents for env in envs):
        for actions, moves in zip(together, games, strict=True):
            if step := next(moves, None):
                actions.append(step[2])
    assert together == alone


@every_setting
def test_an_illegal_action_raises_in_the_raw_environment_and_changes_nothing(
    game: str, parameters: dict[str, Any]
) -> None:
    env = make_raw(game, parameters)
    advance(env, 3)
    state = env.game_state
    illegal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)
    for action in [-1, env.num_actions, *illegal[:5].tolist()]:
        with pytest.raises(IllegalActionError, match=str(action)):
            env.step(action)
    with pytest.raises(TypeError, match="None"):
        env.step(None)
    assert env.game_state == state
    assert env.rewards == env._cumulative_rewards == {"player_0": 0.0, "player_1": 0.0}


def test_unknown_arguments_are_refused_with_what_is_accepted() -> None:
    for maker in (rive_v0.env, rive_v0.raw_env):
        with pytest.raises(
            ValueError, match=r"rive has no argument 'size'.*board_size: an integer from 2 to 8.*render_mode"
        ):
            maker(size=5)
    with pytest.raises(ValueError, match=r"'max_cycles'.*board_size.*rules: 'standard', 'original'"):
        resolve_v0.env(max_cycles=5)
    with pytest.raises(ValueError, match="'game'"):
        dara_v0.env(game="rive")
    with pytest.raises(ValueError, match=r"board_size=9.*from 2 to 8"):
        rive_v0.env(9)
    with pytest.raises(ValueError, match=r"rules='chess'.*'standard', 'original'"):
        resolve_v0.env(rules="chess")
    with pytest.raises(ValueError, match=r"render_mode='rgb'.*'human', 'rgb_array', 'ansi', 'svg' or None"):
        rive_v0.env(render_mode="rgb")


def test_an_unknown_agent_is_refused_by_name() -> None:
    env = rive_v0.env()
    env.reset()
    with pytest.raises(ValueError, match="'player_2' is no agent: the agents are player_0 and player_1"):
        env.observe("player_2")


def test_the_raw_environment_says_that_it_wants_a_reset() -> None:
    env = rive_v0.raw_env()
    with pytest.raises(AttributeError, match="reset"):
        env.step(0)
    with pytest.raises(AttributeError, match="reset"):
        env.observe("player_0")
    with pytest.raises(AttributeError, match="nonsense"):
        _ = env.nonsense


def test_the_state_handed_out_is_a_copy() -> None:
    env = rive_v0.env(board_size=2)
    env.reset()
    env.game_state.step(0)
    assert env.game_state.ply == 0


def test_each_render_mode_returns_its_kind_and_none_warns() -> None:
    kinds = {"ansi": str, "svg": str, "rgb_array": np.ndarray}
    for mode, kind in kinds.items():
        env = resolve_v0.env(board_size=5, render_mode=mode)
        env.reset()
        before = env.render()
        env.step(12)
        after = env.render()
        assert type(before) is type(after) is kind
        assert not np.array_equal(before, after)
        env.close()
        env.close()
    env = resolve_v0.env(board_size=5)
    env.reset()
    with pytest.warns(UserWarning, match="without a render mode"):
        assert env.render() is None


def test_a_window_follows_every_step_and_is_no_part_of_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[int] = []

    class FakeWindow:
        def __init__(self, render_fps: float) -> None:
            self.open = True

        def show(self, state: Any) -> None:
            shown.append(state.ply)

        def close(self) -> None:
            self.open = False

        def __reduce__(self) -> Any:
            raise AssertionError("a window was copied")

    monkeypatch.setattr("stonezoo.api.aec.Window", FakeWindow)
    env = rive_v0.env(board_size=2, render_mode="human")
    env.reset()
    env.step(0)
    env.step(int(np.argmax(env.last()[0]["action_mask"])))
    assert shown == [0, 1, 2]
    assert env.render() is None
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert twin.unwrapped.game_state == env.unwrapped.game_state
    env.close()
    env.close()


def test_ordinary_use_gives_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for game in ("rive", "resolve", "dara"):
            env = make(game, {})
            env.reset(seed=1)
            for _ in play(env, 1, 30):
                pass
            env.close()


def test_the_state_before_reset_is_an_error_that_says_so() -> None:
    with pytest.raises(AttributeError, match=r"game_state cannot be accessed before reset"):
        _ = rive_v0.raw_env(board_size=2).game_state
