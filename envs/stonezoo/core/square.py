"""Square boards: names, layouts, and the symmetries of a rectangle."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.board import BoardLayout

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LABEL_GAP = 0.9  # from the outermost cells to the labels, in cells

RowColumn = Callable[[int, int], tuple[int, int]]


def cell_names(rows: int, columns: int) -> tuple[str, ...]:
    """Names row by row from the top: letters for columns, numbers from 1 at the bottom."""
    return tuple(f"{LETTERS[c]}{rows - r}" for r in range(rows) for c in range(columns))


def layout(
    rows: int, columns: int, *, points: bool, sides: tuple[tuple[int, tuple[tuple[float, float], ...]], ...] = ()
) -> BoardLayout:
    """The layout of a board of squares or of points."""
    return BoardLayout(
        kind="points" if points else "squares",
        centers=tuple((float(c), float(r)) for r in range(rows) for c in range(columns)),
        names=cell_names(rows, columns),
        row_labels=tuple((str(rows - r), -LABEL_GAP, float(r)) for r in range(rows)),
        column_labels=tuple((LETTERS[c], float(c), rows - 1 + LABEL_GAP) for c in range(columns)),
        sides=sides,
        grid=tuple(tuple(range(r * columns, (r + 1) * columns)) for r in range(rows)),
    )


def rectangle_symmetries(rows: int, columns: int) -> list[tuple[str, bool, RowColumn]]:
    """The symmetries of a rectangle: name, whether rows and columns are exchanged, and where (row, column) goes."""
    top, right = rows - 1, columns - 1
    found: list[tuple[str, bool, RowColumn]] = [
        ("identity", False, lambda r, c: (r, c)),
        ("mirror left-right", False, lambda r, c: (r, right - c)),
        ("mirror top-bottom", False, lambda r, c: (top - r, c)),
        ("half turn", False, lambda r, c: (top - r, right - c)),
    ]
    if rows == columns:
        found += [
            ("transpose", True, lambda r, c: (c, r)),
            ("quarter turn right", True, lambda r, c: (c, top - r)),
            ("quarter turn left", True, lambda r, c: (top - c, r)),
            ("other transpose", True, lambda r, c: (top - c, top - r)),
        ]
    return found


def cell_table(rows: int, columns: int, move: RowColumn) -> NDArray[np.int32]:
    """The cell [rows * columns] to which each cell goes under `move`."""
    places = [move(r, c) for r in range(rows) for c in range(columns)]
    return np.array([r * columns + c for r, c in places], np.int32)
