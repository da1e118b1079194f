"""`env()` against PettingZoo's three wrappers around the same environment: right and wrong use must look the same."""

import copy
import pickle
import random
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from pettingzoo import AECEnv
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

import stonezoo
from stonezoo import resolve_v0, rive_v0
from stonezoo.api.aec import GameEnv
from stonezoo.api.checked import CheckedEnv
from tests.stonezoo.api.settings import advance, every_setting, make, make_raw, play, wrap

ATTRIBUTES = [
    "agents",
    "num_agents",
    "max_num_agents",
    "possible_agents",
    "agent_selection",
    "rewards",
    "terminations",
    "truncations",
    "infos",
    "_cumulative_rewards",
    "metadata",
    "render_mode",
    "action_spaces",
    "_private",
    "nonsense",
]


def answer(call: Callable[[], Any]) -> Any:
    """What a call returns, raises and logs, in a form that can be compared."""
    EnvLogger.flush()
    try:
        result = call()
    except Exception as error:
        result = (type(error).__name__, str(error).replace("CheckedEnv", "OrderEnforcingWrapper"))
    return plain(result), list(EnvLogger.mqueue)


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(entry) for entry in value)
    return value


def same(ours: Any, theirs: Any, call: Callable[[Any], Any], what: str) -> None:
    assert answer(lambda: call(ours)) == answer(lambda: call(theirs)), what


def compare_everything(ours: Any, theirs: Any) -> None:
    for name in ATTRIBUTES:
        same(ours, theirs, lambda env, name=name: getattr(env, name), name)
    same(ours, theirs, str, "str")


def mischief(rng: random.Random, num_actions: int) -> list[tuple[str, Callable[[Any], Any]]]:
    """Calls of every kind, right and wrong, each to be made on both environments."""
    action = rng.choice(
        [rng.randrange(num_actions), np.int64(rng.randrange(num_actions)), np.array(rng.randrange(num_actions)),
         np.int32(rng.randrange(num_actions)), np.uint64(1), np.uint8(1), -1, num_actions, np.int64(num_actions), 2**70,
         None, 0.0, "a", [0], np.array([0]), np.bool_(True), float("nan")]
    )  # fmt: skip
    agent = rng.choice(["player_0", "player_1", "player_2", None])
    return [
        (f"step {action!r}", lambda env: env.step(action)),
        ("step None", lambda env: env.step(None)),
        (f"observe {agent}", lambda env: env.observe(agent)),
        (f"action space {agent}", lambda env: env.action_space(agent).n),
        ("last", lambda env: env.last()),
        ("last without observation", lambda env: env.last(observe=False)),
        ("legal step", _legal_step),
        ("legal step", _legal_step),
        ("unobserved step", lambda env: env.step(_first_legal(env.unwrapped))),
        ("a mask cleared by its reader", _clear_mask),
        ("a mask filled by its reader", _fill_mask),
        ("iterate twice", lambda env: _next_twice(env)),
        ("state", lambda env: env.state()),
        ("render", lambda env: env.render()),
    ]


def _first_legal(raw: GameEnv) -> int:
    return int(np.argmax(raw.observe(raw.agent_selection)["action_mask"]))


def _legal_step(env: Any) -> None:
    observation, _, terminated, truncated, _ = env.last()
    env.step(None if terminated or truncated else int(np.argmax(observation["action_mask"])))


def _clear_mask(env: Any) -> None:
    observation = env.last()[0]
    action = int(np.argmax(observation["action_mask"]))
    observation["action_mask"][:] = 0
    env.step(action)


def _fill_mask(env: Any) -> None:
    observation = env.last()[0]
    action = int(np.argmin(observation["action_mask"]))
    observation["action_mask"][:] = 1
    env.step(action)


def _next_twice(env: Any) -> list[str]:
    agents = iter(env.agent_iter())
    return [next(agents), next(agents)]


@every_setting
def test_right_and_wrong_calls_in_any_order_are_answered_as_by_the_wrappers(
    game: str, parameters: dict[str, Any]
) -> None:
    EnvLogger.suppress_output()
    try:
        for seed in range(25):
            rng = random.Random(seed)
            raw = make_raw(game, parameters)
            ours, theirs = make(game, parameters), wrap(raw)
            if rng.random() < 0.8:
                advance(ours, n := rng.randrange(40), seed)
                advance(theirs, n, seed)
            compare_everything(ours, theirs)
            for _ in range(rng.randrange(30)):
                what, call = rng.choice(mischief(rng, raw.num_actions))
                if rng.random() < 0.04:
                    what, call = "reset", lambda env: env.reset(seed=1, options={"nothing": 1})
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # render() without a mode
                    same(ours, theirs, call, what)
                compare_everything(ours, theirs)
    finally:
        EnvLogger.unsuppress_output()


def test_an_illegal_action_ends_the_game_for_both_and_costs_only_the_offender() -> None:
    env = rive_v0.env(board_size=2)
    for offence in (1, 2, 3):
        env.reset()
        for _ in play(env, offence, offence):
            pass
        offender, other = env.agent_selection, "player_1" if env.agent_selection == "player_0" else "player_0"
        observation = env.last()[0]
        env.step(int(np.argmin(observation["action_mask"])))
        assert env.rewards == {offender: -1.0, other: 0.0}
        assert env.terminations == env.truncations == {"player_0": True, "player_1": True}
        assert all(not env.observe(agent)["action_mask"].any() for agent in env.agents)
        seen = {}
        for agent in env.agent_iter():
            _, seen[agent], terminated, truncated, _ = env.last()
            assert terminated
            assert truncated
            env.step(None)
        assert seen == {offender: -1.0, other: 0.0}


