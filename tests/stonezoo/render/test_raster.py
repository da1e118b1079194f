import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from stonezoo.render import font, to_rgb_array
from stonezoo.render.raster import background_of
from stonezoo.render.scene import CELL, INK, STONE_FILL, WOOD
from tests.stonezoo.render.fakes import (
    FakeGame,
    FakeState,
    all_states,
    hexagon_state,
    points_state,
    rectangle,
    squares_state,
    stones,
)

HEIGHTS = (32, 33, 120, 480, 721)


def pixel(state: FakeState, cell: int, height: int = 480) -> tuple[int, int]:
    """Row and column of the centre of a cell."""
    view, _ = background_of(state.game.layout, height)
    x, y = state.game.layout.centers[cell]
    return round(y * view.scale + view.y), round(x * view.scale + view.x)


def unmarked(state: FakeState) -> FakeState:
    """The same position without marks, hints and a last action."""
    return replace(state, history=(), marks={}, legal_actions=np.zeros(0, np.int32))


@pytest.mark.parametrize("state", all_states(), ids=lambda state: state.game.name)
@pytest.mark.parametrize("height", HEIGHTS)
def test_an_image_is_uint8_of_the_height_asked_for_and_contiguous(state: FakeState, height: int) -> None:
    image = to_rgb_array(state, height)
    assert image.dtype == np.uint8
    assert image.shape[::2] == (height, 3)
    assert image.shape[1] % 2 == 0
    assert image.flags.c_contiguous
    assert image.flags.writeable


def test_the_size_depends_on_the_board_alone() -> None:
    empty = points_state()
    empty.board[:] = -1
    empty.counters = {"full": 24, "quiet": 99}
    assert to_rgb_array(empty).shape == to_rgb_array(points_state()).shape


def test_each_call_returns_an_array_of_its_own() -> None:
    first = to_rgb_array(points_state())
    expected = first.copy()
    first[:] = 0
    assert np.array_equal(to_rgb_array(points_state()), expected)


@pytest.mark.parametrize("state", all_states(), ids=lambda state: state.game.name)
@pytest.mark.parametrize("height", [120, 480, 721])
def test_centres_of_cells_show_the_stones(state: FakeState, height: int) -> None:
    image = to_rgb_array(unmarked(state), height)
    for cell, stone in enumerate(state.board):
        color = tuple(image[pixel(state, cell, height)])
        if stone >= 0:
            assert color == STONE_FILL[stone]
        else:
            assert color not in STONE_FILL


def test_an_empty_square_shows_the_board() -> None:
    assert tuple(to_rgb_array(unmarked(squares_state()))[pixel(squares_state(), 0)]) == CELL


@pytest.mark.parametrize("make", [hexagon_state, points_state, squares_state])
def test_a_stone_changes_the_image_only_within_its_cell(make: Callable[[], FakeState]) -> None:
    state = unmarked(make())
    before = to_rgb_array(state)
    cell = int(np.flatnonzero(state.board < 0)[0])
    row, column = pixel(state, cell)
    view, _ = background_of(state.game.layout, 480)
    for player in (0, 1):
        changed = (to_rgb_array(state.with_stone(cell, player)) != before).any(axis=2)
        assert changed[row, column]
        rows, columns = np.nonzero(changed)
        assert np.hypot(rows - row, columns - column).max() < 0.5 * view.scale + 1


def changed_cells(state: FakeState, image: NDArray[np.uint8], other: NDArray[np.uint8]) -> set[int]:
    """The cells near whose centres two images differ."""
    differs = (image != other).any(axis=2)
    view, _ = background_of(state.game.layout, 480)
    near = round(0.3 * view.scale)
    places = {cell: pixel(state, cell) for cell in range(state.game.num_cells)}
    return {
        cell
        for cell, (row, column) in places.items()
        if differs[row - near : row + near, column - near : column + near].any()
    }


def test_marks_hints_and_the_last_action_are_seen_at_their_cells() -> None:
    state = points_state()
    assert changed_cells(state, to_rgb_array(state), to_rgb_array(unmarked(points_state()))) == {7, 11, 12, 13}
    state = hexagon_state()
    assert changed_cells(state, to_rgb_array(state), to_rgb_array(unmarked(hexagon_state()))) == {0, 1, 2, 4, 5}
    state = squares_state()
    assert changed_cells(state, to_rgb_array(state), to_rgb_array(unmarked(squares_state()))) == {
        6,
        7,
        14,
        20,
        22,
        27,
        29,
    }


def test_the_status_line_follows_the_state() -> None:
    state = points_state()
    black = to_rgb_array(state)
    state.to_play = 1
    rows, _ = np.nonzero((to_rgb_array(state) != black).any(axis=2))
    assert rows.max() < 60  # above the board
    assert (black[:60] == INK).all(axis=2).any()


def test_goal_sides_lie_outside_the_grid_in_the_players_colours() -> None:
    state = unmarked(points_state())
    image = to_rgb_array(state)
    view, _ = background_of(state.game.layout, 480)
    top, left = round(-0.6 * view.scale + view.y), round(-0.6 * view.scale + view.x)
    middle_row, middle_column = pixel(state, 12)
    assert tuple(image[top, middle_column]) == STONE_FILL[0]
    assert tuple(image[middle_row, left]) == STONE_FILL[1]
    assert tuple(image[pixel(state, 0)[0] - round(0.3 * view.scale), middle_column]) == WOOD


def test_a_height_too_small_is_refused_with_the_least_that_works() -> None:
    with pytest.raises(ValueError, match=r"height=31 .* at least 32"):
        to_rgb_array(points_state(), 31)


def test_all_letters_and_digits_have_glyphs_of_their_own() -> None:
    shown = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,:·-+/()="
    assert set(shown) == set(font.GLYPHS)
    drawn = [font.strokes(character) for character in shown if character not in "Il"]  # these two look alike
    assert len(set(drawn)) == len(drawn)
    assert font.strokes("@") == font.strokes("#")
    assert font.text_width("ab") > font.text_width("a") > 0


def test_drawing_needs_no_display_and_no_drawing_library() -> None:
    program = """
import os, sys
for name in list(os.environ):
    if name.startswith("SDL_") or name in ("DISPLAY", "WAYLAND_DISPLAY"):
        del os.environ[name]
for name in ("pygame", "PIL", "cairosvg", "matplotlib"):
    sys.modules[name] = None
from stonezoo.render import to_ansi, to_rgb_array, to_svg
from tests.stonezoo.render.fakes import all_states
for state in all_states():
    print(to_rgb_array(state).shape[0], len(to_svg(state)) > 1000, to_ansi(state).count("X") > 2)
"""
    path = [place for place in sys.path if place]
    code = f"import sys; sys.path[:0] = {path!r}\n" + program
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["480", "True", "True"] * 3


@pytest.mark.speed
def test_a_full_19_by_19_board_is_drawn_in_10_ms() -> None:
    state = FakeState(FakeGame("large", rectangle(19, 19, points=True)), stones("XO" * 180 + "X"))
    to_rgb_array(state)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        to_rgb_array(state)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.010
