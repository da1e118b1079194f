"""Resolve: positions for each rule, S1 to S11, before and after."""

import pytest

import stonezoo
from stonezoo.state import State
from tests.stonezoo.games.stories import names, play, position, tell

both_profiles = pytest.mark.parametrize("rules", ["standard", "original"])


def resolve(text: str, rules: str = "standard") -> State:
    return position("resolve", text, board_size=len(text.split("/")[0]), rules=rules)


def assert_won(state: State, winner: int, to_play: int, phase: str) -> None:
    assert (state.terminated, state.winner, state.to_play, state.phase.name) == (True, winner, to_play, phase)
    assert state.legal_actions.size == 0
    assert state.marks == {"stone": (), "swapped": ()}


# --- Placement and resolution (S1 to S5) ---------------------------------------------------------------------------


def test_points_are_named_by_column_letter_and_row_number_from_the_bottom() -> None:
    assert stonezoo.load_game("resolve", board_size=2).layout.names == ("a2", "b2", "a1", "b1")
    assert stonezoo.load_game("resolve", board_size=19).layout.names[18] == "s19"


@both_profiles
def test_a_crosscut_may_be_resolved_with_either_enemy(rules: str) -> None:
    """S4, S5: Black places in the centre; exactly two continuations."""
    state = resolve("XO./O../..X b", rules)
    placed = tell(state, [("b2", "XO./OX./..X b phase=swap stone=b2")])
    assert names(placed) == "b3 a2"
    tell(placed, [("a2", "XO./XO./..X w")])
    tell(placed, [("b3", "XX./OO./..X w")])
    assert play(placed, "a2").turn == 1


@both_profiles
def test_a_stone_in_no_crosscut_ends_the_turn(rules: str) -> None:
    """S4."""
    tell(resolve("XO./.../... b", rules), [("b2", "XO./.X./... w")])


def test_three_swaps_may_be_open_and_one_may_join_the_opponent() -> None:
    """S5, S8: swapping up joins White's sides on Black's turn."""
    placed = tell(resolve("XOX/O.O/... b"), [("b2", "XOX/OXO/... b phase=swap stone=b2")])
    assert names(placed) == "b3 a2 c2"
    assert_won(tell(placed, [("b3", "XXX/OOO/... w last=swap")]), winner=1, to_play=1, phase="SWAP")


def test_crosscuts_of_which_the_stone_is_no_part_stay() -> None:
    """S5, S10: the crosscut in the corner is left alone, and no stone of it can be chosen in `standard`."""
    state = resolve("XO../OX../..../.... b")
    assert names(state) == "c4 d4 c3 d3 a2 b2 c2 d2 a1 b1 c1 d1"
    tell(state, [("d1", "XO../OX../..../...X w")])


def test_a_placement_may_resolve_in_a_chain() -> None:
    """S5: each swap is one action of the same player, and the enemy stones swapped are marked."""
    state = resolve("OOXX/XXX./OX.O/OOOX b")
    end = tell(
        state,
        [
            ("c2", "OOXX/XXX./OXXO/OOOX b phase=swap stone=c2"),
            ("c1", "OOXX/XXX./OXOO/OOXX b phase=swap stone=c1 swapped=c2"),
            ("b1", "OOXX/XXX./OXOO/OXOX w last=swap"),
        ],
    )
    assert_won(end, winner=0, to_play=1, phase="SWAP")


def test_black_joins_top_and_bottom_and_white_left_and_right() -> None:
    """S2, S8."""
    assert_won(play(resolve(".X./.X./O.O b"), "b1"), winner=0, to_play=1, phase="PLACE")
    assert_won(play(resolve(".X./.X./O.O w"), "b1"), winner=1, to_play=0, phase="PLACE")
    assert not play(resolve(".O./.O./X.X w"), "b1").terminated
    assert not play(resolve(".../XX./OO. b"), "c2").terminated


@both_profiles
def test_diagonals_do_not_connect(rules: str) -> None:
    """S2."""
    assert not play(resolve("X../.X./... b", rules), "c1").terminated


