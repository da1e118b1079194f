"""What a process does that holds one player: see `stonezero.arena.isolation`, which starts it.

It stands apart from the arena because a new process imports this module and no more: torch and other large libraries
come in only with players that need them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from contextlib import nullcontext
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo import Game
from stonezoo.kernels.batch import mask_batch, observe_batch
from stonezoo.players import Player, UnsolvedError, make_player
from stonezoo.players import read_actions as read_answer


def serve(connection: Connection, text: str, game: Game, trusted: bool) -> None:
    """Makes the player of a text and answers for it until nobody asks any more.

    It sends `("ready",)` or `("refused", message)`; then, to each `(states, streams)`, `("actions", int64 [B],
    streams)`, `("error", message)`, or `("unsolved", message)` when a perfect player gives up. `trusted`: whether the
    player's files may hold pickles.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the arena, which then ends its processes
    os.dup2(2, 1)  # what a player prints must not mix with the results on stdout
    sys.stdout = sys.stderr
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        with _trust(text, trusted):
            player = make_player(text, game)
        _warm_up(game)
    except (Exception, SystemExit) as error:
        message = str(error) if isinstance(error, ValueError) else f"{text}: {describe_error(error)}"
        connection.send(("refused", message))
        return
    connection.send(("ready",))
    while True:
        try:
            states, streams = connection.recv()
        except EOFError:
            return
        connection.send(_reply(player, states, streams))


def describe_error(error: BaseException) -> str:
    """An error in words, with its kind."""
    return f"{type(error).__name__}: {error}"


def read_actions(player: Player, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int64]:
    """Asks a player, who may write into `states`; PlayerError when it does not answer an integer for each state."""
    return read_answer(player.name, player.act(states, streams), len(states))


def _reply(player: Player, states: NDArray[np.int32], streams: NDArray[np.int64]) -> tuple[Any, ...]:
    try:
        return "actions", read_actions(player, states, streams), streams
    except UnsolvedError as error:
        return "unsolved", str(error)
    except (Exception, SystemExit) as error:
        return "error", describe_error(error)


def _trust(text: str, trusted: bool) -> Any:
    """A context in which the player is made; makes the players of this package known, too."""
    if text.startswith("py:"):
        return nullcontext()  # needs none of them, and starts faster without
    from stonezero.players import trust_pickles

    return trust_pickles(trusted)


def _warm_up(game: Game) -> None:
    """Loads (or compiles) what shows a player its states, which should not count as its time."""
    states = game.initial_state().row[None].copy()
    observe_batch(game.rules, states, np.empty((1, *game.observation_shape), np.float32))
    mask_batch(game.rules, states, np.empty(game.num_actions, np.int32), np.empty((1, game.num_actions), np.int8))


def _end_with_parent() -> None:
    """Ends this process when the arena's is gone, however it went and whatever the player is doing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
