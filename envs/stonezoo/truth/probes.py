"""Probe sets: decisive positions of official boards with the value of every action, in small files that ship.

A file is gzip over text: lines `# key: value`, then a line a position: its text, a tabulator, and one character for
each legal action in ascending order: `+` wins for the player to act, `=` draws, `-` loses. `digest` is SHA-256 over
the lines of positions.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from stonezoo.solve import ILLEGAL
from stonezoo.solve.table_file import write_whole
from stonezoo.state import Game, load_game_from
from stonezoo.truth.positions import Positions

FORMAT = "stonezoo/probes@1"
SUFFIX = ".probes.gz"
FOLDER = Path(__file__).parent / "data"
SIGNS = {1: "+", 0: "=", -1: "-"}
VALUES = {sign: value for value, sign in SIGNS.items()}


class ProbeError(ValueError):
    """A probe set that is not there or cannot be used; the message says why."""


@dataclass(frozen=True)
class ProbeSet:
    """A probe set.

    Attributes:
        name: such as `"resolve-9"`.
        game: the game.
        positions: the positions with the values of their actions, in random order.
        about: the other lines of the file's head: `source`, `command`, `digest`.
    """

    name: str
    game: Game
    positions: Positions
    about: dict[str, str]

    def __len__(self) -> int:
        """The number of positions."""
        return len(self.positions)


def probe_names() -> list[str]:
    """Names of the probe sets that ship."""
    return sorted(path.name.removesuffix(SUFFIX) for path in FOLDER.glob("*" + SUFFIX))


def probes_for(game: Game) -> ProbeSet | None:
    """The shipped set of a game with its parameters, or None."""
    for name in probe_names():
        with gzip.open(FOLDER / (name + SUFFIX), "rt", encoding="utf-8") as file:
            head = _read_head(name, [line for _, line in zip(range(8), file, strict=False)])
        if head.get("rules") == game.rules_id and json.loads(head["parameters"]) == dict(game.parameters):
            return load_probes(name)
    return None


@lru_cache(maxsize=16)
def load_probes(name: str) -> ProbeSet:
    """Returns a probe set: one that ships, by name, or a file by its path.

    Raises:
        ProbeError: there is none, it is damaged, or it belongs to other rules.
    """
    path = FOLDER / (name + SUFFIX)
    if not path.is_file():
        path = Path(name).expanduser()
    if not path.is_file():
        raise ProbeError(f"there is no probe set {name!r}; those that ship are {', '.join(probe_names()) or 'none'}")
    try:
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ProbeError(f"{path} cannot be read as a probe set: {error}") from error
    head = _read_head(name, lines)
    body = [line for line in lines if not line.startswith("# ")]
    if head["digest"] != digest_of(body):
        raise ProbeError(f"{path} is damaged: its positions do not have the digest in its head")
    game = load_game_from(head["game"], json.loads(head["parameters"]))
    if head["rules"] != game.rules_id:
        raise ProbeError(f"{path} was made for {head['rules']}, and the game is {game.rules_id}")
    states = np.empty((len(body), game.rules.state_size), np.int32)
    values = np.full((len(body), game.num_actions), ILLEGAL, np.int8)
    for number, line in enumerate(body):
        text, _, signs = line.partition("\t")
        state = game.parse_state(text)
        states[number] = state.row
        values[number, state.legal_actions] = [VALUES[sign] for sign in signs]
    positions = Positions(game, f"probe set {name}, digest {head['digest'][:12]}", states, values, None)
    return ProbeSet(name, game, positions, head)


def save_probes(path: Path, positions: Positions, *, source: str, command: str) -> None:
    """Writes positions as a probe set, whole or not at all; the same positions give the same bytes."""
    body = [_line(positions, number) for number in range(len(positions))]
    game = positions.game
    head = {
        "format": FORMAT,
        "game": game.name,
        "rules": game.rules_id,
        "parameters": json.dumps(dict(game.parameters)),
        "source": source,
        "command": command,
        "positions": str(len(body)),
        "digest": digest_of(body),
    }
    text = "".join(f"# {key}: {value}\n" for key, value in head.items()) + "".join(line + "\n" for line in body)
    write_whole(path, [gzip.compress(text.encode("utf-8"), mtime=0)])


def digest_of(body: Iterable[str]) -> str:
    """SHA-256 over the lines of positions, in hex."""
    return hashlib.sha256("\n".join(body).encode("utf-8")).hexdigest()


def _line(positions: Positions, number: int) -> str:
    state = positions.game.from_row(positions.states[number])
    signs = "".join(SIGNS[int(value)] for value in positions.values[number, state.legal_actions])
    return f"{state.to_text()}\t{signs}"


def _read_head(name: str, lines: list[str]) -> dict[str, Any]:
    head = dict(line.rstrip("\n")[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    if head.get("format") != FORMAT or not {"game", "rules", "parameters", "digest"} <= set(head):
        raise ProbeError(f"{name} is no probe set of format {FORMAT!r}: its format is {head.get('format')!r}")
    return head
