"""Estimates: a number that a statistic has measured, with its interval at any level."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from dpbandits.claims.skewness import pivot_ends, skewness_of, third_cumulant, too_few

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number known exactly: its interval is the number itself.

    Attributes:
        value: the number; NaN where it could not be measured.
        runs: number of runs behind it, 0 for an analytic one.
    """

    value: float
    runs: int = 0

    @property
    def is_random(self) -> bool:
        """Whether it varies with the runs, so that its comparisons share the claim's level."""
        return False

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends (lo, hi) of the two-sided interval of coverage 1 - alpha."""
        return self.value, self.value

    def with_tails(self) -> "Estimate":
        """Return the same estimate with intervals at levels that resamples cannot resolve."""
        return self


@dataclass(frozen=True)
class StudentEstimate(Estimate):
    """A mean, or a difference of means, with a t interval that is widened for skewed runs.

    Attributes:
        standard_error: of the value; infinite where fewer than two runs are there.
        degrees: degrees of freedom, above 0.
        skewness: of the value; for a mean that of a run over the root of their number.
    """

    standard_error: float = math.inf
    degrees: float = 1.0
    skewness: float = 0.0

    @property
    def is_random(self) -> bool:
        """True: it is an average over runs."""
        return True

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return value -+ t quantile times standard error, or beyond it as the skewness asks.

        The whole line where the runs are too few for their skewness.
        """
        if self.standard_error == 0.0:
            return self.value, self.value
        if too_few(self.skewness, self.runs):
            return -math.inf, math.inf
        low, high = pivot_ends(stdtrit(self.degrees, 1.0 - alpha / 2.0), self.skewness)
        error = self.standard_error
        return self.value - float(high) * error, self.value - float(low) * error


@dataclass(frozen=True)
class FiellerEstimate(Estimate):
    """A ratio of two independent means with Fieller's interval (Fieller, 1954).

    Attributes:
        numerator: the mean above.
        denominator: the mean below.
        degrees: degrees of freedom, above 0.
    """

    numerator: StudentEstimate = StudentEstimate(math.nan)
    denominator: StudentEstimate = StudentEstimate(math.nan)
    degrees: float = 1.0

    @property
    def is_random(self) -> bool:
        """True: both means are over runs."""
        return True

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ratios that a test of their difference does not reject.

        The whole line where the denominator does not differ from 0 at that level, or where the runs
        are too few for the skewness of the difference.
        """
        if math.isnan(self.value):
            return math.nan, math.nan
        if too_few(self._skewness, self.runs) or math.isinf(self.numerator.standard_error):
            return -math.inf, math.inf
        low, high = pivot_ends(stdtrit(self.degrees, 1.0 - alpha / 2.0), self._skewness)
        # The difference falls in the ratio where the denominator is positive, and rises elsewhere.
        below, above = (high, -low) if self.denominator.value > 0.0 else (-low, high)
        return self._end(float(below), -1.0), self._end(float(above), 1.0)

    @property
    def _skewness(self) -> float:
        """Skewness of numerator - ratio * denominator."""
        scaled = self.value * self.denominator.standard_error
        above, below = self.numerator, self.denominator
        cumulants = above.skewness * above.standard_error**3, -below.skewness * scaled**3
        return skewness_of(cumulants, math.hypot(above.standard_error, scaled))

    def _end(self, quantile: float, side: float) -> float:
        """Return the ratio on one side of the value at which the test has this quantile."""
        above, below = self.numerator.standard_error, self.denominator.standard_error
        remaining = 1.0 - (quantile * below / self.denominator.value) ** 2
        if not remaining > 0.0:
            return side * math.inf
        spread = math.sqrt(above**2 * remaining + (self.value * below) ** 2)
        half = quantile * spread / abs(self.denominator.value)
        return (self.value + side * half) / remaining


@dataclass(frozen=True, eq=False)
class ExtremeEstimate(Estimate):
    """The largest, or the smallest, of several estimates.

    Picking the best of several is no free choice: the end of the interval that speaks for the
    picked one holds for all of them at once (Bonferroni). The other end needs no correction,
    because it fails only if the interval of the truly extreme one does.

    Attributes:
        parts: the estimates, at least one.
        is_largest: the largest of them, or the smallest.
    """

    parts: tuple[Estimate, ...] = ()
    is_largest: bool = True

    @property
    def is_random(self) -> bool:
        """Whether any part varies with the runs."""
        return any(part.is_random for part in self.parts)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends of an interval of coverage 1 - alpha for the extreme."""
        each = [part.interval(alpha) for part in self.parts]
        jointly = [part.interval(alpha / len(self.parts)) for part in self.parts]
        if self.is_largest:
            return _extreme([lo for lo, _ in jointly], max), _extreme([hi for _, hi in each], max)
        return _extreme([lo for lo, _ in each], min), _extreme([hi for _, hi in jointly], min)

    def with_tails(self) -> Estimate:
        """Return the extreme of the same parts, each with tails."""
        return replace(self, parts=tuple(part.with_tails() for part in self.parts))


