"""The rules pages say what the code does: their tables, positions and examples are read and played here."""

import math
import random
import re
from pathlib import Path

import pytest

from stonezoo.core.game import NO_WINNER, PLAYER_NAMES
from stonezoo.games import BUILT_IN, rules_class
from stonezoo.state import Game, State, load_game

DOCS = Path(__file__).resolve().parents[2] / "docs"
ARROW = " -> "


def page(name: str) -> str:
    return (DOCS / "rules" / f"{name}.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[tuple[Game, str]]:
    """The lines of every block of a kind on the rules pages, with the game of its parameters."""
    found = []
    for name in BUILT_IN:
        for options, body in re.findall(rf"^```{kind}([^\n]*)\n(.*?)^```", page(name), re.DOTALL | re.MULTILINE):
            given = dict(word.split("=") for word in options.split())
            game = load_game(name, **{key: int(value) if value.isdigit() else value for key, value in given.items()})
            found += [(game, line) for line in body.splitlines()]
    return found


def ids(value: object) -> str:
    return value if isinstance(value, str) else ""


def table(name: str, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, without its two head lines."""
    section = page(name).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")
    ]
    return rows[2:]


def test_every_game_has_a_rules_page() -> None:
    assert {path.stem for path in (DOCS / "rules").glob("*.md")} == set(BUILT_IN)


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_table_of_planes_is_that_of_the_rules(name: str) -> None:
    rows = table(name, "Observation")
    assert [(int(row[0]), row[1]) for row in rows] == list(enumerate(rules_class(name).planes))
    assert load_game(name).observation_shape[2] == len(rows)


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_parameters_are_those_of_the_rules(name: str) -> None:
    rows = {row[0].strip("`"): row[1:] for row in table(name, "Parameters")}
    assert list(rows) == [parameter.name for parameter in rules_class(name).parameters]
    for parameter in rules_class(name).parameters:
        accepted, default = rows[parameter.name]
        assert default.strip("`") == str(parameter.default)
        for choice in parameter.choices or (f"{parameter.low} to {parameter.high:,}",):
            assert choice in accepted


@pytest.mark.parametrize("name", BUILT_IN)
def test_profiles_and_versions_are_those_of_the_rules(name: str) -> None:
    rows = table(name, "Profiles and versions")
    assert [row[0].strip("`") for row in rows] == [
        f"{name}/{key}@{value}" for key, value in rules_class(name).version.items()
    ]


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_phase_and_every_field_of_position_texts_is_explained(name: str) -> None:
    phases = {phase.name for phase in rules_class(name).phases}
    assert phases <= set(re.findall(r"^\| `([A-Z_]+)` \|", page(name), re.MULTILINE))
    assert [row[0] for row in table(name, "Position text")] == [f"`{key}=`" for key in rules_class(name).keys]


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_bound_on_a_games_length_is_the_one_proved(name: str) -> None:
    figures = {
        "rive": {81: {"board_size": 2}, 4153: {"board_size": 3}, 241501: {"board_size": 4}},
        "resolve": {
            531: {"board_size": 5},
            5123: {"board_size": 9},
            556: {"board_size": 5, "rules": "original"},
            5204: {"board_size": 9, "rules": "original"},
        },
        "dara": {2043: {}},
    }
    for bound, parameters in figures[name].items():
        assert load_game(name, **parameters).max_steps == bound
        assert f"{bound:,}" in page(name)


@pytest.mark.parametrize(("game", "text"), blocks("position"), ids=ids)
def test_positions_on_the_rules_pages_are_written_as_they_stand_there(game: Game, text: str) -> None:
    assert game.parse_state(text).to_text() == text


@pytest.mark.parametrize(("game", "line"), blocks("legal"), ids=ids)
def test_legal_actions_on_the_rules_pages_are_legal_and_no_others(game: Game, line: str) -> None:
    text, _, legal = line.partition(ARROW)
    state = game.parse_state(text)
    assert state.to_text() == text
    if legal.startswith("over, "):
        assert state.terminated
        assert legal == "over, " + outcome(state)
    else:
        assert [state.action_to_str(action) for action in state.legal_actions.tolist()] == legal.split()


@pytest.mark.parametrize(("game", "line"), blocks("play"), ids=ids)
def test_actions_on_the_rules_pages_lead_where_they_say(game: Game, line: str) -> None:
    before, _, after = line.partition(ARROW)
    text, _, action = before.partition(" : ")
    state = game.parse_state(text)
    state.step(state.str_to_action(action))
    assert state.to_text() == after


def group_sizes(state: State) -> list[int]:
    """Sizes of all groups of stones of both colours, largest first."""
    centers, left = state.game.layout.centers, {cell for cell, stone in enumerate(state.board.tolist()) if stone >= 0}
    sizes = []
    while left:
        waiting, size = [left.pop()], 0
        while waiting:
            cell, size = waiting.pop(), size + 1
            near = {other for other in left if math.dist(centers[cell], centers[other]) < 1.01}
            left -= near
            waiting += near
        sizes.append(size)
    return sorted(sizes, reverse=True)


@pytest.mark.parametrize("board_size", [2, 3, 4])
def test_the_list_of_group_sizes_rises_with_every_placement_of_rive(board_size: int) -> None:
    rng = random.Random(1)
    for _ in range(5):
        state = load_game("rive", board_size=board_size).initial_state()
        before: list[int] = []
        while not state.terminated:
            state.step(rng.choice(state.legal_actions.tolist()))
            if state.phase.name == "PLACE":  # placed, and all that had to leave has left
                assert group_sizes(state) > before
                before = group_sizes(state)
        assert before == [state.game.num_cells]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("rive", {"board_size": 2}),
        ("resolve", {"board_size": 2}),
        ("resolve", {"board_size": 3}),
        ("resolve", {"board_size": 3, "rules": "original"}),
        ("dara", {"rows": 3, "columns": 3, "stones": 3, "quiet_limit": 4}),
        ("dara", {"rows": 4, "columns": 4, "stones": 4, "quiet_limit": 3}),
    ],
)
def test_no_random_game_is_longer_than_the_bound(name: str, parameters: dict[str, int | str]) -> None:
    rng, game = random.Random(1), load_game(name, **parameters)
    for _ in range(200):
        state = game.initial_state()
        while not state.terminated:
            state.step(rng.choice(state.legal_actions.tolist()))
        assert game.max_steps is not None
        assert state.ply <= game.max_steps


def outcome(state: State) -> str:
    return "draw" if state.winner == NO_WINNER else f"{PLAYER_NAMES[state.winner]} wins"


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_diagram_of_names_and_numbers_is_the_games_own(name: str) -> None:
    smaller = {"rive": {"board_size": 2}, "resolve": {"board_size": 3}, "dara": {}}[name]
    names = load_game(name, **smaller).layout.names
    if name == "dara":
        assert (names[0], names[29]) == ("a5", "f1")
        return
    diagram = page(name).partition("with names and numbers:\n\n```\n")[2].partition("```")[0].split()
    assert [word for word in diagram if not word.isdigit()] == list(names)
    assert sorted(int(word) for word in diagram if word.isdigit()) == list(range(len(names)))


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", path.read_text(encoding="utf-8"))
    assert not [target for target in targets if not (path.parent / target).exists()]
