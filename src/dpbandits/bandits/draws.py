"""Rewards of one arm, drawn inside compiled kernels and, uncompiled, by the references."""

import math

import numba
import numpy as np

BERNOULLI = 0
TRUNCATED_EXPONENTIAL = 1
CLIPPED_EXPONENTIAL = 2

BINOMIAL_FROM = 32
"""From so many Bernoulli rewards on, their sum is one binomial draw.

Measured: a single reward costs 3 ns, a binomial of 32 of them 40 to 110 ns and hardly more as their
number grows.
"""


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


@numba.njit(cache=True)
def draw_reward_sum(
    law: int, parameter: float, count: int, generator: np.random.Generator
) -> float:
    """Draw the sum of ``count`` independent rewards of one arm.

    Bernoulli rewards are drawn together from ``BINOMIAL_FROM`` of them on: the sum has the same
    law, from another use of the stream. Everything else is drawn reward by reward.

    Args:
        law: one of the codes above.
        parameter: the mean (Bernoulli) or the rate (exponential laws).
        count: number of rewards, 0 or above.
        generator: the run's random stream.
    """
    if law == BERNOULLI and count >= BINOMIAL_FROM:
        return float(generator.binomial(count, parameter))
    total = 0.0
    for _ in range(count):
        total += draw_reward(law, parameter, generator)
    return total
