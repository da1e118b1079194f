"""What every engine must do, on a real network."""

import importlib.util
import os
import threading
import time

import numpy as np
import pytest
import torch

from stonezero.config import NetworkConfig
from stonezero.evaluator import TOLERANCES, Evaluator
from tests.stonezero.network_specs import random_observations, square_spec
from tests.stonezero.test_networks import scrambled

SPEC = square_spec(4)
CONFIG = NetworkConfig(blocks=2, channels=8)
REQUIRED = "openvino" in os.environ.get("STONEZOO_TEST_LIBRARIES", "").split(",")
needs_openvino = pytest.mark.skipif(
    not REQUIRED and importlib.util.find_spec("openvino") is None, reason="the extra openvino is not installed"
)
SIZES = (1, 2, 3, 7, 8, 9, 63, 64, 65, 130, 256)  # around every size of tile
LARGEST = max(SIZES)


def check_agreement(evaluator: Evaluator, exact: Evaluator) -> None:
    """Every batch size gives what eager fp32 gives, within the tolerance, in new arrays."""
    tolerance = TOLERANCES[evaluator.precision]
    observations = random_observations(SPEC, LARGEST)
    for size in SIZES:
        logits, value = evaluator(observations[:size])
        exact_logits, exact_value = exact(observations[:size])
        assert logits.shape == (size, SPEC.num_actions)
        assert value.shape == (size,)
        assert logits.dtype == value.dtype == np.float32
        np.testing.assert_allclose(value, exact_value, rtol=0, atol=tolerance)
        np.testing.assert_allclose(_softmax(logits), _softmax(exact_logits), rtol=0, atol=tolerance)
    first = evaluator(observations)
    kept = [array.copy() for array in first]
    evaluator(observations[::-1].copy())
    for array, copy in zip(first, kept, strict=True):
        np.testing.assert_array_equal(array, copy)


def check_weights(evaluator: Evaluator, exact: Evaluator) -> None:
    """Other weights give other answers, those of the network that has them, and at once."""
    observations = random_observations(SPEC, 70)
    before = evaluator(observations)
    weights = scrambled(CONFIG, SPEC, seed=7).state_dict()
    start = time.process_time()
    for each in (evaluator, exact):
        each.load_weights(weights, version=7)
    assert time.process_time() - start < 3  # seconds: nothing is converted or compiled by a C++ compiler again
    assert evaluator.engine == evaluator.choice.label
    assert np.abs(evaluator(observations)[0] - before[0]).max() > 1e-2
    check_agreement(evaluator, exact)


def check_threads(evaluator: Evaluator) -> None:
    """Two threads at once get what one gets, and the interpreter is free while the network works."""
    batches = [random_observations(SPEC, size, seed=size) for size in (LARGEST, 37)]
    expected = [evaluator(batch) for batch in batches]
    wrong: list[int] = []

    def call(number: int) -> None:
        for _ in range(60):
            found = evaluator(batches[number])
            if not all(np.array_equal(a, b) for a, b in zip(found, expected[number], strict=True)):
                wrong.append(number)

    callers = [threading.Thread(target=call, args=(number % 2,)) for number in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def make(engine: str, precision: str) -> tuple[Evaluator, Evaluator]:
    """An evaluator with that engine alone, and eager fp32, of the same network."""
    torch.set_num_threads(1)
    network = scrambled(CONFIG, SPEC, seed=1)
    probe = random_observations(SPEC, 64, seed=5)
    return (
        Evaluator(network, engine=engine, precision=precision, probe=probe),  # type: ignore[arg-type]
        Evaluator(network, engine="eager", precision="fp32"),
    )


def _softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)
