"""The search with a fault in it: a copy of its sources that runs as plain Python."""

import importlib
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import stonezero.search

COMPILED = "from stonezoo.core.jit import"
INTERPRETED = "jit = kernel = lambda function: function  # noqa\n#"


def search_with(faults: dict[str, list[tuple[str, str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns the class `Search` of a copy in which, file by file, each first text is replaced by the second."""
    folder = tmp_path / "faulty_search"
    shutil.copytree(Path(stonezero.search.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in folder.glob("*.py"):
        text = file.read_text(encoding="utf-8").replace("stonezero.search", "faulty_search")
        text = text.replace(COMPILED, INTERPRETED)
        for right, wrong in faults.get(file.name, []):
            assert text.count(right) == 1, right
            text = text.replace(right, wrong)
        file.write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("faulty_search")]:
        monkeypatch.delitem(sys.modules, name)
    search = importlib.import_module("faulty_search").Search
    for name in [name for name in sys.modules if name.startswith("faulty_search")]:
        del sys.modules[name]
    return search
