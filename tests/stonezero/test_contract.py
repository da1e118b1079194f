"""The contract of networks: what each check finds, and that sound networks pass."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from stonezero.cli import main
from stonezero.config import NetworkConfig, load_config
from stonezero.networks import NetworkOutput, NetworkSpec, check_contract
from stonezoo import load_game

torch.set_num_threads(1)

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "networks"
GAME = load_game("rive", board_size=2)


class Sound(nn.Module):
    """The smallest network that keeps the contract; faults are made of it below."""

    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__()
        height, width, planes = spec.observation_shape
        self.first = nn.Linear(height * width * planes, 24)
        self.last = nn.Linear(24, spec.num_actions + 1)

    def hidden(self, observation: Tensor) -> Tensor:
        return torch.tanh(self.first(observation.flatten(1).to(self.first.weight.dtype)))

    def forward(self, observation: Tensor) -> NetworkOutput:
        out = self.last(self.hidden(observation)).float()  # [B, A + 1]
        return NetworkOutput(out[:, 1:], torch.tanh(out[:, 0]))


class ColumnValue(Sound):
    def forward(self, observation: Tensor) -> NetworkOutput:
        output = super().forward(observation)
        return NetworkOutput(output.policy_logits, output.value[:, None])


class UnboundedValue(Sound):
    def forward(self, observation: Tensor) -> NetworkOutput:
        output = super().forward(observation)
        return NetworkOutput(output.policy_logits, output.value * 0.1 + 1.5)


class MaskedByInfinity(Sound):
    def forward(self, observation: Tensor) -> NetworkOutput:
        output = super().forward(observation)
        return NetworkOutput(output.policy_logits.where(output.policy_logits > 0, -torch.inf), output.value)


class TwoTensors(Sound):
    def forward(self, observation: Tensor) -> Any:
        return tuple(super().forward(observation)[:2])


class DoubleOutputs(Sound):
    def forward(self, observation: Tensor) -> NetworkOutput:
        output = super().forward(observation)
        return NetworkOutput(output.policy_logits.double(), output.value)


class WritesIntoObservations(Sound):
    def forward(self, observation: Tensor) -> NetworkOutput:
        observation[..., 0] *= 2
        return super().forward(observation + 0)


class SingleRowsOnly(Sound):
    def forward(self, observation: Tensor) -> NetworkOutput:
        if len(observation) % 2:
            raise RuntimeError("an even batch is needed")
        return super().forward(observation)


class UnusedLayer(Sound):
    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__(config, spec)
        self.spare = nn.Linear(3, 3)


class Detached(Sound):
    def hidden(self, observation: Tensor) -> Tensor:
        return super().hidden(observation).detach()


class NoGradient(Sound):
    def forward(self, observation: Tensor) -> NetworkOutput:
        with torch.no_grad():
            return super().forward(observation)


class AlwaysDropping(Sound):
    def hidden(self, observation: Tensor) -> Tensor:
        return nn.functional.dropout(super().hidden(observation), 0.5)


class Counting(Sound):
    calls: Tensor

    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__(config, spec)
        self.register_buffer("calls", torch.zeros(()))

    def hidden(self, observation: Tensor) -> Tensor:
        self.calls += 1
        return super().hidden(observation)


class BatchNormalised(Sound):
    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__(config, spec)
        self.norm = nn.BatchNorm1d(24)

    def hidden(self, observation: Tensor) -> Tensor:
        normalised: Tensor = self.norm(super().hidden(observation))
        return normalised


class CentredOverTheBatch(Sound):
    def hidden(self, observation: Tensor) -> Tensor:
        hidden = super().hidden(observation)
        return hidden - hidden.mean(0)


class SeesTheFirstRow(Sound):
    def hidden(self, observation: Tensor) -> Tensor:
        hidden = super().hidden(observation)
        return hidden + hidden[:1] - hidden[:1].mean()


class KeepsWhatItSaw(Sound):
    def hidden(self, observation: Tensor) -> Tensor:
        self.seen = observation.flatten(1)
        return torch.tanh(self.first(self.seen.to(self.first.weight.dtype)))


class MakesATableOnce(Sound):
    """As it may be: what the first call makes is the same for all."""

    table: Tensor | None = None

    def hidden(self, observation: Tensor) -> Tensor:
        if self.table is None:
            self.table = torch.arange(24.0)
        return super().hidden(observation) * torch.cos(self.table).to(self.first.weight.dtype)


class ClampedByNothing(Sound):
    def forward(self, observation: Tensor) -> NetworkOutput:
        out = self.last(self.hidden(observation)).float()
        return NetworkOutput(out[:, 1:], out[:, 0] / 10)


class CountsItsRows(Sound):
    def hidden(self, observation: Tensor) -> Tensor:
        return super().hidden(observation.reshape(len(observation), -1))  # a constant where it is traced


class HiddenTensor(Sound):
    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__(config, spec)
        self.scale = torch.rand(24) + 0.5  # neither weight nor buffer

    def hidden(self, observation: Tensor) -> Tensor:
        return super().hidden(observation) * self.scale.to(self.first.weight.dtype)


class RandomLayers(Sound):
    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__(config, spec)
        width = 16 + int(torch.initial_seed()) % 2
        self.first, self.last = nn.Linear(self.first.in_features, width), nn.Linear(width, spec.num_actions + 1)


class ExtraState(Sound):
    def get_extra_state(self) -> Any:
        return {"games": 3}

    def set_extra_state(self, state: Any) -> None:
        pass


class WithALambda(Sound):
    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__(config, spec)
        self.act = lambda x: x

    def hidden(self, observation: Tensor) -> Tensor:
        hidden: Tensor = self.act(super().hidden(observation))
        return hidden


class SharedCopies(Sound):
    def __deepcopy__(self, memo: Any) -> "SharedCopies":
        return self


class NoBf16(Sound):
    def hidden(self, observation: Tensor) -> Tensor:
        return torch.tanh(self.first(observation.flatten(1)))


class Dropping(Sound):
    """As it should be: in training only."""

    def hidden(self, observation: Tensor) -> Tensor:
        return nn.functional.dropout(super().hidden(observation), 0.5, self.training)


class OneArgument(nn.Module):
    def __init__(self, spec: NetworkSpec) -> None:
        super().__init__()


def named(cls: type) -> NetworkConfig:
    return NetworkConfig(module=f"{cls.__module__}:{cls.__name__}")


@pytest.mark.parametrize("cls", [Sound, Dropping, NoBf16, CountsItsRows])
def test_a_sound_network_passes(cls: type) -> None:
    report = check_contract(named(cls), GAME)
    assert report.passed, report
    assert report.parameters == sum(p.numel() for p in Sound(NetworkConfig(), NetworkSpec.from_game(GAME)).parameters())
    assert len(report.results) == 9


@pytest.mark.parametrize(
    ("cls", "check", "said", "remedy"),
    [
        (ColumnValue, "outputs", r"value must have the shape \(16,\), got \(16, 1\)", "squeeze"),
        (UnboundedValue, "outputs", r"value must lie in \[-1, 1\], got 1", "tanh"),
        (ClampedByNothing, "outputs", "with weights 20 times as large a value is", "tanh"),
        (MaskedByInfinity, "outputs", "policy_logits is not finite", "masked outside"),
        (TwoTensors, "outputs", "must return a NetworkOutput with policy_logits, got tuple", "NetworkOutput"),
        (DoubleOutputs, "outputs", "policy_logits must be float32, got torch.float64", "float"),
        (WritesIntoObservations, "outputs", "writes into the observations", "clone"),
        (SingleRowsOnly, "outputs", "RuntimeError: an even batch is needed at .*test_contract.py:", "by hand"),
        (UnusedLayer, "gradients", "no gradient reaches spare.weight", "remove it"),
        (Detached, "gradients", "no gradient reaches first.weight", "use it"),
        (NoGradient, "gradients", "no weight has a part", "no_grad"),
        (AlwaysDropping, "repeatable", "two calls in evaluation mode differ", "self.training"),
        (Counting, "repeatable", "evaluation mode changes calls", "self.training"),
        (KeepsWhatItSaw, "repeatable", "stores seen in the network", "two threads"),
        (SeesTheFirstRow, "batches", "depends on its place in the batch", "axis, 0"),
        (BatchNormalised, "batches", "in training mode a row's output depends on the other rows", "LayerNorm"),
        (CentredOverTheBatch, "batches", "in evaluation mode a row's output depends on", "axis, 0"),
        (HiddenTensor, "weights", "a second network with the same state_dict answers differently", "register_buffer"),
        (RandomLayers, "weights", "does not fit a second network", "same layers"),
        (ExtraState, "weights", "holds what is no tensor: _extra_state", "tensors alone"),
        (WithALambda, "copies", "pickle of the network raised", "lambda"),
        (SharedCopies, "copies", "shares its weights", "__deepcopy__"),
    ],
)
def test_each_fault_is_found_by_its_check_and_told_with_a_remedy(cls: type, check: str, said: str, remedy: str) -> None:
    import re

    report = check_contract(named(cls), GAME)
    found = {result.name: result.faults for result in report.results if result.faults}
    assert not report.passed
    assert check in found, found
    fault = found[check][0]
    assert re.search(said, fault.message), fault
    assert remedy in fault.remedy


def test_what_is_no_fault_is_noted() -> None:
    classes = (NoBf16, Dropping, Sound, CountsItsRows)
    notes = {cls: {r.name: r.note for r in check_contract(named(cls), GAME).results} for cls in classes}
    assert "a copy in bf16 raised RuntimeError" in notes[NoBf16]["bf16"]
    assert "device.precision: fp32" in notes[NoBf16]["bf16"]
    assert "with dropout" in notes[Dropping]["batches"]
    assert notes[Sound]["batches"] == notes[Sound]["bf16"] == notes[Sound]["tracing"] == ""
    assert "play takes no faster engine" in notes[CountsItsRows]["tracing"]
    assert notes[Sound]["other boards"] == "not asked for"


def test_what_a_first_call_makes_for_all_is_not_taken_for_what_a_call_stores() -> None:
    repeatable = check_contract(named(MakesATableOnce), GAME).results[2]
    assert (repeatable.name, repeatable.faults) == ("repeatable", ())


def test_weights_that_shall_play_other_boards_are_tried_there() -> None:
    larger = load_game("rive", board_size=3)
    report = check_contract(named(Sound), GAME, also=[larger])
    fault = report.results[-1].faults[0]
    assert "do not fit a board of 5 x 5" in fault.message
    assert "persistent=False" in fault.remedy
    assert check_contract(NetworkConfig(preset="tiny", owner_head=True), GAME, also=[larger]).passed
    with pytest.raises(ValueError, match="dara/standard@1, not rive/"):
        check_contract(named(Sound), GAME, also=[load_game("dara")])


def test_an_owner_head_that_is_asked_for_must_be_there() -> None:
    config = NetworkConfig(module=f"{__name__}:Sound", owner_head=True)
    fault = check_contract(config, GAME).results[0].faults[0]
    assert "with owner, for network.owner_head is true" in fault.message


def test_a_class_that_takes_other_arguments_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must be made as Class\(config, spec\)"):
        check_contract(named(OneArgument), GAME)


@pytest.mark.parametrize("game", ["rive", "resolve", "dara"])
def test_the_built_in_network_passes_in_every_game(game: str) -> None:
    report = check_contract(NetworkConfig(preset="tiny", owner_head=True), load_game(game))
    assert report.passed, report
    assert not any(result.note for result in report.results[:-1])


def test_the_command_prints_findings_with_remedies(capsys: pytest.CaptureFixture[str]) -> None:
    here = f"{__name__}:BatchNormalised"
    board = ["--parameter", "board_size=2"]
    assert main(["check-network", here, *board]) == 1
    told = capsys.readouterr().out
    assert "batches: in training mode a row's output" in told
    assert "remedy: batch normalisation" in told
    assert main(["check-network", here, *board, "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["format"] == "stonezero/check-network@1"
    assert [check["name"] for check in report["checks"] if not check["passed"]] == ["batches"]
    assert main(["check-network", "tiny", *board, "--set.network.owner_head", "true", "--also", "board_size=3"]) == 0
    assert "not asked for" not in capsys.readouterr().out
    for wrong, said in (
        (["huge"], "one of tiny, small, base, dense, or module:Class for a network of one's own, got 'huge'"),
        (["no_such_module:Net"], "cannot be imported"),
        (["tiny", "--game", "chess"], "chess"),
        (["tiny", "--surprise"], "--surprise"),
    ):
        assert main(["check-network", *wrong]) == 2
        assert said in capsys.readouterr().err


def test_the_example_passes_in_every_game_and_plays_other_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES)
    for game, also in (("rive", ["board_size=6"]), ("resolve", ["board_size=5"]), ("dara", ["rows=6", "columns=7"])):
        arguments = ["check-network", "cell_transformer:CellTransformer", "--game", game]
        arguments += [word for setting in also for word in ("--also", setting)]
        assert main([*arguments, "--set.network.owner_head", "true"]) == 0, game


@pytest.mark.slow
def test_the_example_is_trained_and_plays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(EXAMPLES)
    smoke = load_config("rive/smoke")
    run = str(tmp_path / "run")
    settings = {
        "game.parameters.board_size": 2,
        "search.num_simulations": 4,
        "selfplay.num_games": smoke.selfplay.num_games,
        "replay.min_rows": 32,
        "learner.batch_size": 16,
        "loop.iterations": 3,
        "loop.rows_per_iteration": 60,
        "loop.evaluate_every": 0,
        "evaluation.opponents": "random",
        "evaluation.games": 4,
        "evaluation.num_simulations": 4,
        "device.precision": "auto",
    }
    words = [word for key, value in settings.items() for word in (f"--set.{key}", str(value))]
    assert main(["train", "config.yaml", "--run-dir", run, *words]) == 0
    capsys.readouterr()
    assert main(["match", f"{run}:4", "random", "--parameter", "board_size=3", "--games", "20", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == 20


def test_the_page_shows_the_examples_configuration() -> None:
    page = (ROOT / "docs" / "networks.md").read_text(encoding="utf-8")
    config = (EXAMPLES / "config.yaml").read_text(encoding="utf-8")
    shown = config.split("\n", 1)[1]  # without the comment
    assert shown in page
    assert load_config(EXAMPLES / "config.yaml").network.owner_head


def test_the_page_lists_the_presets() -> None:
    from stonezero.config import PRESETS

    page = (ROOT / "docs" / "networks.md").read_text(encoding="utf-8")
    for name, (blocks, channels) in PRESETS.items():
        assert f"| `{name}` | {blocks} | {channels} |" in page
