"""Measures players on positions whose values are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import PHASE
from stonezoo.core.rng import new_streams
from stonezoo.players import FunctionPlayer, Player, PlayerError, make_player, read_actions
from stonezoo.players.function import as_array
from stonezoo.solve import ILLEGAL, Table
from stonezoo.state import Game
from stonezoo.truth.oracle import Oracle, usable_oracle, usable_table
from stonezoo.truth.positions import Positions, all_positions, own_positions, random_positions
from stonezoo.truth.probes import ProbeSet, load_probes
from stonezoo.truth.result import Share, Truth

Source: TypeAlias = Literal["sample", "all", "own"]
Progress: TypeAlias = Callable[[int, int], None]  # positions done, positions in all

SOURCES = ("sample", "all", "own")
SAMPLE = 2_000  # decisive positions
OWN_GAMES = 200
BATCH = 256  # positions a call of the player
DISTANCES = (1, 2, 3, 5, 9, 17, 33, 65, 129)  # where ranges of distances begin
DRAWN_BELOW = 1 / 3  # a value this near to zero says draw


class _Decided(FunctionPlayer):
    """A function's player that plays the action with the highest probability instead of drawing one."""

    def _read(self, answer: Any, legal: NDArray[np.intp], stream: NDArray[np.int64]) -> int:
        values = as_array(answer)
        if values.shape == (self._game.num_actions,) and values.size > 1 and values.dtype.kind in "fiu":
            weights = values.astype(np.float64)[legal]
            if np.isnan(weights).any():
                raise PlayerError(f"{self.name} answered probabilities that are not numbers: {weights}")
            return int(legal[int(weights.argmax())])
        return super()._read(answer, legal, stream)


def decided_player(policy: Any, game: Game) -> Player:
    """The player that `policy` stands for; one that answers probabilities plays the highest.

    Raises:
        PlayerError: it stands for no player; the message lists what is accepted.
    """
    player = make_player(policy, game)
    if isinstance(player, FunctionPlayer):
        return _Decided(game, player.function, player.name)
    return player


def score(
    policy: Any,
    game: Game,
    *,
    positions: Source | Positions = "sample",
    count: int = SAMPLE,
    seed: int = 0,
    table: Oracle | None = None,
    progress: Progress | None = None,
) -> Truth:
    """Says how often a policy chooses a best action on decisive positions of a solved game.

    Args:
        policy: a player's text, a function `(observation, mask) -> action or probabilities`, or a player. Of
            probabilities the highest counts.
        game: the game.
        positions: `"sample"`: positions of random games, until `count` are decisive; `"all"`: every position that can
            be reached; `"own"`: all decisions of the player in `count` games against itself; or `Positions`.
        count: decisive positions of a sample, or own games.
        seed: of the sample, and of what the player draws.
        table: what knows the values; by default the saved table of the game, a new one where it is small, else a search
            that knows late positions: the result says so, and counts no others.
        progress: called as positions are done.

    Raises:
        PlayerError: `policy` stands for no player.
        TableError: `"all"` of a game that has no saved table and is too large to solve on the spot; the message says
            what makes one.
        ValueError: `positions` or `count` is not accepted.
    """
    player = decided_player(policy, game)
    if not isinstance(positions, Positions):
        if positions not in SOURCES:
            raise ValueError(f"positions={positions!r} is none of {', '.join(SOURCES)}, nor are they Positions")
        if count < 1:
            raise ValueError(f"count={count} must be at least 1")
        if positions == "own":
            oracle = usable_oracle(game) if table is None else table
            positions = own_positions(game, oracle, player, count, seed)
        else:
            positions = draw_positions(game, positions, count=count, seed=seed, table=table)
    elif positions.game != game:
        raise ValueError(f"the positions are of {positions.game!r}, not of {game!r}")
    return measure(player, positions, seed=seed, progress=progress)


def draw_positions(
    game: Game, source: Literal["sample", "all"], *, count: int = SAMPLE, seed: int = 0, table: Oracle | None = None
) -> Positions:
    """Returns the positions that `score` looks at, to measure several players on the same ones.

    Args and errors as for `score`. Without a table, which positions a search solves depends on what it solved before:
    the same ones come from a fresh search only.
    """
    if source == "sample":
        return random_positions(game, usable_oracle(game) if table is None else table, count, seed)
    return all_positions(game, table if isinstance(table, Table) else usable_table(game))


