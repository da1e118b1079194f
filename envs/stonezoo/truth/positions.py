"""Positions with the value of every action: all that a game has, those of random games, or those of a player's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import DRAWN, ONGOING, OUTCOME
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import legal_batch, mask_batch, step_batch
from stonezoo.kernels.choose import random_batch
from stonezoo.players import Player, read_actions
from stonezoo.solve import ILLEGAL, Table
from stonezoo.state import Game
from stonezoo.truth.oracle import Oracle, SearchOracle

LANES = 256  # games side by side
CHUNK = 4_096  # positions asked for at once
SEARCHED = 64  # likewise, where each is solved by search
NO_ACTION = -1  # `step_batch` leaves the lane alone
TRIED = 2_000  # positions asked for, of which a search must solve
LEAST_KNOWN = 0.02  # this share, decisive ones, or the sample would take too long
MAX_POSITIONS = 5_000_000  # of "all": what fits into memory with ease


@dataclass(frozen=True)
class Positions:
    """Positions of one game, and what is true of them.

    Attributes:
        game: the game.
        source: where they come from, in words.
        states: rows int32 [B, S], none of them over.
        values: of every action for the player to act, int8 [B, A]: 1, 0, -1, or ILLEGAL.
        distances: actions to the end under best play, int32 [B], -1 for draws; None where unknown.
    """

    game: Game
    source: str
    states: NDArray[np.int32]
    values: NDArray[np.int8]
    distances: NDArray[np.int32] | None

    def __len__(self) -> int:
        """The number of positions."""
        return len(self.states)

    @property
    def best(self) -> NDArray[np.bool_]:
        """Which actions have the best value: bool [B, A]."""
        found: NDArray[np.bool_] = self.values == self.values.max(axis=1, keepdims=True)
        return found

    @property
    def decisive(self) -> NDArray[np.bool_]:
        """Where there are a best action and a worse one: bool [B]."""
        legal = self.values != ILLEGAL
        found: NDArray[np.bool_] = self.best.sum(1) < legal.sum(1)
        return found

    def take(self, index: NDArray[Any]) -> Positions:
        """The positions at `index` (numbers or a mask)."""
        distances = None if self.distances is None else self.distances[index]
        return Positions(self.game, self.source, self.states[index], self.values[index], distances)


def ask(game: Game, oracle: Oracle, states: NDArray[np.int32], source: str) -> Positions:
    """The positions of rows [B, S] with what `oracle` says of them, less those that it does not know."""
    if isinstance(oracle, SearchOracle) and oracle.max_nodes is not None:
        source += f", those that {oracle.max_nodes:,} nodes solve"
    values = [oracle.action_values(states[first : first + CHUNK]) for first in range(0, len(states), CHUNK)]
    distances = None
    if isinstance(oracle, Table):
        parts = [oracle.distances(states[first : first + CHUNK]) for first in range(0, len(states), CHUNK)]
        distances = np.concatenate([np.empty(0, np.int32), *parts])
    empty = np.empty((0, game.num_actions), np.int8)
    found = Positions(game, source, states, np.concatenate([empty, *values]), distances)
    known = (found.values != ILLEGAL).any(1)
    return found if known.all() else found.take(known)


def all_positions(game: Game, table: Table) -> Positions:
    """Every position that can be reached and is not over.

    Raises:
        ValueError: there are more than 5 million; take a sample.
    """
    seen: dict[bytes, None] = {}
    level = game.initial_state().row[np.newaxis]
    seen[level.tobytes()] = None
    found = np.empty(game.num_actions, np.int32)
    while len(level):
        mask = np.zeros((len(level), game.num_actions), np.int8)
        mask_batch(game.rules, level, found, mask)
        lanes, actions = np.nonzero(mask)
        after = np.ascontiguousarray(level[lanes])
        step_batch(game.rules, after, actions.astype(np.int32))
        fresh = []
        for row in after[after[:, OUTCOME] == ONGOING]:
            key = row.tobytes()
            if key not in seen:
                seen[key] = None
                fresh.append(row)
        if len(seen) > MAX_POSITIONS:
            raise ValueError(f"{game!r} has more than {MAX_POSITIONS:,} positions: take a sample of them")
        level = np.array(fresh, np.int32).reshape(len(fresh), game.rules.state_size)
    rows = np.frombuffer(b"".join(seen), np.int32).reshape(len(seen), game.rules.state_size).copy()
    return ask(game, table, rows, "all positions that can be reached")


def random_positions(
    game: Game, oracle: Oracle, count: int, seed: int, progress: Callable[[int, int], object] | None = None
) -> Positions:
    """Positions of uniformly random games, each once, until `count` of them are decisive (or no new ones come).

    `progress` is called with the decisive ones so far and `count`.

    Raises:
        ValueError: a search knows nearly none of them; the message says what else there is.
    """
    seeds = np.random.SeedSequence(seed).spawn(2)
    streams = new_streams(seeds[0], LANES)
    rng = np.random.default_rng(seeds[1])
    seen: set[bytes] = set()
    found: list[Positions] = []
    decisive, barren, asked = 0, 0, 0
    source = f"a sample of positions of random games, seed {seed}"
    while decisive < count and barren < 20:
        rows = play(game, streams)
        fresh = [row for row in rng.permutation(rows) if not (row.tobytes() in seen or seen.add(row.tobytes()))]  # type: ignore[func-returns-value]
        barren = 0 if fresh else barren + 1
        chunk, limit = CHUNK, None
        if isinstance(oracle, SearchOracle):
            chunk, limit = SEARCHED, oracle.max_nodes
        for first in range(0, len(fresh), chunk):
            part = ask(game, oracle, np.array(fresh[first : first + chunk], np.int32), source)
            asked += chunk
            if limit is not None and asked >= TRIED and decisive < LEAST_KNOWN * asked:
                raise ValueError(
                    f"of {asked:,} positions of random games of {game!r} only {decisive} are decisive and solved "
                    f"within {limit:,} nodes: the board is too large for a sample; "
                    "probe sets are for such boards"
                )
            if not len(part):
                continue
            which = np.cumsum(part.decisive)
            last = int(np.searchsorted(which, count - decisive)) + 1
            found.append(part.take(np.arange(min(last, len(part)))))
            decisive += int(found[-1].decisive.sum())
            if progress is not None:
                progress(decisive, count)
            if decisive >= count:
                break
    return join(game, found[0].source if found else source, found)


def own_positions(
    game: Game, oracle: Oracle, player: Player, games: int, seed: int, opening_actions: int = 2
) -> Positions:
    """Every position in which `player` acts in games against itself, which open with random actions."""
    openings, streams = np.random.SeedSequence(seed).spawn(2)
    rows = play(game, new_streams(openings, games), player, new_streams(streams, games), opening_actions)
    return ask(game, oracle, rows, f"the player's own games, {games}, seed {seed}")


def play(
    game: Game,
    openings: NDArray[np.int64],
    player: Player | None = None,
    streams: NDArray[np.int64] | None = None,
    opening_actions: int = 0,
) -> NDArray[np.int32]:
    """Plays a game a stream and returns the rows [N, S] in which a choice was made after the opening.

    Random actions open, drawn from `openings`; then `player` plays both colours, or the random actions go on.
    """
    states = np.repeat(game.initial_state().row[np.newaxis], len(openings), axis=0)
    kept = []
    for ply in range(10**9):
        going = np.flatnonzero(states[:, OUTCOME] == ONGOING)
        if not len(going):
            break
        rows = np.ascontiguousarray(states[going])
        if player is None or streams is None or ply < opening_actions:
            used = np.ascontiguousarray(openings[going])
            actions = np.empty(len(going), np.int32)
            random_batch(game.rules, rows, used, actions)
            openings[going] = used
        else:
            used = np.ascontiguousarray(streams[going])
            answer = read_actions(player.name, player.act(rows.copy(), used), len(rows))
            actions = np.where((answer >= 0) & (answer < game.num_actions), answer, NO_ACTION).astype(np.int32)
            streams[going] = used
            legal = np.zeros(len(going), np.bool_)
            legal_batch(game.rules, rows, actions, legal)
            actions[~legal] = NO_ACTION
        if ply >= opening_actions:
            kept.append(rows.copy())
        step_batch(game.rules, rows, actions)
        rows[actions == NO_ACTION, OUTCOME] = DRAWN  # whoever won: an illegal action ends the game
        states[going] = rows
    return np.concatenate([np.empty((0, game.rules.state_size), np.int32), *kept])


def join(game: Game, source: str, parts: list[Positions]) -> Positions:
    """Several batches of positions as one."""
    states = [np.empty((0, game.rules.state_size), np.int32), *(part.states for part in parts)]
    values = [np.empty((0, game.num_actions), np.int8), *(part.values for part in parts)]
    known = [part.distances for part in parts if part.distances is not None]
    distances = np.concatenate([np.empty(0, np.int32), *known]) if len(known) == len(parts) else None
    return Positions(game, source, np.concatenate(states), np.concatenate(values), distances)
