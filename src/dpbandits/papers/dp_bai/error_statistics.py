"""Statistics on rare errors: the log error of DP-BAI against T, on two arms."""

from dataclasses import dataclass

import numpy as np

from dpbandits.claims import Estimate, Evidence
from dpbandits.papers.dp_bai.budget_statistics import resamples_of
from dpbandits.papers.dp_bai.fits import LinearFit, Values, linear_fit, resampled_rates
from dpbandits.papers.dp_bai.points import share

RARE_BUDGETS = {
    1: (200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000),
    0.1: (800, 1200, 1600, 2000, 2400, 2800, 3200, 3600, 4000, 4400),
}
"""T of the rare errors, by epsilon."""

ERRORS = (1e-4, 0.2)
"""Error rates that enter a fit."""


@dataclass(frozen=True, eq=False)
class LogErrors:
    """Log errors at the T where the error lies in [1e-4, 0.2].

    Attributes:
        budgets: T, shape (k,).
        logs: log errors and their resamples, shape (1 + resamples, k).
        weights: precision; the variance of a log rate is (1 - p) / (p n). Shape (k,).
        runs: trials at each T.
    """

    budgets: Values
    logs: Values
    weights: Values
    runs: int

    def line(self) -> LinearFit:
        """Return the weighted linear fit on 1 and T; NaN where there are not enough T."""
        return self._fit(np.stack([np.ones_like(self.budgets), self.budgets], axis=1))

    def parabola(self) -> LinearFit:
        """Return the weighted quadratic fit on T, scaled to [-1, 1]."""
        budgets = self.budgets
        if budgets.size:
            middle, half = (budgets[0] + budgets[-1]) / 2.0, (budgets[-1] - budgets[0]) / 2.0
            budgets = (budgets - middle) / (half or 1.0)
        return self._fit(np.vander(budgets, 3, increasing=True))

    def larger_half(self) -> "LogErrors":
        """Return the larger half of T, the middle one among them."""
        kept = slice(self.budgets.size // 2, None)
        return LogErrors(self.budgets[kept], self.logs[:, kept], self.weights[kept], self.runs)

    def _fit(self, design: Values) -> LinearFit:
        if len(design) > design.shape[1]:
            return linear_fit(design, self.logs, self.weights, self.runs)
        nothing = np.full((len(self.logs), design.shape[1]), np.nan)
        return LinearFit(nothing, nothing[:, 0], self.runs)


def log_errors(evidence: Evidence, epsilon: float) -> LogErrors:
    """Return the log errors at an epsilon, a key of ``RARE_BUDGETS``."""
    budgets, failed = [], []
    for budget in RARE_BUDGETS[epsilon]:
        won, trials = evidence.counts("rare-errors", epsilon=epsilon, horizon=budget)
        if ERRORS[0] <= 1.0 - share((won, trials)) <= ERRORS[1]:
            budgets.append(budget)
            failed.append((trials - won, trials))
    if not failed:
        return LogErrors(np.empty(0), np.empty((1 + resamples_of(evidence), 0)), np.empty(0), 0)
    draws = evidence.resampler.root_seed, resamples_of(evidence)
    rates = resampled_rates(failed, ("rare-errors", epsilon), *draws)
    logs = np.log(np.where(rates > 0.0, rates, np.nan))
    totals = np.array([number for _, number in failed], dtype=np.float64)
    weights = totals * rates[0] / (1.0 - rates[0])
    return LogErrors(np.array(budgets, dtype=np.float64), logs, weights, int(totals.min()))


def error_decay(evidence: Evidence, *, epsilon: float) -> Estimate:
    """Slope of -log(error) over T on the larger half of T, in units of 1 / 1000."""
    fit = log_errors(evidence, epsilon).larger_half().line()
    return fit.estimate(-1000.0 * fit.coefficients[:, 1])


def error_quality(evidence: Evidence, *, epsilon: float) -> Estimate:
    """R^2 of the log error of DP-BAI as a linear function of T, weighted by its precision."""
    return log_errors(evidence, epsilon).line().quality()


def error_slope_change(evidence: Evidence, *, epsilon: float) -> Estimate:
    """Slope of the log error at the largest T over that at the smallest, minus 1.

    By a quadratic fit, which on [-1, 1] has the slopes b - 2c and b + 2c at the ends.
    """
    fit = log_errors(evidence, epsilon).parabola()
    slope, bend = fit.coefficients[:, 1], 2.0 * fit.coefficients[:, 2]
    return fit.estimate((slope + bend) / (slope - bend) - 1.0)
