"""The distribution: what it needs, what it holds, and that it works where it is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]

# What the base installation does not bring.
NOT_IN_BASE = [
    "PIL",
    "jsonargparse",
    "pygame",
    "safetensors",
    "sb3_contrib",
    "stable_baselines3",
    "tensorboard",
    "torch",
    "yaml",
]

WITHOUT_EXTRAS = f"""
import importlib, pkgutil, sys

BLOCKED = {NOT_IN_BASE!r}

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"{{name}} is blocked", name=name)

sys.meta_path.insert(0, Blocker())

import stonezoo

for module in pkgutil.walk_packages(stonezoo.__path__, "stonezoo."):
    if not module.name.startswith("stonezoo.adapters.") and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
assert not set(BLOCKED) & set(sys.modules)
"""

PLAY = """
import random
import stonezoo

for name in ("rive", "resolve", "dara"):
    state = stonezoo.load_game(name).initial_state()
    choose = random.Random(1).choice
    while not state.terminated:
        state.step(int(choose(state.legal_actions)))
"""


def run(*command: str | Path, cwd: Path, timeout: float = 300) -> str:
    """What the command printed on stdout; the test fails with all that it printed when it fails."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_every_module_of_stonezoo_imports_without_torch_and_without_drawing_libraries(tmp_path: Path) -> None:
    run(sys.executable, "-c", WITHOUT_EXTRAS, cwd=tmp_path)


@pytest.mark.slow
def test_a_game_is_played_without_torch_and_without_drawing_libraries(tmp_path: Path) -> None:
    run(sys.executable, "-c", WITHOUT_EXTRAS + PLAY, cwd=tmp_path)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (path,) = folder.glob("stonezoo-*.whl")
    return path


@pytest.mark.slow
def test_the_wheel_holds_both_packages_and_all_configs_and_checkpoints_and_nothing_else(wheel: Path) -> None:
    files = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in files if ".dist-info/" not in name} == {"stonezoo", "stonezero"}
    assert {"stonezoo/py.typed", "stonezero/py.typed", "stonezoo/__init__.py", "stonezero/cli/__init__.py"} <= set(
        files
    )
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in files)
    probes = {f"stonezoo/truth/data/{path.name}" for path in (ROOT / "envs/stonezoo/truth/data").iterdir()}
    assert probes
    assert probes <= set(files)
    for kind in ("configs", "checkpoints"):
        shipped = {f"stonezero/_data/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / kind).rglob("*.*")}
        assert shipped
        assert shipped <= set(files)


@pytest.mark.slow
def test_an_installed_wheel_plays_trains_and_finds_configs_from_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    # The dependencies are those of the environment that runs this test. A path in a .pth file does not run the .pth
    # files there, so that the editable installation stays out of sight.
    installed = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    dependencies = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (installed / "dependencies.pth").write_text("\n".join(sorted(dependencies)) + "\n")
    empty = tmp_path / "empty"
    empty.mkdir()

    origins = run(python, "-c", "import stonezoo, stonezero; print(stonezoo.__file__, stonezero.__file__)", cwd=empty)
    assert all(Path(origin).is_relative_to(installed) for origin in origins.split())

    run(python, "-c", PLAY, cwd=empty)
    assert "1" in run(scripts / "stonezoo", "perft", "rive", "--board-size", "2", "--depth", "2", cwd=empty)

    find = "from stonezero.resources import find_config; print(find_config('rive/smoke'))"
    assert Path(run(python, "-c", find, cwd=empty).strip()).is_relative_to(installed)

    run(python, "-m", "stonezero", "train", "rive/smoke", "--run-dir", empty / "run", cwd=empty)
    assert list((empty / "run").rglob("model.safetensors"))


def test_every_dependency_has_a_tested_version_that_its_floor_admits_and_no_cap() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    requirements = [Requirement(line) for line in project["dependencies"]]
    for extra in project["optional-dependencies"].values():
        requirements += [Requirement(line) for line in extra]
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    tested = {
        canonicalize_name(pin.name): next(iter(pin.specifier)).version
        for pin in (Requirement(line) for line in lines if line and not line.startswith("#"))
    }
    for requirement in requirements:
        if requirement.name != "stonezoo":
            assert [specifier.operator for specifier in requirement.specifier] == [">="], requirement
            assert requirement.specifier.contains(tested[canonicalize_name(requirement.name)]), requirement


def tracked_files() -> list[Path]:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("not a git repository")
    return [path for name in listing.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_folder_of_one_machine_or_the_host_of_a_package_index() -> None:
    folder = re.compile(r"(?<![\w.$}~-])/(?:home|root|work|opt|Users)/\w")
    host = re.compile(r"(?:pypi|pythonhosted|download\.pytorch|anaconda)\.(?:org|com)|index-url[ =]+\w", re.I)
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if folder.search(line) or host.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)
