"""A run as one portable file: what another machine needs to go on with it.

A bundle is a zip archive of

    bundle.json     format, what packed it, the run's rules and counters, and the SHA-256 of every other member
    config.yaml     the run's resolved configuration
    training.pt     weights, averaged weights, optimiser, counters, random states, and the games under way as actions
    games-*.npz     the most recent games as actions with sparse targets, as many as there is room for

The replay buffer is rebuilt from the games by playing them again. Not in it: older games, events, other checkpoints,
text records, the evaluation.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stonezero.checkpoint import CheckpointError, pack_training_state, unpack_training_state
from stonezero.chunks import CHUNK_NAME, chunk_files, decode_chunk, pack_chunk, unpack_chunk
from stonezero.config import Config, ConfigError, dump_config, parse_config
from stonezero.encoding import take_last
from stonezero.replay import ReplayError
from stonezero.run import RunError, RunFolder, clean_file, library_versions, write_atomic
from stonezero.storage import STATE_NAME, check_own, newest_state, owner_of
from stonezoo.state import Game, load_game

FORMAT = "stonezero/bundle@1"
MANIFEST, CONFIG, STATE = "bundle.json", "config.yaml", "training.pt"
SUFFIX = ".stonezero"
LIMIT = 20_000_000  # bytes
MAX_UNPACKED = 2_000_000_000  # bytes of all members: more would be somebody's trap
_MANIFEST_ROOM = 400  # bytes of a member's entry in the manifest and in the archive's own lists
_CHUNK = re.compile(r"games-(\d{12})\.npz")
_COUNTERS = ("iteration", "games", "recorded", "total_rows", "first_row")


class BundleError(ValueError):
    """A bundle that cannot be made or used; the message says why and what to do."""


@dataclass(frozen=True)
class Packed:
    """What went into a bundle."""

    path: Path
    size: int  # bytes
    iteration: int
    steps: int
    games: int  # in the bundle, games under way aside
    all_games: int  # finished by the run
    rows: int  # in the bundle
    all_rows: int  # that the run could still learn from


def pack_run(path: str | Path, output: str | Path | None = None, limit: int = LIMIT) -> Packed:
    """Write a bundle of a run, whole or not at all; the run may be at work meanwhile.

    Args:
        path: the run's folder.
        output: the bundle; by default beside the run, with its name.
        limit: bytes; the oldest games are left out until the bundle has no more.

    Raises:
        BundleError: the run has no whole training state, the network alone is larger than `limit`, or the bundle cannot
            be written.
        RunError: there is no run, or its configuration was changed.
    """
    run = RunFolder.open(path)
    game = load_game(run.config.game.name, **run.config.game.parameters)
    run = RunFolder.open(path, game.rules_id)
    if output is None:
        beside = run.path.resolve() if run.path.name in ("", "..") else run.path
        output = beside.with_name(run.path.resolve().name + SUFFIX)
    output = Path(output)
    try:
        state = newest_state(run.state)
        check_own(state, run, run.state)
    except CheckpointError as error:
        raise BundleError(f"{run.path}: cannot be packed: {error}") from error
    first, last = int(state["first_row"]), int(state["total_rows"])
    members = {CONFIG: dump_config(run.config).encode()}
    room = limit - _size(members, CONFIG) - _size({STATE: pack_training_state(state)}, STATE) - 3 * _MANIFEST_ROOM
    if room < 0:
        raise BundleError(
            f"{run.path}: its network and optimiser alone take {(limit - room) / 1e6:.1f} MB, more than the limit of "
            f"{limit / 1e6:g} MB; allow more with --max-mb"
        )
    chunks, packed_from = _recent_games(run.state, first, last, room)
    members |= chunks
    members[STATE] = pack_training_state({**state, "first_row": packed_from})
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "rules_id": run.rules_id,
        "run_id": run.run_id,
        "libraries": library_versions(),
        "steps": int(state["learner"]["steps"]),
        **{name: int(state[name]) for name in _COUNTERS},
        "first_row": packed_from,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {MANIFEST: json.dumps(manifest, indent=1).encode(), **members}.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)  # without the time: equal runs, bytes
    data = file.getvalue()
    if len(data) > limit:
        raise BundleError(f"{run.path}: its bundle has {len(data)} bytes, more than {limit}; allow more with --max-mb")
    clean_file(output)
    try:
        write_atomic(output, data)
    except OSError as error:
        raise BundleError(f"{output}: cannot be written: {error.strerror}") from error
    games = sum(len(unpack_chunk(chunk, _first(name), name)["number"]) for name, chunk in chunks.items())
    return Packed(
        path=output,
        size=len(data),
        iteration=manifest["iteration"],
        steps=manifest["steps"],
        games=games,
        all_games=manifest["games"],
        rows=last - packed_from,
        all_rows=last - first,
    )


def unpack_run(bundle: str | Path, path: str | Path) -> RunFolder:
    """Make a run's folder that goes on where the bundle was packed; it is a run of its own, with its own id.

    Raises:
        BundleError: it is no bundle, torn, of another format or of other rules (both are named); nothing is made. Or
            the folder cannot be written; what was made is removed.
        RunError: the folder holds something already, or cannot be made.
    """
    manifest, members = _read(Path(bundle))
    config = _read_config(members[CONFIG], f"{bundle}: {CONFIG}")
    try:
        game = load_game(config.game.name, **config.game.parameters)
    except ValueError as error:
        raise BundleError(f"{bundle}: {error}") from error
    if game.rules_id != manifest["rules_id"]:
        raise BundleError(
            f"{bundle}: the run was made under the rules {manifest['rules_id']}, but the game here has {game.rules_id}"
        )
    state = _check_games(str(bundle), members, game)
    state_number = 1
    new = not os.path.lexists(path)
    run = RunFolder.create(
        path,
        config,
        game.rules_id,
        packed={key: manifest[key] for key in ("run_id", "libraries", "iteration", "games", "first_row")},
    )
    # The text records stay behind: none of the games is recorded here.
    members[STATE] = pack_training_state({**state, **owner_of(run), "recorded": 0})
    try:
        for name, data in members.items():
            if _CHUNK.fullmatch(name):
                write_atomic(run.state / name, data)
        write_atomic(run.state / STATE_NAME.format(state_number), members[STATE])  # last: without it there is no run
    except OSError as error:
        run.discard(new)
        raise BundleError(
            f"{bundle}: cannot be unpacked into {path}: {error.strerror}; what was made there is removed: "
            "make room, or name a folder elsewhere, and unpack it again"
        ) from error
    return run


def is_bundle(path: str | Path) -> bool:
    """Whether a path is a file, as bundles are; runs are folders."""
    return Path(path).is_file()


def _recent_games(folder: Path, first_row: int, last_row: int, room: int) -> tuple[dict[str, bytes], int]:
    """Chunks by name, no more than `room` bytes, and the first row that is in them."""
    members: dict[str, bytes] = {}
    packed_from = last_row
    for first, path in reversed(chunk_files(folder)):
        if first >= last_row:
            continue
        if packed_from <= first_row:
            break
        try:
            data = path.read_bytes()
            arrays = unpack_chunk(data, first, str(path))
        except (OSError, ReplayError) as error:
            if packed_from == last_row:
                raise BundleError(f"{path}: cannot be packed: {error}") from error
            break  # the games after it are enough to go on with
        if first + int(arrays["rows"].sum()) != packed_from:
            break
        needed = _size({path.name: data}, path.name)
        if needed <= room:
            members[path.name] = data
            packed_from = first
            room -= needed
            continue
        few, many = 0, len(arrays["number"])  # so many of its last games fit, so many do not
        best: tuple[str, bytes, int] | None = None
        while many - few > 1:
            count = (few + many) // 2
            part = take_last(arrays, count)
            begin = packed_from - int(part["rows"].sum())
            name = CHUNK_NAME.format(begin)
            data = pack_chunk(begin, part)
            if _size({name: data}, name) <= room:
                few, best = count, (name, data, begin)
            else:
                many = count
        if best is not None and best[2] < packed_from:
            members[best[0]] = best[1]
            packed_from = best[2]
        break
    return members, max(first_row, packed_from)


def _size(members: Mapping[str, bytes], name: str) -> int:
    """Bytes that a member takes in a bundle, at most."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, members[name])
    return len(file.getvalue()) + _MANIFEST_ROOM


