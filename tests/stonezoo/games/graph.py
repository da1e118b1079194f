"""Every state that can be reached from a game's start, found through the engine's own rows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import OUTCOME
from stonezoo.kernels.batch import mask_batch, step_batch
from stonezoo.state import Game


class Graph(NamedTuple):
    """All reachable states; state 0 is the initial one, and a parent stands before its children.

    rows int32 [N, S]; mask int8 [N, A]; children int64 [N, A], -1 where the action is illegal; parent int64 [N] and
    action int64 [N]: how the state was first reached, -1 for the initial one.
    """

    rows: NDArray[np.int32]
    mask: NDArray[np.int8]
    children: NDArray[np.int64]
    parent: NDArray[np.int64]
    action: NDArray[np.int64]

    def path(self, node: int) -> list[int]:
        """The actions that lead from the initial state to `node`."""
        actions = []
        while self.parent[node] >= 0:
            actions.append(int(self.action[node]))
            node = int(self.parent[node])
        return actions[::-1]


def masks(game: Game, rows: NDArray[np.int32]) -> NDArray[np.int8]:
    """Legal action masks [B, A] of rows [B, S]."""
    mask = np.zeros((len(rows), game.num_actions), np.int8)
    mask_batch(game.rules, rows, np.zeros(game.num_actions, np.int32), mask)
    return mask


def after(game: Game, rows: NDArray[np.int32], actions: NDArray[np.int64]) -> NDArray[np.int32]:
    """Rows [B, S] after one action each [B]."""
    found = np.ascontiguousarray(rows)
    found = found.copy() if found is rows else found
    step_batch(game.rules, found, actions.astype(np.int32))
    return found


def reachable(game: Game) -> Graph:
    """Enumerates the states breadth first."""
    layers = [game.initial_state().row[None]]
    number = {layers[0].tobytes(): 0}
    mask_layers, child_layers = [], []
    parent, action = [-1], [-1]
    first = 0
    while len(layers[-1]):
        layer = layers[-1]
        mask = masks(game, layer)
        children = np.full(mask.shape, -1, np.int64)
        new: list[NDArray[np.int32]] = []
        nodes, actions = np.nonzero(mask)
        for node, act, row in zip(nodes, actions, after(game, layer[nodes], actions), strict=True):
            key = row.tobytes()
            if key not in number:
                number[key] = len(number)
                new.append(row)
                parent.append(first + int(node))
                action.append(int(act))
            children[node, act] = number[key]
        mask_layers.append(mask)
        child_layers.append(children)
        first += len(layer)
        layers.append(np.array(new, np.int32).reshape(len(new), game.rules.state_size))
    rows = np.ascontiguousarray(np.concatenate(layers))
    return Graph(rows, np.concatenate(mask_layers), np.concatenate(child_layers), np.array(parent), np.array(action))


def outcomes(graph: Graph) -> NDArray[np.int32]:
    """ONGOING, BLACK_WON, WHITE_WON or DRAWN of each state."""
    return graph.rows[:, OUTCOME]
