"""Orders of several means: numbers that depend on the signs of differences alone.

Where the order is plain, all resamples of a bootstrap agree, so that it has no interval at levels
that they do not resolve, such as the family-wise one. Here every pair is compared instead, all
pairs at once (Bonferroni).
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.bootstrap import Sample, kendall_tau
from dpbandits.claims.estimates import Estimate
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


def rank_correlation(order: Sequence[float], measures: Sequence[Measure]) -> OrderEstimate:
    """Return Kendall's tau-b between increasing numbers and measures."""
    with np.errstate(invalid="ignore"):
        value = float(kendall_tau(order, np.array([[one.value for one in measures]]))[0])

    def ends(low: Values, high: Values) -> tuple[float, float]:
        return float(low.mean()), float(high.mean())

    return _of_signs(value, [measures], _differences(measures), ends)


def place_of_best(places: Sequence[float], samples: Sequence[Sample]) -> OrderEstimate:
    """Return the place of the smallest mean, between the ends of the places that may have it.

    Args:
        places: increasing.
        samples: one at each place, at least two.
    """
    measures = [measure(sample) for sample in samples]
    differences = _differences(measures)

    def ends(low: Values, high: Values) -> tuple[float, float]:
        possible = [places[index] for index in _possibly_best(len(samples), low, high)]
        return min(possible), max(possible)

    value = float(places[_smallest(measures)])
    return _of_signs(value, [measures], differences, ends)


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
    differences = tuple(itertools.chain.from_iterable(map(_differences, lists)))
    half = len(differences) // 2

    def ends(low: Values, high: Values) -> tuple[float, float]:
        places = (
            _possibly_best(len(first), low[part], high[part])
            for part in (slice(None, half), slice(half, None))
        )
        apart = [distance(one, other) for one, other in itertools.product(*places)]
        return min(apart), max(apart)

    value = distance(*(_smallest(measures) for measures in lists))
    return _of_signs(value, lists, differences, ends)


def _of_signs(
    value: float,
    lists: Sequence[Sequence[Measure]],
    differences: tuple[Estimate, ...],
    ends: Ends,
) -> OrderEstimate:
    """Return an estimate; NaN where a measure is not known."""
    is_known = all(math.isfinite(one.value) for measures in lists for one in measures)
    runs = min(difference.runs for difference in differences)
    return OrderEstimate(value if is_known else math.nan, runs, differences, ends)


def _differences(measures: Sequence[Measure]) -> tuple[Estimate, ...]:
    """Return later minus sooner of every pair."""
    pairs = itertools.combinations(measures, 2)
    return tuple((later - sooner).estimate() for sooner, later in pairs)


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
