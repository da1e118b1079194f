"""The clock of a run's parts."""

import time

import numpy as np
import pytest

from stonezero.evaluator import UniformEvaluator
from stonezero.loop.watch_time import PARTS, Clock, TimedEvaluator, resident_memory


def test_shares_sum_to_one_and_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    clock = Clock()
    with clock.part("learning"):
        now += 6
    clock.seconds["network"] += 3
    now += 4
    shares = clock.shares()
    assert set(shares) == {*PARTS, "other"}
    assert shares["learning"] == pytest.approx(0.6)
    assert shares["network"] == pytest.approx(0.3)
    assert shares["other"] == pytest.approx(0.1)
    now += 1
    assert clock.shares()["other"] == 1


def test_a_part_that_fails_is_counted_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: now)
    clock = Clock()

    def fail() -> None:
        nonlocal now
        now += 2
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), clock.part("saving"):
        fail()
    assert clock.seconds["saving"] == 2


def test_a_timed_evaluator_counts_and_changes_nothing() -> None:
    plain = UniformEvaluator(5)
    timed = TimedEvaluator(plain)
    observations = np.zeros((7, 1, 1, 1), np.float32)
    for _ in range(3):
        logits, value = timed(observations)
    assert (timed.calls, timed.positions, timed.version) == (3, 21, plain.version)
    assert (logits.shape, value.shape) == ((7, 5), (7,))
    assert timed.seconds > 0


def test_memory_grows_with_what_is_held() -> None:
    before = resident_memory()
    held = np.ones(8_000_000)  # 64 MB, touched
    assert resident_memory() - before > 0.9 * held.nbytes
