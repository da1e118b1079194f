"""PUCT, the search of AlphaZero (Silver et al. 2018), with q in [-1, 1] for the player to act at the node."""

import numpy as np
from numpy.typing import NDArray

from stonezero.search.gumbel import HALF_STEP, Settings
from stonezero.search.tree import (
    PAIR,
    PRIOR,
    ROOT,
    VALUE,
    VALUE_SUM,
    VISITED_COUNT,
    VISITS,
    Pool,
    action_of,
    edge_count,
    policy_pair,
    side,
    statistics_pair,
    visits_of,
)
from stonezoo.core.jit import jit
from stonezoo.core.rng import Stream, uniform


@jit
def select_puct(pool: Pool, settings: Settings, at: int) -> int:
    """The edge of the highest q(a) + c_puct prior(a) sqrt(1 + sum N) / (1 + N(a)).

    An unvisited edge has the q of its node: the mean of all evaluations there so far.
    """
    front = int(pool.halves[2 * at + VISITED_COUNT])
    sign = side(pool, at)
    policy, statistics = policy_pair(at, 0), statistics_pair(pool, at, 0)
    visits, value_sum = 0, pool.numbers[at + VALUE]
    for edge in range(front):
        visits += int(pool.halves[2 * (statistics + PAIR * edge) + VISITS])
        value_sum += pool.numbers[statistics + PAIR * edge + VALUE_SUM]
    scale = settings.c_puct * np.sqrt(np.float64(1 + visits))
    best, best_score = front, -np.inf
    if front < edge_count(pool, at):
        best_score = sign * value_sum / (1 + visits) + scale * pool.numbers[policy + PAIR * front + PRIOR]
    for edge in range(front):
        pair = statistics + PAIR * edge
        count = int(pool.halves[2 * pair + VISITS])
        prior = pool.numbers[policy + PAIR * edge + PRIOR]
        score = sign * pool.numbers[pair + VALUE_SUM] / count + scale * prior / (1 + count)
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
def mix_dirichlet(pool: Pool, work: NDArray[np.float64], settings: Settings, stream: Stream) -> None:
    """Mixes Dirichlet noise into the root's prior."""
    edges = edge_count(pool, ROOT)
    total = 0.0
    for edge in range(edges):
        work[edge] = _gamma(stream, settings.dirichlet_alpha)
        total += work[edge]
    if total > 0.0:
        share = settings.dirichlet_fraction
        for edge in range(edges):
            at = policy_pair(ROOT, edge) + PRIOR
            pool.numbers[at] = (1.0 - share) * pool.numbers[at] + share * work[edge] / total


@jit
def visit_policy(pool: Pool, out: NDArray[np.float32]) -> None:
    """Writes the root's visits by action as shares of their sum; without visits the prior."""
    edges = edge_count(pool, ROOT)
    total = 0
    for edge in range(edges):
        total += visits_of(pool, ROOT, edge)
    for edge in range(edges):
        prior = pool.numbers[policy_pair(ROOT, edge) + PRIOR]
        out[action_of(pool, ROOT, edge)] = visits_of(pool, ROOT, edge) / total if total > 0 else prior


@jit
def most_visited(pool: Pool) -> int:
    """The most visited root edge, and among equals that of the highest prior."""
    best = 0
    for edge in range(edge_count(pool, ROOT)):
        more = visits_of(pool, ROOT, edge) - visits_of(pool, ROOT, best)
        prior = pool.numbers[policy_pair(ROOT, edge) + PRIOR]
        if more > 0 or (more == 0 and prior > pool.numbers[policy_pair(ROOT, best) + PRIOR]):
            best = edge
    return best


@jit
def sample_visited(pool: Pool, work: NDArray[np.float64], temperature: float, stream: Stream) -> int:
    """Draws a root edge with probability in proportion to N^(1 / temperature)."""
    edges = edge_count(pool, ROOT)
    most = max(1, visits_of(pool, ROOT, most_visited(pool)))
    total = 0.0
    for edge in range(edges):
        work[edge] = (visits_of(pool, ROOT, edge) / most) ** (1.0 / temperature)
        total += work[edge]
    left = uniform(stream) * total
    chosen = most_visited(pool)
    for edge in range(edges):
        if work[edge] > 0.0:
            if left < work[edge]:
                return edge
            left -= work[edge]
    return chosen