def test_the_illegal_action_is_said_in_pettingzoos_words(capsys: pytest.CaptureFixture[str]) -> None:
    env = rive_v0.env(board_size=2)
    env.reset()
    env.step(0)
    EnvLogger.flush()
    env.step(0)
    assert EnvLogger.mqueue[-1].startswith("[WARNING]: Illegal move made, game terminating with current player losing.")


def test_use_before_reset_is_refused_in_pettingzoos_words() -> None:
    env = rive_v0.env()
    with pytest.raises(AttributeError, match=r"^rewards cannot be accessed before reset$"):
        _ = env.rewards
    with pytest.raises(AttributeError, match=r"^num_agents cannot be accessed before reset$"):
        _ = env.num_agents
    for name, call in (
        ("step", lambda: env.step(0)),
        ("observe", lambda: env.observe("player_0")),
        ("render", env.render),
        ("state", env.state),
        (r"agent_iter\(\)", env.agent_iter),
    ):
        with pytest.raises(AssertionError, match=rf"^reset\(\) needs to be called before {name}\.$"):
            call()


def test_an_environment_reset_from_inside_still_waits_for_its_own_reset() -> None:
    env = rive_v0.env()
    env.unwrapped.reset()
    with pytest.raises(AttributeError, match="agents cannot be accessed before reset"):
        _ = env.agents


@pytest.mark.parametrize("action", [True, False, np.bool_(True)])
def test_truth_values_are_no_actions(action: Any) -> None:
    env = resolve_v0.env(board_size=3)
    env.reset()
    with pytest.raises(AssertionError, match=r"^action is not in action space$"):
        env.step(action)
    with pytest.raises(TypeError, match="an action is an integer"):
        env.unwrapped.step(action)
    assert env.rewards == {"player_0": 0.0, "player_1": 0.0}
    assert env.unwrapped.game_state.ply == 0


@pytest.mark.parametrize("kind", [int, np.int8, np.uint8, np.int32, np.int64, np.array])
def test_integers_of_every_kind_are_actions(kind: Any) -> None:
    for env in (resolve_v0.env(board_size=3), resolve_v0.raw_env(board_size=3)):
        env.reset()
        env.step(kind(4))
        assert env.agent_selection == "player_1"
        assert env.unwrapped.game_state.history == (4,)


def test_the_environment_is_an_order_enforcing_wrapper_of_the_raw_one() -> None:
    env = rive_v0.env()
    assert isinstance(env, AECEnv)
    assert isinstance(env, OrderEnforcingWrapper)
    assert isinstance(env.unwrapped, GameEnv)
    assert str(env) == str(env.unwrapped) == "rive_v0"
    assert type(env).last is AECEnv.last
    assert GameEnv.last is AECEnv.last


def test_dicts_replaced_inside_are_seen_outside_and_dicts_set_outside_hide_them() -> None:
    env = rive_v0.env(board_size=2)
    env.reset()
    env.unwrapped.rewards = {"player_0": 3.0, "player_1": 4.0}
    env.unwrapped.truncations = {"player_0": True, "player_1": True}
    assert env.rewards["player_1"] == 4.0
    assert env.last()[3] is True
    assert not env.observe("player_0")["action_mask"].any()
    env.rewards = {}
    assert env.rewards == {}
    assert env.unwrapped.rewards["player_0"] == 3.0


@every_setting
def test_copies_and_pickles_in_mid_turn_go_on_identically(game: str, parameters: dict[str, Any]) -> None:
    env = make(game, parameters)
    for seed, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(seed)
    assert any(_stop_in_mid_turn(env, seed) for seed in range(50))
    twins = [env, copy.deepcopy(env), pickle.loads(pickle.dumps(env)), copy.deepcopy(env.unwrapped)]
    seen = []
    for twin in twins:
        lines = []
        for agent in twin.agent_iter():
            observation, reward, terminated, truncated, info = twin.last()
            over = terminated or truncated
            action = None if over else twin.action_space(agent).sample(observation["action_mask"])
            lines.append((agent, plain(observation), reward, terminated, truncated, info, action))
            twin.step(action)
        seen.append(lines)
    assert seen[0] == seen[1] == seen[2] == seen[3]
    assert len(seen[0]) > 2


def _stop_in_mid_turn(env: Any, seed: int) -> bool:
    """Plays until an agent is to act for the second time in a row; False if no agent ever is."""
    env.reset(seed=seed)
    agents = [agent for agent, _, _ in play(env, seed)]
    for steps, (agent, following) in enumerate(pairwise(agents), start=1):
        if agent == following:
            advance(env, steps, seed)
            return True
    return False


def test_a_copy_shares_nothing_with_its_original() -> None:
    env = rive_v0.env(board_size=3)
    advance(env, 5)
    twin = copy.deepcopy(env)
    before = plain(env.last())
    for _ in play(twin, 1):
        pass
    assert plain(env.last()) == before
    assert twin.agents == []
    assert twin.action_space("player_0") is not env.action_space("player_0")


def test_any_registered_game_can_be_made_by_name() -> None:
    env = stonezoo.api.checked.make_env("rive", "ansi", board_size=2)
    assert isinstance(env, CheckedEnv)
    assert env.unwrapped.game == stonezoo.load_game("rive", board_size=2)
