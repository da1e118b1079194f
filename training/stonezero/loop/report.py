"""What training shows on a terminal: a bar with the time left, and a line an iteration. Lines alone under a pipe."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

PIPE_WIDTH = 120  # columns of a table when the output is no terminal


def new_console() -> Console:
    """The console of a command: its terminal, or plain text of a fixed width."""
    console = Console()
    return console if console.is_terminal else Console(width=PIPE_WIDTH)


class Reporter:
    """Shows how a run goes. A context manager: the bar stands while it is open."""

    def __init__(self, console: Console) -> None:
        self.console = console
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self._bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task("training", total=1.0, left="")

    def __enter__(self) -> Reporter:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def line(self, text: str) -> None:
        """Print one line above the bar."""
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def advance(self, doing: str, fraction: float, seconds: float) -> None:
        """Move the bar: what is being done, the share of the run that is behind, and the seconds that it took."""
        left = f"{clock(seconds / fraction - seconds)} left" if fraction > 0 else ""
        self._bar.update(self._task, description=doing, completed=fraction, left=left)

    def matches(self, text: str, done: int, total: int) -> None:
        """Move the bar with the games of a match; see `stonezero.arena.evaluate_network`."""
        self._bar.update(self._task, description=text, completed=done / total, left=f"{done} of {total} games")


def clock(seconds: float) -> str:
    """Seconds as 1:02:03 or 2:03."""
    if not math.isfinite(seconds):
        return "?"
    minutes, second = divmod(round(max(0.0, seconds)), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def iteration_line(
    iteration: int, seconds: float, selfplay: Mapping[str, float], learning: Mapping[str, float], steps: int, rows: int
) -> str:
    """One iteration in a line of text."""
    parts = [
        f"iteration {iteration}",
        clock(seconds),
        f"step {steps}",
        f"{rows} rows",
        f"{selfplay['games']:.0f} games",
    ]
    if "game_length" in selfplay:
        parts.append(f"length {selfplay['game_length']:.1f}")
        parts.append(f"first player {selfplay['first_player_win_rate']:.2f}")
    parts.append(f"{selfplay['simulations_per_second']:,.0f} simulations/s")
    if learning:
        parts.append(f"policy {learning['policy_loss']:.3f} (KL {learning['policy_kl']:.3f})")
        parts.append(f"value {learning['value_loss']:.3f}")
    return "  ".join(parts)