def test_a_winning_placement_is_not_resolved() -> None:
    """S4, S8: Black's stone joins and stands in a crosscut; the game is over at once, and it is still his turn."""
    end = tell(resolve("OOXX/O.XO/.O.X/.XOX b"), [("c2", "OOXX/O.XO/.OXX/.XOX b")])
    assert_won(end, winner=0, to_play=0, phase="PLACE")


@pytest.mark.parametrize(
    ("rules", "before", "actions", "after", "winner"),
    [
        ("standard", "OX.X/OOO./XXXO/XO.X w", "c1 c2", "OX.X/OOO./XXOO/XOXX w last=swap", 1),
        ("standard", "OOO./XXXO/OOXX/XX.. w", "c1 c2 c3", "OOO./XXOO/OOXX/XXX. w last=swap", 1),
        ("standard", "XOXX/OOXX/O.OO/X.XO b", "b2 b3", "XOXX/OXXX/OOOO/X.XO b last=swap", 1),
        ("standard", "XOXO/OOXX/XX.O/OXXO w", "c2 b2", "XOXO/OOXX/XOXO/OXXO w last=swap", 0),
        ("original", "..X./XXO./OXXX/.OOO w", "b4 b3 b2", ".XX./XXO./OOXX/.OOO w last=swap", 1),
        ("original", ".XXO/XOXO/XOXO/OX.. w", "b2 a2", ".XXO/XOXO/OXXO/OX.. w last=swap", 0),
    ],
)
def test_joining_in_mid_chain_ends_the_game(rules: str, before: str, actions: str, after: str, winner: int) -> None:
    """S8: the resolving stone is still in a crosscut that could be swapped; own joins and the opponent's alike."""
    state = resolve(before, rules)
    end = tell(state, [(actions, after)])
    assert_won(end, winner, to_play=state.to_play, phase="SWAP")


@pytest.mark.parametrize(
    ("rules", "before", "actions", "after", "winner"),
    [
        ("standard", ".XO./OO../XXOO/OXXX b", "c3 c4", ".XX./OOO./XXOO/OXXX w last=swap", 1),
        ("standard", "XOOX/XXO./XXXO/OOO. b", "d1 d2", "XOOX/XXO./XXXX/OOOO w last=swap", 1),
        ("original", ".XX./OOXO/XOXO/XOOX b", "c2 c1", ".XX./OOXO/XOOO/XOXX b last=swap", 1),
        ("original", "OX.X/XOOO/.XXX/..O. w", "a4 a3", "XX.X/OOOO/.XXX/..O. w last=swap", 1),
    ],
)
def test_the_last_swap_of_a_chain_may_join_either_player(
    rules: str, before: str, actions: str, after: str, winner: int
) -> None:
    """S8, S11: in `original` nothing more is placed."""
    state = resolve(before, rules)
    end = tell(state, [(actions, after)])
    assert (end.terminated, end.winner) == (True, winner)


# --- Stuck (S6) ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "start", "end"),
    [
        ("standard", ".XO.../.OOOX./OOXOO./XO.O../..OX../...... b", "w"),
        ("original", ".XO.../.OOOX./OOXOO./XOXO../..OX../...... b", "b phase=place_after"),
    ],
)
def test_a_stone_that_could_only_repeat_swaps_is_stuck(rules: str, start: str, end: str) -> None:
    """S5, S6, S11: placed in `standard`, chosen in `original`, where the owed placement still follows."""
    board = ".XO.../.OOOX./OOXOO./XXOO../..OX../......"
    state = play(resolve(start, rules), "c3 d3 d4 d5 c5 b5 b4")
    assert len(state.marks["swapped"]) == 6
    assert names(state) == "a4 b3"  # the walk may end in either
    state = play(state, "b3")
    assert state.to_text() == f"{board} {end}"
    stuck = stonezoo.load_game("resolve", board_size=6, rules="original").parse_state(f"{board} b")
    assert "b3" in names(stuck).split()  # the stone is still in a crosscut: it could be chosen anew
    if rules == "original":
        tell(state, [("f1", ".XO.../.OOOX./OOXOO./XXOO../..OX../.....X w")])


