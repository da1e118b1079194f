"""What players see: every plane, both views, and where actions lie in the planes of a policy."""

import numpy as np
import pytest

from stonezoo.kernels.batch import observe_batch
from stonezoo.state import State
from tests.reference.dara import Dara
from tests.reference.rive import Rive
from tests.stonezoo.games.positions import random_text
from tests.stonezoo.games.referees import RULES, Case, case_id, load, read, rng_of
from tests.stonezoo.games.stories import play, position

CASES: list[Case] = [
    *(("rive", {"board_size": n}) for n in (2, 3, 5)),
    *(("resolve", {"board_size": n, "rules": rules}) for n in (2, 5) for rules in RULES["resolve"]),
    ("dara", {"rows": 5, "columns": 6, "stones": 12, "quiet_limit": 100}),
    ("dara", {"rows": 4, "columns": 4, "stones": 7, "quiet_limit": 3, "rules": "no_drop_threes"}),
    ("dara", {"rows": 1, "columns": 10, "stones": 4, "quiet_limit": 1}),
]
every_case = pytest.mark.parametrize("case", CASES, ids=case_id)


def random_states(case: Case, count: int) -> list[State]:
    """States of random games and after random positions, finished ones too."""
    rng, game = rng_of(case, "seen"), load(case)
    found: list[State] = []
    while len(found) < count:
        fresh = rng.random() < 0.3
        state = game.initial_state() if fresh else game.parse_state(random_text(case, rng))
        for _ in range(rng.randrange(30)):
            found.append(state.copy())
            if state.terminated:
                break
            state.step(rng.choice(state.legal_actions.tolist()))
    return found


def planes_of(state: State, player: int) -> dict[str, np.ndarray]:
    """What each plane says, cell by cell [num_cells], and that it says nothing off the board."""
    game = state.game
    seen = state.observation(player)
    assert seen.dtype == np.float32
    assert seen.shape == game.observation_shape
    assert ((seen >= 0) & (seen <= 1)).all()
    grid = np.array(game.layout.grid)
    assert grid.shape == game.observation_shape[:2]
    assert sorted(grid[grid >= 0]) == list(range(game.num_cells))
    assert not seen[grid < 0].any()
    flat = np.zeros((game.num_cells, seen.shape[2]), np.float32)
    flat[grid[grid >= 0]] = seen[grid >= 0]
    assert len(game.planes) == len(set(game.planes)) == seen.shape[2]
    return dict(zip(game.planes, flat.T, strict=True))


def marked(count: int, cells: set[int] | tuple[int, ...]) -> np.ndarray:
    return np.isin(np.arange(count), list(cells)).astype(np.float32)


def expected_planes(case: Case, state: State, player: int) -> dict[str, np.ndarray]:
    """The planes as the referee's position gives them."""
    referee = read(case, state.to_text())
    count = state.game.num_cells
    board = np.array(referee.board())
    ongoing = not referee.over
    whole = np.ones(count, np.float32)
    planes = {
        "own stones": board == player,
        "other stones": board == 1 - player,
        "on board": whole,
        "1 if it is the observer's turn to act": whole * (referee.to_play == player),
    }
    for phase in state.game.phases:
        name = phase.name.lower()
        planes[f"phase: {name.replace('_', ' ')}"] = whole * (ongoing and referee.phase == name)
    stone = () if referee.stone < 0 else (referee.stone,)
    if isinstance(referee, Rive):
        removing = ongoing and referee.phase == "remove"
        placing = ongoing and referee.phase == "place"
        size = np.zeros(count)
        for group in referee.groups():
            size[list(group)] = len(group)
        planes |= {
            "the stone that captures": marked(count, stone),
            "the merged group": marked(count, referee.merged_group() if removing else ()),
            "stones still to remove / cells": whole * referee.remaining / count,
            "size of the stone's group / cells": size / count,
            "legal placements": marked(count, tuple(referee.legal()) if placing else ()),
        }
    elif isinstance(referee, Dara):
        threes = [3 in referee.runs(referee.cells, c, o) if o >= 0 else False for c, o in enumerate(referee.cells)]
        stones = state.game.parameters["stones"]
        planes |= {
            "own stones in hand / stones": whole * referee.hand[player] / stones,
            "other stones in hand / stones": whole * referee.hand[1 - player] / stones,
            "quiet slides / quiet_limit": whole * referee.quiet / referee.quiet_limit,
            "own stones in a run of exactly three": threes & (board == player),
            "other stones in a run of exactly three": threes & (board == 1 - player),
        }
    else:
        n = referee.n
        rows, columns = np.divmod(np.arange(count), n)
        sides = [(rows == 0) | (rows == n - 1), (columns == 0) | (columns == n - 1)]
        planes |= {
            "1 if the observer is Black": whole * (player == 0),
            "the observer's two sides": sides[player],
            "the other player's two sides": sides[1 - player],
            "1 if a placement follows this resolution": whole * referee.owed,
            "the resolving stone": marked(count, stone),
            "enemy stones already swapped": marked(count, referee.swapped),
            "full-board turns / n²": whole * referee.full / n**2,
        }
    return {name: np.asarray(plane, np.float32) for name, plane in planes.items()}


