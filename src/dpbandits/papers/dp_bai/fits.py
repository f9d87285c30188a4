"""Fits to success counts, each over many resamples of the trials at once.

Resampling the trials of a series with replacement is drawing its successes from the binomial law
of its rate. Row 0 of every array of resamples is the counts themselves.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpbandits.claims import PercentileEstimate, from_resamples
from dpbandits.claims.rates import Counted
from dpbandits.engine.seeds import run_generator, stream_key

Values = NDArray[np.float64]

RESAMPLES = 4000
"""Resolves level 0.01 with Holm over a dozen comparisons."""

_STEPS = 25
_STEPS_FROM_FIT = 5
_FARTHEST = 6.0


def resampled_rates(
    counted: Sequence[Counted], key: Hashable, root_seed: int, resamples: int
) -> Values:
    """Return success rates and their resamples, shape (1 + resamples, k).

    Args:
        counted: successes and trials of k series.
        key: names the draws.
        root_seed: root of the random streams.
        resamples: number of resamples.
    """
    successes, trials = np.asarray(counted, dtype=np.int64).T
    generator = run_generator(root_seed, stream_key({"binomial": str(key)}), 0)
    shape = (resamples, trials.size)
    drawn = generator.binomial(trials, successes / trials, size=shape)
    return np.asarray(np.vstack([successes, drawn]) / trials)


@lru_cache(maxsize=256)
def crossing_budgets(
    counted: tuple[Counted, ...],
    budgets: tuple[int, ...],
    level: float,
    key: Hashable,
    root_seed: int,
    resamples: int,
) -> Values:
    """Return the T at which a probit fit of the success rate on sqrt(T) reaches a level.

    Args:
        counted: successes and trials at each budget.
        budgets: T, at least two.
        level: the success rate, in (0, 1).
        key: names the draws.
        root_seed: root of the random streams.
        resamples: number of resamples.

    Returns:
        Shape (1 + resamples,), not rounded to whole pulls; NaN where success does not rise with T.
    """
    rates = resampled_rates(counted, key, root_seed, resamples)
    trials = np.array([number for _, number in counted], dtype=np.float64)
    roots = np.sqrt(np.array(budgets, dtype=np.float64))
    start = least_squares(roots, ndtri((rates[:1] * trials + 0.5) / (trials + 1.0)), trials)
    fit = _probit(rates[:1], trials, roots, start, _STEPS)
    fits = _probit(rates, trials, roots, np.repeat(fit, len(rates), axis=0), _STEPS_FROM_FIT)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = (ndtri(level) - fits[:, 0]) / fits[:, 1]
    return np.where((fits[:, 1] > 0.0) & (root > 0.0), root**2, np.nan)


def _probit(rates: Values, trials: Values, x: Values, start: Values, steps: int) -> Values:
    """Return intercepts and slopes of maximum likelihood, by iterated weighted least squares."""
    fit = start
    for _ in range(steps):
        line = np.clip(fit[:, :1] + fit[:, 1:] * x, -_FARTHEST, _FARTHEST)
        mean = ndtr(line)
        density = np.exp(-0.5 * line**2) / np.sqrt(2.0 * np.pi)
        weights = trials * density**2 / (mean * (1.0 - mean))
        fit = least_squares(x, line + (rates - mean) / density, weights)
    return fit


def least_squares(x: Values, y: Values, weights: Values) -> Values:
    """Return intercept and slope of weighted lines, shape (n, 2).

    Args:
        x: shape (k,).
        y: shape (n, k).
        weights: shape (k,) or (n, k).
    """
    total = weights.sum(axis=-1)
    centre = (weights * x).sum(axis=-1) / total
    middle = (weights * y).sum(axis=-1) / total
    offset = x - np.expand_dims(centre, -1)
    slope = (weights * offset * y).sum(axis=-1) / (weights * offset**2).sum(axis=-1)
    intercept = middle - slope * centre
    return np.stack(np.broadcast_arrays(intercept, slope), axis=-1)


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear model fitted to a response and to its resamples.

    Attributes:
        coefficients: shape (1 + resamples, p).
        explained: share of the variance of the response that the model explains (R^2), weighted
            as the fit is, shape (1 + resamples,).
        runs: trials behind each number of the response.
    """

    coefficients: Values
    explained: Values
    runs: int

    def coefficient(self, index: int) -> PercentileEstimate:
        """Return a coefficient with its bootstrap interval."""
        return self.estimate(self.coefficients[:, index])

    def quality(self) -> PercentileEstimate:
        """Return R^2 with its bootstrap interval."""
        return self.estimate(self.explained)

    def estimate(self, values: Values) -> PercentileEstimate:
        """Return a function of the fit, shape (1 + resamples,), with its bootstrap interval."""
        return from_resamples(values[0], values[1:], self.runs)


def linear_fit(design: Values, response: Values, weights: Values, runs: int) -> LinearFit:
    """Fit a linear model by weighted least squares, the same weights for all resamples.

    Args:
        design: shape (k, p).
        response: shape (1 + resamples, k).
        weights: inverse variances up to a factor, shape (k,).
        runs: trials behind each number of the response.
    """
    roots = np.sqrt(weights)
    inverse = np.linalg.pinv(design * roots[:, None])
    coefficients = (response * roots) @ inverse.T
    residuals = response - coefficients @ design.T
    centred = response - (response @ weights / weights.sum())[:, None]
    # A response that does not vary leaves nothing to explain.
    with np.errstate(divide="ignore", invalid="ignore"):
        explained = 1.0 - (residuals**2 @ weights) / (centred**2 @ weights)
    return LinearFit(coefficients, explained, runs)
