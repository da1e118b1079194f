"""The referee of Dara against the rules' worked examples and remarks (D1 to D8)."""

import random

import pytest

from .dara import EAST, NORTH, SOUTH, WEST, Dara
from .play import play_all, random_game

DARA_RULES = ["standard", "no_drop_threes"]


def slide(direction: int, row: int, column: int, rows: int = 5, columns: int = 6) -> int:
    return direction * rows * columns + row * columns + column


def test_a_slide_along_its_own_line_makes_a_three_and_captures() -> None:
    """D3, D5, D6: `d3-c3`; its source counts as empty, so this is no four."""
    start = Dara.from_rows("...... / ...... / XX.XX. / ...... / O.O..O", to_play=0, quiet=7)
    action = slide(WEST, 2, 3)
    assert action in start.legal()
    take = start.play(action)
    assert str(take) == "...... / ...... / XXX.X. / ...... / O.O..O"
    assert (take.phase, take.to_play, take.quiet, take.over) == ("take", 0, 0, False)
    assert take.legal() == [24, 26, 29]
    end = take.play(26)
    assert str(end) == "...... / ...... / XXX.X. / ...... / O....O"
    assert (end.over, end.winner, end.phase, end.to_play) == (True, 0, "take", 1)  # reduced to two


def test_a_three_with_nothing_to_take_ends_the_turn() -> None:
    """D5, D7: every white stone is in a three."""
    start = Dara.from_rows("OOO... / ...... / XX.... / ..X... / ......", to_play=0, quiet=7)
    after = start.play(slide(NORTH, 3, 2))
    assert str(after) == "OOO... / ...... / XXX... / ...... / ......"
    assert (after.phase, after.to_play, after.quiet, after.over) == ("slide", 1, 8, False)


def test_stones_in_a_three_are_protected() -> None:
    """D5: only the white stone outside the three may be taken."""
    start = Dara.from_rows("OOO... / ...... / XX...O / ..X... / ......", to_play=0)
    take = start.play(slide(NORTH, 3, 2))
    assert take.legal() == [17]
    after = take.play(17)
    assert (after.phase, after.to_play, after.quiet, after.over) == ("slide", 1, 0, False)


def test_two_threes_capture_one_stone() -> None:
    """D5."""
    start = Dara.from_rows("..X... / ..X... / XX.X.. / ...... / O.O.OO", to_play=0)
    take = start.play(slide(WEST, 2, 3))
    assert (take.phase, take.legal()) == ("take", [24, 26, 28, 29])
    after = take.play(24)
    assert (after.phase, after.to_play, after.board().count(1)) == ("slide", 1, 3)


def test_a_three_elsewhere_in_the_line_captures_nothing() -> None:
    """D5: `XXX.X.` where the stone on the right is the one that moved."""
    start = Dara.from_rows("...... / ....X. / XXX... / ...... / O.O.OO", to_play=0)
    after = start.play(slide(SOUTH, 1, 4))
    assert (after.phase, after.to_play, after.quiet) == ("slide", 1, 1)


def test_a_reformed_three_captures_again() -> None:
    """D4, D5: sliding out of a three and back is allowed."""
    start = Dara.from_rows("...... / ...... / XXX... / ...... / O.O.OO", to_play=0)
    out = start.play(slide(EAST, 2, 2))
    back = out.play(slide(NORTH, 4, 0)).play(slide(WEST, 2, 3))
    assert back.phase == "take"


def test_no_slide_makes_four_even_when_it_makes_a_three() -> None:
    """D3: down into the third row would be a three upright and a four across."""
    start = Dara.from_rows("O.O.O. / ...X.. / XXX... / ...X.. / ...X..", to_play=0)
    assert slide(SOUTH, 1, 3) not in start.legal()
    assert slide(EAST, 1, 3) in start.legal()
    longer = Dara.from_rows("O.O.O. / ..X... / XX.XX. / ...... / ......", to_play=0)
    assert slide(SOUTH, 1, 2) not in longer.legal()  # five


