"""Position texts that are refused, with the place of the fault; fuzzed texts raise nothing else."""

import copy
import pickle
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stonezoo
from stonezoo.core.text import PositionError
from tests.reference.resolve import joined_player
from tests.stonezoo.games.positions import random_text
from tests.stonezoo.games.referees import Case, case_id, load, rng_of

RIVE: Case = ("rive", {"board_size": 2})
STANDARD: Case = ("resolve", {"board_size": 3, "rules": "standard"})
ORIGINAL: Case = ("resolve", {"board_size": 3, "rules": "original"})
DARA: Case = ("dara", {"rows": 3, "columns": 5, "stones": 4, "quiet_limit": 10})
GAMES = [RIVE, STANDARD, ORIGINAL, DARA, ("rive", {"board_size": 3}), ("dara", {})]

SWAP = "XO./OX./... b phase=swap stone=b2"
FULL = "XXO/OXX/XOO b"

# The fault stands at the first letter of the second part.
REFUSED = [
    # shape, letters, player
    (RIVE, ("", ""), "a board and a player"),
    (RIVE, ("../.../..", ""), "a board and a player"),
    (RIVE, ("", "../... b"), "2 rows"),
    (RIVE, ("", "../.../../.. b"), "4 rows"),
    (RIVE, ("../", "..../.. b"), "4 cells"),
    (RIVE, ("../.../", ". b"), "1 cells"),
    (STANDARD, (".../", "..../... b"), "4 cells"),
    (STANDARD, ("", ".../... b"), "2 rows"),
    (RIVE, ("../.", "x./.. b"), "'x'"),
    (RIVE, ("../.", "B./.. b"), "'B'"),
    (RIVE, ("../.../.. ", "B"), "'B'"),
    (RIVE, ("../.../.. ", "bw"), "'bw'"),
    (RIVE, ("../.../.. ", "phase=place b"), "the player to act is b or w"),
    # fields that are unknown, doubled or empty
    (RIVE, ("../.../.. b ", "quiet=1"), "no field of this game"),
    (RIVE, ("../.../.. b ", "b"), "no field"),
    (RIVE, ("../.../.. b ", "Phase=place"), "no field"),
    (RIVE, ("../.../.. b ", "=place"), "no field"),
    (RIVE, ("../.../.. b ", "hand=0,0"), "no field"),
    (STANDARD, ("XO./OX./... b ", "remove=1"), "no field"),
    (DARA, ("...../...../..... b hand=4,4 ", "full=1"), "no field"),
    (RIVE, ("../.../.. b phase=place ", "phase=place"), "twice"),
    (DARA, ("...../...../..... b hand=4,4 ", "hand=4,4"), "twice"),
    (RIVE, ("../.../.. b ", "phase="), "phase"),
    (RIVE, ("../.../.. b ", "phase=swap"), "place, remove"),
    (STANDARD, ("XO./OX./... b ", "phase=remove"), "place, choose, swap, place_after"),
    (DARA, ("...../...../..... b hand=4,4 ", "phase=place"), "drop, slide, take"),
    # Rive
    (RIVE, ("X./.X./.O b ", "phase=remove"), "needs stone="),
    (RIVE, ("X./.X./.O b ", "phase=remove stone=b2"), "needs stone="),
    (RIVE, ("X./.X./.O b ", "phase=remove remove=1"), "needs stone="),
    (RIVE, ("X./.X./.O b ", "stone=b2 remove=1"), "phase=remove"),
    (RIVE, ("X./.X./.O b ", "remove=1"), "phase=remove"),
    (RIVE, ("X./.X./.O b phase=remove ", "stone=b9 remove=1"), "no cell"),
    (RIVE, ("X./.X./.O b phase=remove ", "stone=b2,c1 remove=1"), "one cell"),
    (RIVE, ("X./.X./.O b phase=remove ", "stone=b1 remove=1"), "a stone of Black"),
    (RIVE, ("X./.X./.O w phase=remove ", "stone=b2 remove=1"), "a stone of White"),
    (RIVE, ("X./.X./.O b phase=remove ", "stone=c1 remove=1"), "joins no two groups"),
    (RIVE, ("X./.X./.O b phase=remove stone=b2 ", "remove=0"), "from 1 to 1"),
    (RIVE, ("X./.X./.O b phase=remove stone=b2 ", "remove=2"), "from 1 to 1"),
    (RIVE, ("X./.X./.O b phase=remove stone=b2 ", "remove=1.0"), "from 1 to 1"),
    (RIVE, ("X./.X./.O b phase=remove stone=b2 ", "remove=01"), "from 1 to 1"),
    (RIVE, ("X./.X./.O b phase=remove stone=b2 ", "remove=9999999999999999999999"), "from 1 to 1"),
    (RIVE, ("X./.X./.O b phase=remove stone=b2 ", "remove=\u0661"), "from 1 to 1"),
    (RIVE, ("XX/XXX/OO b ", "phase=remove stone=b2 remove=1"), "joins no two groups|over"),
    # Resolve
    (STANDARD, (f"{SWAP[:13]} ", "phase=swap"), "needs stone="),
    (STANDARD, ("XO./OX./... b ", "stone=b2"), "belongs to phase=swap"),
    (STANDARD, ("XO./OX./... b ", "swapped=b3"), "belongs to phase=swap"),
    (STANDARD, ("XO./OX./... b phase=swap ", "stone=b3"), "a stone of Black"),
    (STANDARD, ("XO./OX./... b phase=swap ", "stone=a1"), "a stone of Black"),
    (STANDARD, ("XO./OX./..X b phase=swap ", "stone=c1"), "cannot be swapped"),
    (STANDARD, (f"{SWAP} ", "swapped=a3"), "stones of White"),
    (STANDARD, (f"{SWAP} ", "swapped=c3"), "stones of White"),
    (STANDARD, (f"{SWAP} ", "swapped=b3,b3"), "twice"),
    (STANDARD, (f"{SWAP} ", "swapped=b3,,a2"), "no cell"),
    (STANDARD, (f"{SWAP} ", "swapped="), "no cell"),
    (STANDARD, ("XO./OX./... b phase=swap ", "stone=b2 swapped=b3,a2"), "cannot be swapped"),
    (STANDARD, (f"{SWAP} ", "then=place"), "original"),
    (STANDARD, ("XO./OX./... b ", "then=place"), "phase=swap"),
    (ORIGINAL, (f"{SWAP} ", "then=swap"), "place"),
    (ORIGINAL, (f"{FULL} phase=swap stone=b2 full=1 ", "then=place"), "empty point"),
    (STANDARD, ("XO./OX./... b ", "phase=place_after"), "original"),
    (ORIGINAL, (f"{FULL} ", "phase=place_after"), "no point is empty"),
    (STANDARD, (f"{FULL} ", "phase=place"), "no point is empty"),
    (STANDARD, ("XO./OX./... b ", "phase=choose"), "not full"),
    (STANDARD, ("XO./OX./... b ", "full=1"), "full board"),
    (STANDARD, (f"{FULL} ", "full=10"), "from 0 to 9"),
    (STANDARD, (f"{FULL} ", "full=-1"), "from 0 to 9"),
    (STANDARD, (f"{FULL} full=9 ", "phase=choose"), "over"),
    (ORIGINAL, (f"{FULL} full=9 ", "phase=choose"), "over"),
    (STANDARD, ("X../X../X.. w ", "phase=place"), "over"),
    (STANDARD, ("X../X../X.. w ", "phase=swap stone=a1"), "over"),
    (STANDARD, ("X../X../X.. w ", "last=choose"), "place, swap"),
    (STANDARD, ("X../X../X.. w ", "last=place_after"), "place, swap"),
    (STANDARD, ("XO./OX./... b ", "last=place"), "not over"),
    # Dara
    (DARA, ("", "XXXX./...../..... b hand=0,4"), "more|run of four"),
    (DARA, ("...../...../..... b ", "hand=5,4"), "from 0 to 4"),
    (DARA, ("...../...../..... b ", "hand=4"), "two numbers"),
    (DARA, ("...../...../..... b ", "hand=4,4,4"), "two numbers"),
    (DARA, ("...../...../..... b ", "hand=4,x"), "from 0 to 4"),
    (DARA, ("X..../...../..... b ", "hand=4,4"), "1 stones on the board and 4 in hand"),
    (DARA, ("...../...../..... b ", "hand=1,4"), "in hand"),
    (DARA, ("X.X.X/...../O.O.O b hand=1,1 ", "quiet=1"), "D7"),
    (DARA, ("X.X.X/...../O.O.O b hand=1,1 ", "phase=take"), "D2"),
    (DARA, ("X.X.X/...../O.O.O b hand=1,1 ", "phase=slide"), "D2"),
    (DARA, ("X.X.X/...../O.O.O b ", "phase=drop"), "D2"),
    (DARA, ("X.X.X/...../O.O.O b ", "quiet=11"), "from 0 to 10"),
    (DARA, ("X.X.X/...../O.O.O b ", "phase=take"), "no run of exactly three"),
    (DARA, ("XXX../...../OOO.. b ", "phase=take"), "no stone to take"),
    (DARA, ("XXX../...../O.O.O b phase=take ", "quiet=1"), "D7"),
    (DARA, ("X.X.X/...../O.O.O b ", "last=slide"), "not over"),
    (DARA, ("XXX../...../O.O.. b ", "phase=take"), "over"),
    (DARA, ("", "X..../...../....O b"), "both"),
]


