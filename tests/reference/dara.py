"""Dara, transcribed rule by rule (D1 to D8)."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from .diagram import draw_diagram, read_diagram

EMPTY = -1

# Planes of the action numbers: 0 drops or captures at the cell, 1 to 4 slide the stone at the cell.
NORTH, EAST, SOUTH, WEST = 1, 2, 3, 4


@cache
def rays(rows: int, columns: int) -> tuple[dict[int, list[int]], ...]:
    """For each cell and each direction the cells that lie that way, nearest first, up to the edge (D1)."""
    return tuple(
        {
            NORTH: [r * columns + column for r in range(row - 1, -1, -1)],
            EAST: [row * columns + c for c in range(column + 1, columns)],
            SOUTH: [r * columns + column for r in range(row + 1, rows)],
            WEST: [row * columns + c for c in range(column - 1, -1, -1)],
        }
        for row in range(rows)
        for column in range(columns)
    )


class Dara:
    """A position of Dara; `play` returns a new one."""

    # Fields that only the other games use.
    stone = -1
    swapped: tuple[int, ...] = ()
    remaining = 0
    full = 0

    def __init__(
        self,
        rows: int,
        columns: int,
        rules: str,
        quiet_limit: int,
        cells: tuple[int, ...],
        to_play: int,
        phase: str,
        hand: tuple[int, int],
        quiet: int = 0,
        over: bool = False,
        winner: int = -1,
    ) -> None:
        self.rows = rows
        self.columns = columns
        self.rules = rules  # "standard" or "no_drop_threes" (D8)
        self.quiet_limit = quiet_limit
        self.cells = cells
        self.to_play = to_play
        self.phase = phase  # "drop", "slide" or "take"
        self.hand = hand  # stones still to drop, Black's and White's
        self.quiet = quiet  # consecutive slides without a capture (D7)
        self.over = over
        self.winner = winner
        self._legal: list[int] | None = None

    @classmethod
    def initial(
        cls, rows: int = 5, columns: int = 6, stones: int = 12, rules: str = "standard", quiet_limit: int = 100
    ) -> "Dara":
        """Return the empty board, Black to drop (D1)."""
        return cls(rows, columns, rules, quiet_limit, (EMPTY,) * (rows * columns), 0, "drop", (stones, stones))

    @classmethod
    def from_rows(
        cls,
        text: str,
        to_play: int,
        rules: str = "standard",
        quiet_limit: int = 100,
        hand: tuple[int, int] = (0, 0),
        **fields: Any,
    ) -> "Dara":
        """Return the position of a diagram, of a game that is not over; without `fields` the start of a turn."""
        board = read_diagram(text)
        cells = tuple(cell for row in board for cell in row)
        fields.setdefault("phase", "drop" if hand[to_play] else "slide")
        return cls(len(board), len(board[0]), rules, quiet_limit, cells, to_play, hand=hand, **fields)

    def board(self) -> list[int]:
        """Return each cell as -1 (empty), 0 (Black) or 1 (White)."""
        return list(self.cells)

    def key(self) -> tuple[Any, ...]:
        """Return everything that the future depends on."""
        return (self.cells, self.to_play, self.phase, self.hand, self.quiet, self.over, self.winner)

    def __str__(self) -> str:
        return draw_diagram(self.board(), [self.columns] * self.rows)

    def runs(self, cells: Sequence[int], cell: int, player: int) -> tuple[int, int]:
        """Return how long the horizontal and the vertical run of a stone of `player` on `cell` are among `cells`."""
        reach = {}
        for direction, ray in rays(self.rows, self.columns)[cell].items():
            reach[direction] = 0
            for other in ray:
                if cells[other] != player:
                    break
                reach[direction] += 1
        return 1 + reach[WEST] + reach[EAST], 1 + reach[NORTH] + reach[SOUTH]

    def takeable(self, cells: Sequence[int], player: int) -> list[int]:
        """D5: the stones of `player` that are in no run of exactly three of his."""
        return [cell for cell, owner in enumerate(cells) if owner == player and 3 not in self.runs(cells, cell, player)]

    def legal(self) -> list[int]:
        """Return the legal action numbers in ascending order, none when the game is over."""
        if self._legal is None:
            if self.over:
                self._legal = []
            elif self.phase == "drop":
                self._legal = self._legal_drops()
            elif self.phase == "slide":
                self._legal = self._legal_slides()
            else:
                self._legal = self.takeable(self.cells, 1 - self.to_play)
        return list(self._legal)

    def _legal_drops(self) -> list[int]:
        longest = 3 if self.rules == "standard" else 2  # D3, D8
        return [
            cell
            for cell, owner in enumerate(self.cells)
            if owner == EMPTY and max(self.runs(self.cells, cell, self.to_play)) <= longest
        ]

    def _legal_slides(self) -> list[int]:
        actions = []
        for direction in (NORTH, EAST, SOUTH, WEST):
            for source, owner in enumerate(self.cells):
                ray = rays(self.rows, self.columns)[source][direction]
                if owner == self.to_play and ray and self.cells[ray[0]] == EMPTY:  # D4
                    without = list(self.cells)
                    without[source] = EMPTY
                    if max(self.runs(without, ray[0], self.to_play)) <= 3:  # D3
                        actions.append(direction * len(self.cells) + source)
        return actions

    def play(self, action: int) -> "Dara":
        """Return the position after a drop, a slide or a capture; raise ValueError if it is illegal."""
        if action not in self.legal():
            raise ValueError(f"illegal action {action} in {self}")
        if self.phase == "drop":
            return self._drop(action)
        if self.phase == "slide":
            return self._slide(action)
        return self._take(action)

    def _drop(self, cell: int) -> "Dara":
        cells = list(self.cells)
        cells[cell] = self.to_play
        hand = list(self.hand)
        hand[self.to_play] -= 1
        return self._end_turn(cells, (hand[0], hand[1]), self.quiet)  # D2: captures nothing

    def _slide(self, action: int) -> "Dara":
        direction, source = divmod(action, len(self.cells))
        target = rays(self.rows, self.columns)[source][direction][0]
        cells = list(self.cells)
        cells[source] = EMPTY
        cells[target] = self.to_play
        made_three = 3 in self.runs(cells, target, self.to_play)
        if made_three and self.takeable(cells, 1 - self.to_play):  # D5: compulsory, so the slide is not a quiet one
            return self._next(cells, self.to_play, "take", self.hand, quiet=0)
        return self._end_turn(cells, self.hand, self.quiet + 1)

    def _take(self, cell: int) -> "Dara":
        cells = list(self.cells)
        cells[cell] = EMPTY
        return self._end_turn(cells, self.hand, self.quiet)

    def _end_turn(self, cells: list[int], hand: tuple[int, int], quiet: int) -> "Dara":
        mover, opponent = self.to_play, 1 - self.to_play
        after = self._next(cells, opponent, "drop" if hand[opponent] else "slide", hand, quiet)
        if cells.count(opponent) + hand[opponent] <= 2 or not after.legal():  # D6
            return self._finished(after, winner=mover)
        if quiet == self.quiet_limit:  # D7
            return self._finished(after, winner=-1)
        return after

    def _next(self, cells: list[int], to_play: int, phase: str, hand: tuple[int, int], quiet: int) -> "Dara":
        return Dara(
            self.rows, self.columns, self.rules, self.quiet_limit, tuple(cells), to_play, phase, hand, quiet=quiet
        )

    def _finished(self, after: "Dara", winner: int) -> "Dara":
        """Return `after` as the end of the game; its phase is that of the last action."""
        end = self._next(list(after.cells), after.to_play, self.phase, after.hand, after.quiet)
        end.over, end.winner = True, winner
        return end
