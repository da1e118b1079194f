"""Any game as a Gymnasium environment for one learner, with the opponent inside."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from stonezoo.api.aec import RENDER_FPS, RENDER_MODES
from stonezoo.api.seats import SeatedGames, load_seated
from stonezoo.kernels.vector import BY_LEARNER, BY_OPPONENT, IN_OPENING
from stonezoo.render import Window, to_ansi, to_rgb_array, to_svg
from stonezoo.state import IllegalActionError, State

RENDER_ACCEPTED = f"{', '.join(map(repr, RENDER_MODES))} or None"
NO_ACTION = -1


class SeatEnv(gymnasium.Env[NDArray[np.float32], Any]):
    """One game for a learner in one seat; the opponent plays inside `step`, and at `reset` when it opens.

    A step is one action of the learner's. When it ends the learner's turn, the opponent's whole turn follows in the
    same step, so that every observation is of a position in which the learner is to act, or of a game that is over. The
    reward is 0 until the step in which the game ends, whoever ended it: then 1, -1, or 0 for a draw. Games end by
    their rules: `truncated` is always False.

    An observation is float32 [H, W, C] in [0, 1] as the learner sees the game. `action_masks()`, and `action_mask` in
    every info, hold 1 for each legal action; all ones once the game is over, so that a masked distribution stays
    defined. An illegal action loses the game: reward -1, terminated, and `illegal_action` in the info. One of the
    opponent's loses it for the opponent, with `opponent_illegal_action`. Every info has the four keys `action_mask`
    (int8 [A]), `illegal_action`, `opponent_illegal_action` (bool) and `seat` (0 Black, 1 White).

    `reset(seed=...)` fixes the seat and all that the opponent draws, in this and in the following games; `options` are
    ignored. Copies and pickles go on identically, in mid-turn too.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012 (as in Env)

    def __init__(
        self,
        game: str,
        *,
        opponent: Any = "random",
        seat: Any = "random",
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        """Makes the environment of a game with `parameters`.

        Args:
            game: the game's name.
            opponent: a player's name such as `"random"` or `"uct:100"`, a function `(observation [H, W, C],
                action_mask [A]) -> action or probabilities [A]`, or a player of `stonezoo.players`.
            seat: the learner's: 0 (Black, who opens), 1 (White), `"random"` (drawn for each game), or `"alternate"`:
                the other one in each game, and after `reset(seed=n)` Black for even n, White for odd n.
            render_mode: one of `metadata["render_modes"]` or None.
            parameters: the game's.

        Raises:
            ValueError: an unknown argument or a value that is not accepted; the message lists what is.
        """
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(f"render_mode={render_mode!r} is not accepted: render_mode must be {RENDER_ACCEPTED}")
        self.game = load_seated(game, parameters, [f"render_mode: {RENDER_ACCEPTED} (default None)"])
        self.metadata = {**type(self).metadata}  # its own, to change the pace of a window
        self.render_mode = render_mode
        self._games = SeatedGames(self.game, 1, opponent, seat)
        self.observation_space = spaces.Box(0.0, 1.0, self.game.observation_shape, np.float32)
        self.action_space = spaces.Discrete(self.game.num_actions)
        self._shown: State | None = None  # when there is something to draw, the state with its history
        self._window: Window | None = None
        self._in_game = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_window": None}  # a copy opens a window of its own

    @property
    def game_state(self) -> State:
        """A copy of the state for search and analysis; its history is empty unless there is a render mode."""
        if self._shown is not None and not self._games.illegal.any():
            return self._shown.copy()
        return self.game.from_row(self._games.states[0])

    def set_opponent(self, opponent: Any) -> None:
        """Seats another opponent, from its next action on; ValueError when `opponent` is no player."""
        self._games.set_opponent(opponent)

    def action_masks(self) -> NDArray[np.bool_]:
        """The mask of the learner's legal actions, bool [A], as sb3-contrib asks for it; all True when it is over."""
        self._need_reset("action_masks()", self._games.over[0])
        mask: NDArray[np.bool_] = self._games.masks[0].astype(np.bool_)
        return mask

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        super().reset(seed=seed)
        self._games.seed([seed], lambda: int(self.np_random.integers(2**63)))
        if self.render_mode is not None:
            self._shown = self.game.initial_state()
            self._show()
        self._games.begin(watch=None if self._shown is None else self._watch)
        self._in_game = True
        return self._games.observations[0].copy(), self._info()

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Plays an action of the learner's, and the opponent's turn if that is what follows.

        Raises:
            TypeError: `action` is no integer.
            ResetNeeded: there is no game under way.
        """
        games = self._games
        self._need_reset("step()")
        if isinstance(action, (bool, np.bool_)):
            raise TypeError(f"an action is an integer, not {action!r}")
        try:
            number = operator.index(action[()] if isinstance(action, np.ndarray) and action.ndim == 0 else action)
        except TypeError:
            raise TypeError(f"an action is an integer, not {action!r}") from None
        if not 0 <= number < self.game.num_actions:
            number = NO_ACTION  # what int64 does not hold is as illegal
        actions = np.array([number], np.int64)
        games.act(actions, AutoresetMode.DISABLED, None if self._shown is None else self._watch)
        terminated = bool(games.terminated[0])
        self._in_game = not terminated
        return games.observations[0].copy(), float(games.rewards[0]), terminated, False, self._info()

    def render(self) -> Any:
        match self.render_mode:
            case "ansi":
                return to_ansi(self.game_state)
            case "svg":
                return to_svg(self.game_state)
            case "rgb_array":
                return to_rgb_array(self.game_state)
            case "human":
                self._show()
            case _:
                gymnasium.logger.warn(f"render() shows nothing without a render mode: choose {RENDER_ACCEPTED}.")
        return None

    def close(self) -> None:
        """Closes the window, if there is one; safe to call twice."""
        if self._window is not None:
            self._window.close()

    def _info(self) -> dict[str, Any]:
        games = self._games
        return {
            "action_mask": games.masks[0].copy(),
            "illegal_action": bool(games.illegal[BY_LEARNER, 0]),
            "opponent_illegal_action": bool(games.illegal[BY_OPPONENT, 0] or games.illegal[IN_OPENING, 0]),
            "seat": int(games.seats[0]),
        }

    def _watch(self, action: int) -> None:
        """Follows an action with the state that is drawn; in a window each is shown, the opponent's too."""
        assert self._shown is not None
        try:
            self._shown.step(action)
        except IllegalActionError:
            return
        self._show()

    def _show(self) -> None:
        if self.render_mode == "human" and self._shown is not None:
            self._window = self._window or Window(render_fps=self.metadata["render_fps"])
            self._window.show(self._shown)

    def _need_reset(self, what: str, over: Any = False) -> None:
        if not self._in_game and not over:
            raise ResetNeeded(f"{what} needs a game under way: call reset() first")
