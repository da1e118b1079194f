"""The same games in another process, and as plain Python."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

from stonezoo.check.replay import Spec, replay
from stonezoo.check.report import Fault
from stonezoo.check.subject import Subject

GAMES = 3
PLIES = 200  # of each game
INTERPRETED_PLIES = 40
TIMEOUT = 300.0  # seconds for one process, which may have to compile


def find(subject: Subject) -> Iterator[Fault]:
    """Games that go differently in another process with another hash seed, or without compilation."""
    yield from _compare(subject, "another process", {"PYTHONHASHSEED": "12345"}, PLIES)
    yield from _compare(subject, "plain Python (NUMBA_DISABLE_JIT=1)", {"NUMBA_DISABLE_JIT": "1"}, INTERPRETED_PLIES)


def _compare(subject: Subject, where: str, environment: dict[str, str], plies: int) -> Iterator[Fault]:
    spec = Spec(subject.target, dict(subject.game.parameters), subject.seed, GAMES, plies)
    own = replay(subject.game, spec)
    command = [sys.executable, "-m", "stonezoo.check.replay", json.dumps(spec._asdict())]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        yield Fault(f"{where} has not played {GAMES} games of {plies} actions in {TIMEOUT:.0f} s")
        return
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        yield Fault(f"{where} fails: {lines[-1]}")
        return
    other = [tuple(entry) for entry in json.loads(done.stdout.splitlines()[-1])]
    for number in range(GAMES):
        mine = [(action, digest) for game, action, digest in own if game == number]
        theirs = [(action, digest) for game, action, digest in other if game == number]
        for ply, (here, there) in enumerate(zip(mine, theirs, strict=False)):
            if here != there:
                yield Fault(
                    f"{where} has another row, mask, observation or text, or draws otherwise, after {ply} actions",
                    tuple(action for action, _ in mine[:ply]),
                )
                break
        else:
            if len(mine) != len(theirs):
                yield Fault(f"{where} plays {len(theirs)} actions in game {number}, not {len(mine)}")
