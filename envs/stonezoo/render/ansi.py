"""A state as text for a terminal."""

from __future__ import annotations

from stonezoo.core.board import BoardLayout
from stonezoo.core.game import PLAYER_NAMES
from stonezoo.core.text import LETTERS
from stonezoo.render.drawable import STONE_MARK, SWAPPED_MARK, Drawable, hints, last_cells, status

ACTIVE_SIGN = "*"
LAST_SIGN = ">"
SWAPPED_SIGN = "~"
OTHER_SIGN = "^"
HINT_SIGN = "?"
MAX_LISTED = 12  # names in a line of the legend

BOLD, DIM, BLUE, GREEN, RED, YELLOW, RESET = (f"\x1b[{code}m" for code in ("1", "2", "34", "32", "31", "33", "0"))
STONE_CODES = {0: BOLD + BLUE, 1: BOLD + YELLOW, -1: DIM}
SIGN_CODES = {ACTIVE_SIGN: RED, LAST_SIGN: BLUE, SWAPPED_SIGN: YELLOW, OTHER_SIGN: YELLOW, HINT_SIGN: GREEN}


def to_ansi(state: Drawable, color: bool = False) -> str:
    """A state as text: who acts in which phase with which counters, the board with coordinates, and what is marked.

    Black is `X`, White `O`, an empty cell `.`. The sign before a cell marks it, and the lines below the board name the
    marked cells: `*` the resolving or just placed stone, `>` the last action, `~` a swapped stone, `?` a legal cell
    that is not plain to see.

    Args:
        state: the state to draw.
        color: adds ANSI escape codes for colours; without it the text is plain.

    Returns:
        Lines joined by newlines, without one at the end.
    """
    signs, legend = _signs(state)
    head = status(state, [f"{name} ({LETTERS[player]})" for player, name in enumerate(PLAYER_NAMES)])
    if color:
        head = BOLD + head + RESET
    goals = _goals(state.game.layout)
    return "\n".join([head, *_board(state, signs, color), *goals, *legend])


def _signs(state: Drawable) -> tuple[dict[int, str], list[str]]:
    """The sign of each marked cell, and the lines that explain the signs."""
    names = state.game.layout.names
    signs: dict[int, str] = {}
    legend: list[str] = []

    def mark(sign: str, label: str, cells: tuple[int, ...], texts: list[str]) -> None:
        if not cells:
            return
        for cell in cells:
            signs.setdefault(cell, sign)
        more = f" and {len(texts) - MAX_LISTED} more" if len(texts) > MAX_LISTED else ""
        legend.append(f"{sign} {label}: {' '.join(texts[:MAX_LISTED])}{more}")

    for name, cells in state.marks.items():
        sign = {STONE_MARK: ACTIVE_SIGN, SWAPPED_MARK: SWAPPED_SIGN}.get(name, OTHER_SIGN)
        mark(sign, name, cells, [names[cell] for cell in cells])
    last = last_cells(state)
    mark(LAST_SIGN, "last", last[-1:], ["-".join(names[cell] for cell in last)])
    legal = hints(state)
    mark(HINT_SIGN, "legal", tuple(legal), [state.action_to_str(action) for action in legal.values()])
    return signs, legend


def _board(state: Drawable, signs: dict[int, str], color: bool) -> list[str]:
    """The rows of the board, two characters a board unit, so that half a cell is one character."""
    layout = state.game.layout
    left = min(x for x, _ in layout.centers)
    rows: dict[float, list[int]] = {}
    for cell, (_, y) in enumerate(layout.centers):
        rows.setdefault(y, []).append(cell)
    labels = {min(rows, key=lambda row: abs(row - y)): text for text, _, y in layout.row_labels}
    margin = max(map(len, labels.values()), default=0) + 2
    board = state.board.tolist()
    lines = []
    for y, cells in sorted(rows.items()):
        start = margin + round(2 * (layout.centers[cells[0]][0] - left))
        text = labels.get(y, "").rjust(start - 2) + " "
        for cell in cells:
            text += _paint(signs.get(cell, " "), SIGN_CODES, color) + _stone(board[cell], color)
        lines.append(text)
    return lines + _column_labels(layout, left, margin)


def _column_labels(layout: BoardLayout, left: float, margin: int) -> list[str]:
    if not layout.column_labels:
        return []
    line = ""
    for text, x, _ in sorted(layout.column_labels, key=lambda label: label[1]):
        line = line.ljust(margin + round(2 * (x - left))) + text
    return [line]


def _stone(stone: int, color: bool) -> str:
    return STONE_CODES[stone] + LETTERS[stone] + RESET if color else LETTERS[stone]


def _paint(sign: str, codes: dict[str, str], color: bool) -> str:
    return codes[sign] + sign + RESET if color and sign in codes else sign


def _goals(layout: BoardLayout) -> list[str]:
    """Says which sides each player joins, in games that have sides."""
    if not layout.sides:
        return []
    center_x = sum(x for x, _ in layout.centers) / len(layout.centers)
    center_y = sum(y for _, y in layout.centers) / len(layout.centers)
    sides: dict[int, list[str]] = {}
    for player, points in layout.sides:
        dx = sum(x for x, _ in points) / len(points) - center_x
        dy = sum(y for _, y in points) / len(points) - center_y
        side = ("left" if dx < 0 else "right") if abs(dx) > abs(dy) else ("top" if dy < 0 else "bottom")
        sides.setdefault(player, []).append(side)
    return [", ".join(f"{LETTERS[player]} joins {' and '.join(sides[player])}" for player in sorted(sides))]
