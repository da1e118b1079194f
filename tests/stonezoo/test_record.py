"""Game records: what is written is read again, and every fault is found where it stands."""

import copy
import io
import pickle
import random
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stonezoo.core.text import PositionError
from stonezoo.record import (
    HEADERS,
    RESULTS,
    Comment,
    Record,
    RecordError,
    format_record,
    parse_record,
    read_records,
    write_record,
)
from stonezoo.state import Game, State, load_game

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "records.md").read_text(encoding="utf-8")
GAMES = [
    load_game("rive", board_size=2),
    load_game("rive", board_size=3),
    load_game("resolve", board_size=3),
    load_game("resolve", board_size=4, rules="original"),
    load_game("dara"),
    load_game("dara", rows=3, columns=4, stones=3, rules="no_drop_threes", quiet_limit=5),
]
PRINTABLE = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="{}"), min_size=1, max_size=30)

WHOLE = """\
game: resolve
rules: resolve/standard@1
parameters: board_size=3 rules=standard
black: Black
white: White
result: 1-0
date: 2026-11-29
seed: 5

{on three lines}
1. a2
2. a1
3. c1 {a corner} {again}
4. c2
5. b2
6. b1 b2 a2
7. b3
1-0
"""


def play(game: Game, rng: random.Random, plies: int = 10_000, state: State | None = None) -> State:
    state = game.initial_state() if state is None else state
    while not state.terminated and state.ply < plies:
        state.step(rng.choice(state.legal_actions.tolist()))
    return state


def test_a_record_is_read_as_it_was_written() -> None:
    record = parse_record(WHOLE)
    assert record.game == load_game("resolve", board_size=3)
    assert record.players == ("Black", "White")
    assert (record.result, record.date, record.seed, record.start) == ("1-0", "2026-11-29", 5, None)
    assert record.comments == ((0, "on three lines"), (3, "a corner"), (3, "again"))
    assert len(record.actions) == 9
    assert record.replay().winner == 0
    assert format_record(record) == WHOLE


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_random_games_round_trip_from_any_position_to_any_other(game: Game) -> None:
    rng = random.Random(2)
    for _ in range(20):
        end = play(game, rng)
        assert parse_record(format_record(Record.from_state(end))) == Record.from_state(end)
        middle = play(game, rng, rng.randrange(end.ply))  # in mid-turn too
        study = play(game, rng, rng.randrange(20), game.parse_state(middle.to_text()))
        record = Record.from_state(study, players=("a b", "ü"), date="2024-02-29", seed=2**127)
        assert record.start == (middle.to_text() if middle != game.initial_state() else None)
        again = parse_record(format_record(record))
        assert again == record
        assert again.replay() == study
        assert again.replay().history == study.history


def test_a_turn_stands_in_one_line_with_its_number() -> None:
    text = format_record(parse_record(WHOLE))
    turns = [line for line in text.splitlines() if re.match(r"\d+\.", line)]
    assert [int(line.split(".")[0]) for line in turns] == list(range(1, 8))
    assert turns[5] == "6. b1 b2 a2"


def test_an_unfinished_turn_is_the_last_line() -> None:
    state = load_game("rive", board_size=2).initial_state()
    for name in ["a2", "c2", "b1", "c1"]:
        state.step(state.str_to_action(name))
    text = format_record(Record.from_state(state))
    assert text.endswith("\n3. b1\n4. c1\n*\n")
    assert parse_record(text).replay().phase.name == "REMOVE"


def test_an_empty_record_is_headers_and_a_result() -> None:
    record = Record(load_game("dara"))
    assert format_record(record).endswith("result: *\n\n*\n")
    assert parse_record(format_record(record)) == record


def test_a_record_of_a_finished_position_has_its_result_and_no_action() -> None:
    game = load_game("resolve", board_size=3)
    record = Record.from_state(game.parse_state("XXX/OOO/... w last=swap"))
    assert (record.result, record.actions) == ("0-1", ())
    assert parse_record(format_record(record)) == record


