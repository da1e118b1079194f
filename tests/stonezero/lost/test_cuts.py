"""A power cut at every single change of the disk that an iteration makes, and a disk that is full there."""

import shutil
from pathlib import Path

import pytest

from stonezero.chunks import chunk_files
from stonezero.run import RunError, RunFolder
from stonezero.storage import newest_state, state_files
from tests.stonezero.lost.power import Cut, Power
from tests.stonezero.lost.runs import check_folder, go_on, new_run, same

CUTS = 36  # changes of the disk in an iteration, at most; a test counts them


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of four iterations that was never stopped. Its last one deletes a chunk, so that everything happens."""
    run = new_run(tmp_path_factory.mktemp("whole") / "run", "loop.iterations=4")
    go_on(run.path)
    return run.path


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run after its third iteration."""
    from stonezero.loop import Trainer

    run = new_run(tmp_path_factory.mktemp("begun") / "run", "loop.iterations=4")
    with pytest.MonkeyPatch.context() as patch:
        iterate = Trainer._iterate

        def stop(self: Trainer) -> None:
            if self.iteration == 3:
                raise KeyboardInterrupt
            iterate(self)

        patch.setattr(Trainer, "_iterate", stop)
        with pytest.raises(KeyboardInterrupt):
            go_on(run.path)
    return run.path


def changes_until_the_end(begun: Path, path: Path) -> int:
    shutil.copytree(begun, path)
    with pytest.MonkeyPatch.context() as patch:
        power = Power(patch, path)
        go_on(path)
    return power.changes


def test_the_cuts_reach_every_change_of_an_iteration(begun: Path, tmp_path: Path) -> None:
    assert 25 < changes_until_the_end(begun, tmp_path / "run") <= CUTS


def test_a_run_that_stops_and_goes_on_is_the_same_to_the_bit(whole: Path, begun: Path, tmp_path: Path) -> None:
    shutil.copytree(begun, tmp_path / "run")
    go_on(tmp_path / "run")
    state = check_folder(tmp_path / "run")
    expected = check_folder(whole)
    assert set(state) > {"learner", "rng", "selfplay", "games", "iteration", "total_rows"}
    assert set(state["learner"]) == {"steps", "network", "average", "optimiser", "torch_rng"}
    assert state["learner"]["optimiser"]["state"]
    assert same(state, expected)
    assert not same(state, newest_state(begun / "state"))
    for file in (whole / "state").glob("games-*.npz"):
        assert (tmp_path / "run" / "state" / file.name).read_bytes() == file.read_bytes()


def test_the_state_before_the_last_finds_its_rows_though_chunks_are_deleted(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "run"
    shutil.copytree(whole, path)
    assert chunk_files(path / "state")[0][0] > 0  # some are gone
    _, last = state_files(path / "state")[-1]
    last.write_bytes(b"")
    assert "are lost" not in go_on(path)
    assert same(check_folder(path), newest_state(whole / "state"))


@pytest.mark.parametrize("at", range(CUTS))
def test_a_cut_anywhere_in_an_iteration_loses_nothing(whole: Path, begun: Path, tmp_path: Path, at: int) -> None:
    path = tmp_path / "run"
    shutil.copytree(begun, path)
    with pytest.MonkeyPatch.context() as patch:
        power = Power(patch, path, at)
        try:
            go_on(path)
            assert power.changes <= at
        except Cut:
            pass
    go_on(path)
    assert same(check_folder(path), newest_state(whole / "state"))
    checkpoints = sorted(item.name for item in (whole / "checkpoints").iterdir())
    assert sorted(item.name for item in (path / "checkpoints").iterdir()) == checkpoints


@pytest.mark.parametrize("at", range(0, 30, 3))
def test_a_cut_at_the_very_beginning_leaves_a_run_that_begins(tmp_path: Path, at: int) -> None:
    run = new_run(tmp_path / "run", "loop.iterations=1")
    with pytest.MonkeyPatch.context() as patch:
        Power(patch, run.path, at)
        with pytest.raises(Cut):
            go_on(run.path)
    assert "torn" not in go_on(run.path)
    assert check_folder(run.path)["iteration"] == 1


@pytest.mark.parametrize("at", range(2, 25, 4))
def test_a_full_disk_is_one_clear_error_and_nothing_is_damaged(
    whole: Path, begun: Path, tmp_path: Path, at: int
) -> None:
    path = tmp_path / "run"
    shutil.copytree(begun, path)
    with pytest.MonkeyPatch.context() as patch:
        Power(patch, path, at, full=True)
        with pytest.raises(RunError, match=r"No space left on device.*make room.*stonezero resume"):
            go_on(path)
    RunFolder.open(path)
    go_on(path)
    assert same(check_folder(path), newest_state(whole / "state"))
