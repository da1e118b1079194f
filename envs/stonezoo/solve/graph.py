"""All positions that can be reached from some roots, and the actions between them, found depth first.

Symmetric positions are one node, and so are positions that differ in the count of endless play alone, unless the
counter is part of the key. Rows are kept for the path that is being walked, not for all nodes. Nodes 0, 1 and 2 are
the ends of games.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, TO_PLAY, Rules, copy_row, endless_counter
from stonezoo.core.jit import jit, kernel
from stonezoo.solve.code import CODE, Code
from stonezoo.solve.keys import NO_ENTRY, Keys, find_key, make_keys
from stonezoo.solve.memory import MemoryLimitError, show_memory
from stonezoo.solve.table_file import TableError, about_game, digest_of, load_arrays, read_header, save_arrays
from stonezoo.state import Game

# Nodes that stand for the ends of games, seen by the player who acted last.
WON, LOST, TIED = 0, 1, 2
FIRST_NODE = 3

# An edge is its target * FLAGS plus what is to know of the step.
FLAGS = 16
CONTINUES = 1  # the same player acts again; always set for the end of a game
COUNTED, RESET = 2, 4  # the step adds to the count of endless play, or sets it to 0; neither: leaves it
TESTED = 8  # the game is drawn here if the count has then reached its limit
MOST_NODES = (1 << 31) // FLAGS

NOT_EXPANDED = -1  # in `first`
FRESH = -1  # in `cursor`: the level's node is still to be expanded

DONE, OUT_OF_BUDGET, FULL_NODES, FULL_EDGES, FULL_STACK = range(5)  # why the kernel came back
# Arrays that get longer then. The kernel goes by the length of the last one: until that has grown too, the longer ones
# beside it do no harm, so that an interruption between two of them leaves a graph to go on with.
GROWING = {
    FULL_NODES: ("check", "first", "degree", "slots", "key"),
    FULL_EDGES: ("edges",),
    FULL_STACK: ("legal", "path", "rows"),
}
WORK_ROWS = 3  # the last of `rows`
NUM_NODES, NUM_EDGES, LEVEL, DEEPEST = range(4)  # entries of `sizes`

KIND = "positions"  # of the files of a graph that is under way
FIRST_CAPACITY = 1 << 12
GROWTHS = (1.6, 1.15)  # how much longer an array gets; the second where the first does not fit into memory
LOAD = 0.6  # nodes a slot
BUDGET = 100_000  # nodes between two looks at the clock


class Graph(NamedTuple):
    """A graph that may be under way. C nodes and E edges fit in."""

    key: NDArray[np.int64]  # [C] first half of each node's key
    check: NDArray[np.int64]  # [C] second half
    first: NDArray[np.int64]  # [C] number of the node's first edge; its edges stand side by side
    degree: NDArray[np.int16]  # [C] their number
    edges: NDArray[np.int32]  # [E]
    slots: NDArray[np.int32]  # [slots] nodes, by key; 0 is empty
    rows: NDArray[np.int32]  # [D, S] the path; the last three are work space
    legal: NDArray[np.int32]  # [D, A] legal actions on the path
    path: NDArray[np.int32]  # [3, D] on the path: node, number of legal actions, the next to look at
    sizes: NDArray[np.int64]  # [4] nodes, edges, level of the path (-1: all done), deepest level so far


@jit
def _slot_of(graph: Graph, key: int, check: int) -> int:
    """The slot of a key, or the empty one where it belongs."""
    slot = int(key % graph.slots.shape[0])
    while True:
        node = int(graph.slots[slot])
        if node == 0 or (graph.check[node] == check and graph.key[node] == key):
            return slot
        slot += 1
        if slot == graph.slots.shape[0]:
            slot = 0


@jit
def _node_of(rules: Rules, graph: Graph, keys: Keys, state: NDArray[np.int32]) -> int:
    """The node of an ongoing position; a new one if there is none yet."""
    find_key(rules, state, keys)
    key, check = int(keys.found[0]), int(keys.found[1])
    slot = _slot_of(graph, key, check)
    node = int(graph.slots[slot])
    if node == 0:
        node = int(graph.sizes[NUM_NODES])
        graph.sizes[NUM_NODES] = node + 1
        graph.slots[slot] = node
        graph.key[node] = key
        graph.check[node] = check
        graph.first[node] = NOT_EXPANDED
    return node


@jit
def count_flags(
    rules: Rules,
    state: NDArray[np.int32],
    action: int,
    counter: int,
    limit: int,
    work: NDArray[np.int32],
) -> int:
    """COUNTED, RESET and TESTED of an action that does not end the game: it is tried with the counter at the limit."""
    copy_row(state, work)
    work[counter] = limit - 1
    rules.step(work, action)
    if work[counter] == 0:
        return RESET
    if work[counter] == limit:
        return COUNTED | (TESTED if work[OUTCOME] == DRAWN else 0)
    copy_row(state, work)
    work[counter] = limit
    rules.step(work, action)
    return TESTED if work[OUTCOME] == DRAWN else 0


@jit
def _step_to(rules: Rules, state: NDArray[np.int32], action: int, counter: int, child: NDArray[np.int32]) -> None:
    copy_row(state, child)
    rules.step(child, action)
    if counter != NO_ENTRY:
        child[counter] = 0


@jit
def _expand(rules: Rules, graph: Graph, keys: Keys, level: int, counter: int, limit: int) -> None:
    """Writes the edges of the last node of the path."""
    state, depth = graph.rows[level], graph.rows.shape[0]
    child, work = graph.rows[depth - 1], graph.rows[depth - 2]
    count = rules.legal_actions(state, graph.legal[level])
    node, mover, edge = int(graph.path[0, level]), int(state[TO_PLAY]), int(graph.sizes[NUM_EDGES])
    graph.first[node] = edge
    graph.degree[node] = count
    for i in range(count):
        action = int(graph.legal[level, i])
        _step_to(rules, state, action, counter, child)
        outcome = int(child[OUTCOME])
        flags = 0
        if outcome == ONGOING:
            target = _node_of(rules, graph, keys, child)
            if child[TO_PLAY] == mover:
                flags = CONTINUES
        else:
            flags = CONTINUES
            target = TIED if outcome == DRAWN else WON if outcome == BLACK_WON + mover else LOST
        if counter != NO_ENTRY:
            flags |= count_flags(rules, state, action, counter, limit, work)
        graph.edges[edge + i] = target * FLAGS + flags
    graph.sizes[NUM_EDGES] = edge + count
    graph.path[1, level] = count
    graph.path[2, level] = 0


@jit
def _add_root(rules: Rules, graph: Graph, keys: Keys, row: NDArray[np.int32], counter: int) -> None:
    """Begins a walk at a position that is not over, unless it is known already."""
    copy_row(row, graph.rows[0])
    if counter != NO_ENTRY:
        graph.rows[0, counter] = 0
    node = _node_of(rules, graph, keys, graph.rows[0])
    if graph.first[node] == NOT_EXPANDED:
        graph.path[0, 0] = node
        graph.path[2, 0] = FRESH
        graph.sizes[LEVEL] = 0


@jit
def _walk(
    rules: Rules, graph: Graph, keys: Keys, root: NDArray[np.int32], counter: int, limit: int, budget: int
) -> int:
    """Goes on with the walk until `budget` nodes are expanded, all are, or something is full; says which.

    A walk that is done begins at `root` [S], a position that is not over; else `root` has no part.
    """
    if graph.sizes[LEVEL] < 0:
        _add_root(rules, graph, keys, root, counter)
    actions, depth = graph.legal.shape[1], graph.rows.shape[0]
    level = int(graph.sizes[LEVEL])
    while level >= 0:
        if graph.path[2, level] == FRESH:
            if budget == 0:
                return OUT_OF_BUDGET
            most = int(graph.sizes[NUM_NODES]) + actions
            if most > graph.key.shape[0] or most > graph.slots.shape[0] * LOAD:
                return FULL_NODES
            if graph.sizes[NUM_EDGES] + actions > graph.edges.shape[0]:
                return FULL_EDGES
            budget -= 1
            _expand(rules, graph, keys, level, counter, limit)
        here, node = int(graph.path[2, level]), int(graph.path[0, level])
        count, first = int(graph.path[1, level]), int(graph.first[node])
        target = 0
        while here < count:
            target = int(graph.edges[first + here]) // FLAGS
            if target >= FIRST_NODE and graph.first[target] == NOT_EXPANDED:
                break
            here += 1
        graph.path[2, level] = here
        if here == count:
            level -= 1
            graph.sizes[LEVEL] = level
            continue
        if level + 4 >= depth:
            return FULL_STACK
        _step_to(rules, graph.rows[level], int(graph.legal[level, here]), counter, graph.rows[level + 1])
        graph.path[2, level] = here + 1
        level += 1
        graph.path[0, level] = target
        graph.path[2, level] = FRESH
        graph.sizes[LEVEL] = level
        graph.sizes[DEEPEST] = max(int(graph.sizes[DEEPEST]), level)
    return DONE


@jit
def _refill(code: Code, graph: Graph) -> None:
    """Writes all nodes into slots that are empty."""
    for node in range(FIRST_NODE, int(graph.sizes[NUM_NODES])):
        slot = int(graph.key[node]) % graph.slots.shape[0]
        while graph.slots[slot] != 0:
            slot += 1
            if slot == graph.slots.shape[0]:
                slot = 0
        graph.slots[slot] = node


walk = kernel(_walk)
refill = kernel(_refill)

Progress = Callable[[Graph], None]


class Builder:
    """Finds all positions reachable from some roots within a limit of memory; may be interrupted between two steps.

    Attributes:
        game, keys: whose positions, and how they are named.
        counter, limit: the entry that counts endless play and its limit; NO_ENTRY and 0 where nothing is forgotten.
    """

    def __init__(self, game: Game, memory: int, *, with_counter: bool = False) -> None:
        self.game = game
        self.memory = memory
        endless = endless_counter(game.rules)
        # With a limit of 1 the count is 0 or the game is over, but for actions in mid-turn: nothing is to be forgotten.
        # Without contents the whole row is the key, count and all: nothing can be.
        kept = endless is not None and (endless[1] < 2 or not hasattr(game.rules, "rest_size"))
        self.with_counter = with_counter or kept
        self.keys = make_keys(game, with_counter=self.with_counter)
        forgets = endless is not None and not self.with_counter
        self.counter, self.limit = endless if forgets and endless is not None else (NO_ENTRY, 0)
        self.graph = _new_graph(game)
        self.waiting: list[NDArray[np.int32]] = []
        self._no_root = np.zeros(game.rules.state_size, np.int32)

    def grow(self, part: int) -> None:
        """Makes room where the kernel says that there is none; MemoryLimitError when the limit forbids it."""
        nodes = int(self.graph.sizes[NUM_NODES])
        if part == FULL_NODES and nodes + self.game.num_actions > MOST_NODES:
            raise MemoryLimitError(f"{self.game!r} has more than {MOST_NODES:,} positions: too many for a table")
        fitting = [growth for growth in GROWTHS if self._bytes_after(part, growth) <= self.memory]
        if not fitting:
            raise MemoryLimitError(
                f"{self.game!r}: {show_memory(self._bytes_after(part, GROWTHS[-1]))} are needed to go on after "
                f"{nodes:,} positions, and the limit is {show_memory(self.memory)}; allow more memory"
            )
        # One after the other, so that only one stands there twice.
        for name, length in self._lengths_after(part, fitting[0]).items():
            if name == "slots":
                self.graph = self.graph._replace(slots=np.zeros(1, np.int32))  # too few, which `run` sees
                grown = self.graph._replace(slots=np.zeros(length, np.int32))
                refill(CODE, grown)
            else:
                longer = _longer(getattr(self.graph, name), _axis(name), length)
                grown = self.graph._replace(**{name: longer})
            self.graph = grown  # whole, or not at all

    def _lengths_after(self, part: int, growth: float) -> dict[str, int]:
        """The lengths of the arrays of `part` after growing, in order; an interruption may have left longer ones."""
        names = GROWING[part]
        length = int(len(getattr(self.graph, names[-1])) * growth) + 1
        return {name: int(length / LOAD) | 1 if name == "slots" else length for name in names}

    def _bytes_after(self, part: int, growth: float) -> int:
        """The most bytes that growing takes: those of the grown arrays, and of the largest old one beside its copy."""
        more, largest = 0, 0
        for name, length in self._lengths_after(part, growth).items():
            array = getattr(self.graph, name)
            old = array.shape[_axis(name)]
            more += max(0, length - old) * (array.nbytes // old)
            largest = max(largest, array.nbytes)
        return self.bytes() + more + largest

    def save(self, path: Path) -> None:
        """Writes what was found so far, whole or not at all; a builder that loads it goes on from there.

        Raises:
            TableError: the file cannot be written.
        """
        size = self.game.rules.state_size
        waiting = np.array(self.waiting, np.int32).reshape(len(self.waiting), size)
        save_arrays(path, self._about(), {**self.graph._asdict(), "waiting": waiting})

    def _about(self) -> dict[str, Any]:
        return {"kind": KIND, **about_game(self.game), "about": {"with_counter": self.with_counter}}

    def load(self, path: Path) -> None:
        """Goes on from what another builder saved.

        Raises:
            TableError: the file cannot be read, is damaged, or belongs to something else.
        """
        header = read_header(path)
        expected = self._about()
        found = {key: header.get(key) for key in expected}
        if found != expected:
            raise TableError(f"{path} belongs to {found}, not to {expected}: remove it to begin anew")
        arrays = load_arrays(path, header)
        if digest_of(arrays) != header["digest"]:
            raise TableError(f"{path} is damaged: its contents do not have the digest of its header; remove it")
        if not self._fit(arrays):
            raise TableError(f"{path} cannot be gone on with: its arrays do not fit each other; remove it")
        self.waiting = list(arrays.pop("waiting"))
        self.graph = Graph(**arrays)

    def _fit(self, arrays: Mapping[str, NDArray[Any]]) -> bool:
        """Whether arrays are those of a graph of this game: of its kinds and shapes, and none too short."""
        own = {**self.graph._asdict(), "waiting": np.empty((0, self.game.rules.state_size), np.int32)}
        if {name: _kind(name, array) for name, array in arrays.items()} != {k: _kind(k, v) for k, v in own.items()}:
            return False
        lengths: dict[str, int] = {name: array.shape[_axis(name)] for name, array in arrays.items()}
        needed = {name: lengths[names[-1]] for names in GROWING.values() for name in names}
        needed.update(slots=1, sizes=len(self.graph.sizes))
        if any(lengths[name] < length for name, length in needed.items()):
            return False
        nodes, edges, level = map(int, arrays["sizes"][[NUM_NODES, NUM_EDGES, LEVEL]])
        return bool(nodes <= lengths["key"] and edges <= lengths["edges"] and level < lengths["rows"] - WORK_ROWS)

    def bytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in self.graph)

    def add(self, rows: NDArray[np.int32]) -> None:
        """Adds roots: positions int32 [B, S] that are not over."""
        self.waiting.extend(np.array(row, np.int32) for row in rows)

    def run(self, progress: Progress | None = None) -> Graph:
        """Finds everything; `progress` is called with the graph from time to time.

        Raises:
            MemoryLimitError: the limit of memory is reached.
            KeyboardInterrupt: (only between two steps) `run` may be called again, and goes on.
        """
        while True:
            root = self._no_root
            begins = self.graph.sizes[LEVEL] < 0
            if begins:
                if not self.waiting:
                    return self.graph
                root = self.waiting[0]
            needed = int(self.graph.sizes[NUM_NODES]) + 1
            if needed > len(self.graph.key) or needed > len(self.graph.slots) * LOAD:
                self.grow(FULL_NODES)
            why = walk(self.game.rules, self.graph, self.keys, root, self.counter, self.limit, BUDGET)
            if begins:  # only now: a root that is added twice does no harm, one that is lost would
                del self.waiting[0]
            if progress is not None:
                progress(self.graph)
            if why in (FULL_NODES, FULL_EDGES, FULL_STACK):
                self.grow(why)


def _axis(name: str) -> int:
    """The axis along which an array of a graph grows."""
    return 1 if name == "path" else 0


def _kind(name: str, array: NDArray[Any]) -> tuple[np.dtype[Any], list[int]]:
    """What is the same of an array of a graph however long it is."""
    return array.dtype, [length for axis, length in enumerate(array.shape) if axis != _axis(name)]


def _longer(array: NDArray[Any], axis: int, length: int) -> NDArray[Any]:
    if array.shape[axis] >= length:
        return array
    shape = list(array.shape)
    shape[axis] = length
    grown = np.empty(shape, array.dtype)
    grown[tuple(slice(0, length) for length in array.shape)] = array
    return grown


def _new_graph(game: Game) -> Graph:
    capacity = FIRST_CAPACITY + game.num_actions
    depth = 64
    sizes = np.array([FIRST_NODE, 0, -1, 0], np.int64)
    first = np.zeros(capacity, np.int64)
    return Graph(
        np.zeros(capacity, np.int64),
        np.zeros(capacity, np.int64),
        first,
        np.zeros(capacity, np.int16),
        np.zeros(2 * capacity, np.int32),
        np.zeros(int(capacity / LOAD) | 1, np.int32),
        np.zeros((depth, game.rules.state_size), np.int32),
        np.zeros((depth, game.num_actions), np.int32),
        np.zeros((3, depth), np.int32),
        sizes,
    )
