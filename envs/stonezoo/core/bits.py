"""Sets of places of a board as bits in ordinary, signed integers: within one word, and over the words of a state row.

A word has WORD places. It is kept in two entries of a state row, the halves, so that no entry is ever negative.
"""

from typing import Any, TypeAlias

from numba import types
from numba.extending import lower_builtin, type_callable
from numpy.typing import NDArray

from stonezoo.core.entries import peek, poke
from stonezoo.core.jit import jit

HALF, WORD = 30, 60
HALF_BITS, WORD_BITS = (1 << HALF) - 1, (1 << WORD) - 1
Window: TypeAlias = tuple[int, int, int]


def popcount(word: int) -> int:
    """Number of set bits."""
    return int(word).bit_count()


def lowest(word: int) -> int:
    """Index of the lowest set bit; the word is not 0."""
    word = int(word)
    return (word & -word).bit_length() - 1


@type_callable(popcount)
@type_callable(lowest)
def _type_of_count(context: Any) -> Any:
    return lambda word: types.int64 if isinstance(word, types.Integer) else None


def _lower_popcount(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.ctpop(context.cast(builder, args[0], signature.args[0], types.int64))


def _lower_lowest(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    wide = context.cast(builder, args[0], signature.args[0], types.int64)
    return builder.cttz(wide, context.get_constant(types.boolean, True))


lower: Any = lower_builtin
lower(popcount, types.Integer)(_lower_popcount)
lower(lowest, types.Integer)(_lower_lowest)


@jit
def select(word: int, k: int) -> int:
    """Index of the k-th set bit, counted from 0 at the lowest."""
    for _ in range(k):
        word &= word - 1
    return lowest(word)


@jit
def word_at(row: NDArray[Any], index: int) -> int:
    """The word whose halves stand at `index` and `index + 1`."""
    return int(peek(row, index)) | int(peek(row, index + 1)) << HALF


@jit
def put_word(row: NDArray[Any], index: int, word: int) -> None:
    """Writes a word at `index` and `index + 1`."""
    poke(row, index, word & HALF_BITS)
    poke(row, index + 1, word >> HALF)


@jit
def toggle(row: NDArray[Any], index: int, place: int) -> None:
    """Changes the bit of a place in the words that begin at `index`."""
    row[index + place // HALF] ^= 1 << place % HALF


@jit
def window_at(row: NDArray[Any], index: int) -> Window:
    """The word at `index`, between the one before it and the one after it."""
    return word_at(row, index - 2), word_at(row, index), word_at(row, index + 2)


@jit
def earlier(window: Window, steps: int) -> int:
    """For each place of the window's word, the bit of the place that lies `steps` before it (at most WORD)."""
    return (window[1] << steps | window[0] >> WORD - steps) & WORD_BITS


@jit
def later(window: Window, steps: int) -> int:
    """For each place of the window's word, the bit of the place that lies `steps` after it (at most WORD)."""
    return (window[1] >> steps | window[2] << WORD - steps) & WORD_BITS
