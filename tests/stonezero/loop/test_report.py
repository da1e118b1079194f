"""What training shows on a terminal and under a pipe."""

import io

from rich.console import Console

from stonezero.loop import Reporter


def shown(terminal: bool) -> str:
    console = Console(file=io.StringIO(), width=120, force_terminal=terminal)
    with Reporter(console) as reporter:
        reporter.advance("iteration 2: self-play", 0.25, 60.0)
        reporter._bar.refresh()
        reporter.line("iteration 1 is behind")
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_a_terminal_has_a_bar_with_the_time_left_and_lines() -> None:
    text = shown(terminal=True)
    assert "iteration 2: self-play" in text
    assert "25%" in text
    assert "3:00 left" in text  # a quarter took a minute
    assert "iteration 1 is behind" in text


def test_a_pipe_has_the_lines_alone() -> None:
    assert shown(terminal=False) == "iteration 1 is behind\n"
