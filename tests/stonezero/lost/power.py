"""A disk whose power is cut, or that is full, at the k-th change."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest


class Cut(BaseException):
    """The process dies here."""


class Power:
    """Counts the changes that are made under a folder, and stops at one of them.

    A change is the opening of a file for writing, a write, a flush to the disk, a rename, a removal or a new folder.
    When `at` is reached a write is left half done and nothing else happens; after a cut nothing happens any more,
    clean-up included. With `full` the disk has no room from then on: what makes room still works.
    """

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path, at: int | None = None, full: bool = False) -> None:
        self.folder, self.at, self.full = str(folder), at, full
        self.changes = 0
        for name in ("replace", "rename", "mkdir", "unlink", "remove", "rmdir"):
            patch.setattr(os, name, self._guard(getattr(os, name), name in ("unlink", "remove", "rmdir")))
        sync = os.fsync
        patch.setattr(os, "fsync", lambda handle: self._change() or sync(handle))
        opened = Path.open

        def open_path(path: Path, mode: str = "r", *arguments: Any, **options: Any) -> Any:
            if "w" not in mode or not self._inside(path):
                return opened(path, mode, *arguments, **options)
            self._change()
            return _File(opened(path, mode, *arguments, **options), self)

        patch.setattr(Path, "open", open_path)

    def _inside(self, path: Any) -> bool:
        return str(path).startswith(self.folder) and "events" not in str(path)

    def _change(self, frees: bool = False) -> None:
        number = self.changes
        self.changes += 1
        if self.at is None or number < self.at or (self.full and frees):
            return
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        raise Cut

    def _guard(self, function: Any, frees: bool) -> Any:
        def guarded(path: Any, *arguments: Any, **options: Any) -> Any:
            if self._inside(path):
                self._change(frees)
            return function(path, *arguments, **options)

        return guarded


class _File:
    def __init__(self, file: Any, power: Power) -> None:
        self._file, self._power = file, power

    def __enter__(self) -> "_File":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: Any) -> int:
        try:
            self._power._change()
        except BaseException:
            self._file.write(data[: len(data) // 2])
            raise
        return int(self._file.write(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
