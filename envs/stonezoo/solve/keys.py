"""What a position is called: two random-looking halves of 62 bits, the same for all of its symmetric images.

A position is what stands on each cell and a few numbers (`Rules.contents`), seen by the player to act. Each content of
each cell has a random word (Zobrist 1970), the numbers are mixed in, and the key is the least over all symmetries: a
symmetry only looks the words up in another order, so that no image has to be made. The first half picks a place in a
table, the second is stored there and compared: two positions are taken for one with probability 2^-62 a comparison.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.entries import peek, poke
from stonezoo.core.game import NOTHING, NUM_CONTENTS, PHASE, TO_PLAY, Rules, endless_counter
from stonezoo.core.jit import jit
from stonezoo.state import Game

KEY_BITS = 62
KEY_MASK = (1 << KEY_BITS) - 1
SEED = 20_240_817  # keys stand in files: another seed makes another format
LOW = 0xFFFFFFFF
MULTIPLIERS = (0x1F83D9ABFB41BD6B, 0x2545F4914F6CDD1D)
SHIFT = 29
NO_ENTRY = -1


class Keys(NamedTuple):
    """How positions of one game are named, and work space to do it: one a thread.

    The K images of a position are hashed side by side: `words` holds, for a cell and a content, the word that each
    image of the cell has, first halves before second halves.
    """

    words: NDArray[np.int64]  # [N * NUM_CONTENTS * 2K]
    players: NDArray[
        np.int64
    ]  # [2 * 2K] of the player to act, swapped where the image swaps; 0 where colours are alike
    counter: int  # entry of the row that is part of the key, or NO_ENTRY
    cells: NDArray[np.int32]  # [N] work space
    rest: NDArray[np.int32]  # [R] work space
    hashes: NDArray[np.int64]  # [2K] work space
    found: NDArray[np.int64]  # [2] the key that was made last


def make_keys(game: Game, *, symmetric: bool = True, with_counter: bool = False) -> Keys:
    """Returns how positions of `game` are named.

    `symmetric`: symmetric images have one key. `with_counter`: positions that differ in the count of endless play have
    different keys; without it they have one.
    """
    rules = game.rules
    random = np.random.Generator(np.random.PCG64(SEED))
    words = random.integers(0, 1 << KEY_BITS, (game.num_cells, NUM_CONTENTS, 2), np.int64)
    words[:, NOTHING] = 0
    players = random.integers(0, 1 << KEY_BITS, (2, 2), np.int64)
    if getattr(rules, "colours_alike", False):
        players[:] = 0
    symmetries = game.symmetries if hasattr(rules, "rest_size") and symmetric else game.symmetries[:1]
    image_words = [words[symmetry.cells] for symmetry in symmetries]  # each [N, NUM_CONTENTS, 2]
    image_players = [players[::-1] if symmetry.swaps_players else players for symmetry in symmetries]  # each [2, 2]
    endless = endless_counter(rules)
    return Keys(
        np.stack(image_words, axis=-1).ravel(),
        np.stack(image_players, axis=-1).ravel(),
        endless[0] if endless and with_counter else NO_ENTRY,
        np.zeros(game.num_cells, np.int32),
        np.zeros(getattr(rules, "rest_size", rules.state_size), np.int32),
        np.zeros(2 * len(symmetries), np.int64),
        np.zeros(2, np.int64),
    )


@jit
def mix(word: int, value: int, multiplier: int) -> int:
    """Mixes a number into 62 bits; products may wrap around, which the low 62 bits do not feel."""
    word = ((word ^ (value & LOW)) + 1) * multiplier & KEY_MASK
    return (word ^ word >> SHIFT) * multiplier & KEY_MASK


@jit
def find_key(rules: Rules, state: NDArray[np.int32], keys: Keys) -> None:
    """Writes the key of a position to `keys.found`."""
    rules.contents(state, keys.cells, keys.rest)
    first, second = mix(0, int(state[PHASE]), MULTIPLIERS[0]), mix(0, int(state[PHASE]), MULTIPLIERS[1])
    for i in range(keys.rest.shape[0]):
        value = int(keys.rest[i])
        first, second = mix(first, value, MULTIPLIERS[0]), mix(second, value, MULTIPLIERS[1])
    if keys.counter != NO_ENTRY:
        value = int(state[keys.counter])
        first, second = mix(first, value, MULTIPLIERS[0]), mix(second, value, MULTIPLIERS[1])
    hashes, width = keys.hashes, keys.hashes.shape[0]
    images = width >> 1
    at = int(state[TO_PLAY]) * width
    for i in range(width):
        poke(hashes, i, (first if i < images else second) ^ int(peek(keys.players, at + i)))
    for cell in range(keys.cells.shape[0]):
        content = int(peek(keys.cells, cell))
        if content != NOTHING:
            at = (cell * NUM_CONTENTS + content) * width
            for i in range(width):
                poke(hashes, i, int(peek(hashes, i)) ^ int(peek(keys.words, at + i)))
    least, least_second = int(hashes[0]), int(hashes[images])
    for image in range(1, images):
        a = int(hashes[image])
        if a < least or (a == least and hashes[images + image] < least_second):
            least, least_second = a, int(hashes[images + image])
    keys.found[0] = least
    keys.found[1] = least_second
