"""A game of taking tokens: any order of a turn's tokens leaves the same position, unless order counts."""

from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

from stonezoo.core.game import BLACK_WON, HEADER, ONGOING, OUTCOME, TO_PLAY, WHITE_WON, game_rules
from stonezoo.core.jit import jit

TAKEN, COUNT, PAST, COUNTER = HEADER, HEADER + 1, HEADER + 2, HEADER + 3
PRIME = 2147483647


class _Fields(NamedTuple):
    salt: int
    tokens: int
    turn_length: int
    num_turns: int
    counts: int  # 1: COUNTER is the number of tokens taken after a higher one; it decides the game


@game_rules
class TakingRules(_Fields):
    """A state holds the bits of the tokens taken, their count, the bits of whole turns mixed, and the counter."""

    __slots__ = ()

    name: ClassVar[str] = "taking"

    @property
    def num_actions(self) -> int:
        return self.tokens

    @property
    def state_size(self) -> int:
        return HEADER + 4

    @property
    def observation_shape(self) -> tuple[int, int, int]:
        return 1, 1, 4

    @jit
    def reset(self, state: Any) -> None:
        for i in range(state.shape[0]):
            state[i] = 0

    @jit
    def is_legal(self, state: Any, action: int) -> bool:
        return bool(0 <= action < self.tokens and state[OUTCOME] == ONGOING and not state[TAKEN] >> action & 1)

    @jit
    def legal_actions(self, state: Any, out: Any) -> int:
        count = 0
        for action in range(self.tokens):
            if self.is_legal(state, action):
                out[count] = action
                count += 1
        return count

    @jit
    def step(self, state: Any, action: int) -> None:
        if self.counts and state[TAKEN] >> (action + 1):
            state[COUNTER] += 1
        state[TAKEN] |= 1 << action
        state[COUNT] += 1
        if state[COUNT] % self.turn_length == 0:
            state[TO_PLAY] = 1 - state[TO_PLAY]
            mixed = (int(state[PAST]) * 7919 + int(state[TAKEN]) * 104729 + self.salt * 15485863) % PRIME
            state[PAST] = (mixed * 48271 + 11) % PRIME
        if state[COUNT] == self.turn_length * self.num_turns:
            word = int(state[COUNTER]) if self.counts else int(state[PAST]) // 64
            state[OUTCOME] = BLACK_WON if word % 2 == 0 else WHITE_WON

    @jit
    def observe(self, state: Any, player: int, out: Any) -> None:
        out[0, 0, 0] = state[TAKEN]
        out[0, 0, 1] = state[COUNT]
        out[0, 0, 2] = state[PAST] % 1000
        out[0, 0, 3] = state[COUNTER]


def taking_game(
    salt: int = 0, *, tokens: int = 5, turn_length: int = 3, num_turns: int = 1, counts: bool = False
) -> Any:
    """What a search needs of a game."""
    rules = TakingRules(salt, tokens, turn_length, num_turns, int(counts))
    return SimpleNamespace(rules=rules, num_actions=rules.num_actions, observation_shape=rules.observation_shape)
