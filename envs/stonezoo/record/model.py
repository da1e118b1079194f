"""What a record is, apart from its text."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from stonezoo.core.text import PositionError
from stonezoo.state import Game, IllegalActionError, State

UNFINISHED, BLACK_WINS, WHITE_WINS, DRAW = "*", "1-0", "0-1", "1/2-1/2"
RESULTS = (BLACK_WINS, WHITE_WINS, DRAW, UNFINISHED)
UNKNOWN_PLAYER = "?"

HEADERS = ("game", "rules", "parameters", "black", "white", "result", "date", "seed", "start")
"""The keys of a record's headers, in this order."""
SEED_DIGITS = 40  # room for the 128 bits of numpy's seeds
SEED = re.compile(rf"0|[1-9][0-9]{{0,{SEED_DIGITS - 1}}}", re.ASCII)
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class RecordError(ValueError):
    """A record that cannot be read, written or replayed.

    Attributes:
        message: what is wrong.
        line: the line of the text, from 1; None when no text was read.
        column: the column in that line, from 1; None when no text was read.
    """

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message, line, column)
        self.message = message
        self.line = line
        self.column = column

    def __str__(self) -> str:
        if self.line is None:
            return f"game record: {self.message}"
        return f"game record, line {self.line}, column {self.column}: {self.message}"


class Comment(NamedTuple):
    """Words about a game: `ply` is the number of actions before them, `text` one line without braces."""

    ply: int
    text: str


@dataclass(frozen=True)
class Record:
    """One game, from its beginning or from a given position, finished or not.

    Making one checks its parts; whether the actions are legal and lead to the result is found by `replay`.

    Attributes:
        game: the game with its parameters; a record keeps its `rules_id` too.
        actions: every action, in order.
        players: who played Black and White, in any words.
        result: `"1-0"` Black won, `"0-1"` White won, `"1/2-1/2"` draw, `"*"` not finished.
        date: the day it was played, `"2026-11-29"`, or None.
        seed: what the game's random choices were made from, or None.
        start: text of the position it began from, or None for the initial state.
        comments: ordered by `ply`.
    """

    game: Game
    actions: tuple[int, ...] = ()
    players: tuple[str, str] = (UNKNOWN_PLAYER, UNKNOWN_PLAYER)
    result: str = UNFINISHED
    date: str | None = None
    seed: int | None = None
    start: str | None = None
    comments: tuple[Comment, ...] = ()

    def __post_init__(self) -> None:
        """Raises RecordError for a part that no record text can hold."""
        game: Any = self.game
        if not isinstance(game, Game):
            raise RecordError(f"game {game!r} is no Game: make one with stonezoo.load_game")
        if self.result not in RESULTS:
            raise RecordError(f"result {self.result!r} is not one of {', '.join(RESULTS)}")
        players: Any = self.players
        if not isinstance(players, tuple) or len(players) != 2 or None in players:
            raise RecordError(f"players={self.players!r}: there are two, Black and White")
        for name, value in [("black", self.players[0]), ("white", self.players[1]), ("start", self.start)]:
            if value is not None and not _is_words(value):
                raise RecordError(f"{name} {value!r} must be one line of printable text without blanks at its ends")
        if self.date is not None and not is_date(self.date):
            raise RecordError(f"date {self.date!r} is no day such as 2026-11-29")
        if self.seed is not None and not _is_seed(self.seed):
            raise RecordError(f"seed {self.seed!r} is no whole number of at most {SEED_DIGITS} digits")
        last = 0
        comment: Any
        for comment in self.comments:
            if not isinstance(comment, Comment) or not isinstance(comment.text, str):
                raise RecordError(f"comment {comment!r} is no Comment of a number of actions and a text")
            ply, text = comment
            if not last <= ply <= len(self.actions):
                raise RecordError(f"a comment stands at ply {ply}; comments go up, from 0 to {len(self.actions)}")
            if not text or not text.isprintable() or "{" in text or "}" in text:
                raise RecordError(f"comment {text!r} must be one line of printable text without braces")
            last = ply

    @classmethod
    def from_state(
        cls,
        state: State,
        *,
        players: tuple[str, str] = (UNKNOWN_PLAYER, UNKNOWN_PLAYER),
        date: str | None = None,
        seed: int | None = None,
        comments: Iterable[tuple[int, str]] = (),
    ) -> "Record":
        """Returns the record of a state's history; its first state becomes `start` unless it is the initial one."""
        first = state.copy()
        for _ in range(first.ply):
            first.undo()
        start = None if first == _initial_state(state.game) else first.to_text()
        notes = tuple(Comment(*comment) for comment in comments)
        return cls(state.game, state.history, players, result_of(state), date, seed, start, notes)

    def first_state(self) -> State:
        """Returns the state from which the game began; RecordError when `start` is no position of the game."""
        if self.start is None:
            return self.game.initial_state()
        try:
            return self.game.parse_state(self.start)
        except PositionError as error:
            raise RecordError(f"start is no position of {self.game!r}: {error}") from None

    def replay(self) -> State:
        """Returns the state after all actions, with its history.

        Raises:
            RecordError: an action is illegal, or the result is not that of the last state.
        """
        state = self.first_state()
        for ply, action in enumerate(self.actions):
            play(state, ply, action)
        self.check_result(state)
        return state

    def check_result(self, state: State) -> None:
        """Raises RecordError when the result is not that of the last state."""
        if self.result != result_of(state):
            raise RecordError(f"the result is {self.result}, but the actions lead to {result_of(state)}")


def result_of(state: State) -> str:
    """Returns the result as records write it."""
    if not state.terminated:
        return UNFINISHED
    return (DRAW, BLACK_WINS, WHITE_WINS)[state.winner + 1]


class NameTables(NamedTuple):
    """The names of all actions of a game, and the actions of all names."""

    names: dict[int, tuple[str, ...]]  # phase -> name of each action [A]
    numbers: dict[int, dict[str, int]]  # phase -> action of each name


@lru_cache(maxsize=64)
def name_tables(game: Game) -> NameTables:
    """Returns the names of a game's actions, made once."""
    names = {
        int(phase): tuple(game.rules.action_name(int(phase), action) for action in range(game.num_actions))
        for phase in game.phases
    }
    numbers = {phase: {name: action for action, name in enumerate(row)} for phase, row in names.items()}
    return NameTables(names, numbers)


@lru_cache(maxsize=64)
def _initial_state(game: Game) -> State:
    return game.initial_state()


def play(state: State, ply: int, action: int) -> None:
    """Plays an action; RecordError when it is illegal."""
    try:
        state.step(action)
    except (IllegalActionError, TypeError) as error:
        raise RecordError(f"ply {ply}: {error}") from None


def _is_words(value: object) -> bool:
    """Whether a value is one line of printable text without blanks at its ends."""
    return isinstance(value, str) and value == value.strip() != "" and value.isprintable()


def _is_seed(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < 10**SEED_DIGITS


def is_date(text: object) -> bool:
    """Whether a value is the text of a day as records write it."""
    if not isinstance(text, str) or not DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True
