"""Random numbers for compiled code; all statistical checks have fixed seeds and at least 4 sigma."""

import numpy as np
import pytest

from stonezoo.core.jit import jit
from stonezoo.core.rng import MULTIPLIER, new_streams, next_word, randint, uniform

MASK = 0xFFFFFFFF


@jit
def fill_integers(stream: np.ndarray, bound: int, out: np.ndarray) -> None:
    for i in range(out.shape[0]):
        out[i] = randint(stream, bound)


@jit
def fill_uniforms(stream: np.ndarray, out: np.ndarray) -> None:
    for i in range(out.shape[0]):
        out[i] = uniform(stream)


@jit
def fill_words(stream: np.ndarray, out: np.ndarray) -> None:
    for i in range(out.shape[0]):
        out[i] = next_word(stream)


def integers(stream: np.ndarray, bound: int, count: int) -> np.ndarray:
    out = np.zeros(count, np.int64)
    fill_integers(stream, bound, out)
    return out


def too_far(counts: np.ndarray, expected: np.ndarray | float) -> bool:
    """Whether chi-square lies more than 4 standard deviations above its mean."""
    freedom = len(counts) - 1
    return float((((counts - expected) ** 2) / expected).sum()) > freedom + 4 * (2 * freedom) ** 0.5 + 4


def test_words_are_those_of_the_formula() -> None:
    """Multiply with carry, in Python's integers of any size."""
    stream = new_streams(7, 1)[0]
    low, carry = map(int, stream)
    out = np.zeros(1000, np.int64)
    fill_words(stream, out)
    for word in out:
        product = MULTIPLIER * low + carry
        low, carry = product & MASK, product >> 32
        assert word == low ^ carry
        assert 0 <= word <= MASK
    assert stream.tolist() == [low, carry]


def test_streams_are_fixed_by_the_seed() -> None:
    assert np.array_equal(new_streams(5, 4), new_streams(5, 4))
    assert not np.array_equal(new_streams(5, 4), new_streams(6, 4))
    assert np.array_equal(new_streams(np.random.SeedSequence(5), 4), new_streams(5, 4))
    streams = new_streams(0, 10_000)
    assert streams.shape == (10_000, 2)
    assert streams.dtype == np.int64
    assert len({tuple(stream) for stream in streams.tolist()}) == 10_000
    assert ((streams[:, 0] >= 0) & (streams[:, 0] <= MASK)).all()
    assert ((streams[:, 1] > 0) & (streams[:, 1] < MULTIPLIER - 1)).all()


@pytest.mark.parametrize("bound", [2, 3, 7, 10, 25, 61, 81, 100, 361])
def test_integers_are_uniform(bound: int) -> None:
    """Chi-square at 4 sigma."""
    values = integers(new_streams(bound, 1)[0], bound, 200_000)
    assert ((values >= 0) & (values < bound)).all()
    assert not too_far(np.bincount(values, minlength=bound), 200_000 / bound)


@pytest.mark.parametrize("bound", [2, 5, 9])
def test_integers_in_a_row_are_independent(bound: int) -> None:
    """Chi-square of pairs and of values three apart, at 4 sigma."""
    values = integers(new_streams(100 + bound, 1)[0], bound, 200_000)
    for apart in (1, 2, 3):
        pairs = values[:-apart] * bound + values[apart:]
        assert not too_far(np.bincount(pairs, minlength=bound**2), len(pairs) / bound**2)


def test_streams_are_independent_of_their_neighbours() -> None:
    """The first numbers of neighbouring streams, and a stream against the next: chi-square of pairs at 4 sigma."""
    streams = new_streams(1, 40_001)
    first = np.array([integers(stream, 6, 1)[0] for stream in streams])
    assert not too_far(np.bincount(first, minlength=6), len(first) / 6)
    pairs = first[:-1] * 6 + first[1:]
    assert not too_far(np.bincount(pairs, minlength=36), len(pairs) / 36)
    one, two = new_streams(2, 2)
    both = integers(one, 6, 100_000) * 6 + integers(two, 6, 100_000)
    assert not too_far(np.bincount(both, minlength=36), 100_000 / 36)


def test_a_bound_of_one_gives_nought_and_large_bounds_are_reached() -> None:
    assert not integers(new_streams(3, 1)[0], 1, 100).any()
    values = integers(new_streams(3, 1)[0], 2**31 - 1, 10_000)
    assert values.max() > 2**31 - 2**21
    assert values.min() < 2**21
    assert (values < 2**31 - 1).all()


def test_uniform_numbers_fill_the_unit_interval() -> None:
    """Mean and variance within 4 sigma; never 1."""
    out = np.zeros(200_000)
    fill_uniforms(new_streams(11, 1)[0], out)
    assert ((out >= 0) & (out < 1)).all()
    assert abs(out.mean() - 0.5) < 4 * (1 / 12 / len(out)) ** 0.5
    assert not too_far(np.bincount((out * 64).astype(int), minlength=64), len(out) / 64)
    stream = np.array([MASK, 1], np.int64)
    assert all(uniform(stream) < 1 for _ in range(1000))
