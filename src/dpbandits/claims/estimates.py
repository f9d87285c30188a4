"""Numbers with intervals at any level: functions of means, rates, extremes and orders.

*Influences.* A run's influence on a number is what the number changes by, to first order and times
the number of runs, as the run gains weight (infinitesimal jackknife; Efron and Stein, 1981).
Influences follow the chain rule, so that differences, ratios and slopes of several numbers have
theirs; those of one sample of runs add run by run, and samples are independent. Their mean square
over R - 1 is the squared standard error. A ratio has a t interval of its logarithm.

*Skewed runs.* Runs with a long tail on one side have a t statistic with a long tail on the other.
To first order in 1/sqrt(runs), P(T <= x) = Phi(x) + k (2 x^2 + 1) phi(x) / 6 with k the skewness of
the mean (Hall, 1992, The Bootstrap and Edgeworth Expansion, section 2.6; Johnson, 1978, has the
same correction of the t test), which at |x| = 4 is many times Phi(-4). Hall's cubic (1992, On the
removal of skewness by transformation, J. R. Statist. Soc. B 54) is increasing and takes the term
away.

*Rates* have the intervals of Clopper and Pearson, their differences Newcombe's, their slopes that
of the Cochran-Armitage test: none collapses where every trial, or none, is a success. *Extremes*
and *orders* follow from the intervals of their parts, all at once (Bonferroni).
"""

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from dpbandits.metrics.intervals import difference_interval, rate_interval

Values = NDArray[np.float64]

MOST_SKEWED = 2.0
"""Skewness of the runs up to which any number of them has an interval."""

FEWEST_SKEWED_RUNS = 200
"""Runs that a more skewed number needs for an interval."""


def pivot_ends(quantile: ArrayLike, skewness: ArrayLike) -> tuple[Values, Values]:
    """Return the ends (low, high) between which a t statistic lies, for an upper Student quantile.

    Each end is the further of two: the quantile, and what Hall's transformation takes to it at the
    skewness of the mean.
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


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number known exactly: its interval is the number itself.

    Attributes:
        value: the number; NaN where it could not be measured.
        runs: number of runs behind it, 0 for an analytic one.
        is_random: whether it varies with the runs, so that its comparisons share the claim's level.
    """

    value: float
    runs: int = 0
    is_random: ClassVar[bool] = False

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends (lo, hi) of the two-sided interval of coverage 1 - alpha."""
        return self.value, self.value


@dataclass(frozen=True, eq=False)
class RandomEstimate(Estimate):
    """A number that varies with the runs; each subclass has its own interval."""

    is_random = True


def exact(value: float, runs: int = 0) -> Estimate:
    """Return a number that carries no sampling error."""
    return Estimate(float(value), runs)


@dataclass(frozen=True, eq=False)
class StudentEstimate(RandomEstimate):
    """A number with a t interval that is widened for skewed runs.

    Its standard error is infinite where fewer than two runs are there; its skewness is that of the
    value, for a mean that of a run over the root of their number.
    """

    standard_error: float = math.inf
    degrees: float = 1.0
    skewness: float = 0.0

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return value -+ t quantile times standard error, or beyond it as the skewness asks.

        The whole line where the runs are too few for their skewness.
        """
        if self.standard_error == 0.0:
            return self.value, self.value
        skewness_of_run = self.skewness * math.sqrt(self.runs)
        if self.runs < FEWEST_SKEWED_RUNS and abs(skewness_of_run) > MOST_SKEWED:
            return -math.inf, math.inf
        low, high = pivot_ends(stdtrit(self.degrees, 1.0 - alpha / 2.0), self.skewness)
        error = self.standard_error
        return self.value - float(high) * error, self.value - float(low) * error


class TrialSample(NamedTuple):
    """Key of a sample of trials: all successes have one influence, all failures another."""

    name: Hashable
    successes: int
    failures: int


Influences = Mapping[Hashable, Values]
"""Sample -> influence of each run, or of a success and of a failure for ``TrialSample``."""


def _moments(sample: Hashable, influences: Values) -> tuple[int, float, float]:
    """Return runs of a sample, and variance and third cumulant of the mean of their influences.

    The cumulant is Fisher's k_3, which has no bias; 0 for fewer than three runs.
    """
    weights = sample[1:] if isinstance(sample, TrialSample) else np.ones(influences.size)
    runs = int(np.sum(weights))
    centred = influences - np.average(influences, weights=weights)
    square = float(np.sum(weights * centred**2)) / (runs * (runs - 1.0))
    if runs < 3 or influences.min() == influences.max():
        return runs, square, 0.0
    cube = float(np.sum(weights * centred**3)) / (runs * (runs - 1.0) * (runs - 2.0))
    return runs, square, cube


