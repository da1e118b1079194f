"""What docs/truth.md shows in Python runs, and every set that it names ships."""

import re
from pathlib import Path

from stonezoo.truth import probe_names

PAGE = (Path(__file__).parents[3] / "docs" / "truth.md").read_text(encoding="utf-8")


def test_the_pages_python_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})


def test_every_set_is_on_the_page_and_ships() -> None:
    table = PAGE.partition("## Probe sets")[2].partition("Shares of best actions")[0]
    named = set(re.findall(r"`((?:rive|resolve|dara)-[0-9x]+)`", table))
    assert named == set(probe_names())
