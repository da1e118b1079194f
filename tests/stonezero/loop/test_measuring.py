"""Evaluations while a run is trained and at its end: each once, whatever stops the run, and no step twice."""

import io
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from stonezero.arena import Evaluation
from stonezero.config import load_config
from stonezero.events import TensorBoardWriter
from stonezero.loop import Trainer, show, train
from stonezero.loop.trainer import EVALUATION, FINAL
from stonezero.run import RunFolder
from stonezero.storage import newest_state
from stonezoo import load_game

torch.set_num_threads(1)

OVERRIDES = [
    "deterministic=true",
    "selfplay.num_games=4",
    "search.num_simulations=2",
    "replay.min_rows=30",
    "learner.batch_size=8",
    "learner.warmup_steps=4",
    "loop.rows_per_iteration=20",
    "loop.evaluate_every=1",
    "evaluation.opponents=random",
    "evaluation.games=2",
    "evaluation.games_while_training=2",
    "evaluation.num_simulations=2",
]
MEASURED = "evaluation/search_random"
BY_TIME = ("fresh/", "calibration/")  # which steps have them depends on the time that they take


def new_run(path: Path, *overrides: str) -> RunFolder:
    game = load_game("rive", board_size=2)
    return RunFolder.create(path, load_config("rive/smoke", [*OVERRIDES, *overrides]), game.rules_id)


def silent() -> Console:
    return Console(file=io.StringIO(), width=120)


def steps_of(run: RunFolder) -> dict[str, list[int]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run.events), size_guidance={"scalars": 0}).Reload()
    tags = [tag for tag in events.Tags()["scalars"] if not tag.startswith(BY_TIME)]
    return {tag: [event.step for event in events.Scalars(tag)] for tag in tags}


def stopped(monkeypatch: pytest.MonkeyPatch, run: RunFolder, owner: Any, name: str, calls: int, after: bool) -> None:
    """Train until a function is called so often, and stop before or after that call."""
    function, made = getattr(owner, name), 0

    def stop(*arguments: Any, **options: Any) -> Any:
        nonlocal made
        made += 1
        if made == calls and not after:
            raise KeyboardInterrupt
        found = function(*arguments, **options)
        if made == calls:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, stop)
        with pytest.raises(KeyboardInterrupt):
            train(RunFolder.open(run.path), silent())


def test_no_evaluation_is_lost_or_made_twice_wherever_a_run_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, run = (new_run(tmp_path / name, "loop.iterations=3") for name in ("whole", "stopped"))
    train(whole, silent())
    expected = steps_of(whole)
    assert all(steps == sorted(set(steps)) for steps in expected.values())
    assert len(expected[MEASURED]) == 2
    stopped(monkeypatch, run, Trainer, "_measure", 1, after=False)
    stopped(monkeypatch, run, Trainer, "_measure", 1, after=True)  # the points are there, the state lacks them
    stopped(monkeypatch, run, Trainer, "_measure_if_due", 1, after=True)
    stopped(monkeypatch, run, Trainer, "evaluate", 1, after=False)
    stopped(monkeypatch, run, Trainer, "evaluate", 1, after=True)  # evaluation.json is there, the events lack it
    assert not [tag for tag in steps_of(run) if tag.startswith(FINAL)]
    stopped(monkeypatch, run, Trainer, "show_evaluation", 1, after=True)
    train(RunFolder.open(run.path), silent())
    assert steps_of(run) == expected
    (run.path / "evaluation.json").unlink()
    train(RunFolder.open(run.path), silent())
    assert steps_of(run) == expected


@pytest.mark.parametrize("points", range(1, 9, 2))
def test_a_kill_among_the_points_of_an_evaluation_leaves_none_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, points: int
) -> None:
    """The run's last evaluation has nine points: three scores, each with its interval."""
    run = new_run(tmp_path / "run", "loop.iterations=3")
    stopped(monkeypatch, run, Trainer, "_measure", 1, after=False)
    scalar, written = TensorBoardWriter.scalar, Counter[str]()

    def stop(self: TensorBoardWriter, name: str, value: float, step: int) -> None:
        kind = FINAL if name.startswith(FINAL) else EVALUATION if name.startswith(EVALUATION) else ""
        if written[kind] == (points if kind == FINAL else 1) and kind:
            written[kind] += 1
            raise KeyboardInterrupt
        scalar(self, name, value, step)
        written[kind] += 1

    monkeypatch.setattr(TensorBoardWriter, "scalar", stop)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            train(RunFolder.open(run.path), silent())
    train(RunFolder.open(run.path), silent())
    steps = {tag: found for tag, found in steps_of(run).items() if tag.startswith(EVALUATION)}
    assert all(found == sorted(set(found)) for found in steps.values())
    ends = [tag for tag in steps if tag.startswith(FINAL)]
    assert len(ends) == 9
    assert len({tuple(steps[tag]) for tag in ends}) == 1
    assert [len(found) for tag, found in steps.items() if tag not in ends] == [2, 2, 2]


def test_iterations_before_learning_begins_are_one_point(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "loop.iterations=3", "replay.min_rows=1000", "replay.capacity=1000")
    train(run, silent())
    assert newest_state(run.state)["learner"]["steps"] == 0
    steps = steps_of(run)
    assert steps["selfplay/games"] == steps["loop/iteration"] == steps["time/other"] == steps[MEASURED] == [0]


def test_minutes_that_measuring_used_up_leave_a_checkpoint_of_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run(tmp_path / "run", "loop.iterations=9", "loop.checkpoint_every=5")
    over = False

    def measure(self: Trainer) -> None:
        nonlocal over
        over = self.iteration == 2

    monkeypatch.setattr(Trainer, "_measure", measure)
    monkeypatch.setattr(Trainer, "fraction", property(lambda self: float(over)))
    train(run, silent())
    assert (run.checkpoints / f"step-{newest_state(run.state)['learner']['steps']:08d}").is_dir()


def test_an_evaluation_of_nobody_is_said() -> None:
    console = silent()
    show(Evaluation("step-00000001", ()), console)
    assert "evaluation.opponents names no player" in console.file.getvalue()  # type: ignore[attr-defined]
