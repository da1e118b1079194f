"""Where perfect play of a game is known from: the one rule that players and measurements share.

1. The table that was saved (`stonezoo solve GAME --save`).
2. A table made at once, where it needs no more memory, and so time, than the caller has to spare.
3. A search, which begins with what a saved one knows (`stonezoo solve GAME --method search --save`). Where play cannot
   cycle it answers any position, in the end; where it can, it answers late ones.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from stonezoo.core.game import endless_counter
from stonezoo.solve.memory import MemoryLimitError
from stonezoo.solve.search import Search
from stonezoo.solve.table import Table
from stonezoo.state import Game

IN_PASSING = 96 << 20  # bytes of a table that is made in a few seconds, or found too large in as many
TABLES_KEPT = 4  # of those that were made at once
_CHECKED: set[tuple[str, int, int]] = set()  # files of tables: path, time of the last change, bytes


def known_table(game: Game, made_with: int = IN_PASSING) -> Table | None:
    """Returns the saved table of a game, else a new one if `made_with` bytes are enough for it, else None.

    Raises:
        TableError: the saved one cannot be used.
    """
    return checked_table(game) if Table.usual_path(game).exists() else _made(game, made_with)


def checked_table(game: Game, path: Path | None = None) -> Table:
    """Returns a saved table (default: the game's usual one) whose contents have the digest of its header.

    A file is read through for that once a process, and again when it has changed: one or two seconds a gigabyte,
    where it lies in memory already. `Table.load` alone reads what it is asked for.

    Raises:
        TableError: there is none, it is damaged, or it belongs to something else.
    """
    path = Table.usual_path(game) if path is None else path
    if not path.exists():
        return Table.load(game)  # which says so
    about = path.stat()
    file = (str(path.absolute()), about.st_mtime_ns, about.st_size)
    table = Table.load(game, path, verify=file not in _CHECKED)
    _CHECKED.add(file)
    return table


@lru_cache(TABLES_KEPT)
def _made(game: Game, memory: int) -> Table | None:
    try:
        return Table.build(game, memory=memory)
    except MemoryLimitError:
        return None


def saved_search(game: Game) -> Search | None:
    """Returns the search of a game that was saved at its usual path, if one was.

    Raises:
        TableError: it cannot be used.
    """
    path = Search.usual_path(game)
    if not path.exists():
        return None
    search = Search(game, 1)  # it takes the file's size
    search.load(path)
    return search


def can_be_searched(game: Game) -> bool:
    """Whether play cannot cycle, so that a search answers any position in the end."""
    return endless_counter(game.rules) is None
