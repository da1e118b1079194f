"""Which engine is taken: the fastest that is exact enough, and another than before only when it is worth it."""

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from stonezero.config import NetworkConfig
from stonezero.evaluator import (
    Choice,
    EngineError,
    Evaluator,
    Floats,
    Probe,
    choice,
    evaluator,
    game_probe,
)
from stonezero.evaluator.compiled import require_compiler
from stonezero.evaluator.engines import EagerEngine, Engine, label
from stonezero.evaluator.measure import difference, exact_enough, measure
from stonezero.networks import NetworkOutput, build_network
from stonezoo import load_game
from tests.stonezero.network_specs import random_observations, square_spec

torch.set_num_threads(1)
SPEC = square_spec(4)
CONFIG = NetworkConfig(preset="tiny")
PROBE = random_observations(SPEC, 32)
Speeds = Mapping[str, float]


class Pretended(EagerEngine):
    """An eager engine that goes by another name."""

    def __init__(self, network: nn.Module, device: torch.device, precision: Any, kind: Any) -> None:
        super().__init__(network, device, precision)
        self.kind = kind

    def with_weights(self, network: nn.Module) -> "Pretended":
        return Pretended(network, self.device, self.precision, self.kind)

    def at(self, precision: Any, network: nn.Module) -> "Pretended":
        return Pretended(network, self.device, precision, self.kind)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[Speeds], None]:
    """Sets what engines there are and how fast they are: those without a speed cannot be had."""

    def pretend(speeds: Speeds) -> None:
        def build(kind: Any) -> Callable[..., Engine]:
            def engine(network: nn.Module, device: torch.device, precision: Any, example: Floats) -> Engine:
                if not any(name.startswith(kind) for name in speeds):
                    raise EngineError(f"device.engine: {kind} is not here")
                return Pretended(network, device, precision, kind)

            return engine

        monkeypatch.setattr(choice, "OpenVINOEngine", build("openvino"))
        monkeypatch.setattr(choice, "CompiledEngine", build("compiled"))
        monkeypatch.setattr(choice, "require_compiler", lambda device: None)

        def pretend_to_measure(engines: Sequence[Engine], probe: Floats) -> dict[str, float]:
            return {label(engine): speeds[label(engine)] for engine in engines}

        monkeypatch.setattr(evaluator, "measure", pretend_to_measure)

    return pretend


def steep(network: nn.Module) -> dict[str, torch.Tensor]:
    """Weights whose sharp answers bf16 cannot follow."""
    return {
        name: 30 * tensor if name.startswith(("policy", "value")) else tensor
        for name, tensor in network.state_dict().items()
    }


@pytest.mark.parametrize(("speeds", "expected"), [
    ({"eager fp32": 100, "eager bf16": 120}, "eager bf16"),
    ({"eager fp32": 100, "eager bf16": 105}, "eager fp32"),
    ({"eager fp32": 100, "eager bf16": 120, "openvino fp32": 300, "openvino bf16": 200}, "openvino fp32"),
    ({"eager fp32": 100, "eager bf16": 500, "openvino fp32": 300, "openvino bf16": 520}, "openvino bf16"),
    ({"eager fp32": 100, "eager bf16": 50, "openvino fp32": 109, "openvino bf16": 60}, "eager fp32"),
])  # fmt: skip
def test_the_fastest_is_taken_when_it_is_a_tenth_faster_than_eager_fp32(
    machine: Callable[[Speeds], None], speeds: Speeds, expected: str
) -> None:
    machine(speeds)
    network = Evaluator(build_network(CONFIG, SPEC, seed=0), probe=PROBE)
    assert network.engine == network.choice.label == expected
    assert network.speeds == speeds
    assert "eager fp32 100" in network.describe()
    assert network.describe().startswith(expected)


@pytest.mark.parametrize(("recorded", "faster", "expected"), [
    ("openvino fp32", 329, "openvino fp32"),  # 1.097 times as fast: kept
    ("openvino fp32", 331, "openvino bf16"),
    ("eager fp32", 331, "openvino bf16"),
])  # fmt: skip
def test_the_recorded_choice_is_kept_unless_another_is_a_tenth_faster(
    machine: Callable[[Speeds], None], recorded: str, faster: float, expected: str
) -> None:
    machine({"eager fp32": 100, "eager bf16": 90, "openvino fp32": 300, "openvino bf16": faster})
    lines: list[str] = []
    network = Evaluator(build_network(CONFIG, SPEC, seed=0))
    kind, precision = recorded.split()
    network.choose(PROBE, recorded=Choice(kind, precision), say=lines.append)  # type: ignore[arg-type]
    assert network.engine == expected
    changes = [line for line in lines if "from now on" in line]
    assert bool(changes) == (recorded != expected)
    assert all(recorded in line and expected in line and "times as fast" in line for line in changes)


