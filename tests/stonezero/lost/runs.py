"""Runs of a second or two, and what must hold of a run's folder whatever happened to it."""

import io
import re
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from stonezero.chunks import chunk_files, read_chunk
from stonezero.config import load_config
from stonezero.loop import Reporter, Trainer
from stonezero.run import RunFolder
from stonezero.storage import newest_state
from stonezoo import load_game
from stonezoo.record import read_records

TINY = [
    "deterministic=true",
    "selfplay.num_games=4",
    "selfplay.record_games=100",
    "selfplay.random_opening_actions=1",
    "search.num_simulations=2",
    "search.full_search_fraction=0.7",
    "search.cheap_simulations=1",
    "replay.min_rows=16",
    "replay.window=40",
    "replay.capacity=40",
    "learner.batch_size=8",
    "learner.warmup_steps=4",
    "loop.rows_per_iteration=20",
    "loop.evaluate_every=0",
    "evaluation.opponents=random",
    "evaluation.games=2",
    "evaluation.games_while_training=2",
]
GAME_ID = re.compile(r"\{game ([0-9a-f]{8}-\d{3}-\d{2}-\d{7})\}")


def new_run(path: Path, *overrides: str) -> RunFolder:
    config = load_config("rive/smoke", [*TINY, *overrides])
    return RunFolder.create(path, config, load_game(config.game.name, **config.game.parameters).rules_id)


def silent() -> Console:
    return Console(file=io.StringIO(), width=120)


def go_on(path: Path) -> str:
    """Train without the evaluation at the end; what the terminal saw."""
    torch.set_num_threads(1)
    run, console = RunFolder.open(path), silent()
    with run.lock(), run.writing(), Reporter(console) as reporter:
        trainer = Trainer(run, reporter)
        try:
            trainer.train()
        finally:
            trainer.close()
    return console.file.getvalue()  # type: ignore[attr-defined]


def same(one: Any, two: Any) -> bool:
    """Whether two training states are equal to the bit; what the run is called and how long it took aside."""
    if isinstance(one, torch.Tensor):
        return isinstance(two, torch.Tensor) and one.dtype == two.dtype and torch.equal(one, two)
    if isinstance(one, dict):
        keys = (set(one) | set(two)) - {"seconds", "number", "run_id"}
        return all(key in one and key in two and same(one[key], two[key]) for key in keys)
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    return bool(one == two)


def check_folder(path: Path) -> dict[str, Any]:
    """Every game exactly once, ids unique, counters as the files say, nothing half-written; the newest state."""
    run = RunFolder.open(path)
    game = load_game(run.config.game.name, **run.config.game.parameters)
    state = newest_state(run.state)
    halves = [item for item in path.rglob("*") if item.name.startswith((".tmp-", ".old-"))]
    assert not halves
    ids: list[str] = []
    for number in range(1, state["iteration"] + 1):
        text = (run.games / f"iteration-{number:06d}.txt").read_text()
        records = list(read_records(text.splitlines(keepends=True)))
        found = GAME_ID.findall(text)
        assert len(found) == len(records) > 0
        ids += found
    assert len(list(run.games.iterdir())) == state["iteration"]
    assert len(ids) == len(set(ids)) == state["games"] == state["recorded"]
    numbers = [game_id[-7:] for game_id in ids]
    assert len(set(numbers)) == len(numbers)  # no game was counted in two starts
    rows, chunked = state["first_row"], []
    for first, file in chunk_files(run.state):
        games = read_chunk(file, game)
        chunked += [f"{finished.number:07d}" for finished in games]
        end = first + sum(len(finished.samples or ()) for finished in games)
        assert first <= rows or end <= state["first_row"]
        rows = max(rows, end)
    assert rows == state["total_rows"]
    assert chunked == numbers[len(numbers) - len(chunked) :]
    return state
