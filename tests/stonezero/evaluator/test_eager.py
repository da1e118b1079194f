import pytest

from tests.stonezero.evaluator.engine_checks import check_agreement, check_threads, check_weights, make


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_eager_agrees_with_fp32_at_every_batch_size_with_any_weights_and_in_threads(precision: str) -> None:
    evaluator, exact = make("eager", precision)
    assert evaluator.engine == f"eager {precision}"
    check_agreement(evaluator, exact)
    check_weights(evaluator, exact)
    check_threads(evaluator)
