"""Checks a certificate that one player of Resolve wins, by the rules alone: no search and none of its hints.

    python benchmarks/check_certificate.py FILE [--part 1/1]

A certificate is a set of positions in which the loser begins a turn. Three things are checked of it:

1. the position after the first actions that FILE names is in the set;
2. from each position of the set, whatever the loser does in that turn (all legal actions, swap by swap), the winner has
   a turn after which he has won or the position, or an image of it, is in the set;
3. each turn of the winner's that leads back into the set adds a stone, or on a full board to the count of S9.

So the winner can always go on; a game cannot go on for ever; and it ends in no other way than with his win: a draw (S9)
or a win of the loser's fails the check. Which turn the winner takes is not stored, but found: any that leads to a win
or into the set will do.

What is trusted: the game's `reset`, `step` and `legal_actions`, `transform` with no symmetry to make a row of a
position, and that turning the board by 180 degrees or mirroring it changes nothing. Positions are stored and compared
whole, two bits a point and the count of S9, so that no two can be taken for one. `--part 3/8` does 2. and 3. for the
third of eight parts. Exit status 0: all that was asked holds. `resolve_certificate.py` makes certificates.
"""

import argparse
import io
import json
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import stonezoo
from stonezoo.cli.command import describe_hardware
from stonezoo.core.bits import popcount
from stonezoo.core.game import BLACK_WON, ONGOING, OUTCOME, PHASE, PLAYER_NAMES, TO_PLAY, StateRow, copy_row
from stonezoo.core.jit import jit, kernel
from stonezoo.games.resolve import CHOOSE, EMPTIES, FULL, NO_STONE, PLACE, STONE, STONES, ResolveRules
from stonezoo.solve.memory import show_memory
from stonezoo.solve.table_file import write_whole

LARGEST = 5  # lines of a board that, with the count of S9, fits into a word
NO_KEY = -1  # an empty slot
DEPTH = 64  # actions of two turns: two placements and no enemy stone swapped twice
BATCH = 100_000
HOLDS = -1
NUMBER, NEXT = 0, 1  # of the actions of a level: how many, and the place of the next


def new_slots(size: int) -> NDArray[np.int64]:
    """An empty set with room for `size` positions."""
    return np.full(1 << max(4, (2 * size - 1).bit_length()), NO_KEY, np.int64)


def new_work(game: stonezoo.Game, depth: int = DEPTH) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Work space for `depth` actions: rows [depth, S], the last for what is only looked at; the actions of each
    [depth, A]; their number and which is next [depth, 2].
    """
    if (lines := int(game.observation_shape[0])) > LARGEST:
        raise ValueError(f"board_size={lines}: positions of more than {LARGEST} lines do not fit into a word")
    rows, actions = (np.zeros((depth, size), np.int32) for size in (game.rules.state_size, game.num_actions))
    return rows, actions, np.zeros((depth, 2), np.int64)


# --- Positions as numbers --------------------------------------------------------------------------------------


@jit
def _mirrored(row: int, n: int) -> int:
    """A row of stones from right to left."""
    found = 0
    for column in range(n):
        found = found << 1 | row >> column & 1
    return found


@jit
def key_of(rules: ResolveRules, state: StateRow) -> int:
    """The number of a position at the start of a turn: the least of its four images, each White's rows and Black's
    rows, row 0 last; and the count of S9.
    """
    n = rules.board_size
    here, across, down, turned = 0, 0, 0, 0
    for i in range(2 * n):  # White's last row first
        row = int(state[STONES + 2 * n - 1 - i])
        # The same row of the image upside down: that player's rows from the other end.
        other = int(state[STONES + n + i]) if i < n else int(state[STONES + i - n])
        here = here << n | row
        across = across << n | _mirrored(row, n)
        down = down << n | other
        turned = turned << n | _mirrored(other, n)
    return min(here, across, down, turned) | int(state[FULL]) << 2 * n * n


@jit
def row_of(rules: ResolveRules, key: int, player: int, cells: NDArray[np.int32], work: StateRow, out: StateRow) -> None:
    """Writes the state of a position's number to `out`; `cells` [n * n] and `work` [S] are work space."""
    n = rules.board_size
    work[:] = 0
    stones = 0
    for i in range(2 * n):
        row = key >> i * n & (1 << n) - 1
        work[STONES + i] = row
        stones += popcount(row)
    work[FULL] = key >> 2 * n * n
    work[EMPTIES] = n * n - stones
    work[STONE] = NO_STONE
    work[TO_PLAY] = player
    work[PHASE] = PLACE if stones < n * n else CHOOSE
    for cell in range(n * n):
        cells[cell] = cell
    rules.transform(work, cells, 0, out)  # which finds the linked stones


