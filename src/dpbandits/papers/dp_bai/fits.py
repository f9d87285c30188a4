"""Fits to success counts over many resamples of the trials at once, and T at success 0.9 by them.

Resampling the trials of a series with replacement is drawing its successes from the binomial law
of its rate. Row 0 of every array of resamples is the counts themselves.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpbandits.claims.evidence import Evidence
from dpbandits.claims.numbers import Counted, PercentileEstimate, from_resamples
from dpbandits.engine.identity import run_generator, stream_key

Values = NDArray[np.float64]

RESAMPLES = 4000
"""Resolves level 0.01 with Holm over a dozen comparisons."""

LEVEL = 0.9
"""T_0.9 is where a probit fit of success on sqrt(T) crosses this rate, not rounded to even T."""

MULTIPLES = (0.6, 0.75, 0.9, 1, 1.1, 1.3, 1.5)
RATIOS = (1, 2, 5, 10, 20, 50)
EPSILONS = (0.1, 0.5, 1)
GAP = 0.05

HARDNESS_GAPS = (0.025, 0.05, 0.1)
HARDNESS_EPSILONS = (0.05, 0.1, 0.5, 1, math.inf)

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
    """Return the fit a linear model by weighted least squares, the same weights for all resamples.

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


def estimated(budgets: Values, runs: int) -> list[PercentileEstimate]:
    """Return T_0.9 with their intervals, of values and resamples, shape (1 + resamples, k)."""
    return [from_resamples(column[0], column[1:], runs) for column in budgets.T]


def inflation_fit(evidence: Evidence) -> LinearFit:
    """Return the fit of T_0.9 = a/Delta^2 + b rho/(epsilon Delta), DP-OD."""
    grid = list(product(EPSILONS, RATIOS))
    design = np.array([[GAP**-2, ratio / (epsilon * GAP)] for epsilon, ratio in grid])
    budgets, runs = ratio_budgets(evidence, "dp-od", grid)
    return linear_fit(design, budgets, np.ones(len(grid)), runs)


def hardness_fit(evidence: Evidence) -> LinearFit:
    """Return the fit of T_0.9 = a Delta^-2 + b (epsilon Delta)^-1, DP-BAI."""
    grid = list(product(HARDNESS_GAPS, HARDNESS_EPSILONS))
    design = np.array([[gap**-2, 1.0 / (epsilon * gap)] for gap, epsilon in grid])
    budgets, runs = hardness_budgets(evidence, grid)
    return linear_fit(design, budgets, np.ones(len(grid)), runs)


def ratio_budgets(
    evidence: Evidence, algorithm: str, grid: Sequence[tuple[float, float]]
) -> tuple[Values, int]:
    """Return T_0.9 and its resamples at each (epsilon, y/x), shape (1 + resamples, k), and runs."""
    tags = [{"algorithm": algorithm, "epsilon": epsilon, "ratio": ratio} for epsilon, ratio in grid]
    return _budgets(evidence, "budgets-ratio", tags)


def hardness_budgets(evidence: Evidence, grid: Sequence[tuple[float, float]]) -> tuple[Values, int]:
    """Return the same of DP-BAI at each (Delta, epsilon)."""
    tags = [{"gap": gap, "epsilon": epsilon} for gap, epsilon in grid]
    return _budgets(evidence, "budgets-hardness", tags)


def _budgets(
    evidence: Evidence, simulation: str, tags: Sequence[dict[str, Any]]
) -> tuple[Values, int]:
    columns = [_budget(evidence, simulation, where) for where in tags]
    return np.stack([budgets for budgets, _ in columns], axis=1), min(runs for _, runs in columns)


def _budget(evidence: Evidence, simulation: str, tags: dict[str, Any]) -> tuple[Values, int]:
    """Return T_0.9 of one series of budgets with its resamples, and its trials."""
    counted, budgets = [], []
    for multiple in MULTIPLES:
        where = {**tags, "multiple": multiple}
        counted.append(evidence.counts(simulation, **where))
        budgets.append(int(evidence.parameter(simulation, "horizon", **where)))
    runs = min(trials for _, trials in counted)
    if runs == 0:
        return np.full(1 + resamples_of(evidence), np.nan), 0
    key = (simulation, *tags.values())
    draws = evidence.resampler.root_seed, resamples_of(evidence)
    return crossing_budgets(tuple(counted), tuple(budgets), LEVEL, key, *draws), runs


def resamples_of(evidence: Evidence) -> int:
    """Return how many resamples a fit is repeated on."""
    return min(RESAMPLES, evidence.resampler.resamples)
