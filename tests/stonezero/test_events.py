from pathlib import Path
from typing import Any

import numpy as np

from stonezero.config import flatten_config, parse_config
from stonezero.events import EventWriter, NullWriter, TensorBoardWriter


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


def test_the_null_writer_keeps_the_scalars() -> None:
    writer = NullWriter()
    checked: EventWriter = writer
    checked.scalars({"a": 1.0}, 2, prefix="x/")
    checked.hparams({"lr": 1.0}, {})
    checked.close()
    assert writer.written == [("x/a", 1.0, 2)]
