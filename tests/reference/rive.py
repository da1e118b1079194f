"""Rive, transcribed rule by rule (V1 to V10)."""

from collections.abc import Iterable
from functools import cache
from itertools import combinations
from typing import Any

from .diagram import draw_diagram, read_diagram

EMPTY = -1


def row_lengths(board_size: int) -> list[int]:
    """V1: the rows of the hexagon from the top; side 3 has rows of 3, 4, 5, 4, 3 cells."""
    growing = list(range(board_size, 2 * board_size))
    return growing + growing[-2::-1]


@cache
def neighbours(board_size: int) -> tuple[tuple[int, ...], ...]:
    """V1: for each cell, numbered row by row from the top and left to right, the cells that share an edge with it."""
    # Every cell as a point of the plane in half cell widths: the rows are centred, neighbours in a row are 2 apart,
    # neighbours in the next row are 1 to the left or to the right.
    number_at: dict[tuple[int, int], int] = {}
    for row, length in enumerate(row_lengths(board_size)):
        for column in range(length):
            number_at[row, 2 * column - length] = len(number_at)
    steps = [(0, -2), (0, 2), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    return tuple(
        tuple(sorted(number_at[row + down, x + right] for down, right in steps if (row + down, x + right) in number_at))
        for row, x in number_at
    )


def flood(start: int, allowed: set[int], board_size: int) -> set[int]:
    """Return the cells that can be reached from `start` (one of them) through `allowed` cells."""
    adjacent = neighbours(board_size)
    found = {start}
    waiting = [start]
    while waiting:
        for cell in adjacent[waiting.pop()]:
            if cell in allowed and cell not in found:
                found.add(cell)
                waiting.append(cell)
    return found


def is_connected(stones: set[int], board_size: int) -> bool:
    """Say whether the stones, at least one, form one group (V2)."""
    return flood(next(iter(stones)), stones, board_size) == stones


def all_groups(stones: Iterable[int], board_size: int) -> list[set[int]]:
    """V2: the connected sets of stones of both colours."""
    left = set(stones)
    groups = []
    while left:
        group = flood(next(iter(left)), left, board_size)
        groups.append(group)
        left -= group
    return groups


class Rive:
    """A position of Rive; `play` returns a new one."""

    # Fields that only the other games use.
    swapped: tuple[int, ...] = ()
    full = 0
    quiet = 0
    hand = (0, 0)

    def __init__(
        self,
        board_size: int,
        cells: tuple[int, ...],
        to_play: int,
        phase: str = "place",
        stone: int = -1,
        remaining: int = 0,
        over: bool = False,
        winner: int = -1,
    ) -> None:
        self.board_size = board_size
        self.cells = cells
        self.to_play = to_play
        self.phase = phase  # "place" or "remove"
        self.stone = stone  # the stone just placed, while its capture lasts; else -1
        self.remaining = remaining  # stones still to remove
        self.over = over
        self.winner = winner
        self._legal: list[int] | None = None
        self._touched: dict[int, list[set[int]]] | None = None

    @classmethod
    def initial(cls, board_size: int = 4) -> "Rive":
        """Return the empty board, Black to place (V1)."""
        return cls(board_size, (EMPTY,) * sum(row_lengths(board_size)), to_play=0)

    @classmethod
    def from_rows(cls, text: str, to_play: int, **fields: Any) -> "Rive":
        """Return the position of a diagram such as `X. / ... / .O`; without `fields` the start of a turn."""
        rows = read_diagram(text)
        board_size = len(rows[0])
        if [len(row) for row in rows] != row_lengths(board_size):
            raise ValueError(f"not a hexagon: {text}")
        cells = tuple(cell for row in rows for cell in row)
        if EMPTY not in cells:
            return cls(board_size, cells, to_play, over=True, winner=majority(cells))
        return cls(board_size, cells, to_play, **fields)

    def board(self) -> list[int]:
        """Return each cell as -1 (empty), 0 (Black) or 1 (White)."""
        return list(self.cells)

    def key(self) -> tuple[Any, ...]:
        """Return everything that the future depends on."""
        return (self.cells, self.to_play, self.phase, self.stone, self.remaining, self.over, self.winner)

    def __str__(self) -> str:
        return draw_diagram(self.board(), row_lengths(self.board_size))

    def stones(self) -> set[int]:
        """Return the occupied cells."""
        return {cell for cell, owner in enumerate(self.cells) if owner != EMPTY}

    def groups(self) -> list[set[int]]:
        """Return all groups (V2)."""
        return all_groups(self.stones(), self.board_size)

    def touched(self) -> dict[int, list[set[int]]]:
        """Return, for each empty cell, the distinct groups that it touches."""
        if self._touched is None:
            group_of = {cell: group for group in self.groups() for cell in group}
            self._touched = {}
            for cell, owner in enumerate(self.cells):
                if owner == EMPTY:
                    groups: list[set[int]] = []
                    for neighbour in neighbours(self.board_size)[cell]:
                        group = group_of.get(neighbour)
                        if group is not None and all(group is not other for other in groups):
                            groups.append(group)
                    self._touched[cell] = groups
        return self._touched

    def merged_group(self) -> set[int]:
        """Return the group that holds the stone just placed (V5), while a capture lasts."""
        return flood(self.stone, self.stones(), self.board_size)

    def legal(self) -> list[int]:
        """Return the legal cells in ascending order, none when the game is over."""
        if self._legal is None:
            if self.over:
                self._legal = []
            elif self.phase == "place":
                self._legal = self._legal_placements()
            else:
                self._legal = self._legal_removals()
        return list(self._legal)

    def _legal_placements(self) -> list[int]:
        """V3: the empty cells whose largest touched group is the smallest."""
        m = {cell: largest(groups) for cell, groups in self.touched().items()}
        smallest = min(m.values())
        return sorted(cell for cell in m if m[cell] == smallest)

    def _legal_removals(self) -> list[int]:
        """V6: the stones without which the rest of the merged group is one group."""
        merged = self.merged_group()
        return sorted(cell for cell in merged if is_connected(merged - {cell}, self.board_size))

    def play(self, action: int) -> "Rive":
        """Return the position after a placement or a removal; raise ValueError if it is illegal."""
        if action not in self.legal():
            raise ValueError(f"illegal action {action} in {self}")
        return self._place(action) if self.phase == "place" else self._remove(action)

    def _place(self, cell: int) -> "Rive":
        cells = self._with(cell, self.to_play)
        joined = self.touched()[cell]
        if len(joined) <= 1:  # V4: plain, the turn ends
            if EMPTY in cells:
                return Rive(self.board_size, cells, 1 - self.to_play)
            return Rive(self.board_size, cells, 1 - self.to_play, over=True, winner=majority(cells))  # V9
        remaining = sum(len(group) for group in joined) - largest(joined)  # V5
        return Rive(self.board_size, cells, self.to_play, "remove", stone=cell, remaining=remaining)

    def _remove(self, cell: int) -> "Rive":
        cells = self._with(cell, EMPTY)
        if self.remaining > 1:
            return Rive(self.board_size, cells, self.to_play, "remove", self.stone, self.remaining - 1)
        return Rive(self.board_size, cells, self.to_play)  # V7: the same player places again

    def _with(self, cell: int, owner: int) -> tuple[int, ...]:
        cells = list(self.cells)
        cells[cell] = owner
        return tuple(cells)


def largest(groups: list[set[int]]) -> int:
    """Return the size of the largest group, 0 if there is none."""
    return max((len(group) for group in groups), default=0)


def majority(cells: tuple[int, ...]) -> int:
    """V9: the player with more stones."""
    return 0 if cells.count(0) > cells.count(1) else 1


def capture_sets(position: Rive) -> set[frozenset[int]]:
    """Return every set of cells whose removal completes the capture in progress as V5 allows, in whatever order.

    V5 asks only that the right number of stones goes and that what stays is one group; nothing here looks at the
    steps between, nor spares the stone just placed.
    """
    merged = position.merged_group()
    return {
        frozenset(removed)
        for removed in combinations(sorted(merged), position.remaining)
        if is_connected(merged - set(removed), position.board_size)
    }
