"""What the trainer's defaults rest on: one setting changed at a time, the same minutes, several seeds.

    python benchmarks/ablations.py [--minutes 10] [--seeds 0,1,2] [--parallel 2] [--out runs/ablations]
    python benchmarks/ablations.py --table [--picture docs/pictures/ablations.svg]

Rive 3 with a small network, one core a run: the base is 32 simulations, no playout cap, no owner head and each row
reused 4 times. Measured is the distance from perfect play on the probe set of the board, of the policy alone and with
64 simulations, while a run learns and at its end. Seeds come one after the other, so that what disturbs the machine
disturbs all settings alike. Rows go to results.jsonl in `--out`, a JSON line each, and a table follows. Started again,
it goes on where it stopped: runs in the file are not trained again, runs under way are resumed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stonezero.run import write_atomic
from stonezoo.cli.command import describe_hardware

CONFIG = "rive/small"
BASE = {
    "search.num_simulations": "32",
    "search.max_considered_actions": "16",
    "selfplay.num_games": "192",
    "selfplay.random_opening_actions": "20",
    "selfplay.groups": "1",
    "selfplay.record_games": "0",
    "replay.window": "40000",
    "replay.reuse": "4",
    "learner.ema_decay": "0.99",
    "loop.rows_per_iteration": "4000",
    "loop.evaluate_every": "6",
    "loop.checkpoint_every": "1000",
    "evaluation.opponents": "random",
    "evaluation.games": "2",
    "evaluation.games_while_training": "2",
    "evaluation.num_simulations": "64",
    "device.kind": "cpu",
    "device.threads": "1",
    "device.precision": "fp32",
}
VARIANTS: dict[str, dict[str, str]] = {
    "base": {},
    "8 simulations": {"search.num_simulations": "8"},
    "16 simulations": {"search.num_simulations": "16"},
    "64 simulations": {"search.num_simulations": "64"},
    "playout cap": {
        "search.num_simulations": "64",
        "search.full_search_fraction": "0.25",
        "search.cheap_simulations": "16",
    },
    "owner head": {"network.owner_head": "true"},
    "reuse 2": {"replay.reuse": "2"},
    "reuse 8": {"replay.reuse": "8"},
}
GROUPS = {  # the four questions, each with the variants that answer it
    "simulations a decision": ("8 simulations", "16 simulations", "base", "64 simulations"),
    "playout cap": ("base", "64 simulations", "playout cap"),
    "owner head": ("base", "owner head"),
    "reuse of a row": ("reuse 2", "base", "reuse 8"),
}
LABELS = {"base": "base (32 simulations, reuse 4)", "playout cap": "64 in a quarter of turns, 16 in the others"}
MEASURES = {"policy_optimal": "policy alone", "search_optimal": "with 64 simulations"}
POLL_SECONDS = 2.0


def settings(variant: str, seed: int, minutes: float) -> list[str]:
    """The words that make a run of one variant."""
    values = {**BASE, **VARIANTS[variant], "seed": str(seed), "loop.max_minutes": str(minutes)}
    return [word for key, value in values.items() for word in (f"--set.{key}", value)]


def start(folder: Path, words: Sequence[str]) -> subprocess.Popen[bytes]:
    """A trainer in a process of its own, with one thread; what it prints goes beside its folder."""
    stonezero = [sys.executable, "-m", "stonezero"]
    begun = (folder / "versions.json").exists()
    command = [*stonezero, "resume", str(folder)] if begun else [*stonezero, "train", CONFIG, "--run-dir", str(folder)]
    with folder.with_suffix(".log").open("ab") as log:
        return subprocess.Popen(
            command if begun else [*command, *words],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )


def warm_up() -> None:
    """Compiles what the runs need, so that none of them pays for it."""
    with tempfile.TemporaryDirectory() as scratch:
        words = [*settings("owner head", 0, 60), "--set.loop.max_minutes", "0.1"]
        process = start(Path(scratch, "run"), words)
        if process.wait() != 0:
            raise SystemExit(Path(scratch, "run.log").read_text(encoding="utf-8"))


def read_events(folder: Path) -> Any:
    """What a run wrote for TensorBoard."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    return EventAccumulator(str(folder / "events"), size_guidance={"scalars": 0}).Reload()


def read_curve(events: Any) -> list[dict[str, float]]:
    """Minutes and the distance from perfect play at every look, the last one at the end."""
    minutes = {event.step: event.value for event in events.Scalars("loop/minutes")}
    curve: dict[int, dict[str, float]] = {}
    for name in MEASURES:
        for event in events.Scalars(f"truth/{name}"):
            known = [step for step in minutes if step <= event.step]
            point = curve.setdefault(event.step, {"minutes": minutes[max(known)] if known else 0.0})
            point[name] = event.value
    return [curve[step] for step in sorted(curve)]


def result(variant: str, seed: int, minutes: float, folder: Path) -> dict[str, Any]:
    """The row of a finished run."""
    events = read_events(folder)
    curve = read_curve(events)
    return {
        "variant": variant,
        "seed": seed,
        "minutes": minutes,
        **{name: curve[-1][name] for name in MEASURES},
        "rows": int(events.Scalars("replay/rows")[-1].value),
        "steps": int(events.Scalars("replay/rows")[-1].step),
        "curve": [{key: round(value, 4) for key, value in point.items()} for point in curve],
        "hardware": describe_hardware(),
    }