def test_a_recorded_engine_that_is_gone_is_named(machine: Callable[[Speeds], None]) -> None:
    machine({"eager fp32": 100, "eager bf16": 150})
    lines: list[str] = []
    network = Evaluator(build_network(CONFIG, SPEC, seed=0))
    network.choose(PROBE, recorded=Choice("openvino", "fp32"), say=lines.append)
    assert network.engine == "eager bf16"
    assert any("openvino fp32, which cannot be had here" in line for line in lines)
    assert "openvino is not here" in network.describe()


def test_a_network_whose_bf16_is_wrong_is_refused_however_fast(machine: Callable[[Speeds], None]) -> None:
    machine({"eager fp32": 100, "eager bf16": 900, "openvino fp32": 300, "openvino bf16": 800})
    coarse = build_network(CONFIG, SPEC, seed=0)
    coarse.load_state_dict(steep(coarse))
    assert Evaluator(coarse, probe=PROBE).engine == "openvino fp32"
    assert Evaluator(build_network(CONFIG, SPEC, seed=0), probe=PROBE).engine == "eager bf16"


def test_weights_too_coarse_for_the_choice_are_played_the_next_fastest_way(machine: Callable[[Speeds], None]) -> None:
    machine({"eager fp32": 100, "eager bf16": 700, "openvino fp32": 300, "openvino bf16": 800})
    network = build_network(CONFIG, SPEC, seed=0)
    fine = copy.deepcopy(network.state_dict())
    playing = Evaluator(network, probe=PROBE)
    assert playing.engine == "openvino bf16"
    playing.load_weights(steep(network), version=1)
    assert (playing.engine, playing.choice.label) == ("openvino fp32", "openvino bf16")
    assert "openvino bf16 is too coarse for these weights" in playing.describe()
    playing.load_weights(fine, version=2)
    assert playing.engine == "openvino bf16"


