"""What a game says to the exact solver: `contents` with `rest_size`, `colours_alike`, `endless_counter`,
`layer`, and what it tells a search (`settled_outcome`, `useful_actions`, `promise`).

A wrong word there makes wrong values and nothing else, so that nobody would notice: keys and values are compared with
a slow honest way, in which equal rows alone are the same position.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stonezoo.check import hints, layers
from stonezoo.check.contents import contents_batch, keys_batch
from stonezoo.check.ends import End, find_ends, value_of
from stonezoo.check.positions import children, images, ongoing, rows_of
from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject
from stonezoo.core.game import (
    DRAWN,
    EMPTY,
    HEADER,
    MARK,
    NOTHING,
    NUM_CONTENTS,
    ONGOING,
    OTHER_STONE,
    OUTCOME,
    OWN_STONE,
    TO_PLAY,
    endless_counter,
    has_layers,
    raw_contents,
)
from stonezoo.solve import MemoryLimitError, Search, Table
from stonezoo.solve.keys import Keys, make_keys
from stonezoo.state import Game, State

HOOKS = ("rest_size", "colours_alike", "endless_counter")
GUARD = -1_234_567_890
POOL = 2_000  # positions whose keys are compared, at most
POOL_SHARE = 6  # of them by position that was looked at
COMPARED = 300  # of them with another one of the same key
TABLE_BYTES = 1 << 28
NAMES = ("ongoing", "Black won", "White won", "drawn")


def says_nothing(subject: Subject) -> bool:
    """Whether the game declares nothing for the solver."""
    rules: Any = subject.game.rules
    said = has_layers(rules) or hints.gives_hints(rules) or any(hasattr(rules, name) for name in HOOKS)
    return type(rules).contents is raw_contents and not said


def find(subject: Subject) -> Iterator[Fault]:
    """Declarations that hide what the future depends on."""
    for finder in (_declaration_faults, _contents_faults, _counter_faults, layers.find):
        faults = list(finder(subject))
        yield from faults
        if faults:  # keys would be made of nonsense
            return
    yield from _symmetry_faults(subject)
    yield from _key_faults(subject)
    ends = find_ends(subject)
    faults = list(hints.find(subject, ends))
    yield from faults
    if not faults:  # they would be the values' too
        yield from _value_faults(subject, ends)


def _declaration_faults(subject: Subject) -> Iterator[Fault]:
    rules: Any = subject.game.rules
    own = type(rules).contents is not raw_contents
    size = getattr(rules, "rest_size", None)
    if own and size is None:
        yield Fault("`contents` without `rest_size`: say how many entries of `rest` it writes, or no symmetry is used")
    elif not own and size is not None:
        yield Fault("`rest_size` without `contents`: the whole row would be written past its end; leave both out")
    elif size is not None and not (_is_int(size) and size >= 0):
        yield Fault(f"rest_size is {size!r}: it must be a number of entries")
    alike = getattr(rules, "colours_alike", False)
    if not isinstance(alike, (bool, np.bool_)):
        yield Fault(f"colours_alike is {alike!r}: it must be True or False")
    counter = endless_counter(rules)
    if counter is None:
        return
    try:
        entry, limit = counter
    except (TypeError, ValueError):
        yield Fault(f"endless_counter is {counter!r}: it must be an entry of the row and a limit, or None")
        return
    if not (_is_int(entry) and HEADER <= entry < rules.state_size and _is_int(limit) and limit >= 1):
        yield Fault(
            f"endless_counter is {counter!r}: it must be an entry from {HEADER} to {rules.state_size - 1} and a limit "
            "of 1 or more"
        )


def _is_int(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


# --- contents -----------------------------------------------------------------------------------------------------


def _look(game: Game, rows: NDArray[np.int32], filled: int = 0) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Cells int32 [B, N] and rest int32 [B, R] of rows [B, S], in arrays that held `filled`."""
    size = getattr(game.rules, "rest_size", game.rules.state_size)
    cells, rest = (np.full((len(rows), width), filled, np.int32) for width in (game.num_cells, size))
    contents_batch(game.rules, rows, cells, rest)
    return cells, rest


