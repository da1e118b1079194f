"""`Game` and `State`: the Pythonic face of one game and one position."""

import operator
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.board import BoardLayout
from stonezoo.core.game import BLACK_WON, DRAWN, NO_WINNER, ONGOING, PLAYER_NAMES, TO_PLAY, Rules, StateRow, Symmetry
from stonezoo.core.text import join_position, split_position
from stonezoo.games import rules_class
from stonezoo.kernels.scalar import (
    COUNT_BITS,
    ILLEGAL,
    LEGAL,
    NO_ROOM,
    OUTCOME_SHIFT,
    PHASE_SHIFT,
    PLY,
    TO_PLAY_SHIFT,
    new_tape,
    plies_of,
    scalar_kernels,
)
from stonezoo.render import to_svg

FIRST_CAPACITY = 32  # plies of history; doubled when full
NO_MASK = np.empty(0, np.int8)
INTEGERS = frozenset((int, np.int32, np.int64))  # what compiled code takes for an action as it is


class IllegalActionError(ValueError):
    """An action that is not legal now; the message says why. The state is as before."""


class Game:
    """One game with its parameters. Immutable; equal and hashed by name and parameters; pickles.

    Attributes:
        name: such as `"rive"`.
        parameters: every parameter with its value.
        rules: the compiled record of rules, the first argument of every kernel.
        rules_id: name, rule profile and its version, such as `"dara/standard@1"`; part of all that is stored.
        num_actions: A, the number of actions; the numbers are those of the design: see the game's rules page.
        num_cells: cells or points of the board.
        observation_shape: (H, W, C) of an observation.
        max_steps: a proven bound on the actions of a game.
    """

    def __init__(self, name: str, **parameters: Any) -> None:
        """Raises ValueError for an unknown name or parameter and for a value out of range, listing what is accepted."""
        self.rules: Rules = rules_class(name).create(**parameters)
        self.name = name
        self.parameters: Mapping[str, int | str] = MappingProxyType(_parameters(self.rules))
        self.rules_id = f"{name}/{self.rules.profile}@{self.rules.version[self.rules.profile]}"
        self.num_actions = self.rules.num_actions
        self.num_cells = self.rules.num_cells
        self.observation_shape = self.rules.observation_shape
        self.phases: type[IntEnum] = self.rules.phases
        self._integers: tuple[int, ...] = tuple(self.rules)
        self._phase_members = {int(phase): phase for phase in self.phases}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and self.rules_id == other.rules_id and self.parameters == other.parameters

    def __hash__(self) -> int:
        return hash((self.rules_id, self._integers))

    def __reduce__(self) -> tuple[Any, ...]:
        return load_game_from, (self.name, dict(self.parameters))

    def __copy__(self) -> "Game":
        return self

    def __deepcopy__(self, memo: Any) -> "Game":
        return self

    def __repr__(self) -> str:
        return f"load_game({self.name!r}, {', '.join(f'{key}={value!r}' for key, value in self.parameters.items())})"

    @cached_property
    def max_steps(self) -> int | None:
        """A proven bound on the number of actions of a game from the initial state, or None."""
        return self.rules.max_steps

    @cached_property
    def layout(self) -> BoardLayout:
        """Where the cells lie, for drawing, and what they are called."""
        return self.rules.layout()

    @cached_property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """All symmetries of the game as index tables, the identity first."""
        found = self.rules.symmetries()
        for symmetry in found:
            symmetry.cells.setflags(write=False)
            symmetry.actions.setflags(write=False)
        return found

    @cached_property
    def policy_shape(self) -> tuple[int, int, int]:
        """(P, H, W): planes of actions over the observation's grid, as a network's policy head writes them."""
        return self.rules.policy_shape

    @cached_property
    def policy_index(self) -> NDArray[np.int64]:
        """Flat place [A] of each action in the planes of `policy_shape`."""
        index = self.rules.policy_index
        index.setflags(write=False)
        return index

    @cached_property
    def planes(self) -> tuple[str, ...]:
        """What each of the C planes of an observation says."""
        return self.rules.planes

    @cached_property
    def _action_numbers(self) -> dict[int, dict[str, int]]:
        return {
            int(phase): {self.rules.action_name(int(phase), a): a for a in range(self.num_actions)}
            for phase in self.phases
        }

    # The scalar kernels, compiled or loaded by using each once: later calls go straight to the compiled code.

    @cached_property
    def _describe(self) -> Callable[..., int]:
        kernel = scalar_kernels(type(self.rules)).describe
        kernel(new_tape(self.rules, 1), True, self._integers)
        return getattr(kernel, "call", kernel)

    @cached_property
    def _advance(self) -> Callable[..., int]:
        kernel, tape = scalar_kernels(type(self.rules)).advance, new_tape(self.rules, 2)
        self._describe(tape, True, self._integers)
        kernel(tape, int(tape[LEGAL]), self._integers)
        return getattr(kernel, "call", kernel)

    @cached_property
    def _look(self) -> Callable[..., None]:
        kernel, seen = scalar_kernels(type(self.rules)).look, np.empty(self.observation_shape, np.float32)
        kernel(self._initial._tape, 0, seen, NO_MASK, self._integers)
        return getattr(kernel, "call", kernel)

    @cached_property
    def _initial(self) -> "State":
        tape = new_tape(self.rules, FIRST_CAPACITY)
        return State(self, tape, self._describe(tape, True, self._integers))

    def initial_state(self) -> "State":
        """Returns the state from which every game starts."""
        return self._initial.copy()

    def from_row(self, row: StateRow) -> "State":
        """Returns the state of a row int32 [S], as the kernels keep them, with empty history; its entries are trusted.

        Raises:
            ValueError: the row's length is not this game's.
        """
        size = self.rules.state_size
        row = np.asarray(row)
        if row.shape != (size,):
            raise ValueError(f"a row of {self!r} has the shape ({size},), not {row.shape}")
        tape = new_tape(self.rules, FIRST_CAPACITY)
        plies_of(tape)[0, :size] = row
        return State(self, tape, self._describe(tape, False, self._integers))

    def parse_state(self, text: str) -> "State":
        """Returns the state of a position text, with empty history.

        Raises:
            PositionError: (a ValueError) the text says nothing, or contradicts itself or the rules; it points there.
        """
        rules = self.rules
        board, to_play, fields = split_position(text, rules.text_rows(), self.layout.names, rules.keys)
        return self.from_row(rules.from_position(board, to_play, fields))

    def action_cells(self, action: int) -> tuple[int, ...]:
        """The cells that an action touches, its target last.

        Raises:
            ValueError: there is no such action.
        """
        return self.rules.action_cells(self.check_action(action))

    def check_action(self, action: Any) -> int:
        """Returns the number of an action, legal or not, as an int.

        Raises:
            TypeError: `action` is no integer.
            ValueError: there is no such action.
        """
        number: int = as_action(action)
        if not 0 <= number < self.num_actions:
            raise ValueError(_no_action(number, self.num_actions))
        return number


