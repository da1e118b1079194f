"""Every pitfall has a fault, every fault names tests that exist, and every patch fits the sources as they are."""

import re

import pytest

from tests.stonezero.faults.catalogue import REPOSITORY, Fault, faults, names_of_tests, pitfalls
from tests.stonezero.faults.copied import apply_patch, touched

FAULTS = faults()
every_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


def test_every_pitfall_has_a_fault_and_every_fault_a_pitfall() -> None:
    titles = pitfalls()
    assert len(titles) > 19
    assert list(titles) == [f"{number:02d}" for number in range(1, len(titles) + 1)]
    assert {fault.name[:2] for fault in FAULTS} == set(titles)


@every_fault
def test_a_header_names_the_pitfall_the_fault_and_tests_that_exist(fault: Fault) -> None:
    number = fault.name[:2]
    assert fault.pitfall == (f"{number} {pitfalls()[number]}",)
    assert len(fault.description) == 1
    assert fault.tests
    for test in fault.tests:
        file, _, name = test.partition("::")
        assert name.partition("[")[0] in names_of_tests(REPOSITORY / file), f"{test} is not there"
    assert all(re.fullmatch(r"[A-Z_]+=\S+", setting) for setting in fault.settings)


@every_fault
def test_a_patch_fits_the_sources_and_changes_nothing_but_them(fault: Fault) -> None:
    apply_patch(fault, REPOSITORY, "--check")
    assert touched(fault)
    assert all(name.startswith(("envs/", "training/")) for name in touched(fault))