@both_profiles
def test_on_a_full_board_a_stuck_resolution_ends_the_turn(rules: str) -> None:
    """S6, S7: nothing can be placed, in neither profile."""
    state = resolve("XXOOXX/OOOOXX/OOXOOX/XOXOOX/OOOXOX/OXOOXO b", rules)
    end = tell(state, [("c3 d3 d4 d5 c5 b5 b4 b3", "XXOOXX/OOOOXX/OOXOOX/XXOOOX/OOOXOX/OXOOXO w full=1")])
    assert end.phase.name == "CHOOSE"


def test_a_stuck_resolution_may_reach_the_limit_of_quiet_turns() -> None:
    """S6, S9: the 36th turn on a full board of 36 points ends stuck: a draw."""
    state = resolve("XXOOXX/OOOOXX/OOXOOX/XOXOOX/OOOXOX/OXOOXO b full=35")
    chain = tell(state, [("c3", "XXOOXX/OOOOXX/OOXOOX/XOXOOX/OOOXOX/OXOOXO b phase=swap stone=c3 full=36")])
    end = play(chain, "d3 d4 d5 c5 b5 b4 b3")
    assert end.to_text() == "XXOOXX/OOOOXX/OOXOOX/XXOOOX/OOOXOX/OXOOXO w full=36"
    assert (end.terminated, end.winner, end.returns) == (True, -1, (0.0, 0.0))


# --- Full boards (S7, S9) ------------------------------------------------------------------------------------------


@both_profiles
def test_on_a_full_board_a_friendly_stone_in_a_crosscut_must_be_chosen(rules: str) -> None:
    """S7: the centre or the bottom-left stone."""
    state = resolve("XXO/OXX/XOO b", rules)
    assert (state.phase.name, names(state)) == ("CHOOSE", "b2 a1")
    chosen = tell(state, [("b2", "XXO/OXX/XOO b phase=swap stone=b2 full=1")])
    assert names(chosen) == "a2 b1"
    assert_won(tell(state, [("a1 a2", "XXO/XXX/OOO w full=1")]), winner=1, to_play=1, phase="SWAP")


@both_profiles
def test_play_on_a_full_board_may_cycle_and_is_then_drawn(rules: str) -> None:
    """S7, S9: the same two boards come again and again; the ninth turn ends the game."""
    one, two = ("b2 b1 c1", "XXO/OOX/XOX w full="), ("b2 c2 c1", "XXO/OXX/XOO b full=")
    state = resolve("XXO/OXX/XOO b", rules)
    for turn in range(1, 9):
        actions, text = one if turn % 2 else two
        state = tell(state, [(actions, f"{text}{turn}")])
        assert (state.terminated, state.counters["full"], state.turn) == (False, turn, turn)
    draw = tell(state, [("b2 b1 c1", "XXO/OOX/XOX w full=9")])
    assert (draw.terminated, draw.winner, draw.phase.name, draw.returns) == (True, -1, "SWAP", (0.0, 0.0))
    assert draw.undo() == 8
    assert not draw.terminated


@pytest.mark.parametrize(
    ("actions", "board", "winner"),
    [
        ("b2 a2", "XXO/XOX/XOO", 0),
        ("a1 a2", "XXO/XXX/OOO", 1),
        ("a1 b1", "XXO/OXX/OXO", 0),
        ("b2 b1 c1", "XXO/OOX/XOX", -1),
    ],
)
def test_joining_on_the_action_that_reaches_the_limit_wins(actions: str, board: str, winner: int) -> None:
    """S8 before S9: the ninth turn of nine wins for whoever it joins, and draws only when it joins nobody."""
    end = play(resolve("XXO/OXX/XOO b full=8"), actions)
    assert end.to_text() == f"{board} w full=9"
    assert (end.terminated, end.winner, end.phase.name) == (True, winner, "SWAP")