def _contents_faults(subject: Subject) -> Iterator[Fault]:
    game = subject.game
    if type(game.rules).contents is raw_contents:
        return
    for state in ongoing(subject):
        row = state.row[np.newaxis]
        cells, rest = _look(game, row)
        again = _look(game, row, 77)
        if not np.array_equal(row[0], state.row):
            yield fault_at(state, "contents changes the state")
        elif not (np.array_equal(cells, again[0]) and np.array_equal(rest, again[1])):
            yield fault_at(state, "contents must write every cell and all of rest: parts are as they were before")
        elif cells.min() < 0 or cells.max() >= NUM_CONTENTS:
            cell = int(np.flatnonzero((cells[0] < 0) | (cells[0] >= NUM_CONTENTS))[0])
            yield fault_at(state, f"contents says {cells[0, cell]} of cell {cell}: it must be 0 to {NUM_CONTENTS - 1}")
        elif not np.array_equal(cells[0] % MARK, _seen(state)):
            cell = int(np.flatnonzero(cells[0] % MARK != _seen(state))[0])
            yield fault_at(
                state,
                f"contents says {cells[0, cell]} of cell {cell}, where board has {state.board[cell]} and player "
                f"{state.to_play} is to act: write NOTHING, OWN_STONE or OTHER_STONE as the player to act sees it, and "
                "MARK or 2 * MARK more for a stone that is special",
            )
        else:
            wide = [np.full((3, array.shape[1]), GUARD, np.int32) for array in (cells, rest)]
            contents_batch(game.rules, row, wide[0][1:2], wide[1][1:2])
            if any((array[[0, 2]] != GUARD).any() for array in wide):
                yield fault_at(state, f"contents writes beside its arrays of {cells.size} cells and rest_size entries")


def _seen(state: State) -> NDArray[np.int32]:
    board = state.board.astype(np.int32)
    seen = np.where(board == state.to_play, OWN_STONE, OTHER_STONE)
    return np.where(board == EMPTY, NOTHING, seen).astype(np.int32)


def _symmetry_faults(subject: Subject) -> Iterator[Fault]:
    """Images whose contents are not the contents moved."""
    game = subject.game
    if not hasattr(game.rules, "rest_size"):
        return
    states = ongoing(subject)
    rows = rows_of(states)
    cells, rest = _look(game, rows)
    for symmetry, image in images(game, rows):
        image_cells, image_rest = _look(game, image)
        for what, wrong in (
            ("cells do not move with the stones", (image_cells[:, symmetry.cells] != cells).any(1)),
            ("rest changes: what depends on places belongs to the cells, as a mark", (image_rest != rest).any(1)),
        ):
            if wrong.any():
                yield fault_at(states[int(np.flatnonzero(wrong)[0])], f"contents under {symmetry.name}: {what}")


# --- The counter --------------------------------------------------------------------------------------------------


def _counter_faults(subject: Subject) -> Iterator[Fault]:
    """Counts that do more than to rise, to stay or to begin anew, or on which more depends than the draw."""
    game = subject.game
    counter = endless_counter(game.rules)
    if counter is None:
        return
    entry, limit = counter
    if game.initial_state().row[entry] != 0:
        yield Fault(f"the endless counter, entry {entry}, is {game.initial_state().row[entry]} at the start, not 0")
    for state in ongoing(subject):
        count = int(state.row[entry])
        if not 0 <= count <= limit:
            yield fault_at(state, f"the endless counter, entry {entry}, is {count} in play: it must be 0 to {limit}")
            continue
        rows, actions = children(game, state.row)
        wrong = (rows[:, OUTCOME] == ONGOING) & ~np.isin(rows[:, entry], (count + 1, count, 0))
        if wrong.any():
            lane = int(np.flatnonzero(wrong)[0])
            yield fault_at(
                state,
                f"action {actions[lane]} takes the endless counter, entry {entry}, from {count} to "
                f"{rows[lane, entry]}: an action adds 1 to it, leaves it or sets it to 0",
            )
            continue
        yield from _count_faults(game, state, entry, limit)


