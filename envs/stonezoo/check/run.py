"""Runs the checks on a game."""

from __future__ import annotations

import itertools
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from stonezoo.check import (
    environments,
    observations,
    play,
    processes,
    protocol,
    referee,
    solver,
    states,
    symmetries,
    texts,
)
from stonezoo.check.report import CheckResult, Fault, Report
from stonezoo.check.subject import CheckError, Subject

MAX_FAULTS = 3  # told of one check: the first ones lead to the cause

Finder: TypeAlias = Callable[[Subject], Iterable[Fault]]
Progress: TypeAlias = Callable[[str, int, int], None]  # name of the check that begins, checks done, checks in all


class Check(NamedTuple):
    """A check: `find` yields what is wrong; `summary` says what holds when nothing is."""

    name: str
    summary: str
    find: Finder


CHECKS: tuple[Check, ...] = (
    Check("protocol", "attributes, shapes, names and parameters are as the game protocol asks", protocol.find),
    Check("ends", "random games end, within the bound that max_steps claims, with a result", play.find_endless),
    Check("legality", "legal actions, is_legal, masks and random actions agree, and change nothing", play.find_illegal),
    Check("steps", "a step depends on row and action alone, and writes nothing beside the row", play.find_step_faults),
    Check("batches", "lanes of a batch are independent, and equal to single states", play.find_batch_faults),
    Check("undo", "undo, copies and pickles go on identically and share nothing", states.find),
    Check("texts", "positions and actions read back from their texts, and bad texts are refused", texts.find),
    Check("records", "games read back from their records", texts.find_record_faults),
    Check("observations", "observations are whole, in [0, 1], tell states apart, and are copies", observations.find),
    Check("symmetries", "symmetries are a group of tables, and commute with play and results", symmetries.find),
    Check("solver", "what the game says to the exact solver hides nothing that values depend on", solver.find),
    Check("environments", "PettingZoo's and Gymnasium's own checks pass", environments.find),
    Check("vector", "a batched environment plays the same games as single states", environments.find_vector_faults),
    Check("processes", "another process, and plain Python, play the same games", processes.find),
    Check("referee", "a slow second implementation agrees, ply by ply", referee.find),
)


def check_game(subject: Subject, *, only: Sequence[str] = (), progress: Progress | None = None) -> Report:
    """Runs the checks on a game and returns what they found; a check that raises is a fault of the game.

    Args:
        subject: the game; see `load_subject`.
        only: names of checks to run; empty: all.
        progress: told of each check as it begins.

    Raises:
        CheckError: `only` names no check; the message lists those there are.
    """
    known = [check.name for check in CHECKS]
    for name in only:
        if name not in known:
            raise CheckError(f"there is no check named {name!r}; checks are {', '.join(known)}")
    chosen = [check for check in CHECKS if not only or check.name in only]
    results: list[CheckResult] = []
    playable = _collect(subject)
    for done, check in enumerate(chosen):
        if progress is not None:
            progress(check.name, done, len(chosen))
        start = time.perf_counter()
        faults: tuple[Fault, ...] = ()
        skipped = ""
        if check.name == "referee" and subject.referee is None:
            skipped = "no referee was given"
        elif check.name == "solver" and solver.says_nothing(subject):
            skipped = "the game says nothing to the solver"
        elif playable is not None and check.name != "protocol":
            skipped = "the game cannot be played, as the first fault says"
        else:
            faults = _run(check.find, subject)
        if check is chosen[0] and playable is not None:
            faults = (playable, *faults)
        results.append(CheckResult(check.name, check.summary, faults, time.perf_counter() - start, skipped))
    if progress is not None:
        progress("", len(chosen), len(chosen))
    return Report(subject.target, subject.setting, tuple(results), subject.describe())


def _collect(subject: Subject) -> Fault | None:
    """Collects the states; returns a fault when the game cannot be played at all."""
    if subject.states:
        return None
    try:
        subject.collect()
    except Exception as error:
        subject.states, subject.games = [], []
        return Fault(f"random play raised {_describe(error)}")
    return None


def _run(find: Finder, subject: Subject) -> tuple[Fault, ...]:
    found: list[Fault] = []
    try:
        found.extend(itertools.islice(find(subject), MAX_FAULTS))
    except Exception as error:
        found.append(Fault(f"raised {_describe(error)}"))
    return tuple(found)


def _describe(error: Exception) -> str:
    """The error with the last line of the game's or our own code that it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:500]}{where}"
