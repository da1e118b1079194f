"""Gumbel AlphaZero: planning with few simulations (Danihelka et al. 2022, Policy improvement by planning with Gumbel).

Here q is in [0, 1] for the player to act at the node, as the constants c_visit = 50 and c_scale = 1 want it.
"""

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezero.search.tree import ROOT, Tree, side
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
    considered: NDArray[np.int32]  # [B] candidates that are left
    phases: NDArray[np.int32]  # [B] halvings planned
    next_visit: NDArray[np.int32]  # [B] within the phase
    phase_visits: NDArray[np.int32]  # [B] visits of the phase, all candidates together
    budget: NDArray[np.int32]  # [B] simulations wanted
    made: NDArray[np.int32]  # [B] simulations made


def new_root(batch_size: int, num_actions: int, num_candidates: int) -> Root:
    """Returns empty roots."""
    counters = [np.zeros(batch_size, np.int32) for _ in range(6)]
    return Root(
        np.zeros((batch_size, num_actions), np.float64),
        np.zeros((batch_size, num_actions), np.float64),
        np.zeros((batch_size, num_candidates), np.int32),
        np.zeros(num_candidates, np.float64),
        *counters,
    )


@jit
def gumbel(stream: Stream) -> float:
    """Draws from Gumbel(0)."""
    return float(-np.log(-np.log(uniform(stream) + HALF_STEP)))


# --- Completed Q (section 4 and appendix D) ------------------------------------------------------------------------


@jit
def q_value(tree: Tree, b: int, edge: int, sign: float) -> float:
    """The q in [0, 1] of a visited edge for the player whose side is `sign`."""
    return float(0.5 + 0.5 * sign * tree.value_sum[b, edge] / tree.visits[b, edge])


@jit
def sigma_scale(settings: Settings, most_visits: int) -> float:
    """The factor of σ(q) = (c_visit + max_b N(b)) c_scale q."""
    return (settings.c_visit + most_visits) * settings.c_scale


@jit
def most_visits(tree: Tree, b: int, first: int, end: int) -> int:
    """max_b N(b) over edges."""
    most = 0
    for edge in range(first, end):
        most = max(most, int(tree.visits[b, edge]))
    return most


@jit
def mixed_value(tree: Tree, b: int, node: int, first: int, end: int) -> float:
    """v_mix in [0, 1] (equation 33): stands for the q of what was not visited."""
    sign = side(tree, b, node)
    visits, weight, weighted = 0, 0.0, 0.0
    for edge in range(first, end):
        if tree.visits[b, edge] > 0:
            visits += int(tree.visits[b, edge])
            weight += tree.prior[b, edge]
            weighted += tree.prior[b, edge] * q_value(tree, b, edge, sign)
    value = 0.5 + 0.5 * sign * tree.value[b, node]
    if visits == 0:
        return float(value)
    return float((value + visits * weighted / weight) / (1 + visits))


# --- Below the root (section 5) ------------------------------------------------------------------------------------


@jit
def select_inner(tree: Tree, settings: Settings, b: int, node: int) -> int:
    """The edge of the highest π'(a) − N(a) / (1 + ΣN), where π' = softmax(logits + σ(completed q)).

    All that is unvisited has the same completed q, v_mix. So π' is in proportion to the prior there, and to
    prior exp(σ(q) − σ(v_mix)) where visited; and of the unvisited only the first can be the best.
    """
    first = int(tree.first_edge[b, node])
    front = first + int(tree.visited_count[b, node])
    if front == first:
        return first
    sign = side(tree, b, node)
    visits, most = 0, 0
    weight, weighted, best_q = 0.0, 0.0, 0.0
    for edge in range(first, front):
        q = q_value(tree, b, edge, sign)
        tree.work[edge - first] = q
        best_q = max(best_q, q)
        visits += int(tree.visits[b, edge])
        most = max(most, int(tree.visits[b, edge]))
        weight += tree.prior[b, edge]
        weighted += tree.prior[b, edge] * q
    mixed = (0.5 + 0.5 * sign * tree.value[b, node] + visits * weighted / weight) / (1 + visits)
    scale = sigma_scale(settings, most)
    has_unvisited = front < first + int(tree.edge_count[b, node])
    shift = scale * (best_q - mixed)  # taken from all exponents, against overflow
    total = 0.0
    if has_unvisited:
        shift = max(shift, 0.0)
        total = max(1.0 - weight, tree.prior[b, front]) * np.exp(-shift)
    for edge in range(first, front):
        improved = tree.prior[b, edge] * np.exp(scale * (tree.work[edge - first] - mixed) - shift)
        tree.work[edge - first] = improved
        total += improved
    best, best_score = front, -np.inf
    if has_unvisited:
        best_score = tree.prior[b, front] * np.exp(-shift) / total
    for edge in range(first, front):
        score = tree.work[edge - first] / total - tree.visits[b, edge] / (1 + visits)
        if score > best_score:
            best, best_score = edge, score
    return best


