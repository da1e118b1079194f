"""Network specs of made-up games for the tests of networks."""

import numpy as np
from numpy.typing import NDArray

from stonezero.networks import NetworkSpec

PLANES = 5
ON_BOARD = 2


def square_spec(size: int, action_planes: int = 2, tensor_size: int | None = None) -> NetworkSpec:
    """A board of size x size in the top left corner of a larger tensor; each plane of actions over the board."""
    width = tensor_size or size
    index = tuple(
        plane * width * width + row * width + column
        for plane in range(action_planes)
        for row in range(size)
        for column in range(size)
    )
    return NetworkSpec((width, width, PLANES), (action_planes, width, width), index, ON_BOARD, len(index))


def random_observations(spec: NetworkSpec, count: int, seed: int = 0, board: int | None = None) -> NDArray[np.float32]:
    """[count, H, W, C] in [0, 1], zero beside the board of board x board cells."""
    rng = np.random.default_rng(seed)
    size = board or spec.observation_shape[0]
    result = np.zeros((count, *spec.observation_shape), np.float32)
    result[:, :size, :size] = rng.random((count, size, size, PLANES), np.float32)
    result[:, :size, :size, ON_BOARD] = 1.0
    return result
