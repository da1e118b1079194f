import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics, TimeLimit

import stonezoo
from stonezoo.api import gym
from stonezoo.api.gym import SeatEnv
from stonezoo.players import make_player
from tests.stonezoo.api.seat_referee import IDS, Erratic, SeatReferee, Told, lowest, never, weights
from tests.stonezoo.api.settings import SETTINGS, every_setting

INFO_KEYS = {"action_mask", "illegal_action", "opponent_illegal_action", "seat"}


def make(game: str, parameters: dict[str, Any], **settings: Any) -> Any:
    return gymnasium.make(IDS[game], **parameters, **settings)


def legal(info: dict[str, Any], rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(info["action_mask"])))


def play(env: Any, seed: int, steps: int) -> Iterator[tuple[Any, ...]]:
    """Plays on at random from the game that `env` is in, one game after the other."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        inside = env.unwrapped
        if inside.action_masks().all() and inside._games.over[0]:
            observation, info = env.reset()
            yield observation, 0.0, False, False, info
        else:
            yield env.step(int(rng.choice(np.flatnonzero(inside.action_masks()))))


def same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    *values, info = one
    *values_too, info_too = other
    return all(np.array_equal(a, b) for a, b in zip(values, values_too, strict=True)) and all(
        np.array_equal(info[key], info_too[key]) for key in INFO_KEYS
    )


# --- Gymnasium's own demands ------------------------------------------------------------------------------------------


@every_setting
@pytest.mark.parametrize("seat", [0, 1, "random", "alternate"])
def test_gymnasium_checks_the_environment_without_a_warning(
    game: str, parameters: dict[str, Any], seat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setitem(SeatEnv.metadata, "render_fps", 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(game, parameters, seat=seat).unwrapped)


def test_importing_the_package_registers_its_games_and_opens_no_drawing_library() -> None:
    code = (
        "import stonezoo, gymnasium, sys;"
        "print(sorted(i for i in gymnasium.registry if i.startswith('stonezoo/')), 'pygame' in sys.modules);"
        "print(gymnasium.make('stonezoo/Rive-v0', board_size=2).reset(seed=1)[0].shape)"
    )
    out = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == [
        "['stonezoo/Dara-v0', 'stonezoo/Resolve-v0', 'stonezoo/Rive-v0'] False",
        "(3, 3, 11)",
    ]


@every_setting
def test_spaces_values_and_flags_have_the_promised_types(game: str, parameters: dict[str, Any]) -> None:
    env = make(game, parameters)
    num_actions = stonezoo.load_game(game, **parameters).num_actions
    assert env.observation_space.dtype == np.float32
    assert env.action_space == gymnasium.spaces.Discrete(num_actions)
    env.reset(seed=2)
    for observation, reward, terminated, truncated, info in play(env, 2, 60):
        assert observation in env.observation_space
        assert type(reward) is float
        assert type(terminated) is bool
        assert truncated is False
        assert set(info) == INFO_KEYS
        assert info["action_mask"].dtype == np.int8
        assert info["action_mask"].shape == (num_actions,)
        assert type(info["seat"]) is int
        assert info["illegal_action"] is info["opponent_illegal_action"] is False


def test_what_is_returned_is_never_written_again() -> None:
    env = make("resolve", {"board_size": 5})
    first, info = env.reset(seed=1)
    held = [(first, info["action_mask"], env.unwrapped.action_masks())]
    kept = copy.deepcopy(held)
    for observation, _, _, _, info in play(env, 1, 40):
        held.append((observation, info["action_mask"], env.unwrapped.action_masks()))
        kept.append(copy.deepcopy(held[-1]))
        observation[:] = 5.0
        info["action_mask"][:] = 3
        held.pop()
        kept.pop()
    for arrays, arrays_too in zip(held, kept, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(arrays, arrays_too, strict=True))


# --- Games ------------------------------------------------------------------------------------------------------------


@every_setting
@pytest.mark.parametrize(
    ("seat", "opponent"), [(0, "random"), (1, "uct:3"), ("random", "random"), ("random", lowest), ("random", weights)]
)
def test_games_go_as_the_referee_plays_them(game: str, parameters: dict[str, Any], seat: Any, opponent: Any) -> None:
    env, rng = make(game, parameters, seat=seat, opponent=opponent), np.random.default_rng(3)
    referee = SeatReferee(stonezoo.load_game(game, **parameters), opponent, seat, seed=11)
    for number in range(3):
        observation, info = env.reset(seed=11 if number == 0 else None)
        told = referee.reset()
        reward, terminated = 0.0, False
        for _ in range(60):
            seen = Told(observation, info["action_mask"], reward, terminated, info["seat"])
            assert all(np.array_equal(a, b) for a, b in zip(seen, told, strict=True))
            assert np.array_equal(env.get_wrapper_attr("action_masks")(), told.mask == 1)
            assert env.unwrapped.game_state == referee.state
            if terminated:
                break
            action = legal(info, rng)
            observation, reward, terminated, _, info = env.step(action)
            told = referee.step(action)


def test_a_turn_of_several_actions_by_the_opponent_happens_inside_one_step_and_its_win_is_the_learners_loss() -> None:
    """Resolve 2 × 2, an opponent that takes the lowest action: after 0 and 3 its stone on 2 is in a crosscut (S4), is
    swapped with 0 (S5), and joins left and right (S8).
    """
    env = make("resolve", {"board_size": 2}, opponent=lowest, seat=0)
    env.reset()
    assert env.step(0)[1:4] == (0.0, False, False)
    assert env.unwrapped.game_state.to_text().split()[0] == "XO/.."
    _, reward, terminated, truncated, info = env.step(3)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert env.unwrapped.game_state.to_text().split()[0] == "OO/XX"
    assert info["action_mask"].all()
    assert env.unwrapped.action_masks().all()


def test_against_random_play_wins_and_losses_both_arrive() -> None:
    """Random against random, over 400 games of which each is won by one side: within 4 standard deviations (0.05)."""
    env, rng, totals = make("resolve", {"board_size": 3}, seat="alternate"), np.random.default_rng(5), []
    for _ in range(400):
        _, info = env.reset(seed=5 if not totals else None)
        terminated, total = False, 0.0
        while not terminated:
            _, reward, terminated, _, info = env.step(legal(info, rng))
            total += reward
        totals.append(total)
    assert set(totals) == {1.0, -1.0}
    assert abs(np.mean(totals)) < 0.2


@pytest.mark.parametrize("action", [0, -1, 4, 2**31, 2**32 + 1, -(10**30), np.int64(-3), np.array(0), np.uint8(200)])
def test_an_illegal_action_is_a_loss_that_the_info_tells(action: Any) -> None:
    env = make("resolve", {"board_size": 2}, opponent=lowest, seat=0)
    env.reset()
    env.step(0)  # so that 0 is taken
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1.0, True, False)
    assert info["illegal_action"] is True
    assert info["opponent_illegal_action"] is False
    assert info["action_mask"].all()
    assert observation in env.observation_space
    assert env.unwrapped.game_state.winner == 1


@pytest.mark.parametrize("action", [True, np.True_, 1.0, "a1", None, np.zeros(2, np.int64)])
def test_what_is_no_integer_is_a_mistake_that_leaves_the_game_as_it_was(action: Any) -> None:
    env = make("resolve", {"board_size": 2}, seat=0).unwrapped
    env.reset(seed=1)
    before = env.game_state
    with pytest.raises(TypeError, match="an action is an integer, not"):
        env.step(action)
    assert env.game_state == before


def test_an_illegal_answer_of_the_opponent_is_a_win_that_the_info_tells() -> None:
    env = make("resolve", {"board_size": 3}, opponent=never, seat=0)
    env.reset()
    _, reward, terminated, _, info = env.step(4)
    assert (reward, terminated) == (1.0, True)
    assert info["opponent_illegal_action"] is True
    assert info["illegal_action"] is False


def test_a_game_that_the_opponents_opening_ends_is_told_at_the_learners_first_step() -> None:
    env = make("resolve", {"board_size": 3}, opponent=never, seat=1)
    _, info = env.reset()
    assert info["opponent_illegal_action"] is True
    assert info["action_mask"].all()
    _, reward, terminated, _, info = env.step(0)
    assert (reward, terminated) == (1.0, True)
    assert info["illegal_action"] is False
    assert info["opponent_illegal_action"] is True
    assert env.reset()[1]["action_mask"].all()


def test_a_frozen_copy_can_take_the_opponents_seat_between_games() -> None:
    env = make("resolve", {"board_size": 3}, opponent=never, seat=0)
    game = stonezoo.load_game("resolve", board_size=3)
    env.reset(seed=1)
    env.get_wrapper_attr("set_opponent")(make_player("uct:5", game))
    assert env.step(4)[4]["opponent_illegal_action"] is False
    with pytest.raises(ValueError, match=r"'nobody' is no player; players are random; .*uct:N"):
        env.get_wrapper_attr("set_opponent")("nobody")


# --- Seats and seeds --------------------------------------------------------------------------------------------------


def seats(env: Any, games: int, seed: int | None = None) -> list[int]:
    return [env.reset(seed=seed if number == 0 else None)[1]["seat"] for number in range(games)]


def test_seats_are_fixed_drawn_or_take_turns() -> None:
    parameters = {"board_size": 2}
    assert seats(make("rive", parameters, seat=0), 4) == [0] * 4
    assert seats(make("rive", parameters, seat=np.int64(1)), 4) == [1] * 4
    assert seats(make("rive", parameters, seat="alternate"), 4) == [0, 1, 0, 1]
    drawn = seats(make("rive", parameters, seat="random"), 400, seed=1)
    assert 160 <= sum(drawn) <= 240  # 4 standard deviations
    assert drawn == seats(make("rive", parameters, seat="random"), 400, seed=1)


def test_with_alternate_the_seeds_parity_is_the_first_seat_so_that_games_seeded_one_by_one_alternate() -> None:
    env = make("rive", {"board_size": 2}, seat="alternate")
    assert seats(env, 3, seed=4) == [0, 1, 0]
    assert seats(env, 3, seed=7) == [1, 0, 1]
    assert [env.reset(seed=seed)[1]["seat"] for seed in range(4)] == [0, 1, 0, 1]


@pytest.mark.parametrize("opponent", ["random", "uct:4", weights])
def test_a_seed_fixes_this_game_and_those_that_follow(opponent: Any) -> None:
    def games(seed: int) -> list[Any]:
        env = make("dara", {"rows": 3, "columns": 4, "stones": 3}, opponent=opponent)
        start = env.reset(seed=seed)
        return [(start[0], 0.0, False, False, start[1]), *play(env, 9, 60)]

    assert all(same(one, other) for one, other in zip(games(1), games(1), strict=True))
    assert not all(same(one, other) for one, other in zip(games(1), games(2), strict=True))


def test_without_a_seed_games_differ() -> None:
    def opening() -> bytes:
        env = make("resolve", {"board_size": 13}, seat=1)
        return b"".join(env.reset()[0].tobytes() for _ in range(4))

    assert opening() != opening()


# --- Copies -----------------------------------------------------------------------------------------------------------


@every_setting
@pytest.mark.parametrize(("opponent", "render_mode"), [("random", None), ("uct:3", "ansi"), (Erratic(), None)])
def test_a_copy_goes_on_identically_from_any_step_and_apart(
    game: str, parameters: dict[str, Any], opponent: Any, render_mode: str | None
) -> None:
    env = make(game, parameters, opponent=copy.deepcopy(opponent), render_mode=render_mode)
    env.reset(seed=6)
    for steps in (1, 2, 3, 20):
        list(play(env, 6 + steps, steps))
        twin = copy.deepcopy(env) if steps % 2 else pickle.loads(pickle.dumps(env))
        at = twin.unwrapped.game_state
        ahead = list(play(env, 5, 30))
        assert twin.unwrapped.game_state == at
        assert all(same(one, other) for one, other in zip(ahead, play(twin, 5, 30), strict=True))
        assert twin.unwrapped.game_state.history == env.unwrapped.game_state.history


def test_a_copy_can_be_made_in_the_middle_of_the_learners_turn() -> None:
    """Rive: the learner has joined groups, and stones are still to leave (V5)."""
    env = make("rive", {"board_size": 3}, seat=0)
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    while env.unwrapped.game_state.phase.name != "REMOVE":
        info = env.step(legal(info, rng))[4]
    twin = pickle.loads(pickle.dumps(env))
    assert twin.unwrapped.game_state.phase.name == "REMOVE"
    assert all(same(one, other) for one, other in zip(play(env, 2, 80), play(twin, 2, 80), strict=True))


def test_an_opponent_with_a_name_is_made_again_rather_than_stored() -> None:
    env = SeatEnv("resolve", board_size=3, opponent="uct:5")
    env.reset(seed=1)
    env._games._player.cannot_be_stored = lambda: None  # type: ignore[union-attr]
    twin = pickle.loads(pickle.dumps(env))
    assert all(same(one, other) for one, other in zip(play(env, 2, 20), play(twin, 2, 20), strict=True))


def test_copies_do_not_share_their_opponents_random_numbers() -> None:
    env = make("resolve", {"board_size": 9}, seat=0)
    env.reset(seed=1)
    twin = copy.deepcopy(env)
    for one, other in zip(play(env, 2, 20), play(twin, 2, 20), strict=True):
        assert same(one, other)


# --- Masks, wrappers, misuse ------------------------------------------------------------------------------------------


def test_masks_are_reachable_through_every_wrapper() -> None:
    env: Any = RecordEpisodeStatistics(TimeLimit(FlattenObservation(make("rive", {"board_size": 3}, seat=0)), 5))
    _, info = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    assert np.array_equal(masks, info["action_mask"])
    for _ in range(5):
        _, _, _, truncated, info = env.step(env.action_space.sample(mask=info["action_mask"]))
    assert truncated is True
    assert "episode" in info


@pytest.mark.parametrize("game", IDS)
def test_an_unknown_argument_is_an_error_that_lists_what_is_accepted(game: str) -> None:
    known = [parameter.name for parameter in stonezoo.load_game(game).rules.parameters]
    with pytest.raises(ValueError, match=f"{game} has no argument 'oponent'; it accepts") as caught:
        make(game, {}, oponent="random")
    for name in [*known, "opponent", "seat", "render_mode"]:
        assert f"{name}: " in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": 2}, "seat=2 is not accepted: seat must be 0 .Black., 1 .White., 'random' or 'alternate'"),
        ({"seat": True}, "seat=True is not accepted"),
        ({"seat": [0]}, r"seat=\[0\] is not accepted"),
        ({"opponent": "best"}, "'best' is no player; players are random; .*uct:N"),
        ({"opponent": 3}, "3 is no player"),
        ({"board_size": 40}, "board_size=40 is not accepted"),
    ],
)
def test_a_wrong_value_is_an_error_that_says_what_is_accepted(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make("resolve", {}, **arguments)


def test_an_unknown_render_mode_is_an_error() -> None:
    with pytest.raises(ValueError, match="render_mode='gif' is not accepted: render_mode must be 'human'"):
        SeatEnv("rive", render_mode="gif")


def test_a_step_without_a_game_under_way_is_refused() -> None:
    env = SeatEnv("resolve", board_size=2, opponent=lowest, seat=0)
    for call in (lambda: env.step(0), env.action_masks):
        with pytest.raises(ResetNeeded, match="call reset"):
            call()
    env.reset()
    env.step(0)
    assert env.step(2)[1:3] == (1.0, True)
    with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
        env.step(1)
    assert env.action_masks().all()


def test_reset_ignores_options() -> None:
    env = make("rive", {"board_size": 2})
    assert np.array_equal(env.reset(seed=1)[0], env.reset(seed=1, options={"anything": 1})[0])


# --- Pictures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "parameters"), [SETTINGS[1], SETTINGS[5], SETTINGS[8]])
def test_every_render_mode_shows_the_state_with_its_last_action(game: str, parameters: dict[str, Any]) -> None:
    for mode, kind in (("ansi", str), ("svg", str), ("rgb_array", np.ndarray)):
        env = make(game, parameters, render_mode=mode, seat=1)
        _, info = env.reset(seed=1)
        assert len(env.unwrapped.game_state.history) > 0
        start = env.render()
        assert isinstance(start, kind)
        env.step(legal(info, np.random.default_rng(1)))
        assert not np.array_equal(env.render(), start)
        env.close()
        env.close()


def test_drawing_changes_no_game() -> None:
    plain, drawn = make("rive", {"board_size": 3}), make("rive", {"board_size": 3}, render_mode="ansi")
    for env in (plain, drawn):
        env.reset(seed=4)
    assert all(same(one, other) for one, other in zip(play(plain, 4, 150), play(drawn, 4, 150), strict=True))


def test_an_illegal_end_can_be_drawn() -> None:
    env = make("resolve", {"board_size": 2}, render_mode="ansi", seat=0)
    env.reset()
    env.step(77)
    assert "White" in env.render()


def test_a_window_shows_every_action_the_opponents_too(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class FakeWindow:
        def __init__(self, render_fps: float) -> None:
            self.closed = 0

        def show(self, state: Any) -> None:
            shown.append(state.to_text().split()[0])

        def close(self) -> None:
            self.closed += 1

        def __reduce__(self) -> Any:
            raise AssertionError("a window was copied")

    monkeypatch.setattr(gym, "Window", FakeWindow)
    env = make("resolve", {"board_size": 2}, opponent=lowest, seat=0, render_mode="human").unwrapped
    env.reset()
    env.step(0)
    copy.deepcopy(env)
    env.step(3)
    assert shown == ["../..", "X./..", "XO/..", "XO/.X", "XO/OX", "OO/XX"]
    env.close()
    env.close()


def test_render_without_a_mode_warns(recwarn: pytest.WarningsRecorder) -> None:
    env = SeatEnv("rive", board_size=2)
    env.reset()
    assert env.render() is None
    assert "choose 'human'" in str(recwarn.pop().message)