# --- The root: sequential halving (algorithm 2) --------------------------------------------------------------------


@jit
def root_score(tree: Tree, root: Root, b: int, edge: int, scale: float, temperature: float) -> float:
    """The score g + logits + σ(q) of a root edge, with the noise g multiplied by the temperature."""
    score = temperature * root.noise[b, edge] + np.log(tree.prior[b, edge])
    if tree.visits[b, edge] > 0:
        score += scale * q_value(tree, b, edge, side(tree, b, ROOT))
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
    share = int(root.budget[b]) // (max(1, int(root.phases[b])) * int(root.considered[b]))
    root.phase_visits[b] = max(1, share) * int(root.considered[b])
    root.next_visit[b] = 0


@jit
def choose_candidates(tree: Tree, root: Root, settings: Settings, b: int) -> None:
    """Considers the m = min(n, max_considered_actions, legal) edges with the largest g + logits."""
    edges = int(tree.edge_count[b, ROOT])
    wanted = min(int(root.budget[b]), min(settings.max_considered_actions, edges))
    count = 0
    for edge in range(edges):
        score = root_score(tree, root, b, edge, 0.0, 1.0)
        if count < wanted:
            _insert(root, b, count, edge, score)
            count += 1
        elif wanted > 0 and score > root.scores[wanted - 1]:
            _insert(root, b, wanted - 1, edge, score)
    root.considered[b] = wanted
    phases = 0
    while (1 << phases) < wanted:
        phases += 1
    root.phases[b] = phases
    if wanted > 0:
        _begin_phase(root, b)


@jit
def select_root(tree: Tree, root: Root, settings: Settings, b: int) -> int:
    """The next edge to visit; where a phase is over, the better half of the candidates goes on."""
    if root.next_visit[b] == root.phase_visits[b]:
        scale = sigma_scale(settings, most_visits(tree, b, 0, int(tree.edge_count[b, ROOT])))
        for k in range(int(root.considered[b])):  # the k-th candidate is read before an insertion can reach its place
            edge = int(root.candidates[b, k])
            _insert(root, b, k, edge, root_score(tree, root, b, edge, scale, 1.0))
        root.considered[b] = min(int(root.considered[b]), max(FINALISTS, int(root.considered[b]) // 2))
        _begin_phase(root, b)
    edge = int(root.candidates[b, root.next_visit[b] % root.considered[b]])
    root.next_visit[b] += 1
    return edge


@jit
def best_root_edge(tree: Tree, root: Root, settings: Settings, b: int, temperature: float) -> int:
    """The move: the most visited edge, and among equals that of the highest g + logits + σ(q)."""
    edges = int(tree.edge_count[b, ROOT])
    most = most_visits(tree, b, 0, edges)
    scale = sigma_scale(settings, most)
    best, best_score = 0, -np.inf
    for edge in range(edges):
        if tree.visits[b, edge] == most:
            score = root_score(tree, root, b, edge, scale, temperature)
            if score > best_score:
                best, best_score = edge, score
    return best


@jit
def improved_policy(tree: Tree, settings: Settings, b: int, out: NDArray[np.float32]) -> None:
    """Writes π' = softmax(logits + σ(completed q)) of the root by action; the Gumbel noise has no part in it."""
    edges = int(tree.edge_count[b, ROOT])
    sign = side(tree, b, ROOT)
    mixed = mixed_value(tree, b, ROOT, 0, edges)
    scale = sigma_scale(settings, most_visits(tree, b, 0, edges))
    highest, total = -np.inf, 0.0
    for edge in range(edges):
        q = q_value(tree, b, edge, sign) if tree.visits[b, edge] > 0 else mixed
        tree.work[edge] = np.log(tree.prior[b, edge]) + scale * q
        highest = max(highest, tree.work[edge])
    for edge in range(edges):
        tree.work[edge] = np.exp(tree.work[edge] - highest)
        total += tree.work[edge]
    for edge in range(edges):
        out[tree.action[b, edge]] = tree.work[edge] / total