@dataclass(frozen=True, eq=False)
class Measured(RandomEstimate):
    """A function of means with the influence of every run on it; arithmetic updates both.

    Influences have mean 0 for each sample of runs; of a ratio the logarithm has the t interval.
    """

    influences: Influences = field(default_factory=dict)
    is_ratio: bool = False

    @classmethod
    def of(cls, value: float, influences: Influences) -> "Measured":
        """Return a number with its influences, and the runs of its smallest sample."""
        sizes = [
            sample.successes + sample.failures if isinstance(sample, TrialSample) else runs.size
            for sample, runs in influences.items()
        ]
        return cls(value, min(sizes, default=0), influences)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends of the t interval; for a ratio exponentials of those of the logarithm."""
        if not self.is_ratio:
            return self.student.interval(alpha)
        with np.errstate(over="ignore"):
            low, high = np.exp(self._of_logarithm.interval(alpha))
        return float(low), float(high)

    @cached_property
    def _of_logarithm(self) -> StudentEstimate:
        return self.log().student

    @cached_property
    def student(self) -> StudentEstimate:
        """The number with its t interval, without regard to ``is_ratio``.

        One sample of R runs has R - 1 degrees of freedom, several have Satterthwaite's; fewer than
        two runs tell nothing of the spread.
        """
        if self.runs < 2:
            return StudentEstimate(self.value, self.runs)
        moments = [_moments(sample, runs) for sample, runs in self.influences.items()]
        variance = sum(square for _, square, _ in moments)
        error = math.sqrt(variance)
        if not 0.0 < error < math.inf:
            return StudentEstimate(self.value, self.runs, error)
        degrees = variance**2 / sum(square**2 / (runs - 1.0) for runs, square, _ in moments)
        skewness = sum(cube for _, _, cube in moments) / error**3
        return StudentEstimate(self.value, self.runs, error, degrees, skewness)

    def _mapped(self, value: float, derivative: float) -> "Measured":
        influences = {sample: derivative * runs for sample, runs in self.influences.items()}
        return Measured(value, self.runs, influences)

    def __add__(self, other: "Measured | float") -> "Measured":
        """Return the sum; influences of the same sample add run by run."""
        if not isinstance(other, Measured):
            return Measured(self.value + other, self.runs, self.influences)
        joined = dict(self.influences)
        for sample, runs in other.influences.items():
            joined[sample] = joined[sample] + runs if sample in joined else runs
        return Measured.of(self.value + other.value, joined)

    def __sub__(self, other: "Measured | float") -> "Measured":
        """Return the difference."""
        return self + -1.0 * other

    def __mul__(self, factor: float) -> "Measured":
        """Return a multiple."""
        return self._mapped(factor * self.value, factor)

    __rmul__ = __mul__

    def __truediv__(self, other: "Measured | float") -> "Measured":
        """Return the ratio to a number, or to another measure, both positive; NaN where not."""
        if isinstance(other, Measured):
            return (self.log() - other.log()).exp()
        return self * (1.0 / other)

    def log(self) -> "Measured":
        """Return the natural logarithm; NaN where the number is not positive."""
        if not self.value > 0.0:
            return self._mapped(math.nan, math.nan)
        return self._mapped(math.log(self.value), 1.0 / self.value)

    def exp(self) -> "Measured":
        """Return the exponential, whose interval is symmetric in the logarithm."""
        value = math.exp(self.value)
        return Measured(value, self.runs, self._mapped(value, value).influences, is_ratio=True)


def mean(values: Values, sample: Hashable = None) -> Measured:
    """Return the mean of independent runs, of which ``values`` has one number each.

    Numbers of the same ``sample`` are compared run by run; it is one of its own by default.
    """
    sample = object() if sample is None else sample
    value = float(values.mean()) if values.size else math.nan
    return Measured.of(value, {sample: values - value})


def average(measures: Iterable[Measured]) -> Measured:
    """Return the mean of several measures; NaN of none."""
    several = list(measures)
    weights = np.full(len(several), 1.0 / max(len(several), 1))
    return weighted_sum(weights, several) if several else Measured(math.nan)


_STEP = 1e-3
"""Step of numerical derivatives, in standard errors."""


def smooth(function: Callable[[Values], Values], measures: Sequence[Measured]) -> Measured:
    """Return a differentiable function of k numbers, whose derivatives are taken numerically.

    It takes numbers of shape (n, k) and answers with shape (n,).
    """
    point = np.array([[one.value for one in measures]])
    errors = np.array([one.student.standard_error for one in measures])
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(function(point)[0])
        if not np.isfinite(errors).all():
            return Measured(value, min(one.runs for one in measures))
        steps = np.diag(_STEP * errors)
        rises = function(point + steps) - function(point - steps)
    # A number that does not vary contributes nothing.
    slopes = np.divide(rises, 2.0 * _STEP * errors, where=errors > 0.0, out=np.zeros_like(rises))
    return weighted_sum(slopes, [one + -one.value for one in measures]) + value


def relative_error(values: Values, runs: int) -> Estimate:
    """Return the standard error of a mean over some runs, over the mean.

    The spread of a run is estimated from all values, with an interval of its own; values that all
    agree have none.
    """
    if values.size >= 2 and np.ptp(values) == 0.0:
        return exact(0.0, values.size)
    # Centred, so that the variance is no difference of large numbers.
    centre, name = mean(values).value, object()
    centred = values - centre

    def error(means: Values) -> Values:
        variance = np.maximum(means[:, 1] - means[:, 0] ** 2, 0.0) * values.size / (values.size - 1)
        return np.asarray(np.sqrt(variance / runs) / (centre + means[:, 0]))

    return smooth(error, [mean(centred, name), mean(centred**2, name)])


Counted = tuple[int, int]
"""Successes and trials."""


@dataclass(frozen=True, eq=False)
class Rate(RandomEstimate):
    """A share of successes less a reference known exactly: the interval of Clopper and Pearson."""

    successes: int = 0
    reference: float = 0.0

    @property
    def counted(self) -> Counted:
        """Successes and trials."""
        return self.successes, self.runs

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the exact ends for the share, less the reference; the whole line without runs."""
        if self.runs == 0:
            return -math.inf, math.inf
        _, low, high = rate_interval(self.successes, self.runs, 1.0 - alpha)
        return float(low) - self.reference, float(high) - self.reference

    def measured(self, name: Hashable) -> Measured:
        """Return the share as a mean of trials, for functions of several rates."""
        sample = TrialSample(name, self.successes, self.runs - self.successes)
        share = self.value + self.reference
        return Measured.of(self.value, {sample: np.array([1.0 - share, -share])})


