"""A run's folder, and files that are there whole or not at all.

config.yaml     the resolved configuration          versions.json   what wrote the run, its rules id and run id
events/         TensorBoard                         checkpoints/    networks, a folder each
games/          finished games as text records      state/          training state and replay chunks
evaluator.json  how the network is evaluated here   evaluation.json the evaluation at the end
"""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import platform
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from filelock import FileLock, Timeout

from stonezero.config import Config, ConfigError, dump_config, flatten_config, load_config

TEMPORARY_PREFIX = ".tmp-"
"""Names of half-written files and folders start so; `clean_folder` removes what a killed trainer left of them."""

REPLACED_PREFIX = ".old-"
"""A folder that is being replaced bears such a name for a moment; `clean_folder` puts it back if it was needed."""

LEFT_SECONDS = 3_600.0  # a half-written file of this age is nobody's any more

_LOCK = ".lock"
_FOLDERS = ("events", "checkpoints", "games", "state")
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NOT_WRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.ENOENT, errno.ENOTDIR, errno.EISDIR}
_CANNOT_SYNC_FOLDERS = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF}

_DISTRIBUTIONS = ("stonezoo", "numpy", "numba", "torch", "jsonargparse", "safetensors", "tensorboard")


class RunError(RuntimeError):
    """A run's folder that cannot be used; the message says what to do."""


