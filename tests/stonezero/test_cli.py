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
        (
            ["train", "rive/smoke", "--set.search.num_simulations", "many"],
            "search.num_simulations: expected an integer",
        ),
        (["train", "rive/smoke", "--set.game.name", "chess"], "chess"),
        (["train", "rive/smoke", "--set.loop.iterations", "null"], "never ends"),
        (["train", "rive/smoke", "--surprise"], "--surprise"),
        (["train", "no/such"], "no config 'no/such'"),
        (["resume", "no-run-here"], "no run to go on with"),
        (["resume", "no-run-here", "--set.seed", "2"], "its own config"),
        (["evaluate", "no-checkpoint"], "no-checkpoint"),
        (["match", "random", "nobody", "--parameter", "board_size=2"], "nobody"),
        (["match", "random", "random", "--parameter", "size"], "NAME=VALUE"),
        (["match", "random", "random", "--games", "3"], "even"),
    ],
)
def test_wrong_input_is_answered_in_one_line_with_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert said in error_of(capsys)
    assert not list(tmp_path.iterdir())  # nothing was begun


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
