"""Games of a player against perfect play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, TO_PLAY
from stonezoo.core.rng import new_streams
from stonezoo.kernels.batch import legal_batch, step_batch
from stonezoo.players import PerfectPlayer, Player, read_actions
from stonezoo.solve import Search, Table
from stonezoo.state import Game
from stonezoo.truth.measure import decided_player


@dataclass(frozen=True)
class Versus:
    """Results of a player against perfect play, from one seat.

    `value` is the seat's value with best play from the initial state: 1 won, 0 drawn, -1 lost. No player does better.
    """

    seat: int
    value: int
    wins: int
    draws: int
    losses: int

    def to_dict(self) -> dict[str, int]:
        """For JSON."""
        return {
            "seat": self.seat,
            "value": self.value,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
        }


def play_perfect(
    policy: Any, game: Game, source: Table | Search | None = None, *, games: int = 100, seed: int = 0
) -> tuple[Versus, Versus]:
    """Plays `games` games from the initial state in each seat against best play, ties among best actions drawn.

    Best play is the player `perfect`'s: from a table it wins as soon and loses as late as it can, from a search it
    never gives a result away. An illegal action loses.

    Args:
        policy: a player's text, a function or a player. Of a function's probabilities the highest is played.
        game: the game.
        source: where best play is known from; by default what `perfect` plays from.
        games: in each seat.
        seed: of what both draw.

    Raises:
        PlayerError: `policy` stands for no player or does not answer one integer for each state, or nothing is known of
            best play; UnsolvedError, one of them, where a search gives up.
        TableError: what was saved cannot be used.
    """
    player = decided_player(policy, game)
    perfect = PerfectPlayer(game, source)
    sequences = np.random.SeedSequence([seed, 0x7665]).spawn(4)
    start = game.initial_state()
    value = perfect.value(start.row)
    found = []
    for seat in (0, 1):
        streams = [new_streams(sequence, games) for sequence in sequences[2 * seat : 2 * seat + 2]]
        outcomes = _play(player, perfect, game, seat, streams[0], streams[1])
        wins = int((outcomes == BLACK_WON + seat).sum())
        draws = int((outcomes == DRAWN).sum())
        seat_value = value if start.to_play == seat else -value
        found.append(Versus(seat, seat_value, wins, draws, games - wins - draws))
    return found[0], found[1]


def _play(
    player: Player,
    perfect: PerfectPlayer,
    game: Game,
    seat: int,
    streams: NDArray[np.int64],
    perfect_streams: NDArray[np.int64],
) -> NDArray[np.int32]:
    """The outcome of a game a stream [B]; each player has its own."""
    states = np.repeat(game.initial_state().row[np.newaxis], len(streams), axis=0)
    while True:
        ongoing = states[:, OUTCOME] == ONGOING
        if not ongoing.any():
            outcomes: NDArray[np.int32] = states[:, OUTCOME].copy()
            return outcomes
        own = np.flatnonzero(ongoing & (states[:, TO_PLAY] == seat))
        others = np.flatnonzero(ongoing & (states[:, TO_PLAY] != seat))
        if len(own):
            rows, used = np.ascontiguousarray(states[own]), np.ascontiguousarray(streams[own])
            answer = read_actions(player.name, player.act(rows.copy(), used), len(rows))
            actions = np.where((answer >= 0) & (answer < game.num_actions), answer, -1).astype(np.int32)
            streams[own] = used
            legal = np.zeros(len(own), np.bool_)
            legal_batch(game.rules, rows, actions, legal)
            step_batch(game.rules, rows, np.where(legal, actions, -1).astype(np.int32))
            rows[~legal, OUTCOME] = BLACK_WON + 1 - seat
            states[own] = rows
        if len(others):
            rows = np.ascontiguousarray(states[others])
            used = np.ascontiguousarray(perfect_streams[others])
            actions = perfect.act(rows, used)
            perfect_streams[others] = used
            step_batch(game.rules, rows, actions)
            states[others] = rows
