"""Confidence intervals of the plotted means."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit


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
