import time
from pathlib import Path

import pytest
import torch

from stonezero.evaluator import EngineError
from tests.stonezero.evaluator.engine_checks import check_agreement, check_threads, check_weights, make


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_compiled_agrees_with_fp32_at_every_batch_size_with_any_weights_and_in_threads(
    precision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    torch._dynamo.reset()
    evaluator, exact = make("compiled", precision)
    assert evaluator.engine == f"compiled {precision}"
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    start = time.perf_counter()
    check_agreement(evaluator, exact)
    check_weights(evaluator, exact)
    check_threads(evaluator)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == graphs, "compiled again"
    assert time.perf_counter() - start < 60


def test_a_network_that_cannot_be_compiled_is_an_error_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(*_: object) -> None:
        raise RuntimeError("no such operation\nand more")

    monkeypatch.setattr(torch, "compile", lambda _: compiled)
    with pytest.raises(EngineError, match=r"torch.compile fails on this network.*no such operation\).*engine: eager"):
        make("compiled", "fp32")
