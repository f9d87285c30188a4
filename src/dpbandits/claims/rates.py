"""Estimates from counted successes: a rate, a difference of two rates, a trend over several.

Runs of these estimates are trials. None of the intervals collapses where every trial, or none,
is a success.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbandits.claims.estimates import Estimate, StudentEstimate
from dpbandits.metrics.intervals import difference_interval, rate_interval

Counted = tuple[int, int]
"""Successes and trials."""


@dataclass(frozen=True)
class RateEstimate(Estimate):
    """A share of successes less a number known exactly, with the interval of Clopper and Pearson.

    Attributes:
        successes: their number.
        reference: what is subtracted from the share.
    """

    successes: int = 0
    reference: float = 0.0

    @property
    def is_random(self) -> bool:
        """True: the trials are random."""
        return True

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the exact ends for the share, less the reference; the whole line without runs."""
        if self.runs == 0:
            return -math.inf, math.inf
        _, low, high = rate_interval(self.successes, self.runs, 1.0 - alpha)
        return float(low) - self.reference, float(high) - self.reference


@dataclass(frozen=True)
class DifferenceEstimate(Estimate):
    """A difference of two independent rates with Newcombe's hybrid score interval.

    Attributes:
        first: the rate from which the other is subtracted.
        second: the other.
    """

    first: Counted = (0, 0)
    second: Counted = (0, 0)

    @property
    def is_random(self) -> bool:
        """True: the trials are random."""
        return True

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends of the interval; the whole line where either rate has no trials."""
        if self.runs == 0:
            return -math.inf, math.inf
        _, low, high = difference_interval(self.first, self.second, alpha)
        return low, high


def rate(counted: Counted, reference: float = 0.0) -> RateEstimate:
    """Return a share of successes, less a number known exactly.

    Args:
        counted: successes and trials.
        reference: what is subtracted.
    """
    successes, trials = counted
    return RateEstimate(_share(counted) - reference, trials, successes, reference)


def rate_difference(first: Counted, second: Counted) -> DifferenceEstimate:
    """Return the rate of the first series minus that of the second, independent of it.

    Args:
        first: successes and trials.
        second: the same of the other series; its number of trials may differ.
    """
    value, runs = _share(first) - _share(second), min(first[1], second[1])
    return DifferenceEstimate(value, runs, first, second)


def rate_trend(counted: Sequence[Counted], scores: ArrayLike) -> StudentEstimate:
    """Return the linear trend of independent rates over scores (Cochran, 1954; Armitage, 1955).

    Its interval lies on one side of 0 exactly where the Cochran-Armitage test finds a trend.

    Args:
        counted: successes and trials of k series.
        scores: shape (k,), at least two of them distinct.

    Returns:
        The weighted least-squares slope, in rate per unit of the scores, with its standard error
        where there is no trend; infinite where every trial, or none, is a success.
    """
    successes, trials = np.asarray(counted, dtype=np.float64).T
    runs, total = int(trials.min()), trials.sum()
    if runs == 0:
        return StudentEstimate(math.nan)
    positions = np.asarray(scores, dtype=np.float64)
    centred = positions - trials @ positions / total
    spread = trials @ centred**2
    pooled = successes.sum() / total
    variance = pooled * (1.0 - pooled) / spread
    error = math.sqrt(variance) if variance > 0.0 else math.inf
    return StudentEstimate(float(centred @ successes / spread), runs, error, math.inf)


def _share(counted: Counted) -> float:
    successes, trials = counted
    return successes / trials if trials else math.nan