def _read(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest and the other members, every digest compared."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED:
                raise ValueError(f"it unpacks to more than {MAX_UNPACKED} bytes")
            contents = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(contents.pop(MANIFEST))
        if manifest.get("format") != FORMAT:
            raise BundleError(f"{path}: its format is {manifest.get('format')!r}, this version reads {FORMAT!r}")
        digests = dict(manifest["sha256"])
        for key in ("rules_id", "run_id", "libraries", "steps", *_COUNTERS):
            manifest[key]
    except OSError as error:
        raise BundleError(f"{path}: cannot be read: {error.strerror}") from error
    except BundleError:
        raise
    except Exception as error:  # zipfile and its decoders raise several kinds on torn archives
        raise BundleError(f"{path}: not a whole bundle: {type(error).__name__}: {error}") from error
    expected = {CONFIG, STATE, *(name for name in digests if _CHUNK.fullmatch(name))}
    for name in sorted(expected | set(digests) | set(contents)):
        if name not in expected or name not in contents or name not in digests:
            raise BundleError(f"{path}: not a whole bundle: {name} does not belong there or is missing")
        if hashlib.sha256(contents[name]).hexdigest() != digests[name]:
            raise BundleError(f"{path}: not a whole bundle: the digest of {name} differs")
    return manifest, contents


def _read_config(data: bytes, source: str) -> Config:
    try:
        return parse_config(yaml.safe_load(data), source=source)
    except (ConfigError, yaml.YAMLError) as error:
        raise BundleError(f"{source}: {error}") from error


def _check_games(source: str, members: Mapping[str, bytes], game: Game) -> dict[str, Any]:
    """The training state. Raises BundleError unless it and the games are whole, and the games are games of `game`."""
    try:
        state = unpack_training_state(members[STATE], f"{source}: {STATE}")
        for name, data in members.items():
            if _CHUNK.fullmatch(name):
                decode_chunk(data, _first(name), game, f"{source}: {name}")
    except (CheckpointError, ReplayError) as error:
        raise BundleError(str(error)) from error
    return state


def _first(name: str) -> int:
    match = _CHUNK.fullmatch(name)
    assert match is not None
    return int(match.group(1))


__all__ = ["FORMAT", "LIMIT", "BundleError", "Packed", "RunError", "is_bundle", "pack_run", "unpack_run"]