@dataclass(frozen=True, eq=False)
class RateDifference(RandomEstimate):
    """A difference of two independent rates with Newcombe's hybrid score interval."""

    first: Counted = (0, 0)
    second: Counted = (0, 0)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends of the interval; the whole line where either rate has no trials."""
        if self.runs == 0:
            return -math.inf, math.inf
        _, low, high = difference_interval(self.first, self.second, alpha)
        return low, high


def _rate_of(counted: Counted) -> float:
    successes, trials = counted
    return successes / trials if trials else math.nan


def rate(counted: Counted, reference: float = 0.0) -> Rate:
    """Return a share of successes, less a number known exactly."""
    successes, trials = counted
    return Rate(_rate_of(counted) - reference, trials, successes, reference)


def rate_difference(first: Counted, second: Counted) -> RateDifference:
    """Return the rate of the first series minus that of the second, independent of it."""
    value, runs = _rate_of(first) - _rate_of(second), min(first[1], second[1])
    return RateDifference(value, runs, first, second)


def rate_trend(counted: Sequence[Counted], scores: ArrayLike) -> StudentEstimate:
    """Return the linear trend of independent rates over scores (Cochran, 1954; Armitage, 1955).

    Its interval lies on one side of 0 exactly where the Cochran-Armitage test finds a trend. The
    weighted least-squares slope, in rate per unit of the scores, has its standard error where there
    is no trend; infinite where every trial, or none, is a success.
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


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Return the first number minus the second."""
    if isinstance(first, Rate) and isinstance(second, Rate):
        return rate_difference(first.counted, second.counted)
    if isinstance(first, Rate) and not second.is_random:
        return rate(first.counted, first.reference + second.value)
    if not first.is_random and not second.is_random:
        return exact(first.value - second.value, max(first.runs, second.runs))
    return as_measured(first) - as_measured(second)


def ratio(first: Estimate, second: Estimate) -> Estimate:
    """Return the first number over the second; where they are random, both are to be positive."""
    if not first.is_random and not second.is_random:
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.float64(first.value) / second.value
        return exact(value, max(first.runs, second.runs))
    if not second.is_random:
        return as_measured(first) / second.value
    return as_measured(first) / as_measured(second)


def as_measured(number: Estimate) -> Measured:
    """Return a number for arithmetic; rates become means of their trials.

    Raises:
        TypeError: it is an extreme or an order, which have no arithmetic.
    """
    if isinstance(number, Measured):
        return number
    if isinstance(number, Rate):
        return number.measured(object())
    if number.is_random:
        raise TypeError(f"{type(number).__name__} has no arithmetic")
    return Measured(number.value, number.runs)


def slope(x: Iterable[float], y: Iterable[Measured]) -> Measured:
    """Return the least-squares slope of numbers over positions, of which at least two differ."""
    positions = np.fromiter(x, np.float64)
    centred = positions - positions.mean()
    weights = centred / (centred @ positions)
    return weighted_sum(weights, list(y))


def weighted_sum(weights: Iterable[float], numbers: Sequence[Measured]) -> Measured:
    """Return the sum of at least one number, each times its weight."""
    first, *others = (float(w) * number for w, number in zip(weights, numbers, strict=True))
    return sum(others, first)


@dataclass(frozen=True, eq=False)
class Extreme(RandomEstimate):
    """The largest, or the smallest, of several estimates.

    Picking the best of several is no free choice: the end of the interval that speaks for the
    picked one holds for all of them at once (Bonferroni). The other end needs no correction: the
    true extreme lies beyond it only where the interval of the truly extreme one misses, too.
    """

    parts: tuple[Estimate, ...] = ()
    is_largest: bool = True

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends of an interval of coverage 1 - alpha for the extreme."""
        singly, jointly = (
            np.array([part.interval(level) for part in self.parts]).T
            for level in (alpha, alpha / len(self.parts))
        )
        if self.is_largest:
            return float(np.max(jointly[0])), float(np.max(singly[1]))
        return float(np.min(singly[0])), float(np.min(jointly[1]))


