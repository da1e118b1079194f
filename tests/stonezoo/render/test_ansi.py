import re

import numpy as np

from stonezoo.render import to_ansi
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

HEXAGONS = """\
White (O) to remove 2
  e ?X?O>.
 d  .*O?X .
c  . . O . .
 b  X . . O
  a  . . .
* stone: d2
> last: e3
? legal: e1 e2 d3"""

POINTS = """\
Black (X) to swap
5  . . . . .
4  . X?O . .
3  .?O*X~O .
2  . . O X .
1  . . . . .
   a b c d e
X joins top and bottom, O joins left and right
* stone: c3
~ swapped: d3
> last: c3
? legal: c4 b3"""

SQUARES = """\
Black (X) to take
5  . . . . . .
4 ?O?O . . . .
3  X X>X . . .
2  . . . .?O .
1  . . .?O .?O
   a b c d e f
> last: c2-c3
? legal: a4 b4 e2 d1 f1"""


def test_a_hexagonal_board_is_indented_row_by_row() -> None:
    assert to_ansi(hexagon_state()) == HEXAGONS


def test_a_board_of_points_names_the_sides_to_join() -> None:
    assert to_ansi(points_state()) == POINTS


def test_a_board_of_squares_shows_a_slide_by_both_its_cells() -> None:
    assert to_ansi(squares_state()) == SQUARES


def test_colour_codes_are_added_only_when_asked_for_and_change_no_letter() -> None:
    for state in all_states():
        plain, colored = to_ansi(state), to_ansi(state, color=True)
        assert "\x1b" not in plain
        assert "\x1b" in colored
        assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


def test_labels_of_two_digits_keep_the_columns_in_line() -> None:
    state = FakeState(FakeGame("tall", rectangle(10, 2, points=False)), stones("XO" + ".." * 9))
    lines = to_ansi(state).split("\n")
    assert lines[1:3] == ["10  X O", " 9  . ."]
    assert lines[11] == "    a b"


def test_a_long_list_of_legal_cells_is_cut_short() -> None:
    state = points_state()
    state.board[:] = 0
    state.legal_actions = np.arange(20, dtype=np.int32)
    assert to_ansi(state).endswith("? legal: a5 b5 c5 d5 e5 a4 b4 c4 d4 e4 a3 b3 and 8 more")
