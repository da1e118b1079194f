"""Our native vector environment as stable-baselines3 wants it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from stonezoo.api.vector import SeatVectorEnv

MASKS = "action_masks"  # what sb3-contrib calls for the masks


class SeatedVecEnv(VecEnv):
    """Lanes of one or more `SeatVectorEnv`, one after the other, as one `VecEnv`.

    Several serve to seat several opponents: each plays in the lanes of its own environment. A step is one compiled call
    an environment. Finished games begin again in the same step, and only their lanes' infos hold anything:
        terminal_observation: float32 [H, W, C], the last one of the finished game; the step returns the next game's.
        TimeLimit.truncated: False; games end by their rules.
        episode: {"r": the reward of the game, "l": the learner's actions in it, "t": seconds since the first reset}.
        illegal_action, opponent_illegal_action: whether the game was lost by one.

    The loss that an opponent causes is the reward of the learner's last step. Masks always allow some action.
    """

    def __init__(self, environments: SeatVectorEnv | Sequence[SeatVectorEnv]) -> None:
        """Joins `environments`, all of one game, with autoreset mode SAME_STEP and `copy=True`.

        Raises:
            ValueError: there is none, they differ in their spaces, or their mode or copying is another.
        """
        self.environments = [environments] if isinstance(environments, SeatVectorEnv) else list(environments)
        if not self.environments:
            raise ValueError("environments is empty: a VecEnv needs a lane at least")
        first = self.environments[0]
        for environment in self.environments:
            if environment.autoreset_mode is not AutoresetMode.SAME_STEP or not environment.copies:
                # stable-baselines3 takes an observation to be the first of a game after an end, and keeps the last
                # observations over a step.
                raise ValueError(
                    f"stable-baselines3 needs autoreset_mode='SameStep' and copy=True, not "
                    f"{environment.autoreset_mode.value!r} and copy={environment.copies}"
                )
            if environment.game != first.game:
                raise ValueError(f"all environments must play one game, not {first.game!r} and {environment.game!r}")
        ends = np.cumsum([0, *(environment.num_envs for environment in self.environments)])
        self.lanes = [slice(int(start), int(end)) for start, end in pairwise(ends)]
        super().__init__(int(ends[-1]), first.single_observation_space, first.single_action_space)
        self._lengths = np.zeros(self.num_envs, np.int64)
        self._actions: NDArray[np.int64] = np.zeros(self.num_envs, np.int64)
        self._began = time.monotonic()

    def reset(self) -> NDArray[np.float32]:
        """Starts new games in all lanes, with the seeds that `seed` set: float32 [B, H, W, C]."""
        observations = [
            environment.reset(seed=self._seeds[lanes])[0]
            for environment, lanes in zip(self.environments, self.lanes, strict=True)
        ]
        self._reset_seeds()
        self._reset_options()
        self._lengths[:] = 0
        return _joined(observations)

    def step_async(self, actions: NDArray[Any]) -> None:
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> Any:
        """Observations float32 [B, H, W, C], rewards float32 [B], dones bool [B], infos a list of B dicts."""
        self._lengths += 1
        steps = [
            environment.step(self._actions[lanes])
            for environment, lanes in zip(self.environments, self.lanes, strict=True)
        ]
        dones = _joined([step[2] for step in steps])
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if dones.any():
            seconds = round(time.monotonic() - self._began, 6)
            for (_, rewards, ended, _, extra), lanes in zip(steps, self.lanes, strict=True):
                for lane in np.flatnonzero(ended).tolist():
                    final = extra["final_info"]
                    infos[lanes.start + lane] = {
                        "terminal_observation": extra["final_obs"][lane],
                        "TimeLimit.truncated": False,
                        "episode": {
                            "r": float(rewards[lane]),
                            "l": int(self._lengths[lanes.start + lane]),
                            "t": seconds,
                        },
                        "illegal_action": bool(final["illegal_action"][lane]),
                        "opponent_illegal_action": bool(final["opponent_illegal_action"][lane]),
                    }
            self._lengths[dones] = 0
        return _joined([step[0] for step in steps]), _joined([step[1] for step in steps]), dones, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """The masks of the learner's legal actions, bool [B, A]; none is all False."""
        return _joined([environment.action_masks() for environment in self.environments])

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Returns copies of all arrays that the games go on from, by name; the opponents are not among them."""
        kept = {"lengths": self._lengths.copy()}
        for number, environment in enumerate(self.environments):
            kept |= {f"{number}.{name}": array for name, array in environment.snapshot().items()}
        return kept

    def restore(self, snapshot: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Goes on from what `snapshot` returned: float32 [B, H, W, C], as `reset`; ValueError for other games."""
        observations = []
        for number, environment in enumerate(self.environments):
            prefix = f"{number}."
            own = {name.removeprefix(prefix): array for name, array in snapshot.items() if name.startswith(prefix)}
            observations.append(environment.restore(own)[0])
        self._lengths[:] = snapshot["lengths"]
        return _joined(observations)

    def close(self) -> None:
        for environment in self.environments:
            environment.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute of each lane's environment; AttributeError when there is none."""
        return [getattr(self._environment(lane), attr_name) for lane in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute in the environments of all lanes; ValueError for some lanes only."""
        self._refuse_some(f"set_attr({attr_name!r})", indices)
        for environment in self.environments:
            setattr(environment, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """`action_masks`: bool [A] of each lane. Any other method is called once in each environment, for all lanes.

        Raises:
            ValueError: another method than `action_masks` for some lanes only.
        """
        if method_name == MASKS:
            masks = self.action_masks()
            return list(masks if indices is None else masks[list(self._get_indices(indices))])
        self._refuse_some(f"env_method({method_name!r})", indices)
        answers: list[Any] = []
        for environment in self.environments:
            answers += [getattr(environment, method_name)(*method_args, **method_kwargs)] * environment.num_envs
        return answers

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """False for each lane."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[Any] | None]:
        """A picture uint8 [height, width, 3] of each lane, where the render mode is `rgb_array`; else None."""
        if self.render_mode != "rgb_array":
            return [None] * self.num_envs
        return [picture for environment in self.environments for picture in environment.render() or ()]

    def _environment(self, lane: int) -> SeatVectorEnv:
        for environment, lanes in zip(self.environments, self.lanes, strict=True):
            if lanes.start <= lane < lanes.stop:
                return environment
        raise IndexError(f"lane {lane}: there are {self.num_envs}")

    def _refuse_some(self, what: str, indices: Any) -> None:
        chosen: Iterable[int] = self._get_indices(indices)
        if sorted(set(chosen)) != list(range(self.num_envs)):
            raise ValueError(f"{what}: lanes of one environment share everything, so all or none can be asked for")


def make_vec_env(
    game: str, num_envs: int, *, opponent: Any = "random", seat: Any = "random", **parameters: Any
) -> SeatedVecEnv:
    """Games with a learner's seat as a `VecEnv`; the arguments are those of `SeatVectorEnv`.

    Raises:
        ValueError: an unknown argument or a value that is not accepted; the message lists what is.
    """
    mode = AutoresetMode.SAME_STEP
    return SeatedVecEnv(
        SeatVectorEnv(num_envs, game=game, opponent=opponent, seat=seat, autoreset_mode=mode, **parameters)
    )


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