@pytest.mark.parametrize(("case", "parts", "why"), REFUSED, ids=[case[0] + ": " + "".join(p) for case, p, _ in REFUSED])
def test_a_contradiction_is_refused_and_pointed_at(case: Case, parts: tuple[str, str], why: str) -> None:
    text = parts[0] + parts[1]
    with pytest.raises(PositionError, match=why) as caught:
        load(case).parse_state(text)
    assert isinstance(caught.value, ValueError)
    error = str(caught.value)
    assert f"column {caught.value.column + 1}:" in error
    first, shown, pointer = error.split("\n")
    assert first.startswith("position text, column ")
    assert pointer.strip() == "^"
    if parts[1]:
        assert 0 <= caught.value.column < len(text)
        assert pointer.index("^") < len(shown)


POINTED = [  # texts with one fault only, whose place is known to the letter
    (case, parts) for case, parts, _ in REFUSED if parts[0] and parts[1] and "=" not in parts[1].partition(" ")[2]
]


@pytest.mark.parametrize(("case", "parts"), POINTED, ids=[case[0] + ": " + "".join(p) for case, p in POINTED])
def test_the_pointer_stands_at_the_field_or_the_board_or_the_letter(case: Case, parts: tuple[str, str]) -> None:
    with pytest.raises(PositionError) as caught:
        load(case).parse_state(parts[0] + parts[1])
    row_start = (parts[0] + parts[1]).rfind("/", 0, len(parts[0]) + 1) + 1
    assert caught.value.column in (len(parts[0]), row_start, 0)


