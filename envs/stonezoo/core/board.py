"""The geometry of a board: where its cells lie, what they are called, and where they stand in observation planes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class BoardLayout:
    """Where everything on a board lies, in board units: x runs right, y runs down, neighbouring cells are 1.0 apart.

    Attributes:
        kind: how cells look: `"hexagons"` (stones inside hexagonal cells that point up), `"points"` (stones on the
            crossings of lines) or `"squares"` (stones in square cells).
        centers: the centre (x, y) of each cell, in the order of cell numbers.
        names: the name of each cell, such as `"a1"`, in the same order.
        row_labels: text, x and y of the label of each row.
        column_labels: text, x and y of the label of each column; empty where columns have no names of their own.
        sides: (player, polyline) for each side that a player wants to join; empty in games without goal sides.
        grid: the cell number at each place of an observation plane, [H][W]; -1 where there is no cell.
    """

    kind: Literal["hexagons", "points", "squares"]
    centers: tuple[tuple[float, float], ...]
    names: tuple[str, ...]
    row_labels: tuple[tuple[str, float, float], ...]
    column_labels: tuple[tuple[str, float, float], ...]
    sides: tuple[tuple[int, tuple[tuple[float, float], ...]], ...]
    grid: tuple[tuple[int, ...], ...]