def _parameters(rules: Rules) -> dict[str, int | str]:
    values = {}
    for parameter in rules.parameters:
        value = getattr(rules, parameter.name)
        values[parameter.name] = parameter.choices[value] if parameter.choices else value
    return values


def load_game(name: str, **parameters: Any) -> Game:
    """Returns a game by name, such as `load_game("rive", board_size=4)`.

    Raises:
        ValueError: an unknown name, an unknown parameter or a value out of range; the message lists what is accepted.
    """
    return Game(name, **parameters)


def load_game_from(name: str, parameters: Mapping[str, Any]) -> Game:
    """Returns the game of a name and a mapping of parameters, as files and pickles keep them."""
    return Game(name, **parameters)


class State:
    """One position of one game, with the actions that led to it.

    Two states are equal when their games, parameters and texts are; history, `ply` and `turn` do not count. Made by
    `Game.initial_state`, `Game.parse_state` and `copy`.
    """

    __slots__ = ("_advance", "_integers", "_status", "_tape", "game")

    def __init__(self, game: Game, tape: NDArray[np.int32], status: int) -> None:
        """`tape` holds the history and is the state's own; `status` is what `describe` says of it."""
        self.game = game
        self._advance = game._advance
        self._integers = game._integers
        self._tape = tape
        self._status = status

    @property
    def _row(self) -> StateRow:
        row: StateRow = plies_of(self._tape)[self._tape[PLY], :-1]
        return row

    def _plies(self) -> NDArray[np.int32]:
        """The part [ply + 1, S + 1] of the tape that is in use."""
        return plies_of(self._tape)[: self._tape[PLY] + 1]

    # --- What the position is ---------------------------------------------------------------------------------------

    @property
    def row(self) -> StateRow:
        """A copy of the state's row [S], int32, as the kernels keep it."""
        return self._row.copy()

    @property
    def to_play(self) -> int:
        """Who acts: 0 Black, 1 White. When terminated, who would act next."""
        return self._status >> TO_PLAY_SHIFT & 1

    @property
    def phase(self) -> IntEnum:
        """The kind of action due; when terminated, the kind of the last action."""
        phase: IntEnum = self.game._phase_members[self._status >> PHASE_SHIFT]
        return phase

    @property
    def terminated(self) -> bool:
        """Whether the game is over."""
        return self._status >> OUTCOME_SHIFT & 3 != ONGOING

    @property
    def winner(self) -> int:
        """0 or 1 when that player has won, else -1."""
        outcome = self._status >> OUTCOME_SHIFT & 3
        return NO_WINNER if outcome in (ONGOING, DRAWN) else outcome - BLACK_WON

    @property
    def returns(self) -> tuple[float, float]:
        """Black's and White's totals: 1, -1, or 0 for a draw and before the end."""
        winner = self.winner
        if winner == NO_WINNER:
            return 0.0, 0.0
        return (1.0, -1.0) if winner == 0 else (-1.0, 1.0)

    @property
    def ply(self) -> int:
        """Actions played since the initial or the parsed state."""
        return int(self._tape[PLY])

    @property
    def turn(self) -> int:
        """Turns finished since the initial or the parsed state."""
        players = self._plies()[:, TO_PLAY]
        return int(np.count_nonzero(players[1:] != players[:-1]))

    @property
    def history(self) -> tuple[int, ...]:
        """The actions played since the initial or the parsed state."""
        return tuple(self._plies()[1:, -1].tolist())

    @property
    def legal_actions(self) -> NDArray[np.int32]:
        """The legal actions, ascending, int32; empty when terminated."""
        return self._tape[LEGAL : LEGAL + (self._status & COUNT_BITS)].copy()

    @property
    def legal_action_mask(self) -> NDArray[np.int8]:
        """1 for each legal action, else 0: int8 [A]."""
        mask = np.zeros(self.game.num_actions, np.int8)
        mask[self.legal_actions] = 1
        return mask

    @property
    def board(self) -> NDArray[np.int8]:
        """The stones, int8 [num_cells]: -1 empty, 0 Black, 1 White."""
        return self.game.rules.board(self._row)

    @property
    def marks(self) -> dict[str, tuple[int, ...]]:
        """Cells with a part in the turn under way, such as `stone` and `swapped`."""
        return self.game.rules.marks(self._row)

    @property
    def counters(self) -> dict[str, int]:
        """Numbers that the board does not show, such as stones still to remove."""
        return self.game.rules.counters(self._row)

    def observation(self, player: int | None = None) -> NDArray[np.float32]:
        """Returns what `player` (default: who is to play) sees: float32 [H, W, C] in [0, 1].

        Raises:
            ValueError: `player` is neither 0 nor 1.
        """
        if player is None:
            player = self.to_play
        elif type(player) is not int or player not in (0, 1):
            player = _as_player(player)
        out = np.empty(self.game.observation_shape, np.float32)
        self.game._look(self._tape, player, out, NO_MASK, self._integers)
        return out

    def look(self, player: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """Returns what `player`, 0 or 1, sees and may do: `observation(player)` [H, W, C] and a mask of actions [A].

        The mask is int8, 1 for each legal action, all zeros when the player is not to act. One compiled call, and no
        check of `player`.
        """
        game = self.game
        seen, mask = np.empty(game.observation_shape, np.float32), np.empty(game.num_actions, np.int8)
        game._look(self._tape, player, seen, mask, self._integers)
        return seen, mask

    # --- Play -------------------------------------------------------------------------------------------------------

    def step(self, action: Any) -> None:
        """Plays one action.

        Raises:
            IllegalActionError: the action is not legal now; the message says why, and the state is as before.
            TypeError: `action` is no integer.
        """
        if type(action) not in INTEGERS:
            action = as_action(action)
        try:
            status = self._advance(self._tape, action, self._integers)
            if status == NO_ROOM:
                self._grow()
                status = self._advance(self._tape, action, self._integers)
        except OverflowError:  # beyond 64 bits
            status = ILLEGAL
        if status == ILLEGAL:
            raise IllegalActionError(self._why_illegal(int(action)))
        self._status = status

    def undo(self) -> int:
        """Takes the last action back and returns it.

        Raises:
            IndexError: no action has been played since the initial or the parsed state.
        """
        if self._tape[PLY] == 0:
            raise IndexError("nothing to undo: no action has been played since this state was made")
        action = int(self._plies()[-1, -1])
        self._tape[PLY] -= 1
        self._status = self.game._describe(self._tape, False, self._integers)
        return action

    def copy(self) -> "State":
        """Returns an independent copy, history and all."""
        return State(self.game, self._tape.copy(), self._status)

    def __copy__(self) -> "State":
        return self.copy()

    def __deepcopy__(self, memo: Any) -> "State":
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.game, self._plies().copy())

    def _grow(self) -> None:
        self._tape = _tape_of(self.game, self._plies(), 2 * len(self._plies()))
        self._status = self.game._describe(self._tape, False, self._integers)

    def _why_illegal(self, action: int) -> str:
        game = self.game
        if self.terminated:
            return f"action {action}: the game is over"
        if not 0 <= action < game.num_actions:
            return _no_action(action, game.num_actions)
        why = game.rules.why_illegal(self._row, action)
        return f"action {action} ({self.action_to_str(action)}) is illegal for {PLAYER_NAMES[self.to_play]}: {why}"

    # --- Text -------------------------------------------------------------------------------------------------------

    def to_text(self) -> str:
        """Returns the shortest complete position text, which `Game.parse_state` reads back."""
        rules, row = self.game.rules, self._row
        return join_position(rules.board(row).tolist(), rules.text_rows(), self.to_play, rules.text_fields(row))

    def action_to_str(self, action: SupportsIndex) -> str:
        """Returns the name that an action has in this phase.

        Raises:
            ValueError: there is no such action.
        """
        return self.game.rules.action_name(int(self.phase), self.game.check_action(action))

    def str_to_action(self, text: str) -> int:
        """Returns the action of a name in this phase, legal or not.

        Raises:
            ValueError: no action of this phase has that name.
        """
        try:
            return self.game._action_numbers[int(self.phase)][text]
        except (KeyError, TypeError):
            example = f", such as {self.action_to_str(int(self.legal_actions[0]))}" if not self.terminated else ""
            raise ValueError(f"{text!r} names no action in phase {self.phase.name.lower()}{example}") from None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self.game == other.game and bool(np.array_equal(self._row, other._row))

    def __hash__(self) -> int:
        return hash((self.game, self._row.tobytes()))

    def _repr_svg_(self) -> str:
        """The picture that notebooks show."""
        return to_svg(self)

    def __repr__(self) -> str:
        return f"<{self.game.rules_id} {self.to_text()!r}>"


