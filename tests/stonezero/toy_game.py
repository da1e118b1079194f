"""A game whose every value is known: players choose `turn_length` times in a row, and at last a hash says who wins."""

from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK_WON, DRAWN, HEADER, ONGOING, OUTCOME, TO_PLAY, WHITE_WON, game_rules
from stonezoo.core.jit import jit

CODE, PLY = HEADER, HEADER + 1  # the choices so far as one number in base `width`, and their count
PRIME = 2147483647


@jit
def _hash(salt: int, code: int, ply: int, kind: int) -> int:
    h = (code * 7919 + ply * 104729 + salt * 1299709 + kind * 15485863) % PRIME
    h = (h * 48271 + 11) % PRIME
    return (h * 48271 + code) % PRIME


class _Fields(NamedTuple):
    salt: int
    width: int  # actions
    turn_length: int  # choices a turn
    num_turns: int
    full: int  # 1: every action is always legal; 0: a third of them are not


@game_rules
class ToyRules(_Fields):
    __slots__ = ()

    name: ClassVar[str] = "toy"

    @property
    def num_actions(self) -> int:
        return self.width

    @property
    def state_size(self) -> int:
        return HEADER + 2

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        return 1, 1, 3

    @jit
    def reset(self, state: Any) -> None:
        for i in range(state.shape[0]):
            state[i] = 0

    @jit
    def is_legal(self, state: Any, action: int) -> bool:
        if state[OUTCOME] != ONGOING or action < 0 or action >= self.width:
            return False
        code, ply = int(state[CODE]), int(state[PLY])
        if self.full or action == _hash(self.salt, code, ply, 1) % self.width:
            return True
        return _hash(self.salt, code * self.width + action, ply, 2) % 3 != 0

    @jit
    def legal_actions(self, state: Any, out: Any) -> int:
        count = 0
        for action in range(self.width):
            if self.is_legal(state, action):
                out[count] = action
                count += 1
        return count

    @jit
    def step(self, state: Any, action: int) -> None:
        state[CODE] = state[CODE] * self.width + action
        state[PLY] += 1
        if state[PLY] % self.turn_length == 0:
            state[TO_PLAY] = 1 - state[TO_PLAY]
        if state[PLY] == self.turn_length * self.num_turns:
            h = _hash(self.salt, int(state[CODE]), int(state[PLY]), 3) % 8
            if h < 3:
                state[OUTCOME] = BLACK_WON
            elif h < 6:
                state[OUTCOME] = WHITE_WON
            else:
                state[OUTCOME] = DRAWN

    @jit
    def observe(self, state: Any, player: int, out: Any) -> None:
        out[0, 0, 0] = state[CODE]
        out[0, 0, 1] = state[PLY]
        out[0, 0, 2] = player


def toy_game(salt: int, *, width: int = 3, turn_length: int = 3, num_turns: int = 3, full: bool = False) -> Any:
    """What a search needs of a game."""
    rules = ToyRules(salt, width, turn_length, num_turns, int(full))
    return SimpleNamespace(rules=rules, num_actions=rules.num_actions, observation_shape=rules.observation_shape)


def start(game: Any, actions: tuple[int, ...] = ()) -> NDArray[np.int32]:
    """The state [S] after some actions."""
    state = np.zeros(game.rules.state_size, np.int32)
    game.rules.reset(state)
    for action in actions:
        assert game.rules.is_legal(state, action)
        game.rules.step(state, action)
    return state


def legal(game: Any, state: NDArray[np.int32]) -> list[int]:
    out = np.zeros(game.num_actions, np.int32)
    return out[: game.rules.legal_actions(state, out)].tolist()


def after(game: Any, state: NDArray[np.int32], action: int) -> NDArray[np.int32]:
    following = state.copy()
    game.rules.step(following, action)
    return following


def black_value(state: NDArray[np.int32]) -> float:
    """The outcome for player 0 of a finished state."""
    return {BLACK_WON: 1.0, WHITE_WON: -1.0, DRAWN: 0.0}[int(state[OUTCOME])]


def minimax(game: Any, state: NDArray[np.int32]) -> float:
    """The exact value for player 0."""
    if state[OUTCOME] != ONGOING:
        return black_value(state)
    values = [minimax(game, after(game, state, action)) for action in legal(game, state)]
    return max(values) if state[TO_PLAY] == 0 else min(values)


class ToyNetwork:
    """A made-up network: what it says of a position depends on nothing but that row of the batch."""

    def __init__(self, num_actions: int, seed: int = 0) -> None:
        self.num_actions = num_actions
        self.seed = seed
        self.version = seed
        self.calls = 0

    def __call__(self, observations: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        self.calls += 1
        rows = observations.reshape(len(observations), -1).astype(np.float64)  # [R, H W C]
        x = (rows * np.sin(np.arange(rows.shape[1]) + 1.0 + self.seed)).sum(1, keepdims=True)  # [R, 1]
        logits = 2.0 * np.sin(7.0 * x + 3.0 * np.arange(self.num_actions))
        return logits.astype(np.float32), np.sin(5.0 * x[:, 0]).astype(np.float32)
