"""How much disk a solver may take."""

from __future__ import annotations

import shutil
from pathlib import Path

from stonezoo.solve.memory import show_memory
from stonezoo.solve.table_file import TableError

MARGIN = 1.1  # bytes that must be free for each that is written: others write too, and files take whole blocks


class DiskLimitError(TableError):
    """A folder has no room for what is to be written, or may not take it; the message says how much, where, and the
    remedy.
    """


def check_room(folder: Path, needed: int, limit: int | None = None) -> None:
    """Makes the folder if there is none, and sees whether `needed` bytes more may be written there.

    Raises:
        DiskLimitError: the folder would hold more than `limit` bytes (None: it may hold any number), or its disk has
            less than that free, with a margin of a tenth.
        TableError: the folder cannot be made or read.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = sum(path.stat().st_size for path in folder.iterdir())
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise TableError(f"cannot write to {folder}: {error.strerror or error}") from None
    more = f"{show_memory(needed)} more are needed in {folder}"
    if limit is not None and held + needed > limit:
        raise DiskLimitError(
            f"{more}, which holds {show_memory(held)}, and the limit is {show_memory(limit)}; allow more disk, and "
            "the same command goes on"
        )
    if MARGIN * needed > free:
        raise DiskLimitError(
            f"{more}, and {show_memory(free)} are free there; make room, or move that folder to another disk and keep "
            "the table beside it (--output), and the same command goes on"
        )
