"""Noise draws that kernels and references share."""

import numba
import numpy as np


@numba.njit(cache=True, inline="always")
def laplace(scale: float, generator: np.random.Generator) -> float:
    """Draw from the Laplace law of the given scale, as the difference of two exponentials."""
    positive = generator.standard_exponential()
    return scale * (positive - generator.standard_exponential())
