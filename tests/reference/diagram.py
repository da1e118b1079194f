"""Boards as text: rows from the top, `X` Black, `O` White, `.` empty, rows joined by `/`."""

LETTERS = {".": -1, "X": 0, "O": 1}


def read_diagram(text: str) -> list[list[int]]:
    """Return the rows of a diagram, each cell as -1 (empty), 0 (Black) or 1 (White)."""
    return [[LETTERS[letter] for letter in row.strip()] for row in text.split("/")]


def draw_diagram(cells: list[int], row_lengths: list[int]) -> str:
    """Return the diagram of a list of cells, in the form `XO. / O.. / ..X`."""
    letters = {number: letter for letter, number in LETTERS.items()}
    rows, start = [], 0
    for length in row_lengths:
        rows.append("".join(letters[cell] for cell in cells[start : start + length]))
        start += length
    return " / ".join(rows)