def test_another_engine_in_bf16_that_was_asked_for_must_answer_as_eager_bf16_does(
    machine: Callable[[Speeds], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine({"eager bf16": 100, "openvino bf16": 900})
    network = build_network(CONFIG, SPEC, seed=0)
    assert Evaluator(network, precision="bf16", probe=PROBE).engine == "openvino bf16"
    answer = Pretended.__call__

    def wrong(self: Pretended, observations: Floats) -> tuple[Floats, Floats]:
        logits, value = answer(self, observations)
        return logits, value + 0.5

    monkeypatch.setattr(Pretended, "__call__", wrong)
    playing = Evaluator(network, precision="bf16", probe=PROBE)
    assert playing.engine == "eager bf16"
    playing.load_weights(steep(network), version=1)
    assert playing.engine == "eager bf16"


def test_eager_fp32_in_place_of_an_engine_that_is_too_coarse_is_kept_on_resume(
    machine: Callable[[Speeds], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine({"openvino fp32": 900, "openvino bf16": 800})
    monkeypatch.setattr(evaluator, "exact_enough", lambda *_: False)
    playing = Evaluator(build_network(CONFIG, SPEC, seed=0), engine="openvino")
    playing.choose(PROBE)
    assert playing.choice.label == "eager fp32"
    lines: list[str] = []
    playing.choose(PROBE, recorded=playing.choice, say=lines.append)
    assert playing.engine == playing.choice.label == "eager fp32"
    assert not any("cannot be had" in line for line in lines)


def test_bf16_that_was_asked_for_is_not_judged(machine: Callable[[Speeds], None]) -> None:
    machine({"eager bf16": 100, "openvino bf16": 90})
    network = build_network(CONFIG, SPEC, seed=0)
    playing = Evaluator(network, precision="bf16", probe=PROBE)
    playing.load_weights(steep(network), version=1)
    assert playing.engine == "eager bf16"


class Fp32Only(nn.Module):
    """A network of one's own that does not know bf16."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(SPEC.observation_shape[2], 1)

    def forward(self, observation: torch.Tensor) -> NetworkOutput:
        planes = self.linear(observation).squeeze(-1).flatten(1)  # raises when the weights are bf16
        return NetworkOutput(planes, torch.tanh(planes.mean(1)))


def test_a_network_that_fails_in_bf16_is_played_without() -> None:
    playing = Evaluator(Fp32Only(), probe=PROBE)
    assert playing.precision == "fp32"
    assert "eager bf16 fails: " in playing.describe()
    with pytest.raises(EngineError, match=r"device\.engine: eager bf16 fails: "):
        Evaluator(Fp32Only(), engine="eager", precision="bf16", probe=PROBE)


def test_only_long_runs_without_openvino_are_compiled(machine: Callable[[Speeds], None]) -> None:
    machine({"eager fp32": 100, "eager bf16": 90, "compiled fp32": 150, "compiled bf16": 140})
    network = build_network(CONFIG, SPEC, seed=0)
    for minutes, expected in ((None, "eager fp32"), (5.0, "eager fp32"), (60.0, "compiled fp32")):
        playing = Evaluator(network)
        playing.choose(PROBE, minutes=minutes)
        assert playing.engine == expected
        assert ("compiled not tried: a run limited to 60 minutes" in playing.describe()) == (expected == "eager fp32")
    playing = Evaluator(network)
    playing.choose(PROBE, minutes=5.0, recorded=Choice("compiled", "fp32"))
    assert playing.engine == "compiled fp32"
    machine({"eager fp32": 100, "eager bf16": 90, "openvino fp32": 150, "openvino bf16": 140, "compiled fp32": 999})
    playing = Evaluator(network)
    playing.choose(PROBE, minutes=60.0)
    assert playing.engine == "openvino fp32"
    assert "compiled not tried: openvino" in playing.describe()


def test_one_way_alone_is_not_measured() -> None:
    playing = Evaluator(build_network(CONFIG, SPEC), engine="eager", precision="fp32", probe=PROBE)
    assert playing.describe() == "eager fp32"
    assert playing.choice == Choice()


def test_a_compiler_that_is_missing_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ValueError, match=r"device\.engine: compiled needs a C\+\+ compiler.*no-such-compiler.*install"):
        Evaluator(build_network(CONFIG, SPEC), engine="compiled", probe=PROBE)
    with pytest.raises(EngineError):
        require_compiler(torch.device("cpu"))
    monkeypatch.setattr(choice, "OpenVINOEngine", lambda *_: _raise(EngineError("device.engine: none")))
    playing = Evaluator(build_network(CONFIG, SPEC))
    playing.choose(PROBE, minutes=90.0)
    assert playing.engine.startswith("eager")
    assert "no no-such-compiler here" in playing.describe()


def _raise(error: Exception) -> Engine:
    raise error


def test_a_choice_survives_being_written_and_nothing_else_passes_for_one() -> None:
    found = Choice("openvino", "bf16", 256, {"openvino bf16": 5.5, "eager fp32": 1.0})
    assert Choice.from_dict(found.to_dict()) == found
    for other in ({}, {**found.to_dict(), "engine": "steam"}, {**found.to_dict(), "speeds": 3}):
        with pytest.raises(ValueError, match=r"choice of an engine|unknown engine"):
            Choice.from_dict(other)


def test_differences_are_of_probabilities_and_values_and_nan_is_the_largest() -> None:
    network = build_network(CONFIG, SPEC, seed=0)
    exact = EagerEngine(network, torch.device("cpu"), "fp32")

    def moved(logits: float, value: float) -> Any:
        return lambda rows: (exact(rows)[0] + logits, exact(rows)[1] + value)

    assert difference(exact, moved(3.0, 0.0), PROBE) < 1e-6  # the same probabilities
    assert exact_enough(exact, _shifted(exact, 0, 1e-5), PROBE)
    assert difference(exact, moved(0.0, 0.25), PROBE) == pytest.approx(0.25, abs=1e-5)
    assert difference(exact, moved(0.0, float("nan")), PROBE) == float("inf")


def _shifted(exact: EagerEngine, action: int, by: float) -> Any:
    """An engine with one action's logit moved."""

    class Shifted:
        precision = "fp32"

        def __call__(self, rows: Floats) -> tuple[Floats, Floats]:
            logits, value = exact(rows)
            logits[:, action] += by
            return logits, value

    return Shifted()


def test_logits_of_illegal_actions_neither_hide_a_difference_nor_make_one() -> None:
    exact = EagerEngine(build_network(CONFIG, SPEC, seed=0), torch.device("cpu"), "fp32")
    everywhere = np.ones((len(PROBE), exact(PROBE)[0].shape[1]), np.bool_)
    without = everywhere.copy()
    without[:, 0] = False
    for mask, enough in ((everywhere, False), (without, True)):
        assert exact_enough(exact, _shifted(exact, 0, 5.0), Probe(PROBE, mask)) is enough
    # An illegal action with nearly all of the unmasked mass hides what happens to the others.
    swamped = _shifted(exact, 0, 40.0)
    swamped.kind = "eager"
    other = _shifted(swamped, 1, 3.0)
    assert exact_enough(swamped, other, Probe(PROBE, everywhere))
    assert not exact_enough(swamped, other, Probe(PROBE, without))


def test_the_measurement_has_the_right_order_and_little_time() -> None:
    small, large = (
        EagerEngine(build_network(NetworkConfig(blocks=blocks, channels=32), SPEC), torch.device("cpu"), "fp32")
        for blocks in (1, 12)
    )
    large.kind = "compiled"  # another name
    speeds = measure([small, large], PROBE)
    assert speeds["eager fp32"] > 2 * speeds["compiled fp32"]


def test_a_games_probe_is_positions_of_all_stages() -> None:
    game = load_game("resolve", board_size=4)
    probe, mask = game_probe(game, 64)
    assert probe.shape == (64, *game.observation_shape)
    assert mask is not None
    assert mask.shape == (64, game.num_actions)
    assert mask.any(axis=1).all()
    stones = probe[..., :2].sum(axis=(1, 2, 3))
    assert stones.min() <= 2
    assert stones.max() >= 8
    assert len(np.unique(probe, axis=0)) > 40