@pytest.mark.parametrize(
    "board",
    ["XXXX/..../..../....", "X.../X.../X.../X...", "OOOO/..../..../....", "..../..../..../OOOO", ".XXXX/...../...."],
)
@pytest.mark.parametrize("hand", ["", " hand=1,1"])
def test_a_run_of_four_is_refused(board: str, hand: str) -> None:
    """D3, across and down, on slides and on drops."""
    rows = board.split("/")
    game = stonezoo.load_game("dara", rows=len(rows), columns=max(map(len, rows)), stones=5)
    with pytest.raises(PositionError, match=r"run of four or more.*\(D3\)"):
        game.parse_state(f"{'/'.join(row.ljust(len(rows[0]), '.') for row in rows)} b{hand}")


def test_shorter_runs_in_any_arrangement_are_read() -> None:
    """D3: two runs of three in a row are no four when a cell lies between them."""
    game = stonezoo.load_game("dara", rows=3, columns=7, stones=10)
    state = game.parse_state("XXX.XXX/O.O.O.O/OOOXOOO b")
    assert state.board.tolist().count(0) == 7


def test_a_board_on_which_a_player_is_joined_is_finished_whoever_acts() -> None:
    """S8."""
    game = stonezoo.load_game("resolve", board_size=3)
    for player in "bw":
        assert game.parse_state(f"X../X../X.. {player}").winner == 0
        assert game.parse_state(f"OOO/XX./... {player}").winner == 1


