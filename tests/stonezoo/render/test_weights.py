"""Weights of actions over a board."""

import math

import numpy as np
import pytest

from stonezoo import load_game
from stonezoo.render import to_rgb_array
from stonezoo.render.raster import background_of
from stonezoo.render.scene import Circle, Line, Text
from stonezoo.render.weights import FULL_RADIUS, WEIGHT, weight_shapes


def test_a_disc_s_area_is_the_share_of_its_cell() -> None:
    state = load_game("rive", board_size=2).initial_state()
    weights = np.zeros(7)
    weights[[1, 4]] = 1.0, 3.0
    discs = {(s.x, s.y): s.radius for s in weight_shapes(state, weights) if isinstance(s, Circle)}
    centers = state.game.layout.centers
    assert set(discs) == {centers[1], centers[4]}
    assert discs[centers[4]] == pytest.approx(FULL_RADIUS * math.sqrt(0.75))
    assert discs[centers[4]] == pytest.approx(math.sqrt(3) * discs[centers[1]])
    texts = {(s.x, s.y): s.text for s in weight_shapes(state, weights) if isinstance(s, Text)}
    assert texts == {centers[1]: "25", centers[4]: "75"}


def test_slides_to_one_cell_share_its_disc_and_have_a_path_each() -> None:
    game = load_game("dara", rows=3, columns=3, stones=3)
    state = game.parse_state("X.X/O.O/OX. b")
    slides = [action for action in state.legal_actions.tolist() if game.action_cells(action)[-1] == 1]
    assert len(slides) == 2
    weights = np.zeros(game.num_actions)
    weights[slides] = 0.5
    shapes = weight_shapes(state, weights)
    lines = [shape for shape in shapes if isinstance(shape, Line)]
    assert sorted(line.points for line in lines) == sorted(
        tuple(game.layout.centers[cell] for cell in game.action_cells(action)) for action in slides
    )
    (disc,) = (shape for shape in shapes if isinstance(shape, Circle))
    assert (disc.x, disc.y) == game.layout.centers[1]
    assert disc.radius == pytest.approx(FULL_RADIUS)


@pytest.mark.parametrize("name", ["rive", "resolve", "dara"])
def test_the_heaviest_cell_shows_in_the_pixels(name: str) -> None:
    game = load_game(name)
    state = game.initial_state()
    action = int(state.legal_actions[3])
    weights = np.zeros(game.num_actions)
    weights[action] = 1.0
    plain, laid = to_rgb_array(state, 480), to_rgb_array(state, 480, weights)
    view, _ = background_of(game.layout, 480)
    x, y = game.layout.centers[game.action_cells(action)[-1]]
    row, column = round(y * view.scale + view.y), round((x + 0.35) * view.scale + view.x)  # beside the percentage
    assert tuple(laid[row, column]) == WEIGHT
    assert (plain != laid).any(2).sum() < 1.5 * (view.scale * FULL_RADIUS) ** 2 * math.pi
    assert np.array_equal(to_rgb_array(state, 480, np.zeros(game.num_actions)), plain)


@pytest.mark.parametrize("bad", [np.nan, -0.1])
def test_weights_that_are_none_are_refused(bad: float) -> None:
    state = load_game("rive", board_size=2).initial_state()
    weights = np.ones(7)
    weights[2] = bad
    with pytest.raises(ValueError, match="finite and not negative"):
        weight_shapes(state, weights)
