"""Whole runs of seconds: what a run leaves on the disk, and that it goes on from there."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from stonezero.checkpoint import latest_checkpoint, load_checkpoint
from stonezero.chunks import chunk_files, read_chunk
from stonezero.config import Config, load_config
from stonezero.learner import Learner
from stonezero.loop import Reporter, Trainer, read_evaluation, train
from stonezero.loop.report import clock
from stonezero.run import RunError, RunFolder
from stonezero.storage import newest_state
from stonezoo import load_game
from stonezoo.record import read_records
from stonezoo.solve import Table

torch.set_num_threads(1)

QUIET = ["deterministic=true", "evaluation.opponents=random", "evaluation.games=4", "loop.evaluate_every=0"]


def new_run(path: Path, *overrides: str) -> RunFolder:
    config: Config = load_config("rive/smoke", [*QUIET, *overrides])
    game = load_game(config.game.name, **config.game.parameters)
    return RunFolder.create(path, config, game.rules_id)


def silent() -> Console:
    return Console(file=io.StringIO(), width=120)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of three iterations that was never stopped."""
    run = new_run(tmp_path_factory.mktemp("runs") / "whole")
    train(run, silent())
    return run


def weights(run: RunFolder) -> dict[str, Any]:
    return newest_state(run.state)["learner"]["network"]


def test_a_run_leaves_checkpoints_records_rows_and_an_evaluation(finished: RunFolder) -> None:
    state = newest_state(finished.state)
    newest = latest_checkpoint(finished.checkpoints)
    assert newest is not None
    checkpoint = load_checkpoint(newest, load_game("rive", board_size=2))
    assert checkpoint.version == state["learner"]["steps"] > 0
    assert (finished.checkpoints / "step-00000000").is_dir()  # the untrained network, the control
    for number in (1, 2, 3):
        text = (finished.games / f"iteration-{number:06d}.txt").read_text()
        records = list(read_records(text.splitlines(keepends=True)))
        assert 0 < len(records) <= finished.config.selfplay.record_games
    assert state["iteration"] == 3
    game = load_game("rive", board_size=2)
    games = [finished for _, path in chunk_files(finished.state) for finished in read_chunk(path, game)]
    rows = sum(len(finished.samples or ()) for finished in games)
    assert len(games) == state["games"]
    assert rows == state["total_rows"] >= 180
    evaluation = read_evaluation(finished.path)
    assert evaluation is not None
    assert [row.kind for row in evaluation.rows] == ["search", "policy", "untrained"]
    assert json.loads((finished.path / "evaluation.json").read_text())["rows"][0]["games"] == 4


def test_the_events_hold_what_a_run_is_watched_by(finished: RunFolder) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(finished.events)).Reload()
    tags = set(events.Tags()["scalars"])
    assert {
        "learner/policy_loss",
        "learner/value_loss",
        "learner/prior_entropy",
        "selfplay/game_length",
        "selfplay/first_player_win_rate",
        "selfplay/actions_per_second",
        "selfplay/simulations_per_second",
        "replay/reuse",
        "evaluation/final_search_random",
    } <= tags
    steps = [event.step for event in events.Scalars("learner/policy_loss")]
    assert steps == sorted(set(steps))


def test_a_run_in_a_solved_game_shows_its_distance_from_perfect_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    monkeypatch.setenv("STONEZOO_TABLE_DIR", str(tmp_path / "tables"))
    Table.build(load_game("rive", board_size=2)).save()
    run = new_run(tmp_path / "run", "loop.iterations=2", "loop.evaluate_every=1")
    console = silent()
    train(run, console)
    events = EventAccumulator(str(run.events)).Reload()
    shares = {tag: [event.value for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    for tag in ("truth/policy_optimal", "truth/search_optimal", "truth/policy_value_sign", "truth/uniform_optimal"):
        assert len(shares[tag]) == 2, tag  # after the first iteration and at the end
        assert all(0 <= share <= 1 for share in shares[tag])
    assert shares["truth/uniform_optimal"][0] == pytest.approx(0.58, abs=0.01)
    assert "best actions on decisive positions" in console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("stopped_in", [1, 2, 3])
def test_a_run_that_was_stopped_ends_as_one_that_was_not(
    finished: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_in: int
) -> None:
    run = new_run(tmp_path / "run")
    learn = Trainer._learn

    def stop(self: Trainer) -> Any:
        if self.iteration + 1 == stopped_in:
            raise KeyboardInterrupt
        return learn(self)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_learn", stop)
        with pytest.raises(KeyboardInterrupt):
            train(run, silent())
    train(RunFolder.open(run.path), silent())
    expected = weights(finished)
    assert all(torch.equal(tensor, expected[name]) for name, tensor in weights(run).items())
    games = [(folder.games / "iteration-000003.txt").read_text() for folder in (run, finished)]
    without_ids = ["\n".join(line for line in text.splitlines() if line[:1] not in "{bw") for text in games]
    assert without_ids[0] == without_ids[1]


def test_a_finished_run_is_not_trained_or_evaluated_again(finished: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trainer, "_iterate", lambda self: pytest.fail("trained again"))
    monkeypatch.setattr(Trainer, "evaluate", lambda self: pytest.fail("evaluated again"))
    train(RunFolder.open(finished.path), silent())


def test_a_limit_in_learner_steps_is_kept_exactly(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "loop.iterations=null", "loop.steps=25")
    train(run, silent())
    assert newest_state(run.state)["learner"]["steps"] == 25


def test_the_schedule_counts_the_iterations_that_are_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    step = Learner.step

    def watched(self: Learner, batch: Any, progress: float = 0.0) -> dict[str, float]:
        seen.append(progress)
        return step(self, batch, progress)

    monkeypatch.setattr(Learner, "step", watched)
    run = new_run(tmp_path / "run", "loop.iterations=2", "learner.schedule=cosine", "evaluation.games=2")
    train(run, silent())
    assert sorted(set(seen)) == [0.0, 0.5]


def test_two_trainers_do_not_share_a_folder(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    with run.lock(), pytest.raises(RunError, match="another trainer"):
        train(RunFolder.open(run.path), silent())


def test_evaluation_in_the_loop_searches_without_noise(
    finished: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run(tmp_path / "run")
    with run.lock(), Reporter(silent()) as reporter:
        trainer = Trainer(run, reporter)
        asked: list[Any] = []
        from stonezero.search import Search

        search = Search.run

        def spy(self: Search, states: Any, evaluate: Any, **options: Any) -> Any:
            asked.append((options.get("noise", False), options.get("temperature", 0.0)))
            return search(self, states, evaluate, **options)

        monkeypatch.setattr(Search, "run", spy)
        trainer.evaluate()
        trainer.events.close()
    assert asked
    assert all(not np.any(noise) and not np.any(temperature) for noise, temperature in asked)


def test_a_pipe_sees_one_line_an_iteration_and_no_control_characters(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stonezero", "train", "rive/smoke", "--run-dir", str(tmp_path / "run")]
    overrides = [part for override in QUIET for part in (f"--set.{override}",)]
    done = subprocess.run([*command, *overrides], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    assert not [letter for letter in done.stdout if ord(letter) < 32 and letter != "\n"]
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("iteration")] == ["1", "2", "3"]
    assert str(tmp_path / "run" / "checkpoints") in lines[-1]


def test_times_are_told_as_a_clock_shows_them() -> None:
    assert [clock(seconds) for seconds in (0, 61.4, 3723, float("inf"))] == ["0:00", "1:01", "1:02:03", "?"]
