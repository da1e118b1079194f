"""What docs/gymnasium.md shows works."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "gymnasium.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))
def test_the_code_on_the_page_runs(code: str) -> None:
    names: dict[str, Any] = {}
    exec(code, names)
    assert len(names) > 2
