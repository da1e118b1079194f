"""A wrapper that moves the action mask from the observation into the infos, where SuperSuit and AgileRL look for it."""

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper

MASK = "action_mask"


class MaskInInfo(BaseWrapper[str, NDArray[Any], Any]):
    """Observations become the plain array, and `infos[agent]["action_mask"]` holds the mask of every agent.

    For environments whose observations are dicts of `"observation"` and `"action_mask"`. From `reset` on each agent's
    info has the one key, int8 [A], whether it is to act or not.
    """

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        """Raises ValueError when the observations of `env` are no such dicts."""
        super().__init__(env)
        for agent in env.possible_agents:
            space = env.observation_space(agent)
            if not isinstance(space, spaces.Dict) or not {"observation", MASK} <= set(space):
                raise ValueError(f"MaskInInfo needs observations with the keys 'observation' and {MASK!r}, not {space}")

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        space: Any = self.env.observation_space(agent)
        return space["observation"]  # type: ignore[no-any-return]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        super().reset(seed, options)  # type: ignore[arg-type]
        self._read_masks()

    def observe(self, agent: str) -> NDArray[Any]:
        inside: Any = self.env
        return inside.observe(agent)["observation"]  # type: ignore[no-any-return]

    def step(self, action: Any) -> None:
        super().step(action)
        self._read_masks()

    def _read_masks(self) -> None:
        inside: Any = self.env
        self.infos = {agent: {**info, MASK: inside.observe(agent)[MASK]} for agent, info in inside.infos.items()}
