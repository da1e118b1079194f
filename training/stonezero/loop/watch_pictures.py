"""Pictures for TensorBoard: a game of self-play with its search policies, and a reliability diagram."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stonezero.loop.watch_values import BINS
from stonezero.selfplay import FinishedGame
from stonezoo.render import draw_shapes, to_rgb_array
from stonezoo.render.scene import INK, WOOD, WOOD_DARK, Circle, Line, Shape, Text
from stonezoo.state import Game

Image = NDArray[np.uint8]

BOARDS = 6  # in the picture of a game, the last one its end
BOARD_HEIGHT = 280  # pixels
GAP = 6  # pixels between two boards

SIDE = 10.0  # of the diagram's square, in its units
MARGIN = 1.6
DIAGRAM_SCALE = 32  # pixels a unit
MOST_RADIUS = 0.55  # of the dot of a bin that has all rows


def game_picture(game: Game, finished: FinishedGame) -> Image | None:
    """Positions of one game side by side, evenly over it, each under the search policy of the player to act; its end.

    Returns:
        uint8 [BOARD_HEIGHT, width, 3]; None when no position of the game was recorded.
    """
    samples = finished.samples
    if samples is None or len(samples) == 0:
        return None
    chosen = np.unique(np.linspace(0, len(samples) - 1, min(BOARDS - 1, len(samples))).astype(np.int64))
    policies = {finished.plies[k]: samples.search_policy[k] for k in chosen.tolist()}
    state, boards = game.initial_state(), []
    for ply, action in enumerate(finished.actions):
        if ply in policies:
            boards.append(to_rgb_array(state, BOARD_HEIGHT, policies[ply]))
        state.step(action)
    boards.append(to_rgb_array(state, BOARD_HEIGHT))
    gap = np.full((BOARD_HEIGHT, GAP, 3), 255, np.uint8)
    parts = [part for board in boards for part in (gap, board)][1:]
    return np.concatenate(parts, axis=1)


def reliability_picture(rows: NDArray[np.int64], predicted: NDArray[np.float64], outcome: NDArray[np.float64]) -> Image:
    """Mean outcome over mean predicted value of each bin; a dot's area is its share of the rows, the line is perfect.

    Args:
        rows: int64 [BINS].
        predicted: float64 [BINS] in [-1, 1], like the outcome; NaN where a bin has no rows.
        outcome: float64 [BINS].

    Returns:
        uint8 [height, width, 3].
    """

    def point(value: float, found: float) -> tuple[float, float]:
        return MARGIN + (value + 1) / 2 * SIDE, MARGIN + (1 - found) / 2 * SIDE

    shapes: list[Shape] = []
    for k in range(BINS + 1):
        at = 2 * k / BINS - 1
        width = 0.06 if k in (0, BINS // 2, BINS) else 0.03
        shapes.append(Line("grid", (point(at, -1), point(at, 1)), WOOD, width))
        shapes.append(Line("grid", (point(-1, at), point(1, at)), WOOD, width))
    for at in (-1, 0, 1):
        shapes.append(Text("label", point(at, 0)[0], MARGIN + SIDE + 0.5, f"{at}", 0.6, INK))
        shapes.append(Text("label", MARGIN - 0.5, point(0, at)[1], f"{at}", 0.6, INK))
    shapes.append(Text("label", MARGIN, MARGIN - 0.6, "outcome", 0.6, INK, "start"))
    shapes.append(Text("label", MARGIN + SIDE / 2, MARGIN + SIDE + 1.1, "value predicted", 0.6, INK))
    shapes.append(Line("grid", (point(-1, -1), point(1, 1)), WOOD_DARK, 0.06))
    total = max(1, int(rows.sum()))
    for count, value, found in zip(rows.tolist(), predicted.tolist(), outcome.tolist(), strict=True):
        if count:
            radius = max(0.1, MOST_RADIUS * math.sqrt(count / total))
            shapes.append(Circle("bin", *point(value, found), radius, (46, 134, 222), INK, 0.04))
    side = SIDE + 2 * MARGIN
    return draw_shapes(shapes, side, side, DIAGRAM_SCALE)
