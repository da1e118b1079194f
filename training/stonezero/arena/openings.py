"""Openings: positions from which both players play, once with each colour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezero.arena.balance import Balance, black_values
from stonezoo import Game
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import reset_batch, step_batch, transform_batch
from stonezoo.kernels.choose import random_batch
from stonezoo.record import UNFINISHED, Record, read_records

BLOCKS = 100  # of as many random openings as are wanted that are drawn before there are said to be too few
LEAST_BLOCK = 128
FRUITLESS_BLOCKS = 3  # without a new opening that end the search sooner
DROPPED_FOR_EACH, DROPPED_MORE = (
    4,
    64,
)  # lopsided openings for each one wanted, and more, after which none is looked for
LONGER = 8  # actions by which openings are lengthened at most where there are too few


class OpeningsError(ValueError):
    """There are no such openings, or fewer different ones than asked for; the message says how many were found."""


class LopsidedOpeningsError(OpeningsError):
    """Nearly all openings are lopsided."""


@dataclass(frozen=True)
class OpeningsPlan:
    """How openings were chosen; plain values, for JSON."""

    actions: int | None  # random actions from the initial state; None: they come from a file
    seed: int | None = None
    balance: Balance | None = None  # None: lopsided ones are played too
    dropped: int = 0  # openings that were too lopsided
    file: str | None = None

    def __str__(self) -> str:
        if self.file is not None:
            return f"from {self.file}"
        text = f"{self.actions} random actions, seed {self.seed}, no two alike or symmetric"
        if self.balance is None:
            return f"{text}; lopsided ones too"
        return f"{text}; {self.dropped or 'none'} dropped that {self.balance}"


class Openings(NamedTuple):
    """Positions P that are not over, no two alike or symmetric."""

    states: NDArray[np.int32]  # [P, S]
    actions: tuple[tuple[int, ...], ...]  # [P] that lead there from `starts`
    starts: tuple[str | None, ...]  # [P] position texts; None: the initial state
    plan: OpeningsPlan


def find_openings(
    game: Game, count: int, num_actions: int, seed: int, balance: Balance | None = None, spawn: int = 0
) -> Openings:
    """Returns `count` openings of `num_actions` random actions, or of as few more as it takes to have so many.

    Args:
        game: the game.
        count: how many.
        num_actions: of each, at least.
        seed: fixes them.
        balance: what becomes of lopsided ones.
        spawn: which child of the seed is used.

    Raises:
        OpeningsError: there are not so many, even of LONGER more actions, or nearly all are lopsided.
    """
    fault: OpeningsError | None = None
    tried = ""
    for longer in range(LONGER + 1):
        source = np.random.SeedSequence(seed, spawn_key=(spawn,))
        try:
            return draw_openings(game, count, num_actions + longer, source, balance, seed)
        except LopsidedOpeningsError as error:  # longer ones will hardly be more even
            fault = error
            break
        except OpeningsError as error:
            fault = fault or error
    else:
        tried = f"; nor are there enough of up to {num_actions + LONGER} actions"
    if balance is not None and not balance.required:
        return find_openings(game, count, num_actions, seed, None, spawn)
    raise OpeningsError(f"{fault}{tried}")


def draw_openings(
    game: Game,
    count: int,
    num_actions: int,
    source: np.random.SeedSequence,
    balance: Balance | None = None,
    seed: int | None = None,
) -> Openings:
    """Returns `count` positions after `num_actions` uniformly random actions, no two the same or symmetric.

    Raises:
        OpeningsError: so many different ones are not found.
    """
    seen: set[bytes] = set()
    states: list[NDArray[np.int32]] = []
    actions: list[tuple[int, ...]] = []
    dropped, fruitless = 0, 0
    for block in source.spawn(BLOCKS):
        drawing, searching = block.spawn(2)
        drawn, played = _draw(game, max(count, LEAST_BLOCK), num_actions, drawing)
        fresh = []
        for lane, key in enumerate(canonical_keys(game, drawn)):
            if drawn[lane, OUTCOME] == ONGOING and key not in seen:
                seen.add(key)
                fresh.append(lane)
        fruitless = 0 if fresh else fruitless + 1
        while fresh and len(states) < count:
            lanes, fresh = fresh[: count - len(states)], fresh[count - len(states) :]
            if balance is not None:
                kept = _balanced(game, drawn, lanes, balance, searching)
                dropped += len(lanes) - len(kept)
                lanes = kept
            states += [drawn[lane] for lane in lanes]
            actions += [tuple(played[lane].tolist()) for lane in lanes]
        if len(states) == count:
            plan = OpeningsPlan(num_actions, seed, balance, dropped)
            return Openings(np.array(states), tuple(actions), (None,) * count, plan)
        if dropped > DROPPED_FOR_EACH * count + DROPPED_MORE:
            raise LopsidedOpeningsError(
                f"only {len(states)} openings of {num_actions} random actions that are not lopsided were found for "
                f"{game!r} ({dropped} were: {balance}), but {2 * count} games in pairs need {count}: ask for a wider "
                "band"
            )
        if fruitless == FRUITLESS_BLOCKS or num_actions == 0:
            break
    lopsided = f" ({dropped} more that {balance})" if dropped else ""
    remedy = "fewer games or for more opening actions"
    if not seen:
        remedy = "fewer opening actions, for all games are over by then"
    raise OpeningsError(
        f"only {len(states)} different openings of {num_actions} random actions were found for {game!r}{lopsided}, but "
        f"{2 * count} games in pairs need {count}: ask for {remedy}"
    )


def read_openings(path: str | Path, game: Game, count: int | None = None) -> Openings:
    """Reads openings from a file, in its order: records of unfinished games, or position texts, one a line.

    Of records, the position after the last action is the opening. Lines that are empty or begin with `#` do not count
    among position texts.

    Args:
        path: the file.
        game: what must be played in it.
        count: how many to take; None: all.

    Raises:
        OpeningsError: the file, or a position or record in it, cannot be read, or there are fewer than `count`, or two
            are alike or symmetric, or one is over or of another game.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise OpeningsError(f"{path} cannot be read as a file of openings: {reason}") from error
    states, actions, starts = [], [], []
    seen: dict[bytes, int] = {}
    for number, record in enumerate(_records(path, text.splitlines(), game), 1):
        if record.game != game:
            raise OpeningsError(f"{path}: opening {number} is of {record.game!r}, not of {game!r}")
        state = record.replay()
        if record.result != UNFINISHED:
            raise OpeningsError(f"{path}: opening {number} is a game that is over: {state.to_text()}")
        key = canonical_keys(game, state.row[None])[0]
        if (twin := seen.setdefault(key, number)) != number:
            raise OpeningsError(f"{path}: openings {twin} and {number} are the same position or symmetric ones")
        states.append(state.row)
        actions.append(record.actions)
        starts.append(record.start)
        if number == count:
            break
    if not states or (count is not None and len(states) < count):
        needed = "" if count is None else f", but {2 * count} games in pairs need {count}: ask for fewer games"
        raise OpeningsError(f"{path} has {len(states)} openings{needed}")
    return Openings(np.array(states), tuple(actions), tuple(starts), OpeningsPlan(None, file=str(path)))


