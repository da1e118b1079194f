"""PUCT, the search of AlphaZero (Silver et al. 2018), with q in [-1, 1] for the player to act at the node."""

import numpy as np
from numpy.typing import NDArray

from stonezero.search.gumbel import HALF_STEP, Settings
from stonezero.search.tree import ROOT, Tree, side
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, uniform


@jit
def select_puct(tree: Tree, settings: Settings, b: int, node: int) -> int:
    """The edge of the highest q(a) + c_puct prior(a) sqrt(1 + sum N) / (1 + N(a)).

    An unvisited edge has the q of its node: the mean of all evaluations there so far.
    """
    first = int(tree.first_edge[b, node])
    front = first + int(tree.visited_count[b, node])
    sign = side(tree, b, node)
    visits, value_sum = 0, tree.value[b, node]
    for edge in range(first, front):
        visits += int(tree.visits[b, edge])
        value_sum += tree.value_sum[b, edge]
    scale = settings.c_puct * np.sqrt(np.float64(1 + visits))
    best, best_score = front, -np.inf
    if front < first + int(tree.edge_count[b, node]):
        best_score = sign * value_sum / (1 + visits) + scale * tree.prior[b, front]
    for edge in range(first, front):
        count = int(tree.visits[b, edge])
        score = sign * tree.value_sum[b, edge] / count + scale * tree.prior[b, edge] / (1 + count)
        if score > best_score:
            best, best_score = edge, score
    return best


@jit
def _normal(stream: Stream) -> float:
    """Draws from the normal distribution (Box and Muller)."""
    radius = np.sqrt(-2.0 * np.log(uniform(stream) + HALF_STEP))
    return float(radius * np.cos(2.0 * np.pi * uniform(stream)))


@jit
def _gamma(stream: Stream, shape: float) -> float:
    """Draws from Gamma(shape, 1) (Marsaglia and Tsang 2000)."""
    boost = 1.0
    if shape < 1.0:
        boost = (uniform(stream) + HALF_STEP) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = _normal(stream)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and np.log(uniform(stream) + HALF_STEP) < 0.5 * x * x + d - d * v + d * np.log(v):
            return float(boost * d * v)


@jit
def mix_dirichlet(tree: Tree, settings: Settings, b: int, stream: Stream) -> None:
    """Mixes Dirichlet noise into the root's prior."""
    edges = int(tree.edge_count[b, ROOT])
    total = 0.0
    for edge in range(edges):
        tree.work[edge] = _gamma(stream, settings.dirichlet_alpha)
        total += tree.work[edge]
    if total > 0.0:
        share = settings.dirichlet_fraction
        for edge in range(edges):
            tree.prior[b, edge] = (1.0 - share) * tree.prior[b, edge] + share * tree.work[edge] / total


@jit
def visit_policy(tree: Tree, b: int, out: NDArray[np.float32]) -> None:
    """Writes the root's visits by action as shares of their sum; without visits the prior."""
    edges = int(tree.edge_count[b, ROOT])
    total = 0
    for edge in range(edges):
        total += int(tree.visits[b, edge])
    for edge in range(edges):
        out[tree.action[b, edge]] = tree.visits[b, edge] / total if total > 0 else tree.prior[b, edge]


@jit
def most_visited(tree: Tree, b: int) -> int:
    """The most visited root edge, and among equals that of the highest prior."""
    best = 0
    for edge in range(int(tree.edge_count[b, ROOT])):
        more = tree.visits[b, edge] - tree.visits[b, best]
        if more > 0 or (more == 0 and tree.prior[b, edge] > tree.prior[b, best]):
            best = edge
    return best


@jit
def sample_visited(tree: Tree, b: int, temperature: float, stream: Stream) -> int:
    """Draws a root edge with probability in proportion to N^(1 / temperature)."""
    edges = int(tree.edge_count[b, ROOT])
    most = max(1, int(tree.visits[b, most_visited(tree, b)]))
    total = 0.0
    for edge in range(edges):
        tree.work[edge] = (tree.visits[b, edge] / most) ** (1.0 / temperature)
        total += tree.work[edge]
    left = uniform(stream) * total
    chosen = most_visited(tree, b)
    for edge in range(edges):
        if tree.work[edge] > 0.0:
            if left < tree.work[edge]:
                return edge
            left -= tree.work[edge]
    return chosen
