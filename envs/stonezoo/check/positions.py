"""Batches of what a subject's states are and lead to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stonezoo.check.subject import Subject
from stonezoo.core.game import Symmetry
from stonezoo.kernels.batch import step_batch, transform_batch
from stonezoo.state import Game, State


def ongoing(subject: Subject) -> list[State]:
    """The states that are not over."""
    return [state for state in subject.states if not state.terminated]


def rows_of(states: list[State]) -> NDArray[np.int32]:
    """The rows [B, S] of states."""
    return np.ascontiguousarray(np.stack([state.row for state in states]))


def children(game: Game, row: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Rows [K, S] after each legal action, and the actions [K]."""
    actions = game.from_row(row).legal_actions
    rows = np.repeat(row[np.newaxis], len(actions), axis=0)
    step_batch(game.rules, rows, actions)
    return rows, actions


def images(game: Game, rows: NDArray[np.int32]) -> Iterator[tuple[Symmetry, NDArray[np.int32]]]:
    """Yields each symmetry and the images of rows [B, S] under it."""
    tables = np.stack([symmetry.cells for symmetry in game.symmetries])
    swaps = np.array([symmetry.swaps_players for symmetry in game.symmetries], np.int8)
    for number, symmetry in enumerate(game.symmetries):
        image = np.zeros_like(rows)
        transform_batch(game.rules, rows, tables, swaps, np.full(len(rows), number, np.int32), image)
        yield symmetry, image
