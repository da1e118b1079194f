"""Twofold once more, slowly, in plain Python and from the rules alone: what the compiled game is compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Position:
    """A position; `play` returns a new one. Cells are None, 0 (Black) or 1 (White)."""

    size: int
    line: int
    cells: tuple[int | None, ...]
    to_play: int = 0
    due: int = 1  # stones that the player still places in this turn (T2)
    winner: int = -1

    @property
    def phase(self) -> str:
        """The name of the phase."""
        return "first" if self.due == 2 else "second"

    @property
    def over(self) -> bool:
        """Whether somebody has won (T3) or the board is full (T4)."""
        return self.winner >= 0 or None not in self.cells

    def board(self) -> list[int]:
        """Each cell as -1, 0 or 1."""
        return [-1 if cell is None else cell for cell in self.cells]

    def legal(self) -> list[int]:
        """The empty squares."""
        return [] if self.over else [number for number, cell in enumerate(self.cells) if cell is None]

    def rows(self) -> list[list[int]]:
        """Every row of `line` squares on the board."""
        found = []
        for r in range(self.size):
            for c in range(self.size):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    squares = [(r + i * down, c + i * right) for i in range(self.line)]
                    if all(0 <= y < self.size and 0 <= x < self.size for y, x in squares):
                        found.append([y * self.size + x for y, x in squares])
        return found

    def play(self, action: int) -> Position:
        """The position after a stone on a square."""
        cells = (*self.cells[:action], self.to_play, *self.cells[action + 1 :])
        won = any(all(cells[square] == self.to_play for square in row) for row in self.rows())
        last = self.due == 1
        return replace(
            self,
            cells=cells,
            winner=self.to_play if won else -1,
            to_play=1 - self.to_play if last else self.to_play,
            due=2 if last else 1,
        )


def Twofold(size: int = 5, line: int = 4) -> Position:  # noqa: N802 (called like a class)
    """The initial position (T1)."""
    return Position(size, line, (None,) * (size * size))
