"""Games of self-play as arrays and files: what comes back is what went in, to the bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stonezero.chunks import (
    chunk_files,
    fill_buffer,
    first_whole_row,
    read_chunk,
    remove_chunks,
    write_chunk,
)
from stonezero.config import ReplayConfig
from stonezero.encoding import decode_games, encode_games, take_last
from stonezero.replay import ReplayBuffer, ReplayError
from stonezero.selfplay import FinishedGame, SelfPlay
from stonezero.targets import Trajectory
from stonezoo import load_game
from stonezoo.core.game import ONGOING, OUTCOME
from tests.stonezero.test_selfplay import GAMES, self_play


def assert_same(one: Trajectory, two: Trajectory) -> None:
    assert (one.number, one.actions, one.turns, one.plies, one.versions) == (
        two.number,
        two.actions,
        two.turns,
        two.plies,
        two.versions,
    )
    np.testing.assert_array_equal(one.states, two.states)
    np.testing.assert_array_equal(one.search_policies, two.search_policies)


def trajectories(worker: SelfPlay, games: list[FinishedGame]) -> list[Trajectory]:
    """Games that have ended, and those under way."""
    return [*(game.trajectory() for game in games), *worker._trajectories]


@pytest.mark.parametrize(("name", "parameters"), GAMES)
def test_games_come_back_to_the_bit_finished_or_not(name: str, parameters: dict[str, Any]) -> None:
    game = load_game(name, **parameters)
    worker = self_play(game, random_opening_actions=2)
    played = trajectories(worker, worker.play(80)[0])
    arrays = encode_games(played)
    found, states = decode_games(game, arrays)
    for one, two in zip(played, found, strict=True):
        assert_same(one, two)
    np.testing.assert_array_equal(states[-len(worker._trajectories) :], worker._states)
    assert (states[: -len(worker._trajectories), OUTCOME] != ONGOING).all()
    assert sum(array.nbytes for array in arrays.values()) < sum(
        sum(row.nbytes for row in [*game.states, *game.search_policies]) for game in played
    )
    last, _ = decode_games(game, take_last(arrays, 5))
    for one, two in zip(played[-5:], last, strict=True):
        assert_same(one, two)
    assert decode_games(game, encode_games([]))[0] == []


def test_games_that_cannot_have_been_played_are_refused() -> None:
    game = load_game("rive", board_size=2)
    arrays = encode_games([finished.trajectory() for finished in self_play(game).play(30)[0]])
    for name, place, value, said in (
        ("actions", 1, int(arrays["actions"][0]), "illegal action at ply 1"),
        ("actions", 0, 99, "action outside 0 to 6"),
        ("actions", 0, -1, "action outside 0 to 6"),
        ("target_actions", 0, 7, "target stands on an action outside"),
        ("ply", 0, 500, "lies outside its game"),
        ("ply", 0, -1, "lies outside its game"),
        ("length", 0, 3, "entries of actions"),
        ("rows", 0, -2, "rows of games below 0"),
        ("support", 0, 9, "entries of target_actions"),
    ):
        changed = {**arrays, name: arrays[name].copy()}
        changed[name][place] = value
        with pytest.raises(ValueError, match=said):
            decode_games(game, changed)
    with pytest.raises(ValueError, match="without a list of ply"):
        decode_games(game, {name: array for name, array in arrays.items() if name != "ply"})


@pytest.fixture
def chunks(tmp_path: Path) -> list[int]:
    """Four chunks in a folder; the number of their rows."""
    worker, counts = self_play(load_game("rive", board_size=2)), []
    for _ in range(4):
        games = worker.play(20)[0]
        write_chunk(tmp_path, sum(counts), games)
        counts.append(sum(len(finished.samples or ()) for finished in games))
    return counts


def make_buffer(capacity: int = 1000) -> ReplayBuffer:
    return ReplayBuffer(load_game("rive", board_size=2), ReplayConfig(window=50, capacity=capacity, min_rows=1))


def test_a_buffer_is_filled_with_the_rows_asked_for(chunks: list[int], tmp_path: Path) -> None:
    game, total = load_game("rive", board_size=2), sum(chunks)
    rows = np.concatenate(
        [item.samples.states for _, path in chunk_files(tmp_path) for item in read_chunk(path, game) if item.samples]
    )
    cases = [(0, total, 1000), (7, total, 1000), (chunks[0], total - chunks[3], 1000), (total - 30, total, 30)]
    for first, last, capacity in cases:
        buffer = make_buffer(capacity)
        fill_buffer(buffer, tmp_path, game, first, last)
        assert (buffer.total_rows, buffer.first_row) == (last, first)
        np.testing.assert_array_equal(buffer.latest(1000).states, rows[first:last])


def test_whose_each_cell_is_in_the_end_comes_back_from_the_actions(tmp_path: Path) -> None:
    game = load_game("resolve", board_size=3)
    games = self_play(game).play(60)[0]
    found = read_chunk(write_chunk(tmp_path, 0, games), game)
    for one, two in zip(games, found, strict=True):
        assert one.samples is not None
        assert two.samples is not None
        assert one.samples.owner is not None
        assert one.samples.owner.any()
        np.testing.assert_array_equal(one.samples.owner, two.samples.owner)


def test_missing_and_torn_chunks_are_named_and_leave_the_buffer_empty(chunks: list[int], tmp_path: Path) -> None:
    game, total = load_game("rive", board_size=2), sum(chunks)
    starts = [first for first, _ in chunk_files(tmp_path)]
    second = chunk_files(tmp_path)[1][1]
    whole = second.read_bytes()
    second.write_bytes(whole[:-30])
    buffer = make_buffer()
    with pytest.raises(ReplayError, match=second.name):
        fill_buffer(buffer, tmp_path, game, 0, total)
    assert first_whole_row(tmp_path, game, total) == starts[2]
    fill_buffer(make_buffer(), tmp_path, game, starts[2], total)  # it is not looked at
    second.unlink()
    with pytest.raises(ReplayError, match=f"rows {starts[1]} to {starts[2]} are missing"):
        fill_buffer(buffer, tmp_path, game, 0, total)
    with pytest.raises(ReplayError, match=f"rows {total} to {total + 5} are missing"):
        fill_buffer(buffer, tmp_path, game, starts[2], total + 5)
    with pytest.raises(ReplayError, match="goes beyond row"):
        fill_buffer(buffer, tmp_path, game, starts[2], total - 1)
    chunk_files(tmp_path)[-1][1].rename(tmp_path / "games-000000000999.npz")
    with pytest.raises(ReplayError, match="does not begin with row 999"):
        read_chunk(tmp_path / "games-000000000999.npz", game)
    assert len(buffer) == buffer.total_rows == 0
    with pytest.raises(ReplayError, match="not games of"):
        read_chunk(chunk_files(tmp_path)[0][1], load_game("dara", rows=3, columns=3, stones=3))


def test_chunks_out_of_reach_and_ahead_are_removed(chunks: list[int], tmp_path: Path) -> None:
    starts = [first for first, _ in chunk_files(tmp_path)]
    remove_chunks(tmp_path, before=starts[1], after=sum(chunks))
    assert [first for first, _ in chunk_files(tmp_path)] == starts[1:]
    remove_chunks(tmp_path, before=starts[2] - 1, after=starts[3])
    assert [first for first, _ in chunk_files(tmp_path)] == starts[1:3]
