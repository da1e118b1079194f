"""Pictures of a state: SVG, an RGB array, text for a terminal, and a window.

All of them need only numpy, except the window, which imports pygame when it first opens.
"""

from stonezoo.render.ansi import to_ansi
from stonezoo.render.drawable import Drawable
from stonezoo.render.raster import draw_shapes, to_rgb_array
from stonezoo.render.svg import to_svg
from stonezoo.render.window import Window

__all__ = ["Drawable", "Window", "draw_shapes", "to_ansi", "to_rgb_array", "to_svg"]
