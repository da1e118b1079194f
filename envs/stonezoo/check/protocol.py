"""Whether a game has what the protocol asks for, in the right shapes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stonezoo.check.report import Fault
from stonezoo.check.subject import Subject
from stonezoo.core.game import HEADER, colour_plane
from stonezoo.core.jit import INTERPRETED
from stonezoo.games import rules_class
from stonezoo.state import Game, load_game

COMPILED = ("reset", "step", "is_legal", "legal_actions", "random_action", "observe", "transform")
CLASS_ATTRIBUTES = ("name", "version", "phases", "parameters", "planes", "on_board_plane", "keys")
UNACCEPTED: tuple[Any, ...] = (None, True, 2.5, "no such choice", [1])


def find(subject: Subject) -> Iterator[Fault]:
    """Attributes, shapes, names and parameters."""
    game = subject.game
    cls = rules_class(game.name)
    missing = [name for name in (*CLASS_ATTRIBUTES, *COMPILED) if not hasattr(cls, name)]
    if missing:
        yield Fault(f"{cls.__name__} lacks {', '.join(missing)}; stonezoo.core.game.Rules says what they are")
        return
    if not INTERPRETED:
        for name in COMPILED:
            if not hasattr(getattr(cls, name), "py_func"):
                yield Fault(f"{cls.__name__}.{name} is not compiled: it needs the decorator stonezoo.core.jit.jit")
    yield from _parameters(game)
    yield from _shapes(game)
    yield from _layout(game)
    yield from _names(game)


def _parameters(game: Game) -> Iterator[Fault]:
    try:
        load_game(game.name, no_such_parameter=1)
        yield Fault("an unknown parameter is accepted; read_parameters refuses it")
    except ValueError as error:
        if "no_such_parameter" not in str(error):
            yield Fault(f"the error for an unknown parameter does not name it: {error}")
    for parameter in game.rules.parameters:
        outside = () if parameter.choices else (parameter.low - 1, parameter.high + 1)
        for value in (*UNACCEPTED, *outside):
            try:
                load_game(game.name, **{**game.parameters, parameter.name: value})
            except ValueError:
                continue
            except Exception as error:
                yield Fault(f"{parameter.name}={value!r} raises {type(error).__name__}, not ValueError: {error}")
                continue
            yield Fault(f"{parameter.name}={value!r} is accepted; the parameter must be {parameter.accepted}")
    again = load_game(game.name, **game.parameters)
    if again != game or hash(again) != hash(game) or again.rules != game.rules:
        yield Fault("the game made again with the same parameters is not equal")
    if game.rules.profile not in game.rules.version:
        yield Fault(f"the profile {game.rules.profile!r} has no version; versions are {dict(game.rules.version)}")


def _shapes(game: Game) -> Iterator[Fault]:
    rules = game.rules
    phases = list(rules.phases)
    if [int(phase) for phase in phases] != list(range(len(phases))):
        yield Fault(f"phases must be an IntEnum that counts from 0; it is {phases}")
    if rules.num_actions < 1 or rules.state_size < HEADER:
        yield Fault(f"num_actions={rules.num_actions} or state_size={rules.state_size} (from {HEADER}) is too low")
    shape = game.observation_shape
    if len(shape) != 3 or min(shape) < 1:
        yield Fault(f"observation_shape must be (H, W, C), all positive; it is {shape}")
        return
    if len(game.planes) != shape[2] or len(set(game.planes)) != shape[2]:
        yield Fault(f"planes must name each of the {shape[2]} planes once; they are {game.planes}")
    if not 0 <= rules.on_board_plane < shape[2]:
        yield Fault(f"on_board_plane={rules.on_board_plane} is none of the {shape[2]} planes")
    colour = colour_plane(rules)
    if colour is not None and not 0 <= colour < shape[2]:
        yield Fault(f"colour_plane={colour} is none of the {shape[2]} planes")
    planes, height, width = game.policy_shape
    if (height, width) != shape[:2]:
        yield Fault(f"policy_shape {game.policy_shape} lies over another grid than observations {shape}")
    index = np.asarray(game.policy_index)
    if index.shape != (game.num_actions,) or index.dtype != np.int64:
        yield Fault(f"policy_index must be int64 [{game.num_actions}]; it is {index.dtype} {list(index.shape)}")
    elif len(np.unique(index)) != len(index) or index.min() < 0 or index.max() >= planes * height * width:
        yield Fault(f"policy_index must give each action a place of its own in {game.policy_shape}")


def _layout(game: Game) -> Iterator[Fault]:
    layout, cells = game.layout, game.num_cells
    grid = np.array(layout.grid)
    if grid.shape != game.observation_shape[:2]:
        yield Fault(f"layout().grid has the shape {grid.shape}, observations {game.observation_shape}")
    elif sorted(grid[grid >= 0].tolist()) != list(range(cells)):
        yield Fault(f"layout().grid must hold each of the {cells} cells once, and -1 elsewhere")
    if len(layout.names) != cells or len(set(layout.names)) != cells or len(layout.centers) != cells:
        yield Fault(f"layout() must name and place each of the {cells} cells, with different names")
    if sum(game.rules.text_rows()) != cells:
        yield Fault(f"text_rows() counts {sum(game.rules.text_rows())} cells, num_cells is {cells}")


def _names(game: Game) -> Iterator[Fault]:
    for phase in game.phases:
        names: dict[str, int] = {}
        for action in range(game.num_actions):
            name = game.rules.action_name(int(phase), action)
            if not name or any(character.isspace() or character in "{}" for character in name):
                yield Fault(
                    f"phase {phase.name}: the name {name!r} of action {action} is empty or has blanks or braces"
                )
            if name in names:
                yield Fault(f"phase {phase.name}: actions {names[name]} and {action} are both named {name!r}")
                break
            names[name] = action
    for action in range(game.num_actions):
        touched = game.action_cells(action)
        if not touched or not all(0 <= cell < game.num_cells for cell in touched):
            yield Fault(f"action_cells({action}) is {touched}: it must name cells from 0 to {game.num_cells - 1}")
            break
