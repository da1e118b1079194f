"""The game under check, and the states that the checks look at."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stonezoo.games import game_names, register_game, rules_class
from stonezoo.players.function import import_here
from stonezoo.state import Game, State, load_game

DEFAULT_PLIES = 2_000
LONGEST_GAME = 5_000  # actions; a random game that is longer, and that no bound covers, is taken to go on for ever


class CheckError(ValueError):
    """What is to be checked cannot be had; the message says why."""


@dataclass
class Subject:
    """A game, the states to look at, and a referee if there is one.

    Attributes:
        target: the text that names the game: its name, or MODULE:CLASS of its rules.
        game: the game with its parameters.
        plies: about how many states random games bring.
        seed: of all random choices.
        referee: makes the slow referee's initial position, given the game's parameters; None: there is none.
        states: states of random games and of the first levels of the tree, each with its history; `collect` fills it.
        games: histories of whole random games.
    """

    target: str
    game: Game
    plies: int = DEFAULT_PLIES
    seed: int = 0
    referee: Callable[..., Any] | None = None
    states: list[State] = field(default_factory=list)
    games: list[State] = field(default_factory=list)

    @property
    def rng(self) -> np.random.Generator:
        """A fresh generator, fixed by the seed."""
        return np.random.default_rng(self.seed)

    @property
    def setting(self) -> str:
        """A Python expression that makes the game."""
        return f"stonezoo.{self.game!r}"

    @property
    def some_states(self) -> list[State]:
        """About a tenth of the states, evenly spread, for what takes long."""
        return self.states[:: max(1, len(self.states) // 200)]

    @property
    def longest_game(self) -> int:
        """Actions after which a random game is given up."""
        bound = self.game.max_steps
        return LONGEST_GAME if bound is None else bound + 1

    def collect(self) -> None:
        """Plays random games through `State` until there are enough states, and adds the first levels of the tree."""
        rng = self.rng
        seen: dict[bytes, State] = {}
        endless = False
        while not endless and len(seen) < self.plies and len(self.games) < self.plies:
            state = self.game.initial_state()
            seen.setdefault(state.row.tobytes(), state.copy())
            while len(state.legal_actions) and state.ply < self.longest_game:
                state.step(_choose(state, rng, keep_turn=len(self.games) % 2 == 1))
                if len(seen) < 2 * self.plies:
                    seen.setdefault(state.row.tobytes(), state.copy())
            self.games.append(state)
            endless = not state.terminated
        first: dict[bytes, State] = {}
        waiting = [self.game.initial_state()]  # breadth first: the whole of a small game
        while waiting and len(first) < self.plies:
            following: list[State] = []
            for state in waiting:
                for action in state.legal_actions.tolist():
                    after = state.copy()
                    after.step(action)
                    if len(first) < self.plies and after.row.tobytes() not in first:
                        first[after.row.tobytes()] = after
                        following.append(after)
            waiting = following
        self.states = list({**first, **seen}.values())

    def describe(self) -> dict[str, Any]:
        """What was looked at."""
        lengths = [state.ply for state in self.games]
        turns = [max(1, state.turn) for state in self.games]
        results = Counter({0: "Black", 1: "White"}.get(state.winner, "draw") for state in self.games)
        return {
            "states": len(self.states),
            "games": len(self.games),
            "longest_game": max(lengths, default=0),
            "actions_a_turn": round(sum(lengths) / max(1, sum(turns)), 2),
            "results": dict(results),
            "phases": sorted({state.phase.name for state in self.states}),
        }


def _choose(state: State, rng: np.random.Generator, keep_turn: bool) -> int:
    """A random action; with `keep_turn` one after which the same player acts, if one of four has it."""
    tried = rng.permutation(state.legal_actions)[:4].tolist()
    if keep_turn:
        for action in tried:
            after = state.game.from_row(state.row)
            after.step(action)
            if not after.terminated and after.to_play == state.to_play:
                return int(action)
    return int(tried[0])


def load_subject(
    target: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    plies: int = DEFAULT_PLIES,
    seed: int = 0,
    referee: str | Callable[..., Any] | None = None,
) -> Subject:
    """Returns the game that `target` names, ready to be checked.

    Args:
        target: the name of a registered game, or MODULE:CLASS of a rules class, which is registered.
        parameters: of the game; the others have their defaults.
        plies: about how many states of random games to look at.
        seed: of all random choices.
        referee: a callable that returns a slow second implementation's initial position, or its MODULE:NAME.

    Raises:
        CheckError: there is no such game, class or referee, or a parameter is not accepted.
    """
    if plies < 1:
        raise CheckError(f"plies={plies} must be at least 1")
    if ":" in target:
        rules: Any = import_object(target)
        name = getattr(rules, "name", None)
        if not inspect.isclass(rules) or not isinstance(name, str):
            raise CheckError(f"{target} is no class of rules: it is {rules!r}, without a text `name`")
        try:
            register_game(rules)
        except ValueError as error:
            raise CheckError(f"{target}: {error}") from error
    else:
        name = target
        if name not in game_names():
            raise CheckError(
                f"there is no game named {name!r}; games are {', '.join(game_names())}, or MODULE:CLASS of rules"
            )
    if not hasattr(rules_class(name), "create"):
        raise CheckError(f"{target} has no class method `create(**parameters)`, which makes its rules")
    try:
        game = load_game(name, **(parameters or {}))
    except ValueError as error:
        raise CheckError(str(error)) from error
    except (AttributeError, KeyError, TypeError) as error:
        raise CheckError(f"{target}: no game can be made of it: {type(error).__name__}: {error}") from error
    maker = import_object(referee) if isinstance(referee, str) else referee
    if maker is not None and not callable(maker):
        raise CheckError(f"{referee} is not callable: it must return the referee's initial position")
    return Subject(target, game, plies, seed, maker)


def import_object(path: str) -> Any:
    """Returns what MODULE:NAME names, found as Python finds it or in the current folder.

    Raises:
        CheckError: there is no such module or name.
    """
    module_name, _, name = path.partition(":")
    if not module_name or not name:
        raise CheckError(f"{path!r} must be MODULE:NAME, such as my_games.twixt:TwixtRules")
    try:
        found: Any = import_here(module_name)
    except ImportError as error:
        raise CheckError(f"{path}: the module {module_name!r} cannot be imported: {error}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise CheckError(f"{path}: {module_name!r} has no {name!r}")
        found = getattr(found, part)
    return found
