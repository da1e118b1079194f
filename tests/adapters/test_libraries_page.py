"""What docs/libraries.md shows works; a block that needs a library is run where that library is installed."""

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium
import pettingzoo
import pytest

import stonezoo
from stonezoo.games import BUILT_IN

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "libraries.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def libraries(code: str) -> set[str]:
    return set(re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE))


@pytest.mark.parametrize("code", [code for code in BLOCKS if all(map(find_spec, libraries(code)))])
def test_the_code_on_the_page_runs(code: str) -> None:
    names: dict[str, Any] = {}
    exec(code, names)
    assert len(names) > 2


def test_what_the_page_runs_somewhere_is_all_that_it_shows() -> None:
    assert {library for code in BLOCKS for library in libraries(code)} == {
        *("gymnasium", "numpy", "pettingzoo", "pyspiel", "ray", "stonezoo", "supersuit", "torchrl"),
    }


def test_the_page_lists_every_registered_environment_and_no_other() -> None:
    ids = {name: f"stonezoo/{name.capitalize()}-v0" for name in BUILT_IN}
    listed = set(re.findall(r"`(stonezoo/\w+-v\d+)`", PAGE))
    assert listed == set(ids.values()) | {f"stonezoo/{name}-v0" for name in BUILT_IN}
    for name in BUILT_IN:
        assert gymnasium.make(ids[name]).unwrapped.spec is not None
        assert pettingzoo.make("aec", f"stonezoo/{name}-v0").unwrapped.game == stonezoo.load_game(name)


def test_the_page_names_every_example_and_no_other() -> None:
    examples = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert set(re.findall(r"examples/(\w+\.py)", PAGE)) | set(re.findall(r"\| `(\w+\.py)` \|", PAGE)) == examples
