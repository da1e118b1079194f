"""The files of a game that is solved layer by layer: each layer's graph, its values, and its needs under limits."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.solve.disk import check_room
from stonezoo.solve.graph import Builder, new_graph
from stonezoo.solve.packed import unpack_rows
from stonezoo.solve.table_file import (
    HEADER_BYTES,
    TableError,
    about_game,
    digest_of,
    load_arrays,
    read_header,
    save_arrays,
)
from stonezoo.solve.walk import NUM_EDGES, NUM_NODES, Graph
from stonezoo.state import Game

Arrays = dict[str, NDArray[Any]]

GRAPH, SOLVED = "graph", "solved"  # kinds of files
KINDS = {GRAPH: "positions of a layer", SOLVED: "solved layer"}  # in their headers; others are called what they are
BY_NODE, BY_EDGE = ("key", "check", "first", "degree"), ("edges",)  # arrays of a graph that are kept
# The others, of rows for later layers: after the name, the layer's number.
ROWS, LENGTHS = "rows", "lengths"


def under(limit: int) -> str:
    """The kind of the files of what must be left of the count of endless play, where it has a limit of its own."""
    return f"limit-{limit}"


def remove_layers(folder: Path) -> None:
    """Removes a folder of layers, the earliest layer first: after a kill, what is left can be gone on from."""
    layers = {path: path.name.partition(".")[0] for path in folder.glob("*")}
    for path in sorted((path for path, layer in layers.items() if layer.isdecimal()), key=lambda p: int(layers[p])):
        path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


class LayerFiles:
    """The layers of one game in a folder. Each file is written whole or not at all, and read through before it is used.

    Attributes:
        game: whose layers.
        folder: where they are.
        disk: the most bytes that the folder may hold; None where only the disk limits it.
    """

    def __init__(self, game: Game, folder: Path, disk: int | None = None) -> None:
        self.game = game
        self.folder = folder
        self.disk = disk

    def path(self, kind: str, layer: int) -> Path:
        """Where a layer's file of a kind is, or would be."""
        return self.folder / f"{layer}.{kind}"

    def has(self, kind: str, layer: int) -> bool:
        """Whether there is a layer's file of a kind."""
        return self.path(kind, layer).exists()

    def about(self, layer: int, kind: str | None = None) -> dict[str, Any]:
        """What its file of a kind says of a layer; by default the solved one, or that of its graph: `layer`, `leads_to`
        (later layers), `positions`, `edges`, `seconds`, `bytes` (most memory).

        Raises:
            TableError: its file cannot be read, or belongs to another game.
        """
        if kind is None:
            kind = SOLVED if self.has(SOLVED, layer) else GRAPH
        return dict(self._header(kind, layer)["about"])

    def save(self, kind: str, about: Mapping[str, Any], arrays: Arrays) -> None:
        """Writes a layer's file.

        Raises:
            DiskLimitError: there is no room for it.
            TableError: it cannot be written.
        """
        check_room(self.folder, HEADER_BYTES + sum(array.nbytes for array in arrays.values()), self.disk)
        header = {"kind": KINDS.get(kind, kind), **about_game(self.game), "about": dict(about)}
        save_arrays(self.path(kind, int(about["layer"])), header, arrays)

    def load(self, kind: str, layer: int) -> Arrays:
        """Returns the arrays of a layer's file, mapped into memory.

        Raises:
            TableError: it cannot be read, is damaged, or belongs to another game.
        """
        path, header = self.path(kind, layer), self._header(kind, layer)
        try:
            arrays = load_arrays(path, header)
        except TableError:
            raise TableError(f"{path} is not whole: remove it, and the same command makes it again") from None
        if digest_of(arrays) != header["digest"]:
            raise TableError(f"{path} is damaged: remove it, and the same command makes it again")
        return arrays

    def remove(self, kind: str, layer: int) -> None:
        """Removes a layer's file of a kind, if there is one."""
        self.path(kind, layer).unlink(missing_ok=True)

    def remove_all(self, layer: int) -> None:
        """Removes a layer's files of all kinds."""
        for path in self.folder.glob(f"{layer}.*"):
            path.unlink(missing_ok=True)

    # --- Graphs ---------------------------------------------------------------------------------------------------

    def save_graph(self, about: Mapping[str, Any], builder: Builder) -> None:
        """Writes what a builder found of a layer, and the rows that later layers begin with.

        Raises:
            DiskLimitError, TableError: as `save`.
        """
        graph = builder.graph
        nodes, edges = int(graph.sizes[NUM_NODES]), int(graph.sizes[NUM_EDGES])
        arrays: Arrays = {"sizes": graph.sizes, **{name: getattr(graph, name)[:nodes] for name in BY_NODE[:3]}}
        arrays |= {name: getattr(graph, name)[:edges] for name in BY_EDGE}  # before what is less than four bytes wide
        arrays |= {name: getattr(graph, name)[:nodes] for name in BY_NODE[3:]}
        for layer, batches in builder.exits.items():
            arrays[f"{LENGTHS} {layer}"] = np.array([len(batch) for batch in batches])
            arrays[f"{ROWS} {layer}"] = np.frombuffer(b"".join(batches), np.uint8)
        self.save(GRAPH, about, arrays)

    def load_graph(self, layer: int) -> Graph:
        """Returns the graph of a layer, mapped into memory; nothing can be added to it.

        Raises:
            TableError: as `load`.
        """
        arrays = self.load(GRAPH, layer)
        return new_graph(self.game)._replace(**{name: arrays[name] for name in ("sizes", *BY_NODE, *BY_EDGE)})

    def rows(self, source: int, target: int) -> Iterator[NDArray[np.int32]]:
        """Yields batches [B, S] of the positions of layer `target` to which layer `source` leads.

        Raises:
            TableError: as `load`.
        """
        arrays = self.load(GRAPH, source)
        data, end = arrays[f"{ROWS} {target}"], 0
        for length in arrays[f"{LENGTHS} {target}"].tolist():
            start, end = end, end + length
            try:
                yield unpack_rows(data[start:end].tobytes(), self.game.rules.state_size)
            except zlib.error:
                raise TableError(f"{self.path(GRAPH, source)} is damaged: remove {self.folder}") from None

    def _header(self, kind: str, layer: int) -> dict[str, Any]:
        path = self.path(kind, layer)
        if not path.exists():
            raise TableError(f"{path} is missing, and other layers cannot do without it: remove {self.folder}")
        header = read_header(path)
        expected = {"kind": KINDS.get(kind, kind), **about_game(self.game)}
        found = {key: header.get(key) for key in expected}
        if found != expected or header.get("about", {}).get("layer") != layer:
            raise TableError(f"{path} belongs to {found}, not to {expected}: remove {self.folder} to begin anew")
        return header
