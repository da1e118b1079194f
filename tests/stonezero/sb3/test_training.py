"""Whole runs of MaskablePPO, of a second each: what a run leaves on the disk, and that it goes on from there."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from stonezero.arena import evaluate
from stonezero.checkpoint import CheckpointError, latest_checkpoint, load_checkpoint, load_training_state
from stonezero.cli import main
from stonezero.config import SearchConfig
from stonezero.loop import Reporter, read_evaluation
from stonezero.players import NetworkPlayer, load_player, load_sb3_player
from stonezero.run import RunError, RunFolder
from stonezero.sb3 import Sb3RunFolder, Sb3Trainer, train
from stonezero.sb3 import trainer as trainer_module
from stonezoo import load_game
from stonezoo.core.rng import new_streams
from stonezoo.kernels.choose import random_batch
from stonezoo.players import make_player

from .tiny import TINY, new_run, silent

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Sb3RunFolder:
    """A run of six iterations that was never stopped."""
    run = new_run(tmp_path_factory.mktemp("runs") / "whole")
    train(run, silent())
    return run


def state_of(run: RunFolder) -> dict[str, Any]:
    return load_training_state(run.state / "training.pt")


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """The paths at which two training states differ; seconds do not count."""
    if isinstance(one, dict):
        if one.keys() != other.keys():
            return [where]
        return [path for key in one if key != "seconds" for path in differences(one[key], other[key], f"{where}.{key}")]
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return [where]
        return [
            path for i, (a, b) in enumerate(zip(one, other, strict=True)) for path in differences(a, b, f"{where}[{i}]")
        ]
    same = torch.equal(one, other) if isinstance(one, torch.Tensor) else one == other
    return [] if same else [where]


def test_a_run_leaves_models_checkpoints_and_an_evaluation(finished: Sb3RunFolder) -> None:
    names = sorted(path.name for path in finished.checkpoints.iterdir())
    expected = [f"step-{80 * iteration:08d}" for iteration in (0, 3, 6)]
    assert names == sorted([*expected, *(f"{name}.zip" for name in expected)])
    state = state_of(finished)
    assert (state["iteration"], state["num_timesteps"], state["n_updates"]) == (6, 480, 12)
    evaluation = read_evaluation(finished.path)
    assert evaluation is not None
    assert [row.kind for row in evaluation.rows] == ["search", "policy", "untrained"]


def test_the_events_hold_what_a_run_is_watched_by(finished: Sb3RunFolder) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(finished.events)).Reload()
    tags = set(events.Tags()["scalars"])
    assert {
        "ppo/train/approx_kl",
        "ppo/train/entropy_loss",
        "ppo/train/explained_variance",
        "ppo/train/value_loss",
        "play/score_self",
        "play/score_uct_4",
        "play/games",
        "play/actions_per_second",
        "loop/minutes",
        "evaluation/policy_random",
        "evaluation/final_policy_random",
    } <= tags
    assert [event.step for event in events.Scalars("ppo/train/approx_kl")] == [80, 160, 240, 320, 400, 480]
    assert all(event.value == 0 for event in events.Scalars("play/games_lost_by_illegal_actions"))


def test_the_pool_keeps_the_newest_copies_and_only_their_files(finished: Sb3RunFolder) -> None:
    opponents = state_of(finished)["opponents"]
    assert opponents["pool"] == [160, 320]  # of those before iterations 1, 3 and 5
    assert opponents["playing"][0] == 320
    assert set(opponents["playing"]) <= {160, 320}
    assert sorted(path.name for path in finished.state.glob("copy-*")) == ["copy-0000000160.pt", "copy-0000000320.pt"]


def test_the_zip_and_the_checkpoint_play_alike(finished: Sb3RunFolder) -> None:
    game = load_game("rive", board_size=2)
    checkpoint = latest_checkpoint(finished.checkpoints)
    assert checkpoint is not None
    assert load_checkpoint(checkpoint, game).version == 480
    states = np.tile(game.initial_state().row, (40, 1))
    streams = new_streams(0, 40)
    actions = np.empty(40, np.int32)
    from stonezoo.kernels.batch import step_batch

    for _ in range(2):
        random_batch(game.rules, states, streams, actions)
        step_batch(game.rules, states, actions)
    by_zip = load_sb3_player(finished.path, game, trust=True).act(states, streams)
    by_checkpoint = load_player(f"{checkpoint}:policy", game).act(states, streams)
    np.testing.assert_array_equal(by_zip, by_checkpoint)
    assert len(set(by_zip.tolist())) > 1


@pytest.mark.parametrize("stopped_in", ["learning", "saving"])
def test_a_stopped_run_goes_on_bit_for_bit(
    finished: Sb3RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped_in: str
) -> None:
    run = new_run(tmp_path / "run")
    count = 0
    learn, save = trainer_module.MaskablePPO.train, trainer_module.save_training_state

    def killed(*args: Any, **options: Any) -> Any:
        nonlocal count
        count += 1
        if count == 4:
            raise KeyboardInterrupt
        return (learn if stopped_in == "learning" else save)(*args, **options)

    with monkeypatch.context() as patch:
        if stopped_in == "learning":
            patch.setattr(trainer_module.MaskablePPO, "train", killed)
        else:
            patch.setattr(trainer_module, "save_training_state", killed)
        with pytest.raises(KeyboardInterrupt):
            train(run, silent())
    state = state_of(run)
    assert state["iteration"] == 3
    assert state["opponents"]["playing"] == [160, 160, 0]  # different copies: none may change places
    torch.manual_seed(99)
    np.random.seed(99)  # noqa: NPY002
    train(Sb3RunFolder.open(run.path), silent())
    assert differences(state_of(finished), state_of(run)) == []


def test_the_seed_fixes_a_run_and_another_seed_gives_another(finished: Sb3RunFolder, tmp_path: Path) -> None:
    again, other = new_run(tmp_path / "again"), new_run(tmp_path / "other", "seed=2")
    for run in (again, other):
        train(run, silent())
    assert differences(state_of(finished), state_of(again)) == []
    assert ".network.stem.weight" in differences(state_of(finished), state_of(other))


def test_a_finished_run_is_not_trained_or_evaluated_again(
    finished: Sb3RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Sb3Trainer, "_iterate", lambda self: pytest.fail("trained again"))
    monkeypatch.setattr(Sb3Trainer, "evaluate", lambda self: pytest.fail("evaluated again"))
    train(Sb3RunFolder.open(finished.path), silent())


def test_a_copy_that_is_missing_is_an_error_that_names_it(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "loop.iterations=1")
    train(run, silent())
    (run.state / "copy-0000000000.pt").unlink()
    with pytest.raises(CheckpointError, match="copy-0000000000"):
        train(Sb3RunFolder.open(run.path), silent())


def test_a_run_is_gone_on_with_by_the_command_that_made_it(finished: Sb3RunFolder) -> None:
    with pytest.raises(RunError, match="made by `stonezero train-sb3`, not by `stonezero train`"):
        RunFolder.open(finished.path)


def test_opponents_are_frozen_between_copies_and_follow_the_learner_at_them(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "opponents.snapshot_every=2", "opponents.slots=1")
    with run.lock(), Reporter(silent()) as reporter:
        trainer = Sb3Trainer(run, reporter)
        playing = []
        for _ in range(4):
            trainer._iterate()
            playing.append(trainer.opponents.playing[0])
        trainer.events.close()
    assert playing == [0, 0, 160, 160]
    assert not torch.equal(trainer.opponents.pool[160]["stem.weight"], trainer.opponents.pool[0]["stem.weight"])


def test_train_sb3_resume_evaluate_and_match_work_on_one_run(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY)
    one = ["--set.loop.iterations", "1", "--set.loop.evaluate_every=0"]
    assert main(["train-sb3", "tiny.yaml", *one, "--run-dir", "run"]) == 0
    assert "MaskablePPO" in capsys.readouterr().out
    assert main(["resume", "run"]) == 0
    assert main(["evaluate", "run", "--games", "4", "--opponents", "random"]) == 0
    capsys.readouterr()
    match = ["match", "sb3:run", "random", "--parameter", "board_size=2", "--games", "4", "--balance", "none"]
    assert main([*match, "--trust"]) == 0
    assert "sb3:run against random" in capsys.readouterr().out


def test_models_among_the_opponents_need_trust_and_have_it_for_one_command(
    finished: Sb3RunFolder, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY)
    mix = f"{{'sb3:{finished.path}': 1, random: 1}}"
    train_one = ["train-sb3", "tiny.yaml", "--set.loop.iterations", "1", "--set.opponents.mix", mix, "--run-dir"]
    assert main([*train_one, "one", "--trust"]) == 0
    assert main([*train_one, "two"]) == 2
    assert "--trust" in capsys.readouterr().err
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--set.ppo.n_step", "3"], "ppo.n_step: unknown key; did you mean n_steps?"),
        (["--set.ppo.gamma", "1.5"], "ppo.gamma: must be from 0 to 1, got 1.5"),
        (["--set.ppo.batch_size", "81"], "ppo.batch_size: must be at most"),
        (["--set.opponents.mix", "{}"], "opponents.mix: expected opponents with shares"),
        (["--set.opponents.mix", "{random: -1}"], "opponents.mix: expected opponents with shares"),
        (["--set.opponents.mix", "{nobody: 1}"], "'nobody' is no player"),
        (["--set.evaluation.opponents", "nobody"], "'nobody' is no player"),
        (["--set.opponents.slots", "9"], "ppo.num_games: must be at least 11"),
        (["--set.loop.iterations", "null"], "never ends"),
        (["--set.evaluation.games", "3"], "even"),
        (["--set.game.name", "chess"], "chess"),
        (["--set.search.num_simulations", "3"], "search: unknown key"),
        (["--surprise"], "--surprise"),
    ],
)
def test_wrong_input_is_answered_in_one_line_with_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(TINY)
    assert main(["train-sb3", "tiny.yaml", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.yaml"]  # nothing was begun


@pytest.mark.slow
@pytest.mark.strength
def test_a_minute_of_training_beats_random_play(tmp_path: Path) -> None:
    """200 games: sigma of a score is below 0.036, and 0.75 is seven of them above even."""
    run = new_run(
        tmp_path / "run",
        "ppo.num_games=64",
        "ppo.n_steps=32",
        "ppo.batch_size=256",
        "ppo.learning_rate=0.003",
        "network.channels=16",
        "game.parameters.board_size=3",
        "loop.iterations=12",
        "loop.evaluate_every=0",
        "opponents.mix={self: 0.5, random: 0.5}",
        "evaluation.games=2",
    )
    with run.lock(), Reporter(silent()) as reporter:
        trainer = Sb3Trainer(run, reporter)
        trainer.train()
        trainer.evaluator.load_weights(trainer.weights(), trainer.steps)
        player = NetworkPlayer(trainer.game, trainer.evaluator, SearchConfig(), 0, "policy")
        match = evaluate(player, make_player("random", trainer.game), trainer.game, games=200)
        trainer.events.close()
    assert match.score > 0.75
