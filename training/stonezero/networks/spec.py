"""What a network must know of a game, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from stonezoo.core.game import colour_plane


class NetworkOutput(NamedTuple):
    """What a network says of a batch of observations."""

    policy_logits: Tensor  # [B, A] raw: illegal actions have logits too
    value: Tensor  # [B] in [-1, 1], for the player who sees the observation
    owner: Tensor | None = (
        None  # [B, H, W] in [-1, 1], 1: the cell ends as that player's; where the network has the head
    )


@dataclass(frozen=True)
class NetworkSpec:
    """The shapes of one game: the weights do not depend on H, W and A, so they serve every board size."""

    observation_shape: tuple[int, int, int]  # (H, W, C)
    policy_shape: tuple[int, int, int]  # (P, H, W), the stack of action planes
    policy_index: tuple[int, ...]  # [A] flat index of each action into the stack
    on_board_plane: int  # the plane of the observation that is 1 on the board and 0 beside it
    num_actions: int
    # Of the board, each as two permutations: place k of the observation [H * W] comes to lie at places[k], and what
    # action a did is done by actions[a]. Values and policies turn with them.
    symmetries: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    colour_plane: int | None = None  # tells the colours apart; no symmetry that exchanges the players keeps it as it is

    def __post_init__(self) -> None:
        height, width, planes = self.observation_shape
        size = self.policy_shape[0] * self.policy_shape[1] * self.policy_shape[2]
        if self.policy_shape[1:] != (height, width):
            raise ValueError(f"policy_shape {self.policy_shape} is not of the observation's {height} x {width} cells")
        if len(self.policy_index) != self.num_actions:
            raise ValueError(f"policy_index has {len(self.policy_index)} entries for {self.num_actions} actions")
        if not all(0 <= index < size for index in self.policy_index):
            raise ValueError(f"policy_index leaves the {size} cells of the action planes")
        if not 0 <= self.on_board_plane < planes:
            raise ValueError(f"on_board_plane {self.on_board_plane} is not one of the {planes} planes")
        if self.colour_plane is not None and not 0 <= self.colour_plane < planes:
            raise ValueError(f"colour_plane {self.colour_plane} is not one of the {planes} planes")
        for places, actions in self.symmetries:
            if sorted(places) != list(range(height * width)) or sorted(actions) != list(range(self.num_actions)):
                raise ValueError(
                    f"symmetries must permute {height * width} places and {self.num_actions} actions, got "
                    f"{places} and {actions}"
                )

    @classmethod
    def from_game(cls, game: Any) -> NetworkSpec:
        """The shapes of a `stonezoo.Game`."""
        height, width, planes = (int(n) for n in game.observation_shape)
        policy_planes, policy_height, policy_width = (int(n) for n in game.policy_shape)
        exchange = any(symmetry.swaps_players for symmetry in game.symmetries)
        return cls(
            observation_shape=(height, width, planes),
            policy_shape=(policy_planes, policy_height, policy_width),
            policy_index=tuple(int(index) for index in game.policy_index),
            on_board_plane=int(game.rules.on_board_plane),
            num_actions=int(game.num_actions),
            symmetries=_symmetries(game),
            colour_plane=colour_plane(game.rules) if exchange else None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Numbers and lists, for JSON."""
        return {key: _lists(value) for key, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NetworkSpec:
        """The inverse of `to_dict`."""
        plain: dict[str, Any] = {key: _tuples(value) for key, value in values.items()}
        return cls(**plain)


def _symmetries(game: Any) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Those of a `stonezoo.Game`; what lies beside the board stays where it is."""
    grid = np.array(game.layout.grid, np.int64).reshape(-1)  # [H * W] the cell at each place, -1 beside the board
    cells = np.flatnonzero(grid >= 0)
    place = np.empty(len(cells), np.int64)  # [cells]
    place[grid[cells]] = cells
    found = []
    for symmetry in game.symmetries:
        places = np.arange(len(grid))
        places[place] = place[symmetry.cells]
        found.append((tuple(places.tolist()), tuple(symmetry.actions.tolist())))
    return tuple(found)


def _lists(value: Any) -> Any:
    return [_lists(item) for item in value] if isinstance(value, tuple) else value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
