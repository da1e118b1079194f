"""MaskablePPO of stable-baselines3 beside the trainer's own self-play: the same network, the same minutes, one thread.

    python benchmarks/compare_sb3.py [--minutes 6] [--seeds 0,1,2] [--out runs/compare-sb3] [--table]

For each game and seed both trainers run side by side, each on a core of its own, with the configs that ship; then each
network plays `--games` paired games against random and uct:100, with 64 simulations and with its policy alone. Rows go
to results.jsonl in `--out`, a JSON line each, and a table follows. Started again, it goes on where it stopped: matches
that are in the file are not played again, runs under way are resumed. `--table` only prints the table.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stonezero.arena import evaluate_checkpoint
from stonezero.checkpoint import load_training_state
from stonezero.config import DeviceConfig
from stonezero.run import write_atomic
from stonezoo.cli.command import describe_hardware

GAMES = ("rive 3", "resolve 5")
CONFIGS = {
    ("rive 3", "self-play"): "rive/small",
    ("rive 3", "PPO"): "rive/sb3",
    ("resolve 5", "self-play"): "resolve/5",
    ("resolve 5", "PPO"): "resolve/sb3",
}
TRAINERS = ("self-play", "PPO")
COMMANDS = {"self-play": "train", "PPO": "train-sb3"}
OPPONENTS = ("random", "uct:100")
SIMULATIONS = 64
KINDS = {"search": f"with {SIMULATIONS} simulations", "policy": "policy alone"}


def settings(seed: int, minutes: float) -> list[str]:
    """What both trainers are told; the evaluation at the end of a run is ours."""
    values = {
        "seed": seed,
        "loop.iterations": "null",
        "loop.max_minutes": minutes,
        "loop.evaluate_every": 0,
        "evaluation.opponents": "random",
        "evaluation.games": 2,
        "evaluation.num_simulations": 1,
        "device.threads": 1,
        "device.kind": "cpu",
    }
    return [word for key, value in values.items() for word in (f"--set.{key}", str(value))]


def start(game: str, trainer: str, folder: Path, words: Sequence[str]) -> subprocess.Popen[bytes]:
    """A trainer in a process of its own, with one thread; what it prints goes beside its folder."""
    stonezero = [sys.executable, "-m", "stonezero"]
    if (folder / "versions.json").exists():
        command = [*stonezero, "resume", str(folder)]
    else:
        command = [*stonezero, COMMANDS[trainer], CONFIGS[game, trainer], "--run-dir", str(folder), *words]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with folder.with_suffix(".log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)


def finish(processes: Sequence[tuple[Path, subprocess.Popen[bytes]]]) -> None:
    """Waits for all; a trainer that failed ends the comparison, and so does Ctrl-C, which stops them."""
    try:
        for folder, process in processes:
            if process.wait() != 0:
                raise SystemExit(f"{' '.join(map(str, process.args))} failed: see {folder.with_suffix('.log')}")
    finally:
        for _, process in processes:
            process.terminate()
            process.wait()


def train(folders: dict[tuple[str, str], Path], words: Sequence[str]) -> None:
    """Runs trainers side by side, each on a core of its own where the machine has as many."""
    processes = [(folder, start(game, trainer, folder, words)) for (game, trainer), folder in folders.items()]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) >= len(processes):
        for core, (_, process) in zip(cores, processes, strict=False):
            os.sched_setaffinity(process.pid, {core})
    finish(processes)


def warm_up(game: str) -> None:
    """Compiles what the runs need, so that none of them pays for it."""
    with tempfile.TemporaryDirectory() as scratch:
        folders = {(game, trainer): Path(scratch, trainer) for trainer in TRAINERS}
        train(folders, [*settings(0, 60), "--set.loop.iterations", "1"])


def matches(folder: Path, game: str, trainer: str, seed: int, minutes: float, games: int) -> Iterator[dict[str, Any]]:
    """The rows of one network: an opponent each, with search and without."""
    state = load_training_state(max((folder / "state").glob("training*.pt")))  # the newest
    evaluation = evaluate_checkpoint(
        folder,
        device=DeviceConfig(kind="cpu", threads=1, precision="fp32"),
        opponents=OPPONENTS,
        games=games,
        num_simulations=SIMULATIONS,
        seed=seed,
        control=False,
    )
    for row in evaluation.rows:
        yield {
            "game": game,
            "trainer": trainer,
            "seed": seed,
            "minutes": minutes,
            "opponent": row.match.opponent,
            "kind": row.kind,
            "score": row.match.score,
            "low": row.match.low,
            "high": row.match.high,
            "games": row.match.games,
            "distinct": row.match.distinct_games,
            "trained_seconds": round(float(state["seconds"]), 1),
            "iterations": state["iteration"],
            "hardware": describe_hardware(),
        }


def read(path: Path) -> list[dict[str, Any]]:
    """The rows so far."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown: a line a game, trainer and opponent; scores of the seeds, and their mean."""
    if not rows:
        return "nothing measured yet"
    minutes = sorted({row["minutes"] for row in rows})
    games = sorted({row["games"] for row in rows})
    lines = [
        f"{rows[0]['hardware']}; {', '.join(f'{n:g}' for n in minutes)} minutes of training on one thread, "
        f"{', '.join(map(str, games))} games a match; for each seed score and 95% interval, then the mean of seeds",
        "",
        "| game | against | trainer | network | each seed | mean |",
        "| --- | --- | --- | --- | --- | ---: |",
    ]
    for game in GAMES:
        for opponent in OPPONENTS:
            for kind, label in KINDS.items():
                for trainer in TRAINERS:
                    key = {"game": game, "opponent": opponent, "kind": kind, "trainer": trainer}
                    found = [row for row in rows if all(row[name] == value for name, value in key.items())]
                    if not found:
                        continue
                    found.sort(key=lambda row: row["seed"])
                    seeds = ", ".join(f"{row['score']:.3f} ({row['low']:.3f}–{row['high']:.3f})" for row in found)
                    mean = statistics.fmean(row["score"] for row in found)
                    lines.append(f"| {game} | {opponent} | {trainer} | {label} | {seeds} | {mean:.3f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=6.0, help="of training, wall time (default: %(default)s)")
    parser.add_argument("--seeds", default="0,1,2", help="with commas (default: %(default)s)")
    parser.add_argument("--game", choices=GAMES, action="append", help="may be repeated (default: all)")
    parser.add_argument("--games", type=int, default=400, help="a match, even (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("runs/compare-sb3"), help="a folder (default: %(default)s)")
    parser.add_argument("--table", action="store_true", help="only print the table of what there is")
    arguments = parser.parse_args()
    results = arguments.out / "results.jsonl"
    if not arguments.table:
        arguments.out.mkdir(parents=True, exist_ok=True)
        for game in arguments.game or GAMES:
            measure(game, [int(seed) for seed in arguments.seeds.split(",")], arguments, results)
    print(table(read(results)))


def measure(game: str, seeds: Sequence[int], arguments: argparse.Namespace, results: Path) -> None:
    """Trains and plays what is missing of one game."""
    minutes, games = arguments.minutes, arguments.games
    warm = False
    for seed in seeds:
        asked = {"game": game, "seed": seed, "minutes": minutes, "games": games}
        have = [row for row in read(results) if all(row[name] == value for name, value in asked.items())]
        missing = [
            trainer
            for trainer in TRAINERS
            if sum(row["trainer"] == trainer for row in have) < len(OPPONENTS) * len(KINDS)
        ]
        if not missing:
            continue
        if not warm:
            warm_up(game)
            warm = True
        stem = f"{game.replace(' ', '-')}-{minutes:g}min-seed{seed}"
        folders = {(game, trainer): arguments.out / f"{stem}-{COMMANDS[trainer]}" for trainer in TRAINERS}
        print(f"{game}, seed {seed}: training for {minutes:g} minutes", file=sys.stderr, flush=True)
        train(folders, settings(seed, minutes))  # a run that is whole already ends at once
        rows = [
            row
            for trainer in missing
            for row in matches(folders[game, trainer], game, trainer, seed, minutes, games)
            if not any(all(old[name] == row[name] for name in ("trainer", "opponent", "kind")) for old in have)
        ]
        write_atomic(results, "".join(f"{json.dumps(row)}\n" for row in [*read(results), *rows]))


if __name__ == "__main__":
    main()