@both_profiles
def test_a_turn_that_fills_the_board_does_not_count(rules: str) -> None:
    """S9: turns count that began on a full board."""
    state = resolve("XOXX/OOXX/OXOO/X.OX w", rules)
    after = tell(
        state,
        [("b1", "XOXX/OOXX/OXOO/XOOX w phase=swap stone=b1"), ("a1", "XOXX/OOXX/OXOO/OXOX b")],
    )
    assert (after.phase.name, after.counters["full"]) == ("CHOOSE", 0)


# --- The original profile (S11) ------------------------------------------------------------------------------------

CORNERS = "XO.../OX.../...../....O/...OX"


def test_a_turn_may_begin_with_a_placement_or_with_a_choice_in_one_phase() -> None:
    """S11; in `standard` only placements."""
    points = "c5 d5 e5 c4 d4 e4 a3 b3 c3 d3 e3 a2 b2 c2 d2 a1 b1 c1"
    assert names(resolve(f"{CORNERS} b")) == points
    empty = points.split()
    black, white = resolve(f"{CORNERS} b", "original"), resolve(f"{CORNERS} w", "original")
    assert sorted(names(black).split()) == sorted([*empty, "a5", "b4"])
    assert sorted(names(white).split()) == sorted([*empty, "b5", "a4"])
    assert black.phase.name == white.phase.name == "PLACE"


def test_the_stone_placed_after_a_resolution_is_not_itself_resolved() -> None:
    """S11: Black's stone on d2 makes a crosscut with the corner, which stays; White may choose from it."""
    after = tell(
        resolve(f"{CORNERS} b", "original"),
        [
            ("a5", f"{CORNERS} b phase=swap stone=a5 then=place"),
            ("b5", "OX.../OX.../...../....O/...OX b phase=place_after"),
            ("d2", "OX.../OX.../...../...XO/...OX w"),
        ],
    )
    assert {"e2", "d1"} <= set(names(after).split())
    assert after.turn == 1
    # The other kind of turn: the same stone, placed at once, is resolved, and nothing follows.
    tell(
        resolve(f"{CORNERS} b", "original"),
        [
            ("d2", "XO.../OX.../...../...XO/...OX b phase=swap stone=d2"),
            ("e2", "XO.../OX.../...../...OX/...OX w"),
        ],
    )


def test_after_a_resolution_only_empty_points_are_legal() -> None:
    """S11: no second choice, though a friendly stone is in a crosscut."""
    state = resolve("XO.../OX.../...../...XO/...OX b", "original")
    owing = play(state, "a5 b5")
    assert owing.phase.name == "PLACE_AFTER"
    assert not {"d2", "e1"} & set(names(owing).split())
    assert {"d2", "e1"} <= set(names(state).split())


def test_joining_before_the_owed_placement_ends_the_game() -> None:
    """S8, S11."""
    state = resolve("XO./OX./OX. b", "original")
    assert_won(tell(state, [("a3 b3", "OX./OX./OX. b last=swap")]), winner=0, to_play=0, phase="SWAP")


def test_the_owed_placement_may_win() -> None:
    """S8, S11."""
    state = resolve("XXX/XXO/.OX b", "original")
    owing = tell(state, [("c1 c2", "XXX/XXX/.OO b phase=place_after")])
    assert_won(tell(owing, [("a1", "XXX/XXX/XOO w last=place_after")]), winner=0, to_play=1, phase="PLACE_AFTER")


def test_the_owed_placement_may_fill_the_board() -> None:
    """S7, S9, S11: the other player must then choose; his is the first turn that counts."""
    state = resolve("XXX/XOO/OX. b", "original")
    filled = tell(state, [("b1 b2", "XXX/XXO/OO. b phase=place_after"), ("c1", "XXX/XXO/OOX w")])
    assert (filled.phase.name, filled.counters["full"]) == ("CHOOSE", 0)
    assert play(filled, names(filled).split()[0]).counters["full"] == 1


def test_the_owed_placement_may_fill_the_board_and_win() -> None:
    """S8, S11."""
    state = resolve("OXOX/XXOO/XOXX/O.XO w", "original")
    assert_won(
        tell(state, [("b2 c2 c1 b1", "OXOX/XXOO/XXXX/OOOO b last=place_after")]), 1, to_play=0, phase="PLACE_AFTER"
    )
