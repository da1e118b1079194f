"""A scene as SVG text."""

from __future__ import annotations

from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from stonezoo.render.drawable import Drawable
from stonezoo.render.scene import PAPER, Circle, Color, Line, Point, Polygon, Scene, Shape, Text, build_scene

SVG_HEIGHT = 480
"""The height in pixels that the picture asks for; it scales to any other."""
UNIT = 100
"""SVG units a board unit; browsers draw text badly in units of a pixel or less."""
CAPITALS = 0.35
"""From the middle of the capitals down to the baseline, in text sizes."""


def to_svg(state: Drawable) -> str:
    """The picture of a state as an SVG document: one `<svg>` element with a view box and a title.

    Shapes stand in groups by class (`cell`, `grid`, `stone black`, `last`, `hint`, …), one `<circle>` a stone.
    No ids and no style sheet are used, so several pictures can stand in one page.
    """
    return scene_to_svg(build_scene(state))


def scene_to_svg(scene: Scene) -> str:
    """A scene as an SVG document."""
    left, top, right, bottom = scene.bounds
    width = round(SVG_HEIGHT * (right - left) / (bottom - top))
    box = f"{_number(left)} {_number(top)} {_number(right - left)} {_number(bottom - top)}"
    corner = f'x="{_number(left)}" y="{_number(top)}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{SVG_HEIGHT}" viewBox="{box}" role="img">',
        f"<title>{escape(scene.title)}</title>",
        f'<rect {corner} width="100%" height="100%" fill="{_color(PAPER)}"/>',
    ]
    for style, shapes in groupby(scene.background + scene.foreground, key=_style):
        parts.append(f"<g {style}>{''.join(map(_element, shapes))}</g>")
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def _style(shape: Shape) -> str:
    """The attributes that neighbouring shapes may share."""
    start = f"class={quoteattr(shape.role)} "
    match shape:
        case Text():
            return (
                f'{start}fill="{_color(shape.color)}" font-size="{_number(shape.size)}"'
                f' font-family="sans-serif" text-anchor="{shape.anchor}"'
            )
        case Line():
            width = _number(shape.width)
            return f'{start}fill="none" stroke="{_color(shape.color)}" stroke-width="{width}" stroke-linecap="round"'
        case _:
            fill = "none" if shape.fill is None else _color(shape.fill)
            edge = f' stroke="{_color(shape.edge)}" stroke-width="{_number(shape.edge_width)}"'
            return f'{start}fill="{fill}"' + (edge if shape.edge_width else "")


def _element(shape: Shape) -> str:
    match shape:
        case Circle():
            radius = _number(shape.radius - shape.edge_width / 2)
            return f'<circle cx="{_number(shape.x)}" cy="{_number(shape.y)}" r="{radius}"/>'
        case Polygon():
            return f'<polygon points="{_points(shape.points)}"/>'
        case Line():
            return f'<polyline points="{_points(shape.points)}"/>'
        case Text():
            baseline = _number(shape.y + CAPITALS * shape.size)
            return f'<text x="{_number(shape.x)}" y="{baseline}">{escape(shape.text)}</text>'


def _number(value: float) -> str:
    """Board units as SVG units, to a tenth."""
    return f"{round(value * UNIT, 1) + 0.0:.1f}".removesuffix(".0")


def _points(points: tuple[Point, ...]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _color(color: Color) -> str:
    return "#{:02x}{:02x}{:02x}".format(*color)
