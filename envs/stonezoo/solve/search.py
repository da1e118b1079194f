"""Exact values of positions of games that are too large for a table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, TO_PLAY, StateRow, endless_counter
from stonezoo.kernels.batch import step_batch
from stonezoo.solve import search_kernel as deep
from stonezoo.solve.keys import make_keys
from stonezoo.solve.lookup import ILLEGAL
from stonezoo.solve.memory import MemoryLimitError, default_memory
from stonezoo.solve.table import Table
from stonezoo.solve.table_file import TableError, about_game, digest_of, load_arrays, read_header, save_arrays
from stonezoo.state import Game

KIND = "search"  # of its files
SUFFIX = ".search"  # of its usual path
DEFAULT_MEMORY = 1 << 30
BUDGET = 500_000  # nodes between two looks at the clock
FIRST_DEPTH = 256
# Where play can cycle: after so many nodes for a question a local table of so many bytes is tried.
LOCAL_TABLES = ((300_000, 1 << 25), (5_000_000, 1 << 28), (50_000_000, 1 << 30))

Progress = Callable[["Search"], None]


class SearchLimitError(RuntimeError):
    """More nodes than allowed would have to be searched."""


class Search:
    """Exact depth-first search of one game with a transposition table of fixed size, which is kept between positions.

    Attributes:
        game: whose positions.
        progress: called with the search every half a million nodes or so.
    """

    def __init__(
        self,
        game: Game,
        memory_bytes: int | None = None,
        *,
        symmetric: bool = True,
        local_tables: bool = True,
        progress: Progress | None = None,
    ) -> None:
        """`memory_bytes` for the table: 1 GB by default, or half of what is available if that is less. `symmetric`:
        symmetric positions share an entry. `local_tables`: where play can cycle and a question takes long, a table of
        all that can follow is tried, which is in vain where that is far more than fits.
        """
        rules = game.rules
        memory = min(DEFAULT_MEMORY, default_memory()) if memory_bytes is None else memory_bytes
        entries = max(1, memory // (16 * deep.BUCKET)) * deep.BUCKET
        self.game = game
        self.progress = progress
        self._symmetric = symmetric
        self._keys = make_keys(game, symmetric=symmetric, with_counter=True)
        actions = rules.num_actions
        self._deep = deep.Search(
            np.zeros((FIRST_DEPTH, rules.state_size), np.int32),
            np.zeros((FIRST_DEPTH, actions), np.int32),
            np.zeros((FIRST_DEPTH, 2 * actions), np.int64),
            np.zeros((FIRST_DEPTH, deep.FIELDS), np.int64),
            np.zeros(actions, np.int64),
            np.zeros(actions, np.int32),
            np.zeros(2 * (1 + max(map(int, game.phases))) * actions, np.int64),
            np.zeros(2 * entries, np.int64),
            np.zeros(deep.CONTROL_SIZE, np.int64),
        )
        self._tries_tables = local_tables and endless_counter(rules) is not None
        self._local: Table | None = None

    @property
    def nodes(self) -> int:
        """Positions made so far, each as often as it was made."""
        return int(self._deep.control[deep.NODES])

    @property
    def table_load(self) -> float:
        """The share of the table that is in use, 0 to 1."""
        return int(self._deep.control[deep.STORED]) / (len(self._deep.table) // 2)

    @property
    def memory(self) -> int:
        """Bytes in use."""
        return sum(array.nbytes for array in self._deep)

    def value(self, state: StateRow, max_nodes: int | None = None) -> int:
        """Returns the value of a state, a row int32 [S], for the player to act: 1 won, 0 drawn, -1 lost.

        Raises:
            SearchLimitError: more than `max_nodes` nodes would be made; what was found is kept for the next time.
            KeyboardInterrupt: (only between two looks at the clock) likewise.
        """
        row = np.array(state, np.int32)
        if row.shape != (self.game.rules.state_size,):
            raise ValueError(f"a state of {self.game!r} has the shape [{self.game.rules.state_size}], not {row.shape}")
        outcome = int(row[OUTCOME])
        if outcome != ONGOING:
            return 0 if outcome == DRAWN else 1 if outcome == BLACK_WON + row[TO_PLAY] else -1
        last = None if max_nodes is None else self.nodes + max_nodes
        lower, upper = -1, 1
        for asked in (1, 0):
            if lower >= asked or upper < asked:
                continue
            found = self._answer(row, asked, last)
            if isinstance(found, Table):
                return int(found.values(row[np.newaxis])[0])
            if found >= asked:
                lower = found
            else:
                upper = found
        return upper

    def action_values(self, state: StateRow, max_nodes: int | None = None) -> NDArray[np.int8]:
        """Returns the value of every action of a state for the player to act: int8 [A], ILLEGAL (-2) where illegal.

        Raises:
            SearchLimitError: more than `max_nodes` nodes would be made for one of them.
        """
        values = np.full(self.game.num_actions, ILLEGAL, np.int8)
        here = self.game.from_row(state)
        for action in here.legal_actions.tolist():
            after = here.row[np.newaxis]
            step_batch(self.game.rules, after, np.array([action], np.int32))
            value = self.value(after[0], max_nodes)
            values[action] = value if after[0, TO_PLAY] == here.to_play else -value
        return values

    def _answer(self, row: StateRow, asked: int, last: int | None) -> int | Table:
        """Returns a bound that says whether `row` is worth `asked`, or a table that knows it."""
        rules, began = self.game.rules, self.nodes
        attempts = list(LOCAL_TABLES) if self._tries_tables else []
        if self._local is not None and self._local.contains(row[np.newaxis])[0]:
            return self._local
        question = asked
        while True:
            budget = BUDGET if last is None else min(BUDGET, last - self.nodes)
            if attempts:
                budget = min(budget, began + attempts[0][0] - self.nodes)
            why = deep.run_search(rules, self._deep, self._keys, row, question, max(1, budget))
            question = deep.ON
            if self.progress is not None:
                self.progress(self)
            if why == deep.SOLVED:
                return int(self._deep.control[deep.RESULT])
            if why == deep.FULL_STACK:
                self._deepen()
            if last is not None and self.nodes >= last:
                raise SearchLimitError(f"not solved after {self.nodes:,} nodes: {self.game.from_row(row).to_text()}")
            if attempts and self.nodes >= began + attempts[0][0]:
                if (table := self._try_local(row, attempts.pop(0)[1])) is not None:
                    return table

    def _try_local(self, row: StateRow, memory: int) -> Table | None:
        """Returns a table of all that can be reached from `row`, if it fits into `memory` bytes."""
        try:
            memory = min(memory, default_memory())
            self._local = Table.build(self.game, memory=memory, roots=row[np.newaxis])
        except MemoryLimitError:
            return None
        return self._local

    def _deepen(self) -> None:
        """Makes room for a deeper path."""
        deeper: dict[str, Any] = {}
        for name in ("rows", "actions", "child_keys", "frames"):
            array = getattr(self._deep, name)
            deeper[name] = np.concatenate([array, np.zeros_like(array)])
        self._deep = self._deep._replace(**deeper)

    # --- Files ----------------------------------------------------------------------------------------------------

    @staticmethod
    def usual_path(game: Game) -> Path:
        """Where the saved search of a game is looked for: beside its table."""
        return Table.usual_path(game).with_suffix(SUFFIX)

    def save(self, path: Path | str) -> None:
        """Writes the transposition table, whole or not at all: a search that loads it goes on where this one is.

        Raises:
            TableError: the file cannot be written.
        """
        about = {"symmetric": self._symmetric, "nodes": self.nodes}
        save_arrays(Path(path), {"kind": KIND, **about_game(self.game), "about": about}, self._arrays())

    def load(self, path: Path | str) -> None:
        """Takes over the transposition table of a file, its size included.

        Raises:
            TableError: it cannot be read, is damaged, or belongs to another game or another way of naming positions.
        """
        path = Path(path)
        header = read_header(path)
        if header.get("kind") != KIND:
            raise TableError(f"{path} is no search under way")
        same = header["rules_id"] == self.game.rules_id and header["parameters"] == dict(self.game.parameters)
        if not same or header["about"].get("symmetric") != self._symmetric:
            raise TableError(
                f"{path} is of {header['rules_id']} with {header['parameters']}, {header['about']}: not of "
                f"{self.game.rules_id} with {dict(self.game.parameters)}, symmetric={self._symmetric}"
            )
        arrays = load_arrays(path, header)
        if digest_of(arrays) != header["digest"]:
            raise TableError(f"{path} is damaged: its contents do not have the digest of its header")
        self._deep = self._deep._replace(**arrays)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {name: getattr(self._deep, name) for name in ("table", "history", "control")}
