"""All positions that can be reached from some roots, and the actions between them, found depth first.

Symmetric positions are one node, and so are positions that differ in the count of endless play alone, unless the
counter is part of the key. Nodes 0, 1 and 2 are the ends of games. Of a game that falls into layers (`Rules.layer`) one
layer can be found by itself: positions of later ones are nodes without edges, and their rows are kept for the walks of
those layers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import endless_counter
from stonezoo.solve.code import CODE
from stonezoo.solve.keys import NO_ENTRY, make_keys
from stonezoo.solve.memory import MemoryLimitError, show_memory
from stonezoo.solve.packed import layers_of, pack_rows, unpack_rows
from stonezoo.solve.table_file import TableError, about_game, digest_of, load_arrays, read_header, save_arrays
from stonezoo.solve.walk import (
    DONE,
    FIRST_NODE,
    FULL_EXITS,
    FULL_NODES,
    GROWING,
    LAST_LAYER,
    LEVEL,
    LOAD,
    MOST_NODES,
    NEXT_ROOT,
    NUM_EDGES,
    NUM_EXITS,
    NUM_NODES,
    WORK_ROWS,
    Graph,
    refill,
    walk,
)
from stonezoo.state import Game

KIND = "positions"  # of the files of a graph that is under way
FIRST_CAPACITY, FIRST_DEPTH = 1 << 12, 64
GROWTHS = (1.6, 1.15)  # how much longer an array gets; the second where the first does not fit into memory
BUDGET = 100_000  # nodes between two looks at the clock
LAYER_DEPTH = 1 << 12  # greatest length of the path where a single layer is walked
EXITS = 1 << 14  # rows that are handed out at once

Progress = Callable[[Graph], None]


class Builder:
    """Finds all positions reachable from some roots within a limit of memory; may be interrupted between two steps.

    Attributes:
        game, keys: whose positions, and how they are named.
        counter, limit: the entry that counts endless play and its limit; NO_ENTRY and 0 where nothing is forgotten.
        layer: positions of later layers are not walked; LAST_LAYER where all are.
        exits: what was handed out and not begun with yet: by layer, packed rows.
    """

    def __init__(self, game: Game, memory: int, *, with_counter: bool = False, layer: int = LAST_LAYER) -> None:
        self.game = game
        self.memory = memory
        endless = endless_counter(game.rules)
        # With a limit of 1 the count is 0 or the game is over, but for actions in mid-turn: nothing is to be forgotten.
        # Without contents the whole row is the key, count and all: nothing can be.
        kept = endless is not None and (endless[1] < 2 or not hasattr(game.rules, "rest_size"))
        self.with_counter = with_counter or kept
        self.keys = make_keys(game, with_counter=self.with_counter)
        forgets = endless is not None and not self.with_counter
        self.counter, self.limit = endless if forgets and endless is not None else (NO_ENTRY, 0)
        self.layer = layer
        self.graph = new_graph(game, *((LAYER_DEPTH, EXITS) if layer < LAST_LAYER else ()))
        self.waiting: list[NDArray[np.int32]] = []
        self.exits: dict[int, list[bytes]] = {}
        self._no_roots = np.zeros((0, game.rules.state_size), np.int32)

    def grow(self, part: int) -> None:
        """Makes room where the kernel says that there is none; MemoryLimitError when the limit forbids it."""
        nodes = int(self.graph.sizes[NUM_NODES])
        if part == FULL_NODES and nodes + self.game.num_actions > MOST_NODES:
            raise MemoryLimitError(f"{self.game!r} has more than {MOST_NODES:,} positions: too many for a table")
        fitting = [growth for growth in GROWTHS if self._bytes_after(part, growth) <= self.memory]
        if not fitting:
            raise MemoryLimitError(
                f"{self.game!r}: {show_memory(self._bytes_after(part, GROWTHS[-1]))} are needed to go on after "
                f"{nodes:,} positions, and the limit is {show_memory(self.memory)}; allow more memory"
            )
        # One after the other, so that only one stands there twice.
        for name, length in self._lengths_after(part, fitting[0]).items():
            if name == "slots":
                self.graph = self.graph._replace(slots=np.zeros(1, np.int32))  # too few, which `run` sees
                grown = self.graph._replace(slots=np.zeros(length, np.int32))
                refill(CODE, grown)
            else:
                longer = _longer(getattr(self.graph, name), _axis(name), length)
                grown = self.graph._replace(**{name: longer})
            self.graph = grown  # whole, or not at all

    def _lengths_after(self, part: int, growth: float) -> dict[str, int]:
        """The lengths of the arrays of `part` after growing, in order; an interruption may have left longer ones."""
        names = GROWING[part]
        length = int(len(getattr(self.graph, names[-1])) * growth) + 1
        return {name: int(length / LOAD) | 1 if name == "slots" else length for name in names}

    def _bytes_after(self, part: int, growth: float) -> int:
        """The most bytes that growing takes: those of the grown arrays, and of the largest old one beside its copy."""
        more, largest = 0, 0
        for name, length in self._lengths_after(part, growth).items():
            array = getattr(self.graph, name)
            old = array.shape[_axis(name)]
            more += max(0, length - old) * (array.nbytes // old)
            largest = max(largest, array.nbytes)
        return self.bytes() + more + largest

    def save(self, path: Path) -> None:
        """Writes what was found so far, whole or not at all; a builder that loads it goes on from there.

        Raises:
            TableError: the file cannot be written.
        """
        waiting = np.concatenate(self.waiting or [self._no_roots])
        save_arrays(path, self._about(), {**self.graph._asdict(), "waiting": waiting})

    def _about(self) -> dict[str, Any]:
        return {"kind": KIND, **about_game(self.game), "about": {"with_counter": self.with_counter}}

    def load(self, path: Path) -> None:
        """Goes on from what another builder saved.

        Raises:
            TableError: the file cannot be read, is damaged, or belongs to something else.
        """
        header = read_header(path)
        expected = self._about()
        found = {key: header.get(key) for key in expected}
        if found != expected:
            raise TableError(f"{path} belongs to {found}, not to {expected}: remove it to begin anew")
        arrays = load_arrays(path, header)
        if digest_of(arrays) != header["digest"]:
            raise TableError(f"{path} is damaged: its contents do not have the digest of its header; remove it")
        if not self._fit(arrays):
            raise TableError(f"{path} cannot be gone on with: its arrays do not fit each other; remove it")
        self.waiting = [np.array(arrays.pop("waiting"))]
        self.graph = Graph(**arrays)

    def _fit(self, arrays: Mapping[str, NDArray[Any]]) -> bool:
        """Whether arrays are those of a graph of this game: of its kinds and shapes, and none too short."""
        own = {**self.graph._asdict(), "waiting": np.empty((0, self.game.rules.state_size), np.int32)}
        if {name: _kind(name, array) for name, array in arrays.items()} != {k: _kind(k, v) for k, v in own.items()}:
            return False
        lengths: dict[str, int] = {name: array.shape[_axis(name)] for name, array in arrays.items()}
        needed = {name: lengths[names[-1]] for names in GROWING.values() for name in names}
        needed.update(slots=1, sizes=len(self.graph.sizes), exits=self.game.num_actions)
        if any(lengths[name] < length for name, length in needed.items()):
            return False
        nodes, edges, level, root = map(int, arrays["sizes"][[NUM_NODES, NUM_EDGES, LEVEL, NEXT_ROOT]])
        fit = nodes <= lengths["key"] and edges <= lengths["edges"] and level < lengths["rows"] - WORK_ROWS
        return bool(fit and root <= lengths["waiting"])

    def bytes(self) -> int:
        """Bytes of the arrays, and of what was handed out."""
        handed_out = sum(len(rows) for batches in self.exits.values() for rows in batches)
        return sum(array.nbytes for array in self.graph) + handed_out

    def add(self, rows: NDArray[np.int32]) -> None:
        """Adds roots: positions int32 [B, S] that are not over."""
        self.waiting.append(np.array(rows, np.int32))

    def run(self, progress: Progress | None = None) -> Graph:
        """Finds everything; `progress` is called with the graph from time to time.

        Raises:
            MemoryLimitError: the limit of memory is reached.
            KeyboardInterrupt: (only between two steps) `run` may be called again, and goes on.
        """
        while True:
            roots = self.waiting[0] if self.waiting else self._no_roots
            why = walk(self.game.rules, self.graph, self.keys, roots, self.counter, self.limit, self.layer, BUDGET)
            if progress is not None:
                progress(self.graph)
            if why == FULL_EXITS:
                self.hand_out()
            elif why in GROWING:
                self.grow(why)
            elif why == DONE:
                # In this order: roots that are added twice do no harm, others that are not would.
                self.graph.sizes[NEXT_ROOT] = 0
                del self.waiting[:1]
                self.hand_out()
                if not self.waiting and not self._take_back():
                    return self.graph

    def _take_back(self) -> bool:
        """Adds roots that were handed out because the path was too long; says whether there were any."""
        batches = self.exits.get(self.layer)
        if batches:
            self.add(unpack_rows(batches.pop(), self.game.rules.state_size))
            return True
        self.exits.pop(self.layer, None)
        return False

    def hand_out(self) -> None:
        """Packs the rows that the kernel hands out, and makes room for others."""
        if self.graph.sizes[NUM_EXITS] == 0:
            return
        rows = self.graph.exits[: self.graph.sizes[NUM_EXITS]]
        layers = layers_of(self.game.rules, rows)
        for layer in np.unique(layers).tolist():
            self.exits.setdefault(layer, []).append(pack_rows(rows[layers == layer]))
        self.graph.sizes[NUM_EXITS] = 0


def _axis(name: str) -> int:
    """The axis along which an array of a graph grows."""
    return 1 if name == "path" else 0


def _kind(name: str, array: NDArray[Any]) -> tuple[np.dtype[Any], list[int]]:
    """What is the same of an array of a graph however long it is."""
    return array.dtype, [length for axis, length in enumerate(array.shape) if axis != _axis(name)]


def _longer(array: NDArray[Any], axis: int, length: int) -> NDArray[Any]:
    if array.shape[axis] >= length:
        return array
    shape = list(array.shape)
    shape[axis] = length
    grown = np.empty(shape, array.dtype)
    grown[tuple(slice(0, length) for length in array.shape)] = array
    return grown


def new_graph(game: Game, depth: int = FIRST_DEPTH, exits: int = 0) -> Graph:
    """Returns a graph of no positions, with room for a path of `depth` and for `exits` rows to hand out."""
    capacity = FIRST_CAPACITY + game.num_actions
    sizes = np.array([FIRST_NODE, 0, -1, 0, 0, 0], np.int64)
    first = np.zeros(capacity, np.int64)
    return Graph(
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.int64),
        first,
        np.zeros(capacity, np.int16),
        np.zeros(2 * capacity, np.int32),
        np.zeros(int(capacity / LOAD) | 1, np.int32),
        np.zeros((depth, game.rules.state_size), np.int32),
        np.zeros((depth, game.num_actions), np.int32),
        np.zeros((3, depth), np.int32),
        np.zeros((exits + game.num_actions, game.rules.state_size), np.int32),
        sizes,
    )
