"""Position texts: reading their parts with errors that point at the fault.

A position text is `<rows from the top joined by "/"> <b|w>` and `key=value` fields, separated by blanks.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NoReturn

from stonezoo.core.game import EMPTY, PLAYER_NAMES

STONES = {".": EMPTY, "X": 0, "O": 1}
LETTERS = {player: letter for letter, player in STONES.items()}
PLAYERS = {"b": 0, "w": 1}
WORD = re.compile(r"\S+")
NUMBER = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
SHOWN = 60  # how much of a text an error shows on either side of the fault


class PositionError(ValueError):
    """A position text that says nothing, or contradicts itself; the message points at the place."""

    def __init__(self, message: str, text: str, column: int) -> None:
        start = max(0, column - SHOWN)
        shown = "".join(c if c.isprintable() else "?" for c in text[start : column + SHOWN])
        super().__init__(f"position text, column {column + 1}: {message}\n  {shown}\n  {' ' * (column - start)}^")
        self.column = column  # from 0
        self._made_of = message, text, column

    def __reduce__(self) -> tuple[type["PositionError"], tuple[str, str, int]]:
        return PositionError, self._made_of


class Fields:
    """The fields of one position text. Every reader names the key; what nobody reads is an error at the end."""

    def __init__(self, text: str, board_column: int, places: dict[str, tuple[str, int]], names: Sequence[str]) -> None:
        self._text = text
        self._board_column = board_column
        self._places = places
        self._names = names  # cell names

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def fail(self, message: str, key: str | None = None) -> NoReturn:
        """Raises PositionError at the field `key`, or at the board."""
        raise PositionError(message, self._text, self._places[key][1] if key in self._places else self._board_column)

    def refuse(self, keys: Iterable[str], why: str) -> None:
        """Raises PositionError at the first of `keys` that is there."""
        for key in keys:
            if key in self._places:
                self.fail(f"{key}= contradicts the position: {why}", key)

    def word(self, key: str, choices: Sequence[str]) -> str | None:
        """Returns the value, one of `choices`, or None when the field is not there."""
        if key not in self._places:
            return None
        value = self._places[key][0]
        if value not in choices:
            self.fail(f"{key}={value} is not one of {', '.join(choices)}", key)
        return value

    def integer(self, key: str, low: int, high: int, default: int = 0) -> int:
        """Returns the number, from `low` to `high`, or `default` when the field is not there."""
        if key not in self._places:
            return default
        return self._number(key, self._places[key][0], low, high)

    def _number(self, key: str, value: str, low: int, high: int) -> int:
        if not NUMBER.fullmatch(value) or not low <= int(value) <= high:
            self.fail(f"{key}: {value!r} is not an integer from {low} to {high}", key)
        return int(value)

    def pair(self, key: str, low: int, high: int) -> tuple[int, int]:
        """Returns two numbers, Black's and White's; (0, 0) when the field is not there."""
        if key not in self._places:
            return 0, 0
        parts = self._places[key][0].split(",")
        if len(parts) != 2:
            self.fail(f"{key} takes two numbers, Black's and White's, such as {key}={high},{high}", key)
        return self._number(key, parts[0], low, high), self._number(key, parts[1], low, high)

    def cells(self, key: str) -> list[int]:
        """Returns the numbers of the cells named, in the order given; [] when the field is not there."""
        if key not in self._places:
            return []
        found: list[int] = []
        for name in self._places[key][0].split(","):
            if name not in self._names:
                self.fail(f"{key}: {name!r} is no cell of this board ({self._names[0]} … {self._names[-1]})", key)
            cell = self._names.index(name)
            if cell in found:
                self.fail(f"{key}: {name} stands there twice", key)
            found.append(cell)
        return found

    def cell(self, key: str) -> int | None:
        """Returns the number of the one cell named, or None when the field is not there."""
        cells = self.cells(key)
        if len(cells) > 1:
            self.fail(f"{key} takes one cell", key)
        return cells[0] if cells else None


def split_position(
    text: str, row_lengths: Sequence[int], names: Sequence[str], keys: Sequence[str]
) -> tuple[list[int], int, Fields]:
    """Returns the stones [num_cells] (-1, 0, 1), the player to act and the fields of a position text.

    Raises:
        PositionError: the shape, a letter, the player or a key is wrong, or a key stands twice.
    """
    if not isinstance(text, str):
        raise TypeError(f"a position text is a str, not {type(text).__name__}")
    words = [(match.group(), match.start()) for match in WORD.finditer(text)]
    if len(words) < 2:
        raise PositionError("a position is a board and a player, such as 'X./... b'", text, len(text.rstrip()))
    (rows, column), (player, player_column) = words[:2]
    board: list[int] = []
    lines = rows.split("/")
    if len(lines) != len(row_lengths):
        raise PositionError(f"{len(lines)} rows where this board has {len(row_lengths)}", text, column)
    place = column
    for line, length in zip(lines, row_lengths, strict=True):
        for offset, letter in enumerate(line):
            if letter not in STONES:
                raise PositionError(
                    f"{letter!r} is not one of X (Black), O (White) and . (empty)", text, place + offset
                )
            board.append(STONES[letter])
        if len(line) != length:
            raise PositionError(f"{len(line)} cells where this row has {length}", text, place)
        place += length + 1
    if player not in PLAYERS:
        raise PositionError(f"the player to act is b or w, not {player!r}", text, player_column)
    places: dict[str, tuple[str, int]] = {}
    for word, start in words[2:]:
        key, equals, value = word.partition("=")
        if not equals or key not in keys:
            raise PositionError(
                f"{word!r} is no field of this game; fields are {', '.join(k + '=' for k in keys)}", text, start
            )
        if key in places:
            raise PositionError(f"{key}= stands there twice", text, start)
        places[key] = (value, start)
    return board, PLAYERS[player], Fields(text, column, places, names)


def join_position(
    board: Sequence[int], row_lengths: Sequence[int], to_play: int, fields: Iterable[tuple[str, str]]
) -> str:
    """Returns the position text: the inverse of `split_position`."""
    lines, start = [], 0
    for length in row_lengths:
        lines.append("".join(LETTERS[int(stone)] for stone in board[start : start + length]))
        start += length
    return " ".join(["/".join(lines), "bw"[to_play], *(f"{key}={value}" for key, value in fields)])


def owner(player: int) -> str:
    """The player's name, for messages."""
    return PLAYER_NAMES[player]
