"""Chunks: the games that ended in one iteration, in a file of a run; the replay buffer is filled from them again.

A chunk is named after its first row, counted since the run began, and holds the games as `stonezero.encoding` writes
them. Each array in it has a checksum. It is written once and never changed.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezero.encoding import Arrays, decode_games, encode_games
from stonezero.replay import ReplayBuffer, ReplayError, Samples, check_samples
from stonezero.run import write_atomic
from stonezero.selfplay import FinishedGame
from stonezoo.state import Game

CHUNK_NAME = "games-{:012d}.npz"
_CHUNK_PATTERN = re.compile(r"games-(\d{12})\.npz")
_FIRST = "first_row"


def chunk_files(folder: Path) -> list[tuple[int, Path]]:
    """(first row, path) of every chunk in a folder, ascending."""
    found = [(match, path) for path in folder.iterdir() if (match := _CHUNK_PATTERN.fullmatch(path.name))]
    return sorted((int(match.group(1)), path) for match, path in found)


def write_chunk(folder: Path, first_row: int, games: Sequence[FinishedGame]) -> Path:
    """Write games whose first row is number `first_row` of the run; returns the file. Raises OSError."""
    path = folder / CHUNK_NAME.format(first_row)
    write_atomic(path, pack_chunk(first_row, encode_games([game.trajectory() for game in games])))
    return path


def pack_chunk(first_row: int, arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The bytes of a chunk whose games `encode_games` gave."""
    file = io.BytesIO()
    members: dict[str, Any] = {_FIRST: np.array(first_row, np.int64), **arrays}
    np.savez_compressed(file, **members)
    return file.getvalue()


def unpack_chunk(data: bytes, first_row: int, source: str) -> Arrays:
    """The arrays of a chunk, for `decode_games`.

    Raises ReplayError, which names `source`, when it is torn or begins with another row; MemoryError only of a whole
    one: damaged bytes may ask for any amount.
    """
    whole = False
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            damaged = archive.testzip()
        if damaged is not None:
            raise ValueError(f"{damaged} has another checksum than was written")
        whole = True
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        if int(arrays.pop(_FIRST)) != first_row:
            raise ValueError(f"it does not begin with row {first_row}")
    except Exception as error:  # zipfile, its decoders and numpy raise many kinds on damaged bytes
        if whole and isinstance(error, MemoryError):
            raise
        raise ReplayError(f"{source}: not a whole chunk of games: {str(error) or type(error).__name__}") from error
    return arrays


def read_chunk(path: Path, game: Game) -> list[FinishedGame]:
    """The games in a chunk, in the order of their ends.

    Raises ReplayError, which names the file, when it is torn or its games are not games of `game`.
    """
    match = _CHUNK_PATTERN.fullmatch(path.name)
    try:
        data = path.read_bytes()
        if match is None:
            raise ValueError("a chunk's name tells its first row")
    except (OSError, ValueError) as error:
        raise ReplayError(f"{path}: not a whole chunk of games: {error}") from error
    return decode_chunk(data, int(match.group(1)), game, str(path))


def decode_chunk(data: bytes, first_row: int, game: Game, source: str) -> list[FinishedGame]:
    """As `read_chunk`, from bytes."""
    arrays = unpack_chunk(data, first_row, source)
    try:
        trajectories, states = decode_games(game, arrays)
        return [
            FinishedGame.from_trajectory(game, trajectory, state)
            for trajectory, state in zip(trajectories, states, strict=True)
        ]
    except ValueError as error:
        raise ReplayError(f"{source}: not games of {game!r}: {error}") from error


def fill_buffer(buffer: ReplayBuffer, folder: Path, game: Game, first_row: int, total_rows: int) -> None:
    """Fill an empty buffer with the rows from `first_row` to `total_rows` of the chunks in a folder.

    Chunks before and after are left alone. Raises ReplayError, with the buffer empty, that names the file when one is
    torn, or the rows that are missing.
    """
    parts: list[Samples] = []
    reached = first_row
    chunks = chunk_files(folder)
    following = [*(first for first, _ in chunks[1:]), total_rows]
    for (first, path), end in zip(chunks, following, strict=False):
        if first >= total_rows or end <= first_row:
            continue
        if first > reached:
            raise ReplayError(f"{path}: rows {reached} to {first} are missing before it")
        rows = [finished.samples for finished in read_chunk(path, game) if finished.samples is not None]
        if not rows:
            raise ReplayError(f"{path}: there are no rows in it")
        samples = Samples.concatenate(rows)
        try:
            check_samples(samples, game.num_actions)
        except ValueError as error:
            raise ReplayError(f"{path}: {error}") from error
        if first + len(samples) > total_rows:
            raise ReplayError(f"{path}: goes beyond row {total_rows}, at which the training state was saved")
        parts.append(samples[max(0, reached - first) :])
        reached = first + len(samples)
    if reached != total_rows:
        raise ReplayError(f"{folder}: rows {reached} to {total_rows} are missing")
    buffer.begin(first_row)
    for part in parts:
        buffer.add(part)


def first_whole_row(folder: Path, game: Game, total_rows: int) -> int:
    """The first row from which on all chunks up to `total_rows` are whole; `total_rows` when the last one is torn."""
    reached = total_rows
    for first, path in reversed(chunk_files(folder)):
        if first >= total_rows:
            continue
        try:
            games = read_chunk(path, game)
        except ReplayError:
            break
        if first + sum(len(finished.samples or ()) for finished in games) != reached:
            break
        reached = first
    return reached


def remove_chunks(folder: Path, before: int, after: int) -> None:
    """Delete the chunks whose rows all lie before row `before`, and those that begin at row `after` or later."""
    chunks = chunk_files(folder)
    for index, (first, path) in enumerate(chunks):
        end = chunks[index + 1][0] if index + 1 < len(chunks) else None
        if first >= after or (end is not None and end <= before):
            path.unlink()
