"""`stonezero pack`: a run as one file, from which another machine goes on."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from pathlib import Path

from stonezero.cli.command import Command, check_writable, refuse

DEFAULT_MB = 20.0


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_dir", type=Path, metavar="RUN", help="the run's folder; its trainer may be at work")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the bundle (default: RUN.stonezero)")
    parser.add_argument(
        "--max-mb",
        type=float,
        default=DEFAULT_MB,
        metavar="MB",
        help="megabytes at most; the oldest games are left out first (default: %(default)g)",
    )
    parser.add_argument("--json", action="store_true", help="print what was packed as JSON")


def _run(chosen: argparse.Namespace, rest: list[str]) -> int:
    from stonezero.pack import pack_run

    refuse(rest, "a run is packed with its own config")
    if not 0 < chosen.max_mb < math.inf:
        raise ValueError(f"--max-mb {chosen.max_mb:g}: must be a number above 0, such as {DEFAULT_MB:g}")
    check_writable(chosen.output)
    packed = pack_run(chosen.run_dir, chosen.output, round(chosen.max_mb * 1e6))
    if chosen.json:
        print(json.dumps({**asdict(packed), "path": str(packed.path)}))
        return 0
    print(
        f"{packed.path}: {packed.size / 1e6:.2f} MB, after iteration {packed.iteration} and step {packed.steps}\n"
        f"in it: weights, optimiser, counters, {packed.games} of {packed.all_games} games "
        f"({packed.rows} of the {packed.all_rows} rows to learn from)\n"
        "not in it: older games, events, other checkpoints, text records, the evaluation\n"
        f"elsewhere: stonezero resume {packed.path.name} --run-dir NEW"
    )
    return 0


COMMAND = Command(
    "pack",
    "put a run into one file, from which another machine goes on",
    _configure,
    _run,
    """Put a run into one file (a bundle) from which another machine goes on.

In it are the weights, the optimiser, all counters and random states, and the most recent games as
actions with their training targets, as many as there is room for. The replay buffer is rebuilt by
playing them again. Older games, events, other checkpoints, records and the evaluation stay behind.
The bundle names the rules and the libraries, and has a digest of every part.

Example: stonezero pack runs/rive --output rive.stonezero
`stonezero resume rive.stonezero --run-dir runs/rive-2` goes on with it, as a run of its own.""",
)
