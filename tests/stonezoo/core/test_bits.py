"""Words of bits, in compiled code and in plain Python."""

import random

import numpy as np

from stonezoo.core.bits import lowest, popcount, select
from stonezoo.core.jit import jit


@jit
def counted(word: int) -> int:
    return popcount(word)


@jit
def first(word: int) -> int:
    return lowest(word)


@jit
def chosen(word: int, k: int) -> int:
    return select(word, k)


def words() -> list[int]:
    rng = random.Random(0)
    return [1, 2, 3, 2**30, 2**31 - 1, *(1 << i for i in range(31)), *(rng.randrange(1, 2**31) for _ in range(300))]


def test_bits_are_counted_and_found() -> None:
    for word in words():
        places = [i for i in range(32) if word >> i & 1]
        assert counted(word) == len(places)
        assert first(word) == places[0]
        assert [chosen(word, k) for k in range(len(places))] == places
        assert counted(np.int32(word)) == len(places)  # as words come out of state rows
        assert first(np.int32(word)) == places[0]
    assert counted(0) == 0