def write_atomic(path: str | Path, data: bytes | str) -> None:
    """Write a file so that whatever happens either the old one or the whole new one is there.

    Text is written as UTF-8. Raises OSError (disk full, no permission) with the old file untouched.
    """
    path = Path(path)
    temporary = _temporary(path)
    try:
        with temporary.open("wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_folder_atomic(path: str | Path, fill: Callable[[Path], object]) -> None:
    """Make a folder by `fill(folder)` so that it appears under its name only when all its files are on the disk.

    A folder of that name is replaced. Raises what `fill` raises, with nothing left behind.
    """
    path = Path(path)
    temporary = _temporary(path)
    temporary.mkdir()
    try:
        fill(temporary)
        for file in temporary.iterdir():
            _sync(file)
        sync_folder(temporary)
        if path.exists():
            old = _temporary(path, REPLACED_PREFIX)
            path.rename(old)
            try:
                temporary.rename(path)
            except BaseException:
                old.rename(path)
                raise
            shutil.rmtree(old)
        else:
            temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's list of names to the disk, where the system can (Windows and some network disks cannot)."""
    try:
        _sync(folder)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC_FOLDERS:
            raise


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def clean_folder(folder: Path) -> None:
    """Remove what a killed process left half-written in a folder, and bring back what it was about to replace."""
    for item in folder.glob(f"{REPLACED_PREFIX}*"):
        original = folder / item.name.removeprefix(REPLACED_PREFIX).rpartition("-")[0]
        if original.exists():
            shutil.rmtree(item, ignore_errors=True)
        else:
            item.rename(original)
    for item in folder.glob(f"{TEMPORARY_PREFIX}*"):
        if item.is_dir():
            shutil.rmtree(item, ignore_errors=True)
        else:
            item.unlink(missing_ok=True)


def clean_file(path: Path) -> None:
    """Remove what killed processes left of a file half-written; one that may still be at work is left alone."""
    for item in path.parent.glob(f"{TEMPORARY_PREFIX}{glob.escape(path.name)}-*"):
        with suppress(OSError):
            if time.time() - item.stat().st_mtime > LEFT_SECONDS:
                item.unlink()


def _temporary(path: Path, prefix: str = TEMPORARY_PREFIX) -> Path:
    return path.parent / f"{prefix}{path.name}-{secrets.token_hex(8)}"


def library_versions() -> dict[str, str]:
    """Versions of Python, the machine and the libraries that shape a run; what is not installed is left out."""
    versions = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for name in _DISTRIBUTIONS:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


class RunFolder:
    """One run on the disk. Made by `create`, found again by `open`; `lock` is held by the one trainer that writes."""

    kind: ClassVar[str] = "train"
    """The command that makes such runs; a subclass with another configuration names its own."""

    # Fixed.
    path: Path
    config: Config
    run_id: str
    """Eight hexadecimal digits, drawn when the run was made."""
    # Changed.
    versions: dict[str, Any]
    start_number: int
    """How many times the run was started: 0 before the first `lock`, one more in each."""

    def __init__(self, path: Path, config: Config, versions: dict[str, Any]) -> None:
        self.path = path
        self.config = config
        self.versions = versions
        self.run_id = str(versions["run_id"])
        self.start_number = int(versions["starts"])

    @classmethod
    def create(cls, path: str | Path, config: Config, rules_id: str, **extra: Any) -> RunFolder:
        """Make a new run's folder; `extra` goes into versions.json. What a killed `create` left is made whole.

        Raises RunError, with nothing left behind, when the folder holds something already or cannot be made.
        """
        path = Path(path)
        new = not os.path.lexists(path)
        text = dump_config(config)
        versions: dict[str, Any] = {
            "kind": cls.kind,
            "rules_id": rules_id,
            "run_id": secrets.token_hex(4),
            "starts": 0,
            "config_sha256": _digest(text),
            "config": flatten_config(config),  # to say what was changed, should somebody change it
            "libraries": library_versions(),
            **extra,
        }
        try:
            path.mkdir(parents=True, exist_ok=True)
            with _lock(path):  # two that are started at once must not make one run of both
                if not _can_be_made(path):
                    remedy = f"`stonezero resume {path}` goes on with a run, or name another"
                    raise RunError(f"{path}: the folder is not empty; {remedy}")
                for name in _FOLDERS:
                    (path / name).mkdir(exist_ok=True)
                write_atomic(path / "config.yaml", text)
                write_atomic(path / "versions.json", _to_json(versions))  # last: a folder without it is no run yet
        except OSError as error:
            if new or _can_be_made(path):
                _remove_made(path, new)
            raise RunError(f"{path}: cannot be written: {error}") from error
        return cls(path, config, versions)

    def discard(self, new: bool) -> None:
        """Remove a run that was only just made, with what was put into its folders; if it is `new`, its own too."""
        _remove_made(self.path, new)

    @classmethod
    def open(cls, path: str | Path, rules_id: str | None = None) -> RunFolder:
        """The run in a folder. `rules_id`, where given, is that of the game as it is installed now.

        Raises RunError when there is no run, its configuration was changed (what differs is said), or it was made
        under other rules (both ids are named).
        """
        path = Path(path)
        versions = read_versions(path)
        if (kind := versions.get("kind", RunFolder.kind)) != cls.kind:
            raise RunError(f"{path}: the run was made by `stonezero {kind}`, not by `stonezero {cls.kind}`")
        if rules_id is not None and rules_id != versions["rules_id"]:
            raise RunError(
                f"{path}: the run was made under the rules {versions['rules_id']}, but the game here has {rules_id}"
            )
        return cls(path, cls._read_own_config(path / "config.yaml", versions), versions)

    @classmethod
    def _read_own_config(cls, path: Path, versions: Mapping[str, Any]) -> Config:
        """The configuration that the run was made with; RunError, which says what differs, when it is another one."""
        remedy = "put it back, or begin a new run with it"
        try:
            same = _digest(path.read_bytes()) == versions["config_sha256"]
        except OSError as error:
            raise RunError(f"{path}: cannot be read: {error.strerror}; {remedy}") from error
        try:
            config = cls.read_config(path)
        except ConfigError as error:
            raise RunError(
                f"{error}" if same else f"{path}: changed since the run was made: {error}; {remedy}"
            ) from error
        if not same:
            before, now = versions.get("config"), flatten_config(config)
            if not isinstance(before, dict):
                raise RunError(f"{path}: changed since the run was made; {remedy}")
            differing = [key for key in {**before, **now} if before.get(key) != now.get(key)]
            if differing:  # else only spaces or comments do
                changes = ", ".join(f"{key} was {before.get(key)}, is {now.get(key)}" for key in differing)
                raise RunError(f"{path}: changed since the run was made: {changes}; {remedy}")
        return config

    @classmethod
    def read_config(cls, path: Path) -> Config:
        """Reads a configuration as this kind of run has; ConfigError when it is none."""
        return load_config(path)

    @property
    def rules_id(self) -> str:
        """The id of the rules that the run was made under."""
        return str(self.versions["rules_id"])

    @property
    def events(self) -> Path:
        """TensorBoard's folder."""
        return self.path / "events"

    @property
    def checkpoints(self) -> Path:
        """Checkpoints, a folder each."""
        return self.path / "checkpoints"

    @property
    def games(self) -> Path:
        """Finished games as text records."""
        return self.path / "games"

    @property
    def state(self) -> Path:
        """Training state and replay chunks."""
        return self.path / "state"

    @contextmanager
    def lock(self) -> Iterator[RunFolder]:
        """Hold the run as its only trainer; counts one more start and removes half-written files.

        The lock ends with the process, however it ends. Raises RunError when another trainer holds it.
        """
        try:
            lock = _lock(self.path)
        except OSError as error:
            raise RunError(f"{self.path}: cannot be locked: {error}") from error
        with lock:
            with self.writing():
                for folder in (self.path, self.events, self.checkpoints, self.games, self.state):
                    if not folder.is_dir():  # somebody has deleted old games, say
                        folder.mkdir()
                    clean_folder(folder)
            self._count_start()
            yield self

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Says of a disk that is full, or a folder that cannot be written, what it means for the run: as a RunError."""
        try:
            yield
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            if error.errno in _NO_ROOM:
                remedy = "make room"
            elif error.errno in _NOT_WRITABLE:
                remedy = "make it writable"
            else:
                raise
            raise RunError(
                f"{self.path}: cannot be written: {error.strerror}{where}; {remedy}, then `stonezero resume "
                f"{self.path}` goes on from the last save, which is whole"
            ) from error

    def game_id(self, worker: int, number: int) -> str:
        """The name of game `number` of self-play worker `worker`: unique in the run and over all its starts."""
        return f"{self.run_id}-{self.start_number:03d}-{worker:02d}-{number:07d}"

    def _count_start(self) -> None:
        current = read_versions(self.path)
        self.start_number = int(current["starts"]) + 1
        self.versions = {**current, "starts": self.start_number, "libraries": library_versions()}
        with self.writing():
            write_atomic(self.path / "versions.json", _to_json(self.versions))


def read_versions(path: Path) -> dict[str, Any]:
    """What versions.json of a run's folder says. RunError, which names the file, when there is no run or it is torn."""
    file = path / "versions.json"
    try:
        versions = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(versions, dict):
            raise ValueError(f"it holds a {type(versions).__name__}")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise RunError(f"{file}: no run to go on with: {reason}") from error
    missing = [key for key in ("rules_id", "run_id", "starts", "config_sha256") if key not in versions]
    if missing:
        raise RunError(f"{file}: no run to go on with: it lacks {', '.join(missing)}")
    return versions


def run_kind(path: str | Path) -> str:
    """The command that made the run in a folder, such as `train`; where there is no run, `train` too."""
    try:
        return str(read_versions(Path(path)).get("kind", RunFolder.kind))
    except RunError:
        return RunFolder.kind


def _lock(path: Path) -> AbstractContextManager[object]:
    """The lock of a run's folder, held already, to be released. RunError when another process holds it; OSError."""
    try:
        return FileLock(path / _LOCK).acquire(timeout=0)
    except Timeout as error:
        raise RunError(f"{path}: another trainer is at work in this folder") from error


def _can_be_made(path: Path) -> bool:
    """Whether there is nothing in a folder but what a `create` that was killed has left: no versions.json yet."""
    try:
        found = {item.name: item for item in path.iterdir() if not item.name.startswith(".")}
        folders = [item for name, item in found.items() if name in _FOLDERS and item.is_dir()]
        empty = not any(any(item.iterdir()) for item in folders)
    except OSError:
        return False
    others = set(found) - {item.name for item in folders}
    # The configuration comes after the folders; one without them is a file of the user's.
    return empty and (not others or (others == {"config.yaml"} and len(folders) == len(_FOLDERS)))


def _remove_made(path: Path, new: bool) -> None:
    """Remove what `create` makes, and the folder itself if it is `new`."""
    for name in _FOLDERS:
        shutil.rmtree(path / name, ignore_errors=True)
    for name in ("config.yaml", "versions.json", _LOCK):
        with suppress(OSError):
            (path / name).unlink(missing_ok=True)
    if new:
        with suppress(OSError):
            path.rmdir()  # when nothing else is in it


def _digest(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def _to_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"
