"""Skewed runs: the quantiles of their t statistics, and from how many runs on these are right.

The t statistic of runs with a long tail on one side has its own on the other. To first order in
1/sqrt(runs), P(T <= x) = Phi(x) + k (2 x^2 + 1) phi(x) / 6 with k the skewness of the mean (Hall,
1992, The Bootstrap and Edgeworth Expansion, section 2.6; Johnson, 1978, has the same correction of
the t test), which at |x| = 4 is many times Phi(-4). Hall's cubic (1992, On the removal of skewness
by transformation, J. R. Statist. Soc. B 54) is increasing and takes the term away.
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]

MOST_SKEWED = 2.0
"""Skewness of the runs up to which any number of them has an interval."""

FEWEST_SKEWED_RUNS = 200
"""So many runs a more skewed number needs."""


def pivot_ends(quantile: ArrayLike, skewness: ArrayLike) -> tuple[Values, Values]:
    """Return ends (low, high) between which a t statistic lies but for the share of the quantile.

    On either side the further of two: the quantile, and what Hall's transformation takes to it.

    Args:
        quantile: upper quantile of Student's law, 0 or above.
        skewness: of the mean that the statistic is made of.
    """
    upper = np.asarray(quantile, dtype=np.float64)
    return (
        np.minimum(-upper, _inverse(-upper, skewness)),
        np.maximum(upper, _inverse(upper, skewness)),
    )


def _inverse(transformed: Values, skewness: ArrayLike) -> Values:
    """Return the t that h(t) = t + k t^2/3 + k^2 t^3/27 + k/6 takes to a value, k the skewness.

    3 k (h(t) - k/6) = (1 + k t/3)^3 - 1; the quotient of r^3 - 1 and r - 1 spares a division by k.
    """
    k = np.asarray(skewness, dtype=np.float64)
    shifted = transformed - k / 6.0
    root = np.cbrt(1.0 + k * shifted)
    return np.asarray(3.0 * shifted / (root**2 + root + 1.0))


def too_few(skewness: float, runs: int) -> bool:
    """Return whether a number is too skewed for its runs: above 2, and fewer than 200 of them.

    Args:
        skewness: of the number, that of a run over the root of their number.
        runs: number of runs.
    """
    return runs < FEWEST_SKEWED_RUNS and abs(skewness) * math.sqrt(runs) > MOST_SKEWED


def third_cumulant(values: Values) -> float:
    """Return the third cumulant of the mean of independent runs, without bias (Fisher's k_3).

    Args:
        values: one number a run; 0 where fewer than three, or where all are equal.
    """
    runs = values.size
    if runs < 3 or values.min() == values.max():
        return 0.0
    centred = values - values.mean()
    return float(np.sum(centred**3)) / (runs * (runs - 1.0) * (runs - 2.0))


def skewness_of(cumulants: Iterable[float], standard_error: float) -> float:
    """Return the skewness of a sum of independent numbers; 0 where it does not vary.

    Args:
        cumulants: the third cumulant of each.
        standard_error: of the sum.
    """
    if not 0.0 < standard_error < math.inf:
        return 0.0
    return sum(cumulants) / standard_error**3
