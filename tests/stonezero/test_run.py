import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from stonezero import run as run_module
from stonezero.config import Config, parse_config
from stonezero.run import RunError, RunFolder, clean_folder, write_atomic, write_folder_atomic


@pytest.fixture
def config() -> Config:
    return parse_config({"game": {"name": "rive"}, "network": "tiny"})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_write_atomic_replaces_the_whole_file(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a", "first")
    write_atomic(tmp_path / "a", b"second")
    assert (tmp_path / "a").read_bytes() == b"second"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    write_atomic(tmp_path / "a", "old")

    def fail(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(*((os, "fsync") if failing == "fsync" else (Path, "replace")), fail)
    with pytest.raises(OSError, match="No space"):
        write_atomic(tmp_path / "a", "new")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


WRITER = """
import sys
from pathlib import Path
from stonezero.run import write_atomic, write_folder_atomic

folder, number = Path(sys.argv[1]), 0
while True:
    number = (number + 1) % 10
    text = str(number) * 200_000
    write_atomic(folder / "a", text)
    write_folder_atomic(folder / "b", lambda inner: (inner / "c").write_text(text))
"""


def test_a_killed_writer_leaves_whole_files_and_folders(tmp_path: Path) -> None:
    for attempt in range(3):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)])
        before = (tmp_path / "a").stat().st_mtime_ns if attempt else 0
        for _ in range(3_000):
            if (tmp_path / "b").exists() and (tmp_path / "a").stat().st_mtime_ns > before:
                break
            time.sleep(0.01)
        time.sleep(0.037 * attempt)
        process.kill()
        process.wait()
        clean_folder(tmp_path)
        assert names(tmp_path) == ["a", "b"]
        for text in ((tmp_path / "a").read_text(), (tmp_path / "b" / "c").read_text()):
            assert len(text) == 200_000
            assert len(set(text)) == 1


def test_a_folder_that_cannot_be_filled_leaves_the_old_one(tmp_path: Path) -> None:
    write_folder_atomic(tmp_path / "b", lambda folder: (folder / "c").write_text("old"))

    def fail(folder: Path) -> None:
        (folder / "c").write_text("half")
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        write_folder_atomic(tmp_path / "b", fail)
    assert names(tmp_path) == ["b"]
    assert (tmp_path / "b" / "c").read_text() == "old"


def test_a_folder_killed_between_the_two_renames_comes_back(tmp_path: Path) -> None:
    write_folder_atomic(tmp_path / "step-1", lambda folder: (folder / "c").write_text("old"))
    (tmp_path / "step-1").rename(tmp_path / f"{run_module.REPLACED_PREFIX}step-1-0123456789abcdef")
    (tmp_path / f"{run_module.TEMPORARY_PREFIX}step-1-0123456789abcdef").mkdir()
    clean_folder(tmp_path)
    assert names(tmp_path) == ["step-1"]
    assert (tmp_path / "step-1" / "c").read_text() == "old"


def test_a_run_is_found_again(tmp_path: Path, config: Config) -> None:
    made = RunFolder.create(tmp_path / "r", config, "rive/standard@1")
    found = RunFolder.open(tmp_path / "r", "rive/standard@1")
    assert found.config == config
    assert found.run_id == made.run_id
    assert found.rules_id == "rive/standard@1"
    assert found.versions["libraries"]["torch"]
    assert found.checkpoints.is_dir()
    assert found.events.is_dir()
    assert found.games.is_dir()
    assert found.state.is_dir()


def test_a_run_is_not_made_over_another(tmp_path: Path, config: Config) -> None:
    RunFolder.create(tmp_path / "r", config, "rive/standard@1")
    with pytest.raises(RunError, match=r"not empty.*resume"):
        RunFolder.create(tmp_path / "r", config, "rive/standard@1")


def test_what_a_killed_create_leaves_is_made_whole(tmp_path: Path, config: Config) -> None:
    for number in range(6):  # killed after so many folders, and the configuration
        path = tmp_path / f"r{number}"
        path.mkdir()
        for name in ("events", "checkpoints", "games", "state")[:number]:
            (path / name).mkdir()
        if number == 5:
            (path / "config.yaml").write_text("half")
        RunFolder.create(path, config, "rive/standard@1")
        assert RunFolder.open(path).config == config
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "config.yaml").write_text("mine")
    with pytest.raises(RunError, match="not empty"):
        RunFolder.create(mine, config, "rive/standard@1")
    assert (mine / "config.yaml").read_text() == "mine"


