"""The tutorial's game, installed as a package of its own: found, checked, and trained."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "examples" / "twofold"
EXCERPT = re.compile(r"<!-- from (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)

EVERYWHERE = """
import gymnasium, pettingzoo, stonezoo
assert stonezoo.game_names() == ["rive", "resolve", "dara", "twofold"]
assert stonezoo.load_game("twofold", size=4, line=3).rules_id == "twofold/standard@1"
assert gymnasium.make_vec("stonezoo/Twofold-v0", num_envs=3, size=4, line=3).reset(seed=1)[0].shape == (3, 4, 4, 5)
env = pettingzoo.make("aec", "stonezoo/twofold-v0", size=4, line=3)
env.reset()
movers = []
for action in (0, 1, 2, 3):
    movers.append(env.agent_selection)
    env.step(action)
assert movers == ["player_0", "player_1", "player_1", "player_0"], movers
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the package's wheel is unpacked, as an installer does."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(PACKAGE)]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def run(installed: Path, *arguments: str, interpreted: bool = False) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), os.environ.get("PYTHONPATH", "")])}
    if interpreted:
        environment["NUMBA_DISABLE_JIT"] = "1"
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=environment, cwd=installed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_excerpt_in_the_tutorial_stands_in_the_package() -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    excerpts = EXCERPT.findall(text)
    assert len(excerpts) >= 6
    for name, excerpt in excerpts:
        path = PACKAGE / name if (PACKAGE / name).exists() else PACKAGE / "twofold" / name
        assert excerpt in path.read_text(encoding="utf-8"), f"{name}:\n{excerpt}"


def test_an_installed_game_is_found_by_every_library_without_being_imported_first(installed: Path) -> None:
    run(installed, "-c", EVERYWHERE, interpreted=True)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [("size=5", "line=4"), ("size=4", "line=3"), ("size=3", "line=3")])
def test_the_installed_game_passes_every_check(installed: Path, parameters: tuple[str, str]) -> None:
    arguments = ["check-game", "twofold", "--referee", "twofold.referee:Twofold", "--json"]
    for parameter in parameters:
        arguments += ["--parameter", parameter]
    told = json.loads(run(installed, "-m", "stonezoo", *arguments))
    assert told["passed"]
    assert all(check["passed"] for check in told["checks"]), told


@pytest.mark.slow
@pytest.mark.strength
def test_a_minute_of_training_beats_the_random_player(installed: Path) -> None:
    folder = installed / "run"
    run(installed, "-m", "stonezero", "train", str(PACKAGE / "config.yaml"), "--run-dir", str(folder))
    arguments = ["evaluate", str(folder), "--opponents", "random", "--games", "100", "--no-control", "--json"]
    told = json.loads(run(installed, "-m", "stonezero", *arguments))
    policy = next(row for row in told["rows"] if row["kind"] == "policy")
    assert policy["score"] > 0.7, policy
