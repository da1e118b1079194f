"""A run's folder, and files that are there whole or not at all.

config.yaml     the resolved configuration          versions.json   what wrote the run, its rules id and run id
events/         TensorBoard                         checkpoints/    networks, a folder each
games/          finished games as text records      state/          training state and replay chunks
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from filelock import FileLock, Timeout

from stonezero.config import Config, dump_config, load_config

TEMPORARY_PREFIX = ".tmp-"
"""Names of half-written files and folders start so; `clean_folder` removes what a killed trainer left of them."""

REPLACED_PREFIX = ".old-"
"""A folder that is being replaced bears such a name for a moment; `clean_folder` puts it back if it was needed."""

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
            temporary.rename(path)
            shutil.rmtree(old)
        else:
            temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush a folder's list of names to the disk, where the system can (Windows cannot)."""
    with suppress(OSError):
        _sync(folder)


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
        """Make a new run's folder; `extra` goes into versions.json.

        Raises RunError when the folder holds something already or cannot be made.
        """
        path = Path(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(not item.name.startswith(".") for item in path.iterdir()):
                raise RunError(
                    f"{path}: the folder is not empty; `stonezero resume {path}` goes on with a run, or name another"
                )
            for name in ("events", "checkpoints", "games", "state"):
                (path / name).mkdir(exist_ok=True)
            text = dump_config(config)
            versions: dict[str, Any] = {
                "kind": cls.kind,
                "rules_id": rules_id,
                "run_id": secrets.token_hex(4),
                "starts": 0,
                "config_sha256": _digest(text),
                "libraries": library_versions(),
                **extra,
            }
            write_atomic(path / "config.yaml", text)
            write_atomic(path / "versions.json", _to_json(versions))  # last: a folder without it is no run yet
        except OSError as error:
            raise RunError(f"{path}: cannot be written: {error}") from error
        return cls(path, config, versions)

    @classmethod
    def open(cls, path: str | Path, rules_id: str | None = None) -> RunFolder:
        """The run in a folder. `rules_id`, where given, is that of the game as it is installed now.

        Raises RunError when there is no run, its configuration was changed, or it was made under other rules
        (both ids named).
        """
        path = Path(path)
        try:
            versions = json.loads((path / "versions.json").read_text(encoding="utf-8"))
            text = (path / "config.yaml").read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise RunError(f"{path}: no run to go on with: {error}") from error
        missing = [key for key in ("rules_id", "run_id", "starts", "config_sha256") if key not in versions]
        if missing:
            raise RunError(f"{path / 'versions.json'}: no run to go on with: it lacks {', '.join(missing)}")
        if _digest(text) != versions["config_sha256"]:
            raise RunError(
                f"{path / 'config.yaml'}: changed since the run was made; put it back, or begin a new run with it"
            )
        if (kind := versions.get("kind", RunFolder.kind)) != cls.kind:
            raise RunError(f"{path}: the run was made by `stonezero {kind}`, not by `stonezero {cls.kind}`")
        if rules_id is not None and rules_id != versions["rules_id"]:
            raise RunError(
                f"{path}: the run was made under the rules {versions['rules_id']}, but the game here has {rules_id}"
            )
        return cls(path, cls.read_config(path / "config.yaml"), versions)

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
        lock = FileLock(self.path / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise RunError(f"{self.path}: another trainer is at work in this folder") from error
        except OSError as error:
            raise RunError(f"{self.path}: cannot be locked: {error}") from error
        try:
            for folder in (self.path, self.events, self.checkpoints, self.games, self.state):
                clean_folder(folder)
            self._count_start()
            yield self
        finally:
            lock.release()

    def game_id(self, worker: int, number: int) -> str:
        """The name of game `number` of self-play worker `worker`: unique in the run and over all its starts."""
        return f"{self.run_id}-{self.start_number:03d}-{worker:02d}-{number:07d}"

    def _count_start(self) -> None:
        current = json.loads((self.path / "versions.json").read_text(encoding="utf-8"))
        self.start_number = int(current["starts"]) + 1
        self.versions = {**current, "starts": self.start_number, "libraries": library_versions()}
        try:
            write_atomic(self.path / "versions.json", _to_json(self.versions))
        except OSError as error:
            raise RunError(f"{self.path}: cannot be written: {error}") from error


def run_kind(path: str | Path) -> str:
    """The command that made the run in a folder, such as `train`; where there is no run, `train` too."""
    try:
        versions = json.loads((Path(path) / "versions.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return RunFolder.kind
    return str(versions.get("kind", RunFolder.kind)) if isinstance(versions, dict) else RunFolder.kind


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _to_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"