def extreme(parts: Iterable[Estimate], *, is_largest: bool) -> Estimate:
    """Return the largest, or the smallest, of several estimates (at least one)."""
    several = tuple(parts)
    value = float((np.max if is_largest else np.min)([part.value for part in several]))
    runs = min(part.runs for part in several)
    is_random = any(part.is_random for part in several)
    return Extreme(value, runs, several, is_largest) if is_random else exact(value, runs)


largest, smallest = partial(extreme, is_largest=True), partial(extreme, is_largest=False)


Ends = Callable[[Values, Values], tuple[float, float]]
"""From the smallest and the largest sign of every difference to the ends of an interval."""


@dataclass(frozen=True, eq=False)
class Order(RandomEstimate):
    """A function of the signs of several differences, all of which are compared at once.

    ``ends`` turns the signs that are possible into the interval of the function.
    """

    differences: tuple[Estimate, ...] = ()
    ends: Ends = lambda low, high: (-math.inf, math.inf)

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the ends by the intervals of all differences, which hold at once (Bonferroni)."""
        intervals = [one.interval(alpha / len(self.differences)) for one in self.differences]
        low, high = np.sign(np.array(intervals, dtype=np.float64)).T
        if math.isnan(self.value) or np.isnan([low, high]).any():
            return -math.inf, math.inf
        return self.ends(low, high)


def _pairs(numbers: Sequence[Estimate]) -> tuple[Estimate, ...]:
    """Return the later number minus the earlier one, for every pair."""
    pairs = itertools.combinations(numbers, 2)
    return tuple(difference(later, sooner) for sooner, later in pairs)


def _order(value: float, differences: tuple[Estimate, ...], ends: Ends) -> Order:
    """Return an order; NaN where a number is not known."""
    is_known = all(math.isfinite(one.value) for one in differences)
    runs = min(one.runs for one in differences)
    return Order(value if is_known else math.nan, runs, differences, ends)


def place_of_lowest(places: Sequence[float], numbers: Sequence[Estimate]) -> Order:
    """Return the place of the smallest of at least two numbers; places increase.

    The interval spans the places at which the smallest number may be.
    """

    def ends(low: Values, high: Values) -> tuple[float, float]:
        possible = [places[index] for index in _possibly_lowest(len(numbers), low, high)]
        return min(possible), max(possible)

    return _order(float(places[_lowest(numbers)]), _pairs(numbers), ends)


def distance_of_lowest(
    first: Sequence[Estimate], second: Sequence[Estimate], distance: Callable[[int, int], float]
) -> Order:
    """Return the distance between the indices at which two lists of one length are smallest."""
    differences = _pairs(first) + _pairs(second)
    half = len(differences) // 2

    def ends(low: Values, high: Values) -> tuple[float, float]:
        places = (
            _possibly_lowest(len(first), low[part], high[part])
            for part in (slice(None, half), slice(half, None))
        )
        apart = [distance(one, other) for one, other in itertools.product(*places)]
        return min(apart), max(apart)

    return _order(distance(_lowest(first), _lowest(second)), differences, ends)


def _lowest(numbers: Sequence[Estimate]) -> int:
    return int(np.argmin([one.value for one in numbers]))


def _possibly_lowest(count: int, low: Values, high: Values) -> list[int]:
    """Return the indices that may be smallest, by the signs of later minus earlier numbers."""
    ruled_out = set()
    pairs = itertools.combinations(range(count), 2)
    for (sooner, later), below, above in zip(pairs, low, high, strict=True):
        ruled_out |= {later} if below > 0 else set()
        ruled_out |= {sooner} if above < 0 else set()
    return [place for place in range(count) if place not in ruled_out]
