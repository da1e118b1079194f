"""Symmetries, as tables and as maps of states."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject
from stonezoo.core.game import BLACK_WON, OUTCOME, TO_PLAY, WHITE_WON, Symmetry, colour_plane
from stonezoo.kernels.batch import mask_batch, observe_batch, step_batch, transform_batch
from stonezoo.state import Game


def find(subject: Subject) -> Iterator[Fault]:
    """Tables that are no group, and images that play differently."""
    game = subject.game
    tables = list(_table_faults(game))
    yield from tables
    if tables:
        return
    states = subject.states
    rows = np.ascontiguousarray(np.stack([state.row for state in states]))
    mask = _masks(game, rows)
    seen = _observations(game, rows)
    rng = subject.rng
    actions = np.array([int(rng.choice(s.legal_actions)) if not s.terminated else -1 for s in states], np.int32)
    after = rows.copy()
    step_batch(game.rules, after, actions)
    for number, symmetry in enumerate(game.symmetries):
        image = _images(game, rows, number, -77)
        faults = {
            "the image depends on what was in its row before": (image != _images(game, rows, number, 0)).any(1),
            "the image's legal actions are not the images of the legal actions": (
                _masks(game, image)[:, symmetry.actions] != mask
            ).any(1),
            "the image has another player to act": image[:, TO_PLAY] != rows[:, TO_PLAY] ^ symmetry.swaps_players,
            "the image has another outcome": image[:, OUTCOME] != _swapped(rows[:, OUTCOME], symmetry),
        }
        turned = np.where(actions >= 0, symmetry.actions[actions], -1).astype(np.int32)
        stepped = image.copy()
        step_batch(game.rules, stepped, turned)
        faults["the image of a step is not the step of the image"] = (stepped != _images(game, after, number, 0)).any(1)
        differs = _seen_differently(game, symmetry, seen, _observations(game, image))  # [B, C]
        names = ", ".join(repr(game.planes[plane]) for plane in np.flatnonzero(differs.any(0)))
        remedy = "; one that tells the colours apart must be named as colour_plane" if symmetry.swaps_players else ""
        message = f"what is seen of the image is not the image of what is seen, in the planes {names}{remedy}"
        faults[message] = differs.any(1)
        if symmetry.swaps_players:
            back = _images(game, image, _inverse(game, number), 0)
            faults["the inverse symmetry does not lead back"] = (back != rows).any(1)
        for message, lanes in faults.items():
            if lanes.any():
                lane = int(np.flatnonzero(lanes)[0])
                yield fault_at(states[lane], f"{symmetry.name}: {message} (action {actions[lane]})")
                break


def _table_faults(game: Game) -> Iterator[Fault]:
    found = game.symmetries
    if not found:
        yield Fault("symmetries() is empty: it must hold the identity at least")
        return
    for symmetry in found:
        for name, table, size in (
            ("cells", symmetry.cells, game.num_cells),
            ("actions", symmetry.actions, game.num_actions),
        ):
            if table.dtype != np.int32 or sorted(table.tolist()) != list(range(size)):
                yield Fault(f"{symmetry.name}: `{name}` must be a permutation of {size} numbers, int32")
                return
    first = found[0]
    if (first.cells != np.arange(game.num_cells)).any() or (first.actions != np.arange(game.num_actions)).any():
        yield Fault(f"the first symmetry, {first.name}, is not the identity")
    known = {_key(symmetry) for symmetry in found}
    for one in found:
        for two in found:
            both = Symmetry("", two.cells[one.cells], two.actions[one.actions], one.swaps_players ^ two.swaps_players)
            if _key(both) not in known:
                yield Fault(f"{one.name} and then {two.name} is no symmetry of the game: symmetries must be a group")
                return


def _key(symmetry: Symmetry) -> tuple[bytes, bytes, bool]:
    return symmetry.cells.tobytes(), symmetry.actions.tobytes(), bool(symmetry.swaps_players)


def _inverse(game: Game, number: int) -> int:
    symmetry = game.symmetries[number]
    inverse = Symmetry(
        "",
        np.argsort(symmetry.cells).astype(np.int32),
        np.argsort(symmetry.actions).astype(np.int32),
        symmetry.swaps_players,
    )
    return [_key(other) for other in game.symmetries].index(_key(inverse))


def _images(game: Game, rows: NDArray[np.int32], number: int, filled: int) -> NDArray[np.int32]:
    cells = np.stack([symmetry.cells for symmetry in game.symmetries])
    swaps = np.array([symmetry.swaps_players for symmetry in game.symmetries], np.int8)
    out = np.full_like(rows, filled)
    transform_batch(game.rules, rows, cells, swaps, np.full(len(rows), number, np.int32), out)
    return out


def _masks(game: Game, rows: NDArray[np.int32]) -> NDArray[np.int8]:
    mask = np.zeros((len(rows), game.num_actions), np.int8)
    mask_batch(game.rules, rows, np.empty(game.num_actions, np.int32), mask)
    return mask


def _observations(game: Game, rows: NDArray[np.int32]) -> NDArray[np.float32]:
    out = np.zeros((len(rows), *game.observation_shape), np.float32)
    observe_batch(game.rules, rows, out)
    return out


def _swapped(outcome: NDArray[np.int32], symmetry: Symmetry) -> NDArray[np.int32]:
    if not symmetry.swaps_players:
        return outcome
    won = np.isin(outcome, (BLACK_WON, WHITE_WON))
    return np.where(won, BLACK_WON + WHITE_WON - outcome, outcome).astype(np.int32)


def _seen_differently(
    game: Game, symmetry: Symmetry, seen: NDArray[np.float32], image: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Which planes of which rows differ from the images of what is seen: bool [B, C]."""
    grid = np.array(game.layout.grid)
    places = np.array([np.argwhere(grid == cell)[0] for cell in range(game.num_cells)])  # [N, 2]
    before = seen[:, places[:, 0], places[:, 1]]  # [B, N, C]
    after = image[:, places[:, 0], places[:, 1]]
    differs = after[:, symmetry.cells] != before
    colour = colour_plane(game.rules)
    if symmetry.swaps_players and colour is not None:
        differs[:, :, colour] = False
    found: NDArray[np.bool_] = differs.any(1)
    return found
