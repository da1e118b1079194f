"""A made-up game whose value is known: a tree of fixed depth whose turns have several actions."""

from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import DRAWN, HEADER, ONGOING, OUTCOME, PHASE, TO_PLAY, game_rules
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, randint

PATH, PLY = HEADER, HEADER + 1  # the actions so far as digits of one number, and how many there are


class ToyPhase(IntEnum):
    ACT = 0


@game_rules
class ToyRules(NamedTuple):
    """`depth` actions, each 0 to `width` - 1; players take turns of `turn_length` actions. `seed` says who wins at each
    leaf; about a seventh of them is drawn."""

    width: int
    depth: int
    turn_length: int
    seed: int

    @jit
    def reset(self, state: NDArray[np.int32]) -> None:
        state[:] = 0

    @jit
    def step(self, state: NDArray[np.int32], action: int) -> None:
        state[PATH] = state[PATH] * self.width + action
        state[PLY] += 1
        state[TO_PLAY] = state[PLY] // self.turn_length % 2
        if state[PLY] == self.depth:
            word = (int(state[PATH]) + 1) * 48271 + self.seed * 16807 + 11
            for _ in range(4):
                word = word * word % 2147483629 + 7
            state[OUTCOME] = DRAWN if word % 7 == 0 else 1 + word // 7 % 2

    @jit
    def is_legal(self, state: NDArray[np.int32], action: int) -> bool:
        return state[OUTCOME] == ONGOING and 0 <= action < self.width

    @jit
    def legal_actions(self, state: NDArray[np.int32], out: NDArray[np.int32]) -> int:
        if state[OUTCOME] != ONGOING:
            return 0
        for action in range(self.width):
            out[action] = action
        return self.width

    @jit
    def random_action(self, state: NDArray[np.int32], stream: Stream) -> int:
        return randint(stream, self.width)

    @jit
    def observe(self, state: NDArray[np.int32], player: int, out: NDArray[np.float32]) -> None:
        out[:] = 0.0

    @property
    def num_actions(self) -> int:
        return self.width

    @property
    def state_size(self) -> int:
        return HEADER + 2


def toy_state(rules: ToyRules, actions: tuple[int, ...]) -> NDArray[np.int32]:
    """The row after the actions, in plain Python, ongoing states only."""
    row = np.zeros(rules.state_size, np.int32)
    for action in actions:
        row[PATH] = row[PATH] * rules.width + action
    row[PLY] = len(actions)
    row[TO_PLAY] = len(actions) // rules.turn_length % 2
    row[PHASE] = ToyPhase.ACT
    return row


@lru_cache(maxsize=100_000)
def exact_values(rules: ToyRules, actions: tuple[int, ...]) -> tuple[int, ...]:
    """By minimax, the value of each action for the player to act: 1, 0 or -1."""
    player = len(actions) // rules.turn_length % 2
    values = []
    for action in range(rules.width):
        after = (*actions, action)
        if len(after) == rules.depth:
            row = toy_state(rules, actions)
            ToyRules.step(rules, row, action)
            winner = {DRAWN: None}.get(int(row[OUTCOME]), int(row[OUTCOME]) - 1)
            values.append(0 if winner is None else 1 if winner == player else -1)
        else:
            best = max(exact_values(rules, after))
            values.append(best if len(after) // rules.turn_length % 2 == player else -best)
    return tuple(values)
