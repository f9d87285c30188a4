"""Confidence intervals of the plotted means."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, stdtrit


def mean_interval(
    values: ArrayLike, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
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
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
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
