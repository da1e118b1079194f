"""What a game is: a named tuple of integers whose compiled methods are the rules.

A state is one flat row of int32. Its first entries are the same in every game, so that kernels can read them; the rest
is the game's own. Equal rows are equal states, and copying a row copies the state.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr
from numba.extending import lower_builtin
from numpy.typing import NDArray

from stonezoo.core.board import BoardLayout
from stonezoo.core.jit import jit, remember_sources
from stonezoo.core.rng import Stream

C = TypeVar("C")
StateRow: TypeAlias = NDArray[np.int32]  # [S]

TO_PLAY, PHASE, OUTCOME = 0, 1, 2  # entries of every state row
HEADER = 3  # the game's own entries start here

ONGOING, BLACK_WON, WHITE_WON, DRAWN = 0, 1, 2, 3  # values of state[OUTCOME]
BLACK, WHITE = 0, 1
EMPTY = -1  # on boards as Python sees them
NO_WINNER = -1
PLAYER_NAMES = ("Black", "White")

# What stands on a cell, as `Rules.contents` writes it, seen by the player to act; a marked stone has MARK or 2 * MARK
# more, such as the stone that is resolving.
NOTHING, OWN_STONE, OTHER_STONE, MARK = 0, 1, 2, 3
NUM_CONTENTS = 9


@dataclass(frozen=True)
class Parameter:
    """One parameter of a game: an integer from `low` to `high`, or one of `choices`."""

    name: str
    default: int | str
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    summary: str = ""

    @property
    def accepted(self) -> str:
        """What the parameter accepts, in words."""
        return ", ".join(map(repr, self.choices)) if self.choices else f"an integer from {self.low} to {self.high}"

    def check(self, value: Any) -> int | str:
        """Returns the value in its own type; ValueError when it is not accepted."""
        if self.choices:
            if isinstance(value, str) and value in self.choices:
                return value
        elif isinstance(value, (int, np.integer)) and not isinstance(value, bool) and self.low <= value <= self.high:
            return int(value)
        raise ValueError(f"{self.name}={value!r} is not accepted: {self.name} must be {self.accepted}")


def read_parameters(game: str, parameters: tuple[Parameter, ...], given: Mapping[str, Any]) -> dict[str, int | str]:
    """Returns every parameter's value, `given` or default; ValueError for what is unknown or out of range."""
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            accepted = "; ".join(f"{p.name}: {p.accepted} (default {p.default!r})" for p in parameters)
            raise ValueError(f"{game} has no parameter {name!r}; it accepts {accepted}")
    return {name: parameter.check(given.get(name, parameter.default)) for name, parameter in known.items()}


@dataclass(frozen=True)
class Symmetry:
    """One symmetry of a game, as index tables.

    The stone on cell c moves to cell `cells[c]`, action a becomes `actions[a]`. Where `swaps_players` holds, the stones
    also change colour and the players change places.
    """

    name: str
    cells: NDArray[np.int32]  # [num_cells]
    actions: NDArray[np.int32]  # [A]
    swaps_players: bool = False


