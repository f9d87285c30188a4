"""Statistics of the claims on budgets: T at success 0.9, and log error against T, on two arms.

T_0.9 is where a probit fit of success on sqrt(T) crosses 0.9. It is not rounded to even T, which
would only roughen its interval.
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from dpbandits.claims import Estimate, Evidence, exact
from dpbandits.papers.dp_bai.fits import (
    RESAMPLES,
    LinearFit,
    Values,
    crossing_budgets,
    linear_fit,
    resampled_rates,
)
from dpbandits.papers.dp_bai.points import share

LEVEL = 0.9
MULTIPLES = (0.6, 0.75, 0.9, 1, 1.1, 1.3, 1.5)
RATIOS = (1, 2, 5, 10, 20, 50)
EPSILONS = (0.1, 0.5, 1)
GAP = 0.05

HARDNESS_GAPS = (0.025, 0.05, 0.1)
HARDNESS_EPSILONS = (0.05, 0.1, 0.5, 1, math.inf)

RARE_BUDGETS = {
    1: (200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000),
    0.1: (800, 1200, 1600, 2000, 2400, 2800, 3200, 3600, 4000, 4400),
}
"""T of the rare errors, by epsilon."""

ERRORS = (1e-4, 0.2)
"""Error rates that enter the fit."""


def inflation_quality(evidence: Evidence) -> Estimate:
    """R^2 of T_0.9 of DP-OD as an affine function of rho/epsilon, rho = y/x."""
    return _inflation(evidence, EPSILONS).quality()


def inflation_slope(evidence: Evidence) -> Estimate:
    """The slope b of T_0.9 = a/Delta^2 + b rho/(epsilon Delta), DP-OD."""
    return _inflation(evidence, EPSILONS).coefficient(1)


def inflation_by_epsilon(evidence: Evidence) -> dict[str, Estimate]:
    """The same R^2 and slope at each epsilon alone."""
    found: dict[str, Estimate] = {}
    for epsilon in EPSILONS:
        fit = _inflation(evidence, (epsilon,))
        found[f"R^2, epsilon={epsilon:g}"] = fit.quality()
        found[f"slope, epsilon={epsilon:g}"] = fit.coefficient(1)
    return found


def budget_change(evidence: Evidence) -> Estimate:
    """Relative change of T_0.9 of DP-BAI from y/x = 1 to 50.

    By one slope of log T_0.9 in log y/x for all epsilon, with an intercept for each: the largest
    of six over the smallest is above 1 by chance alone.
    """
    grid = list(product(EPSILONS, RATIOS))
    budgets, runs = _budgets(evidence, "dp-bai", grid)
    design = np.array(
        [[math.log(ratio), *(epsilon == each for each in EPSILONS)] for epsilon, ratio in grid]
    )
    fit = linear_fit(design, np.log(budgets), np.ones(len(grid)), runs)
    return fit.estimate(np.expm1(fit.coefficients[:, 0] * math.log(RATIOS[-1] / RATIOS[0])))


def budget_spread(evidence: Evidence) -> dict[str, Estimate]:
    """Largest over smallest T_0.9 of DP-BAI over y/x, minus 1, at each epsilon; chance included."""
    found: dict[str, Estimate] = {}
    for epsilon in EPSILONS:
        budgets, runs = _budgets(evidence, "dp-bai", [(epsilon, ratio) for ratio in RATIOS])
        found[f"epsilon={epsilon:g}"] = exact(budgets[0].max() / budgets[0].min() - 1.0, runs)
    return found


def hardness_quality(evidence: Evidence) -> Estimate:
    """R^2 of T_0.9 of DP-BAI as a Delta^-2 + b (epsilon Delta)^-1."""
    return _hardness(evidence).quality()


def hardness_coefficients(evidence: Evidence) -> dict[str, Estimate]:
    """The two coefficients of that fit."""
    fit = _hardness(evidence)
    return {"a": fit.coefficient(0), "b": fit.coefficient(1)}


def error_quality(evidence: Evidence, *, epsilon: float) -> Estimate:
    """R^2 of the log error of DP-BAI as a linear function of T, weighted by its precision."""
    budgets, logs, weights, runs = _log_errors(evidence, epsilon)
    design = np.stack([np.ones_like(budgets), budgets], axis=1)
    return _fit_or_nothing(design, logs, weights, runs).quality()


def error_curvature(evidence: Evidence, *, epsilon: float) -> dict[str, Estimate]:
    """Quadratic coefficient of the log error in T over its range, scaled to [-1, 1]."""
    return {"quadratic coefficient": _quadratic(evidence, epsilon).coefficient(2)}


def error_slope_change(evidence: Evidence, *, epsilon: float) -> Estimate:
    """Slope of the log error at the largest T over that at the smallest, minus 1.

    By a quadratic fit, which on [-1, 1] has the slopes b - 2c and b + 2c at the ends.
    """
    fit = _quadratic(evidence, epsilon)
    slope, bend = fit.coefficients[:, 1], 2.0 * fit.coefficients[:, 2]
    return fit.estimate((slope + bend) / (slope - bend) - 1.0)


def _inflation(evidence: Evidence, epsilons: tuple[float, ...]) -> LinearFit:
    grid = list(product(epsilons, RATIOS))
    budgets, runs = _budgets(evidence, "dp-od", grid)
    design = np.array([[GAP**-2, ratio / (epsilon * GAP)] for epsilon, ratio in grid])
    return linear_fit(design, budgets, np.ones(len(grid)), runs)


def _budgets(
    evidence: Evidence, algorithm: str, grid: Sequence[tuple[float, float]]
) -> tuple[Values, int]:
    """Return T_0.9 and its resamples at each (epsilon, y/x), shape (1 + resamples, k)."""
    tags = [{"algorithm": algorithm, "epsilon": epsilon, "ratio": ratio} for epsilon, ratio in grid]
    return _all_budgets(evidence, "budgets-ratio", tags)


def _hardness(evidence: Evidence) -> LinearFit:
    grid = list(product(HARDNESS_GAPS, HARDNESS_EPSILONS))
    tags = [{"gap": gap, "epsilon": epsilon} for gap, epsilon in grid]
    design = np.array([[gap**-2, 1.0 / (epsilon * gap)] for gap, epsilon in grid])
    budgets, runs = _all_budgets(evidence, "budgets-hardness", tags)
    return linear_fit(design, budgets, np.ones(len(grid)), runs)


def _all_budgets(
    evidence: Evidence, simulation: str, tags: Sequence[dict[str, Any]]
) -> tuple[Values, int]:
    found = [_budget(evidence, simulation, each) for each in tags]
    return np.stack([each for each, _ in found], axis=1), min(runs for _, runs in found)


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


def _quadratic(evidence: Evidence, epsilon: float) -> LinearFit:
    budgets, logs, weights, runs = _log_errors(evidence, epsilon)
    if budgets.size:
        middle, half = (budgets[0] + budgets[-1]) / 2.0, (budgets[-1] - budgets[0]) / 2.0
        budgets = (budgets - middle) / (half or 1.0)
    return _fit_or_nothing(np.vander(budgets, 3, increasing=True), logs, weights, runs)


def _fit_or_nothing(design: Values, response: Values, weights: Values, runs: int) -> LinearFit:
    """Fit; nothing but NaN where the numbers are no more than the coefficients of a parabola."""
    if len(design) > 3:
        return linear_fit(design, response, weights, runs)
    nothing = np.full((len(response), design.shape[1]), np.nan)
    return LinearFit(nothing, nothing[:, 0], runs)


def _log_errors(evidence: Evidence, epsilon: float) -> tuple[Values, Values, Values, int]:
    """Return T, log errors with their resamples, their precision and the trials.

    At the T where the error lies in [1e-4, 0.2]. The variance of a log rate is (1 - p) / (p n).
    """
    budgets, failed = [], []
    for budget in RARE_BUDGETS[epsilon]:
        won, trials = evidence.counts("rare-errors", epsilon=epsilon, horizon=budget)
        if ERRORS[0] <= 1.0 - share((won, trials)) <= ERRORS[1]:
            budgets.append(budget)
            failed.append((trials - won, trials))
    if not failed:
        return np.empty(0), np.empty((1 + resamples_of(evidence), 0)), np.empty(0), 0
    draws = evidence.resampler.root_seed, resamples_of(evidence)
    rates = resampled_rates(failed, ("rare-errors", epsilon), *draws)
    logs = np.log(np.where(rates > 0.0, rates, np.nan))
    totals = np.array([number for _, number in failed], dtype=np.float64)
    weights = totals * rates[0] / (1.0 - rates[0])
    return np.array(budgets, dtype=np.float64), logs, weights, int(totals.min())
