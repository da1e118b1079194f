"""The drawing code on states of the real games; `fakes` tests it apart from them."""

import random
from xml.etree import ElementTree

import pytest

import stonezoo
from stonezoo.render import to_ansi, to_rgb_array, to_svg
from stonezoo.state import State

SMALL = [
    ("rive", {"board_size": 2}),
    ("rive", {"board_size": 3}),
    ("resolve", {"board_size": 4, "rules": "standard"}),
    ("resolve", {"board_size": 4, "rules": "original"}),
    ("dara", {}),
    ("dara", {"rows": 3, "columns": 4, "stones": 3, "rules": "no_drop_threes"}),
]

CAPTURE = """\
Black (X) to remove 1
 c ?X .
b  .*X .
 a  .?O
* stone: b2
> last: b2
? legal: xc1 xa2"""

CHAIN = """\
Black (X) to swap
3  X?O .
2 ?O*X .
1  . . X
   a b c
X joins top and bottom, O joins left and right
* stone: b2
> last: b2
? legal: b3 a2"""

TAKE = """\
Black (X) to take
5  . . . . . .
4  . . . . . .
3  X X>X . X .
2  . . . . . .
1 ?O .?O . .?O
   a b c d e f
> last: d3-c3
? legal: xa1 xc1 xf1"""


def after(name: str, text: str, action: str, **parameters: int) -> State:
    state = stonezoo.load_game(name, **parameters).parse_state(text)
    state.step(state.str_to_action(action))
    return state


def circles(state: State, role: str) -> int:
    """The number of circles of a class in the picture."""
    root = ElementTree.fromstring(to_svg(state))
    space = "{http://www.w3.org/2000/svg}"
    return sum(len(group) for group in root.iter(f"{space}g") if group.attrib["class"] == role)


def test_a_capture_in_rive_shows_the_placed_stone_and_what_may_be_removed() -> None:
    assert to_ansi(after("rive", "X./.../.O b", "b2", board_size=2)) == CAPTURE


def test_a_chain_in_resolve_shows_the_resolving_stone_and_the_swaps() -> None:
    assert to_ansi(after("resolve", "XO./O../..X b", "b2", board_size=3)) == CHAIN


def test_a_three_in_dara_shows_the_slide_and_what_may_be_taken() -> None:
    assert to_ansi(after("dara", "....../....../XX.XX./....../O.O..O b", "d3-c3")) == TAKE


@pytest.mark.parametrize(("name", "parameters"), SMALL)
def test_every_state_of_a_random_game_can_be_drawn(name: str, parameters: dict[str, int | str]) -> None:
    chance = random.Random(7)
    state = stonezoo.load_game(name, **parameters).initial_state()
    shape = to_rgb_array(state, 96).shape
    for _ in range(80):
        board = state.board.tolist()
        assert circles(state, "stone black") == board.count(0)
        assert circles(state, "stone white") == board.count(1)
        assert to_rgb_array(state, 96).shape == shape
        lines = to_ansi(state).split("\n")
        drawn = "".join(lines[1 : 1 + len(state.game.layout.row_labels)])
        assert (drawn.count("X"), drawn.count("O")) == (board.count(0), board.count(1))
        if state.terminated:
            break
        state.step(chance.choice(state.legal_actions.tolist()))


def test_every_layout_names_and_places_each_cell_once() -> None:
    for name, parameters in SMALL:
        game = stonezoo.load_game(name, **parameters)
        layout = game.layout
        assert len(layout.centers) == len(layout.names) == game.num_cells
        assert len(set(layout.centers)) == len(set(layout.names)) == game.num_cells
        cells = [cell for row in layout.grid for cell in row if cell >= 0]
        assert sorted(cells) == list(range(game.num_cells))
