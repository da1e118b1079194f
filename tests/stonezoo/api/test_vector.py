"""The vector environment against Gymnasium's SyncVectorEnv over single environments, and in the hands of its users."""

import copy
import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import stonezoo
from stonezoo.api.vector import SeatVectorEnv
from tests.stonezoo.api.seat_referee import IDS, lowest, never, weights
from tests.stonezoo.api.settings import every_setting

INFO_KEYS = ("action_mask", "illegal_action", "opponent_illegal_action")
MODES = list(AutoresetMode)


def make_vec(game: str, parameters: dict[str, Any], num_envs: int, **settings: Any) -> Any:
    return gymnasium.make_vec(IDS[game], num_envs, **parameters, **settings)


def choose(masks: Any, rng: np.random.Generator) -> Any:
    return np.argmax(rng.random(masks.shape, np.float32) * masks, axis=1)


# --- Against single environments --------------------------------------------------------------------------------------


@every_setting
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("seat", "opponent"), [("random", "random"), ("alternate", lowest), (1, "uct:2"), (0, weights), (1, never)]
)
def test_lanes_play_as_single_environments_with_their_seeds(
    game: str, parameters: dict[str, Any], mode: AutoresetMode, seat: Any, opponent: Any
) -> None:
    settings = {**parameters, "seat": seat, "opponent": opponent}
    native = make_vec(game, settings, 4, autoreset_mode=mode)
    singles = SyncVectorEnv([lambda: gymnasium.make(IDS[game], **settings)] * 4, autoreset_mode=mode)
    rng = np.random.default_rng(1)
    seen, infos = native.reset(seed=21)
    seen_too, infos_too = singles.reset(seed=21)
    assert np.array_equal(seen, seen_too)
    ended = np.zeros(4, np.bool_)
    for _ in range(50):
        if mode is AutoresetMode.DISABLED and ended.any():
            seen, infos = native.reset(options={"reset_mask": ended})
            seen_too, infos_too = singles.reset(options={"reset_mask": ended})
            assert np.array_equal(seen, seen_too)
            assert np.array_equal(infos["action_mask"][ended], infos_too["action_mask"][ended])
            assert np.array_equal(infos["seat"][ended], infos_too["seat"][ended])
        actions = choose(infos["action_mask"], rng)
        if rng.random() < 0.2:
            actions[0] = rng.integers(0, native.single_action_space.n)
        *told, infos = native.step(actions)
        *told_too, infos_too = singles.step(actions)
        for one, other in zip(told, told_too, strict=True):
            assert np.array_equal(one, other)
        ended = told[2]
        going = ~ended if mode is AutoresetMode.SAME_STEP else np.ones(4, np.bool_)
        assert np.array_equal(infos["action_mask"], infos_too["action_mask"])
        assert np.array_equal(infos["seat"], infos_too["seat"])
        for key in INFO_KEYS:
            assert np.array_equal(infos[key][going], infos_too[key][going])
            assert infos[f"_{key}"].all()
        assert ("final_obs" in infos) == ("final_obs" in infos_too)
        if "final_obs" in infos:
            assert np.array_equal(infos["_final_obs"], infos_too["_final_obs"])
            assert np.array_equal(infos["_final_info"], infos_too["_final_info"])
            for one, other in zip(infos["final_obs"], infos_too["final_obs"], strict=True):
                assert np.array_equal(one, other)
            assert infos["final_info"].keys() == infos_too["final_info"].keys()
            for key in (*INFO_KEYS, "seat"):
                assert np.array_equal(infos["final_info"][key], infos_too["final_info"][key])
                assert np.array_equal(infos["final_info"][f"_{key}"], infos_too["final_info"][f"_{key}"])


@pytest.mark.parametrize("opponent", ["random", "uct:2"])
def test_a_lane_plays_the_same_whatever_the_number_of_lanes(opponent: str) -> None:
    few, many = (make_vec("rive", {"board_size": 3}, lanes, opponent=opponent) for lanes in (3, 40))
    _, infos = few.reset(seed=[5, 6, 7])
    seen, infos_too = many.reset(seed=[5, 6, 7, *range(100, 137)])
    rng = np.random.default_rng(1)
    for _ in range(60):
        actions = choose(infos_too["action_mask"], rng)
        seen_too, *_, infos_too = many.step(actions)
        seen, *_, infos = few.step(actions[:3])
        assert np.array_equal(seen, seen_too[:3])
        assert np.array_equal(infos["action_mask"], infos_too["action_mask"][:3])


