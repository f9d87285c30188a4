"""Confidence intervals of means and rates, and curves of means with theirs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri, stdtrit

Values = NDArray[np.float64]

COVERAGE = 0.95  # coverage of the plotted intervals


@dataclass(frozen=True, eq=False)
class Curve:
    """The mean of a metric over runs at G times."""

    label: str  # in the legend
    algorithm: str  # id, which has one look in every figure; "" for none
    metric: str
    times: NDArray[np.int64]
    mean: Values
    low: Values  # end of the 95 % interval; minus infinity where there is none
    high: Values


def mean_interval(values: ArrayLike, level: float = COVERAGE) -> tuple[Values, Values, Values]:
    """Return the mean over the first axis (runs) and its t interval, infinite for one run."""
    array = np.asarray(values, dtype=np.float64)
    runs = array.shape[0]
    mean = array.mean(axis=0)
    if runs < 2:
        return mean, np.full_like(mean, -np.inf), np.full_like(mean, np.inf)
    half = stdtrit(runs - 1, 0.5 + level / 2) * array.std(axis=0, ddof=1) / np.sqrt(runs)
    return mean, mean - half, mean + half


def runs_interval(values: ArrayLike, level: float = COVERAGE) -> tuple[Values, Values, Values]:
    """Return the mean over runs and its t interval, infinite for one run and where all agree.

    Runs that agree show no spread: another one may be anywhere.
    """
    array = np.asarray(values, dtype=np.float64)
    mean, low, high = mean_interval(array, level)
    agree = array.min(axis=0) == array.max(axis=0)
    return mean, np.where(agree, -np.inf, low), np.where(agree, np.inf, high)


def rate_interval(
    successes: ArrayLike, trials: ArrayLike, level: float = COVERAGE
) -> tuple[Values, Values, Values]:
    """Return shares of successes with their exact intervals (Clopper and Pearson, 1934)."""
    count, total = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    tail = (1.0 - level) / 2.0
    failures = total - count
    low = betaincinv(np.maximum(count, 1.0), failures + 1.0, tail)
    high = betaincinv(count + 1.0, np.maximum(failures, 1.0), 1.0 - tail)
    return count / total, np.where(count > 0, low, 0.0), np.where(failures > 0, high, 1.0)


def difference_interval(
    first: tuple[int, int], second: tuple[int, int], alpha: float = 0.05
) -> tuple[float, float, float]:
    """Return the difference of two rates (successes, trials) with Newcombe's hybrid score interval.

    Each end combines the distances of the two rates from the ends of their Wilson intervals
    (Newcombe, 1998, method 10). One interval then serves both a test of no difference and a test
    against a margin, where a variance pooled under equality would be wrong; it has a width where
    both rates are 0 or 1; and it widens strictly as alpha falls, as p-values need.
    """
    quantile = -float(ndtri(alpha / 2.0))
    (one, one_low, one_high), (other, other_low, other_high) = (
        _wilson(*rate, quantile) for rate in (first, second)
    )
    below = math.hypot(one - one_low, other_high - other)
    above = math.hypot(one_high - one, other - other_low)
    return one - other, one - other - below, one - other + above


def _wilson(successes: int, trials: int, quantile: float) -> tuple[float, float, float]:
    share, square = successes / trials, quantile**2
    centre = (successes + square / 2.0) / (trials + square)
    spread = math.sqrt(trials * share * (1.0 - share) + square / 4.0)
    half = quantile * spread / (trials + square)
    return share, max(centre - half, 0.0), min(centre + half, 1.0)


def holm_levels(p_values: Sequence[float], alpha: float) -> list[float]:
    """Return the level at which each comparison of a family is judged (Holm, 1979).

    In ascending order of the p-values, the k-th smallest of m is compared with alpha/(m - k + 1);
    from the first that exceeds its level on, all are judged at that level, which decides none.
    """
    levels = [alpha] * len(p_values)
    level, before = alpha, 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if before <= level:
            level = alpha / (len(p_values) - rank)
        levels[index], before = level, p_values[index]
    return levels
