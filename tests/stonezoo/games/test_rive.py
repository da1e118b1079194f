"""Rive: positions for each rule, V1 to V10, before and after."""

import pytest

import stonezoo
from stonezoo.state import State
from tests.stonezoo.games.stories import names, play, position, tell


def rive(text: str, board_size: int = 2) -> State:
    return position("rive", text, board_size=board_size)


@pytest.mark.parametrize("n", range(2, 9))
def test_the_board_is_a_hexagon_with_named_cells(n: int) -> None:
    """V1: rows of n to 2n - 1 cells; letters for rows from the bottom, numbers from each row's left end."""
    game = stonezoo.load_game("rive", board_size=n)
    lengths = [*range(n, 2 * n), *range(2 * n - 2, n - 1, -1)]
    assert game.num_cells == game.num_actions == sum(lengths) == 3 * n * n - 3 * n + 1
    letters = "abcdefghijklmno"[: 2 * n - 1][::-1]
    expected = [f"{letter}{i + 1}" for letter, length in zip(letters, lengths, strict=True) for i in range(length)]
    assert list(game.layout.names) == expected
    assert names(game.initial_state()) == " ".join(expected)
    assert game.initial_state().to_text() == "/".join("." * length for length in lengths) + " b"


def test_side_2_is_named_as_drawn() -> None:
    assert stonezoo.load_game("rive", board_size=2).layout.names == ("c1", "c2", "b1", "b2", "b3", "a1", "a2")


def test_beside_a_lone_centre_every_cell_is_legal() -> None:
    """V3: all empty cells touch the one group."""
    assert names(rive("../.X./.. w")) == "c1 c2 b1 b3 a1 a2"


def test_a_stone_is_placed_in_isolation_where_that_is_possible() -> None:
    """V3: exactly the three cells that do not touch the corner."""
    state = rive("X./.../.. w")
    assert names(state) == "b3 a1 a2"
    tell(state, [("a2", "X./.../.O b")])


def test_the_largest_group_touched_counts_not_their_number() -> None:
    """V3: d3 and c2 touch two groups of one, a2 and a3 touch one group of two: only the first are legal."""
    state = rive(".../.O.X/...../X.OX/... w", board_size=3)
    assert names(state) == "e1 e2 e3 d1 d3 c1 c2 a1"
    assert play(state, "d3").phase.name == play(state, "c2").phase.name == "REMOVE"
    with pytest.raises(stonezoo.IllegalActionError, match="a3 touches a group of 2"):
        play(state, "a3")


def test_only_the_centre_captures_and_either_outer_stone_may_go() -> None:
    """V3 to V7: with m = 1 everywhere, four plain placements end the turn, and the centre joins two groups of one."""
    state = rive("X./.../.O b")
    assert names(state) == "c2 b1 b2 b3 a1"
    for name, text in [("c2", "XX/.../.O w"), ("b1", "X./X../.O w"), ("b3", "X./..X/.O w"), ("a1", "X./.../XO w")]:
        tell(state, [(name, text)])
    capture = tell(state, [("b2", "X./.X./.O b phase=remove stone=b2 remove=1")])
    assert names(capture) == "xc1 xa2"
    tell(capture, [("xc1", "../.X./.O b")])
    tell(capture, [("xa2", "X./.X./.. b")])
    assert play(capture, "xc1").turn == 0


def test_own_stones_may_be_removed_too() -> None:
    """V5: stones of either colour."""
    tell(rive("X./.../.X b"), [("b2", "X./.X./.X b phase=remove stone=b2 remove=1"), ("xc1", "../.X./.X b")])