def probe(
    policy: Any,
    probes: str | ProbeSet,
    *,
    limit: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Truth:
    """Says how often a policy chooses a best action on a probe set: decisive positions of an official board.

    Args:
        policy: as for `score`.
        probes: a set, or the name of one that ships, such as `"resolve-9"`; `probe_names()` lists them.
        limit: measure on the first so many positions (they are in random order); None: all.
        seed: of what the player draws.
        progress: called as positions are done.

    Raises:
        PlayerError: `policy` stands for no player.
        ProbeError: there is no such set, it is damaged, or it belongs to other rules.
        ValueError: `limit` is not accepted.
    """
    found = load_probes(probes) if isinstance(probes, str) else probes
    positions = found.positions
    if limit is not None:
        if limit < 1:
            raise ValueError(f"limit={limit} must be at least 1")
        positions = positions.take(np.arange(min(limit, len(positions))))
    return measure(decided_player(policy, found.game), positions, seed=seed, progress=progress)


def measure(player: Player, positions: Positions, *, seed: int = 0, progress: Progress | None = None) -> Truth:
    """Measures a player on positions; see `score`.

    Raises:
        PlayerError: it does not answer one integer (and of `assess` one value) for each state.
    """
    game = positions.game
    decisive = positions.take(positions.decisive)
    streams = new_streams(np.random.SeedSequence([seed, 0x7275]), max(1, len(decisive)))
    chosen = np.empty(len(decisive), np.int64)
    assess = getattr(player, "assess", None)
    said = np.zeros(len(decisive), np.float64)
    for first in range(0, len(decisive), BATCH):
        part = slice(first, first + BATCH)
        states = np.ascontiguousarray(decisive.states[part])
        if assess is None:
            answer = player.act(states, streams[part].copy())
        else:
            answer, values = assess(states, streams[part].copy())
            said[part] = _read_values(player.name, values, len(said[part]))
        chosen[part] = read_actions(player.name, answer, len(chosen[part]))
        if progress is not None:
            progress(min(first + BATCH, len(decisive)), len(decisive))
    inside = (chosen >= 0) & (chosen < game.num_actions)
    lanes = np.arange(len(decisive))
    values = np.where(inside, decisive.values[lanes, np.where(inside, chosen, 0)], ILLEGAL)
    true_value = decisive.values.max(1, initial=ILLEGAL)
    right = values == true_value
    sign = np.where(np.abs(said) < DRAWN_BELOW, 0, np.sign(said))
    if not (true_value == 0).any():  # where nothing is drawn, any sign is an answer
        sign = np.where(said >= 0, 1, -1)
    phases = decisive.states[:, PHASE]
    return Truth(
        player=player.name,
        setting=f"stonezoo.{game!r}",
        source=positions.source,
        positions=len(positions),
        optimal=_share(right),
        uniform=_uniform(decisive),
        uniform_everywhere=_uniform(positions),
        value_signs=_share(sign == true_value) if assess is not None else None,
        by_phase={
            phase.name.lower(): _share(right[phases == int(phase)])
            for phase in game.phases
            if (phases == int(phase)).any()
        },
        by_distance=_by_distance(right, decisive.distances),
        illegal=int((values == ILLEGAL).sum()),
    )


def _read_values(name: str, answer: Any, count: int) -> NDArray[np.float64]:
    """What a player's `assess` says of `count` states, float [B]; PlayerError where it is no number for each."""
    values = as_array(answer)
    if values.shape != (count,) or values.dtype.kind not in "fiu":
        raise PlayerError(
            f"{name} answered {values.shape} values of {values.dtype} to {count} states; it must be one number for each"
        )
    return values.astype(np.float64)


def _share(hits: NDArray[np.bool_]) -> Share:
    return Share(int(hits.sum()), len(hits))


def _uniform(positions: Positions) -> float:
    """The share of best actions that a uniformly random player chooses on average."""
    if not len(positions):
        return float("nan")
    legal = (positions.values != ILLEGAL).sum(1)
    return float((positions.best.sum(1) / legal).mean())


def _by_distance(right: NDArray[np.bool_], distances: NDArray[np.int32] | None) -> dict[str, Share]:
    if distances is None:
        return {}
    found = {}
    for low, above in zip(DISTANCES, (*DISTANCES[1:], np.iinfo(np.int32).max), strict=True):
        inside = (distances >= low) & (distances < above)
        if inside.any():
            last = above - 1
            name = f"{low}" if last == low else f"{low}+" if above > DISTANCES[-1] else f"{low}-{last}"
            found[name] = _share(right[inside])
    if (distances < 0).any():
        found["drawn"] = _share(right[distances < 0])
    return found