@given(
    players=st.tuples(PRINTABLE, PRINTABLE),
    seed=st.none() | st.integers(0, 10**40 - 1),
    date=st.none() | st.dates().map(str),
    notes=st.lists(st.tuples(st.integers(0, 9), PRINTABLE), max_size=5),
)
def test_any_headers_and_comments_round_trip(
    players: tuple[str, str], seed: int | None, date: str | None, notes: list[tuple[int, str]]
) -> None:
    comments = sorted(notes, key=lambda note: note[0])
    record = Record.from_state(parse_record(WHOLE).replay(), players=players, seed=seed, date=date, comments=comments)
    assert parse_record(format_record(record)) == record


def test_many_games_are_read_one_at_a_time() -> None:
    records = [Record.from_state(play(game, random.Random(i))) for i, game in enumerate(GAMES)]
    file = io.StringIO()
    for record in records:
        write_record(file, record)
    lines = file.getvalue().splitlines(keepends=True)
    consumed = 0

    def counted() -> object:
        nonlocal consumed
        for line in lines:
            consumed += 1
            yield line

    reader = read_records(counted())  # type: ignore[arg-type]
    first = next(reader)
    assert first == records[0]
    assert consumed == format_record(first).count("\n")
    assert [first, *reader] == records


def test_an_endless_file_is_no_trouble() -> None:
    def endless() -> object:
        while True:
            yield from WHOLE.splitlines(keepends=True)
            yield "\n"

    reader = read_records(endless())  # type: ignore[arg-type]
    assert len({next(reader) for _ in range(50)}) == 1


def test_games_before_a_fault_are_read() -> None:
    reader = read_records(io.StringIO(WHOLE + "\n\n" + WHOLE.replace("7. b3", "7. b2")))
    assert next(reader) == parse_record(WHOLE)
    with pytest.raises(RecordError) as caught:
        next(reader)
    assert (caught.value.line, caught.value.column) == (18 + 2 + 17, 4)
    assert "b2 is not empty (S4)" in str(caught.value)


def test_an_empty_file_has_no_games() -> None:
    assert list(read_records(io.StringIO(""))) == []
    assert list(read_records(io.StringIO("\n\n"))) == []