@jit
def _slot(slots: NDArray[np.int64], key: int) -> int:
    """Where a position is, or would be."""
    mask = slots.shape[0] - 1
    mixed = (key ^ key >> 31) * 0x2545F4914F6CDD1D
    mixed = (mixed ^ (mixed >> 29 & 0x7FFFFFFFF)) * 0x1F83D9ABFB41BD6B
    at = (mixed >> 20) & mask
    while slots[at] != NO_KEY and slots[at] != key:
        at = at + 1 & mask
    return int(at)


@jit
def contains(slots: NDArray[np.int64], key: int) -> bool:
    """Whether a position is in the set."""
    return bool(slots[_slot(slots, key)] == key)


@jit
def add(slots: NDArray[np.int64], key: int) -> bool:
    """Puts a position into the set; whether it was not there."""
    at = _slot(slots, key)
    new = slots[at] != key
    slots[at] = key
    return bool(new)


@jit
def _add_all(rules: ResolveRules, slots: NDArray[np.int64], keys: NDArray[np.int64]) -> None:
    for i in range(keys.shape[0]):
        add(slots, int(keys[i]))


@jit
def _find_keys(rules: ResolveRules, rows: NDArray[np.int32], keys: NDArray[np.int64]) -> None:
    for i in range(rows.shape[0]):
        keys[i] = key_of(rules, rows[i])


# --- The check -------------------------------------------------------------------------------------------------


@jit
def _progress(rules: ResolveRules, state: StateRow) -> int:
    """What grows from turn to turn: stones, and on a full board the count of S9."""
    n = rules.board_size
    return (n * n - int(state[EMPTIES])) * (n * n + 1) + int(state[FULL])


@jit
def _wins_now(rules: ResolveRules, state: StateRow, actions: NDArray[np.int32], count: int, child: StateRow) -> bool:
    """Whether one of these actions wins at once for the player to act."""
    for i in range(count):
        copy_row(state, child)
        rules.step(child, int(actions[i]))
        if child[OUTCOME] == BLACK_WON + state[TO_PLAY]:
            return True
    return False


@jit
def _holds(
    rules: ResolveRules,
    slots: NDArray[np.int64],
    rows: NDArray[np.int32],
    actions: NDArray[np.int32],
    places: NDArray[np.int64],
) -> bool:
    """Whether from rows[0], where the loser begins a turn, each turn of his has an answer: 2. and 3. above.

    If not, the next action of level 0 is one without.
    """
    loser, scratch = int(rows[0, TO_PLAY]), rows[rows.shape[0] - 1]
    began = _progress(rules, rows[0])
    level = 0
    places[0, NUMBER] = rules.legal_actions(rows[0], actions[0])
    places[0, NEXT] = 0
    while True:
        state, at = rows[level], int(places[level, NEXT])
        asks_all = state[TO_PLAY] == loser
        if at == places[level, NUMBER]:
            found = asks_all and at > 0  # without an action nothing is won
        else:
            child = rows[level + 1]
            copy_row(state, child)
            rules.step(child, int(actions[level, at]))
            if child[OUTCOME] != ONGOING:
                found = child[OUTCOME] == BLACK_WON + 1 - loser
            elif not asks_all and child[TO_PLAY] == loser:
                found = _progress(rules, child) > began and contains(slots, key_of(rules, child))
            else:
                number = rules.legal_actions(child, actions[level + 1])
                found = child[TO_PLAY] != loser and _wins_now(rules, child, actions[level + 1], number, scratch)
                if not found:
                    level += 1
                    places[level, NUMBER] = number
                    places[level, NEXT] = 0
                    continue
            if found == asks_all:
                places[level, NEXT] += 1
                continue
        # The node is answered: by all of its actions, or by one that is enough.
        while True:
            if level == 0:
                return bool(found)
            level -= 1
            if found == (rows[level, TO_PLAY] == loser):
                places[level, NEXT] += 1
                break


