"""The referee of Rive against the rules' worked examples and remarks (V1 to V10)."""

import random
from itertools import pairwise
from math import comb

import pytest

from .play import random_game
from .rive import Rive, capture_sets, neighbours


@pytest.mark.parametrize("n", range(2, 9))
def test_the_hexagon_has_3n2_3n_1_cells_and_three_full_axes(n: int) -> None:
    """V1."""
    adjacent = neighbours(n)
    assert len(adjacent) == len(Rive.initial(board_size=n).legal()) == 3 * n * n - 3 * n + 1
    assert all(cell in adjacent[other] for cell, others in enumerate(adjacent) for other in others)
    degrees = sorted(len(others) for others in adjacent)
    assert degrees == [3] * 6 + [4] * 6 * (n - 2) + [6] * (len(adjacent) - 6 * (n - 1))


def test_side_2_cells_touch_as_drawn() -> None:
    """V1: side 2 is 0 1 / 2 3 4 / 5 6."""
    expected = ((1, 2, 3), (0, 3, 4), (0, 3, 5), (0, 1, 2, 4, 5, 6), (1, 3, 6), (2, 3, 6), (3, 4, 5))
    assert neighbours(2) == expected


def test_every_cell_beside_a_lone_centre_is_legal() -> None:
    """V3."""
    assert Rive.from_rows(".. / .X. / ..", to_play=1).legal() == [0, 1, 2, 4, 5, 6]


def test_isolation_comes_first() -> None:
    """V3: exactly the three cells that do not touch the stone."""
    assert Rive.from_rows("X. / ... / ..", to_play=1).legal() == [4, 5, 6]


def test_only_the_centre_captures_and_either_outer_stone_may_go() -> None:
    """V3 to V7."""
    start = Rive.from_rows("X. / ... / .O", to_play=0)
    assert start.legal() == [1, 2, 3, 4, 5]
    for cell in (1, 2, 4, 5):
        after = start.play(cell)
        assert (after.to_play, after.phase, after.stone, after.remaining) == (1, "place", -1, 0)
    capture = start.play(3)
    assert str(capture) == "X. / .X. / .O"
    assert (capture.to_play, capture.phase, capture.stone, capture.remaining) == (0, "remove", 3, 1)
    assert capture.legal() == [0, 6]
    assert capture_sets(capture) == {frozenset({0}), frozenset({6})}
    again = capture.play(0)
    assert str(again) == ".. / .X. / .O"
    assert (again.to_play, again.phase, again.stone, again.remaining) == (0, "place", -1, 0)


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    start = Rive.from_rows("X. / ... / ..", to_play=1)
    before = start.key()
    for action in (0, 1, -1, 7):
        with pytest.raises(ValueError, match="illegal"):
            start.play(action)
    assert start.key() == before


def test_a_full_board_goes_to_the_majority() -> None:
    """V9: before `XO / XX. / OO`, after `XO / XXO / OO`."""
    start = Rive.from_rows("XO / XX. / OO", to_play=1)
    end = start.play(4)
    assert (end.over, end.winner, end.to_play, end.phase, end.legal()) == (True, 1, 0, "place", [])


def final_removals(position: Rive) -> set[frozenset[int]]:
    """Return the sets of cells that removals one by one can take away by the end of the capture in progress."""
    layer = {frozenset[int](): position}
    for _ in range(position.remaining):
        layer = {
            removed | {action}: reached.play(action) for removed, reached in layer.items() for action in reached.legal()
        }
    return set(layer)


@pytest.mark.parametrize(("n", "games", "most"), [(2, 200, 10**6), (3, 12, 3000), (4, 4, 1000)])
def test_removal_one_by_one_reaches_exactly_the_sets_of_v5(n: int, games: int, most: int) -> None:
    """V5, V6; captures with more than `most` combinations of removed stones are left out."""
    rng = random.Random(n)
    compared = 0
    for _ in range(games):
        positions = random_game(Rive.initial(board_size=n), rng)
        for before, after in pairwise(positions):
            starts = before.phase == "place" and after.phase == "remove"
            if starts and comb(len(after.merged_group()), after.remaining) <= most:
                expected = capture_sets(after)
                assert final_removals(after) == expected
                assert all(after.stone not in removed for removed in expected)
                compared += 1
    assert compared >= 50


@pytest.mark.parametrize(("n", "games"), [(2, 200), (3, 40), (4, 6)])
def test_random_games_of_rive_keep_the_rules_remarks(n: int, games: int) -> None:
    """V6: the stone just placed stays; V8: a placement is always legal; V9: no draw; V10: the group sizes rise."""
    rng = random.Random(n)
    for _ in range(games):
        sizes: list[int] = []
        for position in random_game(Rive.initial(board_size=n), rng):
            assert position.over or position.legal()
            assert position.stone not in position.legal()
            if position.phase == "place" and position.stones():
                before, sizes = sizes, sorted((len(group) for group in position.groups()), reverse=True)
                assert sizes > before
        assert position.winner in (0, 1)
        assert position.board().count(position.winner) > len(position.board()) // 2