FAULTS = [
    ("game: resolve\n", "game: chess\n", 1, 7, "no game named 'chess'"),
    ("game: resolve\n", "", 1, 1, None),
    ("game: resolve\n", "resolve\n", 1, 1, "a header such as"),
    ("resolve/standard@1", "resolve/standard@7", 2, 8, "resolve/standard@7, but these are resolve/standard@1"),
    ("resolve/standard@1", "resolve/original@1", 2, 8, "resolve/original@1, but these are resolve/standard@1"),
    ("board_size=3 rules", "board_size=1 rules", 3, 13, "an integer from 2 to 19"),
    ("board_size=3 rules", "board_size=three rules", 3, 13, "'three' is no integer"),
    ("board_size=3 rules", "board_size=٣ rules", 3, 13, "is no integer"),
    ("board_size=3 rules=standard", "rules=standard board_size=3", 3, 13, "in order: board_size=… rules=…"),
    ("board_size=3 rules=standard", "board_size=3", 3, 26, "the parameter rules is missing"),
    ("board_size=3 rules=standard", "board_size=3  rules=standard", 3, 26, "in order"),
    ("board_size=3 rules=standard", "board_size=3 rules=standard x=1", 3, 41, "in order"),
    ("rules=standard\n", "rules=drunk\n", 3, 13, "rules='drunk' is not accepted"),
    ("black: Black\n", "", 8, 1, "the header black is missing"),
    ("black: Black\n", "black:  Black\n", 4, 8, "blanks"),
    ("black: Black\n", "black: Black\nblack: Black\n", 5, 1, "twice"),
    ("black: Black\nwhite: White\n", "white: White\nblack: Black\n", 5, 1, "too late"),
    ("black: Black\n", "black: Bl\tack\n", 4, 10, "not a printable character"),
    ("black: Black\n", "Black: Black\n", 4, 1, "a header such as"),
    ("seed: 5", "place: 5", 8, 1, "'place' is no header"),
    ("result: 1-0", "result: 2-0", 6, 9, "none of"),
    ("result: 1-0", "result: 0-1", 18, 1, "ends with 1-0, but its header says result: 0-1"),
    ("2026-11-29", "2026-11-31", 7, 7, "no day"),
    ("2026-11-29", "20261129", 7, 7, "no day"),
    ("seed: 5", "seed: -5", 8, 7, "whole number"),
    ("seed: 5", "seed: 05", 8, 7, "whole number"),
    ("seed: 5", "seed: " + "9" * 5000, 8, 7, "whole number"),
    ("seed: 5\n", "seed: 5\nstart: XO./O../..X\n", 9, 19, "a board and a player"),
    ("seed: 5\n", "seed: 5\nstart: XO./OQ./..X b\n", 9, 13, "'Q' is not one of X"),
    ("\n{on three lines}", "\n\n{on three lines}", 10, 1, "breaks off"),
    ("{on three lines}\n", "{on three lines} {more}\n", 10, 18, "a line of its own"),
    ("{on three lines}\n", "{on three lines\n", 10, 1, "is missing here"),
    ("1. a2", "1. a9", 11, 4, "'a9' names no action of the phase place"),
    ("1. a2", "1.  a2", 11, 4, "is missing here"),
    ("1. a2", "1. a2 ", 11, 7, "is missing here"),
    ("1. a2", " 1. a2", 11, 1, "is missing here"),
    ("1. a2", "1 a2", 11, 1, "turn 1, such as"),
    ("1. a2", "1.", 11, 3, "turn 1 has no action"),
    ("1. a2", "2. a2", 11, 1, "turn 1 is due, not '2.'"),
    ("1. a2", "1. {first} a2", 11, 4, "names no action"),
    ("1. a2", "1. a2 b2", 11, 7, "turn 1 is over; turn 2 begins a new line"),
    ("2. a1", "2. a2", 12, 4, "a2 is not empty (S4)"),
    ("2. a1", "{here}\n2. a1", 12, 1, "turn 2"),
    ("3. c1 {a corner}", "3. c1{a corner}", 13, 6, "parted by a blank"),
    ("6. b1 b2 a2", "6. b1 b2\n6. a2", 17, 1, "turn 6 is not over"),
    ("6. b1 b2 a2", "6. b1 c2 a2", 16, 7, "holds no enemy stone"),
    ("7. b3\n", "", 17, 1, "the result is 1-0, but the actions lead to *"),
    ("7. b3\n", "7. b3 c3\n", 17, 7, "the game is over"),
    ("7. b3\n", "7. b3\n8. c3\n", 18, 4, "the game is over"),
    ("7. b3\n1-0\n", "7. b3\n", 18, 1, "the game breaks off"),
    ("7. b3\n1-0\n", "7. b3\n0-1\n", 18, 1, "ends with 0-1"),
    ("7. b3\n1-0\n", "7. b3\n1-0 \n", 18, 1, "turn"),
    ("7. b3\n1-0\n", "7. b3\n1-0\n\ngame: dara\n", 20, 1, "goes on after the game's end"),
    ("7. b3\n1-0\n", "7. b3\n1-0\n \n", 19, 1, "goes on after the game's end"),
]