def test_a_seed_fixes_all_and_a_list_gives_each_lane_its_own() -> None:
    env = make_vec("dara", {}, 3, seat=1)
    first = env.reset(seed=5)[0].copy()
    following = env.reset()[0].copy()
    assert not np.array_equal(first, following)
    assert np.array_equal(env.reset(seed=[5, 6, 7])[0], first)
    assert np.array_equal(env.reset()[0], following)
    assert np.array_equal(env.reset(seed=[None, 6, None])[0][1], first[1])
    unseeded = [make_vec("resolve", {"board_size": 13}, 3, seat=1).reset()[0] for _ in range(2)]
    assert not np.array_equal(*unseeded)
    with pytest.raises(ValueError, match="seed has 2 seeds, but there are 3 lanes"):
        env.reset(seed=[1, 2])


def test_lanes_take_turns_when_seats_alternate() -> None:
    env = make_vec("rive", {"board_size": 2}, 4, seat="alternate")
    assert [env.reset()[1]["seat"].tolist() for _ in range(2)] == [[0, 1, 0, 1], [1, 0, 1, 0]]
    assert env.reset(seed=3)[1]["seat"].tolist() == [1, 0, 1, 0]
    drawn = make_vec("rive", {"board_size": 2}, 400, seat="random").reset(seed=1)[1]["seat"]
    assert 160 <= drawn.sum() <= 240  # 4 standard deviations


# --- Infos, arrays, misuse --------------------------------------------------------------------------------------------


def test_what_is_held_stays_with_copies_and_shows_the_present_without() -> None:
    for copying in (True, False):
        env = make_vec("resolve", {"board_size": 3}, 4, copy=copying)
        observations, infos = env.reset(seed=1)
        held = (observations, infos["action_mask"])
        kept = copy.deepcopy(held)
        observations, *flags, infos = env.step(infos["action_mask"].argmax(axis=1))
        for array, before, present in zip(held, kept, (observations, infos["action_mask"]), strict=True):
            assert (array is present) is not copying
            assert np.array_equal(array, before if copying else present)
        held_flags = copy.deepcopy(flags)
        first_flags = [*flags]
        env.step(infos["action_mask"].argmax(axis=1))
        if copying:
            for array, before in zip(first_flags, held_flags, strict=True):
                assert np.array_equal(array, before)


def test_what_the_caller_writes_into_returned_arrays_changes_no_game() -> None:
    one, other = (make_vec("resolve", {"board_size": 3}, 6, copy=copying) for copying in (True, False))
    rng = np.random.default_rng(2)
    _, infos = one.reset(seed=4)
    other.reset(seed=4)
    for _ in range(40):
        actions = choose(infos["action_mask"], rng)
        *told, infos = one.step(actions)
        *told_too, infos_too = other.step(actions)
        for array, array_too in zip([*told, infos["action_mask"]], [*told_too, infos_too["action_mask"]], strict=True):
            assert np.array_equal(array, array_too)
        for array in (*told_too, infos_too["action_mask"], infos_too["seat"]):
            array[:] = 1


def test_tensors_share_the_arrays_memory() -> None:
    torch = pytest.importorskip("torch")
    env = make_vec("resolve", {"board_size": 5}, 16, copy=False)
    observations, infos = env.reset(seed=1)
    seen, mask = torch.from_numpy(observations), torch.from_numpy(infos["action_mask"])
    for _ in range(30):
        observations, *_, infos = env.step(mask.float().multinomial(1)[:, 0])
        assert seen.data_ptr() == observations.ctypes.data
        assert np.array_equal(mask.numpy(), infos["action_mask"])
        assert not infos["illegal_action"].any()


@pytest.mark.parametrize("mode", MODES)
def test_make_vec_names_the_autoreset_mode_and_warns_of_nothing(mode: AutoresetMode) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given in (mode, mode.value):
            env = make_vec("rive", {"board_size": 2}, 3, autoreset_mode=given)
            assert isinstance(env, SeatVectorEnv)
            assert env.metadata["autoreset_mode"] is mode
            observations, _ = env.reset(seed=1)
            assert observations in env.observation_space
            for _ in range(20):
                observations, rewards, terminated, truncated, _ = env.step(env.action_space.sample())
                assert observations in env.observation_space
                assert rewards.dtype == np.float32
                assert terminated.dtype == truncated.dtype == np.bool_
            env.close()
            env.close()
    assert make_vec("rive", {"board_size": 2}, 3).metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


