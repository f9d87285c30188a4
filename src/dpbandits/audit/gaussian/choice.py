"""Chance that one of several independent normal draws is the largest, in logarithms."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.kernels import njit

Values = NDArray[np.float64]

_INNER = np.arange(-9.0, 9.1, 1.5)
_OUTER = np.array([12.0, 16.0, 24.0, 37.0])
_BREAKS = np.concatenate([-_OUTER, _INNER, _OUTER])
"""Where the line is cut, in deviations from every centre."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_NEGLIGIBLE = 40.0
"""Log of how far below the largest value the integrand may be left out."""


@njit
def log_ndtr(x: float) -> float:
    """Return the log of the standard normal distribution function."""
    if x > 5.0:
        return math.log1p(-0.5 * math.erfc(x / math.sqrt(2.0)))
    if x > -37.0:
        return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))
    # The first terms of the asymptotic series; the next one is below 1e-9 of it.
    y = 1.0 / (x * x)
    series = math.log1p(-y * (1.0 - 3.0 * y * (1.0 - 5.0 * y)))
    return -0.5 * x * x - math.log(-x) - 0.5 * math.log(2.0 * math.pi) + series


@njit
def log_chance(arm: int, centres: Values, deviations: Values) -> float:
    """Return the log chance that the draw of one arm exceeds those of all others.

    With two arms, the log of Phi. With more, the integral of f_a(u) prod_j Phi((u - m_j)/s_j) by
    Gauss and Legendre, 10 nodes between neighbouring breaks, which are close in units of every
    deviation. The integrand is log-concave, so that its largest value is next to the break with the
    largest one, and all that is left out further away is negligible. Relative error below 1e-9 for
    chances above 1e-30.

    Args:
        arm: number of the arm.
        centres: of the draws, shape (K,).
        deviations: standard deviations of the draws, above 0, shape (K,).
    """
    arms = centres.size
    if arms == 2:
        spread = math.sqrt(deviations[0] ** 2 + deviations[1] ** 2)
        exact: float = log_ndtr((centres[arm] - centres[1 - arm]) / spread)
        return exact
    breaks = np.empty(arms * _BREAKS.size)
    for i in range(arms):
        for j in range(_BREAKS.size):
            breaks[i * _BREAKS.size + j] = centres[i] + deviations[i] * _BREAKS[j]
    breaks.sort()
    heights = np.empty(breaks.size)
    for j in range(breaks.size):
        heights[j] = _log_integrand(breaks[j], arm, centres, deviations)
    top = heights.argmax()
    total = 0.0
    for j in range(breaks.size - 1):
        near = top - 1 <= j <= top
        if near or max(heights[j], heights[j + 1]) > heights[top] - _NEGLIGIBLE:
            half = 0.5 * (breaks[j + 1] - breaks[j])
            middle = 0.5 * (breaks[j + 1] + breaks[j])
            part = 0.0
            for node in range(_NODES.size):
                u = middle + half * _NODES[node]
                height = _log_integrand(u, arm, centres, deviations)
                part += _WEIGHTS[node] * math.exp(height - heights[top])
            total += half * part
    return float(heights[top] + math.log(total))


@njit
def _log_integrand(u, arm, centres, deviations):
    """Return the log density of the arm's draw at u times the chance that others are below."""
    x = (u - centres[arm]) / deviations[arm]
    value = -0.5 * x * x - math.log(deviations[arm]) - 0.5 * math.log(2.0 * math.pi)
    for other in range(centres.size):
        if other != arm:
            value += log_ndtr((u - centres[other]) / deviations[other])
    return value


def choice_chances(centres: Values, deviations: Values) -> Values:
    """Return the log chance of every arm, shape (K,).

    Args:
        centres: of the draws, shape (K,).
        deviations: standard deviations of the draws, above 0, shape (K,).
    """
    arms: Any = range(len(centres))
    return np.array([log_chance(arm, centres, deviations) for arm in arms])
