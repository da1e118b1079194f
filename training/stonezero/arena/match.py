"""A match of two players: every opening twice with colours swapped, many games in lockstep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from stonezero.arena.balance import Balance
from stonezero.arena.contestant import Contestant, as_contestant
from stonezero.arena.lockstep import CONCURRENT, Lockstep
from stonezero.arena.openings import Openings, find_openings
from stonezero.arena.result import GameResult, MatchResult
from stonezero.rating import Sprt
from stonezoo import Game
from stonezoo.players import Player

Progress: TypeAlias = Callable[[int, int], None]  # games finished, games in all

OPENING_ACTIONS = 2
MIN_DISTINCT = 0.95  # of the games must differ from all others: repeated games are no evidence
SPRT_CONCURRENT = 64  # games at once in a test that may be decided soon
OPENING_SPAWN, STREAM_SPAWN = 0, 1  # children of a match's seed


class RepeatedGamesError(ValueError):
    """Too many games of a match were the same; `result` is what came out."""

    def __init__(self, message: str, result: MatchResult) -> None:
        super().__init__(message)
        self.result = result


def evaluate(
    player: Player | Contestant,
    opponent: Player | Contestant,
    game: Game,
    *,
    games: int = 200,
    seed: int = 0,
    opening_actions: int = OPENING_ACTIONS,
    balance: Balance | None = None,
    openings: Openings | None = None,
    min_distinct: float = MIN_DISTINCT,
    sprt: Sprt | None = None,
    concurrent: int | None = None,
    progress: Progress | None = None,
) -> MatchResult:
    """Plays `games` games between `player` and `opponent`, and returns what came out for `player`.

    Each of games / 2 different openings is played twice with colours swapped. Each game and player has a random stream
    of its own, fixed by `seed`. An illegal action loses its game; so does an error of a contestant (see
    `stonezero.arena.open_contestant`), while what a plain player raises is raised.

    Args:
        player: whose score is measured; it must play `game`.
        opponent: who plays the other colour.
        game: the game.
        games: an even number; with `sprt` at most so many.
        seed: of openings and players.
        opening_actions: random actions before the players begin; more where there are too few different openings.
        balance: which openings are too lopsided; None: all are played.
        openings: to play instead, of at least games / 2.
        min_distinct: share of the games that must differ from all others; 0 accepts any.
        sprt: ends the match when it is decided. It looks at pairs in the order of their openings, and no later pairs
            are in the result.
        concurrent: games at once; None: CONCURRENT, or SPRT_CONCURRENT with a test.
        progress: called after games have ended.

    Raises:
        ValueError: `games` is not an even positive number; OpeningsError, when there are too few openings.
        RepeatedGamesError: fewer games than `min_distinct` are distinct.
    """
    check_games(games)
    if opening_actions < 0 or not 0 <= min_distinct <= 1:
        raise ValueError(
            f"opening_actions={opening_actions} must not be negative, min_distinct={min_distinct} be in [0, 1]"
        )
    if openings is None:
        openings = find_openings(game, games // 2, opening_actions, seed, balance, OPENING_SPAWN)
    if concurrent is None:
        concurrent = CONCURRENT if sprt is None else SPRT_CONCURRENT
    lockstep = Lockstep(
        game,
        (as_contestant(player), as_contestant(opponent)),
        openings,
        np.random.SeedSequence(seed, spawn_key=(STREAM_SPAWN,)),
        pairs=range(games // 2),
        concurrent=concurrent,
    )
    start = time.perf_counter()
    finished: dict[int, list[GameResult]] = {}
    state = None if sprt is None else sprt.begin()
    looked_at = 0
    for ended in lockstep.play():
        for black, white in zip(ended[::2], ended[1::2], strict=True):
            finished[black.pair] = [black, white]
        while state is not None and state.decision is None and looked_at in finished:
            state = state.add(sum(result.points for result in finished[looked_at]) / 2)
            looked_at += 1
        if progress is not None:
            progress(2 * len(finished), games)
        if state is not None and state.decision is not None:
            break
    pairs = range(games // 2 if state is None else looked_at)
    result = MatchResult.from_games(
        player=player.name,
        opponent=opponent.name,
        game=game,
        seed=seed,
        openings=openings.plan,
        results=[result for pair in pairs for result in finished[pair]],
        seconds=time.perf_counter() - start,
        contestant_seconds=lockstep.seconds,
        contestant_actions=lockstep.asked,
        sprt=state,
    )
    check_distinct(result, min_distinct)
    return result


def check_games(games: int) -> None:
    """Raises ValueError unless `games` can be played in pairs."""
    if games < 2 or games % 2:
        raise ValueError(
            f"games={games}: games are played in pairs with colours swapped, so it must be even and positive"
        )


def check_distinct(result: MatchResult, min_distinct: float = MIN_DISTINCT) -> None:
    """Raises RepeatedGamesError when fewer games of a match are distinct than `min_distinct` of them."""
    if result.distinct_games < min_distinct * result.games:
        raise RepeatedGamesError(
            f"{result.player} against {result.opponent}: only {result.distinct_games} of {result.games} games are "
            f"distinct, fewer than {min_distinct:.0%}: repeated games are no evidence. Two players that draw no random "
            "numbers and play alike repeat each opening's game; more opening actions, or another opponent, helps",
            result,
        )
