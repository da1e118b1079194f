"""The drawing itself: a state becomes a list of shapes in board units, which each output then writes in its own way."""

from __future__ import annotations

from functools import lru_cache
from math import hypot, sqrt
from typing import Literal, NamedTuple, TypeAlias

from stonezoo.core.board import BoardLayout
from stonezoo.render.drawable import (
    STONE_MARK,
    SWAPPED_MARK,
    Drawable,
    hints,
    last_cells,
    status,
)

Color: TypeAlias = tuple[int, int, int]
Point: TypeAlias = tuple[float, float]

PAPER: Color = (250, 247, 240)
WOOD: Color = (227, 194, 142)
WOOD_DARK: Color = (150, 112, 62)
CELL: Color = (238, 214, 172)
CELL_NAME: Color = (186, 153, 105)
INK: Color = (60, 50, 40)
STONE_FILL: tuple[Color, Color] = ((38, 38, 42), (252, 251, 247))
STONE_EDGE: tuple[Color, Color] = ((8, 8, 10), (92, 88, 82))
LAST: Color = (46, 134, 222)
ACTIVE: Color = (222, 62, 68)
SWAPPED: Color = (240, 152, 30)
HINT: Color = (52, 160, 92)

# Sizes in board units: neighbouring cells are 1.0 apart.
STONE_RADIUS = {"hexagons": 0.40, "points": 0.46, "squares": 0.38}
STONE_EDGE_WIDTH = 0.04
LINE_WIDTH = 0.045
SIDE_WIDTH = 0.16
SIDE_EDGE_WIDTH = 0.24
RING_RADIUS = 0.86  # of the stone's radius
RING_WIDTH = 0.09
DOT_RADIUS = 0.15
HINT_RADIUS = 0.12
LABEL_SIZE = 0.42
NAME_SIZE = 0.24
NAME_DROP = 0.26  # below the cell's centre, clear of marks on empty cells
BOARD_MARGIN = 0.62  # from the outermost centres to the edge of the wood
PAGE_MARGIN = 0.25
MIN_WIDTH = 5.5  # so that the status line fits above the smallest boards
STATUS_SIZE = 0.042  # of the scene's width
TEXT_WIDTH = 0.56  # a generous mean width of a letter, in text sizes


class Circle(NamedTuple):
    """A disc with an edge that lies inside its radius; no edge where `edge_width` is 0, a ring where `fill` is None."""

    role: str
    x: float
    y: float
    radius: float
    fill: Color | None
    edge: Color = INK
    edge_width: float = 0.0


class Polygon(NamedTuple):
    """A filled polygon; its edge, if it has a width, is drawn centred on its outline."""

    role: str
    points: tuple[Point, ...]
    fill: Color
    edge: Color = INK
    edge_width: float = 0.0


class Line(NamedTuple):
    """A polyline of some width with round ends."""

    role: str
    points: tuple[Point, ...]
    color: Color
    width: float


class Text(NamedTuple):
    """A line of text; `y` is the middle of its capitals, `size` their height / 0.7."""

    role: str
    x: float
    y: float
    text: str
    size: float
    color: Color
    anchor: Literal["start", "middle"] = "middle"


Shape: TypeAlias = Circle | Polygon | Line | Text


class Scene(NamedTuple):
    """A picture: a page of `bounds` (left, top, right, bottom), what never changes on it, and what this state adds."""

    title: str
    bounds: tuple[float, float, float, float]
    background: tuple[Shape, ...]
    foreground: tuple[Shape, ...]


class Page(NamedTuple):
    """What a layout fixes: the bounds of the picture, its constant shapes and the size of the status line."""

    bounds: tuple[float, float, float, float]
    shapes: tuple[Shape, ...]
    status_size: float


def build_scene(state: Drawable) -> Scene:
    """The picture of a state; shapes later in the list lie above earlier ones."""
    page = page_of(state.game.layout)
    line = status(state)
    shapes = _status_line(state, page, line) + _stones(state) + _marks(state)
    return Scene(f"{state.game.name.capitalize()}: {line}", page.bounds, page.shapes, tuple(shapes))


@lru_cache(maxsize=32)
def page_of(layout: BoardLayout) -> Page:
    """The page that every state of a layout is drawn on."""
    board = _board(layout)
    labels = [Text("label", x, y, text, LABEL_SIZE, INK) for text, x, y in layout.row_labels + layout.column_labels]
    xs = [x for x, _ in layout.centers]
    ys = [y for _, y in layout.centers]
    around = BOARD_MARGIN + SIDE_EDGE_WIDTH
    left = min([min(xs) - around, *(label.x - LABEL_SIZE / 2 for label in labels)]) - PAGE_MARGIN
    right = max([max(xs) + around, *(label.x + LABEL_SIZE / 2 for label in labels)]) + PAGE_MARGIN
    top = min([min(ys) - around, *(label.y - LABEL_SIZE / 2 for label in labels)]) - PAGE_MARGIN
    bottom = max([max(ys) + around, *(label.y + LABEL_SIZE / 2 for label in labels)]) + PAGE_MARGIN
    if right - left < MIN_WIDTH:
        center = (left + right) / 2
        left, right = center - MIN_WIDTH / 2, center + MIN_WIDTH / 2
    status_size = STATUS_SIZE * (right - left)
    return Page((left, top - 1.6 * status_size, right, bottom), (*board, *labels), status_size)


def _board(layout: BoardLayout) -> list[Shape]:
    if layout.kind == "hexagons":
        return _hexagons(layout)
    if layout.kind == "squares":
        return _squares(layout)
    return _points(layout)


