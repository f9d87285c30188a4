"""Confidence intervals of means and rates, and curves of means with theirs."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, ndtri, stdtrit

Values = NDArray[np.float64]

LEVEL = 0.95  # coverage of the plotted intervals


@dataclass(frozen=True, eq=False)
class Curve:
    """The mean of a metric over runs at G times.

    Attributes:
        label: text in the legend.
        algorithm: id of the algorithm, which has one look in every figure; "" for none.
        metric: what it is.
        times: rounds t, shape (G,).
        mean: mean over runs, shape (G,).
        low: lower end of its 95 % interval, shape (G,); minus infinity for one run.
        high: its upper end.
    """

    label: str
    algorithm: str
    metric: str
    times: NDArray[np.int64]
    mean: Values
    low: Values
    high: Values


def mean_interval(values: ArrayLike, level: float = 0.95) -> tuple[Values, Values, Values]:
    """Mean over the first axis (runs) with its t interval.

    Args:
        values: shape (runs, ...); at least two runs for an interval, else it is the whole line.
        level: coverage, in (0, 1).

    Returns:
        Mean, lower and upper end, each of shape (...).
    """
    array = np.asarray(values, dtype=np.float64)
    runs = array.shape[0]
    mean = array.mean(axis=0)
    if runs < 2:
        return mean, np.full_like(mean, -np.inf), np.full_like(mean, np.inf)
    half = stdtrit(runs - 1, 0.5 + level / 2) * array.std(axis=0, ddof=1) / np.sqrt(runs)
    return mean, mean - half, mean + half


def rate_interval(
    successes: ArrayLike, trials: ArrayLike, level: float = 0.95
) -> tuple[Values, Values, Values]:
    """Share of successes with its exact interval (Clopper and Pearson, 1934).

    Args:
        successes: number of successes, 0 to ``trials``, any shape.
        trials: number of independent trials, at least 1, of the same shape.
        level: coverage, in (0, 1).

    Returns:
        Share, lower and upper end.
    """
    count, total = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    tail = (1.0 - level) / 2.0
    failures = total - count
    low = betaincinv(np.maximum(count, 1.0), failures + 1.0, tail)
    high = betaincinv(count + 1.0, np.maximum(failures, 1.0), 1.0 - tail)
    return count / total, np.where(count > 0, low, 0.0), np.where(failures > 0, high, 1.0)


def difference_interval(
    first: tuple[int, int], second: tuple[int, int], alpha: float = 0.05
) -> tuple[float, float, float]:
    """Difference of two independent rates with Newcombe's hybrid score interval.

    Each end combines the distances of the two rates from the ends of their Wilson intervals
    (Newcombe, 1998, method 10). Chosen over a Wald interval because one interval then serves both
    a test of no difference, where it stays close to the two-proportion z test, and a test against
    a margin, where a variance pooled under equality would be wrong; and because it has a width
    where both rates are 0 or 1. Its ends widen strictly as alpha falls, as p-values need.

    Args:
        first: successes and trials, at least one trial.
        second: successes and trials of what is subtracted.
        alpha: one minus the coverage, in (0, 1].

    Returns:
        Difference, lower and upper end.
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
