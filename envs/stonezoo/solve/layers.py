"""A game solved layer by layer, so that memory is bounded by its largest layer.

Games whose play never goes back through some parting of their positions (`Rules.layer`) are solved in two passes. The
first finds each layer's positions and edges, from the first layer on: where it leads to a later one the position is a
node without edges, and its row is kept for that layer's walk. The second works out the values from the last layer on,
taking those of nodes of later layers from the layers solved before. Each layer of each pass is a file; a run that was
stopped goes on after the last one. In the end all layers become one table, the same as if it had been made in one.

How values depend on the limit on endless play takes one more pass for each limit that is looked at, like the second:
what must be left of the count, under that limit. The graphs stay until then.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.solve.code import CODE
from stonezoo.solve.graph import Builder
from stonezoo.solve.keys import NO_ENTRY
from stonezoo.solve.layer_file import GRAPH, SOLVED, LayerFiles, under
from stonezoo.solve.limits import LimitReport, Look, look_at, report_of
from stonezoo.solve.lookup import SLOT_LOAD, Stored, look_up_keys, new_stored, store
from stonezoo.solve.memory import MemoryLimitError, show_memory
from stonezoo.solve.packed import layers_of
from stonezoo.solve.retrograde import LOSS, WIN, Known, solve_endless, solve_limited, turn_edges
from stonezoo.solve.table import Progress, Table
from stonezoo.solve.walk import FIRST_NODE, LATER, LOST, NUM_EDGES, NUM_NODES, WON, Graph
from stonezoo.state import Game

LIMITED_BYTES = 18  # a node, of `solve_limited`
KNOWN_BYTES = 40  # a node of a later layer, while it is looked up


class LayerSolver:
    """Solves a game within limits of memory and disk, in the files of a folder; may be interrupted at any time.

    Attributes:
        game, memory: what is solved, and the most bytes to take.
        files: the folder.
    """

    def __init__(
        self, game: Game, folder: Path, memory: int, progress: Progress | None = None, disk: int | None = None
    ) -> None:
        self.game = game
        self.memory = memory
        self.files = LayerFiles(game, folder, disk)
        self._progress = progress
        empty = Builder(game, memory)
        self._with_counter, self._limit = empty.with_counter, empty.limit
        self._with_need = empty.counter != NO_ENTRY
        self._enough: dict[int, int] = {}  # by layer: a limit that draws nothing in it and in all later ones

    def run(self) -> Table:
        """Returns the table of all positions that can be reached from the initial state.

        Raises:
            MemoryLimitError: a layer, or the finished table, needs more memory.
            DiskLimitError: a layer's file needs more disk.
            TableError: a file cannot be written or read, is damaged, or belongs to something else.
        """
        with self._naming_folder():
            return self._table(self._solve_all(keep_graphs=False))

    def limit_report(self) -> LimitReport:
        """Returns what limits on endless play change, as `limits.limit_report` does; `run` may follow, in no time.

        Raises:
            MemoryLimitError, DiskLimitError, TableError: as `run`, but that the table need not fit into memory.
        """
        with self._naming_folder():
            layers = self._solve_all(keep_graphs=self._with_need)
            decided = sum(int(np.count_nonzero(self.files.load(SOLVED, layer)["result"])) for layer in layers)
            if not self._with_need:
                return LimitReport(0, 0, decided, {})
            return report_of(lambda limit: self._look(layers, limit), decided)

    @contextlib.contextmanager
    def _naming_folder(self) -> Iterator[None]:
        try:
            yield
        except MemoryLimitError as error:
            raise MemoryLimitError(f"{error}; the layers found so far are in {self.files.folder}") from None

    def _solve_all(self, keep_graphs: bool) -> list[int]:
        """Solves all layers that are not solved yet; returns the layers, ascending."""
        layers = self._find_all(keep_graphs)
        for number, layer in enumerate(reversed(layers), 1):
            if not self.files.has(SOLVED, layer):
                self._solve(layer, f"values of layer {layer} ({number} of {len(layers)})")
            if not keep_graphs:
                self.files.remove(GRAPH, layer)
        return layers

    # --- Positions ------------------------------------------------------------------------------------------------

    def _find_all(self, with_graphs: bool) -> list[int]:
        """Finds the positions of all layers, of solved ones only if need be; returns the layers, ascending."""
        first = self.game.initial_state().row[np.newaxis]
        waiting, found = {int(layers_of(self.game.rules, first)[0])}, list[int]()
        while waiting:
            layer = min(waiting)
            waiting.remove(layer)
            if not self.files.has(GRAPH, layer) and (with_graphs or not self.files.has(SOLVED, layer)):
                self.files.remove_all(layer)  # values stand in the order of the graph that they were found with
                self._find(layer, found)
            found.append(layer)
            waiting.update(self.files.about(layer)["leads_to"])
        return found

    def _find(self, layer: int, earlier: list[int]) -> None:
        start = time.perf_counter()
        builder = Builder(self.game, self.memory, layer=layer)
        what = f"positions of layer {layer} ({len(earlier) + 1} so far)"
        for rows in self._roots(layer, earlier):
            builder.add(rows)
            builder.run(lambda graph: self._report(what, graph, builder.bytes()))
        graph = builder.graph
        about = {
            "layer": layer,
            "leads_to": sorted(builder.exits),
            "positions": int((graph.first[FIRST_NODE : graph.sizes[NUM_NODES]] != LATER).sum()),
            "edges": int(graph.sizes[NUM_EDGES]),
            "seconds": round(time.perf_counter() - start, 3),
            "bytes": builder.bytes(),
        }
        self.files.save_graph(about, builder)

    def _roots(self, layer: int, earlier: list[int]) -> Iterator[NDArray[np.int32]]:
        """Yields batches [B, S] of the positions with which games come into a layer."""
        if not earlier:
            yield self.game.initial_state().row[np.newaxis]
        for source in earlier:
            if layer in self.files.about(source)["leads_to"]:
                yield from self.files.rows(source, layer)

    # --- Values ---------------------------------------------------------------------------------------------------

    def _solve(self, layer: int, what: str) -> None:
        start = time.perf_counter()
        about, graph = self.files.about(layer), self.files.load_graph(layer)
        self._report(what, graph, 0)
        known = self._known(graph, about["leads_to"])
        backward = turn_edges(graph, self.memory)
        solution = solve_endless(graph, backward, known)
        taken = sum(array.nbytes for array in (*backward, *solution, *known))
        need = np.empty(0, np.int16)
        if self._with_need:
            taken += LIMITED_BYTES * len(solution.value)
            self._check_memory(taken)
            self._report(what, graph, taken)
            need = solve_limited(graph, backward, solution.value, self._limit, known=known)
        del backward  # the largest of all
        nodes = slice(FIRST_NODE, int(graph.sizes[NUM_NODES]))
        own = graph.first[nodes] != LATER
        arrays = {
            "key": graph.key[nodes][own],
            "check": graph.check[nodes][own],
            "result": (solution.value[nodes] * solution.distance[nodes])[own],
            "need": need[nodes][own] if self._with_need else need,
        }
        about["seconds"] = round(about["seconds"] + time.perf_counter() - start, 3)
        about["bytes"] = max(about["bytes"], taken)
        self.files.save(SOLVED, about, arrays)

    def _known(self, graph: Graph, later: list[int], limit: int | None = None) -> Known:
        """Returns what the layers solved before say of the nodes that are theirs, with their needs under a limit."""
        nodes = np.flatnonzero(graph.first[: graph.sizes[NUM_NODES]] == LATER).astype(np.int32)
        key, check = graph.key[nodes], graph.check[nodes]
        result = np.zeros(len(nodes), np.int16)
        need = np.zeros(len(nodes) if self._with_need else 0, np.int16)
        found = 0
        for layer in later:
            positions = self.files.about(layer)["positions"]
            self._check_memory(KNOWN_BYTES * len(nodes) + self._stored_bytes(positions))
            found += int(look_up_keys(CODE, key, check, self._stored([layer], positions, limit), result, need))
        if found != len(nodes):
            raise AssertionError(f"{len(nodes) - found} positions of the layers {later} were not found there")
        return Known(nodes, result, need)

    # --- Limits ---------------------------------------------------------------------------------------------------

    def _look(self, layers: list[int], limit: int) -> Look:
        drawn, holds = 0, True
        for number, layer in enumerate(reversed(layers), 1):
            if not self.files.has(self._under(limit, layer), layer):
                self._solve_under(limit, layer, f"limit {limit} in layer {layer} ({number} of {len(layers)})")
            look = Look(**self.files.about(layer, self._under(limit, layer))["look"])
            drawn += look.drawn
            holds = holds and look.drawn == 0
            if holds:
                self._enough[layer] = min(limit, self._enough.get(layer, limit))
        return look._replace(drawn=drawn)  # of the start, what the first layer says

    def _under(self, limit: int, layer: int) -> str:
        """The kind of the file that says what a layer needs under a limit: once nothing is drawn there and later, a
        larger limit changes nothing.
        """
        return under(min(limit, self._enough.get(layer, limit)))

    def _solve_under(self, limit: int, layer: int, what: str) -> None:
        graph = self.files.load_graph(layer)
        self._report(what, graph, 0)
        known = self._known(graph, self.files.about(layer)["leads_to"], limit)
        value = np.zeros(int(graph.sizes[NUM_NODES]), np.int8)
        own = graph.first[: len(value)] != LATER
        own[:FIRST_NODE] = False
        value[WON], value[LOST] = WIN, LOSS
        value[own] = np.sign(self.files.load(SOLVED, layer)["result"])
        value[known.node] = np.sign(known.result)
        backward = turn_edges(graph, self.memory)
        taken = sum(array.nbytes for array in (*backward, value, own, *known)) + LIMITED_BYTES * len(value)
        self._check_memory(taken)
        self._report(what, graph, taken)
        need = solve_limited(graph, backward, value, limit, known=known)
        look = look_at(graph, value, need, limit)
        self.files.save(under(limit), {"layer": layer, "look": look._asdict()}, {"need": need[own]})

    # --- Tables ---------------------------------------------------------------------------------------------------

    def _stored(self, layers: list[int], positions: int, limit: int | None = None) -> Stored:
        """Returns what the solved layers say, by key; the needs are those under `limit`, by default the game's own."""
        stored = new_stored(positions, self._with_need)
        for layer in layers:
            arrays = self.files.load(SOLVED, layer)
            needs = arrays if limit is None else self.files.load(self._under(limit, layer), layer)
            store(CODE, arrays["key"], arrays["check"], arrays["result"], needs["need"], stored)
        return stored

    def _table(self, layers: list[int]) -> Table:
        start = time.perf_counter()
        abouts = [self.files.about(layer) for layer in layers]
        positions = sum(about["positions"] for about in abouts)
        self._check_memory(self._stored_bytes(positions))
        stored = self._stored(layers, positions)
        about: dict[str, Any] = {
            "positions": positions,
            "edges": sum(about["edges"] for about in abouts),
            "with_counter": self._with_counter,
            "seconds": round(sum(about["seconds"] for about in abouts) + time.perf_counter() - start, 3),
            "bytes": max(self._stored_bytes(positions), *(about["bytes"] for about in abouts)),
        }
        return Table(self.game, stored, about)

    def _stored_bytes(self, positions: int) -> int:
        return int(positions / SLOT_LOAD) * (12 if self._with_need else 10)

    def _check_memory(self, needed: int) -> None:
        if needed > self.memory:
            raise MemoryLimitError(
                f"{self.game!r}: {show_memory(needed)} are needed, and the limit is {show_memory(self.memory)}; "
                "allow more memory"
            )

    def _report(self, what: str, graph: Graph, size: int) -> None:
        if self._progress is not None:
            self._progress(what, int(graph.sizes[NUM_NODES]) - FIRST_NODE, int(graph.sizes[NUM_EDGES]), size)