def test_three_groups_of_one_leave_a_pair() -> None:
    """V5: 1 + 1 + 1 - 1 = 2 stones go, and any two of the three may."""
    state = rive(".../O.X./....X/O.X./... w", board_size=3)
    capture = tell(state, [("c4", ".../O.X./...OX/O.X./... w phase=remove stone=c4 remove=2")])
    assert names(capture) == "xd3 xc5 xb3"
    tell(
        capture,
        [
            ("xd3", ".../O.../...OX/O.X./... w phase=remove stone=c4 remove=1"),
            ("xc5", ".../O.../...O./O.X./... w"),
        ],
    )
    tell(capture, [("xc5 xd3", ".../O.../...O./O.X./... w")])  # the order does not matter
    tell(capture, [("xd3 xb3", ".../O.../...OX/O.../... w")])


def test_three_groups_of_four_leave_five_stones() -> None:
    """V5, V6: 4 + 4 + 4 - 4 = 8 go; a stone that holds others to the group must wait until they are gone."""
    state = rive(".OO/O.XX/XX.../X.XO/.XX b", board_size=3)
    capture = tell(state, [("c3", ".OO/O.XX/XXX../X.XO/.XX b phase=remove stone=c3 remove=8")])
    assert "xc3" not in names(capture).split()
    after = play(capture, "xe2 xe3 xd4 xd3")
    assert after.to_text() == ".../O.../XXX../X.XO/.XX b phase=remove stone=c3 remove=4"
    assert play(after, "xa3 xa2 xb4 xb3").to_text() == ".../O.../XXX../X.../... b"
    assert play(after, "xd1 xb1 xc1 xc2").to_text() == ".../..../..X../..XO/.XX b"


def test_a_stone_that_holds_the_group_together_may_not_go_yet() -> None:
    """V6: b4 joins a3 to the rest, and must wait until a3 has gone; b1 is in another group."""
    state = rive("XX./O..O/O.X../X..O/O.X w", board_size=3)
    capture = tell(state, [("c4", "XX./O..O/O.XO./X..O/O.X w phase=remove stone=c4 remove=2")])
    assert names(capture) == "xd4 xc3 xa3"
    with pytest.raises(stonezoo.IllegalActionError, match=r"fall apart \(V6\)"):
        play(capture, "xb4")
    with pytest.raises(stonezoo.IllegalActionError, match=r"no stone of the merged group \(V5\)"):
        play(capture, "xb1")
    tell(capture, [("xa3 xb4", "XX./O..O/O.XO./X.../O.. w")])


def test_after_a_capture_the_same_player_places_again_until_a_plain_placement() -> None:
    """V7: before `X./.../.O b`; two actions capture, the third ends the turn."""
    state = rive("X./.../.O b")
    after = tell(state, [("b2 xa2", "X./.X./.. b"), ("a2", "X./.X./.X w")])
    assert (after.turn, after.ply) == (1, 3)


def test_a_surrounded_stone_may_leave() -> None:
    """V6: with all six neighbours in the group the rest stays one group without it."""
    state = rive(".../.XX./.XOO./.XX./X.X b phase=remove stone=b3 remove=1", board_size=3)
    assert "xc3" in names(state).split()
    tell(state, [("xc3", ".../.XX./.X.O./.XX./X.X b")])


@pytest.mark.parametrize(("last", "winner"), [("b", 0), ("w", 1)])
def test_the_majority_wins_on_a_full_board(last: str, winner: int) -> None:
    """V9: before `XO/XX./OO`; the last stone decides."""
    end = play(rive(f"XO/XO./OX {last}"), "b3")
    assert end.to_text() == f"XO/XO{'XO'[winner]}/OX {'wb'[winner]}"
    assert (end.terminated, end.winner, end.to_play, end.phase.name) == (True, winner, 1 - winner, "PLACE")
    assert end.returns == ((1.0, -1.0) if winner == 0 else (-1.0, 1.0))
    assert end.legal_actions.size == 0
    assert not end.legal_action_mask.any()


def test_the_player_who_fills_the_board_may_lose() -> None:
    """V9."""
    end = play(rive("OO/OX./OX b"), "b3")
    assert (end.to_text(), end.winner) == ("OO/OXX/OX w", 1)
