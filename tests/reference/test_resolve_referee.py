"""The referee of Resolve against the rules' worked examples and remarks (S1 to S11)."""

import random
from itertools import product

import pytest

from .perft import after_turns
from .play import play_all, random_game
from .resolve import Resolve, crosscut_enemies, is_joined, joined_player

RESOLVE_RULES = ["standard", "original"]


def test_a_stone_in_a_crosscut_may_swap_with_either_shared_enemy() -> None:
    """S4, S5: before `XO. / O.. / ..X`."""
    start = Resolve.from_rows("XO. / O.. / ..X", to_play=0)
    placed = start.play(4)
    assert (placed.phase, placed.to_play, placed.stone, placed.swapped) == ("swap", 0, 4, ())
    assert placed.legal() == [1, 3]
    left, up = placed.play(3), placed.play(1)
    assert str(left) == "XO. / XO. / ..X"
    assert str(up) == "XX. / OO. / ..X"
    for after in (left, up):
        assert (after.phase, after.to_play, after.stone, after.swapped, after.over) == ("place", 1, -1, (), False)
    assert len(after_turns(start)) == len(start.legal()) + 1  # no other placement is resolved


def test_a_stone_in_no_crosscut_ends_the_turn() -> None:
    """S4: before `XO. / ... / ...`."""
    after = Resolve.from_rows("XO. / ... / ...", to_play=0).play(4)
    assert (after.phase, after.to_play, after.stone) == ("place", 1, -1)


def test_a_swap_may_join_the_opponent() -> None:
    """S5, S8: before `XOX / O.O / ...`, after `XXX / OOO / ...`."""
    placed = Resolve.from_rows("XOX / O.O / ...", to_play=0).play(4)
    assert placed.legal() == [1, 3, 5]
    end = placed.play(1)
    assert str(end) == "XXX / OOO / ..."
    assert (end.over, end.winner, end.legal()) == (True, 1, [])
    assert (end.phase, end.stone, end.swapped, end.to_play) == ("swap", -1, (), 1)


def test_the_sides_of_black_are_top_and_bottom() -> None:
    """S2, S8."""
    end = Resolve.from_rows(".X. / .X. / OO.", to_play=0).play(8)
    assert not end.over
    end = Resolve.from_rows(".X. / .X. / O.O", to_play=0).play(7)
    assert (end.over, end.winner, end.phase, end.to_play) == (True, 0, "place", 1)
    end = Resolve.from_rows(".X. / .X. / O.O", to_play=1).play(7)
    assert (end.over, end.winner) == (True, 1)


def test_crosscuts_elsewhere_stay() -> None:
    """S5: a placement that is in no crosscut leaves the one in the corner."""
    start = Resolve.from_rows("XO.. / OX.. / .... / ....", to_play=0)
    assert start.legal() == [2, 3, *range(6, 16)]
    after = start.play(15)
    assert (str(after), after.phase, after.to_play) == ("XO.. / OX.. / .... / ...X", "place", 1)


@pytest.mark.parametrize("rules", RESOLVE_RULES)
def test_on_a_full_board_a_friendly_stone_in_a_crosscut_is_chosen(rules: str) -> None:
    """S7, S9: `XXO / OXX / XOO`; the centre and the bottom-left stone are in a crosscut."""
    start = Resolve.from_rows("XXO / OXX / XOO", to_play=0, rules=rules)
    assert (start.phase, start.legal(), start.full) == ("choose", [4, 6], 0)
    chosen = start.play(4)
    assert (chosen.phase, chosen.stone, chosen.full, chosen.owed, chosen.to_play) == ("swap", 4, 1, False, 0)
    assert chosen.legal() == [3, 7]
    after = start.play(6).play(3)
    assert (str(after), after.over, after.winner) == ("XXO / XXX / OOO", True, 1)
    again = Resolve.from_rows("XXO / OOX / XXO", to_play=1, rules=rules, full=3)
    assert again.play(again.legal()[0]).full == 4


@pytest.mark.parametrize("n", [3, 4])
def test_a_full_board_without_a_winner_has_a_stone_to_choose(n: int) -> None:
    """S7, over every full board."""
    for cells in product((0, 1), repeat=n * n):
        if joined_player(cells, n) == -1:
            for player in (0, 1):
                assert any(cells[point] == player and crosscut_enemies(cells, n, point) for point in range(n * n))


def test_both_players_are_never_joined_at_once() -> None:
    """S8, over every 3 x 3 board."""
    for cells in product((-1, 0, 1), repeat=9):
        assert not (is_joined(cells, 3, 0) and is_joined(cells, 3, 1))


# Black places in the hole of the fourth row; the stone then walks round seven white ones.
STUCK_BEFORE = ".XO... / .OOOX. / OOXOO. / XO.O.. / ..OX.. / ......"
STUCK_AFTER = ".XO... / .OOOX. / OOXOO. / XXOO.. / ..OX.. / ......"
STUCK_WALK = [20, 21, 15, 9, 8, 7, 13, 19]


def test_a_stuck_stone_ends_the_turn() -> None:
    """S5, S6."""
    position = Resolve.from_rows(STUCK_BEFORE, to_play=0)
    for step, point in enumerate(STUCK_WALK):
        position = position.play(point)
        if step < 7:
            assert (position.phase, position.stone, position.to_play) == ("swap", point, 0)
            assert position.swapped == tuple(sorted(STUCK_WALK[:step]))
            assert not set(position.swapped) & set(position.legal())
    assert (str(position), position.phase, position.to_play, position.stone) == (STUCK_AFTER, "place", 1, -1)
    assert crosscut_enemies(position.cells, 6, 19)


