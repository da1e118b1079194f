"""Random numbers for compiled code: a multiply-with-carry generator in signed 64-bit integers.

One stream is an int64 row [2]: the low 32 bits of the state and the carry. The multiplier 698769069 (Marsaglia's, of
his KISS generator) keeps every product below 2**63, so the same code runs as plain Python without overflow. It is made
for playouts and for choosing actions; what must not be guessed has no place here.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.jit import jit

Stream: TypeAlias = NDArray[np.int64]  # [2] low word, carry

MULTIPLIER = 698769069
LOW = 0xFFFFFFFF


def new_streams(seed: int | np.random.SeedSequence, count: int) -> NDArray[np.int64]:
    """Returns `count` independent streams [count, 2], fixed by `seed`."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    words = sequence.generate_state(2 * count, np.uint32).reshape(count, 2).astype(np.int64)
    words[:, 1] = 1 + words[:, 1] % (MULTIPLIER - 2)  # 0 < carry < multiplier: never one of the two fixed points
    return words


def check_seed(seed: Any) -> int:
    """Returns a seed; ValueError when it is no integer of at least 0."""
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed={seed!r} is not accepted: a seed is an integer of at least 0")
    return int(seed)


@jit
def next_word(stream: Stream) -> int:
    """Returns 32 random bits as an integer in [0, 2**32)."""
    product = MULTIPLIER * stream[0] + stream[1]
    stream[0] = product & LOW
    stream[1] = product >> 32
    return int(stream[0] ^ stream[1])


@jit
def randint(stream: Stream, bound: int) -> int:
    """Returns an integer in [0, bound), for bound < 2**31 (the bias is below bound / 2**32)."""
    return (next_word(stream) * int(bound)) >> 32


@jit
def uniform(stream: Stream) -> float:
    """Returns a float in [0, 1) with 32 random bits."""
    return next_word(stream) * (1.0 / 4294967296.0)
