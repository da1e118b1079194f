"""Compiled code and its cache: nothing stale, nothing twice, and the same games as plain Python plays."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stonezoo.core import jit
from stonezoo.core.rng import new_streams
from stonezoo.kernels.playout import random_games
from tests.stonezoo.core.processes import (
    COMPILING,
    PACKAGE,
    RESET,
    append,
    copy_package,
    environment,
    finish,
    run,
    start,
)
from tests.stonezoo.games.referees import Case, load

EDIT = "\nHAND = HEADER + 1\n"  # where Dara's rows keep the stones in hand: seen in the row of the initial state


def folders(cache: Path, game: str) -> set[str]:
    return {folder.name for folder in cache.iterdir() if folder.is_dir() and folder.name.startswith(f"{game}-")}


# --- Stale or fresh ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_new_process_does_not_compile_again(tmp_path: Path) -> None:
    env = environment(tmp_path / "cache")
    out, err = run(RESET, "dara", "rive", env=env)
    assert err.count(COMPILING) == 2
    assert "compiling dara" in err
    assert "compiling rive" in err
    again, quiet = run(RESET, "dara", "rive", env=env)
    assert (again, quiet) == (out, "")


def test_an_edit_of_a_game_is_seen_by_the_next_process(tmp_path: Path) -> None:
    package, cache = copy_package(tmp_path), tmp_path / "cache"
    env = environment(cache, package)
    before, _ = run(RESET, "dara", "rive", env=env)
    rive = folders(cache, "rive")
    append(package / "games" / "dara.py", EDIT)
    after, err = run(RESET, "dara", "rive", env=env)
    assert after.split("\n")[0] != before.split("\n")[0]
    assert after.split("\n")[1] == before.split("\n")[1]
    assert err.count(COMPILING) == 1
    assert "compiling dara" in err  # and the other game is left alone
    assert folders(cache, "rive") == rive
    assert len(folders(cache, "dara")) == 2
    assert run(RESET, "dara", "rive", env=env) == (after, "")


@pytest.mark.slow
def test_an_edit_is_seen_where_nothing_can_be_kept(tmp_path: Path) -> None:
    """A cache folder that cannot be: the child of a file. It is said once, and it works."""
    package, file = copy_package(tmp_path), tmp_path / "file"
    file.write_text("in the way")
    env = environment(file / "cache", package)
    before, err = run(RESET, "dara", "rive", env=env)
    assert err.count("cannot keep compiled code") == 1
    assert str(file) in err
    assert "STONEZOO_CACHE_DIR" in err
    append(package / "games" / "dara.py", EDIT)
    after, err = run(RESET, "dara", "rive", env=env)
    assert err.count("cannot keep compiled code") == 1
    assert after.split("\n")[0] != before.split("\n")[0]
    assert after.split("\n")[1] == before.split("\n")[1]
    assert file.read_text() == "in the way"


DIGESTS = """
import sys
from stonezoo.core import jit
def digests():
    jit._file_digest.cache_clear()  # as a new process would see the files
    return [jit.source_digest(jit.PACKAGE / "games" / f"{name}.py") for name in ("rive", "resolve", "dara")]
for name in sys.argv[1:]:
    before = digests()
    file = jit.PACKAGE / name
    file.write_text(file.read_text() + "# edited")
    print(name, [one == two for one, two in zip(before, digests())])
"""


EDITED_WHILE_RUNNING = """
import stonezoo
from stonezoo.core import jit
files = [jit.PACKAGE / "games" / "dara.py", jit.PACKAGE / "kernels" / "scalar.py", jit.PACKAGE / "core" / "rng.py"]
before = jit.source_digest(*files)
for file in files:
    file.write_text(file.read_text() + "# edited")