@jit
def _check(
    rules: ResolveRules,
    keys: NDArray[np.int64],
    loser: int,
    slots: NDArray[np.int64],
    rows: NDArray[np.int32],
    actions: NDArray[np.int32],
    places: NDArray[np.int64],
) -> int:
    """The index of the first position of `keys` for which 2. or 3. fails, or HOLDS."""
    for i in range(keys.shape[0]):
        row_of(rules, int(keys[i]), loser, actions[0], rows[1], rows[0])
        if not _holds(rules, slots, rows, actions, places):
            return i
    return HOLDS


add_all, find_keys, check = kernel(_add_all), kernel(_find_keys), kernel(_check)


# --- Files -----------------------------------------------------------------------------------------------------


def save_certificate(path: Path, about: dict[str, str | int], keys: NDArray[np.int64]) -> None:
    """Writes a certificate, whole or not at all: its positions' numbers, ascending, as differences, byte by byte."""
    steps, file = np.diff(keys, prepend=0), io.BytesIO()
    np.savez_compressed(file, about=np.array(json.dumps(about)), steps=steps.view(np.uint8).reshape(-1, 8).T)
    write_whole(path, [file.getvalue()])


def load_certificate(path: Path) -> tuple[dict[str, str | int], NDArray[np.int64]]:
    """Returns what a certificate is of, and the numbers of its positions."""
    with np.load(path) as file:
        return json.loads(str(file["about"])), np.ascontiguousarray(file["steps"].T).view(np.int64).ravel().cumsum()


def root_of(game: stonezoo.Game, first: str) -> stonezoo.State:
    """The state after the first actions, with commas; none for the start."""
    state = game.initial_state()
    for name in filter(None, first.split(",")):
        state.step(state.str_to_action(name))
    return state


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="a certificate")
    parser.add_argument("--part", default="1/1", help="which part of how many (default: all)")
    arguments = parser.parse_args()
    part, parts = map(int, arguments.part.split("/"))
    if not 1 <= part <= parts:
        parser.error(f"--part {arguments.part}: a part from 1 on, of at least as many")
    about, keys = load_certificate(arguments.file)
    game = stonezoo.load_game("resolve", board_size=about["board_size"], rules=about["rules"])
    loser, slots = 1 - int(about["winner"]), new_slots(len(keys))
    rows, actions, places = new_work(game)
    add_all(game.rules, slots, keys)
    root, key = root_of(game, str(about["first"])), np.zeros(1, np.int64)
    find_keys(game.rules, root.row[np.newaxis], key)
    begins = not root.terminated and root.to_play == loser and root.row[STONE] == NO_STONE
    if not begins or not (keys == key[0]).any():
        print(f"FAILS: the first position is not in the set: {root.to_text()}")
        return 1
    mine = keys[len(keys) * (part - 1) // parts : len(keys) * part // parts]
    check(game.rules, mine[:0], loser, slots, rows, actions, places)  # compiled, which must not be timed
    began, shown = time.process_time(), time.monotonic()
    for first in range(0, len(mine), BATCH):
        batch = mine[first : first + BATCH]
        if check(game.rules, batch, loser, slots, rows, actions, places) != HOLDS:
            state, action = game.from_row(rows[0]), int(actions[0, places[0, NEXT]])
            print(f"FAILS: {state.to_text()}: no answer to {state.action_to_str(action)}")
            return 1
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(f"  {first + len(batch):,} of {len(mine):,} positions", file=sys.stderr, flush=True)
    seconds = time.process_time() - began
    print(
        f"{describe_hardware()}\n\nHOLDS: {game!r} after {about['first'] or 'no action'}: {PLAYER_NAMES[1 - loser]} "
        f"wins; {len(mine):,} of {len(keys):,} positions checked, {seconds:,.0f} processor seconds, "
        f"a set of {show_memory(slots.nbytes)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
