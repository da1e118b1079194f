"""One set of weights on boards of other sizes: play, evaluation, and runs that begin with another's weights."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from torch import Tensor, nn

from stonezero.checkpoint import CheckpointError, initial_weights, load_checkpoint, save_checkpoint
from stonezero.cli import main
from stonezero.config import Config, LearnerConfig, NetworkConfig, load_config
from stonezero.learner import Learner
from stonezero.loop import Reporter, Trainer, train
from stonezero.networks import NetworkOutput, NetworkSpec, build_network
from stonezero.run import RunFolder
from stonezoo import load_game

torch.set_num_threads(1)

SMALL, LARGE = load_game("rive", board_size=2), load_game("rive", board_size=3)
QUIET = ["deterministic=true", "evaluation.opponents=random", "evaluation.games=4", "loop.evaluate_every=0"]
BRIEF = [*QUIET, "loop.iterations=1", "game.parameters.board_size=3"]


class OneSize(nn.Module):
    """A network whose weights know the size of the board."""

    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__()
        height, width, planes = spec.observation_shape
        self.linear = nn.Linear(height * width * planes, spec.num_actions + 1)

    def forward(self, observation: Tensor) -> NetworkOutput:
        out = self.linear(observation.flatten(1))  # [B, A + 1]
        return NetworkOutput(out[:, 1:], torch.tanh(out[:, 0]))


def save(path: Path, *overrides: str, seed: int = 5) -> Path:
    """A checkpoint of the smoke configuration, which plays the small board."""
    config = load_config("rive/smoke", overrides)
    spec = NetworkSpec.from_game(SMALL)
    weights = build_network(config.network, spec, seed=seed).state_dict()
    return save_checkpoint(path, weights, config=config, spec=spec, rules_id=SMALL.rules_id, version=40)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return save(tmp_path / "small")


def weights_of(path: Path) -> dict[str, Tensor]:
    return load_checkpoint(path).network.state_dict()


def test_match_and_evaluate_play_a_checkpoint_on_a_larger_board(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    larger = ["--game", "rive", "--parameter", "board_size=3"]
    assert main(["match", f"{small}:4", "random", *larger, "--games", "20", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"] == {"board_size": 3}
    options = ["--games", "4", "--opponents", "random", "--simulations", "4", "--json"]
    assert main(["evaluate", str(small), *larger, *options]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["kind"] for row in rows] == ["search", "policy", "untrained"]
    assert {row["parameters"]["board_size"] for row in rows} == {3}


def test_what_cannot_be_played_is_said_in_one_line(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = save(tmp_path / "own", f"network.module={__name__}:OneSize")
    for arguments, said in (
        (["match", f"{own}:4", "random", "--parameter", "board_size=3"], "plays only the size that it was trained on"),
        (["match", f"{small}:4", "random", "--game", "resolve"], "but the game here has resolve/standard"),
        (["evaluate", str(small), "--parameter", "board_size=3"], "name the game too"),
    ):
        assert main(arguments) == 2
        errors = capsys.readouterr().err
        assert said in errors
        assert errors.count("\n") == 1


def test_the_weights_of_a_small_board_are_those_that_a_run_on_a_larger_one_begins_with(small: Path) -> None:
    config = load_config("rive/smoke", BRIEF)
    weights, source = initial_weights(small, config, LARGE)
    expected = weights_of(small)
    assert weights.keys() == expected.keys()
    assert all(torch.equal(weights[name], expected[name]) for name in expected)
    assert (source["checkpoint"], source["version"], source["rules_id"]) == (str(small), 40, SMALL.rules_id)
    assert len(source["sha256"]) == 64


def test_an_owner_head_may_be_new_or_left_behind_and_nothing_else(small: Path, tmp_path: Path) -> None:
    headed = save(tmp_path / "headed", "network.owner_head=true")
    with_head = load_config("rive/smoke", [*BRIEF, "network.owner_head=true", "seed=3"])
    fresh = build_network(with_head.network, NetworkSpec.from_game(LARGE), seed=3).state_dict()
    weights, _ = initial_weights(small, with_head, LARGE)
    assert torch.equal(weights["owner_out.weight"], fresh["owner_out.weight"])
    assert torch.equal(weights["stem.weight"], weights_of(small)["stem.weight"])
    both, _ = initial_weights(headed, with_head, LARGE)
    assert torch.equal(both["owner_out.weight"], weights_of(headed)["owner_out.weight"])
    assert "owner_out.weight" not in initial_weights(headed, load_config("rive/smoke", BRIEF), LARGE)[0]
    for wrong in ("network.channels=16", "network.blocks=2", f"network.module={__name__}:OneSize"):
        with pytest.raises(
            CheckpointError, match=r"not that of the configuration; train one like it with --set\.network"
        ):
            initial_weights(small, load_config("rive/smoke", [*BRIEF, wrong]), LARGE)
    with pytest.raises(CheckpointError, match="resolve/standard"):
        initial_weights(small, load_config("rive/smoke", BRIEF), load_game("resolve", board_size=4))


def test_a_learner_begins_with_weights_before_its_first_step_only(small: Path) -> None:
    network = build_network(load_config("rive/smoke").network, NetworkSpec.from_game(SMALL), seed=0)
    learner = Learner(network, LearnerConfig())
    learner.begin(weights_of(small))
    for found in (learner.weights(), learner.average_weights()):
        assert all(torch.equal(tensor, found[name]) for name, tensor in weights_of(small).items())
    learner.steps = 1
    with pytest.raises(ValueError, match="made 1 steps"):
        learner.begin(weights_of(small))


def test_the_first_games_are_played_with_the_checkpoints_weights_and_the_control_stays_untrained(
    small: Path, tmp_path: Path
) -> None:
    config = load_config("rive/smoke", [*BRIEF, f"start_from={small}"])
    run = RunFolder.create(tmp_path / "run", config, LARGE.rules_id)
    observations = LARGE.initial_state().observation()[None]
    expected = load_checkpoint(small, LARGE).network(torch.from_numpy(observations)).policy_logits.detach().numpy()
    with run.lock(), Reporter(Console(file=io.StringIO(), width=120)) as reporter:
        trainer = Trainer(run, reporter)
        played, control = (evaluator(observations)[0] for evaluator in (trainer.evaluator, trainer.untrained))
        trainer.close()
    np.testing.assert_allclose(played, expected, atol=1e-5)
    assert np.abs(control - expected).max() > 1e-3


def test_a_run_from_a_checkpoint_begins_with_it_says_so_and_does_not_need_it_again(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    words = [word for override in BRIEF for word in ("--set." + override.split("=")[0], override.split("=")[1])]
    assert main(["train", "rive/smoke", "--from", small.name, "--run-dir", "run", *words]) == 0
    run = RunFolder.open(tmp_path / "run")
    assert run.config.start_from == str(small)  # the very folder, from wherever the run goes on
    assert run.versions["started_from"]["version"] == 40
    first = weights_of(run.checkpoints / "step-00000000")
    assert all(torch.equal(first[name], tensor) for name, tensor in weights_of(small).items())
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run.events)).Reload()
    assert str(small).encode() in events.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    for file in small.iterdir():
        file.unlink()
    assert main(["resume", "run"]) == 0


def test_a_run_that_was_begun_goes_on_with_its_own_weights(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides = [*BRIEF, "loop.iterations=2", f"start_from={small}"]
    config: Config = load_config("rive/smoke", overrides)
    run, straight = (RunFolder.create(tmp_path / name, config, LARGE.rules_id) for name in ("run", "straight"))
    train(straight, Console(file=io.StringIO(), width=120))
    learn = Trainer._learn

    def stop(self: Trainer) -> Any:
        if self.iteration + 1 == 2:
            raise KeyboardInterrupt
        return learn(self)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_learn", stop)
        with pytest.raises(KeyboardInterrupt):
            train(run, Console(file=io.StringIO(), width=120))
    train(RunFolder.open(run.path), Console(file=io.StringIO(), width=120))
    newest = [max(folder.checkpoints.iterdir()) for folder in (run, straight)]
    assert newest[0].name == newest[1].name != "step-00000000"
    expected = weights_of(newest[1])
    assert all(torch.equal(tensor, expected[name]) for name, tensor in weights_of(newest[0]).items())


def test_what_a_run_cannot_begin_with_is_said_before_anything_is_made(
    small: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    for words, said in (
        (["--from", str(tmp_path / "nothing")], "no checkpoint"),
        (["--from", str(small), "--set.network.channels", "16"], "--set.network.channels 8"),
        (["--set.start_from", str(tmp_path / "nothing")], "no checkpoint"),
    ):
        assert main(["train", "rive/smoke", *words, "--run-dir", str(run)]) == 2
        errors = capsys.readouterr().err
        assert said in errors
        assert errors.count("\n") == 1
        assert not run.exists()
