"""A scene as an array of pixels, with numpy alone.

Every shape becomes a sprite: how much of each pixel it lets through and what it adds. Sprites are cached, so that all
stones of a board share a few of them, and so is the background of each layout and size.

A pixel's coverage is taken from the signed distance d between its centre and the shape's edge, clip(1/2 - d, 0, 1).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stonezoo.core.board import BoardLayout
from stonezoo.render import font
from stonezoo.render.drawable import Drawable
from stonezoo.render.scene import PAPER, Circle, Color, Line, Point, Polygon, Shape, Text, build_scene, page_of
from stonezoo.render.weights import weight_shapes

MIN_HEIGHT = 32
MIN_WHOLE_SCALE = 12  # pixels a board unit from which the scale is a whole number, for crisp lines and few sprites
PLACES = 4  # sprites are placed to a quarter of a pixel
DETAIL = 16  # and their points to a sixteenth
MIN_TEXT = 5  # pixels a text's size; smaller text would only smudge


class _Sprite(NamedTuple):
    """A shape in pixels, in 256ths: pixel = (pixel * keep + add) / 256."""

    left: int  # of the anchor pixel
    top: int
    keep: NDArray[np.uint16]  # [h, w, 1]
    add: NDArray[np.uint16]  # [h, w, 3]


class View(NamedTuple):
    """Where board units fall on the image: pixel = unit * scale + origin; pixel centres are whole numbers."""

    scale: float
    x: float
    y: float
    height: int
    width: int


def to_rgb_array(state: Drawable, height: int = 480, weights: ArrayLike | None = None) -> NDArray[np.uint8]:
    """The picture of a state as pixels.

    Args:
        state: the state to draw.
        height: the height of the image; its width depends on the board alone and is even.
        weights: [A] of the actions, such as a search policy, to be laid over the board; see `weight_shapes`.

    Returns:
        uint8 [height, width, 3], C-contiguous, the caller's own.

    Raises:
        ValueError: `height` is below 32, or a weight is negative or not finite.
    """
    if height < MIN_HEIGHT:
        raise ValueError(f"height={height} is too small for a picture; give at least {MIN_HEIGHT} pixels")
    layout = state.game.layout
    view, background = background_of(layout, height)
    image = background.copy()
    _draw(image, view, build_scene(state).foreground)
    if weights is not None:
        _draw(image, view, weight_shapes(state, weights))
    return image


def draw_shapes(shapes: Iterable[Shape], width: float, height: float, scale: int) -> NDArray[np.uint8]:
    """Shapes of one's own, such as a diagram's, as pixels.

    Args:
        shapes: in units from (0, 0) at the top left; later ones lie above earlier ones.
        width: of the picture, in units.
        height: of the picture, in units.
        scale: pixels a unit.

    Returns:
        uint8 [height * scale, width * scale, 3], rounded up.
    """
    view = View(scale, 0.0, 0.0, ceil(height * scale), ceil(width * scale))
    image = np.empty((view.height, view.width, 3), np.uint8)
    image[:] = PAPER
    _draw(image, view, shapes)
    return image


@lru_cache(maxsize=16)
def background_of(layout: BoardLayout, height: int) -> tuple[View, NDArray[np.uint8]]:
    """Where a layout's board units fall in an image of some height, and what every state of it shows there.

    The array, uint8 [height, width, 3], is shared: copy it before drawing.
    """
    page = page_of(layout)
    left, top, right, bottom = page.bounds
    scale = height / (bottom - top)
    width = 2 * ceil((right - left) * scale / 2)
    if scale >= MIN_WHOLE_SCALE:
        scale = floor(scale)
    origin_x = round((width - (right + left) * scale) / 2)
    origin_y = round((height - (bottom + top) * scale) / 2)
    view = View(scale, origin_x, origin_y, height, width)
    image = np.empty((height, width, 3), np.uint8)
    image[:] = PAPER
    _draw(image, view, page.shapes)
    return view, image


def _draw(image: NDArray[np.uint8], view: View, shapes: Iterable[Shape]) -> None:
    scale = view.scale
    for shape in shapes:
        match shape:
            case Circle():
                x, y, place = _place(shape.x * scale + view.x, shape.y * scale + view.y)
                radius, edge_width = _fine(shape.radius * scale), _fine(shape.edge_width * scale)
                _blend(image, _circle(place, radius, shape.fill, shape.edge, edge_width), x, y)
            case Polygon():
                x, y, place, points = _place_points(shape.points, view)
                edge_width = _thick(shape.edge_width * scale)
                _blend(image, _polygon(place, points, shape.fill, shape.edge, edge_width), x, y)
            case Line():
                x, y, place, points = _place_points(shape.points, view)
                _blend(image, _strokes(place, (points,), shape.color, _thick(shape.width * scale)), x, y)
            case Text():
                _draw_text(image, view, shape)


def _draw_text(image: NDArray[np.uint8], view: View, text: Text) -> None:
    if text.size * view.scale < MIN_TEXT:
        return
    step = _fine(text.size * font.GRID * view.scale)
    left = text.x * view.scale + view.x
    if text.anchor == "middle":
        left -= font.text_width(text.text) * text.size * view.scale / 2
    top = text.y * view.scale + view.y - step * font.BASELINE / 2
    for character in text.text:
        if font.strokes(character):
            x, y, place = _place(left, top)
            _blend(image, _glyph(place, character, step, text.color), x, y)
        left += step * (font.glyph_width(character) + font.GAP)


def _fine(value: float) -> float:
    return round(value * DETAIL) / DETAIL


def _thick(width: float) -> float:
    """A line's width in pixels, never so thin that it fades; 0 stays 0."""
    return max(1.0, _fine(width)) if width else 0.0


