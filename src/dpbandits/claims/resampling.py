"""Intervals of functions of several means: jackknife, bootstrap, and orders of means.

The infinitesimal jackknife is for smooth functions. A run's influence on a number is what the
number changes by, to first order and times the number of runs, as the run gains weight. Influences
follow the chain rule, so that differences, ratios and slopes of several numbers have theirs; those
of one sample of runs add run by run, and samples are independent. Their mean square over R - 1 is
the squared standard error (Efron and Stein, 1981).

An order depends on the signs of differences alone. Where the order is plain, all resamples of a
bootstrap agree, so that it has no interval at levels that they do not resolve, such as the family-
wise one. Here every pair is compared instead, all pairs at once (Bonferroni).
"""

import itertools
import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.claims.numbers import (
    Estimate,
    PercentileEstimate,
    StudentEstimate,
    from_resamples,
    mean,
    satterthwaite,
    skewness_of,
    third_cumulant,
    too_few,
)
from dpbandits.engine.identity import run_generator, stream_key

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


RESAMPLES = 20_000
"""Resolves level 0.05 split over four interim analyses and Holm over a hundred comparisons."""

_STEP = 1e-3
"""Of a standard error: over so much derivatives are taken."""

_ROUNDING = 1e-6

_INDICES_AT_ONCE = 2**21
_MEANS_KEPT = 512


class Resampler:
    """Draws runs with replacement; the same key and number of runs always gives the same draws."""

    def __init__(self, root_seed: int, resamples: int = RESAMPLES) -> None:
        """Take the root of the random streams and the number of resamples."""
        self.root_seed = root_seed
        self.resamples = resamples
        self._kept: OrderedDict[tuple[tuple[str, ...], bytes], Values] = OrderedDict()

    def means(self, values: Values, key: tuple[str, ...]) -> Values:
        """Return the mean of each resample, shape (resamples,).

        Args:
            values: one number a run, shape (runs,).
            key: names the series, so that two series are resampled independently, and all
                quantities of one series on the same resampled runs.
        """
        name = (key, values.tobytes())
        if name not in self._kept:
            self._kept[name] = self._draw(values, key)
            if len(self._kept) > _MEANS_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(name)
        return self._kept[name]

    def _draw(self, values: Values, key: tuple[str, ...]) -> Values:
        runs = values.size
        if runs == 0:
            return np.full(self.resamples, np.nan)
        named = stream_key({"bootstrap": list(key), "runs": runs})
        generator = run_generator(self.root_seed, named, 0)
        means = np.empty(self.resamples)
        step = max(1, _INDICES_AT_ONCE // runs)
        for start in range(0, self.resamples, step):
            rows = min(step, self.resamples - start)
            drawn = generator.integers(0, runs, size=(rows, runs), dtype=np.int32)
            means[start : start + rows] = values[drawn].mean(axis=1)
        return means


@dataclass(frozen=True, eq=False)
class Sample:
    """One number a run of one series, with resamples of its mean.

    Attributes:
        values: shape (runs,).
        key: names the series for the resampler.
        resampler: where the resamples come from.
    """

    values: Values
    key: tuple[str, ...]
    resampler: Resampler

    @property
    def mean(self) -> float:
        """Mean over the runs; NaN without runs."""
        return float(self.values.mean()) if self.values.size else float("nan")

    def resampled_means(self) -> Values:
        """Mean of each resample, shape (resamples,)."""
        return self.resampler.means(self.values, self.key)

    def derive(self, values: Values) -> "Sample":
        """Return another quantity of the same runs, resampled together with this one."""
        return replace(self, values=np.ascontiguousarray(values))


def from_means(
    samples: Sequence[Sample], function: Callable[[Values], Values]
) -> PercentileEstimate:
    """Return a function of several means, with its percentile bootstrap interval.

    It reaches at least as far as the t interval of the function to first order. A function that has
    no derivative, such as the place of an optimum, has no interval where a sample has too few runs
    for its skewness.

    Args:
        samples: k samples.
        function: takes means of shape (n, k), one row a resample, and answers with shape (n,).
    """
    runs = min(sample.values.size for sample in samples)
    point = np.array([[sample.mean for sample in samples]])
    with np.errstate(divide="ignore", invalid="ignore"):
        value = function(point)[0]
        if runs < 2:
            return from_resamples(value, np.empty(0), runs)
        linear = _linear(samples, point, function)
        if linear is None and any(_too_skewed(sample) for sample in samples):
            return from_resamples(value, np.empty(0), runs)
        resampled = np.stack([sample.resampled_means() for sample in samples], axis=1)
        return from_resamples(value, function(resampled), runs, linear)


def _too_skewed(sample: Sample) -> bool:
    estimate = mean(sample.values)
    return too_few(estimate.skewness, estimate.runs)


def _linear(
    samples: Sequence[Sample], point: Values, function: Callable[[Values], Values]
) -> StudentEstimate | None:
    """Return a function of means to first order; None where no mean moves it, or it is undefined.

    Samples with one key share their runs, so that their influences add run by run.
    """
    errors = np.array([mean(sample.values).standard_error for sample in samples])
    steps = _STEP * np.diag(errors)
    rises = (function(point + steps) - function(point - steps)) / (2.0 * _STEP)
    if not np.isfinite(rises).all():
        return None
    linear = Measure(float(function(point)[0]))
    for sample, rise, error in zip(samples, rises, errors, strict=True):
        if rise != 0.0:
            linear += Measure(0.0, {sample.key: rise / error * (sample.values - sample.mean)})
    estimate = linear.estimate()
    # What cancels, as in a difference of two quantities of the same runs, leaves rounding errors.
    varies = estimate.standard_error > _ROUNDING * np.abs(rises).max()
    return estimate if varies and estimate.runs else None


def ratio(numerator: Sample, denominator: Sample) -> PercentileEstimate:
    """Return the ratio of two means."""
    return from_means([numerator, denominator], lambda means: means[:, 0] / means[:, 1])


def argmin(means: Values) -> Values:
    """Return the index of the smallest of each row, shape (n,); NaN where the row has a NaN."""
    undefined = np.isnan(means).any(axis=1)
    index = np.where(np.isnan(means), np.inf, means).argmin(axis=1)
    return np.where(undefined, np.nan, index)


def kendall_tau(order: ArrayLike, means: Values) -> Values:
    """Return Kendall's tau-b between an ordered parameter and each row of means, shape (n,).

    Args:
        order: k distinct values of the parameter.
        means: shape (n, k).

    Returns:
        tau-b, which leaves tied means out of its denominator; NaN where all means of a row tie.
    """
    one, other = np.triu_indices(means.shape[1], 1)
    positions = np.asarray(order, dtype=np.float64)
    directions = np.sign(positions[other] - positions[one])
    signs = np.sign(means[:, other] - means[:, one])
    untied = np.abs(signs).sum(axis=1)
    return np.asarray((signs * directions).sum(axis=1) / np.sqrt(untied * directions.size))


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
