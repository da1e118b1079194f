"""The files of a game's layers take no more disk than there is, or than they may."""

import shutil
from pathlib import Path

import pytest

import stonezoo
from stonezoo.solve import Table, TableError
from stonezoo.solve import disk as disk_module
from stonezoo.solve.disk import DiskLimitError, check_room
from stonezoo.solve.layers import LayerSolver
from stonezoo.state import Game
from tests.stonezoo.solve.test_layers import MEMORY, STUDY, assert_same, stop_at_file


@pytest.fixture(scope="module")
def study() -> Game:
    return stonezoo.load_game("dara", **STUDY)


def held(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def let_be_free(amount: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the disk of a folder one on which `amount` bytes are free while it holds nothing."""

    def usage(path: Path) -> object:
        return shutil._ntuple_diskusage(amount, held(folder), amount - held(folder))

    monkeypatch.setattr(disk_module.shutil, "disk_usage", usage)


def test_a_limit_of_disk_is_obeyed_and_more_disk_goes_on_from_what_is_finished(
    study: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(DiskLimitError, match=r"in .*, which holds .*, and the limit is 400 kB; allow more disk"):
        LayerSolver(study, tmp_path, MEMORY, disk=400 << 10).run()
    finished = {path.name for path in tmp_path.iterdir()}
    assert {"0.graph", "3.graph"} < finished
    assert held(tmp_path) <= 400 << 10
    written = stop_at_file(-1, monkeypatch)
    assert_same(LayerSolver(study, tmp_path, MEMORY, disk=MEMORY).run(), Table.build(study))
    assert not finished & set(written)


def test_a_disk_that_is_full_is_seen_before_a_file_is_begun(
    study: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        let_be_free(400 << 10, tmp_path, patch)
        with pytest.raises(DiskLimitError, match=r"needed in .*, and .* are free there; make room, or move"):
            LayerSolver(study, tmp_path, MEMORY).run()
    finished = {path.name for path in tmp_path.iterdir()}
    assert "3.graph" in finished
    assert all(name.endswith(".graph") for name in finished), "nothing half written is left"
    written = stop_at_file(-1, monkeypatch)
    assert_same(LayerSolver(study, tmp_path, MEMORY).run(), Table.build(study))
    assert not finished & set(written)


def test_a_tenth_more_than_what_is_written_must_be_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    let_be_free(1100, tmp_path, monkeypatch)
    check_room(tmp_path, 1000)
    with pytest.raises(DiskLimitError, match=r"1001 bytes more are needed in .*, and 1.07 kB are free there"):
        check_room(tmp_path, 1001)


def test_what_the_folder_holds_counts_towards_its_limit(tmp_path: Path) -> None:
    (tmp_path / "0.graph").write_bytes(bytes(600))
    check_room(tmp_path, 400, 1000)
    with pytest.raises(
        DiskLimitError, match=r"401 bytes more are needed .*, which holds 600 bytes, and the limit is 1"
    ):
        check_room(tmp_path, 401, 1000)


def test_a_folder_that_cannot_be_made_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(TableError, match=r"cannot write to .*file/layers: Not a directory"):
        check_room(tmp_path / "file" / "layers", 1)
