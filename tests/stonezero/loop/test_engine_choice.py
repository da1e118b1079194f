"""How a run evaluates its network: measured at start, written down, kept on resume unless another way is worth it."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from stonezero.config import load_config
from stonezero.evaluator import Choice, EngineError, choice, evaluator
from stonezero.evaluator.engines import Engine, label
from stonezero.loop import train
from stonezero.run import RunFolder
from stonezero.storage import EVALUATOR_FILE, newest_state
from stonezoo import load_game

SHORT = ["evaluation.opponents=random", "evaluation.games=2", "loop.evaluate_every=0", "loop.iterations=1"]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Choice, str]]:
    """Starts the one run, or goes on with it, on a machine that is so fast: what it wrote down, and what it printed."""

    def begin(speeds: Mapping[str, float], *overrides: str) -> tuple[Choice, str]:
        def no_openvino(*_: Any) -> Engine:
            raise EngineError("device.engine: openvino is not installed")

        def measure(engines: Sequence[Engine], probe: Any) -> dict[str, float]:
            return {label(engine): speeds[label(engine)] for engine in engines}

        monkeypatch.setattr(choice, "OpenVINOEngine", no_openvino)
        monkeypatch.setattr(evaluator, "measure", measure)
        path = tmp_path / "run"
        if path.exists():
            run = RunFolder.open(path)
        else:
            config = load_config("rive/smoke", [*SHORT, *overrides])
            run = RunFolder.create(path, config, load_game(config.game.name, **config.game.parameters).rules_id)
        output = io.StringIO()
        train(run, Console(file=output, width=200))
        found = Choice.from_dict(json.loads((path / EVALUATOR_FILE).read_text()))
        return found, output.getvalue()

    return begin


AUTO = ("device.precision=auto", "device.engine=auto")


def test_the_choice_is_written_down_and_kept_until_another_is_a_tenth_faster(
    start: Callable[..., tuple[Choice, str]], tmp_path: Path
) -> None:
    found, output = start({"eager fp32": 100.0, "eager bf16": 300.0}, *AUTO)
    assert found.label == "eager bf16"
    assert found.speeds == {"eager fp32": 100.0, "eager bf16": 300.0}
    assert found.batch_size > 0
    assert Choice.from_dict(newest_state(tmp_path / "run" / "state")["evaluator"]) == found
    assert "play in eager bf16 (eager bf16 300, eager fp32 100 positions/s; openvino is not installed" in output

    found, output = start({"eager fp32": 105.0, "eager bf16": 100.0})  # a machine that would have begun with fp32
    assert found.label == "eager bf16"
    assert found.speeds["eager fp32"] == 105.0
    assert "from now on" not in output

    found, output = start({"eager fp32": 120.0, "eager bf16": 100.0})
    assert found.label == "eager fp32"
    assert "evaluated in eager fp32 from now on, no longer in eager bf16: 1.2 times as fast" in output


def test_a_deterministic_run_is_eager_in_fp32_whatever_is_asked_for(start: Callable[..., tuple[Choice, str]]) -> None:
    found, output = start({}, "deterministic=true", "device.precision=bf16", "device.engine=openvino")
    assert found == Choice("eager", "fp32")
    assert "play in eager fp32\n" in output


def test_an_engine_that_cannot_be_had_stops_the_run_with_the_remedy(start: Callable[..., tuple[Choice, str]]) -> None:
    with pytest.raises(ValueError, match=r"device\.engine: openvino is not installed"):
        start({}, "device.engine=openvino")