@every_case
def test_every_plane_says_what_the_referee_says(case: Case) -> None:
    for state in random_states(case, 150):
        for player in (0, 1):
            seen, expected = planes_of(state, player), expected_planes(case, state, player)
            assert list(seen) == list(state.game.planes)
            assert set(seen) == set(expected)
            for name, plane in expected.items():
                assert np.array_equal(seen[name], plane), (state.to_text(), player, name)


@every_case
def test_every_plane_takes_more_than_one_value(case: Case) -> None:
    """No plane is dead, where the game has room for what it says."""
    dead = {"resolve": {"on board"}, "dara": {"on board"}, "rive": {"on board"}}[case[0]]
    if case[1].get("rules") == "standard" and case[0] == "resolve":
        dead |= {"phase: place after", "1 if a placement follows this resolution"}
    if case[1].get("board_size") == 2 and case[0] == "resolve":
        dead |= {"the observer's two sides", "the other player's two sides", "phase: place after"}
        dead |= {"phase: choose", "full-board turns / n²", "enemy stones already swapped"}
        dead |= {"1 if a placement follows this resolution", "phase: swap", "the resolving stone"}
    seen: dict[str, set[float]] = {}
    for state in random_states(case, 400):
        for player in (0, 1):
            for name, plane in planes_of(state, player).items():
                seen.setdefault(name, set()).update(plane.tolist())
    assert {name for name, values in seen.items() if len(values) < 2} <= dead
    assert seen["on board"] == {1.0}


@every_case
def test_the_default_view_is_that_of_the_player_to_act(case: Case) -> None:
    states = random_states(case, 60)
    game = load(case)
    rows = np.stack([state.row for state in states])
    batch = np.full((len(states), *game.observation_shape), np.nan, np.float32)
    observe_batch(game.rules, rows, batch)
    for state, seen in zip(states, batch, strict=True):
        assert np.array_equal(state.observation(), state.observation(state.to_play))
        assert np.array_equal(state.observation(), seen)
        assert not np.array_equal(state.observation(0), state.observation(1))


@every_case
def test_actions_lie_at_different_places_of_the_policy_planes(case: Case) -> None:
    game = load(case)
    planes, height, width = game.policy_shape
    index = game.policy_index
    assert index.shape == (game.num_actions,)
    assert index.dtype == np.int64
    assert (height, width) == game.observation_shape[:2]
    assert len(set(index.tolist())) == game.num_actions
    assert index.min() >= 0
    assert index.max() < planes * height * width
    grid = np.array(game.layout.grid)
    assert planes * game.num_cells == game.num_actions
    for action, place in enumerate(index.tolist()):
        plane, cell = divmod(place, height * width)
        row, column = divmod(cell, width)
        assert grid[row, column] == game.action_cells(action)[0]
        assert plane == action // game.num_cells


@every_case
def test_symmetries_are_a_group_of_tables(case: Case) -> None:
    game = load(case)
    found = game.symmetries
    square = case[0] == "resolve" or case[1].get("rows") == case[1].get("columns")
    assert len(found) == (12 if case[0] == "rive" else 8 if square else 4)
    assert len({symmetry.name for symmetry in found}) == len(found)
    tables = {(tuple(s.cells.tolist()), tuple(s.actions.tolist()), s.swaps_players) for s in found}
    assert sum(s.swaps_players for s in found) == (4 if case[0] == "resolve" else 0)
    assert np.array_equal(found[0].cells, np.arange(game.num_cells))
    assert np.array_equal(found[0].actions, np.arange(game.num_actions))
    for one in found:
        assert sorted(one.cells) == list(range(game.num_cells))
        assert sorted(one.actions) == list(range(game.num_actions))
        for action in range(game.num_actions):
            cells = [int(one.cells[cell]) for cell in game.action_cells(action)]
            assert list(game.action_cells(int(one.actions[action]))) == cells
        for two in found:
            both = (
                tuple(two.cells[one.cells].tolist()),
                tuple(two.actions[one.actions].tolist()),
                one.swaps_players != two.swaps_players,
            )
            assert both in tables
    if case[1].get("board_size") != 2 and 1 not in (case[1].get("rows"), case[1].get("columns")):
        assert len(tables) == len(found)


def test_a_finished_game_shows_no_phase() -> None:
    end = play(position("rive", "XO/XX./OO w", board_size=2), "b3")
    for player in (0, 1):
        planes = planes_of(end, player)
        assert not planes["phase: place"].any()
        assert not planes["phase: remove"].any()
        assert not planes["legal placements"].any()


def test_counters_reach_one_at_their_limit() -> None:
    """S9, D7."""
    drawn = play(position("resolve", "XXO/OXX/XOO b full=8", board_size=3), "b2 b1 c1")
    assert planes_of(drawn, 0)["full-board turns / n²"].tolist() == [1.0] * 9
    quiet = position("dara", "X..X./...../...X./...../O.O.O b", rows=5, columns=5, stones=3, quiet_limit=1)
    assert planes_of(play(quiet, "a5-b5"), 1)["quiet slides / quiet_limit"].tolist() == [1.0] * 25


def test_quiet_counts_near_the_largest_limit_look_different() -> None:
    """D7: neighbouring counts stay apart in float32."""
    text = "X..X./...../...X./...../O.O.O b quiet="
    game = position("dara", f"{text}1", rows=5, columns=5, stones=3, quiet_limit=10_000).game
    seen = {game.parse_state(f"{text}{count}").observation().tobytes() for count in range(9_000, 10_000)}
    assert len(seen) == 1000
