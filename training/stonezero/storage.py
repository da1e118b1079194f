"""What a run goes on from: its training states and chunks, in its folder, in an order that makes a kill harmless.

    state/training-00000012.pt       everything that the next step depends on; two saves or three are kept
    state/games-000000004096.npz     the games that ended in one iteration: a chunk
    games/iteration-000003.txt       the same for people, as text records

Records and chunk of an iteration are written first, then the state that counts them in. What no state counts in was
played by a trainer that was killed before it could say so: `restore` removes it, and it is played again. So every game
that a state counts is there exactly once. What is torn is named; the run goes on from the newest state that is whole
and whose chunks are. A state names its run and configuration: one of another run is refused as a torn one is.

Memory is bounded: the buffer's rings are allocated once, an iteration's games are let go with it, and a lane holds one
game. What grows with a run is on the disk.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from stonezero.checkpoint import CheckpointError, load_training_state, save_training_state
from stonezero.chunks import chunk_files, fill_buffer, first_whole_row, remove_chunks, write_chunk
from stonezero.replay import ReplayBuffer, ReplayError
from stonezero.run import RunError, RunFolder, write_atomic
from stonezero.selfplay import FinishedGame
from stonezoo.state import Game

STATE_NAME = "training-{:08d}.pt"
RECORDS_NAME = "iteration-{:06d}.txt"
EVALUATION_FILE = "evaluation.json"
EVALUATOR_FILE = "evaluator.json"  # how the network is evaluated on the present machine, for people to read
ABANDONED = "abandoned-"  # what a run that had to go back leaves behind is kept under such names
KEPT_STATES = 2  # and one more where these need the same last chunk

_STATE_PATTERN = re.compile(r"training-(\d{8})\.pt")
_RECORDS_PATTERN = re.compile(r"iteration-(\d{6})\.txt")
_CHECKPOINT_PATTERN = re.compile(r"step-(\d{8})")
_EVALUATED_PATTERN = re.compile(r"step-(\d{8})\Z")


def state_files(folder: Path) -> list[tuple[int, Path]]:
    """(number of the save, path) of every training state in a run's folder `state`, ascending; torn ones too."""
    return _numbered(folder, _STATE_PATTERN)


def newest_state(folder: Path, say: Callable[[str], object] = lambda line: None) -> dict[str, Any]:
    """The newest whole training state in a run's folder `state`; `say` is told which are torn.

    Raises CheckpointError, which names what is torn, when there is none.
    """
    problems = []
    for _, path in reversed(state_files(folder)):
        try:
            return load_training_state(path)
        except CheckpointError as error:
            problems.append(str(error))
            say(str(error))
    raise CheckpointError("; ".join(problems) or f"{folder}: there is no training state")


def check_own(state: Mapping[str, Any], run: RunFolder, path: Path) -> None:
    """Raises CheckpointError when the training state read from `path` is of another run or configuration.

    States of the first days do not say whose they are.
    """
    mine = owner_of(run)
    for key, what in (("run_id", "run"), ("config_sha256", "configuration")):
        if state.get(key, mine[key]) != mine[key]:
            raise CheckpointError(
                f"{path}: a training state of another {what} ({str(state[key])[:8]}; {run.path} has {mine[key][:8]})"
            )


def owner_of(run: RunFolder) -> dict[str, str]:
    """What a training state says of the run that it belongs to."""
    return {"run_id": run.run_id, "config_sha256": str(run.versions["config_sha256"])}