class Rules(Protocol):
    """The rules of one game with its parameters. Compiled methods see one state row and change it in place."""

    name: ClassVar[str]
    version: ClassVar[Mapping[str, int]]  # the number of each rule profile's meaning
    phases: ClassVar[type[IntEnum]]
    parameters: ClassVar[tuple[Parameter, ...]]
    planes: ClassVar[tuple[str, ...]]  # what each plane of the observation says, in order
    on_board_plane: ClassVar[int]
    keys: ClassVar[tuple[str, ...]]  # fields of position texts

    # Compiled.
    def reset(self, state: StateRow) -> None: ...
    def step(self, state: StateRow, action: int) -> None: ...
    def is_legal(self, state: StateRow, action: int) -> bool: ...
    def legal_actions(self, state: StateRow, out: NDArray[np.int32]) -> int: ...
    def legal_mask(
        self, state: StateRow, found: NDArray[np.int32], mask: NDArray[np.int8]
    ) -> None: ...  # may be left out
    def contents(
        self, state: StateRow, cells: NDArray[np.int32], rest: NDArray[np.int32]
    ) -> None: ...  # may be left out
    def settled_outcome(self, state: StateRow) -> int: ...  # may be left out; see `nothing_settled` below
    def useful_actions(self, state: StateRow, out: NDArray[np.int32]) -> int: ...  # likewise; see `all_useful`
    def promise(self, state: StateRow) -> int: ...  # likewise; see `no_promise`
    def layer(self, state: StateRow) -> int: ...  # may be left out; see `one_layer` below
    def random_action(self, state: StateRow, stream: Stream) -> int: ...
    def observe(self, state: StateRow, player: int, out: NDArray[np.float32]) -> None: ...
    def transform(self, state: StateRow, cells: NDArray[np.int32], swaps: int, out: StateRow) -> None: ...

    # Plain Python.
    @classmethod
    def create(cls, **parameters: Any) -> "Rules": ...
    @property
    def profile(self) -> str: ...
    @property
    def num_cells(self) -> int: ...
    @property
    def num_actions(self) -> int: ...
    @property
    def state_size(self) -> int: ...
    @property
    def observation_shape(self) -> tuple[int, int, int]: ...
    @property
    def policy_shape(self) -> tuple[int, int, int]: ...
    @property
    def policy_index(self) -> NDArray[np.int64]: ...
    @property
    def max_steps(self) -> int | None: ...
    @property
    def rest_size(self) -> int: ...  # entries of `rest` that `contents` writes
    @property
    def endless_counter(self) -> tuple[int, int] | None: ...  # may be left out; see `endless_counter` below
    @property
    def colours_alike(self) -> bool: ...  # whether exchanging the colours and the players is a symmetry
    def layout(self) -> BoardLayout: ...
    def symmetries(self) -> tuple[Symmetry, ...]: ...
    def board(self, state: StateRow) -> NDArray[np.int8]: ...
    def marks(self, state: StateRow) -> dict[str, tuple[int, ...]]: ...
    def counters(self, state: StateRow) -> dict[str, int]: ...
    def text_rows(self) -> tuple[int, ...]: ...
    def text_fields(self, state: StateRow) -> list[tuple[str, str]]: ...
    def from_position(self, board: list[int], to_play: int, fields: Any) -> StateRow: ...
    def action_cells(self, action: int) -> tuple[int, ...]: ...
    def action_name(self, phase: int, action: int) -> str: ...
    def why_illegal(self, state: StateRow, action: int) -> str: ...


