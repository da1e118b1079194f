"""Anybody's function as a player."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.rng import Stream, uniform
from stonezoo.kernels.batch import mask_batch, observe_batch
from stonezoo.players.player import PlayerError
from stonezoo.state import Game

Policy: TypeAlias = Callable[[NDArray[np.float32], NDArray[np.int8]], Any]
"""(observation float32 [H, W, C], legal_action_mask int8 [A]) -> an action number, or probabilities [A]."""


class FunctionPlayer:
    """Plays what a function answers to an observation, seen by the player to act, and a mask of the legal actions.

    The answer is an action number, or one probability (or weight) for every action: of those the legal ones are drawn
    in proportion, and the rest is dropped. An action that is not legal is handed on as it is: judging it is the
    business of whoever asked.
    """

    def __init__(self, game: Game, function: Policy, name: str) -> None:
        """`name` is the player's text."""
        self.name = name
        self._game = game
        self.function = function

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `Player.act`.

        Raises:
            PlayerError: an answer is neither an action number nor a weight for every action.
        """
        rules, num_actions = self._game.rules, self._game.num_actions
        observations = np.empty((len(states), *self._game.observation_shape), np.float32)
        masks = np.empty((len(states), num_actions), np.int8)
        observe_batch(rules, states, observations)
        mask_batch(rules, states, np.empty(num_actions, np.int32), masks)
        actions = np.empty(len(states), np.int32)
        for lane, (observation, mask) in enumerate(zip(observations, masks, strict=True)):
            legal = np.flatnonzero(mask)  # before the function may write into the mask
            actions[lane] = self._read(self.function(observation, mask), legal, streams[lane])
        return actions

    def _read(self, answer: Any, legal: NDArray[np.intp], stream: Stream) -> int:
        values = as_array(answer)
        if values.size == 1 and np.issubdtype(values.dtype, np.integer):
            action = int(values.reshape(-1)[0])
            # What no array of int32 holds is as illegal as -1 is.
            return action if 0 <= action < self._game.num_actions else -1
        if values.shape != (self._game.num_actions,) or values.dtype.kind not in "fiu":
            raise PlayerError(
                f"{self.name} answered {answer!r}: a player returns an action number (an integer) or "
                f"{self._game.num_actions} probabilities, one for every action"
            )
        weights = values.astype(np.float64)[legal]
        if not np.isfinite(weights).all() or (weights < 0).any() or weights.sum() <= 0:
            raise PlayerError(
                f"{self.name} answered probabilities of which those of the legal actions are {weights}: they must be "
                "finite and not negative, and one of them must be positive"
            )
        edges = np.cumsum(weights)
        place = np.searchsorted(edges, uniform(stream) * edges[-1], side="right")
        return int(legal[min(int(place), len(legal) - 1)])


def as_array(answer: Any) -> NDArray[Any]:
    """A function's answer as an array; one of no kind that is accepted where it makes none, as of ragged lists."""
    try:
        return np.asarray(answer)
    except ValueError:
        return np.asarray(None)


def import_here(module_name: str) -> ModuleType:
    """Returns a module, found as Python finds it or in the current folder.

    Raises:
        ImportError: there is none, or it cannot be imported.
    """
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(module_name)
    finally:
        if here in sys.path:
            sys.path.remove(here)


def import_function(path: str) -> Policy:
    """Returns the function of `module:function`, found as Python finds it or in the current folder.

    Raises:
        PlayerError: there is no such module or function; the message says which of the two.
    """
    module_name, _, function_name = path.partition(":")
    if not module_name or not function_name:
        raise PlayerError(f"py:{path}: it must be py:module:function, such as py:my_agents:careful")
    try:
        module = import_here(module_name)
    except ImportError as error:
        raise PlayerError(f"py:{path}: the module {module_name!r} cannot be imported: {error}") from error
    except Exception as error:  # of the module's own code, which is not ours: also what Python cannot read
        raise PlayerError(
            f"py:{path}: the module {module_name!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
        raise PlayerError(f"py:{path}: {module_name!r} has no function {function_name!r}, only {', '.join(names)}")
    return function  # type: ignore[no-any-return]
