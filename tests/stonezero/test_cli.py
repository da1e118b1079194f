"""The command line: what it answers to wrong input, and that each command reaches its work."""

import json
from pathlib import Path

import pytest

from stonezero.cli import main
from stonezero.cli import train as train_command
from stonezero.config import load_config

SMOKE = ["rive/smoke", "--set.evaluation.opponents", "random", "--set.evaluation.games=4", "--set.loop.iterations", "1"]


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr."""
    text = capsys.readouterr().err
    assert text.endswith("\n")
    assert text.count("\n") == 1, text
    return text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "rive/smoke", "--set.learner.lrr", "1"], "learner.lrr: unknown key"),
        (["train", "rive/sb3"], "unknown key; configs of `stonezero train-sb3` have it"),
        (["train-sb3", "rive/smoke"], "unknown key; configs of `stonezero train` have it"),
        (
            ["train", "rive/smoke", "--set.search.num_simulations", "many"],
            "search.num_simulations: expected an integer",
        ),
        (["train", "rive/smoke", "--set.game.name", "chess"], "chess"),
        (["train", "rive/smoke", "--set.loop.iterations", "null"], "never ends"),
        (["train", "rive/smoke", "--set.evaluation.opponents", "nobody"], "evaluation.opponents: "),
        (["train", "rive/smoke", "--set.evaluation.opponents", "[]"], "name at least one player"),
        (["train", "rive/smoke", "--set.evaluation.opponents", "null"], "expected a list of text, got null"),
        (["train", "rive/smoke", "--surprise"], "--surprise"),
        (["train", "no/such"], "no config 'no/such'"),
        (["train", "--set.loop.iterations", "3", "no/such"], "no config 'no/such'"),
        (["train", "rive/smoke", "--set.network", "no_such_module:Net"], "no_such_module"),
        (["evaluate", "rive-3", "--simulations", "-1"], "--simulations -1: must be 1 or more"),
        (["evaluate", "rive-3", "--simulations", "0"], "--simulations 0: must be 1 or more"),
        (["evaluate", "rive-3", "--seed", "-1"], "--seed -1: must be 0 or more"),
        (["match", "random", "random", "--seed", "-1"], "--seed -1"),
        (["match", "random", "random", "--records", "no/such/file"], "no/such/file cannot be written"),
        (["match", "random", "random", "--records", "a" * 300], "File name too long"),
        (["tournament", "random", "greedy", "--output", "/dev/null/x"], "/dev/null is a file"),
        (["resume", "no-run-here"], "no run to go on with"),
        (["resume", "no-run-here", "--set.seed", "2"], "its own config"),
        (["evaluate", "no-checkpoint"], "no-checkpoint"),
        (["match", "random", "nobody", "--parameter", "board_size=2"], "nobody"),
        (["match", "random", "random", "--parameter", "size"], "NAME=VALUE"),
        (["match", "random", "random", "--games", "3"], "even"),
        (["match", "random", "random", "--parameter", "board_size=--3"], "board_size='--3' is not accepted"),
        (["match", "random"], "the following arguments are required: opponent; stonezero match --help says more"),
        (["check-network", "tiny", "--also", "board_size"], "--also board_size: expected NAME=VALUE"),
        (["no-command"], "invalid choice: 'no-command'"),
    ],
)
def test_wrong_input_is_answered_in_one_line_with_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert said in error_of(capsys)
    assert not list(tmp_path.iterdir())  # nothing was begun


def test_cuda_that_is_not_there_is_refused_before_the_run_is_made(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(["train", *SMOKE, "--set.device.kind", "cuda", "--run-dir", str(tmp_path / "run")]) == 2
    assert "device.kind: cuda is asked for" in error_of(capsys)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "some/file"), "some/file: Permission denied"),
        (OSError("nothing more is known"), "nothing more is known"),
        (MemoryError(), "not enough memory"),
        (OverflowError("int too large"), "too large or too small to compute with: int too large"),
        (FloatingPointError("underflow"), "too large or too small to compute with: underflow"),
    ],
)
def test_what_the_machine_cannot_do_is_one_line_with_code_2(
    error: Exception, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> int:
        raise error

    monkeypatch.setattr(train_command, "_work", fail)
    monkeypatch.setattr("stonezero.run.RunFolder.create", fail)
    assert main(["train", "rive/smoke"]) == 2
    assert said in error_of(capsys)


def test_settings_may_stand_before_the_config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun = []
    monkeypatch.setattr(train_command, "_work", lambda run: begun.append(run) or 0)
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--set.loop.iterations", "2", "--set.seed=-0", "rive/smoke", "--set.seed", "4"]) == 0
    assert (begun[0].config.loop.iterations, begun[0].config.seed) == (2, 4)


def test_help_says_how_a_setting_is_changed(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("train", "quickstart", "train-sb3"):
        assert main([command, "--help"]) == 0
        assert "--set.some.field value" in capsys.readouterr().out


def test_a_match_shows_its_result_though_the_records_cannot_be_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, records: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("stonezero.arena.match_report.write_records", full)
    words = ["random", "random", "--parameter", "board_size=2", "--games", "4", "--balance", "none", "--json"]
    assert main(["match", *words, "--records", str(tmp_path / "r.txt")]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["games"] == 4
    assert "r.txt: No space left on device" in shown.err


def test_a_folder_that_holds_something_is_not_trained_into(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    assert main(["train", *SMOKE, "--run-dir", str(tmp_path)]) == 2
    assert "not empty" in error_of(capsys)


def test_train_resume_evaluate_and_match_work_on_one_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["train", *SMOKE]) == 0
    (run,) = (tmp_path / "runs").iterdir()
    assert run.name.startswith("rive-smoke-")
    assert "iteration 1" in capsys.readouterr().out
    assert main(["resume", str(run)]) == 0
    assert "with search" in capsys.readouterr().out
    assert main(["evaluate", str(run), "--opponents", "random", "--games", "4", "--no-control", "--json"]) == 0
    evaluation = json.loads(capsys.readouterr().out)
    assert [row["kind"] for row in evaluation["rows"]] == ["search", "policy"]
    assert main(["evaluate", str(run), "--opponents", "random", "--games", "4", "--require", "1.0", "--json"]) in (0, 1)
    capsys.readouterr()
    assert main(["match", f"{run}:2", "uct:3", "--parameter", "board_size=2", "--games", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 4


def test_a_run_whose_states_are_all_torn_names_them_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert main(["train", *SMOKE, "--run-dir", str(run)]) == 0
    states = sorted((run / "state").glob("training-*.pt"))
    assert len(states) == 2
    for state in states:
        state.write_bytes(state.read_bytes()[:1000])
    capsys.readouterr()
    assert main(["resume", str(run)]) == 2
    message = error_of(capsys)
    assert all(state.name in message for state in states)


def test_ctrl_c_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stonezero.loop import Trainer

    def stop(self: Trainer) -> None:
        raise KeyboardInterrupt

    run = tmp_path / "run"
    monkeypatch.setattr(Trainer, "_iterate", stop)
    assert main(["train", *SMOKE, "--run-dir", str(run)]) == 130
    assert f"stonezero resume {run}" in error_of(capsys)


def test_quickstart_is_training_with_its_config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    begun = []
    monkeypatch.setattr(train_command, "_work", lambda run: begun.append(run) or 0)
    monkeypatch.chdir(tmp_path)
    assert main(["quickstart", "--set.seed", "3"]) == 0
    assert begun[0].config == load_config("rive/quickstart", ["seed=3"])
    assert begun[0].path.parent == Path("runs")
