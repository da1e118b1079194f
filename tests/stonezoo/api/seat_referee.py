"""One learner's seat by the book: plain Python over `State`, one action at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.rng import new_streams, randint
from stonezoo.players import Player, choose, make_player
from stonezoo.state import Game, State

IDS = {"rive": "stonezoo/Rive-v0", "resolve": "stonezoo/Resolve-v0", "dara": "stonezoo/Dara-v0"}


class Told(NamedTuple):
    """What the learner is told after a step or a reset."""

    observation: NDArray[np.float32]
    mask: NDArray[np.int8]
    reward: float
    terminated: bool
    seat: int


class SeatReferee:
    """Games with a learner's seat that is 0, 1 or drawn; all actions of both sides are legal."""

    def __init__(self, game: Game, opponent: Any, seat: Any, seed: int) -> None:
        self._game = game
        self._opponent: Player = make_player(opponent, game)
        self._seat = seat
        self._stream = new_streams(seed, 1)[0]
        self.state: State = game.initial_state()
        self.learner = 0

    def reset(self) -> Told:
        self.state = self._game.initial_state()
        self.learner = int(randint(self._stream, 2)) if self._seat == "random" else self._seat
        return self._tell()

    def step(self, action: int) -> Told:
        assert self.state.to_play == self.learner
        self.state.step(action)
        return self._tell()

    def _tell(self) -> Told:
        state = self.state
        while not state.terminated and state.to_play != self.learner:
            state.step(choose(self._opponent, state, self._stream))
        mask = np.ones(self._game.num_actions, np.int8) if state.terminated else state.legal_action_mask
        reward = state.returns[self.learner] if state.terminated else 0.0
        return Told(state.observation(self.learner), mask, reward, state.terminated, self.learner)


def lowest(observation: NDArray[np.float32], mask: NDArray[np.int8]) -> int:
    """An opponent: the legal action of the lowest number."""
    return int(mask.argmax())


def never(observation: NDArray[np.float32], mask: NDArray[np.int8]) -> int:
    """An opponent whose every action is illegal."""
    return -7


def weights(observation: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.float64]:
    """An opponent that likes high numbers, and weighs illegal actions too."""
    return np.arange(1.0, len(mask) + 1.0)


class Erratic:
    """An opponent with a state of its own, and now and then an illegal answer."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, observation: NDArray[np.float32], mask: NDArray[np.int8]) -> int:
        self.asked += 1
        return 0 if self.asked % 11 == 0 else int(np.flatnonzero(mask)[self.asked % int(mask.sum())])
