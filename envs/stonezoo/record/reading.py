"""Reading records, strictly: every fault has its line and column."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, NoReturn

from stonezoo.core.game import Parameter
from stonezoo.core.text import PositionError
from stonezoo.games import rules_class
from stonezoo.record.model import (
    HEADERS,
    RESULTS,
    SEED,
    SEED_DIGITS,
    Comment,
    Record,
    RecordError,
    is_date,
    name_tables,
    result_of,
)
from stonezoo.state import Game, IllegalActionError, State, load_game

OPTIONAL = ("date", "seed", "start")  # headers
HEADER = re.compile(r"([a-z]+): (.+)")
WORD = re.compile(r"\{[^{}]+\}|[^ {}]+")
TURN = re.compile(r"[1-9][0-9]*\.", re.ASCII)
INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,8})", re.ASCII)
SHOWN = 40  # how much of a wrong word an error shows


def read_records(stream: Iterable[str]) -> Iterator[Record]:
    """Yields the games of a text stream (or of any lines), holding one game at a time.

    Every action and every result is checked against the engine.

    Raises:
        RecordError: at the line and column of the first fault. Games before it have been yielded by then.
        TypeError: `stream` is a text itself; parse_record reads one.
    """
    if isinstance(stream, (str, bytes)):
        raise TypeError(f"read_records takes a stream or lines, not {type(stream).__name__}: parse_record reads a text")
    lines = _Lines(stream)
    while lines.skip_empty():
        yield _read_record(lines)


def parse_record(text: str) -> Record:
    """Returns the one game of a text.

    Raises:
        RecordError: at the line and column of the first fault, a second game included.
        TypeError: `text` is no str.
    """
    if not isinstance(text, str):
        raise TypeError(f"a game record is a str, not {type(text).__name__}")
    lines = _Lines(text.split("\n"))
    if not lines.skip_empty():
        lines.fail("there is no game here")
    record = _read_record(lines)
    if lines.skip_empty():
        lines.fail("the text goes on after the game's end; read_records reads several games")
    return record


class _Lines:
    """The lines of a stream, one at a time, each checked to be printable."""

    def __init__(self, stream: Iterable[str]) -> None:
        self._stream = iter(stream)
        self.number = 0
        self.text = ""

    def advance(self) -> bool:
        """Goes to the next line; False, and an empty line after the last, at the end."""
        self.number += 1
        try:
            line = next(self._stream, None)
        except UnicodeDecodeError as error:
            self.text = ""
            self.fail(f"the file is not text in {error.encoding}: {error.reason}")
        if line is None:
            self.text = ""
            return False
        self.text = line.removesuffix("\n")
        if not self.text.isprintable():
            column = next(i for i, letter in enumerate(self.text) if not letter.isprintable())
            self.fail(f"{self.text[column]!r} is not a printable character", column + 1)
        return True

    def skip_empty(self) -> bool:
        """Goes to the next line that is not empty; False when there is none."""
        while self.advance():
            if self.text:
                return True
        return False

    def fail(self, message: str, column: int = 1) -> NoReturn:
        raise RecordError(message, self.number, column)

    def words(self) -> Iterator[tuple[int, str]]:
        """Yields column and text of the words and {comments} of the line, which are parted by single blanks."""
        place = 0
        while match := WORD.match(self.text, place):
            yield place + 1, match.group()
            place = match.end()
            if place == len(self.text):
                return
            if self.text[place] != " ":
                self.fail("words and {comments} are parted by a blank", place + 1)
            place += 1
        self.fail("a word or a {comment} is missing here", place + 1)


class _Header(NamedTuple):
    line: int
    value: str

    def fail(self, message: str, key: str, offset: int = 0) -> NoReturn:
        raise RecordError(message, self.line, len(key) + 3 + offset)


def _read_record(lines: _Lines) -> Record:
    """Reads one game; `lines` stands at its first line, and afterwards at its last."""
    headers = _read_headers(lines)
    game = _read_game(headers)
    state = game.initial_state() if "start" not in headers else _read_start(game, headers["start"])
    actions, comments = _read_actions(lines, state)
    result, ending = headers["result"].value, lines.text
    if ending != result:
        lines.fail(f"the game ends with {ending}, but its header says result: {result}")
    if result != result_of(state):
        lines.fail(f"the result is {result}, but the actions lead to {result_of(state)}")
    return Record(
        game,
        actions,
        (headers["black"].value, headers["white"].value),
        result,
        headers["date"].value if "date" in headers else None,
        int(headers["seed"].value) if "seed" in headers else None,
        headers["start"].value if "start" in headers else None,
        comments,
    )


def _read_headers(lines: _Lines) -> dict[str, _Header]:
    headers: dict[str, _Header] = {}
    last = -1
    while lines.text:
        match = HEADER.fullmatch(lines.text)
        if not match:
            lines.fail("a header such as 'game: NAME' is expected here, and an empty line after the last one")
        key, value = match.groups()
        if key not in HEADERS:
            lines.fail(f"{key[:SHOWN]!r} is no header; headers are {', '.join(HEADERS)}")
        if key in headers:
            lines.fail(f"the header {key} stands there twice")
        if HEADERS.index(key) < last:
            lines.fail(f"the header {key} stands too late; the order is {', '.join(HEADERS)}")
        if value != value.strip():
            lines.fail("there are blanks at the ends of this value", len(key) + 3)
        last = HEADERS.index(key)
        headers[key] = _Header(lines.number, value)
        lines.advance()
    for key in HEADERS:
        if key not in OPTIONAL and key not in headers and not (key == "parameters" and _has_none(headers)):
            lines.fail(f"the header {key} is missing")
    if headers["result"].value not in RESULTS:
        headers["result"].fail(f"the result is none of {', '.join(RESULTS)}", "result")
    if "date" in headers and not is_date(headers["date"].value):
        headers["date"].fail("this is no day such as 2026-11-29", "date")
    if "seed" in headers and not SEED.fullmatch(headers["seed"].value):
        headers["seed"].fail(f"a seed is a whole number of at most {SEED_DIGITS} digits", "seed")
    return headers


def _has_none(headers: dict[str, _Header]) -> bool:
    """Whether the game of the headers has no parameters."""
    return "game" in headers and not _game_parameters(headers["game"])


def _game_parameters(header: _Header) -> tuple[Parameter, ...]:
    try:
        parameters: tuple[Parameter, ...] = rules_class(header.value).parameters
    except ValueError as error:
        header.fail(str(error), "game")
    return parameters


def _read_game(headers: dict[str, _Header]) -> Game:
    parameters = _game_parameters(headers["game"])
    values: list[tuple[str, int | str]] = []
    if header := headers.get("parameters"):
        names = [parameter.name for parameter in parameters]
        words, column = header.value.split(" "), 0
        for i, word in enumerate(words):
            name, equals, value = word.partition("=")
            if not equals or i >= len(names) or name != names[i]:
                wanted = " ".join(f"{known}=…" for known in names)
                header.fail(
                    f"every parameter stands here, in order: {wanted or 'there are none'}", "parameters", column
                )
            values.append((name, value if parameters[i].choices else _read_integer(header, value, column)))
            column += len(word) + 1
        if len(words) != len(names):
            header.fail(f"the parameter {names[len(words)]} is missing", "parameters", column)
    try:
        game = _load_game(headers["game"].value, tuple(values))
    except ValueError as error:
        headers.get("parameters", headers["game"]).fail(str(error), "parameters")
    if game.rules_id != headers["rules"].value:
        message = f"the game was played by the rules {headers['rules'].value}, but these are {game.rules_id}"
        headers["rules"].fail(message, "rules")
    return game


def _read_integer(header: _Header, value: str, column: int) -> int:
    if not INTEGER.fullmatch(value):
        header.fail(f"{value[:SHOWN]!r} is no integer", "parameters", column)
    return int(value)


@lru_cache(maxsize=64)
def _load_game(name: str, parameters: tuple[tuple[str, int | str], ...]) -> Game:
    return load_game(name, **dict(parameters))


def _read_start(game: Game, header: _Header) -> State:
    try:
        return game.parse_state(header.value)
    except PositionError as error:
        header.fail(str(error).partition("\n")[0], "start", error.column)


def _read_actions(lines: _Lines, state: State) -> tuple[tuple[int, ...], tuple[Comment, ...]]:
    """Plays the actions; `lines` stands before them, and afterwards at the result that ends them."""
    numbers = name_tables(state.game).numbers
    comments: list[Comment] = []
    last_turn = -1
    while lines.advance() and lines.text and lines.text not in RESULTS:
        words = lines.words()
        column, first = next(words, (1, ""))
        if first.startswith("{") and last_turn < 0:
            comments.append(Comment(0, first[1:-1]))
            for column, _ in words:
                lines.fail("a comment before the first action has a line of its own", column)
            continue
        turn = state.turn
        if first != f"{turn + 1}." or turn == last_turn:
            _fail_at_turn(lines, first, turn, last_turn)
        last_turn, ply = turn, state.ply
        for column, word in words:
            if word.startswith("{") and state.ply > ply:
                comments.append(Comment(state.ply, word[1:-1]))
                continue
            if state.turn != turn and not state.terminated:
                lines.fail(f"turn {turn + 1} is over; turn {state.turn + 1} begins a new line", column)
            action = numbers[state.phase].get(word)
            if action is None:
                due = state.phase.name.lower()
                lines.fail(f"{word[:SHOWN]!r} names no action of the phase {due}, which is due", column)
            try:
                state.step(action)
            except IllegalActionError as error:
                lines.fail(str(error), column)
        if state.ply == ply:
            lines.fail(f"turn {turn + 1} has no action", len(lines.text) + 1)
    if not lines.text:
        lines.fail(f"the game breaks off; it must end with its result, one of {', '.join(RESULTS)}")
    return state.history, tuple(comments)


def _fail_at_turn(lines: _Lines, word: str, turn: int, last_turn: int) -> NoReturn:
    if not TURN.fullmatch(word):
        lines.fail(
            f"turn {turn + 1}, such as '{turn + 1}. …', or a result, one of {', '.join(RESULTS)}, is expected here"
        )
    if turn == last_turn:
        lines.fail(f"turn {turn + 1} is not over; all its actions stand in one line")
    lines.fail(f"turn {turn + 1} is due, not {word[:SHOWN]!r}")
