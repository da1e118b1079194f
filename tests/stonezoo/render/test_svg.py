from xml.etree import ElementTree

import pytest

from stonezoo.render import to_svg
from tests.stonezoo.render.fakes import FakeState, Phase, all_states, hexagon_state, points_state, squares_state

NAMESPACE = "{http://www.w3.org/2000/svg}"


def groups(state: FakeState) -> dict[str, list[ElementTree.Element]]:
    """The shapes of the picture by class."""
    found: dict[str, list[ElementTree.Element]] = {}
    for group in ElementTree.fromstring(to_svg(state)).iter(f"{NAMESPACE}g"):
        found.setdefault(group.attrib["class"], []).extend(group)
    return found


@pytest.mark.parametrize("state", all_states(), ids=lambda state: state.game.name)
def test_a_picture_is_one_svg_element_with_a_view_box_and_a_title(state: FakeState) -> None:
    root = ElementTree.fromstring(to_svg(state))
    assert root.tag == f"{NAMESPACE}svg"
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (left, top) < (0, 0)
    assert float(root.attrib["width"]) / float(root.attrib["height"]) == pytest.approx(width / height, abs=0.01)
    title = root.find(f"{NAMESPACE}title")
    assert title is not None
    assert title.text == f"{state.game.name.capitalize()}: {['Black', 'White'][state.to_play]} to " + (
        "remove 2" if state.phase == Phase.REMOVE else state.phase.name.lower()
    )


@pytest.mark.parametrize("state", all_states(), ids=lambda state: state.game.name)
def test_each_stone_is_one_circle_at_its_cell(state: FakeState) -> None:
    shapes = groups(state)
    for player, role in enumerate(("stone black", "stone white")):
        drawn = {(float(shape.attrib["cx"]), float(shape.attrib["cy"])) for shape in shapes[role]}
        cells = [cell for cell, stone in enumerate(state.board) if stone == player]
        expected = {tuple(round(100 * part, 1) for part in state.game.layout.centers[cell]) for cell in cells}
        assert len(shapes[role]) == len(cells)
        assert drawn == expected


def test_an_empty_board_has_no_stones_and_a_full_board_one_a_cell() -> None:
    state = points_state()
    state.board[:] = -1
    assert not any(role.startswith("stone ") for role in groups(state))
    state.board[:] = 0
    assert len(groups(state)["stone black"]) == 25


def test_marks_are_drawn_in_shapes_of_their_own() -> None:
    chain = groups(points_state())
    assert len(chain["stone"]) == 1
    assert len(chain["swapped"]) == 1
    assert len(chain["hint"]) == 2
    assert [shape.tag for shape in chain["last"]] == [f"{NAMESPACE}circle"]


def test_a_slide_is_an_arrow_and_a_removal_a_cross() -> None:
    arrow = groups(squares_state())["last"]
    assert [shape.tag for shape in arrow] == [f"{NAMESPACE}polyline", f"{NAMESPACE}polygon"]
    assert arrow[0].attrib["points"].startswith("200,300 ")  # from c2, up
    cross = groups(hexagon_state())["last"]
    assert [shape.tag for shape in cross] == [f"{NAMESPACE}polyline"] * 2


def test_only_games_with_goal_sides_show_them() -> None:
    assert len(groups(points_state())["side"]) == 8  # four sides, each with an edge
    assert "side" not in groups(squares_state())


def test_cells_without_column_labels_show_their_own_names() -> None:
    assert [text.text for text in groups(hexagon_state())["name"]] == list(hexagon_state().game.layout.names)
    assert "name" not in groups(squares_state())
    assert [text.text for text in groups(squares_state())["label"]] == list("54321abcdef")


def test_a_title_with_markup_characters_is_escaped() -> None:
    state = points_state()
    state.counters = {"a<b&": 1}
    assert groups(state)["status"][0].text == "Black to swap · a<b& 1"