print(before == jit.source_digest(*files))
"""


def test_a_running_process_keeps_to_the_sources_that_it_imported(tmp_path: Path) -> None:
    """Else it would load code compiled from an edit, made for another layout of the states."""
    out, _ = run(EDITED_WHILE_RUNNING, env=environment(tmp_path / "cache", copy_package(tmp_path)))
    assert out.split() == ["True"]


def test_an_edit_of_what_all_games_share_outdates_them_all(tmp_path: Path) -> None:
    shared, games = ["core/rng.py", "core/jit.py", "kernels/scalar.py"], ["games/dara.py", "games/rive.py", "state.py"]
    out, _ = run(DIGESTS, *shared, *games, env=environment(tmp_path / "cache", copy_package(tmp_path)))
    kept = dict(line.split(" ", 1) for line in out.splitlines())
    assert [kept[name] for name in shared] == [str([False] * 3)] * 3
    assert [kept[name] for name in games] == [str([True, True, False]), str([False, True, True]), str([True] * 3)]


@pytest.mark.slow
def test_of_four_cold_processes_one_compiles_and_the_others_wait(tmp_path: Path) -> None:
    env = environment(tmp_path / "cache")
    running = [start(RESET, "dara", env=env) for _ in range(4)]
    ends = [finish(process) for process in running]
    assert sum(err.count(COMPILING) for _, err in ends) == 1
    assert len({out for out, _ in ends}) == 1
    assert len(folders(tmp_path / "cache", "dara")) == 1


THREADS = """
import sys, threading
import numba
import numpy as np
import stonezoo
from stonezoo.kernels.batch import reset_batch
before = numba.config.CACHE_DIR
def first_call(name):
    game = stonezoo.load_game(name)
    reset_batch(game.rules, np.zeros((1, game.rules.state_size), np.int32))
threads = [threading.Thread(target=first_call, args=(name,)) for name in ("rive", "dara") * 2]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert numba.config.CACHE_DIR == before
"""


@pytest.mark.slow
def test_threads_that_start_together_compile_each_game_into_its_own_folder(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    _, err = run(THREADS, env=environment(cache))
    assert err.count(COMPILING) == 2
    for game in ("rive", "dara"):
        (folder,) = folders(cache, game)
        assert list((cache / folder).rglob("*.nbc"))
    assert run(RESET, "rive", "dara", env=environment(cache))[1] == ""


# --- Housekeeping --------------------------------------------------------------------------------------------------


def make_old(path: Path, days: int) -> None:
    then = time.time() - days * 24 * 3600
    os.utime(path, (then, then))


@pytest.mark.slow
def test_only_our_own_folders_that_nobody_used_for_a_month_are_removed(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    env = environment(cache)
    run(RESET, "dara", env=env)
    (used,) = folders(cache, "dara")
    unused = cache / ("dara-" + "0" * 16)
    unused.mkdir()
    (unused / "reset.ready").touch()
    young = cache / ("rive-" + "1" * 16)
    young.mkdir()
    (young / "reset.ready").touch()
    foreign = [cache / "photos", cache / ("thesis-" + "2" * 16), cache / "dara-notes"]
    for folder in foreign:
        folder.mkdir()
        (folder / "work.txt").write_text("years of it")
    for folder in (cache / used, unused, *foreign):
        make_old(folder, 31)
    make_old(young, 29)
    assert run(RESET, "dara", env=env)[1] == ""  # a use, which makes the folder young again
    run(RESET, "resolve", env=env)  # compiling something new removes what is old
    assert (cache / used).exists()
    assert young.exists()
    assert not unused.exists()
    assert all((folder / "work.txt").exists() for folder in foreign)


def test_without_a_home_folder_there_is_no_cache_and_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("STONEZOO_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", no_home)
    assert jit.cache_root() is None


def test_the_cache_lies_where_the_variables_say(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("STONEZOO_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert jit.cache_root() == tmp_path / "stonezoo"
    monkeypatch.setenv("STONEZOO_CACHE_DIR", "~/kept")
    assert jit.cache_root() == Path.home() / "kept"


# --- The same games in plain Python --------------------------------------------------------------------------------

GAMES: list[tuple[Case, int]] = [
    (("rive", {"board_size": 2}), 20),
    (("rive", {"board_size": 3}), 4),
    (("resolve", {"board_size": 5, "rules": "standard"}), 20),
    (("resolve", {"board_size": 4, "rules": "original"}), 20),
    (("resolve", {"board_size": 19, "rules": "original"}), 1),
    (("dara", {"rows": 5, "columns": 6, "stones": 12, "rules": "standard", "quiet_limit": 30}), 5),
    (("dara", {"rows": 3, "columns": 4, "stones": 5, "rules": "no_drop_threes", "quiet_limit": 9}), 20),
    (("dara", {"rows": 10, "columns": 10, "stones": 20, "rules": "standard", "quiet_limit": 5}), 1),
]

PLAY = """
import json, sys
import numpy as np
import stonezoo
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import mask_batch, observe_batch, step_batch, transform_batch
from stonezoo.kernels.playout import perft, random_games