@pytest.mark.parametrize(
    ("case", "text", "short"),
    [
        (RIVE, "  X./.../.O \t b \n", "X./.../.O b"),
        (RIVE, "X./.../.O b phase=place", "X./.../.O b"),
        (STANDARD, "XO./OX./... b swapped=b3 stone=b2 phase=swap", "XO./OX./... b phase=swap stone=b2 swapped=b3"),
        (STANDARD, "XO./OX./... w phase=place full=0", "XO./OX./... w"),
        (STANDARD, f"{FULL} phase=choose", FULL),
        (STANDARD, "X../X../X.. w last=place", "X../X../X.. w"),
        (DARA, "X.X.X/...../O.O.O b hand=0,0 quiet=0 phase=slide", "X.X.X/...../O.O.O b"),
        (DARA, "X.X.X/...../O.O.O b phase=drop hand=1,1", "X.X.X/...../O.O.O b hand=1,1"),
    ],
)
def test_defaults_may_be_said_and_are_left_out(case: Case, text: str, short: str) -> None:
    assert load(case).parse_state(text).to_text() == short


@pytest.mark.parametrize("value", [None, 5, b"../.../.. b", ["../.../.. b"]])
def test_what_is_no_text_is_a_type_error(value: Any) -> None:
    with pytest.raises(TypeError, match="a position text is a str"):
        load(RIVE).parse_state(value)


def test_no_board_joins_both_players() -> None:
    """S8: so there is none to refuse; every full and every sparse 3 x 3 board is read."""
    game = load(STANDARD)
    for stones in product(".XO", repeat=9):
        board = "/".join("".join(stones[i : i + 3]) for i in (0, 3, 6))
        state = game.parse_state(f"{board} b")
        assert state.winner == joined_player(tuple(".XO".index(stone) - 1 for stone in stones), 3)


def mutated(text: str, draw: Any) -> str:
    """A position text with a few letters or words changed."""
    letters = "XO./ bw=,phaseplremovstniquhgdk0123456789-\t\u0661\u2028"
    words = text.split(" ")
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.integers(0, 3))
        if kind == 0:
            i = draw(st.integers(0, len(text)))
            text = text[:i] + draw(st.sampled_from(letters)) + text[i + draw(st.integers(0, 1)) :]
        elif kind == 1:
            text += " " + draw(st.sampled_from(FIELDS)) + draw(st.sampled_from(VALUES))
        elif kind == 2 and len(words) > 2:
            del words[draw(st.integers(2, len(words) - 1))]
            text = " ".join(words)
        else:
            text = text.replace("b", "w") if draw(st.booleans()) else text[: draw(st.integers(0, len(text)))]
    return text


FIELDS = ["phase=", "stone=", "swapped=", "remove=", "full=", "quiet=", "hand=", "then=", "last=", "x="]
VALUES = [
    *["place", "remove", "choose", "swap", "place_after", "drop", "slide", "take"],
    *["a1", "b2", "b2,a1", "c1", "0", "1", "9", "12", "100", "1,1", "0,1", "12,12", "", ",", "-1", "1e3", "\u00b2"],
]


@pytest.mark.parametrize("case", GAMES, ids=case_id)
@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_fuzzed_text_is_read_exactly_or_refused_with_a_place(case: Case, data: st.DataObject) -> None:
    game = load(case)
    text = mutated(random_text(case, rng_of(case, data.draw(st.integers(0, 10**6)))), data.draw)
    try:
        state = game.parse_state(text)
    except PositionError as refusal:
        error = refusal
    else:
        error = None
    if error is not None:
        assert 0 <= error.column <= len(text)
        assert "column" in str(error)
        return
    again = game.parse_state(state.to_text())
    assert again == state
    assert again.row.tobytes() == state.row.tobytes()
    if not state.terminated:
        assert len(state.legal_actions)
        for action in state.legal_actions[:3]:
            after = state.copy()
            after.step(action)
            assert game.parse_state(after.to_text()) == after


@pytest.mark.parametrize("case", GAMES, ids=case_id)
@settings(max_examples=100, deadline=None, derandomize=True)
@given(text=st.text())
def test_any_text_at_all_raises_a_value_error_or_nothing(case: Case, text: str) -> None:
    for tried in (text, f"{load(case).initial_state().to_text()} {text}"):
        try:
            load(case).parse_state(tried)
        except PositionError:
            pass


def test_a_refusal_crosses_processes() -> None:
    """Pickled and copied, as when a worker raises it."""
    with pytest.raises(PositionError) as caught:
        load(RIVE).parse_state("../.x./.. b")
    for error in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
        assert type(error) is PositionError
        assert (str(error), error.column) == (str(caught.value), caught.value.column)
