"""Numbers with intervals at any level: of means, counted successes, and percentiles of resamples.

Skewed runs have quantiles of their own. The t statistic of runs with a long tail on one side has
its own on the other. To first order in 1/sqrt(runs), P(T <= x) = Phi(x) + k (2 x^2 + 1) phi(x) / 6
with k the skewness of the mean (Hall, 1992, The Bootstrap and Edgeworth Expansion, section 2.6;
Johnson, 1978, has the same correction of the t test), which at |x| = 4 is many times Phi(-4).
Hall's cubic (1992, On the removal of skewness by transformation, J. R. Statist. Soc. B 54) is
increasing and takes the term away.

Estimates from counted successes: a rate, a difference of two rates, a trend over several.

Runs of these estimates are trials. None of the intervals collapses where every trial, or none,
is a success.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtrit

from dpbandits.metrics.intervals import difference_interval, rate_interval

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


@dataclass(frozen=True, eq=False)
class PercentileEstimate(Estimate):
    """A function of means with a percentile bootstrap interval.

    Attributes:
        resamples: the function's values on the resamples, sorted, NaN last.
        linear: the function to first order, as a t estimate of its own; percentiles of the
            bootstrap make up for half of the skewness only. Left out for what has no derivative.
    """

    resamples: Values = field(default_factory=lambda: np.empty(0))
    linear: StudentEstimate | None = None

    @property
    def is_random(self) -> bool:
        """True: the resamples are of runs."""
        return True

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return order statistics of the resamples, rounded outwards, or the linear ends beyond.

        The whole line where the resamples are too few to resolve alpha. A NaN counts as minus
        infinity for the lower end and as plus infinity for the upper one.
        """
        return self._widened(self._percentiles(alpha), alpha)

    def _widened(self, ends: tuple[float, float], alpha: float) -> tuple[float, float]:
        if self.linear is None:
            return ends
        low, high = self.linear.interval(alpha)
        return min(ends[0], low), max(ends[1], high)

    def _percentiles(self, alpha: float) -> tuple[float, float]:
        count = self.resamples.size
        rank = math.floor(alpha / 2.0 * (count + 1))
        if rank < 1:
            return -math.inf, math.inf
        undefined = int(np.isnan(self.resamples).sum())
        low = self.resamples[rank - 1 - undefined] if rank > undefined else -math.inf
        high = self.resamples[count - rank] if rank > undefined else math.inf
        return float(low), float(high)

    def with_tails(self) -> Estimate:
        """Return the same resamples with normal tails beyond what they resolve."""
        return TailedEstimate(self.value, self.runs, self.resamples, self.linear)


_RANK_RESOLVED = 10


@dataclass(frozen=True, eq=False)
class TailedEstimate(PercentileEstimate):
    """A percentile bootstrap interval that goes on with normal tails.

    Down to the level at which ten resamples lie beyond each end these are the percentiles; below
    it the distance of each end from the value grows like the quantile of the normal law. An end
    that coincides with the value, as where all resamples agree, tells nothing of a tail: there
    the interval has no end.
    """

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends of the interval of coverage 1 - alpha."""
        resolved = 2.0 * _RANK_RESOLVED / (self.resamples.size + 1)
        if alpha >= resolved or resolved >= 1.0:
            return super().interval(alpha)
        lo, hi = self._percentiles(resolved)
        growth = float(ndtri(alpha / 2.0) / ndtri(resolved / 2.0))
        below, above = growth * (self.value - lo), growth * (hi - self.value)
        low = self.value - below if below > 0.0 else -math.inf
        high = self.value + above if above > 0.0 else math.inf
        return self._widened((low, high), alpha)

    def with_tails(self) -> Estimate:
        """Return itself."""
        return self


def from_resamples(
    value: float, resamples: Values, runs: int, linear: StudentEstimate | None = None
) -> PercentileEstimate:
    """Return an estimate with the percentile interval of its resamples.

    Args:
        value: the estimate on the runs themselves.
        resamples: its values on the resamples, shape (resamples,), in any order; left unused
            where there are fewer than two runs, which tell nothing of their spread.
        runs: number of runs.
        linear: the value to first order; left out where it has no derivative.
    """
    kept = np.sort(resamples) if runs >= 2 else np.empty(0)
    return PercentileEstimate(float(value), runs, kept, linear)


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