def canonical_keys(game: Game, states: NDArray[np.int32]) -> list[bytes]:
    """A key for each of `states` [B, S] that symmetric ones share, and no others."""
    symmetries = game.symmetries
    cells = np.ascontiguousarray([symmetry.cells for symmetry in symmetries], np.int32)
    swaps = np.array([symmetry.swaps_players for symmetry in symmetries], np.int8)
    repeated = np.repeat(np.ascontiguousarray(states), len(symmetries), axis=0)
    index = np.tile(np.arange(len(symmetries), dtype=np.int32), len(states))
    images = np.empty_like(repeated)
    transform_batch(game.rules, repeated, cells, swaps, index, images)
    grouped = images.reshape(len(states), len(symmetries), -1)
    return [min(image.tobytes() for image in group) for group in grouped]


def _balanced(
    game: Game, states: NDArray[np.int32], lanes: list[int], balance: Balance, source: np.random.SeedSequence
) -> list[int]:
    """Those of the lanes whose states are worth to Black what `balance` allows."""
    streams = new_streams(source, len(states))[lanes]
    values = black_values(game, states[lanes], balance.simulations, streams)
    return [lane for lane, value in zip(lanes, values, strict=True) if balance.low <= value <= balance.high]


def _records(path: str | Path, lines: list[str], game: Game) -> Iterator[Record]:
    first = next((line for line in lines if line.strip()), "")
    try:
        yield from read_records(lines) if first.startswith("game:") else _positions(lines, game)
    except ValueError as error:
        raise OpeningsError(f"{path}: {error}") from error


def _positions(lines: list[str], game: Game) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            try:
                state = game.parse_state(line.strip())
            except ValueError as error:
                raise OpeningsError(f"line {number}: {error}") from error
            yield Record.from_state(state)


def _draw(
    game: Game, count: int, num_actions: int, seed: np.random.SeedSequence
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Random play from the initial state: states [count, S], actions [count, K]; -1 where a game was over before."""
    states = np.zeros((count, game.rules.state_size), np.int32)
    reset_batch(game.rules, states)
    streams = new_streams(seed, count)
    played = np.full((count, num_actions), -1, np.int32)
    for k in range(num_actions):
        ongoing = np.flatnonzero(states[:, OUTCOME] == ONGOING)
        if not len(ongoing):
            break
        own_streams, actions = streams[ongoing], np.empty(len(ongoing), np.int32)
        random_batch(game.rules, states[ongoing], own_streams, actions)
        streams[ongoing], played[ongoing, k] = own_streams, actions
        step_batch(game.rules, states, played[:, k].copy())
    return states, played
