"""What a player is: actions for a batch of states of one game."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.core.rng import Stream, check_seed, new_streams
from stonezoo.state import State


class PlayerError(ValueError):
    """A player that cannot be made or whose answer cannot be understood; the message says what is accepted."""


class Player(Protocol):
    """Plays one game, either colour, any number of games side by side.

    `name` is the text that makes the player, such as `uct:100`. A player that has values may also have
    `assess(states, streams)`, which returns the actions of `act` and float [B] in [-1, 1] for the player to act.
    """

    name: str

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns an action for each state: int32 [B].

        `states` is int32 [B, S], none of them over, and is not kept. `streams` is int64 [B, 2], one random stream a
        game, advanced in place by what the player draws: an action depends on its own state and stream alone, whatever
        else is in the batch.
        """
        ...


def read_actions(name: str, answer: Any, count: int) -> NDArray[np.int64]:
    """Returns what the player `name` answered to `count` states as int64 [B]; whether it is legal is not looked at.

    Raises:
        PlayerError: the answer is not one integer for each state.
    """
    try:
        actions = np.asarray(answer)
    except ValueError:  # of ragged lists
        raise PlayerError(f"{name} answered {answer!r} to {count} states; it must be one integer for each") from None
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise PlayerError(
            f"{name} answered {actions.shape} actions of {actions.dtype} to {count} states; it must be one integer for "
            "each"
        )
    return actions.astype(np.int64)


def choose(player: Player, state: State, stream: Stream | int | Any) -> int:
    """Returns the action of `player`, who must play `state.game`, in one state.

    `stream` is a random stream int64 [2], advanced in place, or the seed of a fresh one.

    Raises:
        TypeError: `stream` is neither.
        ValueError: the game is over, or the seed is negative.
    """
    row = state.row[None]
    if row[0, OUTCOME] != ONGOING:
        raise ValueError(f"the game is over, {player.name} has nothing to choose: {state.to_text()}")
    if isinstance(stream, (int, np.integer)):
        streams = new_streams(check_seed(stream), 1)
    elif isinstance(stream, np.ndarray) and stream.shape == (2,) and stream.dtype == np.int64:
        streams = stream[None]
    else:
        raise TypeError(f"stream={stream!r} is neither a seed nor a random stream, an array int64 [2]")
    return int(player.act(row, streams)[0])


def check_whole(name: str, value: Any, what: str, highest: int) -> int:
    """Returns how many of `what` a player is to take; PlayerError when it is no integer from 1 to `highest`."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 1 <= value <= highest:
        raise PlayerError(f"{name}:{value}: {what} are from 1 to {highest:,}")
    return int(value)
