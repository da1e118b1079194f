"""Makes probe sets: `stonezoo make-probes GAME --output FILE` says how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import EMPTY, ONGOING, OUTCOME, TO_PLAY
from stonezoo.core.rng import new_streams
from stonezoo.core.text import join_position
from stonezoo.kernels.batch import legal_batch, step_batch, transform_batch
from stonezoo.kernels.choose import random_batch
from stonezoo.players import Player
from stonezoo.solve import Table
from stonezoo.state import Game
from stonezoo.truth.oracle import Oracle, SearchOracle
from stonezoo.truth.positions import Positions, join, random_positions

LANES = 32  # games side by side
MOST_BARREN = 40  # batches of games in a row without a new position, after which the search for more is given up
TRIED = 100  # random boards tried for one that the rules accept

Progress = Callable[[int, int], None]  # positions found, positions wanted


@dataclass(frozen=True)
class Plan:
    """How positions are found.

    Attributes:
        count: decisive positions wanted.
        seed: of all that is random.
        opening_actions: random actions before the players begin, at most; each game draws how many.
        random_share: share of later actions that are random, so that games differ.
        per_game: positions taken of one game at most.
        max_nodes: what solving all actions of a position may take; later positions of a game need less.
        boards: stones of each player on a random board from which games start; 0: games start as they do.
    """

    count: int = 2_000
    seed: int = 0
    opening_actions: int = 4
    random_share: float = 0.1
    per_game: int = 4
    max_nodes: int = 200_000
    boards: int = 0


def from_sample(game: Game, oracle: Oracle, plan: Plan, progress: Progress | None = None) -> Positions:
    """Decisive positions of random games, with values from a table or a search.

    A search that gives up on many leaves late positions: give it as many nodes as it takes.
    """
    found = random_positions(game, oracle, plan.count, plan.seed, progress)
    return shuffled(found.take(found.decisive), plan.seed)


def from_games(game: Game, players: Sequence[Player], plan: Plan, progress: Progress | None = None) -> Positions:
    """Late decisive positions of games between `players`, each solved by search; none where a win is one action away.

    Of each game as many positions as `plan.per_game` are drawn from those that `plan.max_nodes` can solve, which are
    its last ones. Symmetric positions count once.
    """
    oracle = SearchOracle(game, plan.max_nodes)
    seen: set[bytes] = set()
    found: list[Positions] = []
    total, barren = 0, 0
    source = "games of " + ", ".join(player.name for player in players)
    for batch in range(10**9):
        rng = np.random.default_rng([plan.seed, batch])
        new = 0
        for trace in play_games(game, players, plan, rng):
            part = _solve_end(game, oracle, trace)
            chosen: list[int] = []
            for lane in rng.permutation(np.flatnonzero(part.decisive)).tolist():
                key = _canonical(game, part.states[lane])
                if len(chosen) < plan.per_game and key not in seen and not _wins_at_once(part, lane):
                    seen.add(key)
                    chosen.append(lane)
            found.append(part.take(np.array(chosen, np.int64)))
            new += len(chosen)
            total += len(chosen)
            if progress is not None:
                progress(min(total, plan.count), plan.count)
            if total >= plan.count:
                break
        barren = 0 if new else barren + 1
        if total >= plan.count or barren >= MOST_BARREN:
            break
    whole = join(game, source, found)
    return shuffled(whole.take(np.arange(min(plan.count, len(whole)))), plan.seed)


def from_boards(
    game: Game, players: Sequence[Player], plan: Plan, memory: int, progress: Progress | None = None
) -> Positions:
    """Decisive positions of games from random boards, with values from one table of all that follows from them."""
    rows: list[NDArray[np.int32]] = []
    seen: set[bytes] = set()
    rng = np.random.default_rng([plan.seed, 0])
    barren = 0
    while len(rows) < 4 * plan.count and barren < MOST_BARREN:
        before = len(rows)
        for trace in play_games(game, players, plan, rng):
            fresh = [row for row in rng.permutation(trace) if _canonical(game, row) not in seen][: plan.per_game]
            seen.update(_canonical(game, row) for row in fresh)
            rows.extend(fresh)
        barren = barren + 1 if len(rows) == before else 0
        if progress is not None:
            progress(min(len(rows) // 4, plan.count), plan.count)
    states = np.array(rows, np.int32)
    table = Table.build(game, memory=memory, roots=states)
    source = f"games from random boards with {plan.boards} stones each of " + ", ".join(p.name for p in players)
    found = Positions(game, source, states, table.action_values(states), table.distances(states))
    late = np.array([not _wins_at_once(found, lane) for lane in range(len(found))])
    found = found.take(found.decisive & late)
    return shuffled(found.take(np.arange(min(plan.count, len(found)))), plan.seed)


def play_games(
    game: Game, players: Sequence[Player], plan: Plan, rng: np.random.Generator
) -> Iterator[NDArray[np.int32]]:
    """Plays a batch of games between two of `players` each, and yields the rows [N, S] of each, in order."""
    states = np.stack([_start(game, plan, rng) for _ in range(LANES)])
    seats = rng.integers(len(players), size=(LANES, 2))
    openings = rng.integers(plan.opening_actions + 1, size=LANES)
    streams = new_streams(int(rng.integers(2**31)), LANES)
    traces: list[list[NDArray[np.int32]]] = [[] for _ in range(LANES)]
    ply = 0
    while (going := np.flatnonzero(states[:, OUTCOME] == ONGOING)).size:
        at_random = (ply < openings[going]) | (rng.random(len(going)) < plan.random_share)
        actor = np.where(at_random, -1, seats[going, states[going, TO_PLAY]])
        for number in np.unique(actor).tolist():
            lanes = going[actor == number]
            rows, used = np.ascontiguousarray(states[lanes]), np.ascontiguousarray(streams[lanes])
            actions = np.empty(len(lanes), np.int32)
            if number < 0:
                random_batch(game.rules, rows, used, actions)
            else:
                actions[:] = players[number].act(rows, used)
            legal = np.zeros(len(lanes), np.bool_)
            legal_batch(game.rules, rows, actions, legal)
            if not legal.all():
                raise ValueError(f"{players[number].name} played an illegal action")
            for lane, row in zip(lanes.tolist(), rows, strict=True):
                traces[lane].append(row.copy())
            step_batch(game.rules, rows, actions)
            states[lanes], streams[lanes] = rows, used
        ply += 1
    for trace in traces:
        if trace:
            yield np.array(trace)


def shuffled(positions: Positions, seed: int) -> Positions:
    """The positions in a random order fixed by the seed, so that any first part of them is a sample."""
    return positions.take(np.random.default_rng([seed, 1]).permutation(len(positions)))


def _start(game: Game, plan: Plan, rng: np.random.Generator) -> NDArray[np.int32]:
    if plan.boards == 0:
        return game.initial_state().row
    for _ in range(TRIED):
        board = np.full(game.num_cells, EMPTY)
        cells = rng.permutation(game.num_cells)[: 2 * plan.boards]
        board[cells[: plan.boards]], board[cells[plan.boards :]] = 0, 1
        text = join_position(board.tolist(), game.rules.text_rows(), int(rng.integers(2)), [])
        try:
            state = game.parse_state(text)
        except ValueError:
            continue
        if not state.terminated:
            return state.row
    raise ValueError(f"{game!r} accepts none of {TRIED} random boards with {plan.boards} stones each")


def _solve_end(game: Game, oracle: SearchOracle, trace: NDArray[np.int32]) -> Positions:
    """The last positions of a game that can be solved, backwards until one cannot."""
    states, values = [], []
    for row in trace[::-1]:
        found = oracle.solve(row)
        if found is None:
            break
        states.append(row)
        values.append(found)
    shape = (len(states), game.rules.state_size)
    actions = np.array(values, np.int8).reshape(len(states), game.num_actions)
    return Positions(game, "", np.array(states, np.int32).reshape(shape), actions, None)


def _wins_at_once(positions: Positions, lane: int) -> bool:
    """Whether some action ends the game with a win for who plays it."""
    state = positions.game.from_row(positions.states[lane])
    for action in np.flatnonzero(positions.values[lane] == 1).tolist():
        after = state.copy()
        after.step(action)
        if after.terminated:
            return True
    return False


def _canonical(game: Game, row: NDArray[np.int32]) -> bytes:
    """The same bytes for all symmetric images of a state."""
    cells = np.stack([symmetry.cells for symmetry in game.symmetries])
    swaps = np.array([symmetry.swaps_players for symmetry in game.symmetries], np.int8)
    count = len(cells)
    images = np.zeros((count, len(row)), np.int32)
    transform_batch(
        game.rules,
        np.repeat(row[np.newaxis], count, axis=0),
        cells,
        swaps,
        np.arange(count, dtype=np.int32),
        images,
    )
    return min(image.tobytes() for image in images)


__all__ = ["Plan", "from_boards", "from_games", "from_sample"]