@jit
def copy_row(source: StateRow, target: StateRow) -> None:
    """Copies a state row; compiled code may not assign slices, which would allocate."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@jit
def mask_found(rules: Rules, state: StateRow, found: NDArray[np.int32], mask: NDArray[np.int8]) -> None:
    """Writes 1 for each legal action and 0 for all others to `mask` [A]; `found` [A] is work space.

    The `legal_mask` of games that have none of their own.
    """
    for action in range(mask.shape[0]):
        mask[action] = 0
    for i in range(rules.legal_actions(state, found)):
        mask[found[i]] = 1


@jit
def raw_contents(rules: Rules, state: StateRow, cells: NDArray[np.int32], rest: NDArray[np.int32]) -> None:
    """Writes the whole row as `rest`: right for every game, but it hides all symmetries.

    `contents` says what stands on each cell (`cells` [N], OWN_STONE and so on) and all else that the future depends on
    (`rest` [rest_size]), except the player to act, the phase and the endless counter. It is seen by the player to act,
    so that a symmetry moves cells and leaves `rest` alone, also where it swaps the players.
    """
    for cell in range(cells.shape[0]):
        cells[cell] = NOTHING
    for i in range(state.shape[0]):
        rest[i] = state[i]


@jit
def nothing_settled(rules: Rules, state: StateRow) -> int:
    """Returns ONGOING, always: the `settled_outcome` of games that have none of their own.

    `settled_outcome` sees an ongoing state and returns the outcome that best play leads to, where that is certain and
    cheap to see, else ONGOING. The solver and `uct+` look no further there; the rules do not ask it.
    """
    return ONGOING


@jit
def one_layer(rules: Rules, state: StateRow) -> int:
    """Returns 0: the `layer` of games that say nothing of layers.

    `layer` is a number from 0 on that never falls along play and is the same for all symmetric images, such as how
    many stones were ever played: the solver can then take one layer after the other, the last one first.
    """
    return 0


def has_layers(rules: Rules) -> bool:
    """Whether a game says that it falls into layers."""
    return getattr(type(rules), "layer", one_layer) is not one_layer


@jit
def all_useful(rules: Rules, state: StateRow, out: NDArray[np.int32]) -> int:
    """Writes all legal actions to `out` [A] and returns their number: the `useful_actions` of games without their own.

    `useful_actions` may leave out legal actions of an ongoing state with which its player loses for certain, where
    that is cheap to see, even all of them. The solver makes no others; the rules do not ask it.
    """
    return int(rules.legal_actions(state, out))


@jit
def no_promise(rules: Rules, state: StateRow) -> int:
    """Returns 0, always: the `promise` of games that have none of their own.

    `promise` guesses how well an ongoing state stands for the player to act, a number between -2^16 and 2^16. The
    solver searches first what promises most; no value depends on it.
    """
    return 0


# What games may say or leave out, by name: masks, and what the solver asks.
DEFAULTS: Mapping[str, Any] = {
    "legal_mask": mask_found,
    "contents": raw_contents,
    "settled_outcome": nothing_settled,
    "useful_actions": all_useful,
    "promise": no_promise,
    "layer": one_layer,
}


def endless_counter(rules: Rules) -> tuple[int, int] | None:
    """Returns the entry of the row that counts towards a draw by endless play, and the count that makes the draw.

    None where play cannot go on for ever. An action adds 1 to the counter, leaves it or sets it to 0, and the counter
    has no part in anything but that draw.
    """
    return getattr(rules, "endless_counter", None)


def colour_plane(rules: Rules) -> int | None:
    """Returns the plane that says which colour the observer has, by a constant over the board; None without one.

    Rules that have one give it as `colour_plane`. All other planes follow the symmetries: what the player to act sees
    of an image is the image of what is seen, also where players are exchanged.
    """
    return getattr(rules, "colour_plane", None)


@infer_getattr
class _RulesMethods(AttributeTemplate):
    """How compiled code finds `rules.step`: it is the `jit` method of that name of the rules' own class.

    Numba's `overload_method` would do, but it compiles one more function for every method.
    """

    key = types.BaseNamedTuple

    def generic_resolve(self, rules: Any, name: str) -> Any:  # type: ignore[override]
        method = getattr(rules.instance_class, name, None)
        if not isinstance(method, Dispatcher):
            return None
        called = types.Dispatcher(method)

        class Call(AbstractTemplate):
            key = method

            def generic(self, args: Any, kws: Any) -> Any:
                signature = self.context.resolve_function_type(called, (rules, *args), kws)
                return signature and signature.as_method()

        return types.BoundFunction(Call, rules)


def game_rules(cls: type[C]) -> type[C]:
    """Class decorator: inside compiled code `rules.step(state, action)` resolves to the method of the rules' own class.

    Every compiled method of `cls` can then be called on an instance by the class's other methods and by the kernels.
    Compiled methods that a class leaves out are those of DEFAULTS.
    """
    remember_sources(cls)
    for name, default in DEFAULTS.items():
        if not hasattr(cls, name):
            setattr(cls, name, default)
    for method in vars(cls).values():
        if isinstance(method, Dispatcher):
            _lower_calls(method)
    return cls


def _lower_calls(method: Dispatcher) -> None:
    def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_function(types.Dispatcher(method), signature)(builder, args)

    lower: Any = lower_builtin
    any_number: Any = types.VarArg
    lower(method, any_number(types.Any))(call)