@pytest.mark.parametrize(("rules", "three"), [("standard", True), ("no_drop_threes", False)])
def test_drops_make_no_four_and_in_one_profile_no_three(rules: str, three: bool) -> None:
    """D2, D3, D8."""
    start = Dara.from_rows("XXX... / ...... / XX.X.. / XX.... / OO....", to_play=0, rules=rules, hand=(2, 2))
    assert start.phase == "drop"
    assert 3 not in start.legal()  # four across
    assert 14 not in start.legal()  # four across
    assert (20 in start.legal()) is three
    assert 21 in start.legal()
    assert set(start.legal()) <= set(range(30))
    if three:
        after = start.play(20)
        assert (after.phase, after.to_play, after.hand, after.quiet) == ("drop", 1, (1, 2), 0)


def test_slides_begin_when_all_stones_are_down() -> None:
    """D1, D2, D4: north, east, south and west are planes 1 to 4; Black moves first."""
    start = Dara.initial(rows=3, columns=3, stones=3)
    after = play_all(start, [4, 0, 1, 2, 6, 8])
    assert (str(after), after.phase, after.to_play, after.hand) == ("OXO / .X. / X.O", "slide", 0, (0, 0))
    assert after.legal() == sorted([9 + 6, 18 + 4, 18 + 6, 27 + 4, 36 + 4])
    assert str(after.play(27 + 4)) == "OXO / ... / XXO"
    assert str(after.play(36 + 4)) == "OXO / X.. / X.O"
    with pytest.raises(ValueError, match="illegal"):
        after.play(9 + 4)


def test_a_blocked_player_loses() -> None:
    """D6: before `OOX / O.. / XX.`, after `OOX / OX. / X..`; D6 comes before D7."""
    for quiet in (0, 99):
        start = Dara.from_rows("OOX / O.. / XX.", to_play=0, quiet=quiet)
        end = start.play(slide(NORTH, 2, 1, 3, 3))
        assert (end.over, end.winner, end.phase, end.to_play) == (True, 0, "slide", 1)


def test_a_player_who_cannot_drop_loses() -> None:
    """D6, D8: after White's drop every empty cell would give Black a three."""
    start = Dara.from_rows("XX. / XX. / ...", to_play=1, rules="no_drop_threes", hand=(1, 3))
    end = start.play(8)
    assert (end.over, end.winner, end.phase, end.to_play, end.legal()) == (True, 1, "drop", 0, [])


def test_quiet_slides_draw_at_the_limit() -> None:
    """D7."""
    start = Dara.from_rows("...... / ....X. / XX.... / ...... / O.O.OO", to_play=0, quiet_limit=4)
    there_and_back = [slide(NORTH, 1, 4), slide(NORTH, 4, 0), slide(SOUTH, 0, 4), slide(SOUTH, 3, 0)]
    third = play_all(start, there_and_back[:3])
    assert (third.over, third.quiet) == (False, 3)
    end = third.play(there_and_back[3])
    assert (end.over, end.winner, end.quiet, end.phase, end.to_play) == (True, -1, 4, "slide", 0)
    # At the limit less one, a slide that captures is not a quiet one.
    start = Dara.from_rows("...... / ..X... / XX.... / ...... / O.O.OO", to_play=0, quiet_limit=4, quiet=3)
    take = start.play(slide(SOUTH, 1, 2))
    assert (take.over, take.phase, take.quiet) == (False, "take", 0)
    assert (take.play(24).over, take.play(24).quiet) == (False, 0)


@pytest.mark.parametrize("rules", DARA_RULES)
def test_random_games_of_dara_keep_the_rules_remarks(rules: str) -> None:
    """D2, D3, D6, D7."""
    rng = random.Random(1)
    for rows, columns, stones in [(3, 3, 3), (3, 4, 4), (5, 5, 9), (5, 6, 12)]:
        for _ in range(5):
            start = Dara.initial(rows=rows, columns=columns, stones=stones, rules=rules, quiet_limit=30)
            for position in random_game(start, rng):
                cells = position.board()
                for cell, owner in enumerate(cells):
                    assert owner == -1 or max(position.runs(cells, cell, owner)) <= 3
                assert position.over == (position.legal() == [])
                assert position.quiet <= 30
                if not position.over:
                    assert (position.phase == "drop") == (position.hand[position.to_play] > 0)
                    assert min(cells.count(player) + position.hand[player] for player in (0, 1)) >= 3
            if position.winner == -1:
                assert position.quiet == 30
