"""VectorGame against the scalar state."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo import VectorGame
from stonezoo.core.rng import new_streams
from stonezoo.players import make_player
from stonezoo.state import State
from tests.stonezoo.api.settings import every_setting


class Lane:
    """One lane by the book."""

    def __init__(self, game: stonezoo.Game, autoreset: bool) -> None:
        self.game, self.autoreset = game, autoreset
        self.reset()

    def reset(self) -> None:
        self.state: State = self.game.initial_state()
        self.over = self.illegal = False
        self.rewards = (0.0, 0.0)

    def step(self, action: int) -> None:
        self.illegal, self.rewards = False, (0.0, 0.0)
        if self.over:
            return
        mover = self.state.to_play
        try:
            self.state.step(action)
        except stonezoo.IllegalActionError:
            self.illegal = self.over = True
            self.rewards = (-1.0, 1.0) if mover == 0 else (1.0, -1.0)
            return
        self.over = self.state.terminated
        self.rewards = self.state.returns

    @property
    def terminated(self) -> bool:
        return self.over

    def settle(self) -> None:
        if self.autoreset and self.over:
            self.state, self.over = self.game.initial_state(), False


def assert_shows(vector: VectorGame, lanes: list[Lane]) -> None:
    for b, lane in enumerate(lanes):
        state = lane.state
        assert vector.to_play[b] == state.to_play
        assert np.all(vector.legal_action_mask[b] == (1 if lane.over else state.legal_action_mask))
        if not (lane.over and not state.terminated):  # what an illegal end looks like is tested apart
            assert np.array_equal(vector.observations[b], state.observation())
            assert vector.state(b) == state


@every_setting
@pytest.mark.parametrize("autoreset", [True, False])
@pytest.mark.parametrize("copying", [True, False])
def test_every_lane_plays_as_a_state_does(
    game: str, parameters: dict[str, Any], autoreset: bool, copying: bool
) -> None:
    loaded, rng = stonezoo.load_game(game, **parameters), np.random.default_rng(1)
    vector = VectorGame(loaded, 5, autoreset=autoreset, copy=copying)
    lanes = [Lane(loaded, autoreset) for _ in range(5)]
    assert_shows(vector, lanes)
    for step in range(120):
        actions = np.zeros(5, np.int64)
        for b in range(5):
            actions[b] = rng.choice(np.flatnonzero(vector.legal_action_mask[b]))
            if b == 0 and rng.random() < 0.1:
                actions[b] = rng.integers(-2, loaded.num_actions + 2)
        vector.step(actions)
        for lane, action in zip(lanes, actions, strict=True):
            lane.step(int(action))
        assert vector.rewards.tolist() == [list(lane.rewards) for lane in lanes]
        assert vector.terminated.tolist() == [lane.terminated for lane in lanes]
        assert vector.illegal.tolist() == [lane.illegal for lane in lanes]
        for lane in lanes:
            lane.settle()
        assert_shows(vector, lanes)
        if step % 40 == 39:
            chosen = rng.random(5) < 0.5
            vector.reset(chosen)
            for lane, again in zip(lanes, chosen, strict=True):
                if again:
                    lane.reset()
            assert_shows(vector, lanes)
            assert not vector.terminated[chosen].any()
            assert not vector.rewards[chosen].any()


def test_a_finished_lane_rests_until_it_is_reset_when_lanes_do_not_begin_again() -> None:
    """Resolve 2 × 2: Black joins top and bottom with 0 and 2 (S8). Lane 1 plays on meanwhile."""
    vector = VectorGame(stonezoo.load_game("resolve", board_size=2), 2, autoreset=False)
    for actions in ([0, 3], [1, 1], [2, 0]):
        vector.step(actions)
    assert vector.terminated.tolist() == [True, False]
    assert vector.rewards.tolist() == [[1.0, -1.0], [0.0, 0.0]]
    assert vector.legal_action_mask.tolist() == [[1, 1, 1, 1], [0, 0, 1, 0]]
    before = vector.states[0].copy()
    vector.step([3, 1])
    assert np.array_equal(vector.states[0], before)
    assert vector.terminated[0]
    assert vector.rewards[0].tolist() == [0.0, 0.0]
    vector.reset(np.array([True, False]))
    assert vector.state(0) == vector.game.initial_state()
    assert vector.legal_action_mask[0].tolist() == [1, 1, 1, 1]


def test_an_illegal_action_loses_for_who_chose_it_and_the_lane_goes_on() -> None:
    vector = VectorGame(stonezoo.load_game("resolve", board_size=3), 3)
    vector.step([4, 4, 4])
    vector.step([4, 0, -1])
    assert vector.illegal.tolist() == [True, False, True]
    assert vector.terminated.tolist() == [True, False, True]
    assert vector.rewards.tolist() == [[1.0, -1.0], [0.0, 0.0], [1.0, -1.0]]
    assert vector.to_play.tolist() == [0, 0, 0]
    assert vector.state(0) == vector.game.initial_state()
    resting = VectorGame(vector.game, 1, autoreset=False)
    resting.step([9])
    assert resting.state(0).winner == 1
    assert resting.observations[0, :, :, 7:11].max() == 0.0  # no phase is due


def test_what_is_held_stays_with_copies_and_shows_the_present_without() -> None:
    for copying in (True, False):
        vector = VectorGame(stonezoo.load_game("rive", board_size=2), 4, copy=copying)
        names = ("observations", "legal_action_mask", "to_play", "rewards", "terminated", "illegal")
        held = [getattr(vector, name) for name in names]
        kept = [array.copy() for array in held]
        vector.step(np.full(4, 3))
        vector.reset(np.array([True, False, False, False]))
        now = [getattr(vector, name) for name in names]
        for array, before, present in zip(held, kept, now, strict=True):
            assert (array is present) is not copying
            assert np.array_equal(array, before if copying else present)


def test_tensors_share_the_arrays_memory_and_follow_them() -> None:
    torch = pytest.importorskip("torch")
    vector = VectorGame(stonezoo.load_game("resolve", board_size=5), 8, copy=False)
    observations, mask = torch.from_numpy(vector.observations), torch.from_numpy(vector.legal_action_mask)
    rewards = torch.from_numpy(vector.rewards)
    assert observations.data_ptr() == vector.observations.ctypes.data
    for _ in range(60):
        vector.step(mask.float().multinomial(1)[:, 0])  # a tensor will do for actions
        assert not vector.illegal.any()
        assert np.array_equal(observations.numpy(), vector.observations)
        assert np.array_equal(rewards.numpy(), vector.rewards)


def test_players_of_the_package_play_thousands_of_lanes() -> None:
    game = stonezoo.load_game("resolve", board_size=5)
    vector, streams = VectorGame(game, 3000), new_streams(1, 3000)
    player = make_player("random", game)
    ended, black = 0, 0.0
    for _ in range(50):
        vector.step(player.act(vector.states, streams))
        assert not vector.illegal.any()
        ended += int(vector.terminated.sum())
        black += float(vector.rewards[:, 0].sum())
        assert not vector.rewards.sum(axis=1).any()
    assert ended > 3000
    assert abs(black / ended) < 0.2


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64])
def test_actions_of_any_integer_type_mean_the_same(dtype: Any) -> None:
    vector = VectorGame(stonezoo.load_game("resolve", board_size=13), 2)
    vector.step(np.array([120, 7], dtype))
    vector.step(np.array([7, 120], dtype))
    assert vector.state(0).board[[7, 120]].tolist() == [1, 0]
    assert not vector.illegal.any()
    most = np.array([np.iinfo(dtype).max, 7], dtype)
    vector.step(most)
    assert vector.illegal.tolist() == [most[0] != 127, True]  # the one legal 127 is int8's


def test_wrong_arguments_are_errors_that_say_what_is_accepted() -> None:
    game = stonezoo.load_game("rive", board_size=2)
    with pytest.raises(TypeError, match="game='rive' is no Game: make one"):
        VectorGame("rive", 3)  # type: ignore[arg-type]
    for num_envs in (0, -1, 2.0, True, "3"):
        with pytest.raises(ValueError, match="num_envs must be a positive integer"):
            VectorGame(game, num_envs)  # type: ignore[arg-type]
    vector = VectorGame(game, 2)
    for actions in ([1.0, 2.0], [1], [[1, 2]], 3, [True, False], ["a", "b"]):
        with pytest.raises(ValueError, match=r"actions must be integers \[2\], one a lane"):
            vector.step(actions)
    for lanes in ([0, 1], np.zeros(3, bool), True):
        with pytest.raises(ValueError, match=r"lanes must be bool \[2\]"):
            vector.reset(lanes)  # type: ignore[arg-type]


def test_copies_and_pickles_go_on_apart_from_the_original() -> None:
    game = stonezoo.load_game("rive", board_size=3)
    vector, streams, player = VectorGame(game, 6), new_streams(3, 6), make_player("random", game)
    for _ in range(30):
        vector.step(player.act(vector.states, streams))
    twins = [copy.deepcopy(vector), pickle.loads(pickle.dumps(vector))]
    for _ in range(20):
        actions = player.act(vector.states, streams)
        before = vector.states.copy()
        vector.step(actions)
        for twin in twins:
            assert np.array_equal(twin.states, before)
            twin.step(actions)
            assert np.array_equal(twin.observations, vector.observations)
            assert np.array_equal(twin.rewards, vector.rewards)


def test_ragged_actions_are_refused_like_others() -> None:
    lanes = VectorGame(stonezoo.load_game("rive", board_size=2), 3)
    with pytest.raises(ValueError, match=r"actions must be integers \[3\], one a lane, not \[\[1\], 2, 3\]"):
        lanes.step([[1], 2, 3])
