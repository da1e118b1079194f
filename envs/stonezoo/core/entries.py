"""Entries of a state row at an index that is known not to be negative.

Compiled `row[i]` first asks whether i counts from the end. Where the compiler cannot see that it does not, it makes no
vector code of a loop: this is for such loops. Each function is plain Python, with its compiled form beside it.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import load_item, make_array, store_item
from numpy.typing import NDArray

LANES = 32  # entries that `equal_bits` compares at once


def peek(row: NDArray[Any], index: int) -> Any:
    """row[index]"""
    return row[index]


def poke(row: NDArray[Any], index: int, value: int) -> None:
    """row[index] = value"""
    row[index] = value


def equal_bits(row: NDArray[Any], index: int, value: int) -> int:
    """Bits of those of the LANES entries from `index` on that equal `value`."""
    return sum(1 << i for i in range(LANES) if row[index + i] == value)


@type_callable(peek)
def _type_peek(context: Any) -> Any:
    return lambda row, index: row.dtype


@type_callable(poke)
def _type_poke(context: Any) -> Any:
    return lambda row, index, value: types.none


@type_callable(equal_bits)
def _type_equal_bits(context: Any) -> Any:
    return lambda row, index, value: types.int64


def _address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    row = make_array(signature.args[0])(context, builder, args[0])  # type: ignore[no-untyped-call]
    index = context.cast(builder, args[1], signature.args[1], types.intp)
    return builder.gep(row.data, [index], inbounds=True)


def _lower_peek(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    address = _address(context, builder, signature, args)
    return load_item(context, builder, signature.args[0], address)  # type: ignore[no-untyped-call]


def _lower_poke(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    entry = context.cast(builder, args[2], signature.args[2], signature.args[0].dtype)
    address = _address(context, builder, signature, args)
    store_item(context, builder, signature.args[0], entry, address)  # type: ignore[no-untyped-call]
    return context.get_dummy_value()


def _lower_equal_bits(context: Any, builder: Any, signature: Any, args: Any) -> Any:
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


lower: Any = lower_builtin
lower(peek, types.Array, types.Integer)(_lower_peek)
lower(poke, types.Array, types.Integer, types.Integer)(_lower_poke)
lower(equal_bits, types.Array, types.Integer, types.Integer)(_lower_equal_bits)
