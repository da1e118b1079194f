"""Many games of one kind side by side, both colours played by the caller."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.kernels.vector import step_lanes
from stonezoo.state import Game, State


class VectorGame:
    """`num_envs` games of one kind that are stepped together; lane b of every array is game b.

    Each step is one compiled call for all lanes: it plays an action for whoever is to act in each lane, starts finished
    lanes again, and writes what the next to act see and may do. An illegal action loses its lane's game for who chose
    it and is flagged in `illegal`.

    All arrays may be wrapped by `torch.from_numpy` without a copy. With `copy=True` every step and reset writes new
    arrays, and what the caller holds stays as it is. With `copy=False` the same arrays are written again, so that they,
    and tensors made of them once, always show the present: copy what must outlast the next step.

    Attributes:
        game: the game played.
        num_envs: B, the number of lanes.
        observations: float32 [B, H, W, C] in [0, 1], seen by the player to act.
        legal_action_mask: int8 [B, A]: 1 for each legal action; all ones in a lane that is over, so that a masked
            distribution stays defined.
        to_play: int64 [B], who is to act: 0 Black, 1 White.
        rewards: float32 [B, 2], Black's and White's for the last step: 1, -1, or 0 for both.
        terminated: bool [B], whether the last step ended the lane's game (without autoreset: whether it is over).
        illegal: bool [B], whether the last action was illegal.
        states: int32 [B, S], the rows of the states, as `stonezoo.players` take them; always the same array.
    """

    def __init__(self, game: Game, num_envs: int, *, autoreset: bool = True, copy: bool = True) -> None:
        """Starts a game in every lane.

        With `autoreset`, a lane whose game a step ends starts again in that step: `rewards` and `terminated` tell of
        the end, all else of the new game. Without, it stays as it is, ignores actions, and earns nothing until `reset`.

        Raises:
            TypeError: `game` is no `Game`.
            ValueError: `num_envs` is not positive.
        """
        if not isinstance(game, Game):
            raise TypeError(f"game={game!r} is no Game: make one with stonezoo.load_game")
        self.game = game
        self.num_envs = check_num_envs(num_envs)
        self._autoreset = int(autoreset)
        self._copy = copy
        start = game.initial_state()
        self._first = start.row
        self._first_look = start.look(start.to_play)
        self._found = np.empty(game.num_actions, np.int32)
        self.states: NDArray[np.int32] = np.tile(self._first, (num_envs, 1))
        self._new_arrays()
        self.reset()

    def reset(self, lanes: NDArray[np.bool_] | None = None) -> None:
        """Starts a new game in the lanes where `lanes` (bool [B]) holds, or in all; the others stay as they are.

        Raises:
            ValueError: `lanes` has another shape or dtype.
        """
        chosen: Any = slice(None)
        if lanes is not None:
            chosen = np.asarray(lanes)
            if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
                raise ValueError(f"lanes must be bool [{self.num_envs}], not {chosen.dtype} {list(chosen.shape)}")
        if self._copy:
            before = self._new_arrays()
            if lanes is not None:
                for new, old in zip(self._arrays(), before, strict=True):
                    new[:] = old
        self.states[chosen] = self._first
        self.observations[chosen], self.legal_action_mask[chosen] = self._first_look
        self.to_play[chosen] = self.states[chosen, 0]
        self.rewards[chosen] = 0.0
        self.terminated[chosen] = self.illegal[chosen] = False

    def step(self, actions: Any) -> None:
        """Plays actions, integers [B], one a lane.

        Raises:
            ValueError: `actions` has another shape, or holds no integers.
        """
        actions = read_actions(actions, self.num_envs)
        if self._copy:
            self._new_arrays()
        step_lanes(
            self.game.rules,
            self._first,
            self.states,
            actions,
            self._autoreset,
            self._found,
            self.rewards,
            self.terminated,
            self.illegal,
            self.to_play,
            self.legal_action_mask,
            self.observations,
        )

    def state(self, lane: int) -> State:
        """Returns a lane's state, with empty history: for drawing and analysis."""
        return self.game.from_row(self.states[lane])

    def _arrays(self) -> list[NDArray[Any]]:
        return [
            self.observations,
            self.legal_action_mask,
            self.to_play,
            self.rewards,
            self.terminated,
            self.illegal,
        ]

    def _new_arrays(self) -> list[NDArray[Any]]:
        """Sets new arrays, and returns the old ones."""
        before = self._arrays() if hasattr(self, "illegal") else []
        B = self.num_envs
        self.observations: NDArray[np.float32] = np.empty((B, *self.game.observation_shape), np.float32)
        self.legal_action_mask: NDArray[np.int8] = np.empty((B, self.game.num_actions), np.int8)
        self.to_play: NDArray[np.int64] = np.empty(B, np.int64)
        self.rewards: NDArray[np.float32] = np.empty((B, 2), np.float32)
        self.terminated: NDArray[np.bool_] = np.empty(B, np.bool_)
        self.illegal: NDArray[np.bool_] = np.empty(B, np.bool_)
        return before

    def __repr__(self) -> str:
        return f"VectorGame({self.game!r}, {self.num_envs})"


def check_num_envs(num_envs: Any) -> int:
    """Returns a number of lanes; ValueError when it is not a positive integer."""
    if not isinstance(num_envs, (int, np.integer)) or isinstance(num_envs, bool) or num_envs < 1:
        raise ValueError(f"num_envs={num_envs!r} is not accepted: num_envs must be a positive integer")
    return int(num_envs)


def read_actions(actions: Any, num_envs: int) -> NDArray[np.int64]:
    """Returns actions as int64 [num_envs]; ValueError for another shape or what is no integer."""
    try:
        array = np.asarray(actions)
    except ValueError:  # of ragged lists
        raise ValueError(f"actions must be integers [{num_envs}], one a lane, not {actions!r}") from None
    if array.shape != (num_envs,) or array.dtype.kind not in "iu":
        raise ValueError(f"actions must be integers [{num_envs}], one a lane, not {array.dtype} {list(array.shape)}")
    return np.ascontiguousarray(array, np.int64)
