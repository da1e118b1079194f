"""Layers into which a game says that it falls, so that it can be solved one layer after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stonezoo.check.positions import children, images, ongoing, rows_of
from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject
from stonezoo.core.game import ONGOING, OUTCOME, has_layers
from stonezoo.solve.packed import layers_of


def find(subject: Subject) -> Iterator[Fault]:
    """Layers to which play comes back, or in which a position and its images are not together."""
    game = subject.game
    if not has_layers(game.rules):
        return
    states = ongoing(subject)
    layers = layers_of(game.rules, rows_of(states)).tolist()
    for state, layer in zip(states, layers, strict=True):
        rows, actions = children(game, state.row)
        after = layers_of(game.rules, rows)
        for lane in np.flatnonzero((rows[:, OUTCOME] == ONGOING) & (after < layer))[:1].tolist():
            message = f"action {actions[lane]} leads from layer {layer} back to {after[lane]}: a layer may never fall"
            yield fault_at(state, message)
    for symmetry, image in images(game, rows_of(states)):
        for lane in np.flatnonzero(layers_of(game.rules, image) != layers)[:1].tolist():
            yield fault_at(states[lane], f"has another layer under {symmetry.name}")
