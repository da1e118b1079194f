"""Any game as a PettingZoo AEC environment, without PettingZoo's checks: those are in `stonezoo.api.checked`."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from stonezoo.games import rules_class
from stonezoo.render import Window, to_ansi, to_rgb_array, to_svg
from stonezoo.state import Game, State, load_game

AGENTS = ("player_0", "player_1")  # in the order of players: Black, White
SEATS = {agent: player for player, agent in enumerate(AGENTS)}
RENDER_MODES = ("human", "rgb_array", "ansi", "svg")
RENDER_FPS = 4  # actions a second in a window
AFTER_RESET = {
    "agents",
    "agent_selection",
    "rewards",
    "terminations",
    "truncations",
    "infos",
    "_cumulative_rewards",
    "_state",
    "game_state",
}

Observation: TypeAlias = dict[str, NDArray[Any]]


class GameEnv(AECEnv[str, Observation, Any]):
    """One game for two agents, `player_0` (Black) and `player_1` (White); every atomic action is one step.

    The same agent stays selected until its turn is over. Rewards are zero before the end, then 1 for the winner and -1
    for the loser, or 0 for both. An observation is a dict of `"observation"`, float32 [H, W, C] in [0, 1] as that agent
    sees the game, and `"action_mask"`, int8 [A]: 1 for each legal action, all zeros for an agent that is not to act or
    whose game is over. Nothing is left to chance: `reset` accepts a seed and options, and ignores both. Copies and
    pickles go on from the same position, in mid-turn too.

    An illegal action raises `IllegalActionError`, one that is no integer (`True` is none) `TypeError`; both leave
    everything as it was. `stonezoo.api.checked.CheckedEnv` ends the game instead, as PettingZoo's environments do.

    Attributes:
        game: the game played, with its parameters.
        num_actions: A, the size of the action spaces.
        render_mode: what `render` returns: `"ansi"` text, `"svg"` a document, `"rgb_array"` uint8 [height, width, 3],
            `"human"` None (a window shows every step), or None.
    """

    def __init__(self, game: str, render_mode: str | None = None, /, **parameters: Any) -> None:
        """Raises ValueError for what is unknown or out of range, listing what is accepted."""
        super().__init__()  # type: ignore[no-untyped-call]
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode={render_mode!r} is not accepted: render_mode must be {_accepted_modes()}")
        _refuse_unknown(game, parameters)
        self.game: Game = load_game(game, **parameters)
        self.num_actions = self.game.num_actions
        self.metadata = {
            "name": f"{game}_v0",
            "render_modes": list(RENDER_MODES),
            "render_fps": RENDER_FPS,
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.action_spaces = {agent: spaces.Discrete(self.num_actions) for agent in AGENTS}
        self.observation_spaces: dict[str, Any] = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0.0, 1.0, self.game.observation_shape, np.float32),
                    "action_mask": spaces.Box(0, 1, (self.num_actions,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self._window: Window | None = None

    def __getattr__(self, name: str) -> Any:
        if name in AFTER_RESET:
            raise AttributeError(f"{name} cannot be accessed before reset: call reset() first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}  # a copy opens a window of its own

    @property
    def game_state(self) -> State:
        """A copy of the state, history and all, for search and analysis."""
        return self._state.copy()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        space: spaces.Space[Any] = self.observation_spaces[agent]
        return space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Starts a new game. `seed` and `options` are ignored: there is no chance, and there are no options."""
        self._state: State = self.game.initial_state()
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[self._state.to_play]
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Observation:
        """Returns what an agent sees now, in arrays of its own; any agent at any time, after the end too.

        Raises:
            ValueError: there is no such agent.
        """
        try:
            player = SEATS[agent]
        except (KeyError, TypeError):
            raise ValueError(f"{agent!r} is no agent: the agents are {' and '.join(AGENTS)}") from None
        observation, mask = self._state.look(player)
        # An agent that is gone or was stopped from outside may not act, even where the rules would go on.
        if self.terminations.get(agent, True) or self.truncations[agent]:
            mask[:] = 0
        return {"observation": observation, "action_mask": mask}

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        state = self._state
        state.step(action)
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        if state.terminated:
            self.rewards.update(zip(AGENTS, state.returns, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            self._accumulate_rewards()  # before the end there are only zeros to add
        self.agent_selection = AGENTS[state.to_play]
        if self.render_mode == "human":
            self.render()

    def render(self) -> NDArray[Any] | str | None:
        match self.render_mode:
            case "ansi":
                return to_ansi(self._state)
            case "svg":
                return to_svg(self._state)
            case "rgb_array":
                return to_rgb_array(self._state)
            case "human":
                self._window = self._window or Window(render_fps=self.metadata["render_fps"])
                self._window.show(self._state)
            case _:
                gymnasium.logger.warn(f"render() shows nothing without a render mode: choose {_accepted_modes()}.")
        return None

    def close(self) -> None:
        """Closes the window, if there is one; safe to call twice."""
        if self._window is not None:
            self._window.close()


def _accepted_modes() -> str:
    return f"{', '.join(map(repr, RENDER_MODES))} or None"


def _refuse_unknown(game: str, parameters: Mapping[str, Any]) -> None:
    known = rules_class(game).parameters
    for name in parameters:
        if name not in {parameter.name for parameter in known}:
            accepted = [f"{p.name}: {p.accepted} (default {p.default!r})" for p in known]
            accepted.append(f"render_mode: {_accepted_modes()} (default None)")
            raise ValueError(f"{game} has no argument {name!r}; it accepts {'; '.join(accepted)}")