def test_gymnasiums_vector_wrappers_work() -> None:
    from gymnasium.wrappers.vector import FlattenObservation, RecordEpisodeStatistics

    env: Any = FlattenObservation(RecordEpisodeStatistics(make_vec("resolve", {"board_size": 3}, 8)))
    observations, infos = env.reset(seed=1)
    assert observations.shape == (8, 135)
    rng, returns = np.random.default_rng(1), []
    for _ in range(30):
        observations, _, terminated, _, infos = env.step(choose(infos["action_mask"], rng))
        if terminated.any():
            returns += infos["episode"]["r"][terminated].tolist()
    assert set(returns) == {1.0, -1.0}


@pytest.mark.parametrize("opponent", ["random", "uct:2", weights])
@pytest.mark.parametrize("mode", MODES)
def test_copies_and_pickles_go_on_identically(opponent: Any, mode: AutoresetMode) -> None:
    env = make_vec("rive", {"board_size": 3}, 5, opponent=opponent, autoreset_mode=mode)
    rng = np.random.default_rng(1)
    _, infos = env.reset(seed=3)
    for _ in range(25):
        *_, infos = env.step(choose(infos["action_mask"], rng))
    twins = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for _ in range(25):
        actions = choose(infos["action_mask"], rng)
        *told, infos = env.step(actions)
        for twin in twins:
            *told_too, infos_too = twin.step(actions)
            assert all(np.array_equal(one, other) for one, other in zip(told, told_too, strict=True))
            assert np.array_equal(infos["action_mask"], infos_too["action_mask"])


@pytest.mark.parametrize("mode", MODES)
def test_another_process_goes_on_from_a_snapshot_of_plain_arrays(mode: AutoresetMode) -> None:
    settings = {"board_size": 2, "opponent": "uct:2", "seat": "alternate"}
    first, second = (make_vec("rive", settings, 5, autoreset_mode=mode).unwrapped for _ in range(2))
    with pytest.raises(RuntimeError, match="before the first game"):
        first.snapshot()
    _, infos = first.reset(seed=3)
    rng = np.random.default_rng(0)
    ended = np.zeros(5, np.bool_)
    while not ended.any():
        _, _, ended, _, infos = first.step(choose(infos["action_mask"], rng))
    seen, told = second.restore({name: array.copy() for name, array in first.snapshot().items()})
    assert np.array_equal(told["action_mask"], infos["action_mask"])
    assert seen.shape == (5, *first.game.observation_shape)
    for _ in range(40):
        actions = choose(infos["action_mask"], rng)
        *expected, infos = first.step(actions)
        *found, _ = second.step(actions)
        for old, new in zip(expected, found, strict=True):
            assert np.array_equal(old, new)


def test_a_snapshot_that_is_refused_changes_nothing() -> None:
    env = make_vec("rive", {"board_size": 2}, 2).unwrapped
    with pytest.raises(ValueError, match="these are no 2 games"):
        env.restore({})
    with pytest.raises(RuntimeError, match="before the first game"):  # its chance has not been fixed either
        env.snapshot()


def test_another_opponent_can_take_over_in_all_lanes() -> None:
    env = make_vec("resolve", {"board_size": 3}, 3, seat=0)
    env.reset(seed=1)
    env.set_opponent(never)
    _, rewards, terminated, _, infos = env.step([4, 4, 4])
    assert rewards.tolist() == [1.0, 1.0, 1.0]
    assert infos["opponent_illegal_action"].all()
    assert terminated.all()


@pytest.mark.parametrize("mode", MODES)
def test_an_illegal_opening_is_told_with_the_game_that_it_ended(mode: AutoresetMode) -> None:
    env = make_vec("resolve", {"board_size": 3}, 2, seat=1, opponent=never, autoreset_mode=mode)
    assert env.reset(seed=1)[1]["opponent_illegal_action"].all()
    snapshot = env.unwrapped.snapshot()
    for _ in range(2):  # once more after going back
        _, rewards, terminated, _, infos = env.step([0, 0])
        assert rewards.tolist() == [1.0, 1.0]
        assert terminated.all()
        assert infos["opponent_illegal_action"].all()
        if mode is AutoresetMode.SAME_STEP:
            assert infos["final_info"]["opponent_illegal_action"].all()
        env.unwrapped.restore(snapshot)
    env.set_opponent("random")
    env.step([0, 0])
    for _ in range(3):
        *_, infos = env.step([-1, -1])
        assert not infos["opponent_illegal_action"].any()
    del snapshot["forfeited"]  # as it was once
    env.unwrapped.restore(snapshot)
    assert not env.step([0, 0])[4]["opponent_illegal_action"].any()


