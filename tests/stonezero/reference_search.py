"""Gumbel AlphaZero for one tree in slow plain Python, straight from the formulas; shares nothing with the kernels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import ONGOING, OUTCOME, TO_PLAY
from tests.stonezero.toy_game import after, black_value, legal

C_VISIT, C_SCALE = 50.0, 1.0


class Node:
    """A position whose single choices are played at once, as a search may: they are no decisions."""

    def __init__(self, game: Any, state: NDArray[np.int32], is_root: bool = False) -> None:
        while not is_root and len(legal(game, state)) == 1:
            state = after(game, state, legal(game, state)[0])
        self.state = state
        self.over = state[OUTCOME] != ONGOING
        self.player = int(state[TO_PLAY])
        self.actions = legal(game, state)
        self.children: dict[int, Node] = {}
        self.n = dict.fromkeys(self.actions, 0)
        self.total = dict.fromkeys(self.actions, 0.0)  # for player 0
        self.logits: dict[int, float] = {}
        self.value = 0.0  # for player 0

    def evaluate(self, game: Any, network: Any) -> float:
        if self.over:
            self.value = black_value(self.state)
            return self.value
        out = np.zeros((1, *game.observation_shape), np.float32)
        game.rules.observe(self.state, self.player, out[0])
        logits, value = network(out)
        self.logits = {a: float(logits[0, a]) for a in self.actions}
        self.value = float(value[0]) * (1 if self.player == 0 else -1)
        return self.value

    def own(self, value: float) -> float:
        """A value of player 0 as q in [0, 1] of the player to act."""
        return (1 + value * (1 if self.player == 0 else -1)) / 2

    def q(self, a: int) -> float:
        return self.own(self.total[a] / self.n[a])

    def prior(self) -> dict[int, float]:
        return softmax(self.logits)

    def sigma(self, q: float) -> float:
        return (C_VISIT + max(self.n.values())) * C_SCALE * q

    def improved_policy(self) -> dict[int, float]:
        prior, visited = self.prior(), [a for a in self.actions if self.n[a]]
        count = sum(self.n.values())
        mixed = self.own(self.value)
        if visited:
            weighted = sum(prior[a] * self.q(a) for a in visited) / sum(prior[a] for a in visited)
            mixed = (mixed + count * weighted) / (1 + count)
        return softmax({a: self.logits[a] + self.sigma(self.q(a) if self.n[a] else mixed) for a in self.actions})

    def select(self) -> int:
        policy, count = self.improved_policy(), sum(self.n.values())
        return max(self.actions, key=lambda a: policy[a] - self.n[a] / (1 + count))


def softmax(logits: dict[int, float]) -> dict[int, float]:
    highest = max(logits.values())
    weights = {a: math.exp(x - highest) for a, x in logits.items()}
    return {a: w / sum(weights.values()) for a, w in weights.items()}


def simulate(game: Any, network: Any, node: Node, action: int) -> float:
    """One simulation that begins with `action`; returns the leaf's value for player 0."""
    if action not in node.children:
        child = node.children[action] = Node(game, after(game, node.state, action))
        value = child.evaluate(game, network)
    else:
        child = node.children[action]
        value = child.value if child.over else simulate(game, network, child, child.select())
    node.n[action] += 1
    node.total[action] += value
    return value


def visits_of_phase(n: int, m: int, now: int) -> int:
    return max(1, math.floor(n / (math.ceil(math.log2(m)) * now))) if m > 1 else n


def search(
    game: Any, state: NDArray[np.int32], network: Any, n: int, gumbel: dict[int, float], most: int = 16
) -> tuple[Node, int]:
    """The root after `n` simulations and the move."""
    root = Node(game, state, is_root=True)
    root.evaluate(game, network)

    def score(a: int) -> float:
        return gumbel[a] + root.logits[a] + (root.sigma(root.q(a)) if root.n[a] else 0.0)

    m = min(n, most, len(root.actions))
    candidates = sorted(root.actions, key=score, reverse=True)[:m]
    left = n
    while left:
        for _ in range(visits_of_phase(n, m, len(candidates))):
            for a in candidates:
                if left:
                    simulate(game, network, root, a)
                    left -= 1
        better_half = max(2, len(candidates) // 2)
        candidates = sorted(candidates, key=score, reverse=True)[:better_half]
    most_visits = max(root.n.values())
    return root, max((a for a in root.actions if root.n[a] == most_visits), key=score)
