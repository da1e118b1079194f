"""What a heuristic is: a named tuple whose compiled methods judge states of one game and play it quickly."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numba.core.dispatcher import Dispatcher
from numpy.typing import NDArray

from stonezoo.core.game import Rules, StateRow, _lower_calls
from stonezoo.core.jit import INTERPRETED, Kernel, jit, remember_sources, source_digest, source_file
from stonezoo.core.rng import Stream

C = TypeVar("C")
F = TypeVar("F", bound=Callable[..., Any])

UNIT = 100  # what a stone, or a move, is worth: values are integers, so that they add up alike everywhere
HIGHEST = 10_000  # no value is larger, so that exact results stand above all


class SearchSettings(NamedTuple):
    """How `uct+` uses a heuristic, as measured by matches; docs/baselines.md says which."""

    c_puct: float  # exploration
    prior_temperature: float  # of the softmax over the values of the actions: how much better is how much likelier
    first_play: float  # what an action that was never tried falls short of its parent, in [0, 2]
    scale: float  # the value at which 76% of the games are won: values become tanh(value / scale / 2) in (-1, 1)
    rollout_share: float  # what a rollout weighs beside the heuristic in the judgement of a leaf, in [0, 1]
    rollout_actions: int  # after so many actions a rollout is judged by the heuristic; 0 means to the end
    expand_after: int  # visits of a leaf before its actions are looked at


class Heuristic(Protocol):
    """Judges states of one game. Compiled methods see an ongoing state and do not change it.

    `work` is int32 [work_size] of work space, in any condition.
    """

    # Compiled.
    def value(self, rules: Rules, state: StateRow, player: int, work: NDArray[np.int32]) -> int:
        """How good the state is for `player`, from -HIGHEST to HIGHEST; UNIT is worth a stone, or a move."""
        ...

    def quick_action(self, rules: Rules, state: StateRow, stream: Stream, work: NDArray[np.int32]) -> int:
        """A random legal action for a rollout: rather a sensible one, and cheap."""
        ...

    # Plain Python.
    def work_size(self, rules: Rules) -> int: ...
    @property
    def settings(self) -> SearchSettings: ...


def heuristic_methods(cls: type[C]) -> type[C]:
    """Class decorator: compiled code may call the compiled methods of `cls`, a NamedTuple, on its instances."""
    remember_sources(cls)
    for method in vars(cls).values():
        if isinstance(method, Dispatcher):
            _lower_calls(method)
    return cls


@heuristic_methods
class Neutral(NamedTuple):
    """Knows nothing: every state is worth 0, and every action is as good as another."""

    unused: int = 0

    @jit
    def value(self, rules: Rules, state: StateRow, player: int, work: NDArray[np.int32]) -> int:
        return 0

    @jit
    def quick_action(self, rules: Rules, state: StateRow, stream: Stream, work: NDArray[np.int32]) -> int:
        return int(rules.random_action(state, stream))

    def work_size(self, rules: Rules) -> int:
        """Entries of `work`."""
        return 1

    @property
    def settings(self) -> SearchSettings:
        """Rollouts to the end, and every action tried before any twice."""
        return SearchSettings(1.0, 1.0, -2.0, 1.0, 1.0, 0, 0)


class _OneHeuristicKernel(Kernel):
    """A kernel for one class of heuristics, whose sources the compiled code comes from too."""

    def _load_or_compile(
        self, game: str, root: Path, file: Path, game_file: Path, args: tuple[Any, ...]
    ) -> Callable[..., Any]:
        heuristic_file = source_file(type(args[1])) or Path(__file__)
        digest = source_digest(Path(__file__).resolve(), heuristic_file)
        name = hashlib.sha256(f"{digest} {type(args[1]).__qualname__}".encode()).hexdigest()[:16]
        return super()._load_or_compile(game, root / f"{game}-{name}", file, game_file, args)


class HeuristicKernel:
    """A compiled function as Python calls it, with the rules first and a heuristic second."""

    def __init__(self, function: Callable[..., Any]) -> None:
        remember_sources(function)
        self._function = function
        self._kernels: dict[type, Kernel] = {}

    def __call__(self, rules: Any, heuristic: Any, *args: Any) -> Any:
        # The rules' class alone says which compiled code is meant, so each class of heuristics has a kernel of its own.
        kernel = self._kernels.setdefault(type(heuristic), _OneHeuristicKernel(self._function))
        return kernel(rules, heuristic, *args)


def heuristic_kernel(function: F) -> F:
    """Returns what Python calls for `function`, a `jit` function of the rules, a heuristic, and more."""
    return function if INTERPRETED else HeuristicKernel(function)  # type: ignore[return-value]
