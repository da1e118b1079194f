"""Bits of one row of a board: words of at most 31 bits in ordinary integers."""

from typing import Any

from numba import types
from numba.extending import intrinsic

from stonezoo.core.jit import INTERPRETED, jit

if INTERPRETED:

    def popcount(word: int) -> int:
        """Number of set bits."""
        return int(word).bit_count()

    def lowest(word: int) -> int:
        """Index of the lowest set bit; the word is not 0."""
        word = int(word)
        return (word & -word).bit_length() - 1

else:

    @intrinsic
    def popcount(typingctx: Any, word: Any) -> Any:
        """Number of set bits."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = context.cast(builder, args[0], signature.args[0], types.int64)
            return builder.ctpop(wide)

        return types.int64(word), codegen

    @intrinsic
    def lowest(typingctx: Any, word: Any) -> Any:
        """Index of the lowest set bit; the word is not 0."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            wide = context.cast(builder, args[0], signature.args[0], types.int64)
            return builder.cttz(wide, context.get_constant(types.boolean, True))

        return types.int64(word), codegen


@jit
def select(word: int, k: int) -> int:
    """Index of the k-th set bit, counted from 0 at the lowest."""
    for _ in range(k):
        word &= word - 1
    return lowest(word)
