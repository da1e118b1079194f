"""Gumbel AlphaZero: planning with few simulations (Danihelka et al. 2022, Policy improvement by planning with Gumbel).

Here q is in [0, 1] for the player to act at the node, as the constants c_visit = 50 and c_scale = 1 want it.
"""

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

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

HALF_STEP = 2.0**-33  # brings `uniform` from [0, 1) into (0, 1)
FINALISTS = 2  # candidates that the last halving leaves


class _Constants(NamedTuple):
    use_puct: int
    max_considered_actions: int
    c_visit: float
    c_scale: float
    c_puct: float
    dirichlet_alpha: float
    dirichlet_fraction: float


class Settings(_Constants):
    """Constants of the search, as compiled code takes them. Kernels that know no rules are dispatched on this class."""

    __slots__ = ()

    name: ClassVar[str] = "search"  # what is said to be compiled


class Root(NamedTuple):
    """What a search keeps of its root: B roots of at most A edges, numbered from 0, and M candidates."""

    noise: NDArray[np.float64]  # [B, A] Gumbel(0) of each edge, drawn once a search
    prior: NDArray[np.float64]  # [B, A] the network's, by action
    candidates: NDArray[np.int32]  # [B, M] edges still considered, best first
    scores: NDArray[np.float64]  # [M] scratch
    plan: NDArray[np.int32]  # [B, 6] of each root: BUDGET and the columns that follow it


BUDGET, MADE = 0, 1  # simulations wanted, and made
CONSIDERED, PHASES = 2, 3  # candidates that are left, halvings planned
NEXT_VISIT, PHASE_VISITS = 4, 5  # within the phase, and of the phase, all candidates together


def new_root(batch_size: int, num_actions: int, num_candidates: int) -> Root:
    """Returns empty roots."""
    return Root(
        np.zeros((batch_size, num_actions), np.float64),
        np.zeros((batch_size, num_actions), np.float64),
        np.zeros((batch_size, num_candidates), np.int32),
        np.zeros(num_candidates, np.float64),
        np.zeros((batch_size, 6), np.int32),
    )


@jit
def gumbel(stream: Stream) -> float:
    """Draws from Gumbel(0)."""
    return float(-np.log(-np.log(uniform(stream) + HALF_STEP)))


# --- Completed Q (section 4 and appendix D) ------------------------------------------------------------------------


@jit
def q_value(pool: Pool, pair: int, sign: float) -> float:
    """The q in [0, 1] of a visited edge, by its statistics, for the player whose side is `sign`."""
    return float(0.5 + 0.5 * sign * pool.numbers[pair + VALUE_SUM] / pool.halves[2 * pair + VISITS])


@jit
def sigma_scale(settings: Settings, most_visits: int) -> float:
    """The factor of σ(q) = (c_visit + max_b N(b)) c_scale q."""
    return (settings.c_visit + most_visits) * settings.c_scale


@jit
def most_visits(pool: Pool) -> int:
    """max_b N(b) over the root's edges."""
    most = 0
    for edge in range(edge_count(pool, ROOT)):
        most = max(most, visits_of(pool, ROOT, edge))
    return most


@jit
def mixed_value(pool: Pool) -> float:
    """v_mix in [0, 1] (equation 33) of the root: stands for the q of what was not visited."""
    sign = side(pool, ROOT)
    visits, weight, weighted = 0, 0.0, 0.0
    for edge in range(edge_count(pool, ROOT)):
        count = visits_of(pool, ROOT, edge)
        if count > 0:
            prior = pool.numbers[policy_pair(ROOT, edge) + PRIOR]
            visits += count
            weight += prior
            weighted += prior * q_value(pool, statistics_pair(pool, ROOT, edge), sign)
    value = 0.5 + 0.5 * sign * pool.numbers[ROOT + VALUE]
    if visits == 0:
        return float(value)
    return float((value + visits * weighted / weight) / (1 + visits))


# --- Below the root (section 5) ------------------------------------------------------------------------------------


@jit
def select_inner(pool: Pool, work: NDArray[np.float64], settings: Settings, at: int) -> int:
    """The edge of the highest π'(a) − N(a) / (1 + ΣN), where π' = softmax(logits + σ(completed q)).

    All that is unvisited has the same completed q, v_mix. So π' is in proportion to the prior there, and to
    prior exp(σ(q) − σ(v_mix)) where visited; and of the unvisited only the first can be the best.
    """
    front = int(pool.halves[2 * at + VISITED_COUNT])
    if front == 0:
        return 0
    sign = side(pool, at)
    policy, statistics = policy_pair(at, 0), statistics_pair(pool, at, 0)
    visits, most = 0, 0
    weight, weighted, best_q = 0.0, 0.0, 0.0
    for edge in range(front):
        q = q_value(pool, statistics + PAIR * edge, sign)
        prior = pool.numbers[policy + PAIR * edge + PRIOR]
        count = int(pool.halves[2 * (statistics + PAIR * edge) + VISITS])
        work[edge] = q
        best_q = max(best_q, q)
        visits += count
        most = max(most, count)
        weight += prior
        weighted += prior * q
    mixed = (0.5 + 0.5 * sign * pool.numbers[at + VALUE] + visits * weighted / weight) / (1 + visits)
    scale = sigma_scale(settings, most)
    has_unvisited = front < edge_count(pool, at)
    shift = scale * (best_q - mixed)  # taken from all exponents, against overflow
    total, best_score = 0.0, -np.inf
    if has_unvisited:
        shift = max(shift, 0.0)
        prior = pool.numbers[policy + PAIR * front + PRIOR]
        best_score = prior * np.exp(-shift)
        total = max(1.0 - weight, prior) * np.exp(-shift)
    for edge in range(front):
        improved = pool.numbers[policy + PAIR * edge + PRIOR] * np.exp(scale * (work[edge] - mixed) - shift)
        work[edge] = improved
        total += improved
    best, best_score = front, best_score / total
    for edge in range(front):
        score = work[edge] / total - pool.halves[2 * (statistics + PAIR * edge) + VISITS] / (1 + visits)
        if score > best_score:
            best, best_score = edge, score
    return best


