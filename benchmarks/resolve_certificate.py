"""Makes a certificate that one player of Resolve wins, out of a search that has found it: see check_certificate.py.

    python benchmarks/resolve_certificate.py FILE --table TABLE [--board-size 5] [--rules standard] [--first c3]

TABLE is what `resolve_first_actions.py` or `stonezoo solve --method search` has left. It is asked for one action of the
winner's in each position that it can come to, against all actions of the loser's; where it does not know, it searches
on. Of several actions that win one is taken that wins at once, else one into a position that the certificate has
already, else the one that has cost the search least, so that the certificate stays small. Nothing of this is trusted:
a certificate is worth what its check says. If an action that should win does not, the line of play is shown.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from check_certificate import (
    NEXT,
    NO_KEY,
    NUMBER,
    add,
    add_all,
    contains,
    key_of,
    new_slots,
    new_work,
    root_of,
    save_certificate,
)
from numpy.typing import NDArray

import stonezoo
from stonezoo.cli.command import describe_hardware
from stonezoo.core.game import BLACK_WON, ONGOING, OUTCOME, PLAYER_NAMES, TO_PLAY, StateRow, copy_row
from stonezoo.core.jit import jit, kernel
from stonezoo.games.resolve import ResolveRules
from stonezoo.kernels.batch import step_batch
from stonezoo.solve import Search
from stonezoo.solve.keys import Keys, find_key
from stonezoo.solve.memory import read_memory, show_memory
from stonezoo.solve.search_kernel import SIZE_SHIFT, UNKNOWN, UPPER_SHIFT, _probe

FIRST_SIZE = 1 << 20
SPARE = 4  # rows of the path that no game reaches
BUDGET = 200_000  # actions between two reports
FRESH = -1
DONE, OUT_OF_BUDGET, FULL_SET, UNSURE, FAILED = range(5)
LEVEL, STEPS, FOUND = range(3)  # entries of `control`
NOT_KNOWN = 1 << 62


@jit
def _cost(rules: ResolveRules, table: NDArray[np.int64], keys: Keys, child: StateRow, player: int) -> int:
    """What it cost to find out that a position is won for `player`, or NOT_KNOWN."""
    settled = int(rules.settled_outcome(child))
    if settled != ONGOING:
        return 1 if settled == BLACK_WON + player else NOT_KNOWN
    find_key(rules, child, keys)
    entry = _probe(table, int(keys.found[0]), int(keys.found[1]))
    if entry == UNKNOWN:
        return NOT_KNOWN
    won = entry & 3 == 2 if child[TO_PLAY] == player else entry >> UPPER_SHIFT & 3 == 0
    return 2 + (entry >> SIZE_SHIFT) if won else NOT_KNOWN


@jit
def _choose(
    rules: ResolveRules,
    table: NDArray[np.int64],
    keys: Keys,
    slots: NDArray[np.int64],
    state: StateRow,
    child: StateRow,
    after: StateRow,
    legal: NDArray[np.int32],
    swaps: NDArray[np.int32],
) -> int:
    """An action that wins for the player to act, or -1 if none is known to; the last four are work space."""
    player = int(state[TO_PLAY])
    count = rules.legal_actions(state, legal)
    for i in range(count):
        copy_row(state, child)
        rules.step(child, int(legal[i]))
        if child[OUTCOME] == BLACK_WON + player:
            return int(legal[i])
    best, least, kept = -1, NOT_KNOWN, -1
    for i in range(count):
        action = int(legal[i])
        copy_row(state, child)
        rules.step(child, action)
        if child[OUTCOME] != ONGOING:
            continue
        if child[TO_PLAY] != player:
            if contains(slots, key_of(rules, child)):
                kept = action
            continue
        number = rules.legal_actions(child, swaps)
        for j in range(number):
            copy_row(child, after)
            rules.step(after, int(swaps[j]))
            if after[OUTCOME] == BLACK_WON + player:
                return action
            if after[OUTCOME] == ONGOING and after[TO_PLAY] != player:
                if contains(slots, key_of(rules, after)):
                    kept = action
    if kept >= 0:
        return kept
    for i in range(count):
        copy_row(state, child)
        rules.step(child, int(legal[i]))
        if child[OUTCOME] == ONGOING:
            cost = _cost(rules, table, keys, child, player)
            if cost < least:
                best, least = int(legal[i]), cost
    return best


@jit
def _walk(
    rules: ResolveRules,
    table: NDArray[np.int64],
    keys: Keys,
    slots: NDArray[np.int64],
    rows: NDArray[np.int32],
    actions: NDArray[np.int32],
    places: NDArray[np.int64],
    control: NDArray[np.int64],
    budget: int,
) -> int:
    """Goes on with the walk over the winner's strategy, and says why it stopped.

    A position is put into the set when the walk comes back from it: then all that can follow is there.
    """
    loser, last = int(rows[0, TO_PLAY]), rows.shape[0] - 1
    level = int(control[LEVEL])
    stop = int(control[STEPS]) + budget
    while level >= 0:
        control[LEVEL] = level
        state = rows[level]
        mine = state[TO_PLAY] != loser
        if places[level, NEXT] == FRESH:
            if control[STEPS] >= stop:
                return OUT_OF_BUDGET
            if 2 * control[FOUND] >= slots.shape[0]:
                return FULL_SET
            if mine:
                action = _choose(
                    rules, table, keys, slots, state, rows[last], rows[last - 1], actions[last], actions[last - 1]
                )
                if action < 0:
                    return UNSURE
                actions[level, 0] = action
                places[level, NUMBER] = 1
            else:
                places[level, NUMBER] = rules.legal_actions(state, actions[level])
            places[level, NEXT] = 0
        if places[level, NEXT] == places[level, NUMBER]:
            if not mine and (level == 0 or rows[level - 1, TO_PLAY] != loser):
                if add(slots, key_of(rules, state)):
                    control[FOUND] += 1
            level -= 1
            continue
        child = rows[level + 1]
        copy_row(state, child)
        rules.step(child, int(actions[level, places[level, NEXT]]))
        control[STEPS] += 1
        if child[OUTCOME] != ONGOING:
            if child[OUTCOME] != BLACK_WON + 1 - loser:
                return FAILED
        elif not (mine and child[TO_PLAY] == loser) or not contains(slots, key_of(rules, child)):
            places[level, NEXT] += 1
            level += 1
            places[level, NEXT] = FRESH
            continue
        places[level, NEXT] += 1
    control[LEVEL] = level
    return DONE


walk = kernel(_walk)


def learn(search: Search, row: StateRow) -> bool:
    """Searches until an action of `row` is known to win, and says whether one is."""
    here = search.game.from_row(row)
    for action in here.legal_actions.tolist():
        after = here.row[np.newaxis]
        step_batch(search.game.rules, after, np.array([action], np.int32))
        if search.value(after[0]) == (1 if after[0, TO_PLAY] == here.to_play else -1):
            return True
    return False


def line_of(game: stonezoo.Game, rows: NDArray[np.int32], taken: list[int]) -> str:
    """A line of play from the first position of the path on."""
    state, names = game.from_row(rows[0]), list[str]()
    for action in taken:
        names.append(state.action_to_str(action))
        state.step(action)
    return f"{game.from_row(rows[0]).to_text()}: {' '.join(names)}: {state.to_text()}"


def by_stones(game: stonezoo.Game, keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many positions there are with each number of stones."""
    points = game.num_cells
    return np.bincount(np.bitwise_count(keys & (1 << 2 * points) - 1), minlength=points + 1)