def read(path: Path) -> list[dict[str, Any]]:
    """The rows so far."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown: a line a variant, under each question; the seeds' values and their mean."""
    lines = [
        "| question | setting | policy alone, by seed | mean | with 64 simulations, by seed | mean | rows | steps |",
        "| --- | --- | --- | ---: | --- | ---: | ---: | ---: |",
    ]
    for question, variants in GROUPS.items():
        for variant in variants:
            found = sorted((row for row in rows if row["variant"] == variant), key=lambda row: row["seed"])
            if not found:
                continue
            cells = [question, LABELS.get(variant, variant)]
            for name in MEASURES:
                values = [row[name] for row in found]
                cells += [", ".join(f"{value:.3f}" for value in values), f"{statistics.mean(values):.3f}"]
            cells += [f"{statistics.mean(row[count] for row in found):,.0f}" for count in ("rows", "steps")]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """A picture of the curves: a row of axes a measure, a column a question; the mean of the seeds and their range."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    import numpy as np

    matplotlib.rcParams.update({"svg.hashsalt": "stonezoo", "font.size": 8})
    figure, axes = plt.subplots(len(MEASURES), len(GROUPS), figsize=(13, 5.5), sharex=True, sharey="row")
    for column, (question, variants) in enumerate(GROUPS.items()):
        for line, (name, title) in enumerate(MEASURES.items()):
            axis = axes[line, column]
            for variant in variants:
                curves = [row["curve"] for row in rows if row["variant"] == variant]
                if not curves:
                    continue
                last = min(curve[-1]["minutes"] for curve in curves)
                minutes = np.linspace(max(curve[0]["minutes"] for curve in curves), last, 60)
                values = [
                    np.interp(minutes, [point["minutes"] for point in curve], [point[name] for point in curve])
                    for curve in curves
                ]
                (drawn,) = axis.plot(minutes, np.mean(values, axis=0), label=LABELS.get(variant, variant))
                axis.fill_between(minutes, np.min(values, 0), np.max(values, 0), alpha=0.15, color=drawn.get_color())
            axis.grid(alpha=0.3)
            if line == 0:
                axis.set_title(question)
            else:
                axis.set_xlabel("minutes")
                axis.legend(loc="lower right", fontsize=7)
            if column == 0:
                axis.set_ylabel(f"best actions, {title}")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Runs what is missing, then prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0, help="of a run (default: %(default)s)")
    parser.add_argument("--seeds", default="0,1,2", help="with commas (default: %(default)s)")
    parser.add_argument("--parallel", type=int, default=2, help="runs at a time, a core each (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("runs/ablations"), help="folder (default: %(default)s)")
    parser.add_argument("--only", help=f"variants, with commas, of: {', '.join(VARIANTS)}")
    parser.add_argument("--table", action="store_true", help="only print the table of what is there")
    parser.add_argument("--picture", type=Path, help="also draw the curves, as SVG (needs matplotlib)")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    path = chosen.out / "results.jsonl"
    variants = chosen.only.split(",") if chosen.only else list(VARIANTS)
    unknown = set(variants) - set(VARIANTS)
    if unknown:
        parser.error(f"no variant {', '.join(sorted(unknown))}; there are {', '.join(VARIANTS)}")
    if not chosen.table:
        run_all(chosen, variants, path)
    rows = [row for row in read(path) if row["minutes"] == chosen.minutes]
    if chosen.picture:
        draw(rows, chosen.picture)
    print(table(rows))


def run_all(chosen: argparse.Namespace, variants: Sequence[str], path: Path) -> None:
    """Trains what is not in the file yet, `--parallel` at a time."""
    done = {(row["variant"], row["seed"], row["minutes"]) for row in read(path)}
    waiting = [
        (variant, seed)
        for seed in map(int, chosen.seeds.split(","))
        for variant in variants
        if (variant, seed, chosen.minutes) not in done
    ]
    if waiting:
        warm_up()
    running: dict[subprocess.Popen[bytes], tuple[str, int, Path]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < chosen.parallel:
                variant, seed = waiting.pop(0)
                folder = chosen.out / f"{variant.replace(' ', '-')}-{seed}-{chosen.minutes:g}"
                running[start(folder, settings(variant, seed, chosen.minutes))] = variant, seed, folder
                print(f"{variant}, seed {seed}: under way; {len(waiting)} wait", file=sys.stderr)
            time.sleep(POLL_SECONDS)
            for process in [process for process in running if process.poll() is not None]:
                variant, seed, folder = running.pop(process)
                if process.returncode != 0:
                    raise SystemExit(f"{variant}, seed {seed} failed: see {folder.with_suffix('.log')}")
                row = result(variant, seed, chosen.minutes, folder)
                write_atomic(path, "".join(f"{json.dumps(each)}\n" for each in [*read(path), row]))
                print(
                    f"{variant}, seed {seed}: {row['policy_optimal']:.3f}, {row['search_optimal']:.3f}", file=sys.stderr
                )
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


if __name__ == "__main__":
    main()
