"""Fits to success counts: T at success 0.9, linear models of it and of log errors.

Every fit is a function of success rates, whose intervals follow from those of the trials.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from dpbandits.claims.estimates import Counted, Measured, Rate, rate, smooth, weighted_sum
from dpbandits.claims.series import SeriesQuery

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear model fitted to a response."""

    coefficients: list[Measured]
    quality: Measured


def linear_fit(design: Values, response: Sequence[Measured], weights: Values) -> LinearFit:
    """Return the fit of a linear model by weighted least squares; NaN with too few numbers."""
    if len(design) <= design.shape[1]:
        nothing = Measured(math.nan, min((one.runs for one in response), default=0))
        return LinearFit([nothing] * design.shape[1], nothing)
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


ERRORS = (1e-4, 0.2)
"""Error rates that enter a fit."""


@dataclass(frozen=True, eq=False)
class LogErrors:
    """Log errors at the T where the error lies in [1e-4, 0.2]."""

    budgets: Values
    logs: list[Measured]
    weights: Values

    def line(self) -> LinearFit:
        """Return the weighted linear fit on 1 and T; NaN where there are not enough T."""
        design = np.stack([np.ones_like(self.budgets), self.budgets], axis=1)
        return linear_fit(design, self.logs, self.weights)


def successes_and_trials(trials: SeriesQuery) -> Counted:
    number = trials.having(metric="success").number()
    assert isinstance(number, Rate)
    return number.counted


def log_errors(trials: SeriesQuery) -> LogErrors:
    """Return the log errors of a series at all T."""
    budgets, logs, weights = [], [], []
    for budget in trials.values_of("horizon"):
        at = trials.having(horizon=budget)
        won, count = successes_and_trials(at)
        failed = rate((count - won, count))
        if ERRORS[0] <= failed.value <= ERRORS[1]:
            budgets.append(float(budget))
            logs.append(failed.measured(at.key).log())
            # The variance of a log rate is (1 - p) / (p n).
            weights.append(failed.runs * failed.value / (1.0 - failed.value))
    return LogErrors(np.array(budgets), logs, np.array(weights))


SUCCESS_RATE = 0.9
"""T_0.9 is where a probit fit of success on sqrt(T) crosses this rate."""

_STEPS = 30
_FARTHEST = 6.0


def squared_crossing(x: Values, rates: Sequence[Measured]) -> Measured:
    """Return the square of the x at which a probit fit of success rates reaches 0.9.

    NaN where success does not rise with x, and without trials.
    """
    trials = np.array([one.runs for one in rates], dtype=np.float64)
    if not trials.all():
        return Measured(math.nan)

    def root_of(shares: Values) -> Values:
        start = least_squares(x, ndtri((shares * trials + 0.5) / (trials + 1.0)), trials)
        fits = _probit(shares, trials, x, start)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = (ndtri(SUCCESS_RATE) - fits[:, 0]) / fits[:, 1]
        return np.where((fits[:, 1] > 0.0) & (root > 0.0), root**2, np.nan)

    return smooth(root_of, rates)


def _probit(rates: Values, trials: Values, x: Values, start: Values) -> Values:
    """Return intercepts and slopes of maximum likelihood, by iterated weighted least squares."""
    fit = start
    for _ in range(_STEPS):
        line = np.clip(fit[:, :1] + fit[:, 1:] * x, -_FARTHEST, _FARTHEST)
        success = ndtr(line)
        density = np.exp(-0.5 * line**2) / np.sqrt(2.0 * np.pi)
        weights = trials * density**2 / (success * (1.0 - success))
        fit = least_squares(x, line + (rates - success) / density, weights)
    return fit


def least_squares(x: Values, y: Values, weights: Values) -> Values:
    """Return intercept and slope of weighted lines, shape (n, 2)."""
    total = weights.sum(axis=-1)
    centre = (weights * x).sum(axis=-1) / total
    middle = (weights * y).sum(axis=-1) / total
    offset = x - np.expand_dims(centre, -1)
    slope = (weights * offset * y).sum(axis=-1) / (weights * offset**2).sum(axis=-1)
    return np.stack(np.broadcast_arrays(middle - slope * centre, slope), axis=-1)
