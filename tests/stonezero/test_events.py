import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stonezero.config import flatten_config, parse_config
from stonezero.events import EventWriter, NullWriter, TensorBoardWriter, scalars_at


def read(folder: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(str(folder))
    accumulator.Reload()
    return accumulator


def points(folder: Path, name: str) -> list[tuple[int, float]]:
    return [(event.step, event.value) for event in read(folder).Scalars(name)]


def test_scalars_are_written_under_their_names(tmp_path: Path) -> None:
    writer: EventWriter = TensorBoardWriter(tmp_path)
    writer.scalar("a", 1.0, 0)
    writer.scalars({"loss": 2.0, "lr": 0.5}, 10, prefix="learner/")
    writer.histogram("h", np.arange(10), 0)
    writer.histogram("empty", [], 0)
    writer.text("t", "words", 0)
    writer.image("i", np.zeros((4, 6, 3), np.uint8), 0)
    writer.close()
    assert points(tmp_path, "a") == [(0, 1.0)]
    assert points(tmp_path, "learner/loss") == [(10, 2.0)]
    tags = read(tmp_path).Tags()
    assert tags["images"] == ["i"]
    assert tags["histograms"] == ["h"]


def test_hyperparameters_make_no_other_run_and_no_points(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path)
    writer.scalar("evaluation/random", 0.5, 3)
    writer.hparams(flatten_config(parse_config({"game": {"name": "rive"}})), {"evaluation/random": 0.0})
    writer.close()
    entries = list(tmp_path.rglob("*"))
    assert len(entries) == 1
    assert entries[0].is_file()
    assert points(tmp_path, "evaluation/random") == [(3, 0.5)]
    assert "_hparams_/session_start_info" in read(tmp_path).summary_metadata


def test_a_resumed_run_has_no_step_twice(tmp_path: Path) -> None:
    first = TensorBoardWriter(tmp_path)
    for step in range(6):
        first.scalar("a", 1.0, step)
    first.close()
    second = TensorBoardWriter(tmp_path, purge_step=4)
    for step in range(4, 8):
        second.scalar("a", 2.0, step)
    second.close()
    assert points(tmp_path, "a") == [(step, 1.0 if step < 4 else 2.0) for step in range(8)]


def test_a_full_disk_is_said_once_by_whoever_writes_and_not_by_a_thread_of_tensorboards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tensorboard.summary.writer.record_writer import RecordWriter

    def full(self: Any, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    shown: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", shown.append)
    before = threading.excepthook
    writer = TensorBoardWriter(tmp_path)
    other = threading.Thread(target=lambda: 1 / 0)
    other.start()
    other.join()
    assert [found.exc_type for found in shown] == [ZeroDivisionError]  # what others raise is shown as before
    with monkeypatch.context() as patch:
        patch.setattr(RecordWriter, "write", full)
        with suppress(OSError):
            writer.scalar("a", 1.0, 0)
        worker = writer._writer._get_file_writer().event_writer._async_writer._worker
        worker.join(10)
        with pytest.raises(OSError, match="No space left"):
            writer.flush()
    with pytest.raises(OSError, match="No space left"):
        writer.close()
    assert len(shown) == 1
    assert threading.excepthook is before


def test_the_scalars_of_a_last_step_are_found_and_what_was_purged_is_not(tmp_path: Path) -> None:
    assert not scalars_at(tmp_path, 5)
    for purge_step, step in ((None, 5), (3, 4)):
        writer = TensorBoardWriter(tmp_path, purge_step)
        writer.scalar("a", 1.0, step)
        writer.scalar("b", 1.0, 2 if purge_step is None else 9)
        writer.close()
        assert scalars_at(tmp_path, step) == {"a"}
    assert not scalars_at(tmp_path, 5)


def test_what_a_killed_trainer_wrote_of_a_step_is_made_whole(tmp_path: Path) -> None:
    first = TensorBoardWriter(tmp_path)
    first.scalars({"a": 1.0, "b": 1.0}, 2)
    first.scalar("a", 1.0, 3)
    first.close()
    second = TensorBoardWriter(tmp_path, purge_step=4)
    second.scalars({"a": 2.0, "b": 2.0}, 3)
    second.scalars({"a": 2.0, "b": 2.0}, 4)
    second.close()
    assert points(tmp_path, "a") == [(2, 1.0), (3, 1.0), (4, 2.0)]
    assert points(tmp_path, "b") == [(2, 1.0), (3, 2.0), (4, 2.0)]


def test_the_null_writer_keeps_the_scalars() -> None:
    writer = NullWriter()
    checked: EventWriter = writer
    checked.scalars({"a": 1.0}, 2, prefix="x/")
    checked.hparams({"lr": 1.0}, {})
    checked.close()
    assert writer.written == [("x/a", 1.0, 2)]


def test_files_of_one_folder_are_of_different_seconds(tmp_path: Path) -> None:
    """They are read in the order of their names: 10 would come before 9 within one second."""
    for _ in range(3):
        writer = TensorBoardWriter(tmp_path)
        writer.scalar("a", 1.0, 0)
        writer.close()
    names = [path.name.split(".")[3] for path in tmp_path.iterdir()]
    assert len(set(names)) == len(names) == 3


def test_a_clock_that_was_put_back_hides_and_orders_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time
    for start, hours in enumerate((2, 0, 0, 1, -1)):
        monkeypatch.setattr(time, "time", lambda hours=hours: now() + 3_600 * hours)
        writer = TensorBoardWriter(tmp_path, purge_step=start or None)
        for step in (start, start + 1, start + 2):  # the last two are lost
            writer.scalar("a", start, step)
        writer.close()
    assert points(tmp_path, "a") == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 4), (6, 4)]
