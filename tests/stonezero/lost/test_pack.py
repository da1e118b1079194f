"""Bundles: packed, unpacked elsewhere, gone on with; small enough; refused when torn."""

import errno
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

from stonezero import pack
from stonezero.chunks import chunk_files
from stonezero.cli import main
from stonezero.pack import BundleError, pack_run, unpack_run
from stonezero.run import RunError, RunFolder, write_atomic
from stonezero.storage import newest_state
from tests.stonezero.lost.runs import GAME_ID, go_on, new_run, same


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = new_run(tmp_path_factory.mktemp("whole") / "run", "loop.iterations=4", "replay.capacity=500")
    go_on(run.path)
    return run.path


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of the same run after three iterations."""
    from stonezero.loop import Trainer

    run = new_run(tmp_path_factory.mktemp("packed") / "run", "loop.iterations=4", "replay.capacity=500")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "fraction", property(lambda self: self.iteration / 3))
        go_on(run.path)
    return pack_run(run.path).path


def test_another_machine_goes_on_as_this_one_would_have(whole: Path, packed: Path, tmp_path: Path) -> None:
    shutil.copy(packed, tmp_path / "b.stonezero")
    run = unpack_run(tmp_path / "b.stonezero", tmp_path / "elsewhere")
    original = RunFolder.open(packed.with_suffix(""))
    assert run.run_id != original.run_id
    assert run.versions["packed"]["run_id"] == original.run_id
    assert run.config == original.config
    said = go_on(run.path)
    assert "going on after iteration 3" in said
    state, expected = newest_state(run.state), newest_state(whole / "state")
    recorded = sum(len(GAME_ID.findall(path.read_text())) for path in run.games.iterdir())
    assert state["recorded"] == recorded < expected["recorded"]  # the texts of the games before stay behind
    assert (state["run_id"], original.run_id) == (run.run_id, newest_state(original.state)["run_id"])
    assert same({**state, "recorded": 0}, {**expected, "recorded": 0})
    assert [path.name for path in run.games.iterdir()] == ["iteration-000004.txt"]
    assert run.run_id in (run.games / "iteration-000004.txt").read_text()


def test_equal_runs_are_packed_into_equal_bytes(packed: Path, tmp_path: Path) -> None:
    again = pack_run(packed.with_suffix(""), tmp_path / "again.stonezero")
    assert again.path.read_bytes() == packed.read_bytes()
    assert again.size == packed.stat().st_size
    assert again.games == again.all_games > 0
    assert again.rows == again.all_rows > 0


def test_the_oldest_games_make_room_one_by_one(packed: Path, tmp_path: Path) -> None:
    source = packed.with_suffix("")
    total = newest_state(source / "state")["total_rows"]
    chunked = {0, *(total - first for first, _ in chunk_files(source / "state"))}
    rows = set()
    for limit in range(packed.stat().st_size + 6000, 40_000, -400):
        try:
            found = pack_run(source, tmp_path / "small.stonezero", limit)
        except BundleError as error:
            assert "alone take" in str(error)  # noqa: PT017
            break
        assert found.size == (tmp_path / "small.stonezero").stat().st_size <= limit
        assert (found.rows == 0) == (found.games == 0)
        rows.add(found.rows)
        smallest = found
        if 0 < found.rows < found.all_rows:
            partial = (tmp_path / "small.stonezero").read_bytes()
    assert max(rows) == found.all_rows
    assert rows - chunked  # not by whole chunks only
    assert smallest.rows == 0
    (tmp_path / "partial.stonezero").write_bytes(partial)
    run = unpack_run(tmp_path / "partial.stonezero", tmp_path / "partial")
    state = newest_state(run.state)
    assert chunk_files(run.state)[0][0] == state["first_row"] > 0
    go_on(run.path)
    later = newest_state(run.state)
    assert later["iteration"] == 4
    assert later["total_rows"] > state["total_rows"]
    run = unpack_run(tmp_path / "small.stonezero", tmp_path / "nothing")  # with no games at all
    go_on(run.path)
    assert newest_state(run.state)["iteration"] == 4


def test_a_torn_bundle_is_refused_and_nothing_is_made(packed: Path, tmp_path: Path) -> None:
    whole = packed.read_bytes()
    bundle = tmp_path / "torn.stonezero"
    passed = 0
    for place in range(0, len(whole), len(whole) // 40):
        bundle.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        try:
            unpack_run(bundle, tmp_path / "unread")
        except BundleError as error:
            assert "torn.stonezero" in str(error)  # noqa: PT017
        else:  # it was a field of the archive that nobody reads, such as a time
            assert members(bundle) == members(packed)
            shutil.rmtree(tmp_path / "unread")
            passed += 1
    assert passed <= 2
    for damaged in (b"", whole[:-1], whole[: len(whole) // 2], b"nonsense"):
        bundle.write_bytes(damaged)
        with pytest.raises(BundleError, match="not a whole bundle"):
            unpack_run(bundle, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "unread").exists()


def members(bundle: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(packed: Path, path: Path, name: str, old: bytes, new: bytes) -> Path:
    """A bundle with another text in one member."""
    with zipfile.ZipFile(packed) as source, zipfile.ZipFile(path, "w") as target:
        for member in source.namelist():
            data = source.read(member)
            if member == name:
                assert old in data
                data = data.replace(old, new)
            target.writestr(member, data)
    return path


def test_other_rules_formats_and_members_are_refused(packed: Path, tmp_path: Path) -> None:
    for name, old, new, said in (
        ("bundle.json", b"rive/standard@", b"rive/standard@9", r"under the rules rive/standard@9.*has rive/standard@"),
        (
            "bundle.json",
            b"stonezero/bundle@1",
            b"stonezero/bundle@7",
            r"'stonezero/bundle@7'.*reads 'stonezero/bundle@1'",
        ),
        ("bundle.json", b'"training.pt"', b'"../training.pt"', "does not belong there or is missing"),
        ("config.yaml", b"seed: 0", b"seed: 1", r"digest of config\.yaml differs"),
    ):
        with pytest.raises(BundleError, match=said):
            unpack_run(rewritten(packed, tmp_path / "b", name, old, new), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_bundle_that_was_not_unpacked_whole_does_not_begin_anew(packed: Path, tmp_path: Path) -> None:
    run = unpack_run(packed, tmp_path / "new")
    for path in run.state.iterdir():
        path.unlink()
    with pytest.raises(RunError, match="unpack it again"):
        go_on(run.path)


def test_a_bundle_is_unpacked_whole_or_not_at_all(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, data: bytes) -> None:
        if path.suffix == ".pt":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_atomic(path, data)

    (tmp_path / "empty").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(pack, "write_atomic", full)
        for name in ("new", "empty"):
            with pytest.raises(BundleError, match=r"No space left on device; what was made there is removed"):
                unpack_run(packed, tmp_path / name)
    assert not (tmp_path / "new").exists()
    assert not list((tmp_path / "empty").iterdir())
    unpack_run(packed, tmp_path / "new")


def test_a_bundle_of_the_current_folder_lies_beside_it_and_the_halves_of_killed_ones_go(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(packed.with_suffix(""), tmp_path / "run")
    old, young = (tmp_path / f".tmp-run.stonezero-{letter * 16}" for letter in "ab")
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    monkeypatch.chdir(tmp_path / "run")
    assert main(["pack", "."]) == 0
    assert (tmp_path / "run.stonezero").is_file()
    assert not old.exists()
    assert young.exists()  # somebody may be writing it


def test_the_commands_pack_and_resume_work_together(
    packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = str(packed.with_suffix(""))
    assert main(["pack", source, "--output", "b.stonezero"]) == 0
    said = capsys.readouterr().out
    assert "not in it: older games, events, other checkpoints" in said
    assert "stonezero resume b.stonezero --run-dir NEW" in said
    assert main(["pack", source, "--output", "b.stonezero", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["size"] < 20e6
    assert main(["resume", "b.stonezero", "--run-dir", "new"]) == 0
    assert (tmp_path / "new" / "evaluation.json").exists()
    assert main(["resume", "new", "--run-dir", "other"]) == 2
    assert main(["resume", "b.stonezero", "--run-dir", "new"]) == 2
    assert main(["pack", "nowhere"]) == 2
    assert main(["pack", source, "--max-mb", "inf"]) == 2
    assert main(["pack", source, "--max-mb", "0.001"]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert [said in line for said, line in zip(
        ("own folder", "not empty", "no run", "must be a number above 0", "alone take"), errors[-5:], strict=True
    )] == [True] * 5  # fmt: skip