# --- The root: sequential halving (algorithm 2) --------------------------------------------------------------------


@jit
def root_score(pool: Pool, noise: NDArray[np.float64], edge: int, scale: float, temperature: float) -> float:
    """The score g + logits + σ(q) of a root edge, with the noise g multiplied by the temperature."""
    score = temperature * noise[edge] + np.log(pool.numbers[policy_pair(ROOT, edge) + PRIOR])
    if visits_of(pool, ROOT, edge) > 0:
        score += scale * q_value(pool, statistics_pair(pool, ROOT, edge), side(pool, ROOT))
    return float(score)


@jit
def _insert(root: Root, b: int, count: int, edge: int, score: float) -> None:
    """Puts an edge into the first `count` candidates, which are sorted, behind those of the same score."""
    at = count
    while at > 0 and root.scores[at - 1] < score:
        root.scores[at] = root.scores[at - 1]
        root.candidates[b, at] = root.candidates[b, at - 1]
        at -= 1
    root.scores[at] = score
    root.candidates[b, at] = edge


@jit
def _begin_phase(root: Root, b: int) -> None:
    """Every candidate gets max(1, floor(n / (ceil(log2 m) m_now))) visits."""
    considered = int(root.plan[b, CONSIDERED])
    share = int(root.plan[b, BUDGET]) // (max(1, int(root.plan[b, PHASES])) * considered)
    root.plan[b, PHASE_VISITS] = max(1, share) * considered
    root.plan[b, NEXT_VISIT] = 0


@jit
def choose_candidates(pool: Pool, root: Root, settings: Settings, b: int) -> None:
    """Considers the m = min(n, max_considered_actions, legal) edges with the largest g + logits."""
    edges = edge_count(pool, ROOT)
    wanted = min(int(root.plan[b, BUDGET]), min(settings.max_considered_actions, edges))
    count = 0
    for edge in range(edges):
        score = root_score(pool, root.noise[b], edge, 0.0, 1.0)
        if count < wanted:
            _insert(root, b, count, edge, score)
            count += 1
        elif wanted > 0 and score > root.scores[wanted - 1]:
            _insert(root, b, wanted - 1, edge, score)
    root.plan[b, CONSIDERED] = wanted
    phases = 0
    while (1 << phases) < wanted:
        phases += 1
    root.plan[b, PHASES] = phases
    if wanted > 0:
        _begin_phase(root, b)


@jit
def select_root(pool: Pool, root: Root, settings: Settings, b: int) -> int:
    """The next edge to visit; where a phase is over, the better half of the candidates goes on."""
    if root.plan[b, NEXT_VISIT] == root.plan[b, PHASE_VISITS]:
        scale = sigma_scale(settings, most_visits(pool))
        considered = int(root.plan[b, CONSIDERED])
        for k in range(considered):  # the k-th candidate is read before an insertion can reach its place
            edge = int(root.candidates[b, k])
            _insert(root, b, k, edge, root_score(pool, root.noise[b], edge, scale, 1.0))
        root.plan[b, CONSIDERED] = min(considered, max(FINALISTS, considered // 2))
        _begin_phase(root, b)
    edge = int(root.candidates[b, root.plan[b, NEXT_VISIT] % root.plan[b, CONSIDERED]])
    root.plan[b, NEXT_VISIT] += 1
    return edge


@jit
def best_root_edge(pool: Pool, noise: NDArray[np.float64], settings: Settings, temperature: float) -> int:
    """The move: the most visited edge, and among equals that of the highest g + logits + σ(q)."""
    most = most_visits(pool)
    scale = sigma_scale(settings, most)
    best, best_score = 0, -np.inf
    for edge in range(edge_count(pool, ROOT)):
        if visits_of(pool, ROOT, edge) == most:
            score = root_score(pool, noise, edge, scale, temperature)
            if score > best_score:
                best, best_score = edge, score
    return best


@jit
def improved_policy(pool: Pool, work: NDArray[np.float64], settings: Settings, out: NDArray[np.float32]) -> None:
    """Writes π' = softmax(logits + σ(completed q)) of the root by action; the Gumbel noise has no part in it."""
    edges = edge_count(pool, ROOT)
    sign = side(pool, ROOT)
    mixed = mixed_value(pool)
    scale = sigma_scale(settings, most_visits(pool))
    highest, total = -np.inf, 0.0
    for edge in range(edges):
        q = q_value(pool, statistics_pair(pool, ROOT, edge), sign) if visits_of(pool, ROOT, edge) > 0 else mixed
        work[edge] = np.log(pool.numbers[policy_pair(ROOT, edge) + PRIOR]) + scale * q
        highest = max(highest, work[edge])
    for edge in range(edges):
        work[edge] = np.exp(work[edge] - highest)
        total += work[edge]
    for edge in range(edges):
        out[action_of(pool, ROOT, edge)] = work[edge] / total