def play(name, parameters, games):
    game = stonezoo.load_game(name, **parameters)
    rows, lengths = np.zeros((games, game.rules.state_size), np.int32), np.zeros(games, np.int32)
    random_games(game.rules, rows, new_streams(3, games), lengths)
    state = game.initial_state()
    rng = np.random.default_rng(3)
    seen = []
    while not state.terminated and state.ply < 60:
        state.step(rng.choice(state.legal_actions))
        image = np.zeros((1, game.rules.state_size), np.int32)
        symmetry = game.symmetries[state.ply % len(game.symmetries)]
        transform_batch(
            game.rules, state.row[None], symmetry.cells[None], np.array([symmetry.swaps_players], np.int8),
            np.zeros(1, np.int32), image,
        )
        total = float(sum((state.observation(p) * (p + 1)).sum(dtype=np.float64) for p in (0, 1)))
        seen.append([state.to_text(), state.legal_actions.tolist(), round(total, 3), game.from_row(image[0]).to_text()])
        assert game.parse_state(seen[-1][0]) == state
    while state.history:
        state.undo()
    counts = [perft(game.rules, state.row, d) for d in (1, 2)] + [perft(game.rules, state.row, 1, turns=True)]
    return [rows.tolist(), lengths.tolist(), seen, counts]

if __name__ == "__main__":
    print(json.dumps([play(*game) for game in json.loads(sys.argv[1])]))
"""


def test_plain_python_plays_the_same_games(tmp_path: Path) -> None:
    """NUMBA_DISABLE_JIT=1, with every warning an error."""
    wanted = json.dumps([[*case, games] for case, games in GAMES])
    plain, err = run(PLAY, wanted, env=environment(tmp_path, NUMBA_DISABLE_JIT="1"))
    assert err == ""
    scope: dict[str, Any] = {"__name__": "compiled"}
    exec(PLAY, scope)
    compiled = json.loads(json.dumps([scope["play"](*case, games) for case, games in GAMES]))
    for case, one, two in zip(GAMES, json.loads(plain), compiled, strict=True):
        assert one == two, case
    assert not list(tmp_path.iterdir())


def test_streams_give_the_same_games_every_time() -> None:
    game = load(GAMES[2][0])
    seen = Counter()
    for _ in range(2):
        rows, lengths = np.zeros((50, game.rules.state_size), np.int32), np.zeros(50, np.int32)
        random_games(game.rules, rows, new_streams(9, 50), lengths)
        seen[rows.tobytes(), lengths.tobytes()] += 1
    assert list(seen.values()) == [2]


@pytest.mark.slow
def test_the_rules_tests_pass_in_plain_python(tmp_path: Path) -> None:
    tests = [f"tests/stonezoo/games/test_{name}.py" for name in ("rive", "resolve", "dara", "position_text")]
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    env = environment(tmp_path, NUMBA_DISABLE_JIT="1") | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        command, cwd=Path(__file__).parents[3], env=env, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout[-3000:]
