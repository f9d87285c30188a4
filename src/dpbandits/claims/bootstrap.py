"""The bootstrap over runs: resampled means, and estimates that are functions of several means."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.claims.estimates import StudentEstimate, mean
from dpbandits.claims.jackknife import Measure
from dpbandits.claims.percentiles import PercentileEstimate, from_resamples
from dpbandits.claims.skewness import too_few
from dpbandits.engine.identity import run_generator, stream_key

Values = NDArray[np.float64]

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
