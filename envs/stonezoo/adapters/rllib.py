"""The games as RLlib's new stack takes them: flat float32 observations with their mask, under the keys it looks for.

    from ray.tune.registry import register_env
    from stonezoo.adapters.rllib import make_rllib_env

    register_env("stonezoo", make_rllib_env)
    config.environment("stonezoo", env_config={"game": "rive", "board_size": 3})

`ActionMaskingTorchRLModule`, among RLlib's examples, reads them. RLlib keeps an episode for each agent, so that turns
of several actions and the loser's reward come out right by themselves.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

from stonezoo.api.checked import make_env

OBSERVATIONS, MASK = "observations", "action_mask"  # the keys of RLlib's masking modules


class FlatForRLlib(BaseWrapper[str, Any, Any]):
    """Observations become dicts of `"observations"`, float32 [H * W * C], and `"action_mask"`, float32 [A].

    For environments whose observations are dicts of `"observation"` and `"action_mask"`.
    """

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self._spaces = {agent: _flat(env.observation_space(agent)) for agent in env.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self._spaces[agent]

    def observe(self, agent: str) -> dict[str, Any]:
        seen: Any = self.env.observe(agent)
        return {OBSERVATIONS: seen["observation"].ravel(), MASK: seen[MASK].astype(np.float32)}


def _flat(space: Any) -> spaces.Dict:
    size = int(np.prod(space["observation"].shape))
    return spaces.Dict(
        {
            OBSERVATIONS: spaces.Box(0.0, 1.0, (size,), np.float32),
            MASK: spaces.Box(0.0, 1.0, space[MASK].shape, np.float32),
        }
    )


def make_rllib_env(config: Mapping[str, Any]) -> PettingZooEnv:
    """Returns the environment of an `env_config`: `"game"` and the game's parameters, such as `"board_size"`.

    Raises:
        ValueError: no game, an unknown one, an unknown parameter or a value out of range; the message lists what is
            accepted.
    """
    parameters = dict(config)  # RLlib's own class counts workers beside the user's keys
    if "game" not in parameters:
        raise ValueError(f'env_config={parameters} names no game: give one, such as {{"game": "rive"}}')
    return PettingZooEnv(FlatForRLlib(make_env(parameters.pop("game"), **parameters)))
