"""What holds for every player: legal actions, seeds, batches."""

from collections.abc import Callable

import numpy as np
import pytest

import stonezoo
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import legal_batch, step_batch
from stonezoo.players import (
    AlphaBetaPlayer,
    FunctionPlayer,
    GreedyPlayer,
    Player,
    PlayerError,
    RandomPlayer,
    UctPlayer,
    UctPlusPlayer,
    choose,
)
from tests.stonezoo.players.positions import every_game, positions

PLAYERS: dict[str, Callable[[stonezoo.Game], Player]] = {
    "random": RandomPlayer,
    "greedy": GreedyPlayer,
    "uct": lambda game: UctPlayer(game, 20),
    "uct+": lambda game: UctPlusPlayer(game, 20),
    "alphabeta": lambda game: AlphaBetaPlayer(game, 2),
    "probabilities": lambda game: FunctionPlayer(game, lambda observation, mask: np.ones(len(mask)), "py:x:y"),
}
every_player = pytest.mark.parametrize("make", PLAYERS.values(), ids=PLAYERS.keys())


@every_player
@every_game
def test_every_action_is_legal_from_start_to_end(game: stonezoo.Game, make: Callable[..., Player]) -> None:
    player = make(game)
    states, streams = positions(game), new_streams(2, 60)[: len(positions(game))]
    for _ in range(30):
        ongoing = states[:, OUTCOME] == ONGOING
        if not ongoing.any():
            break
        states, streams = states[ongoing], streams[ongoing]
        before = states.copy()
        actions = player.act(states, streams)
        assert (states == before).all()
        assert actions.dtype == np.int32
        legal = np.empty(len(states), np.bool_)
        legal_batch(game.rules, states, actions, legal)
        assert legal.all()
        step_batch(game.rules, states, actions)


@every_player
@every_game
def test_an_action_depends_on_its_own_state_and_stream_alone(game: stonezoo.Game, make: Callable[..., Player]) -> None:
    states = positions(game)
    streams = new_streams(3, len(states))
    together = streams.copy()
    actions = make(game).act(states, together)
    order = np.random.default_rng(0).permutation(len(states))[: len(states) // 2]
    shuffled = streams[order]
    player = make(game)
    assert (player.act(states[order], shuffled) == actions[order]).all()
    assert (shuffled == together[order]).all()
    for lane in range(0, len(states), 10):
        alone = streams[lane].copy()
        assert choose(player, game.from_row(states[lane]), alone) == actions[lane]
        assert (alone == together[lane]).all()


def test_a_stream_makes_actions_differ_and_a_seed_makes_them_equal() -> None:
    game = stonezoo.load_game("resolve", board_size=4)
    for make in PLAYERS.values():
        actions = [choose(make(game), game.initial_state(), seed) for seed in range(20)]
        assert len(set(actions)) > 3
        assert actions == [choose(make(game), game.initial_state(), seed) for seed in range(20)]


def test_the_number_of_threads_changes_nothing_in_a_search() -> None:
    game = stonezoo.load_game("rive", board_size=3)
    states = positions(game)
    results = []
    for threads in (1, 2, 5):
        streams = new_streams(4, len(states))
        actions, visits = UctPlayer(game, 30, threads=threads).search(states, streams)
        results.append((actions.tolist(), visits.tolist(), streams.tolist()))
    assert results[0] == results[1] == results[2]


def test_the_random_player_is_uniform_over_legal_actions() -> None:
    game = stonezoo.load_game("rive", board_size=2)
    state = game.parse_state("X./.../.. b")  # V3: exactly three cells do not touch the stone
    legal = state.legal_actions.tolist()
    draws = RandomPlayer(game).act(np.repeat(state.row[None], 9_000, 0), new_streams(5, 9_000))
    counts = np.bincount(draws, minlength=game.num_actions)[legal]
    assert counts.sum() == 9_000
    assert len(legal) == 3
    assert abs(counts - 3_000).max() < 4 * np.sqrt(9_000 * (1 / 3) * (2 / 3))  # 4 sigma


def test_a_finished_game_has_nothing_to_choose() -> None:
    game = stonezoo.load_game("resolve", board_size=2)
    state = game.parse_state("XO/X. b")
    assert state.terminated
    with pytest.raises(ValueError, match="the game is over"):
        choose(RandomPlayer(game), state, 0)


@pytest.mark.parametrize("stream", [None, "1", 1.0, np.array([5]), np.array([5, 6, 7]), np.array([5.0, 6.0])])
def test_a_stream_of_another_shape_is_refused_before_compiled_code_reads_it(stream: object) -> None:
    state = stonezoo.load_game("rive", board_size=2).initial_state()
    with pytest.raises(TypeError, match=r"neither a seed nor a random stream, an array int64 \[2\]"):
        choose(RandomPlayer(state.game), state, stream)


def test_a_seed_may_be_an_integer_of_numpy_and_not_negative() -> None:
    state = stonezoo.load_game("rive", board_size=2).initial_state()
    player = RandomPlayer(state.game)
    assert choose(player, state, np.int64(7)) == choose(player, state, 7)
    with pytest.raises(ValueError, match=r"seed=-1 is not accepted: a seed is an integer of at least 0"):
        choose(player, state, -1)


@pytest.mark.parametrize("number", [2.5, 4.0, "4", True, None, 0, 10**30])
def test_what_a_search_is_to_count_is_an_integer_in_its_range(number: object) -> None:
    game = stonezoo.load_game("rive", board_size=2)
    for make in (UctPlayer, UctPlusPlayer, AlphaBetaPlayer):
        with pytest.raises(PlayerError, match=r"are from 1 to|needs either a depth"):
            make(game, number)  # type: ignore[arg-type]
