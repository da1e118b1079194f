"""Games in which a learner has one seat and an opponent the other: the inside of the Gymnasium environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from stonezoo.core.rng import new_streams
from stonezoo.games import rules_class
from stonezoo.kernels.vector import (
    ACT,
    ALTERNATE_SEAT,
    ANSWER,
    BEGIN,
    BY_OPPONENT,
    IN_OPENING,
    RANDOM_SEAT,
    REST,
    seat_lanes,
)
from stonezoo.players import Player, PlayerError, RandomPlayer, make_player
from stonezoo.state import Game, load_game

SEATINGS: Mapping[Any, int] = {0: 0, 1: 1, "random": RANDOM_SEAT, "alternate": ALTERNATE_SEAT}
OPPONENT_ACCEPTED = (
    "a player's name such as 'random' or 'uct:100', a function (observation, mask) -> action or probabilities, "
    "or a player of stonezoo.players (default 'random')"
)
SEAT_ACCEPTED = "0 (Black), 1 (White), 'random' or 'alternate' (default 'random')"


class SeatedGames:
    """`num_games` games of one kind, with a learner in one seat of each; the opponent, in the other, plays in here.

    A lane's seats and its opponent draw from the lane's own random stream, so that a lane plays the same whatever the
    number of lanes.

    Attributes:
        states: int32 [B, S], the rows of the states.
        seats: int64 [B], the learner's colour in each lane.
        over: bool [B], lanes that are over, and whose end has been told, until they begin again.
        observations, masks: float32 [B, H, W, C] as the learner sees each game, and int8 [B, A]: its legal actions, all
            ones when the game is over.
        rewards, terminated: float32 [B] and bool [B], for the learner, of the last call of `act`.
        illegal: bool [3, B], whether in the last call the learner's action was illegal, or the end that it told was
            one of the opponent's, or one of the opponent's at the opening of a new game was.
        final: float32 [B, H, W, C], the last observation of lanes that ended and began again in the last call of `act`.
    """

    def __init__(self, game: Game, num_games: int, opponent: Any, seat: Any) -> None:
        """Raises ValueError for an opponent or a seat that is not accepted; the message lists what is."""
        if isinstance(seat, bool) or not isinstance(seat, (int, str, np.integer)) or seat not in SEATINGS:
            raise ValueError(f"seat={seat!r} is not accepted: seat must be {SEAT_ACCEPTED}")
        self.game = game
        self.num_games = num_games
        self._seating = SEATINGS[seat]
        self.set_opponent(opponent)
        B = num_games
        self._first = game.initial_state().row
        self.states: NDArray[np.int32] = np.tile(self._first, (B, 1))
        self._streams: NDArray[np.int64] | None = None
        self.seats: NDArray[np.int64] = 1 - np.arange(B) % 2  # turned round by the first game when they alternate
        self._opening = np.ones(B, np.bool_)
        self._forfeited = np.zeros(B, np.bool_)  # lost by the opponent's illegal opening, which is still to be told
        self.over: NDArray[np.bool_] = np.zeros(B, np.bool_)
        self._todo = np.zeros(B, np.int8)
        self._actions = np.zeros(B, np.int64)
        self._found = np.empty(game.num_actions, np.int32)
        self._waiting = np.empty(B, np.int64)
        self.final: NDArray[np.float32] = np.empty((1, *game.observation_shape), np.float32)
        self.new_arrays()

    def __getstate__(self) -> dict[str, Any]:
        # A player with a name is made again: its search trees and networks need not be stored.
        return {**self.__dict__, "_player": None} if isinstance(self._opponent, str) else self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._player is None:
            self.set_opponent(self._opponent)

    def set_opponent(self, opponent: Any) -> None:
        """Seats another opponent, from its next action on; ValueError when `opponent` is no player."""
        self._player: Player | None = make_player(opponent, self.game)
        self._opponent = opponent

    def new_arrays(self) -> None:
        """Sets new arrays for all that the learner is told, so that the ones that it holds stay as they are."""
        B = self.num_games
        self.observations: NDArray[np.float32] = np.empty((B, *self.game.observation_shape), np.float32)
        self.masks: NDArray[np.int8] = np.empty((B, self.game.num_actions), np.int8)
        self.rewards: NDArray[np.float32] = np.zeros(B, np.float32)
        self.terminated: NDArray[np.bool_] = np.zeros(B, np.bool_)
        self.illegal: NDArray[np.bool_] = np.zeros((3, B), np.bool_)

    def seed(self, seeds: Sequence[int | None], otherwise: Callable[[], int]) -> None:
        """Fixes what is random in each lane with a seed; a seed's parity is the next seat of lanes that alternate.

        Lanes without a seed go on as they were; if they have never been seeded, they are by `otherwise()`.
        """
        if self._streams is None:
            # Drawn only where it is needed: a seed for all fixes the generator too.
            needed = any(seed is None for seed in seeds)
            self._streams = new_streams(otherwise() if needed else 0, self.num_games)
        for lane, seed in enumerate(seeds):
            if seed is not None:
                self._streams[lane] = new_streams(int(seed), 1)[0]
                self.seats[lane] = 1 - seed % 2

    def begin(self, lanes: NDArray[np.bool_] | None = None, watch: Callable[[int], None] | None = None) -> None:
        """Starts new games, in all lanes or where `lanes` holds, and lets the opponent open where it is to."""
        self._todo[:] = BEGIN
        if lanes is not None:
            self._todo[~lanes] = REST
        self.over[self._todo == BEGIN] = False
        self._play(False, watch)

    def act(
        self, actions: NDArray[np.int64], autoreset: AutoresetMode, watch: Callable[[int], None] | None = None
    ) -> None:
        """Plays the learner's actions, int64 [B], and the opponent's until it is the learner's turn again.

        `watch`, for a single lane, is called with each action after it has been played.
        """
        self._actions[:] = actions
        self._todo[:] = ACT
        if autoreset is not AutoresetMode.SAME_STEP:
            self._todo[self.over] = BEGIN if autoreset is AutoresetMode.NEXT_STEP else REST
        self._play(autoreset is AutoresetMode.SAME_STEP, watch)
        self.over = self.terminated.copy() if autoreset is not AutoresetMode.SAME_STEP else self.over

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Returns copies of all arrays that the games go on from, by name; the opponent is not among them.

        Raises:
            RuntimeError: no game has begun.
        """
        if self._streams is None:
            raise RuntimeError("snapshot() before the first game: call reset() first")
        return {name: array.copy() for name, array in self._kept(self._streams).items()}

    def _kept(self, streams: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        return {
            "states": self.states,
            "streams": streams,
            "seats": self.seats,
            "over": self.over,
            "forfeited": self._forfeited,
        }

    def restore(self, snapshot: Mapping[str, NDArray[Any]]) -> None:
        """Goes on from what `snapshot` returned, for as many games of the same kind; shows them in new arrays.

        Raises:
            ValueError: it is of other games; nothing has been changed.
        """
        streams = new_streams(0, self.num_games) if self._streams is None else self._streams
        shapes = {name: (array.shape, array.dtype) for name, array in self._kept(streams).items()}
        snapshot = {"forfeited": np.zeros(self.num_games, np.bool_), **snapshot}  # those of the first days lack it
        given = {name: (array.shape, array.dtype) for name, array in snapshot.items()}
        if shapes != given:
            raise ValueError(f"these are no {self.num_games} games of {self.game!r}: expected {shapes}, got {given}")
        self.states[:], streams[:] = snapshot["states"], snapshot["streams"]
        self._streams = streams
        self.seats[:] = snapshot["seats"]
        self.over, self._forfeited = snapshot["over"].copy(), snapshot["forfeited"].copy()
        self.new_arrays()
        self._todo[:] = REST
        self._play(False, None)

    def _play(self, same_step: bool, watch: Callable[[int], None] | None) -> None:
        player, streams, todo = self._player, self._streams, self._todo
        assert player is not None
        assert streams is not None
        self.rewards[:] = 0.0
        np.equal(todo, REST, out=self.terminated)
        self.terminated &= self.over
        self.illegal[:] = False
        told = self._forfeited & (todo == ACT)
        self._forfeited &= todo == REST
        if same_step and len(self.final) != self.num_games:
            self.final = np.empty_like(self.observations)
        inside = int(type(player) is RandomPlayer and watch is None)
        while True:
            count = seat_lanes(
                self.game.rules,
                self._first,
                self.states,
                streams,
                self.seats,
                self._opening,
                todo,
                self._actions,
                self._seating,
                int(same_step),
                inside,
                self._found,
                self._waiting,
                self.rewards,
                self.terminated,
                self.illegal,
                self.final,
                self.masks,
                self.observations,
            )
            if watch is not None and todo[0] in (ACT, ANSWER):
                watch(int(self._actions[0]))
            if count == 0:
                self._forfeited |= self.illegal[IN_OPENING]
                self.illegal[BY_OPPONENT] |= told
                return
            lanes = self._waiting[:count]
            asked, drawn = self.states[lanes], streams[lanes]
            answers = np.asarray(player.act(asked, drawn))
            if answers.shape != (count,) or answers.dtype.kind not in "iu":
                raise PlayerError(f"{player.name} answered {answers!r}: it was asked for {count} actions, integers")
            streams[lanes] = drawn
            self._actions[lanes] = answers
            todo[:] = REST
            todo[lanes] = ANSWER


def load_seated(game: str, parameters: Mapping[str, Any], other: Sequence[str]) -> Game:
    """Returns a game by name and parameters.

    Raises:
        ValueError: an unknown game, a value out of range, or an argument that the game has not: the message lists those
            of the game, of the learner's seat, and `other`.
    """
    known = {parameter.name: parameter for parameter in rules_class(game).parameters}
    for name in parameters:
        if name not in known:
            accepted = [f"{p.name}: {p.accepted} (default {p.default!r})" for p in known.values()]
            accepted += [f"opponent: {OPPONENT_ACCEPTED}", f"seat: {SEAT_ACCEPTED}", *other]
            raise ValueError(f"{game} has no argument {name!r}; it accepts {'; '.join(accepted)}")
    return load_game(game, **parameters)
