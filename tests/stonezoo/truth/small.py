"""A small solved game, and who plays it by its table."""

import numpy as np

import stonezoo
from stonezoo.solve import ILLEGAL, Table

SMALL = stonezoo.load_game("resolve", board_size=3)


class Oracular:
    """Plays by the table: the best action, or the worst one."""

    def __init__(self, table: Table, best: bool) -> None:
        self.name = "best" if best else "worst"
        self.table = table
        self.best = best

    def act(self, states: np.ndarray, streams: np.ndarray) -> np.ndarray:
        values = self.table.action_values(states).astype(np.int32)
        values = values if self.best else np.where(values == ILLEGAL, ILLEGAL, -values)
        return values.argmax(1).astype(np.int32)

    def assess(self, states: np.ndarray, streams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.act(states, streams), self.table.values(states) * (0.5 if self.best else -0.5)