def _place(x: float, y: float) -> tuple[int, int, Point]:
    """The pixel of a point and its place within that pixel."""
    column, row = round(x), round(y)
    return column, row, (round((x - column) * PLACES) / PLACES, round((y - row) * PLACES) / PLACES)


def _place_points(points: tuple[Point, ...], view: View) -> tuple[int, int, Point, tuple[Point, ...]]:
    """The pixel of the first point, its place within that pixel, and all points in pixels from the first."""
    scale = view.scale
    x, y = points[0]
    column, row, place = _place(x * scale + view.x, y * scale + view.y)
    return column, row, place, tuple((_fine((px - x) * scale), _fine((py - y) * scale)) for px, py in points)


def _blend(image: NDArray[np.uint8], sprite: _Sprite, x: int, y: int) -> None:
    """Draws a sprite with its anchor at column x, row y, cut off at the image's edges."""
    left, top, keep, add = sprite
    left += x
    top += y
    right, bottom = left + keep.shape[1], top + keep.shape[0]
    if left < 0 or top < 0 or right > image.shape[1] or bottom > image.shape[0]:
        rows = slice(max(0, -top), max(0, image.shape[0] - top))
        columns = slice(max(0, -left), max(0, image.shape[1] - left))
        keep, add = keep[rows, columns], add[rows, columns]
        left, top = max(0, left), max(0, top)
    part = image[top:bottom, left:right]
    mixed = part * keep
    mixed += add
    mixed >>= 8
    part[...] = mixed


@lru_cache(maxsize=512)
def _circle(place: Point, radius: float, fill: Color | None, edge: Color, edge_width: float) -> _Sprite:
    xs, ys, left, top = _pixels([place], radius)
    distance = np.hypot(xs - place[0], ys - place[1])
    layers = []
    if fill is None:
        middle = radius - edge_width / 2
        layers.append((_coverage(np.abs(distance - middle) - edge_width / 2), edge))
    elif edge_width:
        layers = [(_coverage(distance - radius), edge), (_coverage(distance - radius + edge_width), fill)]
    else:
        layers.append((_coverage(distance - radius), fill))
    return _sprite(left, top, layers)


