"""A table that can be shown at a terminal and written as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Sheet:
    """Headings and rows of text; the first column holds names, the others numbers."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]

    def show(self, console: Console) -> None:
        """Prints it; the title has a line of its own, which may be longer than the table is wide."""
        table = Table(box=SIMPLE_HEAD, padding=0)
        for place, heading in enumerate(self.headings):
            table.add_column(heading, justify="left" if place == 0 else "right", overflow="fold", no_wrap=place > 0)
        for row in self.rows:
            table.add_row(*row)
        if self.title:
            console.print(self.title, highlight=False, markup=False, soft_wrap=True)
        console.print(table)

    def markdown(self) -> str:
        """As Markdown, with the title as a line above."""
        lines = [f"**{_cell(self.title)}**", ""] if self.title else []
        lines.append("| " + " | ".join(map(_cell, self.headings)) + " |")
        lines.append("|" + "|".join(["---", *["---:"] * (len(self.headings) - 1)]) + "|")
        lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
