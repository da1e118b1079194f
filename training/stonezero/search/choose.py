"""Which edge a descent takes at a node, by the algorithm of the settings."""

from stonezero.search.gumbel import Root, Settings, select_inner, select_root
from stonezero.search.puct import select_puct
from stonezero.search.tree import CHILD, ROOT, UNVISITED, VISITED_COUNT, Pool, Tree, statistics_pair
from stonezoo.core.jit import jit


@jit
def choose_edge(tree: Tree, pool: Pool, root: Root, settings: Settings, b: int, at: int) -> int:
    """The edge to go down from the node at a word."""
    if settings.use_puct:
        return select_puct(pool, settings, at)
    if at == ROOT:
        return select_root(pool, root, settings, b)
    return select_inner(pool, tree.work, settings, at)


@jit
def visits_in_order(settings: Settings, at: int) -> bool:
    """Whether unvisited edges are chosen in their order alone, behind the visited: everywhere but at Gumbel's root."""
    return bool(settings.use_puct) or at != ROOT


@jit
def is_new(pool: Pool, settings: Settings, at: int, edge: int) -> bool:
    """Whether the edge was never visited."""
    if visits_in_order(settings, at):
        return edge == int(pool.halves[2 * at + VISITED_COUNT])
    return int(pool.halves[2 * statistics_pair(pool, at, edge) + CHILD]) == UNVISITED
