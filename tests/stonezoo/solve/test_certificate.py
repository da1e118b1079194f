"""The check of certificates finds the values of all positions of 3 x 3 by itself, and sees what is missing."""

import numpy as np
import pytest
from numpy.typing import NDArray

import stonezoo
from benchmarks.check_certificate import HOLDS, add_all, check, find_keys, new_slots, new_work
from stonezoo.core.game import BLACK, ONGOING, OUTCOME, PLAYER_NAMES, TO_PLAY, WHITE
from stonezoo.games.resolve import EMPTIES, FULL, STONE
from stonezoo.kernels.batch import step_batch
from stonezoo.solve import Table


def starts_of_turns(game: stonezoo.Game, player: int) -> NDArray[np.int32]:
    """All states in which the player can come to begin a turn, those with most stones first."""
    waiting, seen = [game.initial_state().row], dict[bytes, NDArray[np.int32]]()
    while waiting:
        row = waiting.pop()
        if row.tobytes() in seen or row[OUTCOME] != ONGOING:
            continue
        seen[row.tobytes()] = row
        actions = game.from_row(row).legal_actions
        after = np.repeat(row[np.newaxis], len(actions), 0)
        step_batch(game.rules, after, actions.astype(np.int32))
        waiting.extend(after)
    rows = np.array([row for row in seen.values() if row[TO_PLAY] == player and row[STONE] < 0])
    return rows[np.lexsort((-rows[:, FULL], rows[:, EMPTIES]))]


@pytest.mark.parametrize("loser", [BLACK, WHITE], ids=PLAYER_NAMES)
def test_what_holds_is_what_is_lost(loser: int) -> None:
    game = stonezoo.load_game("resolve", board_size=3)
    rows, table, work = starts_of_turns(game, loser), Table.build(game), new_work(game)
    lost = table.values(rows) == -1
    slots, keys = new_slots(len(rows)), np.zeros(len(rows), np.int64)
    find_keys(game.rules, rows, keys)
    for key, is_lost in zip(keys, lost, strict=True):
        holds = check(game.rules, key[np.newaxis], loser, slots, *work) == HOLDS
        assert holds == is_lost
        if holds:
            add_all(game.rules, slots, key[np.newaxis])
    assert 0 < lost.sum() < len(rows)


def test_the_number_of_a_position_is_that_of_its_images_alone() -> None:
    game = stonezoo.load_game("resolve", board_size=3)
    rows = starts_of_turns(game, WHITE)
    keys = np.zeros(len(rows), np.int64)
    find_keys(game.rules, rows, keys)
    kept = [symmetry for symmetry in game.symmetries if not symmetry.swaps_players]
    images = set[tuple[bytes, ...]]()
    for row in rows:
        board, found = game.from_row(row).board, []
        for symmetry in kept:
            image = np.full(9, -1, np.int8)
            image[symmetry.cells] = board
            found.append(image.tobytes() + bytes([row[FULL]]))
        images.add(tuple(sorted(found)))
    assert len(kept) == 4
    assert len(set(keys.tolist())) == len(images)
