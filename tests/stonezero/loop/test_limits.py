"""The clock of a run."""

import time

import pytest

from stonezero.loop.limits import RunClock


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What the clock shows; to be changed."""
    shown = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: shown[0])
    return shown


def test_seconds_of_all_starts_add_up(now: list[float]) -> None:
    clock = RunClock()
    now[0] += 3.5
    assert clock.seconds == 3.5
    clock.go_on(60.0)
    assert clock.seconds == 63.5


def test_the_nearest_limit_says_how_much_is_behind(now: list[float]) -> None:
    clock = RunClock()
    now[0] += 30.0
    assert clock.fraction(None) == 0.0
    assert clock.fraction(None, (7, None)) == 0.0
    assert clock.fraction(1.0, (1, 10), (2, None)) == 0.5
    assert clock.fraction(1.0, (1, 10), (3, 4)) == 0.75
    assert clock.fraction(0.25) == 2.0
    assert clock.fraction(0.0) == 1.0, "a run of no minutes is over"
