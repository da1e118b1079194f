"""Resolve, transcribed rule by rule (S1 to S11)."""

from functools import cache
from typing import Any

from .diagram import draw_diagram, read_diagram

EMPTY = -1


@cache
def orthogonal(n: int) -> tuple[tuple[int, ...], ...]:
    """S2: for each point `row * n + column` the points above, below, left and right of it that are on the board."""
    return tuple(
        tuple(
            r * n + c
            for r, c in [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
            if 0 <= r < n and 0 <= c < n
        )
        for row in range(n)
        for column in range(n)
    )


@cache
def blocks(n: int) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """S3: for each point the 2 x 2 blocks that hold it, as (point diagonally across, the two other points)."""
    return tuple(
        tuple(
            (r * n + c, r * n + column, row * n + c)
            for r in (row - 1, row + 1)
            for c in (column - 1, column + 1)
            if 0 <= r < n and 0 <= c < n
        )
        for row in range(n)
        for column in range(n)
    )


def crosscut_enemies(cells: tuple[int, ...], n: int, stone: int) -> set[int]:
    """S3, S5: the enemy stones next to `stone` that share a crosscut with it; none if it is in no crosscut."""
    own = cells[stone]
    enemies = set()
    for across, first, second in blocks(n)[stone]:
        if cells[across] == own and cells[first] == 1 - own and cells[second] == 1 - own:
            enemies |= {first, second}
    return enemies


def is_joined(cells: tuple[int, ...], n: int, player: int) -> bool:
    """S2: whether one group of the player holds stones on both of his sides."""
    if player == 0:  # top and bottom
        start, goal = set(range(n)), {(n - 1) * n + column for column in range(n)}
    else:  # left and right
        start, goal = {row * n for row in range(n)}, {row * n + n - 1 for row in range(n)}
    waiting = [point for point in start if cells[point] == player]
    found = set(waiting)
    while waiting:
        for point in orthogonal(n)[waiting.pop()]:
            if cells[point] == player and point not in found:
                found.add(point)
                waiting.append(point)
    return bool(found & goal)


def joined_player(cells: tuple[int, ...], n: int) -> int:
    """S8: the player whose sides are joined, -1 if neither's are."""
    joined = [player for player in (0, 1) if is_joined(cells, n, player)]
    assert len(joined) <= 1, "S8: both cannot be joined at once"
    return joined[0] if joined else -1


class Resolve:
    """A position of Resolve; `play` returns a new one."""

    # Fields that only the other games use.
    remaining = 0
    quiet = 0
    hand = (0, 0)

    def __init__(
        self,
        n: int,
        rules: str,
        cells: tuple[int, ...],
        to_play: int,
        phase: str,
        stone: int = -1,
        swapped: tuple[int, ...] = (),
        owed: bool = False,
        full: int = 0,
        over: bool = False,
        winner: int = -1,
    ) -> None:
        self.n = n
        self.rules = rules  # "standard" (S10) or "original" (S11)
        self.cells = cells
        self.to_play = to_play
        self.phase = phase  # "place", "choose", "swap" or "place_after"
        self.stone = stone  # where the resolving stone stands, in phase "swap"; else -1
        self.swapped = swapped  # where the enemy stones already swapped in this resolution now stand, ascending
        self.owed = owed  # in phase "swap": whether a placement follows the resolution (S11)
        self.full = full  # consecutive turns that began on a full board (S9), the present one included
        self.over = over
        self.winner = winner
        self._legal: list[int] | None = None

    @classmethod
    def initial(cls, board_size: int = 9, rules: str = "standard") -> "Resolve":
        """Return the empty board, Black to place (S1)."""
        return cls(board_size, rules, (EMPTY,) * board_size**2, to_play=0, phase="place")

    @classmethod
    def from_rows(cls, text: str, to_play: int, rules: str = "standard", **fields: Any) -> "Resolve":
        """Return the position of a diagram such as `XO. / O.. / ..X`; without `fields` the start of a turn."""
        rows = read_diagram(text)
        n = len(rows)
        if any(len(row) != n for row in rows):
            raise ValueError(f"not a square: {text}")
        cells = tuple(cell for row in rows for cell in row)
        fields.setdefault("phase", "place" if EMPTY in cells else "choose")
        winner = joined_player(cells, n)
        return cls(n, rules, cells, to_play, over=winner != -1, winner=winner, **fields)

    def board(self) -> list[int]:
        """Return each point as -1 (empty), 0 (Black) or 1 (White)."""
        return list(self.cells)

    def key(self) -> tuple[Any, ...]:
        """Return everything that the future depends on."""
        return (
            self.cells,
            self.to_play,
            self.phase,
            self.stone,
            self.swapped,
            self.owed,
            self.full,
            self.over,
            self.winner,
        )

    def __str__(self) -> str:
        return draw_diagram(self.board(), [self.n] * self.n)

    def legal(self) -> list[int]:
        """Return the legal points in ascending order, none when the game is over."""
        if self._legal is None:
            self._legal = [] if self.over else sorted(self._legal_points())
        return list(self._legal)

    def _legal_points(self) -> set[int]:
        empty = {point for point, owner in enumerate(self.cells) if owner == EMPTY}
        if self.phase == "place" and self.rules == "standard":  # S4
            return empty
        if self.phase == "place":  # S11: both kinds of action
            return empty | self._choosable()
        if self.phase == "choose":  # S7
            return self._choosable()
        if self.phase == "place_after":  # S11
            return empty
        return crosscut_enemies(self.cells, self.n, self.stone) - set(self.swapped)  # S5

    def _choosable(self) -> set[int]:
        """S7, S11: the friendly stones that are in a crosscut."""
        return {
            point
            for point, owner in enumerate(self.cells)
            if owner == self.to_play and crosscut_enemies(self.cells, self.n, point)
        }

    def play(self, action: int) -> "Resolve":
        """Return the position after a placement, a choice or a swap; raise ValueError if it is illegal."""
        if action not in self.legal():
            raise ValueError(f"illegal action {action} in {self}")
        if self.phase == "swap":
            return self._swap(action)
        if self.cells[action] == EMPTY:
            return self._place(action)
        return self._choose(action)

    def _place(self, point: int) -> "Resolve":
        cells = list(self.cells)
        cells[point] = self.to_play
        if self.phase == "place_after":  # S11: not itself resolved
            return self._end_turn(tuple(cells))
        return self._resolve_on(tuple(cells), point, swapped=())

    def _choose(self, point: int) -> "Resolve":
        is_full = EMPTY not in self.cells
        return Resolve(
            self.n,
            self.rules,
            self.cells,
            self.to_play,
            phase="swap",
            stone=point,
            owed=not is_full,  # S11
            full=self.full + 1 if is_full else 0,  # S9
        )

    def _swap(self, point: int) -> "Resolve":
        cells = list(self.cells)
        cells[self.stone], cells[point] = cells[point], cells[self.stone]
        # The enemy stone now stands where the resolving stone came from.
        return self._resolve_on(tuple(cells), point, tuple(sorted((*self.swapped, self.stone))))

    def _resolve_on(self, cells: tuple[int, ...], stone: int, swapped: tuple[int, ...]) -> "Resolve":
        """Go on after a placement or a swap that brought the resolving stone to the point `stone`."""
        if crosscut_enemies(cells, self.n, stone) - set(swapped):  # S5: still something to swap
            after = self._next(cells, self.to_play, "swap")
            after.stone, after.swapped, after.owed = stone, swapped, self.owed
            return self._finish(after)
        # The stone is in no crosscut (S5), or it is stuck (S6).
        if self.owed:
            return self._finish(self._next(cells, self.to_play, "place_after"))
        return self._end_turn(cells)

    def _end_turn(self, cells: tuple[int, ...]) -> "Resolve":
        after = self._next(cells, 1 - self.to_play, "place" if EMPTY in cells else "choose")
        after.over = self.full == self.n**2  # S9: a draw unless a player is joined
        return self._finish(after)

    def _next(self, cells: tuple[int, ...], to_play: int, phase: str) -> "Resolve":
        return Resolve(self.n, self.rules, cells, to_play, phase, full=self.full)

    def _finish(self, after: "Resolve") -> "Resolve":
        """S8: end the game if a player is joined, whatever else was to follow."""
        after.winner = joined_player(after.cells, self.n)
        if after.winner != -1:
            after.over = True
        if after.over:  # nothing is being resolved any more, and the phase is that of the last action
            after.phase, after.stone, after.swapped, after.owed = self.phase, -1, (), False
        return after
