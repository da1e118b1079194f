"""The check `solver` passes what is sound and finds what hides something from the exact solver."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stonezoo.check import check_game, load_subject

SCRIPT = Path(__file__).parent / "faulty_hooks.py"
SOUND = ("Saying", "Settling", "Filling", "Remembering", "BlacksBoard", "Counting")
FAULTS = {  # the class in faulty_hooks.py and what must be said of it
    "RestAlone": "`rest_size` without `contents`",
    "ContentsAlone": "`contents` without `rest_size`",
    "NoEntry": "it must be an entry from 3 to 11 and a limit of 1 or more",
    "WrongEntry": "an action adds 1 to it, leaves it or sets it to 0",
    "AbsoluteColours": "as the player to act sees it",
    "TooMuch": "it must be 0 to 8",
    "Unwritten": "parts are as they were before",
    "Overflowing": "contents writes beside its arrays",
    "ContentsWrites": "contents changes the state",
    "PlacesInRest": "rest changes: what depends on places belongs to the cells, as a mark",
    "MarkStays": "cells do not move with the stones",
    "Forgetting": "which is worth 0 to the player to act",
    "BlacksBoardAlike": "which is worth -1 to the player to act",
    "Shy": "has the key of another position that plays differently",
    "CountsInTwos": "an action adds 1 to it, leaves it or sets it to 0",
    "LateDraw": "action 1 must lead to 'drawn', and leads to 'ongoing'",
    "CountIsLaw": "what is legal depends on the endless counter",
    "CountIsThePhase": "nothing may depend on it but the draw",
    "SettlesNothing": "settled_outcome returns 7: it must be 0 to 3",
    "SettlesTooEarly": "for the player to act; with best play it is",
    "SettlesByHand": "one of settled_outcome, useful_actions, promise changes the state",
    "UsesTheFull": "they must be legal actions, each once",
    "LeavesOutTheLast": "useful_actions leaves out 8, which does not lose: it is",
    "Boasting": "promise returns 100000: it must be from -65536 to 65536",
    "Emptying": "a layer may never fall",
    "FirstCorner": "has another layer under",
}
NAMES = tuple(FAULTS)
PART = 3


@functools.cache
def told(names: tuple[str, ...]) -> dict[str, list[str]]:
    """What is found, by class, by a process that compiles nothing."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *names],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("first", range(0, len(NAMES), PART))
def test_each_fault_is_found_and_said(first: int) -> None:
    names = NAMES[first : first + PART]
    found = told(names)
    assert set(found) == set(names)
    for name in names:
        assert any(FAULTS[name] in message for message in found[name]), (name, found[name])


@pytest.mark.parametrize("name", SOUND)
def test_what_hides_nothing_passes(name: str) -> None:
    assert told((name,)) == {name: []}


def test_a_game_that_says_nothing_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "examples" / "twofold"))
    subject = load_subject("twofold.rules:TwofoldRules", {"size": 3, "line": 3}, plies=5)
    (result,) = check_game(subject, only=["solver"]).results
    assert result.skipped == "the game says nothing to the solver"


def test_our_own_game_with_endless_play_passes() -> None:
    subject = load_subject("dara", {"rows": 3, "columns": 3, "stones": 3, "quiet_limit": 6}, plies=150)
    (result,) = check_game(subject, only=["solver"]).results
    assert result.passed, result.faults


@pytest.mark.parametrize(("size", "rules"), [(5, "original"), (6, "standard")])
def test_a_count_that_draws_at_the_end_of_a_turn_passes(size: int, rules: str) -> None:
    """Resolve's random games come to full boards there, where choosing a stone counts and its last swap draws (S9)."""
    subject = load_subject("resolve", {"board_size": size, "rules": rules}, plies=4000)
    subject.collect()
    assert any(state.counters["full"] for state in subject.states)
    (result,) = check_game(subject, only=["solver"]).results
    assert result.passed, result.faults
