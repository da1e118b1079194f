"""Each deliberate fault, put into a copy of the sources, fails the tests that its patch names."""

import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.stonezero.faults.catalogue import Fault, faults
from tests.stonezero.faults.copied import Copy, Report

pytestmark = pytest.mark.slow

# What pytest says first of an assertion, of `pytest.raises` that was in vain, and of `pytest.fail`.
BY_ASSERTION = ("assert ", "AssertionError", "Failed: ")
# What code raises that does not even run: such a patch shows nothing.
BROKEN = ("AttributeError", "ImportError", "ModuleNotFoundError", "NameError", "SyntaxError", "TypeError", "Unbound")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def sound(copy: Copy, request: pytest.FixtureRequest) -> Mapping[tuple[str, ...], Report]:
    """The runs, by their settings, of all tests that are to fail, without a fault. They compile what is needed."""
    calls = [getattr(item, "callspec", None) for item in request.session.items]
    chosen = [call.params["fault"] for call in calls if call and isinstance(call.params.get("fault"), Fault)]
    tests: dict[tuple[str, ...], set[str]] = {}
    for fault in chosen:
        tests.setdefault(fault.settings, set()).update(fault.tests)
    reports = {}
    for settings, names in tests.items():
        said = f"{len(names)} tests without a fault {' '.join(settings)}"
        say(request.config, said)
        start = time.monotonic()
        reports[settings] = copy.run(sorted(names), settings)
        say(request.config, f"{said}: {time.monotonic() - start:.0f} s")
    return reports


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_the_fault_is_caught(
    fault: Fault,
    copy: Copy,
    sound: Mapping[tuple[str, ...], Report],
    pytestconfig: pytest.Config,
    tmp_path: Path,
) -> None:
    before = sound[fault.settings]
    for test in fault.tests:
        outcome = before.outcomes[test]
        assert not outcome.failed, f"{test} fails without the fault:\n{before.output}"
        assert not outcome.errors, f"{test} cannot be run, or is skipped:\n{before.output}"
        assert outcome.passed, f"{test} was not found:\n{before.output}"
    start = time.monotonic()
    with copy.broken(fault):
        report = copy.run(fault.tests, fault.settings)
    log = tmp_path / "output.txt"
    log.write_text(report.output, encoding="utf-8")
    for test in fault.tests:
        outcome = report.outcomes[test]
        assert not outcome.errors, f"{test} cannot be run with the fault ({log}):\n{report.output}"
        assert outcome.failed, f"{test} does not see the fault ({log}):\n{report.output}"
        by_assertion = [message for message in outcome.failed if message.startswith(BY_ASSERTION)]
        assert by_assertion, f"{test} fails, but not by an assertion ({log}):\n{report.output}"
        broken = [message for message in outcome.failed if message.startswith(BROKEN)]
        assert not broken, f"{test} fails since the patched sources do not run ({log}):\n{report.output}"
    say(pytestconfig, f"{fault.name}: caught in {time.monotonic() - start:.0f} s")


def say(config: pytest.Config, text: str) -> None:
    """Shows progress, whatever pytest captures."""
    manager = config.pluginmanager.getplugin("capturemanager")
    assert manager is not None
    with manager.global_and_fixture_disabled():
        print(f"\n  {text}", end="", file=sys.stderr, flush=True)  # where workers of pytest-xdist are heard too