def test_a_player_with_an_answer_of_the_wrong_shape_is_an_error_that_names_it() -> None:
    class Wrong:
        name = "wrong"

        def act(self, states: Any, streams: Any) -> Any:
            return np.zeros(len(states) + 1, np.int32)

    env = make_vec("resolve", {"board_size": 3}, 3, seat=0, opponent=Wrong())
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"wrong answered .* it was asked for 3 actions"):
        env.step([4, 4, 4])


def test_wrong_arguments_are_errors_that_say_what_is_accepted() -> None:
    with pytest.raises(ValueError, match="rive has no argument 'autoreset'; it accepts board_size: ") as caught:
        make_vec("rive", {}, 3, autoreset="SameStep")
    for name in ("opponent", "seat", "autoreset_mode", "copy", "render_mode"):
        assert f"{name}: " in str(caught.value)
    with pytest.raises(ValueError, match="autoreset_mode='Never' is not accepted: autoreset_mode must be 'NextStep', "):
        make_vec("rive", {}, 3, autoreset_mode="Never")
    with pytest.raises(ValueError, match="num_envs=0 is not accepted"):
        make_vec("rive", {}, 0)
    with pytest.raises(ValueError, match="render_mode='human' is not accepted: render_mode must be 'ansi'"):
        make_vec("rive", {}, 2, render_mode="human")
    env = make_vec("rive", {"board_size": 2}, 3)
    with pytest.raises(RuntimeError, match=r"call reset\(\) first"):
        env.step([0, 0, 0])
    with pytest.raises(ValueError, match="the first reset is of all lanes"):
        env.reset(options={"reset_mask": np.ones(3, np.bool_)})
    env.reset()
    with pytest.raises(ValueError, match=r"must be a bool array \[3\]"):
        env.reset(options={"reset_mask": np.ones(2, np.bool_)})
    with pytest.raises(ValueError, match=r"actions must be integers \[3\]"):
        env.step([0, 1])


@pytest.mark.parametrize(("mode", "kind"), [("ansi", str), ("svg", str), ("rgb_array", np.ndarray)])
def test_every_lane_is_drawn(mode: str, kind: type) -> None:
    env = make_vec("rive", {"board_size": 2}, 2, render_mode=mode)
    env.reset(seed=1)
    pictures = env.render()
    assert len(pictures) == 2
    assert all(isinstance(picture, kind) for picture in pictures)
    assert make_vec("rive", {"board_size": 2}, 2).render() is None


def test_thousands_of_lanes_against_random_play_are_even() -> None:
    """Random against random, each side won once: within 5 standard deviations of an even score over 5,000 games."""
    env = make_vec("resolve", {"board_size": 3}, 4000, seat="alternate", autoreset_mode="SameStep")
    rng, ended, total = np.random.default_rng(3), 0, 0.0
    _, infos = env.reset(seed=1)
    for _ in range(12):
        _, rewards, terminated, _, infos = env.step(choose(infos["action_mask"], rng))
        ended += int(terminated.sum())
        total += float(rewards.sum())
    assert ended > 5000
    assert abs(total / ended) < 5 / np.sqrt(ended)


def test_the_game_of_a_lane_is_the_one_that_was_asked_for() -> None:
    env = make_vec("dara", {"rows": 4, "columns": 5, "stones": 5}, 2)
    assert env.game == stonezoo.load_game("dara", rows=4, columns=5, stones=5)
    assert env.spec.kwargs["rows"] == 4


@pytest.mark.parametrize("seed", [[4, 5, -1], [4, 5, "6"], [4, 5, 6.0], -1, 1.5, float("nan"), "456"])
def test_a_seed_that_is_refused_changes_no_lane(seed: Any) -> None:
    lanes = make_vec("rive", {"board_size": 2}, 3, seat="alternate")
    lanes.reset(seed=[1, 1, 1])
    before = lanes.snapshot()
    with pytest.raises(ValueError, match=r"seed=.* is not accepted: .*integer of at least 0"):
        lanes.reset(seed=seed)
    for name, array in lanes.snapshot().items():
        assert np.array_equal(array, before[name]), name


@pytest.mark.parametrize("mode", [["ansi"], {"ansi"}])
def test_a_render_mode_that_cannot_be_looked_up_is_refused_like_others(mode: Any) -> None:
    with pytest.raises(ValueError, match=r"render_mode must be 'ansi'"):
        make_vec("rive", {"board_size": 2}, 3, render_mode=mode)