def test_two_that_are_started_at_once_do_not_make_one_run_of_both(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r"

    def second(file: Path, data: str) -> None:
        if file.name == "config.yaml":
            with pytest.raises(RunError, match="another trainer is at work"):
                RunFolder.create(path, config, "rive/standard@2")
        write_atomic(file, data)

    monkeypatch.setattr(run_module, "write_atomic", second)
    run = RunFolder.create(path, config, "rive/standard@1")
    assert RunFolder.open(path, "rive/standard@1").run_id == run.run_id


@pytest.mark.parametrize("there", [False, True])
def test_a_run_that_cannot_be_made_whole_leaves_nothing(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    if there:
        (tmp_path / "r").mkdir()

    def full(path: Path, data: str) -> None:
        if path.name == "versions.json":
            raise OSError(28, "No space left on device")
        write_atomic(path, data)

    monkeypatch.setattr(run_module, "write_atomic", full)
    with pytest.raises(RunError, match="No space left"):
        RunFolder.create(tmp_path / "r", config, "rive/standard@1")
    assert names(tmp_path) == ["r"][: int(there)]
    assert not there or not names(tmp_path / "r")


def test_a_folder_that_cannot_be_cleaned_is_one_clear_error(
    tmp_path: Path, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFolder.create(tmp_path / "r", config, "rive/standard@1")

    def denied(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder / ".tmp-a"))

    monkeypatch.setattr(run_module, "clean_folder", denied)
    with pytest.raises(RunError, match=r"cannot be written: Permission denied.*make it writable"), run.lock():
        pass


def test_other_rules_are_refused_and_both_named(tmp_path: Path, config: Config) -> None:
    RunFolder.create(tmp_path / "r", config, "rive/standard@1")
    with pytest.raises(RunError, match=r"rive/standard@1.*rive/standard@2"):
        RunFolder.open(tmp_path / "r", "rive/standard@2")


def test_a_config_changed_under_the_run_is_refused(tmp_path: Path, config: Config) -> None:
    made = RunFolder.create(tmp_path / "r", config, "rive/standard@1")
    text = (made.path / "config.yaml").read_text()
    (made.path / "config.yaml").write_text(text.replace("seed: 0", "seed: 1"))
    with pytest.raises(RunError, match=r"config\.yaml: changed"):
        RunFolder.open(tmp_path / "r")


def test_no_run_and_torn_versions_are_refused(tmp_path: Path, config: Config) -> None:
    with pytest.raises(RunError, match="no run"):
        RunFolder.open(tmp_path)
    made = RunFolder.create(tmp_path / "r", config, "rive/standard@1")
    (made.path / "versions.json").write_text('{"rules_id": ')
    with pytest.raises(RunError, match="no run"):
        RunFolder.open(tmp_path / "r")
    (made.path / "versions.json").write_text("{}")
    with pytest.raises(RunError, match="lacks rules_id"):
        RunFolder.open(tmp_path / "r")


def test_a_second_trainer_is_refused_until_the_first_ends(tmp_path: Path, config: Config) -> None:
    run = RunFolder.create(tmp_path / "r", config, "rive/standard@1")
    with run.lock(), pytest.raises(RunError, match="another trainer"), RunFolder.open(tmp_path / "r").lock():
        pass
    with RunFolder.open(tmp_path / "r").lock() as again:
        assert again.start_number == 2


def test_game_ids_are_unique_over_workers_and_starts(tmp_path: Path, config: Config) -> None:
    RunFolder.create(tmp_path / "r", config, "rive/standard@1")
    ids = []
    for _ in range(3):
        with RunFolder.open(tmp_path / "r").lock() as run:
            ids += [run.game_id(worker, number) for worker in range(2) for number in range(5)]
    assert len(set(ids)) == len(ids)
    assert ids == sorted(ids)