@pytest.mark.parametrize(("old", "new", "line", "column", "message"), FAULTS)
def test_a_fault_is_found_where_it_stands(old: str, new: str, line: int, column: int, message: str | None) -> None:
    assert WHOLE.count(old) == 1 or old == "7. b3\n1-0\n"
    with pytest.raises(RecordError) as caught:
        parse_record(WHOLE.replace(old, new))
    if message is None:  # the header that is missing is found at the end of the headers
        line, column, message = 8, 1, "the header game is missing"
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value) == f"game record, line {line}, column {column}: {caught.value.message}"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"result": "2-0"}, "result '2-0'"),
        ({"players": ("a", "")}, "white ''"),
        ({"players": ("a\nresult: 1-0", "b")}, "black"),
        ({"players": ("a", "b ")}, "white 'b '"),
        ({"players": ("a",)}, "there are two"),
        ({"date": "yesterday"}, "no day"),
        ({"date": "2026-02-29"}, "no day"),
        ({"seed": -1}, "seed -1"),
        ({"seed": True}, "seed True"),
        ({"seed": 10**40}, "seed 1"),
        ({"comments": (Comment(1, "late"),)}, "ply 1"),
        ({"comments": (Comment(0, "a}b"),)}, "braces"),
        ({"comments": (Comment(0, ""),)}, "one line"),
    ],
)
def test_parts_that_no_text_can_hold_are_refused(parts: dict[str, object], message: str) -> None:
    with pytest.raises(RecordError, match=re.escape(message)) as caught:
        Record(load_game("resolve", board_size=3), **parts)  # type: ignore[arg-type]
    assert caught.value.line is None


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"actions": (4, 4)}, "ply 1: action 4 (b2) is illegal for White: b2 is not empty (S4)"),
        ({"actions": (9,)}, "ply 0: action 9 is not one of the 9 actions"),
        ({"actions": ("b2",)}, "ply 0: an action is an integer"),
        ({"actions": (4,), "result": "1-0"}, "the result is 1-0, but the actions lead to *"),
        ({"start": "... b"}, "start is no position"),
    ],
)
def test_a_record_of_a_game_that_cannot_be_is_neither_replayed_nor_written(
    parts: dict[str, object], message: str
) -> None:
    record = Record(load_game("resolve", board_size=3), **parts)  # type: ignore[arg-type]
    file = io.StringIO()
    for attempt in (record.replay, lambda: format_record(record), lambda: write_record(file, record)):
        with pytest.raises(RecordError, match=re.escape(message)):
            attempt()
    assert file.getvalue() == ""


def test_a_file_that_is_no_text_is_a_record_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_bytes(WHOLE.encode() + b"\n\xff\xfe\n")
    with path.open(encoding="utf-8") as file, pytest.raises(RecordError) as caught:
        list(read_records(file))
    assert caught.value.line is not None
    assert "not text in utf-8" in str(caught.value)


def test_files_with_the_line_ends_of_windows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    path.write_bytes(WHOLE.replace("\n", "\r\n").encode())
    with path.open(encoding="utf-8") as file:
        assert list(read_records(file)) == [parse_record(WHOLE)]


def test_records_and_their_errors_pickle() -> None:
    record = parse_record(WHOLE)
    assert pickle.loads(pickle.dumps(record)) == copy.deepcopy(record) == record
    error = RecordError("wrong", 3, 4)
    assert str(pickle.loads(pickle.dumps(error))) == str(error) == "game record, line 3, column 4: wrong"


def check(text: str) -> None:
    """A text is a record that is written just so, or a RecordError with a place."""
    fault, record = None, None
    try:
        record = parse_record(text)
    except RecordError as error:
        fault = error
    if record is None:
        assert fault is not None
        assert 1 <= (fault.line or 0) <= text.count("\n") + 2
        assert (fault.column or 0) >= 1
        return
    assert format_record(record) == text.strip("\n") + "\n"
    assert record.result in RESULTS


@given(st.text(st.sampled_from(list("game: rules/12.@*-\n {}abcXO=_")), max_size=80))
def test_any_text_is_a_record_or_a_record_error(text: str) -> None:
    check(text)


@st.composite
def spoiled_records(draw: st.DrawFn) -> str:
    """A good record with a few places changed, left out or doubled."""
    game = draw(st.sampled_from(GAMES))
    text = format_record(Record.from_state(play(game, random.Random(draw(st.integers(0, 50))), 40), seed=1))
    pieces = [
        "\n",
        " ",
        "{",
        "}",
        "{a}",
        "1.",
        "*",
        "x",
        "-",
        "game: dara",
        "start: ",
        "a1",
        "1-0",
        "\r",
        "\x00",
        "ß",
        "=",
        "9" * 30,
    ]
    pieces += [f"{key}: " for key in HEADERS]
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 8)))
        text = (
            text[:start] + draw(st.sampled_from(["", text[start:end] * 2, *pieces]) | st.text(max_size=4)) + text[end:]
        )
    return text