def certify(search: Search, row: StateRow) -> tuple[NDArray[np.int64], int, int]:
    """Returns the positions of a certificate that the player to act in `row` loses, ascending, how many actions were
    tried, and how often the search had to go on.

    Raises:
        ValueError: an action that should win does not; the message is the line of play.
    """
    game, slots = search.game, new_slots(FIRST_SIZE)
    rows, actions, places = new_work(game, (game.max_steps or 0) + SPARE)
    rows[0] = row
    places[0, NEXT] = FRESH
    control = np.zeros(3, np.int64)
    unsure, shown, why = 0, time.monotonic(), OUT_OF_BUDGET
    while why != DONE:
        table, keys = search._deep.table, search._keys
        why = walk(game.rules, table, keys, slots, rows, actions, places, control, BUDGET)
        level = int(control[LEVEL])
        taken = [int(actions[i, places[i, NEXT] - 1]) for i in range(level)]
        if why == FULL_SET:
            found = slots[slots != NO_KEY]
            slots = new_slots(len(slots))
            add_all(game.rules, slots, found)
        elif why == UNSURE:
            unsure += 1
            if not learn(search, rows[level]):
                raise ValueError(f"no action wins after {line_of(game, rows, taken)}")
        elif why == FAILED:
            taken.append(int(actions[level, places[level, NEXT]]))
            raise ValueError(f"not won: {line_of(game, rows, taken)}")
        if why != DONE and time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(
                f"  {control[FOUND]:,} positions, {control[STEPS]:,} actions, {unsure:,} not known, "
                f"{share_of(places, level):.2%} by places on the path",
                file=sys.stderr,
                flush=True,
            )
    return np.sort(slots[slots != NO_KEY]), int(control[STEPS]), unsure


def share_of(places: NDArray[np.int64], level: int) -> float:
    """How far the walk is, were all actions of a position alike."""
    share = 0.0
    for i in reversed(range(level + 1)):
        share = (max(0, int(places[i, NEXT]) - 1) + share) / max(1, int(places[i, NUMBER]))
    return share


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="where the certificate goes")
    parser.add_argument("--table", type=Path, help="of the search; a new one otherwise")
    parser.add_argument("--memory", default="1G", help="of a new table (default: %(default)s)")
    parser.add_argument("--board-size", type=int, default=5)
    parser.add_argument("--rules", default="standard")
    parser.add_argument("--first", default="", help="first actions, with commas; the player to act after them loses")
    arguments = parser.parse_args()
    game = stonezoo.load_game("resolve", board_size=arguments.board_size, rules=arguments.rules)
    root = root_of(game, arguments.first)
    search = Search(game, read_memory(arguments.memory), local_tables=False)
    if arguments.table:
        search.load(arguments.table)
    before = search.nodes
    if search.value(root.row) != -1:
        print(f"the player to act does not lose: {root.to_text()}")
        return 1
    began = time.process_time()
    try:
        keys, steps, unsure = certify(search, root.row)
    except ValueError as error:
        print(f"FAILED: {error}")
        return 1
    seconds = time.process_time() - began
    about = {
        "game": "resolve",
        "board_size": arguments.board_size,
        "rules": arguments.rules,
        "first": arguments.first,
        "winner": 1 - root.to_play,
    }
    save_certificate(arguments.file, about, keys)
    counts = ", ".join(f"{stones}: {count:,}" for stones, count in enumerate(by_stones(game, keys)) if count)
    print(
        f"{describe_hardware()}\n\n{game!r} after {arguments.first or 'no action'}: "
        f"{PLAYER_NAMES[1 - root.to_play]} wins; {len(keys):,} positions, {steps:,} actions tried, "
        f"{unsure:,} positions searched anew with {search.nodes - before:,} nodes, {seconds:,.0f} processor seconds, "
        f"file {show_memory(arguments.file.stat().st_size)}\nby stones: {counts}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
