"""Players that raise, die, hang or answer nonsense lose the games in which they do, and no others."""

import math
import multiprocessing
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo
from stonezero.arena import Contestant, Isolated, MatchResult, evaluate, open_contestant
from stonezero.arena.contestant import LONGEST_REASON, InProcess, plain_line
from stonezoo.core.rng import new_streams
from stonezoo.players import (
    FunctionPlayer,
    PerfectPlayer,
    PlayerError,
    RandomPlayer,
    UnsolvedError,
    make_player,
)
from stonezoo.record import UNFINISHED, format_record, parse_record
from stonezoo.solve import Search
from tests.stonezero.arena import faulty_players

GAME = stonezoo.load_game("rive", board_size=3)
HERE = "py:tests.stonezero.arena.faulty_players"
LIMIT = 1.0  # s


@pytest.fixture
def opened() -> Iterator[list[Contestant]]:
    contestants: list[Contestant] = []
    yield contestants
    for contestant in contestants:
        contestant.close()
    assert not [child for child in multiprocessing.active_children() if child.name.startswith("player ")]


def play(contestant: Contestant, games: int = 6) -> MatchResult:
    return evaluate(contestant, RandomPlayer(GAME), GAME, games=games, seed=1)


def fatal_states() -> tuple[NDArray[np.int32], list[bool]]:
    """States [B, S] of one game, and in which of them the players of `faulty_players` fail."""
    state, rows, fatal = GAME.initial_state(), [], []
    while not state.terminated:
        rows.append(state.row)
        fatal.append(len(state.legal_actions) == faulty_players.FATAL)
        state.step(int(state.legal_actions[-1]))
    assert 0 < sum(fatal) < len(fatal)
    return np.array(rows), fatal


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("raises", "crash", "RuntimeError: I (do not) like twelve"),
        ("leaves", "crash", "SystemExit: enough"),
        ("dies", "crash", "its process ended with exit code 7"),
        ("is_illegal", "illegal", "which is illegal"),
    ],
)
def test_a_fault_loses_its_game_and_no_other(name: str, kind: str, reason: str, opened: list[Contestant]) -> None:
    opened.append(open_contestant(f"{HERE}:{name}", GAME))
    result = play(opened[0])
    sound = evaluate(FunctionPlayer(GAME, faulty_players.first, "first"), RandomPlayer(GAME), GAME, games=6, seed=1)
    lost = 0
    for mine, whole in zip(result.results, sound.results, strict=True):
        if mine.fault is None:
            assert (mine.actions, mine.winner) == (whole.actions, whole.winner)
            continue
        lost += 1
        assert (mine.fault_by, mine.fault.kind, mine.points) == ("player", kind, 0.0)
        assert reason in mine.fault.reason
        assert mine.actions == whole.actions[: len(mine.actions)]  # up to there it played as ever
        record = parse_record(format_record(mine.record(GAME, result.player, result.opponent)))
        assert record.result == UNFINISHED
        assert f"loses ({kind}): {mine.fault.reason}" in record.comments[-1].text
    assert 0 < lost < 6
    assert result.player_faults == {"illegal": 0, "crash": 0, "time": 0, kind: lost}
    assert sum(result.opponent_faults.values()) == 0


def test_a_player_that_hangs_is_ended_after_the_limit_and_loses_only_there(opened: list[Contestant]) -> None:
    opened.append(open_contestant(f"{HERE}:sleeps", GAME, time_limit=LIMIT))
    states, fatal = fatal_states()
    once = fatal.index(True)
    lanes = [lane for lane, bad in enumerate(fatal) if not bad or lane == once]
    states, place = states[lanes], lanes.index(once)
    start = time.monotonic()
    answer = opened[0].answer(states, new_streams(1, len(states)))
    assert LIMIT < time.monotonic() - start < 60
    assert list(answer.faults) == [place]
    fault = answer.faults[place]
    assert fault.kind == "time"
    assert fault.reason == "no action within 1 s"
    sound = FunctionPlayer(GAME, faulty_players.first, "first").act(states, new_streams(1, len(states)))
    others = [lane for lane in range(len(states)) if lane != place]
    assert answer.actions[others].tolist() == sound[others].tolist()


def test_in_a_process_a_player_plays_as_it_does_in_this_one(opened: list[Contestant]) -> None:
    # Many lanes in several questions: chunks grow, and each lane has its own stream.
    opened.append(open_contestant("uct:20", GAME, isolate=True))
    states, streams = np.repeat(fatal_states()[0], 4, axis=0), new_streams(5, 4 * len(fatal_states()[0]))
    own = streams.copy()
    expected = make_player("uct:20", GAME).act(states, own)
    answer = opened[0].answer(states, streams)
    assert answer.actions.tolist() == expected.tolist()
    assert (streams == own).all()