def test_a_stuck_stone_is_followed_by_the_placement_of_the_original_profile() -> None:
    """S6, S11."""
    chosen = Resolve.from_rows(STUCK_BEFORE.replace("XO.O", "XOXO"), to_play=0, rules="original")
    position = play_all(chosen, STUCK_WALK)
    assert (str(position), position.phase, position.to_play, position.stone) == (STUCK_AFTER, "place_after", 0, -1)
    assert position.legal() == [point for point, owner in enumerate(position.board()) if owner == -1]
    assert (position.play(35).phase, position.play(35).to_play) == ("place", 1)


def test_the_original_profile_resolves_first_and_then_places_unresolved() -> None:
    """S11: Black resolves the corner and then makes a crosscut at the other end, which stays."""
    text = "XO... / OX... / ..... / ....O / ...OX"
    start = Resolve.from_rows(text, to_play=0, rules="original")
    empty = [point for point, owner in enumerate(start.board()) if owner == -1]
    assert start.legal() == sorted([*empty, 0, 6])
    assert Resolve.from_rows(text, to_play=1, rules="original").legal() == sorted([*empty, 1, 5])
    assert Resolve.from_rows(text, to_play=0).legal() == empty
    chosen = start.play(0)
    assert (chosen.phase, chosen.stone, chosen.owed, chosen.full, chosen.legal()) == ("swap", 0, True, 0, [1, 5])
    owing = chosen.play(1)
    assert (str(owing), owing.phase, owing.to_play) == (
        "OX... / OX... / ..... / ....O / ...OX",
        "place_after",
        0,
    )
    assert (owing.stone, owing.swapped, owing.legal()) == (-1, (), empty)
    after = owing.play(18)
    assert (str(after), after.phase, after.to_play) == (
        "OX... / OX... / ..... / ...XO / ...OX",
        "place",
        1,
    )
    assert {19, 23} <= set(after.legal())  # White may choose either stone of the new crosscut
    placed = start.play(18)  # the other kind of turn: this stone is resolved, and nothing follows
    assert (placed.phase, placed.owed, placed.legal()) == ("swap", False, [19, 23])
    assert (placed.play(19).phase, placed.play(19).to_play) == ("place", 1)


def test_joining_before_the_owed_placement_ends_the_game() -> None:
    """S8, S11: before `XO. / OX. / OX.`, after `OX. / OX. / OX.`; Black would have had to place."""
    start = Resolve.from_rows("XO. / OX. / OX.", to_play=0, rules="original")
    end = play_all(start, [0, 1])
    assert (str(end), end.over, end.winner, end.legal()) == ("OX. / OX. / OX.", True, 0, [])
    assert (end.phase, end.to_play, end.stone, end.swapped, end.owed) == ("swap", 0, -1, (), False)


def test_the_owed_placement_may_win() -> None:
    """S8, S11: before `XXX / XXO / .OX`; resolved `XXX / XXX / .OO`; after `XXX / XXX / XOO`."""
    owing = play_all(Resolve.from_rows("XXX / XXO / .OX", to_play=0, rules="original"), [8, 5])
    assert (str(owing), owing.phase, owing.over) == ("XXX / XXX / .OO", "place_after", False)
    end = owing.play(6)
    assert (end.over, end.winner, end.phase, end.to_play) == (True, 0, "place_after", 1)


def test_the_owed_placement_may_fill_the_board() -> None:
    """S9, S11: before `XXX / XOO / OX.`; the turn began on a board that was not full, so it does not count."""
    owing = play_all(Resolve.from_rows("XXX / XOO / OX.", to_play=0, rules="original"), [7, 4])
    assert (str(owing), owing.phase, owing.legal()) == ("XXX / XXO / OO.", "place_after", [8])
    filled = owing.play(8)
    assert (filled.over, filled.phase, filled.to_play, filled.full) == (False, "choose", 1, 0)


def quiet_turns(position: Resolve) -> list[Resolve]:
    """Return the ends of the turns that join nobody."""
    return [after for after in after_turns(position) if after.winner == -1]


@pytest.mark.parametrize("rules", RESOLVE_RULES)
def test_nine_turns_on_a_full_board_of_nine_points_are_a_draw(rules: str) -> None:
    """S9: the draw falls at the end of the ninth turn, not before."""
    layer = {"": Resolve.from_rows("XXO / OXX / XOO", to_play=0, rules=rules)}
    for turn in range(1, 10):
        layer = {str(after): after for position in layer.values() for after in quiet_turns(position)}
        assert layer
        for after in layer.values():
            assert (after.full, after.over, after.to_play) == (turn, turn == 9, turn % 2)
            assert after.phase == ("swap" if after.over else "choose")


def test_joining_comes_before_the_draw() -> None:
    """S8 before S9: with the count at its limit a turn that joins wins, any other draws."""
    start = Resolve.from_rows("XXO / OXX / XOO", to_play=0, full=8)
    ends = {str(end): end for end in after_turns(start)}
    assert all(end.over and end.full == 9 for end in ends.values())
    winners = {text: end.winner for text, end in ends.items()}
    assert winners == {
        "XXO / OXX / OXO": 0,
        "XXO / XXX / OOO": 1,
        "XXO / OOX / XOX": -1,
        "XXO / XOX / XOO": 0,
    }


@pytest.mark.parametrize("rules", RESOLVE_RULES)
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_random_games_of_resolve_always_have_an_action(n: int, rules: str) -> None:
    """S4, S5, S7."""
    rng = random.Random(n)
    for _ in range(100):
        for position in random_game(Resolve.initial(board_size=n, rules=rules), rng):
            assert position.over == (position.legal() == [])
            assert (position.phase == "swap" and not position.over) == (position.stone != -1)
            assert (position.phase == "choose") <= (-1 not in position.board())
