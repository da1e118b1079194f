"""Any game as a Gymnasium vector environment: one learner's seat in each of many games, the opponents inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stonezoo.api.aec import RENDER_FPS
from stonezoo.api.seats import SeatedGames, load_seated
from stonezoo.api.vector_game import check_num_envs, read_actions
from stonezoo.core.rng import check_seed
from stonezoo.kernels.vector import BY_LEARNER, BY_OPPONENT, IN_OPENING
from stonezoo.render import to_ansi, to_rgb_array, to_svg

DRAW = {"ansi": to_ansi, "rgb_array": to_rgb_array, "svg": to_svg}
RENDER_ACCEPTED = f"{', '.join(map(repr, DRAW))} or None"
AUTORESET_ACCEPTED = ", ".join(repr(mode.value) for mode in AutoresetMode) + " or an AutoresetMode"
OTHER_ACCEPTED = (
    f"autoreset_mode: {AUTORESET_ACCEPTED} (default 'NextStep')",
    "copy: whether each step returns new arrays (default True)",
    f"render_mode: {RENDER_ACCEPTED} (default None)",
)

Batch = NDArray[Any]


class SeatVectorEnv(VectorEnv[NDArray[np.float32], Any, NDArray[Any]]):
    """`num_envs` games with a learner's seat each, all stepped in compiled code; `stonezoo.api.gym.SeatEnv` in a batch.

    A lane plays as a single environment with its seed does: `reset(seed=n)` gives lane b the seed n + b, a list gives
    each lane its own. Observations are float32 [B, H, W, C], rewards float32 [B], the flags bool [B]; infos have
    `action_mask` (int8 [B, A]), `illegal_action`, `opponent_illegal_action` (bool [B], of the last step) and `seat`
    (int64 [B]), each with its `_key`, all True.

    What follows an end depends on `metadata["autoreset_mode"]`. Masks of finished games are all ones in every mode.
        NEXT_STEP: the step returns the last observation; in the next step the lane's action is ignored, and a new game
            begins, with reward 0.
        SAME_STEP: the step returns the first observation and mask of the next game; `final_obs` (an object array [B],
            None where no game ended) and `final_info` hold the last of the finished one.
        DISABLED: the lane stays as it is: it ignores actions, and is terminated with reward 0, until
            `reset(options={"reset_mask": bool [B]})`.

    `torch.from_numpy` takes all arrays without a copy. With `copy=False` the observations, `action_mask`, rewards and
    terminations are the same arrays in every step, written again: a tensor made of them once always shows the present,
    and what must outlast the next step or reset is to be copied.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        game: str,
        opponent: Any = "random",
        seat: Any = "random",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        **parameters: Any,
    ) -> None:
        """Makes `num_envs` lanes. Other arguments are those of `SeatEnv`; with `seat="alternate"` lanes begin by turns.

        Raises:
            ValueError: an unknown argument or a value that is not accepted; the message lists what is.
        """
        if render_mode is not None and render_mode not in tuple(DRAW):
            raise ValueError(f"render_mode={render_mode!r} is not accepted: render_mode must be {RENDER_ACCEPTED}")
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            raise ValueError(
                f"autoreset_mode={autoreset_mode!r} is not accepted: autoreset_mode must be {AUTORESET_ACCEPTED}"
            ) from None
        self.game = load_seated(game, parameters, OTHER_ACCEPTED)
        self.num_envs = check_num_envs(num_envs)
        self.render_mode = render_mode
        self.metadata = {
            "render_modes": list(DRAW),
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = spaces.Box(0.0, 1.0, self.game.observation_shape, np.float32)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._games = SeatedGames(self.game, self.num_envs, opponent, seat)
        self._copy = copy
        self._began = False

    @property
    def copies(self) -> bool:
        """Whether each step returns new arrays."""
        return self._copy

    def set_opponent(self, opponent: Any) -> None:
        """Seats another opponent in all lanes, from its next action on; ValueError when `opponent` is no player."""
        self._games.set_opponent(opponent)

    def action_masks(self) -> NDArray[np.bool_]:
        """The masks of the learner's legal actions, bool [B, A]; all True where the game is over."""
        return self._games.masks.astype(np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Starts new games in all lanes, or where `options["reset_mask"]` (bool [B]) holds; other options are ignored.

        Raises:
            ValueError: no seed, seeds or a mask of another length, or a mask at the first reset; nothing has changed.
        """
        B, games = self.num_envs, self._games
        lanes = self._read_mask((options or {}).get("reset_mask"))
        if seed is None or isinstance(seed, (int, np.integer)):
            super().reset(seed=None if seed is None else check_seed(seed))
            seeds = [None if seed is None else int(seed) + lane for lane in range(B)]
        else:
            seeds = [None if one is None else check_seed(one) for one in _listed(seed)]
            if len(seeds) != B:
                raise ValueError(f"seed has {len(seeds)} seeds, but there are {B} lanes: give one seed, or one a lane")
        if lanes is not None:
            seeds = [seed if chosen else None for seed, chosen in zip(seeds, lanes, strict=True)]
        games.seed(seeds, lambda: int(self.np_random.integers(2**63)))
        if self._copy:
            games.new_arrays()
        games.begin(lanes)
        self._began = True
        return games.observations, self._infos()

    def step(self, actions: Any) -> tuple[NDArray[np.float32], Batch, Batch, Batch, dict[str, Any]]:
        """Plays the learner's actions, integers [B], and the opponents' turns that follow.

        Raises:
            ValueError: `actions` has another shape, or holds no integers.
            RuntimeError: there has been no reset.
        """
        games = self._games
        if not self._began:
            raise RuntimeError("step() before the first game: call reset() first")
        actions = read_actions(actions, self.num_envs)
        if self._copy:
            games.new_arrays()
        seats = games.seats.copy()  # of the games under way: those that end may be followed by games in the other seat
        games.act(actions, self.autoreset_mode)
        infos = self._infos()
        if self.autoreset_mode is AutoresetMode.SAME_STEP and games.terminated.any():
            self._add_final(infos, seats)
        return games.observations, games.rewards, games.terminated, np.zeros(self.num_envs, np.bool_), infos

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Returns copies of all arrays that the games go on from, by name; RuntimeError before the first reset.

        The opponent is not among them. With `restore` unfinished games go on in another process.
        """
        return self._games.snapshot()

    def restore(self, snapshot: Mapping[str, NDArray[Any]]) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Goes on from what `snapshot` returned, and returns what `reset` does.

        Raises:
            ValueError: it is of other games, or of another number of lanes; nothing has been changed.
        """
        self._games.restore(snapshot)
        self._began = True
        return self._games.observations, self._infos()

    def render(self) -> tuple[Any, ...] | None:
        """Returns a picture of each lane, or None without a render mode."""
        if self.render_mode is None:
            return None
        draw: Any = DRAW[self.render_mode]
        return tuple(draw(self.game.from_row(row)) for row in self._games.states)

    def _infos(self) -> dict[str, Any]:
        games = self._games
        return _with_presence(
            {
                "action_mask": games.masks,
                "illegal_action": games.illegal[BY_LEARNER],
                "opponent_illegal_action": games.illegal[BY_OPPONENT] | games.illegal[IN_OPENING],
                "seat": games.seats.copy(),
            },
            np.ones(self.num_envs, np.bool_),
        )

    def _add_final(self, infos: dict[str, Any], seats: NDArray[np.int64]) -> None:
        games = self._games
        ended = games.terminated.copy()
        observations = np.full(self.num_envs, None, object)
        observations[ended] = np.fromiter(games.final[ended], object)  # an object array, as Gymnasium's are
        masks = np.zeros_like(games.masks)
        masks[ended] = 1
        final: dict[str, Batch] = {"action_mask": masks}
        for key, who in (("illegal_action", BY_LEARNER), ("opponent_illegal_action", BY_OPPONENT)):
            final[key] = games.illegal[who].copy()  # only where a game ended
        final["seat"] = np.where(ended, seats, 0)
        infos.update(_with_presence({"final_obs": observations, "final_info": _with_presence(final, ended)}, ended))

    def _read_mask(self, mask: Any) -> NDArray[np.bool_] | None:
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            raise ValueError(f"options['reset_mask'] must be a bool array [{self.num_envs}], not {mask!r}")
        if not self._began:
            raise ValueError("options['reset_mask']: the first reset is of all lanes")
        return mask


def _listed(seeds: Any) -> list[Any]:
    if isinstance(seeds, (str, bytes)) or not hasattr(seeds, "__len__"):
        raise ValueError(f"seed={seeds!r} is not accepted: give one seed, an integer of at least 0, or one a lane")
    return list(seeds)


def _with_presence(values: dict[str, Any], present: NDArray[np.bool_]) -> dict[str, Any]:
    """Adds to each key a `_key` that says which lanes have it, as Gymnasium's vector environments do."""
    found = {}
    for key, value in values.items():
        found[key], found[f"_{key}"] = value, present.copy()
    return found
