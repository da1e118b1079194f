"""Entries of a state row at an index that is known not to be negative.

Compiled `row[i]` first asks whether i counts from the end. Where the compiler cannot see that it does not, it makes no
vector code of a loop: this is for such loops.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import load_item, make_array, store_item
from numpy.typing import NDArray

from stonezoo.core.jit import INTERPRETED

LANES = 32  # entries that `equal_bits` compares at once

if INTERPRETED:

    def equal_bits(row: NDArray[Any], index: int, value: int) -> int:
        """Bits of those of the LANES entries from `index` on that equal `value`."""
        return sum(1 << i for i in range(LANES) if row[index + i] == value)

    def peek(row: NDArray[Any], index: int) -> Any:
        """row[index]"""
        return row[index]

    def poke(row: NDArray[Any], index: int, value: int) -> None:
        """row[index] = value"""
        row[index] = value

else:

    def _address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row = make_array(signature.args[0])(context, builder, args[0])  # type: ignore[no-untyped-call]
        index = context.cast(builder, args[1], signature.args[1], types.intp)
        return builder.gep(row.data, [index], inbounds=True)

    @intrinsic
    def peek(typingctx: Any, row: Any, index: Any) -> Any:
        """row[index]"""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return load_item(context, builder, signature.args[0], _address(context, builder, signature, args))  # type: ignore[no-untyped-call]

        return row.dtype(row, index), codegen

    @intrinsic
    def poke(typingctx: Any, row: Any, index: Any, value: Any) -> Any:
        """row[index] = value"""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            entry = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
            store_item(context, builder, signature.args[0], entry, _address(context, builder, signature, args))  # type: ignore[no-untyped-call]
            return context.get_dummy_value()

        return types.none(row, index, value), codegen

    @intrinsic
    def equal_bits(typingctx: Any, row: Any, index: Any, value: Any) -> Any:
        """Bits of those of the LANES entries from `index` on that equal `value`."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            entry_type = context.get_value_type(signature.args[0].dtype)
            lanes = ir.VectorType(entry_type, LANES)
            address = builder.bitcast(_address(context, builder, signature, args), lanes.as_pointer())
            entries = builder.load(address, align=entry_type.width // 8)
            value = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
            wanted = ir.Constant(lanes, ir.Undefined)
            for lane in range(LANES):
                wanted = builder.insert_element(wanted, value, ir.Constant(ir.IntType(32), lane))
            equal = builder.icmp_signed("==", entries, wanted)
            return builder.zext(builder.bitcast(equal, ir.IntType(LANES)), ir.IntType(64))

        return types.int64(row, index, value), codegen
