"""Games between two players: every opening twice with colours swapped, all games in lockstep."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stonezero.arena.openings import Openings, draw_openings
from stonezero.arena.result import GameResult, MatchResult
from stonezoo import Game
from stonezoo.core.game import BLACK, BLACK_WON, DRAWN, NO_WINNER, ONGOING, OUTCOME, TO_PLAY, WHITE
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import legal_batch, step_batch
from stonezoo.players import Player

Progress: TypeAlias = Callable[[int, int], None]  # games finished, games in all

OPENING_ACTIONS = 2
MIN_DISTINCT = 0.95  # of the games must differ from all others: repeated games are no evidence


class RepeatedGamesError(ValueError):
    """Too many games of a match were the same; `result` is what came out."""

    def __init__(self, message: str, result: MatchResult) -> None:
        super().__init__(message)
        self.result = result


def evaluate(
    player: Player,
    opponent: Player,
    game: Game,
    *,
    games: int = 200,
    seed: int = 0,
    opening_actions: int = OPENING_ACTIONS,
    min_distinct: float = MIN_DISTINCT,
    progress: Progress | None = None,
) -> MatchResult:
    """Plays `games` games between `player` and `opponent`, and returns what came out for `player`.

    Each of games / 2 different openings of random actions is played twice with colours swapped. Each game and player
    has a random stream of its own, fixed by `seed`. An illegal action loses its game.

    Args:
        player: whose score is measured; it must play `game`.
        opponent: who plays the other colour.
        game: the game.
        games: an even number.
        seed: of openings and players.
        opening_actions: random actions before the players begin.
        min_distinct: share of the games that must differ from all others; 0 accepts any.
        progress: called after games have ended.

    Raises:
        ValueError: `games` is not an even positive number; OpeningsError, when there are too few openings.
        RepeatedGamesError: fewer games than `min_distinct` are distinct.
    """
    if games < 2 or games % 2:
        raise ValueError(
            f"games={games}: games are played in pairs with colours swapped, so it must be even and positive"
        )
    if opening_actions < 0 or not 0 <= min_distinct <= 1:
        raise ValueError(
            f"opening_actions={opening_actions} must not be negative, min_distinct={min_distinct} be in [0, 1]"
        )
    opening_seed, stream_seed = np.random.SeedSequence(seed).spawn(2)
    openings = draw_openings(game, games // 2, opening_actions, opening_seed)
    match = _Match(game, (player, opponent), openings, new_streams(stream_seed, 2 * games).reshape(games, 2, 2))
    start = time.perf_counter()
    match.play(progress)
    result = MatchResult.from_games(
        player=player.name,
        opponent=opponent.name,
        game=game,
        seed=seed,
        opening_actions=opening_actions,
        results=match.results(),
        seconds=time.perf_counter() - start,
        player_seconds=match.seconds[0],
        opponent_seconds=match.seconds[1],
    )
    if result.distinct_games < min_distinct * games:
        raise RepeatedGamesError(
            f"{player.name} against {opponent.name}: only {result.distinct_games} of {games} games are distinct, fewer "
            f"than {min_distinct:.0%}: repeated games are no evidence. Two players that draw no random numbers and "
            "play alike repeat each opening's game; more opening actions, or another opponent, helps",
            result,
        )
    return result


class _Match:
    """Games 2 P in lockstep: game 2 i + c starts from opening i, the player (contestant 0) has colour c."""

    def __init__(
        self, game: Game, contestants: tuple[Player, Player], openings: Openings, streams: NDArray[np.int64]
    ) -> None:
        self.game = game
        self.contestants = contestants
        self.states = np.repeat(openings.states, 2, axis=0)  # [G, S]
        self.streams = streams  # [G, 2, 2] of each game and contestant
        games = len(self.states)
        self.player_colour = np.arange(games, dtype=np.int32) % 2
        self.actions: list[list[int]] = [row.tolist() for row in np.repeat(openings.actions, 2, axis=0)]
        self.illegal: list[tuple[int, int] | None] = [None] * games  # contestant, action
        self.ongoing = np.ones(games, np.bool_)
        self.seconds = [0.0, 0.0]

    def play(self, progress: Progress | None) -> None:
        """Plays all games to their ends; each round both contestants act once in every game where it is their turn."""
        games, finished = len(self.states), 0
        while finished < games:
            for contestant in (0, 1):
                self._act(contestant)
            now = games - int(np.count_nonzero(self.ongoing))
            if progress is not None and now > finished:
                progress(now, games)
            finished = now

    def _act(self, contestant: int) -> None:
        own_turn = (self.states[:, TO_PLAY] == self.player_colour) == (contestant == 0)
        lanes = np.flatnonzero(self.ongoing & own_turn)
        if len(lanes) == 0:
            return
        states, streams = self.states[lanes], self.streams[lanes, contestant]
        start = time.perf_counter()
        answer = np.asarray(self.contestants[contestant].act(states.copy(), streams))
        self.seconds[contestant] += time.perf_counter() - start
        if answer.shape != lanes.shape:
            name = self.contestants[contestant].name
            raise ValueError(f"{name} answered {answer.shape} actions to {lanes.shape} states")
        self.streams[lanes, contestant] = streams
        actions = np.where((answer >= 0) & (answer < self.game.num_actions), answer, 0).astype(np.int32)
        legal = np.empty(len(lanes), np.bool_)
        legal_batch(self.game.rules, states, actions, legal)
        legal &= actions == answer
        step_batch(self.game.rules, states, np.where(legal, actions, -1).astype(np.int32))
        self.states[lanes] = states
        self.ongoing[lanes] = legal & (states[:, OUTCOME] == ONGOING)
        for lane, action, is_legal in zip(lanes.tolist(), answer.tolist(), legal.tolist(), strict=True):
            if is_legal:
                self.actions[lane].append(action)
            else:
                self.illegal[lane] = (contestant, action)

    def results(self) -> list[GameResult]:
        """What came out, game by game."""
        return [self._result(lane) for lane in range(len(self.states))]

    def _result(self, lane: int) -> GameResult:
        colour = int(self.player_colour[lane])
        outcome = int(self.states[lane, OUTCOME])
        fault = self.illegal[lane]
        if fault is not None:
            loser = colour if fault[0] == 0 else 1 - colour
            winner = WHITE if loser == BLACK else BLACK
        else:
            winner = NO_WINNER if outcome == DRAWN else outcome - BLACK_WON
        return GameResult(
            pair=lane // 2,
            player_is_black=colour == BLACK,
            winner=winner,
            actions=tuple(self.actions[lane]),
            illegal_by=None if fault is None else ("player", "opponent")[fault[0]],
            illegal_action=None if fault is None else fault[1],
        )