def _count_faults(game: Game, state: State, entry: int, limit: int) -> Iterator[Fault]:
    """Compares the state with itself, the count nearly at its limit.

    A count that has reached its limit draws at the end of the turn at the latest: until then play may go on.
    """
    if limit < 3:
        return  # a count of 1 that stays and one that begins anew could not be told apart
    low, high = state.row, state.row
    low[entry], high[entry] = 1, limit - 1
    (after, actions), (late, late_actions) = children(game, low), children(game, high)
    if not np.array_equal(actions, late_actions):
        yield fault_at(
            state, f"what is legal depends on the endless counter, entry {entry}: nothing may but the draw at {limit}"
        )
        return
    for lane, action in enumerate(actions.tolist()):
        one, other = after[lane].copy(), late[lane].copy()
        outcome, late_outcome = int(one[OUTCOME]), int(other[OUTCOME])
        reaches = outcome == ONGOING and one[entry] == 2
        if reaches and late_outcome == ONGOING and other[TO_PLAY] == state.to_play and other[entry] == limit:
            continue
        if reaches or outcome != ONGOING:
            expected = DRAWN if reaches else outcome
            if late_outcome != expected:
                yield fault_at(
                    state,
                    f"with the endless counter, entry {entry}, at {limit - 1}, action {action} must lead to "
                    f"'{NAMES[expected]}', and leads to '{NAMES[late_outcome]}'",
                )
                return
            continue
        kept = other[entry] == (high[entry] if one[entry] == 1 else 0)
        one[entry] = other[entry] = 0
        if not kept or not np.array_equal(one, other):
            yield fault_at(
                state,
                f"action {action} leads elsewhere with the endless counter, entry {entry}, at {limit - 1} than at 1: "
                "nothing may depend on it but the draw",
            )
            return


# --- Keys and values ----------------------------------------------------------------------------------------------


def _key_faults(subject: Subject) -> Iterator[Fault]:
    """Positions of one key that do not play alike."""
    game = subject.game
    keys = make_keys(game, with_counter=True)
    pool: dict[bytes, State] = {}
    for state in ongoing(subject):
        pool.setdefault(state.row.tobytes(), state)
    most = min(POOL, POOL_SHARE * len(pool))
    for state in list(pool.values()):
        for action in state.legal_actions.tolist():
            if len(pool) >= most:
                break
            after = state.copy()
            after.step(action)
            if not after.terminated:
                pool.setdefault(after.row.tobytes(), after)
    states = list(pool.values())
    first: dict[tuple[int, int], int] = {}
    compared = 0
    for lane, found in enumerate(_keys_of(game, keys, rows_of(states)).tolist()):
        other = first.setdefault((found[0], found[1]), lane)
        if other == lane or compared >= COMPARED:
            continue
        compared += 1
        if _future(game, keys, states[lane].row) != _future(game, keys, states[other].row):
            yield fault_at(
                states[lane],
                f"has the key of another position that plays differently, {states[other].to_text()}: contents leaves "
                "out something that the future depends on (write it to rest), or the colours are not alike",
            )


def _future(game: Game, keys: Keys, row: NDArray[np.int32]) -> list[tuple[int, bool, int, int]]:
    """What can follow a position, for the player to act, whatever actions are called."""
    rows, _ = children(game, row)
    found = _keys_of(game, keys, rows)
    future = []
    for after, (key, check) in zip(rows, found.tolist(), strict=True):
        outcome, same = int(after[OUTCOME]), bool(after[TO_PLAY] == row[TO_PLAY])
        if outcome == ONGOING:
            future.append((0, same, key, check))
        else:
            future.append((value_of(outcome, int(row[TO_PLAY])) + 2, True, 0, 0))
    return sorted(future)


def _value_faults(subject: Subject, ends: list[End]) -> Iterator[Fault]:
    """Values that the solver finds for the ends of games, against a minimax that knows rows alone."""
    game = subject.game
    search = Search(game, 1 << 20)
    table = None
    if ends:
        try:
            table = Table.build(game, memory=TABLE_BYTES, roots=rows_of([end.state for end in ends]))
        except MemoryLimitError:
            table = None
    for end in ends:
        state, rows = end.state, end.rows()
        honest = np.array(list(end.values.values()))
        found = {"search": np.array([search.value(row) for row in rows])}
        if table is not None:
            found["table"] = table.values(rows)
        for name, told in found.items():
            if (told != honest).any():
                lane = int(np.flatnonzero(told != honest)[0])
                yield fault_at(
                    state,
                    f"from here a {name} finds {told[lane]} for {game.from_row(rows[lane]).to_text()}, which is worth "
                    f"{honest[lane]} to the player to act: contents, colours_alike or endless_counter says too much is "
                    "the same",
                )


def _keys_of(game: Game, keys: Keys, rows: NDArray[np.int32]) -> NDArray[np.int64]:
    found = np.zeros((len(rows), 2), np.int64)
    keys_batch(game.rules, keys, rows, found)
    return found
