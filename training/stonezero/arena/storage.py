"""The folder of a tournament: what was planned, the openings, and every finished pair of games.

    tournament.json        the plan, the openings, and the checkpoints that names of runs stood for; it is written first
                           and never changes
    pairs/0-1/000017.json  pairs of players 0 and 1 that ended together, named after the first of them
    lock                   held while a process plays in the folder

Each file is written whole or not at all, with a digest of what is in it, and none is written twice: after a kill at any
moment the folder holds exactly the pairs that were finished.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from stonezero.arena.balance import Balance
from stonezero.arena.openings import Openings, OpeningsPlan
from stonezero.arena.result import GameResult
from stonezero.run import TEMPORARY_PREFIX, clean_folder, write_atomic
from stonezoo import Game
from stonezoo.record import Record

FORMAT = "stonezero/tournament-folder@1"
PLAN, PAIRS, LOCK = "tournament.json", "pairs", "lock"
DIGEST = "sha256"  # of all else in a file


class TournamentError(ValueError):
    """A folder in which a tournament cannot be played; the message says why and what to do."""


@dataclass(frozen=True)
class Share:
    """Pairs of games that ended together, and what they took since the share before."""

    results: tuple[GameResult, ...]  # two a pair
    seconds: float
    contestant_seconds: tuple[float, ...]  # [2]
    contestant_actions: tuple[int, ...]  # [2] that were asked for

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {**vars(self), "results": [result.to_dict() for result in self.results]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Share:
        """What `to_dict` gave; KeyError or TypeError when it is something else."""
        return cls(
            tuple(GameResult.from_dict(result) for result in values["results"]),
            values["seconds"],
            tuple(values["contestant_seconds"]),
            tuple(values["contestant_actions"]),
        )


class TournamentFolder:
    """A tournament's folder, open for playing."""

    def __init__(self, path: Path, openings: Openings, played: Mapping[str, str]) -> None:
        self.path = path
        self.openings = openings
        self.played = played  # the texts of players that stood for something that may change, and what they stand for

    @classmethod
    @contextmanager
    def open(
        cls,
        path: str | Path,
        plan: Mapping[str, Any],
        game: Game,
        choose: Callable[[], Openings],
        pin: Callable[[], Mapping[str, str]] = dict,
    ) -> Iterator[TournamentFolder]:
        """Makes the folder of a plan, or opens the one that is there; nobody else plays in it meanwhile.

        `choose` is called for the openings of a new tournament, `pin` for the texts by which players are to be made
        whose own texts may stand for something else later.

        Raises:
            TournamentError: the folder holds something else, another plan or other rules, or is in use.
        """
        path = Path(path)
        if path.exists() and not path.is_dir():
            raise TournamentError(f"{path} is a file, and a tournament has a folder: name another")
        if path.exists() and not (path / PLAN).exists() and any(_is_foreign(item.name) for item in path.iterdir()):
            raise TournamentError(f"{path} is not empty and holds no tournament: name a new folder")
        if (path / PLAN).exists():
            _check_plan(path, plan, game)  # before anything is touched
        path.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(path / LOCK, timeout=0):
                clean_folder(path)
                if not (path / PLAN).exists():
                    write_atomic(path / PLAN, _seal(_describe(plan, game, choose(), pin()), indent=1))
                stored = _check_plan(path, plan, game)
                yield cls(path, _read_openings(stored["openings"], game), stored.get("played", {}))
        except Timeout:
            raise TournamentError(f"another process plays in {path}: wait for it, or end it") from None

    @staticmethod
    def stored_plan(path: str | Path) -> dict[str, Any] | None:
        """The plan of the tournament in a folder; None where there is none that can be read."""
        try:
            plan: dict[str, Any] = json.loads((Path(path) / PLAN).read_text(encoding="utf-8"))["plan"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return plan

    def read(self, meeting: tuple[int, int]) -> list[Share]:
        """The finished pairs of a meeting.

        Raises:
            TournamentError: a file is not what `write` wrote, or a pair is there twice.
        """
        folder = self._folder(meeting)
        if not folder.exists():
            return []
        clean_folder(folder)
        shares, seen = [], set[int]()
        for file in sorted(folder.glob("*.json")):
            try:
                share = Share.from_dict(_unseal(file.read_text(encoding="utf-8")))
            except (ValueError, KeyError, TypeError) as error:
                raise TournamentError(
                    f"{file} cannot be read ({error}): delete it, and its games are played again"
                ) from error
            pairs = {result.pair for result in share.results}
            if twice := pairs & seen:
                raise TournamentError(f"{file} holds pair {min(twice)} a second time: delete it")
            seen |= pairs
            shares.append(share)
        return shares

    def write(self, meeting: tuple[int, int], share: Share) -> None:
        """Keeps finished pairs. TournamentError when they cannot be written: those before are kept."""
        folder = self._folder(meeting)
        first = min(result.pair for result in share.results)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomic(folder / f"{first:06d}.json", _seal(share.to_dict()))
        except OSError as error:
            raise TournamentError(
                f"{folder} cannot be written: {error.strerror or error}; what was finished before is kept, and once it "
                "can be the same command goes on"
            ) from error

    def _folder(self, meeting: tuple[int, int]) -> Path:
        return self.path / PAIRS / f"{meeting[0]}-{meeting[1]}"


def _seal(values: Mapping[str, Any], indent: int | None = None) -> str:
    """Values as JSON, with their digest."""
    return json.dumps({**values, DIGEST: _digest(values)}, indent=indent)


def _unseal(text: str) -> dict[str, Any]:
    """What `_seal` was given; ValueError or TypeError when the text is something else. Files of the first days have no
    digest.
    """
    values = dict(json.loads(text))
    digest = values.pop(DIGEST, None)
    if digest is not None and digest != _digest(values):
        raise ValueError("its digest differs")
    return values


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def _is_foreign(name: str) -> bool:
    """Whether a file is of something else than a tournament that was killed before its plan was written."""
    return name != LOCK and not name.startswith(TEMPORARY_PREFIX)


def _describe(plan: Mapping[str, Any], game: Game, openings: Openings, played: Mapping[str, str]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "rules_id": game.rules_id,
        "plan": dict(plan),
        "played": dict(played),
        "openings": {
            "plan": asdict(openings.plan),
            "actions": [list(actions) for actions in openings.actions],
            "starts": list(openings.starts),
        },
    }


def _check_plan(path: Path, plan: Mapping[str, Any], game: Game) -> dict[str, Any]:
    """What `tournament.json` says; TournamentError when it is of another tournament."""
    try:
        stored = _unseal((path / PLAN).read_text(encoding="utf-8"))
        found = (stored["format"], stored["rules_id"], stored["plan"])
    except (ValueError, KeyError, TypeError) as error:
        raise TournamentError(f"{path / PLAN} cannot be read: {error}") from error
    if found[:2] != (FORMAT, game.rules_id):
        raise TournamentError(f"{path} is of {found[0]} and {found[1]}, not of {FORMAT} and {game.rules_id}")
    wanted = json.loads(json.dumps(dict(plan)))
    different = [key for key in wanted if wanted[key] != found[2].get(key)]
    if different:
        key = different[0]
        raise TournamentError(
            f"{path} holds another tournament: its {key} is {found[2].get(key)!r}, not {wanted[key]!r}. Name a new "
            "folder, or go on with what was planned there"
        )
    return stored


def _read_openings(stored: Mapping[str, Any], game: Game) -> Openings:
    plan = stored["plan"]
    balance = plan["balance"]
    actions = tuple(tuple(path) for path in stored["actions"])
    starts = tuple(stored["starts"])
    states = [Record(game, path, start=start).replay().row for path, start in zip(actions, starts, strict=True)]
    return Openings(
        np.array(states),
        actions,
        starts,
        OpeningsPlan(**{**plan, "balance": None if balance is None else Balance(**balance)}),
    )
