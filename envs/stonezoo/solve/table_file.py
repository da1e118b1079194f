"""Solved tables as files: a line of JSON that says what follows, then arrays that are mapped into memory."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.state import Game

FOLDER_VARIABLE = "STONEZOO_TABLE_DIR"
FORMAT = "stonezoo-table@1"
HEADER_BYTES = 4096
HEADER_DIGEST = "header_digest"
SUFFIX = ".table"
CHUNK = 1 << 24
LEFT_SECONDS = 3_600.0  # a half-written file of this age is nobody's any more


class TableError(ValueError):
    """A solved table that is not there, cannot be read or belongs to something else; the message says the remedy."""


def table_folder() -> Path:
    """The folder of solved tables: $STONEZOO_TABLE_DIR, else stonezoo/tables in the user's folder for data."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen).expanduser()
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    try:
        return Path(base).expanduser() / "stonezoo" / "tables"
    except RuntimeError:
        raise TableError(f"there is no home folder to look for tables in: set {FOLDER_VARIABLE}") from None


def table_name(name: str, parameters: Mapping[str, int | str]) -> str:
    """The usual name of the file of a game's table."""
    return "-".join([name, *(str(value) for value in parameters.values())]) + SUFFIX


def about_game(game: Game) -> dict[str, Any]:
    """What a file says of the game that it belongs to."""
    return {"game": game.name, "parameters": dict(game.parameters), "rules_id": game.rules_id}


def write_whole(path: Path, parts: list[bytes | memoryview]) -> None:
    """Writes a file whole or not at all, and removes what killed processes left of it half-written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f"{glob.escape(path.name)}.*.tmp"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > LEFT_SECONDS:
                left.unlink()
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))  # type: ignore[arg-type]


def digest_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """Returns a digest of arrays, in their order."""
    digest = hashlib.blake2b(digest_size=16)
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        flat = _bytes_of(array)
        for start in range(0, len(flat), CHUNK):
            digest.update(flat[start : start + CHUNK])
    return digest.hexdigest()


def save_arrays(path: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes a table's file: `about` and the arrays.

    Raises:
        TableError: the file cannot be written.
    """
    shapes = {name: [array.dtype.str, list(array.shape)] for name, array in arrays.items()}
    header = {"format": FORMAT, **about, "arrays": shapes, "digest": digest_of(arrays)}
    line = json.dumps({**header, HEADER_DIGEST: _digest_of_header(header)}).encode() + b"\n"
    if len(line) > HEADER_BYTES:
        raise TableError(f"{path}: the header takes {len(line)} bytes, more than {HEADER_BYTES}")
    parts: list[bytes | memoryview] = [line.ljust(HEADER_BYTES, b"\0")]
    parts += [_bytes_of(array) for array in arrays.values()]
    try:
        write_whole(path, parts)
    except OSError as error:
        raise TableError(f"cannot write {path}: {error.strerror or error}") from None


def _digest_of_header(header: Mapping[str, Any]) -> str:
    """Returns a digest of what a file says of itself, but for that digest."""
    return hashlib.blake2b(json.dumps(dict(header)).encode(), digest_size=16).hexdigest()


def read_header(path: Path) -> dict[str, Any]:
    """Returns what a table's file says of itself.

    Raises:
        TableError: it is not there, is no table of this format, or its header is damaged.
    """
    try:
        with path.open("rb") as file:
            line = file.read(HEADER_BYTES).split(b"\n")[0]
    except OSError as error:
        raise TableError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        header = json.loads(line)
        found = header["format"]
    except (ValueError, KeyError, TypeError):
        raise TableError(f"{path} is no solved table") from None
    if found != FORMAT:
        raise TableError(f"{path} has the format {found!r}, and this version reads {FORMAT!r}: make the table again")
    digest = header.pop(HEADER_DIGEST, None)  # older files have none
    if digest is not None and digest != _digest_of_header(header):
        raise TableError(f"{path} is damaged: its header does not have the digest that it names; remove it")
    return dict(header)


def load_arrays(path: Path, header: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Returns the arrays of a table's file, mapped into memory; what is written to them does not reach the file.

    Raises:
        TableError: the file is shorter or longer than its header says.
    """
    shapes = {name: (np.dtype(kind), tuple(shape)) for name, (kind, shape) in header["arrays"].items()}
    sizes = {name: kind.itemsize * int(np.prod(shape)) for name, (kind, shape) in shapes.items()}
    if path.stat().st_size != HEADER_BYTES + sum(sizes.values()):
        raise TableError(f"{path} is not whole: make the table again")
    arrays: dict[str, NDArray[Any]] = {}
    offset = HEADER_BYTES
    for name, (kind, shape) in shapes.items():
        # Copies on writing, rather than read-only, which would be another type to compiled code.
        mapped = np.memmap(path, kind, "c", offset, shape) if sizes[name] else np.empty(shape, kind)
        arrays[name] = mapped.view(np.ndarray)
        offset += sizes[name]
    return arrays
