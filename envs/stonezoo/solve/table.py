"""A solved game: the value of every position that can be reached, with the actions to the end under best play."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import ONGOING, OUTCOME, endless_counter
from stonezoo.solve.code import CODE
from stonezoo.solve.graph import Builder
from stonezoo.solve.keys import NO_ENTRY, make_keys
from stonezoo.solve.lookup import (
    ILLEGAL,
    MISSING,
    NO_DISTANCE,
    Stored,
    action_values_kernel,
    new_stored,
    store,
    values_kernel,
)
from stonezoo.solve.memory import MemoryLimitError, default_memory, show_memory
from stonezoo.solve.retrograde import solve_endless, solve_limited, turn_edges
from stonezoo.solve.table_file import (
    TableError,
    about_game,
    digest_of,
    load_arrays,
    read_header,
    save_arrays,
    table_folder,
    table_name,
)
from stonezoo.solve.walk import FIRST_NODE, NUM_EDGES, NUM_NODES, Graph
from stonezoo.state import Game

KIND = "table"  # of its files
OUTSIDE_MEMORY = 1 << 30  # for the local table of positions that no game reaches

Progress = Callable[[str, int, int, int], None]  # what is done, positions, edges, bytes


class Table:
    """The solution of one game: values, distances and the values of actions, for any position.

    Symmetric positions are stored once, and so are positions that differ in the count of endless play alone; what is
    answered is exact for the count that stands in the row. A position that no game reaches is solved when it is asked
    for. Made by `Table.build` or `Table.load`.

    Attributes:
        game: whose positions.
        about: what is known of the table: `positions`, `edges`, `seconds`, `bytes` (most memory while it was made).
    """

    def __init__(self, game: Game, stored: Stored, about: dict[str, Any]) -> None:
        self.game = game
        self.about = about
        self.stored = stored
        with_counter = bool(about["with_counter"])
        self._keys = make_keys(game, with_counter=with_counter)
        endless = None if with_counter else endless_counter(game.rules)
        self._counter, self._limit = endless or (NO_ENTRY, 0)
        self._outside: Table | None = None

    # --- Making ---------------------------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        game: Game,
        *,
        memory: int | None = None,
        roots: NDArray[np.int32] | None = None,
        with_counter: bool = False,
        progress: Progress | None = None,
    ) -> Table:
        """Solves `game`.

        Args:
            game: the game.
            memory: the most bytes to take; by default 6 GB, or half of what is available.
            roots: rows int32 [B, S] to begin with; by default the initial state.
            with_counter: keep positions apart that differ in the count of endless play; slower, for comparison.
            progress: called with what is being done, positions, edges and bytes so far.

        Raises:
            MemoryLimitError: the game needs more memory; the message says how much.
        """
        start = time.perf_counter()
        builder = Builder(game, default_memory() if memory is None else memory, with_counter=with_counter)
        rows = game.initial_state().row[np.newaxis] if roots is None else _rows(game, roots)
        builder.add(rows[rows[:, OUTCOME] == ONGOING])
        return cls.finish(builder, progress=progress, start=start)

    @classmethod
    def finish(cls, builder: Builder, *, progress: Progress | None = None, start: float | None = None) -> Table:
        """Returns the table of what a builder finds; it may have begun before."""
        start = time.perf_counter() if start is None else start

        def report(graph: Graph, what: str = "positions") -> None:
            if progress is not None:
                nodes, edges = int(graph.sizes[NUM_NODES]) - FIRST_NODE, int(graph.sizes[NUM_EDGES])
                progress(what, nodes, edges, builder.bytes())

        graph = builder.run(report)
        report(graph, "values")
        taken = builder.bytes()
        backward = turn_edges(graph, builder.memory - taken)
        solution = solve_endless(graph, backward)
        taken += sum(array.nbytes for array in (*backward, *solution))
        need = np.empty(0, np.int16)
        if builder.counter != NO_ENTRY:
            report(graph, "limits")
            need = solve_limited(graph, backward, solution.value, builder.limit)
            taken += 18 * len(need)
        nodes = slice(FIRST_NODE, int(graph.sizes[NUM_NODES]))
        result = solution.value[nodes] * solution.distance[nodes]
        taken += result.nbytes
        stored = new_stored(len(result), len(need) > 0)
        if taken + sum(array.nbytes for array in stored) > builder.memory:
            more = show_memory(taken + sum(array.nbytes for array in stored))
            raise MemoryLimitError(
                f"{builder.game!r}: {more} are needed, and the limit is {show_memory(builder.memory)}"
            )
        store(CODE, graph.key[nodes], graph.check[nodes], result, need[nodes], stored)
        about = {
            "positions": len(result),
            "edges": int(graph.sizes[NUM_EDGES]),
            "with_counter": builder.with_counter,
            "seconds": round(time.perf_counter() - start, 3),
            "bytes": int(taken + sum(array.nbytes for array in stored)),
        }
        return cls(builder.game, stored, about)

    # --- Files ----------------------------------------------------------------------------------------------------

    @staticmethod
    def usual_path(game: Game) -> Path:
        """Where the table of a game is looked for; see `table_folder`."""
        return table_folder() / table_name(game.name, game.parameters)

    def save(self, path: Path | str | None = None) -> Path:
        """Writes the table whole or not at all (default: to its usual path) and returns where.

        Raises:
            TableError: the file cannot be written.
        """
        path = self.usual_path(self.game) if path is None else Path(path)
        save_arrays(path, {"kind": KIND, **about_game(self.game), "about": self.about}, self.stored._asdict())
        return path

    @classmethod
    def load(cls, game: Game, path: Path | str | None = None, *, verify: bool = False) -> Table:
        """Returns the table in a file (default: the game's usual path), mapped into memory.

        Raises:
            TableError: there is no such table, or it belongs to another game, other parameters or other rules; with
                `verify` also when its contents are not those that were written.
        """
        usual = path is None
        path = cls.usual_path(game) if path is None else Path(path)
        if usual and not path.exists():
            raise TableError(f"{game!r} has no solved table at {path}: {make_command(game)} makes one")
        header = read_header(path)
        if header.get("kind") != KIND:
            raise TableError(f"{path} is no finished table: {make_command(game)} makes one")
        if header["rules_id"] != game.rules_id or header["parameters"] != dict(game.parameters):
            raise TableError(
                f"{path} is a table of {header['rules_id']} with {header['parameters']}, not of {game.rules_id} with "
                f"{dict(game.parameters)}: {make_command(game)} makes that one"
            )
        arrays = load_arrays(path, header)
        if verify and digest_of(arrays) != header["digest"]:
            raise TableError(f"{path} is damaged: its contents do not have the digest of its header; make it again")
        return cls(game, Stored(**arrays), header["about"])

    # --- Asking ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of stored positions."""
        return int(self.about["positions"])

    def values(self, states: NDArray[np.int32]) -> NDArray[np.int8]:
        """Returns the value of each state of a batch [B, S] for the player to act: int8 [B], 1 won, 0 drawn, -1 lost.

        Raises:
            MemoryLimitError: a state that no game reaches is too far from the end to be solved when asked for.
        """
        return self._look(states)[0]

    def distances(self, states: NDArray[np.int32]) -> NDArray[np.int32]:
        """Returns the actions to the end of each state: int32 [B], -1 for draws.

        The winner takes as few as possible, the loser as many. Where the limit on endless play is nearer than that, it
        is how many there would be without the limit: the win may take longer then, and is one all the same.
        """
        return self._look(states)[1]

    def contains(self, states: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Returns whether each state [B, S] is over or stored: bool [B]."""
        values, _ = self._ask(_rows(self.game, states))
        found: NDArray[np.bool_] = values != MISSING
        return found

    def action_values(self, states: NDArray[np.int32]) -> NDArray[np.int8]:
        """Returns the value of every action for the player to act: int8 [B, A], 1, 0, -1, or ILLEGAL (-2)."""
        return self._look_ahead(states)[0]

    def action_distances(self, states: NDArray[np.int32]) -> NDArray[np.int32]:
        """Returns the actions to the end after and with every action: int32 [B, A]; -1 for draws and illegal ones."""
        return self._look_ahead(states)[1]

    def best_actions(self, states: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Returns which actions are best: bool [B, A]. Best value first, then the shortest win or the longest loss."""
        values, distances = self._look_ahead(states)
        best: NDArray[np.bool_] = values == values.max(axis=1, keepdims=True)
        wins = np.where(best & (values > 0), distances, np.iinfo(np.int32).max)
        losses = np.where(best & (values == -1), distances, -1)
        best &= (values <= 0) | (wins == wins.min(axis=1, keepdims=True))
        best &= (values != -1) | (losses == losses.max(axis=1, keepdims=True))
        best &= values != ILLEGAL
        return best

    def _ask(self, states: NDArray[np.int32]) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
        values, distances = np.empty(len(states), np.int8), np.empty(len(states), np.int32)
        values_kernel(self.game.rules, self.stored, self._keys, self._counter, self._limit, states, values, distances)
        return values, distances

    def _look(self, states: NDArray[np.int32]) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
        states = _rows(self.game, states)
        values, distances = self._ask(states)
        missing = np.flatnonzero(values == MISSING)
        if len(missing):
            values[missing], distances[missing] = self._solve_outside(states[missing])._ask(states[missing])
        return values, distances

    def _look_ahead(self, states: NDArray[np.int32]) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
        states = _rows(self.game, states)
        values, distances = self._ask_ahead(states)
        missing = np.flatnonzero((values == MISSING).any(axis=1))
        if len(missing):
            outside = self._solve_outside(states[missing])
            values[missing], distances[missing] = outside._ask_ahead(states[missing])
        return values, distances

    def _ask_ahead(self, states: NDArray[np.int32]) -> tuple[NDArray[np.int8], NDArray[np.int32]]:
        rules = self.game.rules
        shape = (len(states), rules.num_actions)
        values, distances = np.empty(shape, np.int8), np.empty(shape, np.int32)
        action_values_kernel(
            rules,
            self.stored,
            self._keys,
            self._counter,
            self._limit,
            states,
            np.empty(rules.state_size, np.int32),
            np.empty(rules.num_actions, np.int32),
            values,
            distances,
        )
        return values, distances

    def _solve_outside(self, states: NDArray[np.int32]) -> Table:
        """Returns a table that holds the states, which are not in this one."""
        outside = self._outside
        if outside is None or not outside.contains(states).all():
            memory = min(OUTSIDE_MEMORY, default_memory())
            outside = Table.build(self.game, memory=memory, roots=states, with_counter=self.about["with_counter"])
            self._outside = outside
        return outside

    def __repr__(self) -> str:
        return f"<Table of {self.game!r}: {len(self):,} positions>"


def make_command(game: Game) -> str:
    """The command that makes a game's table."""
    options = [f"--{name.replace('_', '-')} {value}" for name, value in game.parameters.items()]
    return " ".join(["stonezoo solve", game.name, *options, "--save"])


def _rows(game: Game, states: NDArray[np.int32]) -> NDArray[np.int32]:
    rows = np.ascontiguousarray(states, np.int32)
    if rows.ndim != 2 or rows.shape[1] != game.rules.state_size:
        raise ValueError(
            f"states of {game!r} have the shape [B, {game.rules.state_size}], not {list(np.shape(states))}"
        )
    return rows if rows.flags.writeable else rows.copy()


__all__ = ["ILLEGAL", "NO_DISTANCE", "Table", "make_command"]
