"""The infinitesimal jackknife: smooth functions of averages over runs, with every run's influence.

A run's influence on a number is what the number changes by, to first order and times the number of
runs, as the run gains weight. Influences follow the chain rule, so that differences, ratios and
slopes of several numbers have theirs; those of one sample of runs add run by run, and samples are
independent. Their mean square over R - 1 is the squared standard error (Efron and Stein, 1981).
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpbandits.claims.estimates import Estimate, StudentEstimate, satterthwaite
from dpbandits.claims.skewness import skewness_of, third_cumulant

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Measure:
    """A number with the influence of every run on it; arithmetic carries both on.

    Attributes:
        value: the number; NaN where it could not be measured.
        influences: sample -> influences of its runs on the number, shape (R,), mean 0.
    """

    value: float
    influences: Mapping[Hashable, Values] = field(default_factory=dict)

    def _mapped(self, value: float, derivative: float) -> "Measure":
        return Measure(value, {key: derivative * each for key, each in self.influences.items()})

    def __add__(self, other: "Measure | float") -> "Measure":
        """Return the sum; influences of the same sample add run by run."""
        if not isinstance(other, Measure):
            return Measure(self.value + other, self.influences)
        joined = dict(self.influences)
        for key, each in other.influences.items():
            joined[key] = joined[key] + each if key in joined else each
        return Measure(self.value + other.value, joined)

    def __neg__(self) -> "Measure":
        """Return the number with the other sign."""
        return self._mapped(-self.value, -1.0)

    def __sub__(self, other: "Measure | float") -> "Measure":
        """Return the difference."""
        return self + (-other)

    def __mul__(self, factor: float) -> "Measure":
        """Return a multiple."""
        return self._mapped(factor * self.value, factor)

    __rmul__ = __mul__

    def log(self) -> "Measure":
        """Return the natural logarithm; NaN where the number is not positive."""
        if not self.value > 0.0:
            return self._mapped(math.nan, math.nan)
        return self._mapped(math.log(self.value), 1.0 / self.value)

    def estimate(self) -> StudentEstimate:
        """Return the number with its t interval.

        One sample of R runs has R - 1 degrees of freedom, several have Satterthwaite's; fewer than
        two runs tell nothing of the spread.
        """
        runs = min((each.size for each in self.influences.values()), default=0)
        if runs < 2:
            return StudentEstimate(self.value, runs)
        squares = [
            (
                float(np.sum((each - each.mean()) ** 2)) / (each.size * (each.size - 1)),
                each.size - 1,
            )
            for each in self.influences.values()
        ]
        error = math.sqrt(sum(square for square, _ in squares))
        skewness = skewness_of(map(third_cumulant, self.influences.values()), error)
        return StudentEstimate(self.value, runs, error, satterthwaite(*squares), skewness)


_UNKNOWN = StudentEstimate(math.nan)


@dataclass(frozen=True)
class PositiveEstimate(Estimate):
    """A positive number whose logarithm has a t interval.

    Attributes:
        logarithm: estimate of the logarithm.
    """

    logarithm: StudentEstimate = _UNKNOWN

    @property
    def is_random(self) -> bool:
        """True: it is a function of averages over runs."""
        return True

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the exponentials of the ends."""
        with np.errstate(over="ignore"):
            low, high = np.exp(self.logarithm.interval(alpha))
        return float(low), float(high)


def exponential(logarithm: Measure) -> PositiveEstimate:
    """Return the exponential of a measure, with an interval that is symmetric in the logarithm."""
    inner = logarithm.estimate()
    return PositiveEstimate(float(np.exp(inner.value)), inner.runs, inner)


def ratio_of(numerator: Measure, denominator: Measure) -> PositiveEstimate:
    """Return the ratio of two positive measures; NaN where one is not positive."""
    return exponential(numerator.log() - denominator.log())


def average(measures: Iterable[Measure]) -> Measure:
    """Return the mean of several measures; NaN of none."""
    several = list(measures)
    if not several:
        return Measure(math.nan)
    return sum(several[1:], several[0]) * (1.0 / len(several))


def slope(x: Iterable[float], y: Iterable[Measure]) -> Measure:
    """Return the least-squares slope of measures over numbers, of which at least two differ."""
    positions = np.fromiter(x, np.float64)
    centred = positions - positions.mean()
    weights = centred / (centred @ positions)
    terms = [float(weight) * each for weight, each in zip(weights, y, strict=True)]
    return sum(terms[1:], terms[0])
