"""Fits to success counts: T at success 0.9, linear models of it and of log errors.

Every fit is a function of success rates, whose intervals follow from those of the trials.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpbandits.claims.evidence import Evidence
from dpbandits.claims.numbers import Measured, rate, smooth, weighted_sum

Values = NDArray[np.float64]

LEVEL = 0.9
"""T_0.9 is where a probit fit of success on sqrt(T) crosses this rate, not rounded to even T."""

MULTIPLES = (0.6, 0.75, 0.9, 1, 1.1, 1.3, 1.5)
RATIOS = (1, 2, 5, 10, 20, 50)
EPSILONS = (0.1, 0.5, 1)
GAP = 0.05

HARDNESS_GAPS = (0.025, 0.05, 0.1)
HARDNESS_EPSILONS = (0.05, 0.1, 0.5, 1, math.inf)

_STEPS = 30
_FARTHEST = 6.0


def budget_90(evidence: Evidence, simulation: str, **tags: Any) -> Measured:
    """Return the T at which a probit fit of the success rate on sqrt(T) reaches 0.9.

    Not rounded to whole pulls; NaN where success does not rise with T, and without trials.
    """
    rates, trials, roots = [], [], []
    for multiple in MULTIPLES:
        where = {**tags, "multiple": multiple}
        counted = evidence.counts(simulation, **where)
        trials.append(counted[1])
        roots.append(math.sqrt(int(evidence.parameter(simulation, "horizon", **where))))
        rates.append(rate(counted).measured((simulation, *where.values())))
    if min(trials) == 0:
        return Measured(math.nan)
    totals, x = np.array(trials, dtype=np.float64), np.array(roots)

    def crossing(shares: Values) -> Values:
        start = least_squares(x, ndtri((shares * totals + 0.5) / (totals + 1.0)), totals)
        fits = _probit(shares, totals, x, start)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = (ndtri(LEVEL) - fits[:, 0]) / fits[:, 1]
        return np.where((fits[:, 1] > 0.0) & (root > 0.0), root**2, np.nan)

    return smooth(crossing, rates)


def _probit(rates: Values, trials: Values, x: Values, start: Values) -> Values:
    """Return intercepts and slopes of maximum likelihood, by iterated weighted least squares."""
    fit = start
    for _ in range(_STEPS):
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
    """A linear model fitted to a response.

    Attributes:
        coefficients: p numbers.
        quality: share of the variance of the response that the model explains (R^2), weighted as
            the fit is.
    """

    coefficients: list[Measured]
    quality: Measured


def linear_fit(design: Values, response: Sequence[Measured], weights: Values) -> LinearFit:
    """Return the fit of a linear model by weighted least squares.

    Args:
        design: shape (k, p).
        response: k numbers.
        weights: inverse variances up to a factor, shape (k,).
    """
    roots = np.sqrt(weights)
    inverse = np.linalg.pinv(design * roots[:, None]) * roots

    def explained(values: Values) -> Values:
        residuals = values - values @ inverse.T @ design.T
        centred = values - (values @ weights / weights.sum())[:, None]
        # A response that does not vary leaves nothing to explain.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(1.0 - (residuals**2 @ weights) / (centred**2 @ weights))

    coefficients = [weighted_sum(row, response) for row in inverse]
    return LinearFit(coefficients, smooth(explained, response))


def inflation_fit(evidence: Evidence) -> LinearFit:
    """Return the fit of T_0.9 = a/Delta^2 + b rho/(epsilon Delta), DP-OD."""
    grid = list(product(EPSILONS, RATIOS))
    design = np.array([[GAP**-2, ratio / (epsilon * GAP)] for epsilon, ratio in grid])
    return linear_fit(design, ratio_budgets(evidence, "dp-od", grid), np.ones(len(grid)))


def hardness_fit(evidence: Evidence) -> LinearFit:
    """Return the fit of T_0.9 = a Delta^-2 + b (epsilon Delta)^-1, DP-BAI."""
    grid = list(product(HARDNESS_GAPS, HARDNESS_EPSILONS))
    design = np.array([[gap**-2, 1.0 / (epsilon * gap)] for gap, epsilon in grid])
    return linear_fit(design, hardness_budgets(evidence, grid), np.ones(len(grid)))


def ratio_budgets(
    evidence: Evidence, algorithm: str, grid: Sequence[tuple[float, float]]
) -> list[Measured]:
    """Return T_0.9 at each (epsilon, y/x)."""
    return [
        budget_90(evidence, "budgets-ratio", algorithm=algorithm, epsilon=epsilon, ratio=ratio)
        for epsilon, ratio in grid
    ]


def hardness_budgets(evidence: Evidence, grid: Sequence[tuple[float, float]]) -> list[Measured]:
    """Return T_0.9 of DP-BAI at each (Delta, epsilon)."""
    return [budget_90(evidence, "budgets-hardness", gap=gap, epsilon=eps) for gap, eps in grid]
