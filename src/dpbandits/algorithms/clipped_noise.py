"""Bernoulli rewards with Laplace noise, clipped to [0, 1]: mostly 0 or 1, decided by one uniform.

The private value Y = min(max(X + Laplace(1/epsilon), 0), 1) of a reward X is 0 or 1 but with
probability (1 - exp(-epsilon)) / 2, whatever X is. So [0, 1) is cut into five parts, as long as
these are likely: Y = 1 with X = 1, Y = 1 with X = 0, Y between 0 and 1, Y = 0 with X = 1, and
Y = 0 with X = 0. The law is exact, up to the rounding of the cuts.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.kernels import njit

Cuts = tuple[float, float, float, float]
"""Where the five parts of an arm meet, increasing."""


@njit
def first_parameters(laws: NDArray[np.int64], law_parameters: NDArray[np.float64]) -> Any:
    """Return a number of each arm, shape (K,); of Bernoulli arms it is the mean.

    Args:
        laws: kind of each arm, shape (K,).
        law_parameters: of the arms, shape (K,), or the rows of tables, shape (K, M).
    """
    return law_parameters.reshape(laws.size, -1)[:, 0]


@njit(inline="always")
def clipped_cuts(mean: float, beyond: float) -> Cuts:
    """Return the cuts of an arm.

    Args:
        mean: of its Bernoulli rewards.
        beyond: the chance that the noise exceeds 1, exp(-epsilon) / 2.
    """
    first, last = mean / 2.0, (1.0 + mean) / 2.0
    return first, first + (1.0 - mean) * beyond, last - mean * beyond, last


@njit(inline="always")
def draw_clipped(cuts: Cuts, epsilon: float, generator: np.random.Generator) -> tuple[float, float]:
    """Draw a Bernoulli reward and its clipped private value.

    Args:
        cuts: of the arm.
        epsilon: of the noise, above 0.
        generator: the run's random stream.
    """
    first, second, third, fourth = cuts
    place = generator.random()
    # Without branches, half of which would be guessed wrongly: a third of the time of a draw.
    reward = 1.0 if (place < first) | ((third <= place) & (place < fourth)) else 0.0
    private = 1.0 if place < second else 0.0
    if (second <= place) & (place < third):
        # The noise of a reward 0 is exponential, given that it is below 1, and that has the law of
        # the fractional part of an exponential variable; the noise of a reward 1 is mirrored.
        private = generator.standard_exponential() / epsilon
        private -= math.floor(private)
        # Rewards 0 and 1 are as likely here as anywhere, 1 with probability 2 ``first``.
        if place - second < 2.0 * first * (third - second):
            reward, private = 1.0, 1.0 - private
    return reward, private
