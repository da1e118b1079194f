"""A file here that needs a library which is not installed is left out, unless that library is asked for.

`make test-adapters` names in `STONEZOO_TEST_LIBRARIES` what each of its environments must have, so that nothing is left
out in silence there.
"""

import importlib.util
import os
import sys

import pytest

REQUIRED = "STONEZOO_TEST_LIBRARIES"  # names of modules, with commas
NEEDS = {
    "test_cleanrl.py": "torch",
    "test_open_spiel.py": "pyspiel",
    "test_rllib.py": "ray",
    "test_supersuit.py": "supersuit",
    "test_torchrl.py": "torchrl",
}


def is_installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


required = [library for library in os.environ.get(REQUIRED, "").split(",") if library]
if sys.version_info >= (3, 13) and "supersuit" in required:
    required.remove("supersuit")  # it needs tinyscaler, which has no wheels for these: see pyproject.toml
missing = [library for library in required if not is_installed(library)]
if missing:
    raise pytest.UsageError(f"{', '.join(missing)} missing in {sys.prefix}, asked for by {REQUIRED}: pip install it")

collect_ignore = [file for file, library in NEEDS.items() if not is_installed(library)]
