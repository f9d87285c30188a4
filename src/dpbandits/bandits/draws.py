"""One reward of one arm, drawn inside compiled kernels and, uncompiled, by the references."""

import math

import numba
import numpy as np

BERNOULLI = 0
TRUNCATED_EXPONENTIAL = 1
CLIPPED_EXPONENTIAL = 2


@numba.njit(cache=True, inline="always")
def draw_reward(law: int, parameter: float, generator: np.random.Generator) -> float:
    """Draw one reward in [0, 1] with one uniform.

    Args:
        law: one of the codes above.
        parameter: the mean (Bernoulli) or the rate (exponential laws).
        generator: the run's random stream.
    """
    uniform = generator.random()
    if law == BERNOULLI:
        return 1.0 if uniform < parameter else 0.0
    if law == TRUNCATED_EXPONENTIAL:
        return -math.log1p(uniform * math.expm1(-parameter)) / parameter
    return min(-math.log1p(-uniform) / parameter, 1.0)
