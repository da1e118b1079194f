"""The games as OpenSpiel games, for its algorithms, bots and `rl_environment`.

Importing this module registers every game of `stonezoo.game_names()` under the name `python_stonezoo_NAME`, with the
game's own parameters:

    import pyspiel
    import stonezoo.adapters.open_spiel

    game = pyspiel.load_game("python_stonezoo_rive(board_size=3)")

Actions are StoneZoo's. A player who has another action in the same turn is simply the current player again, as
OpenSpiel allows; an algorithm that alternates players by itself would be wrong on these games. Chance plays no part and
everything is seen by both, so an information state is the history.

Pickled games and states bring this module along. OpenSpiel's own text of a state (`serialize`) and of a game do not:
where those are read, it must have been imported.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pyspiel
from numpy.typing import NDArray
from open_spiel.python.observation import IIGObserverForPublicInfoGame

from stonezoo.core.game import PLAYER_NAMES
from stonezoo.games import game_names, rules_class
from stonezoo.state import Game, State, load_game

PREFIX = "python_stonezoo_"
LONGEST = 2**31 - 1  # OpenSpiel keeps a game's greatest length in 32 bits; the proven bounds of large boards exceed it
POSITION = "position"  # the one key of a state as a dict: its text

_classes: dict[str, Any] = {}  # what OpenSpiel was given to make each game of ours


def register_games() -> list[str]:
    """Registers with OpenSpiel what it does not know yet of `stonezoo.game_names()`; returns all names given there.

    Importing the module does it once; call it for a game registered with `stonezoo.register_game` afterwards.
    """
    for name in game_names():
        if name not in _classes:
            # OpenSpiel lets go of what it was given after Python has ended. A function would be freed then, which
            # aborts the process; a class refers to itself and stays.
            _classes[name] = type(f"{name.capitalize()}Game", (StoneZooGame,), {"name": name})
            pyspiel.register_game(_game_type(name), _classes[name])
    return [PREFIX + name for name in _classes]


def open_spiel_game(game: Game) -> Any:
    """Returns a StoneZoo game, parameters and all, as a `pyspiel.Game`."""
    register_games()
    return pyspiel.load_game(PREFIX + game.name, dict(game.parameters))


class StoneZooGame(pyspiel.Game):  # type: ignore[misc]
    """One game with its parameters. OpenSpiel makes it: `pyspiel.load_game`, or `open_spiel_game`.

    `max_game_length` is the proven bound of the game (`Game.max_steps`), or 2^31 - 1 where that is less.

    Attributes:
        name: of the game in StoneZoo: each game has a class of its own that sets it.
        stonezoo: the `stonezoo.Game`.
    """

    name: ClassVar[str]

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        """Raises ValueError for a parameter out of range, saying what is accepted."""
        self.stonezoo: Game = load_game(self.name, **(params or {}))
        bound = self.stonezoo.max_steps
        info = pyspiel.GameInfo(
            num_distinct_actions=self.stonezoo.num_actions,
            max_chance_outcomes=0,
            num_players=len(PLAYER_NAMES),
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=LONGEST if bound is None else min(bound, LONGEST),
        )
        super().__init__(_game_type(self.name), info, dict(params or {}))

    def __reduce__(self) -> tuple[Any, ...]:
        return _load, (str(self),)

    def new_initial_state(self, state: Any = None) -> "StoneZooState":
        """Returns the state from which games start, or that of a position.

        Args:
            state: None, a position text (`State.to_text`), or what `to_dict` and `to_struct` of a state return.

        Raises:
            ValueError: the position contradicts itself or the rules; the message says where.
        """
        if state is None:
            return StoneZooState(self, self.stonezoo.initial_state())
        if isinstance(state, pyspiel.StateStruct):
            state = state.to_dict()
        if isinstance(state, Mapping):
            if set(state) != {POSITION}:
                raise ValueError(f"a state as a dict has the one key {POSITION!r}, not {sorted(state)}")
            state = state[POSITION]
        return StoneZooState(self, self.stonezoo.parse_state(state))

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """Returns what observes states: the planes, or the history where perfect recall is asked for."""
        if iig_obs_type is None or (iig_obs_type.public_info and not iig_obs_type.perfect_recall):
            return PlanesObserver(self.stonezoo, params)
        return IIGObserverForPublicInfoGame(iig_obs_type, params)


class StoneZooState(pyspiel.State):  # type: ignore[misc]
    """One position. Copies, pickles and serialised states go on from it, in mid-turn too."""

    def __init__(self, game: StoneZooGame, state: State) -> None:
        super().__init__(game)
        # OpenSpiel copies and serialises all attributes: there is this one only.
        self._state = state

    @property
    def stonezoo(self) -> State:
        """A copy of the `stonezoo.State`, for what OpenSpiel does not know: phases, counters, drawing, `undo`."""
        return self._state.copy()

    def current_player(self) -> int:
        """0 Black, 1 White, or `PlayerId.TERMINAL`."""
        terminal: int = pyspiel.PlayerId.TERMINAL
        return terminal if self._state.terminated else self._state.to_play

    def is_terminal(self) -> bool:
        return self._state.terminated

    def returns(self) -> list[float]:
        """Black's and White's totals: 1, -1, or 0 for a draw and before the end."""
        return list(self._state.returns)

    def __str__(self) -> str:
        """The position text: equal for equal positions, however they were reached."""
        return self._state.to_text()

    # What OpenSpiel calls of its own accord.

    def _legal_actions(self, player: int) -> list[int]:
        actions: list[int] = self._state.legal_actions.tolist()
        return actions

    def _apply_action(self, action: int) -> None:
        self._state.step(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self._state.action_to_str(action)

    def _to_struct(self) -> dict[str, str]:
        return {POSITION: self._state.to_text()}


class PlanesObserver:
    """What a player sees: the observation's planes, float32 [C, H, W] in [0, 1], channels first as OpenSpiel has them.

    Attributes:
        tensor: float32 [C * H * W].
        dict: `{"observation": float32 [C, H, W]}`, a view of `tensor`.
    """

    def __init__(self, game: Game, params: Any = None) -> None:
        """Raises ValueError when `params` are given: there are none."""
        if params:
            raise ValueError(f"observations have no parameters; given were {params}")
        height, width, channels = game.observation_shape
        self.tensor: NDArray[np.float32] = np.zeros(channels * height * width, np.float32)
        self.dict = {"observation": self.tensor.reshape(channels, height, width)}

    def set_from(self, state: StoneZooState, player: int) -> None:
        """Writes what `player`, 0 or 1, sees of a state."""
        self.dict["observation"][:] = state._state.observation(player).transpose(2, 0, 1)

    def string_from(self, state: StoneZooState, player: int) -> str:
        """Returns the position text: both players see everything."""
        return str(state)


def _load(text: str) -> Any:
    """The game of OpenSpiel's text for it, as pickles keep it: finding this function registers the games."""
    return pyspiel.load_game(text)


def _game_type(name: str) -> Any:
    rules = rules_class(name)
    return pyspiel.GameType(
        short_name=PREFIX + name,
        long_name=f"StoneZoo {name.capitalize()}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
        information=pyspiel.GameType.Information.PERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=len(PLAYER_NAMES),
        min_num_players=len(PLAYER_NAMES),
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={parameter.name: parameter.default for parameter in rules.parameters},
    )


register_games()