@settings(max_examples=400)
@given(spoiled_records())
def test_a_spoiled_record_is_a_record_or_a_record_error(text: str) -> None:
    check(text)


@settings(max_examples=300)
@given(st.sampled_from(GAMES), st.integers(0, 10**6), st.data())
def test_a_spoiled_position_is_a_position_or_an_error_with_a_column(game: Game, seed: int, data: st.DataObject) -> None:
    rng = random.Random(seed)
    text = play(game, rng, rng.randrange(60)).to_text()
    pieces = [
        "X",
        "O",
        ".",
        "/",
        " ",
        "b",
        "w",
        *(f" {key}=" for key in game.rules.keys),
        "1",
        "99",
        ",",
        "a1",
        "swap",
        "remove",
        "\n",
    ]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 4)))
        text = text[:start] + data.draw(st.sampled_from(["", *pieces]) | st.text(max_size=3)) + text[end:]
    fault, state = None, None
    try:
        state = game.parse_state(text)
    except PositionError as error:
        fault = error
    if state is None:
        assert fault is not None
        assert 0 <= fault.column <= len(text)
        assert f"column {fault.column + 1}:" in str(fault)
        return
    assert game.parse_state(state.to_text()) == state
    assert state.terminated or len(state.legal_actions) > 0


def test_names_of_actions_are_made_once_a_game_and_looked_up_after_that() -> None:
    game = load_game("resolve", board_size=9)
    record = Record.from_state(play(game, random.Random(1)))
    first = format_record(record)
    rules = type(game.rules)
    saved = rules.action_name
    try:
        rules.action_name = None  # type: ignore[method-assign, assignment]
        assert format_record(record) == first
    finally:
        rules.action_name = saved  # type: ignore[method-assign]


@pytest.mark.parametrize("text", re.findall(r"^```record\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
def test_the_records_of_the_documentation_are_written_as_they_stand_there(text: str) -> None:
    assert format_record(parse_record(text)) == text


@pytest.mark.parametrize("code", re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
def test_the_code_of_the_documentation_runs(code: str) -> None:
    exec(compile(code, "records.md", "exec"), {})


def test_the_documentation_lists_the_headers_in_their_order() -> None:
    table = PAGE.partition("| key | value |")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"`([a-z]+)`", "".join(re.findall(r"^\| ([^|]*) \|", table, re.MULTILINE)))) == HEADERS


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"game": "rive"}, "is no Game"),
        ({"players": (None, None)}, "there are two"),
        ({"players": "ab"}, "there are two"),
        ({"players": (1, 2)}, "black 1"),
        ({"start": GAMES[0].initial_state()}, "start <rive"),
        ({"date": date(2026, 11, 29)}, "no day"),
        ({"seed": "5"}, "seed '5'"),
        ({"seed": 5.0}, "seed 5.0"),
        ({"comments": ((0, "words"),)}, "is no Comment"),
        ({"comments": (Comment(0, 5),)}, "is no Comment"),  # type: ignore[arg-type]
    ],
)
def test_parts_of_another_type_are_refused_when_the_record_is_made(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=re.escape(message)):
        Record(**{"game": GAMES[0], **parts})


def test_what_is_no_text_or_no_stream_is_refused_by_name() -> None:
    text = format_record(Record(GAMES[0]))
    for wrong in (None, text.encode(), Path("games.txt")):
        with pytest.raises(TypeError, match=r"a game record is a str, not"):
            parse_record(wrong)  # type: ignore[arg-type]
    for wrong in (text, text.encode()):
        with pytest.raises(TypeError, match=r"takes a stream or lines, not .*: parse_record reads a text"):
            next(read_records(wrong))  # type: ignore[arg-type]
