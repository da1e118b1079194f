"""Pixels as a PNG file, with the standard library alone."""

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

SIGNATURE = b"\x89PNG\r\n\x1a\n"
EIGHT_BITS, TRUE_COLOR = 8, 2  # of the header chunk (PNG specification, 11.2.2)
NO_FILTER = 0  # the byte before each row of pixels


def to_png(pixels: NDArray[np.uint8]) -> bytes:
    """Returns the PNG file of an image, uint8 [height, width, 3]."""
    height, width, _ = pixels.shape
    rows = np.empty((height, 1 + 3 * width), np.uint8)
    rows[:, 0] = NO_FILTER
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, EIGHT_BITS, TRUE_COLOR, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")]
    return SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
