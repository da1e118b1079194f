"""The page in the documentation."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "sb3.md"


def test_the_script_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (script,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(script, names)
    assert (tmp_path / "model.zip").is_file()
    assert getattr(names["player"], "name", None) == "sb3:model.zip"
