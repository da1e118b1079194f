"""Paired games in lockstep."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo
from stonezero.arena import MatchResult, RepeatedGamesError, evaluate, find_openings
from stonezero.rating import Sprt
from stonezoo.core.game import TO_PLAY
from stonezoo.players import FunctionPlayer, RandomPlayer, UctPlayer

RESOLVE = stonezoo.load_game("resolve", board_size=4)
RIVE = stonezoo.load_game("rive", board_size=3)
DARA = stonezoo.load_game("dara", rows=3, columns=4, stones=3, quiet_limit=6)
GAMES = [RIVE, RESOLVE, DARA]
every_game = pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)


def first_legal(game: stonezoo.Game) -> FunctionPlayer:
    return FunctionPlayer(game, lambda observation, mask: int(mask.argmax()), "first")


def last_legal(game: stonezoo.Game) -> FunctionPlayer:
    return FunctionPlayer(game, lambda observation, mask: int(np.flatnonzero(mask)[-1]), "last")


@every_game
def test_every_opening_is_played_twice_with_colours_swapped(game: stonezoo.Game) -> None:
    result = evaluate(RandomPlayer(game), RandomPlayer(game), game, games=20, seed=3, opening_actions=3)
    openings = set()
    for black, white in zip(result.results[::2], result.results[1::2], strict=True):
        assert black.pair == white.pair
        assert (black.player_is_black, white.player_is_black) == (True, False)
        assert black.actions[:3] == white.actions[:3]
        openings.add(black.actions[:3])
    assert len(openings) == 10
    assert result.distinct_games == 20


@every_game
def test_games_go_on_to_their_ends_by_the_rules_and_are_counted_for_the_player(game: stonezoo.Game) -> None:
    result = evaluate(RandomPlayer(game), first_legal(game), game, games=40, seed=4)
    points, by_colour = [], {True: Counter[float](), False: Counter[float]()}
    for played in result.results:
        state = game.initial_state()
        for action in played.actions:
            if state.ply >= 2 and (state.to_play == 0) != played.player_is_black:
                assert action == state.legal_actions[0]
            state.step(action)
        assert state.terminated
        assert played.winner == state.winner
        mine = state.returns[0 if played.player_is_black else 1]
        points.append((mine + 1) / 2)
        by_colour[played.player_is_black][points[-1]] += 1
    assert result.score == pytest.approx(np.mean(points))
    assert (result.wins, result.draws, result.losses) == (points.count(1), points.count(0.5), points.count(0))
    for tally, counted in ((result.as_black, by_colour[True]), (result.as_white, by_colour[False])):
        assert (tally.wins, tally.draws, tally.losses) == (counted[1.0], counted[0.5], counted[0.0])
    assert result.mean_length == pytest.approx(np.mean([len(played.actions) for played in result.results]))
    assert result.low <= result.score <= result.high


def test_records_of_the_games_replay() -> None:
    result = evaluate(RandomPlayer(RIVE), first_legal(RIVE), RIVE, games=6, seed=5)
    records = list(result.records(date="2026-11-29"))
    for record, played in zip(records, result.results, strict=True):
        assert record.replay().winner == played.winner
        assert record.players == (("random", "first") if played.player_is_black else ("first", "random"))


def test_random_against_random_is_even_within_4_sigma() -> None:
    for game in GAMES:
        result = evaluate(RandomPlayer(game), RandomPlayer(game), game, games=600, seed=6, opening_actions=3)
        assert abs(result.score - 0.5) < 4 * 0.5 / math.sqrt(result.games), game


def test_a_player_that_draws_no_random_numbers_scores_exactly_half_against_itself() -> None:
    player = first_legal(RIVE)
    result = evaluate(player, player, RIVE, games=40, seed=7, min_distinct=0.0)
    assert result.score == 0.5
    assert result.as_black.wins == result.as_white.losses
    assert result.distinct_games == 20


def test_a_stronger_search_beats_a_weaker_one() -> None:
    result = evaluate(UctPlayer(RESOLVE, 200), RandomPlayer(RESOLVE), RESOLVE, games=60, seed=8)
    assert result.low > 0.7


def test_a_match_is_fixed_by_its_seed() -> None:
    def play(seed: int) -> MatchResult:
        return evaluate(UctPlayer(DARA, 10), RandomPlayer(DARA), DARA, games=20, seed=seed)

    assert play(9) == play(9)
    assert play(9).results != play(10).results


def test_a_game_does_not_depend_on_the_others_beside_it() -> None:
    few = evaluate(UctPlayer(RIVE, 10), RandomPlayer(RIVE), RIVE, games=10, seed=11)
    openings = find_openings(RIVE, 5, 2, 11)

    class Watched(UctPlayer):
        def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
            alone = streams.copy()
            single = [super(Watched, self).act(states[k : k + 1], alone[k : k + 1])[0] for k in range(len(states))]
            actions = super().act(states, streams)
            assert actions.tolist() == single
            return actions

    assert evaluate(Watched(RIVE, 10), RandomPlayer(RIVE), RIVE, games=10, seed=11) == few
    assert [result.actions[:2] for result in few.results[::2]] == list(openings.actions)


@pytest.mark.parametrize("fault", [-1, 10_000, "occupied"])
def test_an_illegal_action_loses_its_game_and_no_other(fault: Any) -> None:
    def careless(observation: NDArray[np.float32], mask: NDArray[np.int8]) -> int:
        late = mask.sum() < 10  # V4: at least ten of the nineteen cells cannot be played on
        illegal = int((mask == 0).argmax()) if fault == "occupied" else int(fault)
        return illegal if late else int(mask.argmax())

    result = evaluate(FunctionPlayer(RIVE, careless, "careless"), RandomPlayer(RIVE), RIVE, games=40, seed=12)
    guilty = [played for played in result.results if played.illegal_by is not None]
    assert result.illegal_by_player == len(guilty) > 20
    assert result.illegal_by_opponent == 0
    for played in result.results:
        state = RIVE.initial_state()
        for action in played.actions:
            state.step(action)
        if played.illegal_by is None:
            assert state.terminated
            assert played.winner == state.winner
        else:
            assert played.illegal_by == "player"
            assert not state.terminated
            assert (state.to_play == 0) == played.player_is_black
            assert played.points == 0.0
            with pytest.raises(stonezoo.IllegalActionError):
                state.step(played.illegal_action)  # type: ignore[arg-type]
    other = evaluate(RandomPlayer(RIVE), FunctionPlayer(RIVE, careless, "careless"), RIVE, games=40, seed=12)
    assert other.illegal_by_opponent > 20
    assert other.score > 0.5
    record = next(record for record in result.records() if record.result == "*")
    assert "illegal" in record.comments[-1].text


def test_a_player_is_asked_only_in_its_own_turns_and_cannot_touch_the_games() -> None:
    class Vandal(RandomPlayer):
        def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
            assert len(states) > 0
            colours.update(states[:, TO_PLAY].tolist())
            actions = super().act(states, streams)
            states[:] = -5
            return actions

    colours: set[int] = set()
    result = evaluate(Vandal(RIVE), RandomPlayer(RIVE), RIVE, games=10, seed=1)
    assert result == evaluate(RandomPlayer(RIVE), RandomPlayer(RIVE), RIVE, games=10, seed=1)
    assert colours == {0, 1}


def test_games_that_repeat_are_refused_with_what_came_out() -> None:
    player = last_legal(RESOLVE)
    with pytest.raises(RepeatedGamesError, match="only 10 of 20 games are distinct") as caught:
        evaluate(player, player, RESOLVE, games=20, seed=13)
    assert caught.value.result.games == 20


def test_progress_counts_up_to_all_games() -> None:
    calls: list[tuple[int, int]] = []
    evaluate(RandomPlayer(RIVE), RandomPlayer(RIVE), RIVE, games=30, progress=lambda *call: calls.append(call))
    assert calls == sorted(set(calls))
    assert calls[-1] == (30, 30)


@pytest.mark.parametrize("games", [0, -2, 7])
def test_a_number_of_games_that_makes_no_pairs_is_refused(games: int) -> None:
    with pytest.raises(ValueError, match=rf"games={games}"):
        evaluate(RandomPlayer(RIVE), RandomPlayer(RIVE), RIVE, games=games)


def test_games_at_once_change_no_result() -> None:
    def play(concurrent: int) -> MatchResult:
        return evaluate(UctPlayer(DARA, 10), RandomPlayer(DARA), DARA, games=20, seed=9, concurrent=concurrent)

    assert play(2) == play(6) == play(500)


def test_as_games_end_others_begin_so_that_batches_stay_full() -> None:
    sizes = []

    class Watched(RandomPlayer):
        def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
            sizes.append(len(states))
            return super().act(states, streams)

    evaluate(Watched(DARA), RandomPlayer(DARA), DARA, games=200, seed=9, concurrent=40)
    assert max(sizes) <= 40
    middle = sizes[: len(sizes) // 2]
    assert np.mean(middle) > 12  # about half of 40 are the player's turn


def test_a_decided_test_ends_the_match_and_later_pairs_are_not_in_the_result() -> None:
    test = Sprt(0, 100)
    result = evaluate(UctPlayer(RESOLVE, 100), RandomPlayer(RESOLVE), RESOLVE, games=400, seed=3, sprt=test)
    assert result.sprt is not None
    assert result.sprt.decision == "H1"
    assert result.games == 2 * result.sprt.pairs < 100
    whole = evaluate(UctPlayer(RESOLVE, 100), RandomPlayer(RESOLVE), RESOLVE, games=400, seed=3)
    assert result.results == whole.results[: result.games]  # in the order of openings, not of the games' ends
    scores = [sum(game.points for game in whole.results[k : k + 2]) / 2 for k in range(0, 400, 2)]
    assert test.test(scores) == result.sprt


def test_a_test_that_is_not_decided_says_so() -> None:
    result = evaluate(RandomPlayer(RIVE), RandomPlayer(RIVE), RIVE, games=20, sprt=Sprt(0, 5))
    assert result.sprt is not None
    assert result.sprt.decision is None
    assert result.games == 20


def test_a_player_that_raises_is_the_callers_business() -> None:
    def broken(observation: NDArray[np.float32], mask: NDArray[np.int8]) -> int:
        raise ZeroDivisionError("of mine")

    with pytest.raises(ZeroDivisionError, match="of mine"):
        evaluate(FunctionPlayer(RIVE, broken, "broken"), RandomPlayer(RIVE), RIVE, games=4)