def _no_action(action: int, num_actions: int) -> str:
    return f"action {action} is not one of the {num_actions} actions 0 to {num_actions - 1}"


def as_action(action: Any) -> int:
    """Returns an action's number as an int; TypeError when it is no integer (`True` is none)."""
    if isinstance(action, (bool, np.bool_)):
        raise TypeError(f"an action is an integer, not {action!r}")
    if isinstance(action, np.ndarray) and action.ndim == 0:
        action = action[()]
    try:
        return operator.index(action)
    except TypeError:
        raise TypeError(f"an action is an integer, not {action!r}") from None


def _as_player(player: Any) -> int:
    if isinstance(player, (int, np.integer)) and not isinstance(player, bool) and player in (0, 1):
        return int(player)
    raise ValueError(f"player={player!r} is neither 0 (Black) nor 1 (White)")


def _tape_of(game: Game, plies: NDArray[np.int32], capacity: int) -> NDArray[np.int32]:
    tape = new_tape(game.rules, capacity)
    plies_of(tape)[: len(plies)] = plies
    tape[PLY] = len(plies) - 1
    return tape


def _restore(game: Game, plies: NDArray[np.int32]) -> State:
    tape = _tape_of(game, plies, max(FIRST_CAPACITY, 2 * len(plies)))
    return State(game, tape, game._describe(tape, False, game._integers))
