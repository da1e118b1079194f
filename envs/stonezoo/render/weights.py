"""Weights of actions, such as a search policy, drawn over a board."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stonezoo.render.drawable import Drawable
from stonezoo.render.scene import PAPER, Circle, Color, Line, Shape, Text

WEIGHT: Color = (126, 58, 168)
LEAST = 0.005  # share of the total below which an action is not drawn
TEXT_FROM = 0.1  # share from which the percentage is written
FULL_RADIUS = 0.42  # of the disc of a cell that has all the weight, in board units; its area says the share
LEAST_RADIUS = 0.05
PATH_WIDTH = 0.22  # of the path of an action that has all the weight
LEAST_PATH = 0.03
TEXT_SIZE = 0.3  # at most
TEXT_IN_DISC = 1.1  # of the radius, so that two digits lie inside


def weight_shapes(state: Drawable, weights: ArrayLike) -> list[Shape]:
    """Shapes to lay over a state: a disc on the cell where each action ends, and a path to it where it began elsewhere.

    The area of a disc is the share of all actions that end there; shares of a tenth and more are written in percent.

    Args:
        state: the state whose actions are weighed.
        weights: float [A], none negative; only their ratios count, and all zeros draw nothing.

    Raises:
        ValueError: a weight is negative or not finite.
    """
    found: NDArray[np.float64] = np.asarray(weights, np.float64)
    if not np.isfinite(found).all() or (found < 0).any():
        raise ValueError("weights of actions must be finite and not negative")
    total = float(found.sum())
    if total == 0:
        return []
    centers = state.game.layout.centers
    cells: dict[int, float] = {}
    shapes: list[Shape] = []
    for action in np.flatnonzero(found >= LEAST * total).tolist():
        share = float(found[action]) / total
        path = state.game.action_cells(action)
        cells[path[-1]] = cells.get(path[-1], 0.0) + share
        if len(path) > 1:
            width = max(LEAST_PATH, PATH_WIDTH * share)
            shapes.append(Line("weight", tuple(centers[cell] for cell in path), WEIGHT, width))
    for cell, share in cells.items():
        x, y = centers[cell]
        radius = max(LEAST_RADIUS, FULL_RADIUS * math.sqrt(share))
        shapes.append(Circle("weight", x, y, radius, WEIGHT, PAPER, 0.03))
        if share >= TEXT_FROM:
            shapes.append(Text("weight", x, y, f"{100 * share:.0f}", min(TEXT_SIZE, TEXT_IN_DISC * radius), PAPER))
    return shapes
