"""The pitfalls of README.md and the patches that fall into them."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
REPOSITORY = FOLDER.parents[2]

_ROW = re.compile(r"\| (\d\d) \| ([^|]+?) \|")
_LINE = re.compile(r"(Pitfall|Fault|Fails|Setting): (.+)")


@dataclass(frozen=True)
class Fault:
    """A patch of the sources, and what its header says of it."""

    path: Path
    pitfall: tuple[str, ...]  # "01 sign with a repeated mover"; one, where the header is right
    description: tuple[str, ...]  # what is wrong in the patched sources
    tests: tuple[str, ...]  # pytest's names of the tests that must fail
    settings: tuple[str, ...]  # of the environment: "NAME=value"

    @property
    def name(self) -> str:
        """The patch without its ending."""
        return self.path.stem


def pitfalls() -> dict[str, str]:
    """The title of each pitfall by its number, from the table in README.md."""
    return dict(_ROW.findall((FOLDER / "README.md").read_text(encoding="utf-8")))


def faults() -> list[Fault]:
    """All patches, by their names."""
    return [_read(path) for path in sorted(FOLDER.glob("*.patch"))]


def names_of_tests(file: Path) -> set[str]:
    """The names of the test functions in a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def _read(path: Path) -> Fault:
    header = path.read_text(encoding="utf-8").partition("\ndiff --git ")[0]
    said: dict[str, list[str]] = {"Pitfall": [], "Fault": [], "Fails": [], "Setting": []}
    for line in header.splitlines():
        if match := _LINE.fullmatch(line):
            said[match.group(1)].append(match.group(2))
    return Fault(path, *(tuple(said[key]) for key in ("Pitfall", "Fault", "Fails", "Setting")))
