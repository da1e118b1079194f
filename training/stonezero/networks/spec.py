"""What a network must know of a game, and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from torch import Tensor


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

    @classmethod
    def from_game(cls, game: Any) -> NetworkSpec:
        """The shapes of a `stonezoo.Game`."""
        height, width, planes = (int(n) for n in game.observation_shape)
        policy_planes, policy_height, policy_width = (int(n) for n in game.policy_shape)
        return cls(
            observation_shape=(height, width, planes),
            policy_shape=(policy_planes, policy_height, policy_width),
            policy_index=tuple(int(index) for index in game.policy_index),
            on_board_plane=int(game.rules.on_board_plane),
            num_actions=int(game.num_actions),
        )

    def to_dict(self) -> dict[str, Any]:
        """Numbers and lists, for JSON."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> NetworkSpec:
        """The inverse of `to_dict`."""
        plain: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
        }
        return cls(**plain)
