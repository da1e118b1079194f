"""Dara: positions for each rule, D1 to D8, before and after."""

import pytest

import stonezoo
from stonezoo.state import State
from tests.stonezoo.games.stories import names, play, position, tell


def dara(text: str, stones: int | None = None, rules: str = "standard", quiet_limit: int = 100) -> State:
    rows = text.split(" ")[0].split("/")
    shape = {"rows": len(rows), "columns": len(rows[0])}
    stones = stones or min(12, (shape["rows"] * shape["columns"] - 1) // 2)
    return position("dara", text, **shape, stones=stones, rules=rules, quiet_limit=quiet_limit)


# --- Drops (D1 to D3, D8) ------------------------------------------------------------------------------------------


def test_the_start_is_an_empty_board_of_5_rows_and_6_columns_with_12_stones_each() -> None:
    """D1, D2."""
    state = stonezoo.load_game("dara").initial_state()
    assert state.to_text() == "....../....../....../....../...... b hand=12,12"
    assert names(state).split()[:7] == ["a5", "b5", "c5", "d5", "e5", "f5", "a4"]
    tell(state, [("c3", "....../....../..X.../....../...... w hand=11,12")])


def test_a_three_that_is_dropped_captures_nothing() -> None:
    """D2."""
    tell(dara("...../...../X.X../...../OO... b hand=2,2", 4), [("b3", "...../...../XXX../...../OO... w hand=1,2")])


def test_a_three_that_was_dropped_protects_its_stones_later() -> None:
    """D2, D5: White's row of three is safe, his lone stone is not."""
    state = dara("OOO./X..O/X.../.X.. b", 4)
    take = tell(state, [("b1-a1", "OOO./X..O/X.../X... b phase=take")])
    assert names(take) == "xd3"


@pytest.mark.parametrize(
    ("board", "cell"),
    [
        ("XXX../...../...../OOO..", "d4"),
        (".XX.X/...../...../OOO..", "d4"),
        ("XX.X./...../...../OOO..", "c4"),
        ("X..../X..../X..../.OO.O", "a1"),
        ("X..../...../X..../XOOO.", "a3"),
        ("XX.XX/...../...../OOO..", "c4"),
    ],
)
def test_a_drop_may_not_make_four_or_more(board: str, cell: str) -> None:
    """D3."""
    state = dara(f"{board} b hand=2,2", 6)
    assert cell not in names(state).split()
    with pytest.raises(stonezoo.IllegalActionError, match=r"four or more \(D3\)"):
        play(state, cell)
    assert cell in names(dara(f"{board} w hand=2,2", 6)).split()  # the other colour may


def test_a_drop_that_makes_a_three_one_way_and_a_four_the_other_is_illegal() -> None:
    """D3: c4 is a three down and a four across."""
    state = dara("...../XX.X./..X../..X../O.OO. b hand=2,2", 8)
    assert "c4" not in names(state).split()


@pytest.mark.parametrize(("rules", "legal"), [("standard", True), ("no_drop_threes", False)])
@pytest.mark.parametrize(
    ("board", "cell"),
    [("XX.../...../...../OO...", "c4"), ("X.X../...../...../OO...", "b4"), ("X..../X..../...../OO...", "a2")],
)
def test_in_one_profile_a_drop_may_not_make_three(rules: str, legal: bool, board: str, cell: str) -> None:
    """D8."""
    state = dara(f"{board} b hand=2,2", 4, rules)
    assert (cell in names(state).split()) is legal
    if not legal:
        with pytest.raises(stonezoo.IllegalActionError, match=r"three or more \(D8\)"):
            play(state, cell)


def test_in_that_profile_a_slide_may_make_three() -> None:
    """D5, D8."""
    take = tell(dara("X.X./.X../..../O.OO b", 4, "no_drop_threes"), [("b3-b4", "XXX./..../..../O.OO b phase=take")])
    assert names(take) == "xa1 xc1 xd1"


@pytest.mark.parametrize(
    ("rules", "before", "drop", "after"),
    [
        ("standard", "XXX.OOO.. b hand=1,1", "i1", "XXX.OOO.X w last=drop hand=0,1"),
        ("no_drop_threes", "OX./.XX/O.O b hand=1,1", "c3", "OXX/.XX/O.O w hand=0,1"),
    ],
)
def test_a_player_who_cannot_drop_loses(rules: str, before: str, drop: str, after: str) -> None:
    """D3, D6, D8: every empty cell would give White a run that is forbidden."""
    end = tell(dara(before, 4, rules), [(drop, after.replace(" last=drop", ""))])
    assert (end.terminated, end.winner, end.to_play, end.phase.name) == (True, 0, 1, "DROP")


# --- Slides (D3, D4) -----------------------------------------------------------------------------------------------


def test_slides_begin_when_all_stones_are_down_and_black_moves_first() -> None:
    """D2, D4."""
    state = dara("OXO/.X./X.. w hand=0,1", 3)
    after = tell(state, [("c1", "OXO/.X./X.O b")])
    assert (after.phase.name, after.to_play) == ("SLIDE", 0)
    assert names(after) == "a1-a2 b2-c2 a1-b1 b2-b1 b2-a2"
    numbers = [9 + 6, 18 + 4, 18 + 6, 27 + 4, 36 + 4]  # planes north, east, south, west
    assert after.legal_actions.tolist() == numbers
    for action, text in [
        ("b2-c2", "OXO/..X/X.O"),
        ("b2-a2", "OXO/X../X.O"),
        ("b2-b1", "OXO/.../XXO"),
        ("a1-a2", "OXO/XX./..O"),
    ]:
        tell(after, [(action, f"{text} w quiet=1")])


def test_a_slide_may_be_taken_back_at_once() -> None:
    """D4: the same board comes again, with the count of quiet slides."""
    tell(
        dara("X..X./...../...X./...../O.O.O b", 3),
        [("a5-b5 a1-b1 b5-a5 b1-a1", "X..X./...../...X./...../O.O.O b quiet=4")],
    )


def test_the_cell_that_a_slide_leaves_is_empty_when_runs_are_measured() -> None:
    """D3, D5: the fourth column's stone moves one step left: a three, not a four, and it captures."""
    state = dara("....../....../XX.XX./....../O.O..O b")
    take = tell(state, [("d3-c3", "....../....../XXX.X./....../O.O..O b phase=take")])
    assert names(take) == "xa1 xc1 xf1"
    end = tell(take, [("xc1", "....../....../XXX.X./....../O....O w last=take")])
    assert (end.terminated, end.winner) == (True, 0)  # D6: two stones are left


def test_no_slide_makes_four_even_when_it_makes_a_three() -> None:
    """D3: south from d4 would be a three down and a four across."""
    state = dara("O.O.O./...X../XXX.../...X../...X.. b", 12)
    assert "d4-d3" not in names(state).split()
    assert "d4-e4" in names(state).split()
    with pytest.raises(stonezoo.IllegalActionError, match=r"four or more \(D3\)"):
        play(state, "d4-d3")


def test_no_slide_makes_five() -> None:
    """D3."""
    assert "c4-c3" not in names(dara("O.O.O./..X.../XX.XX./....../...... b")).split()


def test_a_three_may_be_left_along_its_own_line() -> None:
    """D3, D4: the cell it leaves no longer counts, so that the stone joins a pair and makes no four."""
    state = dara("XXX.X./....../....../....../O.O.O. b")
    assert "c5-d5" in names(state).split()  # then c5 is empty, and d5-e5 is a pair
    tell(state, [("c5-d5", "XX.XX./....../....../....../O.O.O. w quiet=1")])


# --- Captures (D5) -------------------------------------------------------------------------------------------------


def test_a_three_with_nothing_to_take_ends_the_turn() -> None:
    """D5, D7: every white stone is in a three, and the slide counts as quiet."""
    end = tell(
        dara("OOO.../....../XX..../..X.../...... b quiet=7"),
        [("c2-c3", "OOO.../....../XXX.../....../...... w quiet=8")],
    )
    assert (end.phase.name, end.turn) == ("SLIDE", 1)


def test_stones_in_a_three_are_protected() -> None:
    """D5: only the white stone outside the three may go; the count of quiet slides begins anew."""
    take = tell(
        dara("OOO.../....../XX...O/..X.../...... b quiet=7"),
        [("c2-c3", "OOO.../....../XXX..O/....../...... b phase=take")],
    )
    assert names(take) == "xf3"
    with pytest.raises(stonezoo.IllegalActionError, match="protected"):
        play(take, "xa5")
    tell(take, [("xf3", "OOO.../....../XXX.../....../...... w")])


def test_a_stone_in_a_three_down_is_protected_too() -> None:
    """D5: horizontally or vertically."""
    take = play(dara("O..O../O...../OXX.../X....O/...... b"), "a2-b2")
    assert take.phase.name == "SLIDE"  # no three: only two in a column
    take = play(dara("O..O../OX..../OX..../X....O/...... b"), "a2-b2")
    assert names(take) == "xd5 xf2"


def test_a_double_three_takes_one() -> None:
    """D5: across and down at once."""
    take = tell(
        dara("..X.../..X.../XX.X../....../O.O.OO b"), [("d3-c3", "..X.../..X.../XXX.../....../O.O.OO b phase=take")]
    )
    assert names(take) == "xa1 xc1 xe1 xf1"
    after = tell(take, [("xa1", "..X.../..X.../XXX.../....../..O.OO w")])
    assert (after.to_play, after.phase.name) == (1, "SLIDE")


def test_a_three_elsewhere_in_the_line_captures_nothing() -> None:
    """D5: the run of three must hold the stone that moved."""
    tell(dara("....../....X./XXX.../....../O.O.OO b"), [("e4-e3", "....../....../XXX.X./....../O.O.OO w quiet=1")])


def test_a_three_left_and_formed_again_captures_again() -> None:
    """D4, D5 (Suite)."""
    state = dara("....../....../XXX.../....../O.O.OO b")
    out = tell(state, [("c3-c2", "....../....../XX..../..X.../O.O.OO w quiet=1")])
    tell(out, [("a1-a2 c2-c3", "....../....../XXX.../O...../..O.OO b phase=take")])


def test_sliding_within_ones_own_line_may_form_the_next_three() -> None:
    """D3, D5: of `XX.XXX` the stone after the gap joins the pair."""
    take = tell(
        dara("XX.XX./X...../....../....../O.O.OO b"), [("d5-c5", "XXX.X./X...../....../....../O.O.OO b phase=take")]
    )
    assert take.counters["quiet"] == 0


def test_a_line_of_both_colours_is_no_three() -> None:
    """D5."""
    tell(
        dara("X.O.../.X..../....../..X.../O.O.OO b"),
        [("b4-b5", "XXO.../....../....../..X.../O.O.OO w quiet=1")],
    )


# --- Ends (D6, D7) -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("quiet", [0, 99])
def test_a_player_who_cannot_slide_loses_and_that_comes_before_the_draw(quiet: int) -> None:
    """D6, D7: with the slide that blocks White the count reaches its limit, too."""
    counter = f" quiet={quiet}" if quiet else ""
    state = dara(f"OOX/O../XX. b{counter}", 3)
    end = tell(state, [("b1-b2", f"OOX/OX./X.. w quiet={quiet + 1}")])
    assert (end.terminated, end.winner, end.phase.name) == (True, 0, "SLIDE")


def test_the_last_drop_may_block_the_other_player() -> None:
    """D4, D6: Black must slide first; his stones have nowhere to go."""
    end = tell(dara("O.OX/..XX w hand=0,1", 3), [("b1", "O.OX/.OXX b last=drop")])
    assert (end.terminated, end.winner, end.phase.name) == (True, 1, "DROP")


def test_white_who_is_reduced_to_two_loses_and_three_play_on() -> None:
    """D6."""
    take = dara("XXX./..../O.OO/O... b phase=take", 4)
    four = play(take, "xa1")
    assert not four.terminated
    end = tell(dara("XXX./..../O.OO/.... b phase=take", 4), [("xa2", "XXX./..../..OO/.... w last=take")])
    assert (end.terminated, end.winner, end.to_play) == (True, 0, 1)


def test_a_take_may_leave_the_other_player_without_a_slide() -> None:
    """D3, D6: of `OOXXX..XO` White's stones are blocked by Black's and by the edge."""
    end = tell(dara("OOXXX.OXO b phase=take", 4), [("xg1", "OOXXX..XO w last=take")])
    assert (end.terminated, end.winner) == (True, 0)


def test_white_may_win_on_the_slide_that_reaches_the_limit() -> None:
    """D6 for either colour: blocked on the slide that reaches the limit."""
    end = tell(dara("XX.O/XOO. w quiet=5", 3, quiet_limit=6), [("d2-c2", "XXO./XOO. b quiet=6")])
    assert (end.terminated, end.winner) == (True, 1)


def test_quiet_slides_draw_at_the_limit_and_not_before() -> None:
    """D7."""
    state = dara("....../....X./XX..../....../O.O.OO b", quiet_limit=4)
    third = tell(state, [("e4-e5 a1-a2 e5-e4", "....../....X./XX..../O...../..O.OO w quiet=3")])
    assert not third.terminated
    draw = tell(third, [("a2-a1", "....../....X./XX..../....../O.O.OO b quiet=4")])
    assert (draw.terminated, draw.winner, draw.returns, draw.phase.name) == (True, -1, (0.0, 0.0), "SLIDE")


def test_a_capture_on_the_slide_that_would_reach_the_limit_goes_on() -> None:
    """D7: that slide is not a quiet one."""
    state = dara("....../..X.../XX..../....../O.O.OO b quiet=3", quiet_limit=4)
    tell(
        state,
        [
            ("c4-c3", "....../....../XXX.../....../O.O.OO b phase=take"),
            ("xa1", "....../....../XXX.../....../..O.OO w"),
        ],
    )


def test_a_three_with_nothing_to_take_may_reach_the_limit() -> None:
    """D5, D7."""
    end = play(dara("OOO.../....../XX..../..X.../...... b quiet=3", quiet_limit=4), "c2-c3")
    assert (end.terminated, end.winner, end.counters["quiet"]) == (True, -1, 4)


def test_the_first_slide_may_be_the_last() -> None:
    """D7 with a limit of one."""
    end = play(dara("X..X./...../...X./...../O.O.O b", 3, quiet_limit=1), "a5-b5")
    assert (end.terminated, end.winner) == (True, -1)


# --- Thin boards ---------------------------------------------------------------------------------------------------


def test_on_one_row_stones_slide_east_and_west_only() -> None:
    """D1, D4."""
    state = dara("X.OX.O.XO. b", 4)
    assert names(state) == "a1-b1 d1-e1 h1-g1"
    assert all(action // 10 in (2, 4) for action in state.legal_actions)


def test_on_one_column_stones_slide_north_and_south_only() -> None:
    """D1, D4."""
    state = dara("X/./O/X/./O/./X/O/. b", 4)
    assert names(state) == "a3-a4 a10-a9 a7-a6"
    assert all(action // 10 in (1, 3) for action in state.legal_actions)