@lru_cache(maxsize=512)
def _polygon(place: Point, points: tuple[Point, ...], fill: Color, edge: Color, edge_width: float) -> _Sprite:
    corners = [(x + place[0], y + place[1]) for x, y in points]
    xs, ys, left, top = _pixels(corners, edge_width / 2)
    outline = [*corners, corners[0]]
    distance = _distance([outline], xs, ys)
    inside = np.zeros(distance.shape, np.bool_)
    for (ax, ay), (bx, by) in pairwise(outline):
        if ay != by:
            inside ^= ((ay > ys) != (by > ys)) & (xs < ax + (ys - ay) * (bx - ax) / (by - ay))
    layers = [(_coverage(np.where(inside, -distance, distance)), fill)]
    if edge_width:
        layers.append((_coverage(distance - edge_width / 2), edge))
    return _sprite(left, top, layers)


@lru_cache(maxsize=512)
def _strokes(place: Point, strokes: tuple[tuple[Point, ...], ...], color: Color, width: float) -> _Sprite:
    moved = [[(x + place[0], y + place[1]) for x, y in stroke] for stroke in strokes]
    xs, ys, left, top = _pixels([point for stroke in moved for point in stroke], width / 2)
    return _sprite(left, top, [(_coverage(_distance(moved, xs, ys) - width / 2), color)])


@lru_cache(maxsize=2048)
def _glyph(place: Point, character: str, step: float, color: Color) -> _Sprite:
    strokes = tuple(tuple((x * step, y * step) for x, y in stroke) for stroke in font.strokes(character))
    return _strokes(place, strokes, color, max(1.0, step * font.WEIGHT))


def _pixels(points: list[Point], margin: float) -> tuple[NDArray[np.float64], NDArray[np.float64], int, int]:
    """The pixel centres that may lie within `margin` of the box around points: xs [1, w], ys [h, 1], left, top."""
    left, top = (floor(min(point[axis] for point in points) - margin - 0.5) for axis in (0, 1))
    right, bottom = (ceil(max(point[axis] for point in points) + margin + 0.5) for axis in (0, 1))
    xs = np.arange(left, right + 1, dtype=np.float64)[np.newaxis, :]
    ys = np.arange(top, bottom + 1, dtype=np.float64)[:, np.newaxis]
    return xs, ys, left, top


def _distance(strokes: list[list[Point]], xs: NDArray[np.float64], ys: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance of each pixel from the nearest stroke, [h, w]; a stroke of one point is that point."""
    nearest = np.full((ys.shape[0], xs.shape[1]), np.inf)
    for stroke in strokes:
        for (ax, ay), (bx, by) in pairwise(stroke if len(stroke) > 1 else stroke * 2):
            dx, dy = bx - ax, by - ay
            length = dx * dx + dy * dy
            along = ((xs - ax) * dx + (ys - ay) * dy) / length if length else np.zeros_like(nearest)
            along = np.clip(along, 0.0, 1.0)
            np.minimum(nearest, np.hypot(xs - ax - along * dx, ys - ay - along * dy), out=nearest)
    return nearest


def _coverage(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(0.5 - distance, 0.0, 1.0)


def _sprite(left: int, top: int, layers: list[tuple[NDArray[np.float64], Color]]) -> _Sprite:
    """Lays (coverage [h, w], colour) layers over each other, the first at the bottom."""
    keep = np.ones((*layers[0][0].shape, 1))
    add = np.zeros((*layers[0][0].shape, 3))
    for coverage, color in layers:
        covered = coverage[:, :, np.newaxis]
        keep *= 1.0 - covered
        add += covered * (np.array(color, np.float64) - add)
    keep_256ths = np.rint(256.0 * keep)
    # Half a 256th rounds the division. The sum stays within 16 bits: 256 * 255 + 128.
    add_256ths = np.where(keep_256ths < 256.0, np.minimum(256.0 * add, (256.0 - keep_256ths) * 255.0) + 128.0, 0.0)
    return _Sprite(left, top, keep_256ths.astype(np.uint16), np.rint(add_256ths).astype(np.uint16))