def _hexagons(layout: BoardLayout) -> list[Shape]:
    tall = 1 / sqrt(3)
    corners = ((0.0, -tall), (0.5, -tall / 2), (0.5, tall / 2), (0.0, tall), (-0.5, tall / 2), (-0.5, -tall / 2))
    shapes: list[Shape] = []
    for x, y in layout.centers:
        points = tuple((x + dx, y + dy) for dx, dy in corners)
        shapes.append(Polygon("cell", points, CELL, WOOD_DARK, LINE_WIDTH))
    if not layout.column_labels:
        for name, (x, y) in zip(layout.names, layout.centers, strict=True):
            shapes.append(Text("name", x, y + NAME_DROP, name, NAME_SIZE, CELL_NAME))
    return shapes


def _wood(layout: BoardLayout) -> Polygon:
    xs = [x for x, _ in layout.centers]
    ys = [y for _, y in layout.centers]
    return Polygon("board", _rectangle(min(xs), min(ys), max(xs), max(ys), BOARD_MARGIN), WOOD)


def _squares(layout: BoardLayout) -> list[Shape]:
    cells = [Polygon("cell", _rectangle(x, y, x, y, 0.5), CELL, WOOD_DARK, LINE_WIDTH) for x, y in layout.centers]
    return [_wood(layout), *cells]


def _points(layout: BoardLayout) -> list[Shape]:
    ends = [(row[0], row[-1]) for row in layout.grid] + list(zip(layout.grid[0], layout.grid[-1], strict=True))
    lines = [Line("grid", (layout.centers[a], layout.centers[b]), WOOD_DARK, LINE_WIDTH) for a, b in ends]
    edges = [Line("side", points, STONE_EDGE[player], SIDE_EDGE_WIDTH) for player, points in layout.sides]
    sides = [Line("side", points, STONE_FILL[player], SIDE_WIDTH) for player, points in layout.sides]
    return [_wood(layout), *lines, *edges, *sides]


def _rectangle(left: float, top: float, right: float, bottom: float, margin: float) -> tuple[Point, ...]:
    left, top, right, bottom = left - margin, top - margin, right + margin, bottom + margin
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def _status_line(state: Drawable, page: Page, line: str) -> list[Shape]:
    left, top, right, _ = page.bounds
    icon = 0.45 * page.status_size
    x = left + PAGE_MARGIN
    y = top + PAGE_MARGIN / 2 + 0.8 * page.status_size
    shapes: list[Shape] = []
    player = state.winner if state.terminated else state.to_play
    if player >= 0:
        shapes.append(_stone("turn", player, x + icon, y, icon))
        x += 3.2 * icon
    size = min(page.status_size, (right - PAGE_MARGIN - x) / (TEXT_WIDTH * len(line)))
    return [*shapes, Text("status", x, y, line, size, INK, "start")]


def _stones(state: Drawable) -> list[Shape]:
    layout = state.game.layout
    radius = STONE_RADIUS[layout.kind]
    roles = ("stone black", "stone white")
    return [
        _stone(roles[stone], stone, x, y, radius)
        for stone, (x, y) in zip(state.board.tolist(), layout.centers, strict=True)
        if stone >= 0
    ]


def _stone(role: str, player: int, x: float, y: float, radius: float) -> Circle:
    edge_width = STONE_EDGE_WIDTH * min(1.0, radius / 0.3)
    return Circle(role, x, y, radius, STONE_FILL[player], STONE_EDGE[player], edge_width)


def _marks(state: Drawable) -> list[Shape]:
    layout = state.game.layout
    centers = layout.centers
    radius = STONE_RADIUS[layout.kind]
    shapes: list[Shape] = []
    for name, cells in state.marks.items():
        for x, y in (centers[cell] for cell in cells):
            if name == SWAPPED_MARK:
                shapes.append(_diamond("swapped", x, y))
            else:
                color = ACTIVE if name == STONE_MARK else SWAPPED
                shapes.append(Circle(name, x, y, RING_RADIUS * radius, None, color, RING_WIDTH))
    last = last_cells(state)
    if len(last) > 1:
        shapes += _arrow(centers[last[0]], centers[last[-1]], radius)
    elif last and state.board[last[0]] >= 0:
        shapes.append(Circle("last", *centers[last[0]], DOT_RADIUS, LAST))
    elif last:
        shapes += _cross(*centers[last[0]])
    shapes += [Circle("hint", *centers[cell], HINT_RADIUS, HINT, PAPER, 0.03) for cell in hints(state)]
    return shapes


def _diamond(role: str, x: float, y: float) -> Polygon:
    size = 0.2
    return Polygon(role, ((x, y - size), (x + size, y), (x, y + size), (x - size, y)), SWAPPED)


def _cross(x: float, y: float) -> list[Shape]:
    """Marks a cell that the last action emptied."""
    size = DOT_RADIUS
    return [
        Line("last", ((x - size, y - size), (x + size, y + size)), LAST, 0.07),
        Line("last", ((x - size, y + size), (x + size, y - size)), LAST, 0.07),
    ]


def _arrow(source: Point, destination: Point, radius: float) -> list[Shape]:
    """An arrow from the centre of a cell to the edge of the stone that left it."""
    length = hypot(destination[0] - source[0], destination[1] - source[1])
    along = ((destination[0] - source[0]) / length, (destination[1] - source[1]) / length)

    def at(distance: float, aside: float) -> Point:
        return (
            source[0] + along[0] * distance - along[1] * aside,
            source[1] + along[1] * distance + along[0] * aside,
        )

    tip = length - 0.3 * radius
    head = (at(tip, 0.0), at(tip - 0.26, 0.15), at(tip - 0.26, -0.15))
    return [Line("last", (source, at(tip - 0.2, 0.0)), LAST, 0.09), Polygon("last", head, LAST)]
