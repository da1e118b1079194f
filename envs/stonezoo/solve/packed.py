"""Rows that are kept for later, in little memory: the entries of a row hardly differ from one position to the next."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from stonezoo.core.game import Rules
from stonezoo.core.jit import jit, kernel

FAST = 1  # zlib's level: four times as fast as the usual one, for a sixth more bytes


@jit
def _layers(rules: Rules, rows: NDArray[np.int32], layers: NDArray[np.int32]) -> None:
    for lane in range(rows.shape[0]):
        layers[lane] = rules.layer(rows[lane])


layers_kernel = kernel(_layers)
"""layers_kernel(rules, rows int32 [B, S], layers int32 [B])"""


def layers_of(rules: Rules, rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Returns the layer of each position of a batch [B, S]: int32 [B]."""
    layers = np.zeros(len(rows), np.int32)
    layers_kernel(rules, rows, layers)
    return layers


def pack_rows(rows: NDArray[np.int32]) -> bytes:
    """Returns rows [B, S] as bytes: entry by entry, compressed."""
    return zlib.compress(np.ascontiguousarray(rows.T).tobytes(), FAST)


def unpack_rows(data: bytes, size: int) -> NDArray[np.int32]:
    """Returns the rows int32 [B, size] of `pack_rows`; zlib.error if the bytes are others."""
    return np.ascontiguousarray(np.frombuffer(zlib.decompress(data), np.int32).reshape(size, -1).T)