def exact(value: float, runs: int = 0) -> Estimate:
    """Return a number that carries no sampling error."""
    return Estimate(float(value), runs)


def mean(values: Values) -> StudentEstimate:
    """Return the mean of independent runs, shape (runs,), with its t interval."""
    runs = values.size
    if runs < 2:
        return StudentEstimate(float(values.mean()) if runs else math.nan, runs)
    error = float(values.std(ddof=1)) / math.sqrt(runs)
    skewness = skewness_of([third_cumulant(values)], error)
    return StudentEstimate(float(values.mean()), runs, error, runs - 1.0, skewness)


def welch_difference(first: Values, second: Values) -> StudentEstimate:
    """Return mean(first) - mean(second) of independent runs, with Welch's t interval.

    Args:
        first: one number a run, shape (runs,).
        second: the same for the other series; its number of runs may differ.
    """
    one, other = mean(first), mean(second)
    value, runs = one.value - other.value, min(one.runs, other.runs)
    if runs < 2:
        return StudentEstimate(value, runs)
    squares = one.standard_error**2, other.standard_error**2
    degrees = satterthwaite((squares[0], one.degrees), (squares[1], other.degrees))
    error = math.sqrt(sum(squares))
    skewness = skewness_of([third_cumulant(first), -third_cumulant(second)], error)
    return StudentEstimate(value, runs, error, degrees, skewness)


def ratio_of_means(numerator: Values, denominator: Values) -> FiellerEstimate:
    """Return mean(numerator) / mean(denominator) of independent runs, with Fieller's interval."""
    above, below = mean(numerator), mean(denominator)
    runs = min(above.runs, below.runs)
    value = above.value / below.value if below.value != 0.0 else math.nan
    scaled = (value * below.standard_error) ** 2
    degrees = satterthwaite((above.standard_error**2, above.degrees), (scaled, below.degrees))
    return FiellerEstimate(value, runs, above, below, degrees)


def largest(parts: Iterable[Estimate]) -> ExtremeEstimate:
    """Return the largest of several estimates (at least one)."""
    return _extreme_of(tuple(parts), is_largest=True)


def smallest(parts: Iterable[Estimate]) -> ExtremeEstimate:
    """Return the smallest of several estimates (at least one)."""
    return _extreme_of(tuple(parts), is_largest=False)


def _extreme_of(parts: tuple[Estimate, ...], *, is_largest: bool) -> ExtremeEstimate:
    value = _extreme([part.value for part in parts], max if is_largest else min)
    return ExtremeEstimate(value, min(part.runs for part in parts), parts, is_largest)


def _extreme(values: list[float], pick: Callable[[list[float]], float]) -> float:
    return math.nan if any(math.isnan(value) for value in values) else pick(values)


def satterthwaite(*variances: tuple[float, float]) -> float:
    """Degrees of freedom of a sum of squared standard errors, each with its own degrees."""
    total = sum(variance for variance, _ in variances)
    if not 0.0 < total < math.inf:
        return 1.0
    return total**2 / sum(variance**2 / degrees for variance, degrees in variances)
