"""Python processes that use the compiled code, each with a package and a cache of its own choice."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import stonezoo

PACKAGE = Path(stonezoo.__file__).parent
COMPILING = "stonezoo: compiling"

RESET = """
import sys
import numpy as np
import stonezoo
from stonezoo.kernels.batch import reset_batch
for name in sys.argv[1:]:
    game = stonezoo.load_game(name)
    rows = np.zeros((1, game.rules.state_size), np.int32)
    reset_batch(game.rules, rows)
    print(name, rows.tolist())
"""


def environment(cache: Path, package: Path = PACKAGE, **variables: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA_", "STONEZOO_", "PYTHON"))}
    return kept | {"STONEZOO_CACHE_DIR": str(cache), "PYTHONPATH": str(package.parent)} | variables


def start(code: str, *arguments: str, env: dict[str, str], options: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    """A process that runs `code` with warnings as errors."""
    command = [sys.executable, "-W", "error", *options, "-c", code, *arguments]
    return subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """What it wrote to stdout and stderr; it must have succeeded."""
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out, err


def run(code: str, *arguments: str, env: dict[str, str]) -> tuple[str, str]:
    return finish(start(code, *arguments, env=env))


def copy_package(folder: Path) -> Path:
    """A copy of the package in `folder`, to be edited."""
    return Path(shutil.copytree(PACKAGE, folder / "stonezoo", ignore=shutil.ignore_patterns("__pycache__")))


def append(file: Path, text: str) -> None:
    file.write_text(file.read_text() + text)