def test_texts_that_make_no_player_are_refused_at_once() -> None:
    with pytest.raises(PlayerError, match="has no function 'nobody'"):
        Isolated(f"{HERE}:nobody", GAME)
    with pytest.raises(PlayerError, match=r"module 'no_such_module' cannot be imported"):
        open_contestant("py:no_such_module:act", GAME)
    with pytest.raises(ValueError, match=r"time limit of 0 s"):
        Isolated(f"{HERE}:first", GAME, 0)


PRINTING = """
import multiprocessing, stonezoo
from stonezero.player_process import serve
from stonezoo.core.rng import new_streams
game = stonezoo.load_game("rive", board_size=3)
context = multiprocessing.get_context("spawn")
near, far = context.Pipe()
process = context.Process(target=serve, args=(far, "TEXT", game, False))
process.start()
assert near.recv() == ("ready",)
near.send((game.initial_state().row[None], new_streams(1, 1)))
print(near.recv()[0])
near.close(), far.close()
process.join(20)
"""


def test_what_a_player_prints_does_not_mix_with_results() -> None:
    # In processes of their own from the start: a server of processes may be older than this test's capture.
    command = [sys.executable, "-c", PRINTING.replace("TEXT", f"{HERE}:prints")]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=True)
    assert done.stdout == "actions\n"
    assert "a line of mine" in done.stderr
    assert "past Python" in done.stderr


def test_in_this_process_a_batch_that_fails_is_asked_again_lane_by_lane() -> None:
    states, fatal = fatal_states()
    contestant = InProcess(FunctionPlayer(GAME, faulty_players.raises, "raises"), forgiving=True)
    answer = contestant.answer(states, new_streams(1, len(states)))
    assert [lane in answer.faults for lane in range(len(states))] == fatal
    sound = FunctionPlayer(GAME, faulty_players.first, "first").act(states, new_streams(1, len(states)))
    assert all(fatal[lane] or answer.actions[lane] == sound[lane] for lane in range(len(states)))


def test_a_perfect_player_that_gives_up_ends_the_match_and_loses_no_game() -> None:
    game = stonezoo.load_game("rive", board_size=3)
    states = game.initial_state().row[np.newaxis]
    perfect = PerfectPlayer(game, Search(game, 1 << 20), max_nodes=3_000)
    with pytest.raises(UnsolvedError, match="3,000 nodes of search"):
        InProcess(perfect, forgiving=True).answer(states, new_streams(1, 1))


def test_in_a_process_of_its_own_a_perfect_player_that_gives_up_ends_the_match_too(opened: list[Contestant]) -> None:
    opened.append(open_contestant(f"{HERE}:gives_up", GAME))
    with pytest.raises(UnsolvedError, match="too far from the end"):
        play(opened[0])


@pytest.mark.parametrize("limit", [0.0, -1.0, math.inf, math.nan, 1e12])
def test_a_time_that_nobody_can_be_given_is_refused(limit: float) -> None:
    with pytest.raises(ValueError, match=r"it must be positive, and at most 1,000,000"):
        open_contestant("random", GAME, time_limit=limit)


def test_in_this_process_lanes_draw_the_same_random_numbers_after_a_fault() -> None:
    class Nervous(RandomPlayer):
        def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
            actions = super().act(states, streams)
            if len(states) > 1:
                raise OSError("crowded")
            return actions

    states = fatal_states()[0]
    streams, expected = new_streams(1, len(states)), new_streams(1, len(states))
    answer = InProcess(Nervous(GAME), forgiving=True).answer(states, streams)
    assert not answer.faults
    assert answer.actions.tolist() == RandomPlayer(GAME).act(states, expected).tolist()
    assert (streams == expected).all()


@pytest.mark.parametrize("answer", [np.zeros(3, np.int32), np.zeros(1), "yes", None])
def test_an_answer_that_is_no_integer_for_each_state_is_a_crash(answer: object) -> None:
    class Odd:
        name = "odd"

        def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> object:
            return answer

    found = InProcess(Odd(), forgiving=True).answer(fatal_states()[0][:1], new_streams(1, 1))  # type: ignore[arg-type]
    assert found.faults[0].kind == "crash"
    assert "one integer for each" in found.faults[0].reason


def test_reasons_are_lines_that_records_can_hold() -> None:
    assert plain_line("a {b}\n\tc\x00") == "a (b) c?"
    assert len(plain_line("x" * 1000)) == LONGEST_REASON
