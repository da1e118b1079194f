"""PettingZoo's usual three wrappers in one: the same answers to right and to wrong use, at a fraction of the cost."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import OrderEnforcingWrapper

from stonezoo.api.aec import GameEnv, Observation
from stonezoo.state import IllegalActionError

ILLEGAL_REWARD = -1.0


class _Live:
    """An attribute of the environment inside, read through.

    An assignment on the wrapper hides it, as with PettingZoo's wrappers. Before `reset` there is no `_live`, and the
    AttributeError makes Python ask `OrderEnforcingWrapper.__getattr__`, which says what is wrong.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, env: Any, owner: type | None = None) -> Any:
        return self if env is None else getattr(env._live, self._name)


class CheckedEnv(OrderEnforcingWrapper[str, Observation, Any]):
    """A `GameEnv` under `TerminateIllegalWrapper(-1)`, `AssertOutOfBoundsWrapper` and `OrderEnforcingWrapper`.

    * Access before `reset`, `step` after the end, and `agent_iter` without `step` are answered as by
      `OrderEnforcingWrapper`, with its errors and warnings.
    * An action outside the action space is an AssertionError. `True` and `False` are outside: PettingZoo takes them.
    * An illegal action ends the game for both: terminated and truncated, reward -1 for who chose it, 0 for the other.
      Legal is what the mask last observed by the agent to act says, until the next step.
    """

    agents: Any = _Live()
    agent_selection: Any = _Live()
    rewards: Any = _Live()
    terminations: Any = _Live()
    truncations: Any = _Live()
    infos: Any = _Live()
    _cumulative_rewards: Any = _Live()

    def __init__(self, env: GameEnv) -> None:
        super().__init__(env)
        self.env: GameEnv
        self._seen: Observation | None = None  # the last observation of the agent to act, since the last step

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        self._has_reset = self._has_updated = True
        self._seen = None
        self._live = self.env
        self.env.reset(seed=seed, options=options)

    def observe(self, agent: str) -> Observation:
        if not self._has_reset:
            EnvLogger.error_observe_before_reset()
        env = self.env
        observation = env.observe(agent)
        if agent == env.agent_selection:
            self._seen = observation
        return observation

    def step(self, action: Any) -> None:
        if not self._has_reset:
            EnvLogger.error_step_before_reset()
        self._has_updated = True
        env = self.env
        if not env.agents:
            EnvLogger.warn_step_after_terminated_truncated()
            return
        agent = env.agent_selection
        over = env.terminations[agent] or env.truncations[agent]
        kind = type(action)
        if kind is int or kind is np.int64:
            inside = 0 <= action < env.num_actions
        else:
            inside = (action is None and over) or (kind is not bool and env.action_space(agent).contains(action))
        if not inside:
            raise AssertionError("action is not in action space")
        seen, self._seen = self._seen, None
        if over or seen is None:
            # What has not been observed is judged by the rules alone.
            try:
                env.step(action)
            except IllegalActionError:
                self._end_illegally(agent)
        elif seen["action_mask"][action]:
            env.step(action)
        else:
            self._end_illegally(agent)

    def _end_illegally(self, agent: str) -> None:
        env = self.env
        EnvLogger.warn_on_illegal_move()
        env._cumulative_rewards[agent] = 0.0
        env.terminations = dict.fromkeys(env.agents, True)
        env.truncations = dict.fromkeys(env.agents, True)
        env.rewards = dict.fromkeys(env.agents, 0.0)
        env.rewards[agent] = ILLEGAL_REWARD
        env._accumulate_rewards()
        env._deads_step_first()

    def __str__(self) -> str:
        return str(self.env)


def make_env(game: str, render_mode: str | None = None, **parameters: Any) -> CheckedEnv:
    """Returns any registered game as a PettingZoo environment with PettingZoo's checks.

    Raises:
        ValueError: an unknown game or argument, or a value out of range; the message lists what is accepted.
    """
    return CheckedEnv(GameEnv(game, render_mode, **parameters))
