"""The arm of the largest index, for kernels and references that decide seldom."""

import math

import numba
import numpy as np
from numpy.typing import NDArray

TIES = ("lowest", "random")
"""Which of several arms with the largest index is played (DP-NCB, A20)."""


@numba.njit(cache=True)
def arm_of_largest(
    indices: NDArray[np.float64], random_ties: bool, generator: np.random.Generator
) -> int:
    """Return the arm of the largest index.

    Args:
        indices: one for each arm, shape (K,).
        random_ties: of several such arms a uniformly random one, with one uniform for each after
            the first; otherwise the lowest, with none.
        generator: the run's random stream.
    """
    arm, largest = 0, -math.inf
    for i in range(indices.size):
        if indices[i] > largest:
            arm, largest = i, indices[i]
    if random_ties:
        tied = 1
        for i in range(arm + 1, indices.size):
            if indices[i] == largest:
                tied += 1
                if generator.random() * tied < 1.0:
                    arm = i
    return arm
