"""Orders of several means: numbers that depend on the signs of differences alone.

Where the order is plain, all resamples of a bootstrap agree, so that it has no interval at levels
that they do not resolve. Here every pair is compared instead, all pairs at once (Bonferroni).
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims import Estimate
from dpbandits.claims.bootstrap import Sample, kendall_tau
from dpbandits.claims.jackknife import Measure

Values = NDArray[np.float64]
Ends = Callable[[Values, Values], tuple[float, float]]
"""From the smallest and the largest sign of every difference to the ends of an interval."""


def _everything(low: Values, high: Values) -> tuple[float, float]:
    return -math.inf, math.inf


@dataclass(frozen=True, eq=False)
class OrderEstimate(Estimate):
    """A function of the signs of several differences.

    Attributes:
        differences: the differences, at least one.
        ends: what is known of the function by what is known of the signs.
    """

    differences: tuple[Estimate, ...] = ()
    ends: Ends = _everything

    @property
    def is_random(self) -> bool:
        """True: the differences are of averages over runs."""
        return True

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends by the intervals of all differences, which hold at once."""
        intervals = [one.interval(alpha / len(self.differences)) for one in self.differences]
        low, high = np.sign(np.array(intervals, dtype=np.float64)).T
        if math.isnan(self.value) or np.isnan([low, high]).any():
            return -math.inf, math.inf
        below, above = self.ends(low, high)
        # Ties count otherwise in tau-b than in the bounds.
        return min(below, self.value), max(above, self.value)


def measure(sample: Sample) -> Measure:
    """Return the mean of a sample with the influence of every run on it."""
    return Measure(sample.mean, {sample.key: sample.values - sample.mean})


def trend(order: Sequence[float], measures: Sequence[Measure]) -> OrderEstimate:
    """Return Kendall's tau-b between increasing numbers and measures."""
    differences = tuple((later - sooner).estimate() for sooner, later in _pairs(measures))
    value = kendall_tau(order, np.array([[one.value for one in measures]]))[0]
    runs = min(difference.runs for difference in differences)
    return OrderEstimate(
        float(value),
        runs,
        differences,
        lambda low, high: (float(low.mean()), float(high.mean())),
    )


def distance_of_best(
    first: Sequence[Sample],
    second: Sequence[Sample],
    distance: Callable[[int, int], float],
) -> OrderEstimate:
    """Return how far the places of the smallest means of two lists are apart.

    Args:
        first: at least two samples.
        second: as many.
        distance: of two places.
    """
    lists = [[measure(sample) for sample in samples] for samples in (first, second)]
    differences = tuple(
        (later - sooner).estimate() for measures in lists for sooner, later in _pairs(measures)
    )
    half = len(differences) // 2

    def ends(low: Values, high: Values) -> tuple[float, float]:
        places = (
            _possibly_best(len(first), low[part], high[part])
            for part in (slice(None, half), slice(half, None))
        )
        apart = [distance(one, other) for one, other in itertools.product(*places)]
        return min(apart), max(apart)

    value = distance(*(_smallest(measures) for measures in lists))
    is_known = all(math.isfinite(one.value) for measures in lists for one in measures)
    runs = min(difference.runs for difference in differences)
    return OrderEstimate(value if is_known else math.nan, runs, differences, ends)


def _pairs(measures: Sequence[Measure]) -> list[tuple[Measure, Measure]]:
    return list(itertools.combinations(measures, 2))


def _smallest(measures: Sequence[Measure]) -> int:
    return int(np.argmin([one.value for one in measures]))


def _possibly_best(count: int, low: Values, high: Values) -> list[int]:
    """Return the places that no other one is certainly below; signs are of later minus sooner."""
    ruled_out = set()
    for (sooner, later), below, above in zip(
        itertools.combinations(range(count), 2), low, high, strict=True
    ):
        ruled_out |= {later} if below > 0 else set()
        ruled_out |= {sooner} if above < 0 else set()
    return [place for place in range(count) if place not in ruled_out]