class RunStorage:
    """The saves of one run. The run's lock must be held."""

    def __init__(self, run: RunFolder, game: Game, say: Callable[[str], object]) -> None:
        """`say` is given a line for the terminal when something is torn."""
        # Fixed.
        self._run = run
        self._game = game
        self._say = say
        # Changed.
        self.number = 0  # of the last save
        self._rows: dict[int, tuple[int, int]] = {}  # by the number of a save that is kept: rows from and before

    def write_games(self, iteration: int, first_row: int, games: Sequence[FinishedGame], records: str) -> None:
        """Write the games of an iteration whose first row is number `first_row`, and their text. Raises OSError."""
        if records:
            write_atomic(self._run.games / RECORDS_NAME.format(iteration), records)
        write_chunk(self._run.state, first_row, games)

    def save(self, state: Mapping[str, Any], buffer: ReplayBuffer) -> None:
        """Write a training state that counts in all that was written before; then delete what nothing needs any more.

        `state` has at least `iteration` and `learner` with its `steps`. Raises OSError with the saves before it whole.
        """
        number = self.number + 1
        self._write(number, state, buffer)
        self.number = number
        self._rows[number] = buffer.first_row, buffer.total_rows
        self._rows = {kept: self._rows[kept] for kept in self._kept()}
        for other, path in state_files(self._run.state):
            if other not in self._rows:
                path.unlink()
        remove_chunks(self._run.state, before=min(first for first, _ in self._rows.values()), after=buffer.total_rows)

    def _kept(self) -> list[int]:
        """The newest saves, and the newest that goes without the last chunk: several may end with the same one."""
        newest = sorted(self._rows, reverse=True)
        without = [number for number in newest if self._rows[number][1] < self._rows[newest[0]][1]]
        return [*newest[:KEPT_STATES], *without[:1]]

    def replace(self, state: Mapping[str, Any], buffer: ReplayBuffer) -> None:
        """Write a training state in the place of the last save, from which nothing but what is said of it differs.

        The save before it stays. Raises OSError with the saves as they were.
        """
        self._write(self.number, state, buffer)

    def _write(self, number: int, state: Mapping[str, Any], buffer: ReplayBuffer) -> None:
        counters = {"number": number, "total_rows": buffer.total_rows, "first_row": buffer.first_row}
        path = self._run.state / STATE_NAME.format(number)
        save_training_state(path, {**state, **counters, **owner_of(self._run)})

    def restore(self, buffer: ReplayBuffer) -> dict[str, Any] | None:
        """The state to go on from, with its rows in the empty `buffer`; None where the run has not begun.

        Raises RunError, with nothing changed, when no state is whole, or when states are missing.
        """
        found = state_files(self._run.state)
        if not found:
            self._refuse_lost_states()
            return None
        torn: list[str] = []
        for number, path in reversed(found):
            state = self._try(path, buffer, torn)
            if state is not None:
                self._accept(number, state, went_back=number != found[-1][0])
                return state
        # An old chunk is torn, which every state needs: the newest whole state goes on with the rows after it.
        for number, path in reversed(found):
            state = self._try(path, buffer, torn, shorten=True)
            if state is not None:
                self._accept(number, state, went_back=number != found[-1][0])
                return state
        raise RunError(
            f"{self._run.path}: no training state is whole and of this run: {'; '.join(dict.fromkeys(torn))}. "
            f"Put a copy of {self._run.state} back, or begin a new run; the networks in {self._run.checkpoints} can "
            "still play"
        )

    def _try(self, path: Path, buffer: ReplayBuffer, torn: list[str], shorten: bool = False) -> dict[str, Any] | None:
        try:
            state = load_training_state(path)
            check_own(state, self._run, path)
            first_row, total_rows = _rows_of(state)
            if shorten:
                first_row = max(first_row, first_whole_row(self._run.state, self._game, total_rows))
                if first_row == total_rows:
                    return None
            fill_buffer(buffer, self._run.state, self._game, first_row, total_rows)
        except (CheckpointError, ReplayError, KeyError) as error:
            text = f"{path}: it lacks {error}" if isinstance(error, KeyError) else str(error)
            if text not in torn:
                torn.append(text)
                self._say(text)
            return None
        if shorten:
            self._say(f"going on with rows {first_row} to {total_rows}; those before the torn file are lost")
        elif torn:
            self._say(f"going on from {path}")
        return state

    def _accept(self, number: int, state: Mapping[str, Any], went_back: bool) -> None:
        """Make the folder what it was when `state` was saved."""
        self.number = number
        self._rows = {number: _rows_of(state), **self._older_rows(number)}
        for path in _after(self._run.games, _RECORDS_PATTERN, int(state["iteration"])):
            path.unlink()
        remove_chunks(self._run.state, before=0, after=int(state["total_rows"]))
        # Not only when going back is seen here: an older copy of the states may have been put back.
        steps = int(state["learner"]["steps"])
        lost = _after(self._run.checkpoints, _CHECKPOINT_PATTERN, steps)
        lost += _after(self._run.state, _STATE_PATTERN, number)  # a later start might take them for its own
        evaluation = self._run.path / EVALUATION_FILE
        if evaluation.exists() and (went_back or _evaluated_steps(evaluation) not in (None, steps)):
            lost.append(evaluation)
        for path in lost:
            name = _set_aside(path)
            self._say(f"{path} is of what was lost; it is now {name}")

    def _older_rows(self, before: int) -> dict[int, tuple[int, int]]:
        """The rows of whole states of this run before save number `before`, should the next one be torn."""
        found = {}
        for number, path in state_files(self._run.state):
            if number < before:
                with suppress(CheckpointError, KeyError):
                    state = load_training_state(path)
                    check_own(state, self._run, path)
                    found[number] = _rows_of(state)
        return found

    def _refuse_lost_states(self) -> None:
        """A run's first save comes before all else, so that without one nothing else can be there."""
        run = self._run
        begun = [*(path for _, path in chunk_files(run.state)), *run.games.iterdir(), *run.checkpoints.iterdir()]
        if run.versions.get("packed"):
            raise RunError(f"{run.state}: the bundle was not unpacked whole; unpack it again, into another folder")
        if begun:
            raise RunError(
                f"{run.state}: the training states are missing, but the run has {begun[0]}; put them back, "
                f"or begin a new run"
            )


def _rows_of(state: Mapping[str, Any]) -> tuple[int, int]:
    """The first row that a training state needs, and the number of rows that it counts. KeyError when it lacks one."""
    return int(state["first_row"]), int(state["total_rows"])


def _numbered(folder: Path, pattern: re.Pattern[str]) -> list[tuple[int, Path]]:
    found = [(match, path) for path in folder.iterdir() if (match := pattern.fullmatch(path.name))]
    return sorted((int(match.group(1)), path) for match, path in found)


def _after(folder: Path, pattern: re.Pattern[str], last: int) -> list[Path]:
    return [path for number, path in _numbered(folder, pattern) if number > last]


def _evaluated_steps(path: Path) -> int | None:
    """The learner's steps of the network that an evaluation is of; None where it does not say."""
    try:
        found = _EVALUATED_PATTERN.search(json.loads(path.read_text(encoding="utf-8"))["name"])
    except (OSError, ValueError, TypeError, KeyError):
        return None  # it is torn, which is said where it is read
    return None if found is None else int(found.group(1))


def _set_aside(path: Path) -> str:
    target, number = path.with_name(f"{ABANDONED}{path.name}"), 2
    while target.exists():
        target, number = path.with_name(f"{ABANDONED}{path.name}-{number}"), number + 1
    path.rename(target)
    return target.name
