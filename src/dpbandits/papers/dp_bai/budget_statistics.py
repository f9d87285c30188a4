"""Statistics of the claims on budgets: T at success 0.9, on two arms.

T_0.9 is where a probit fit of success on sqrt(T) crosses 0.9. It is not rounded to even T, which
would only roughen its interval.
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from dpbandits.claims import Estimate, Evidence, from_resamples
from dpbandits.papers.dp_bai.fits import (
    RESAMPLES,
    LinearFit,
    Values,
    crossing_budgets,
    least_squares,
    linear_fit,
)

LEVEL = 0.9
MULTIPLES = (0.6, 0.75, 0.9, 1, 1.1, 1.3, 1.5)
RATIOS = (1, 2, 5, 10, 20, 50)
EPSILONS = (0.1, 0.5, 1)
GAP = 0.05

HARDNESS_GAPS = (0.025, 0.05, 0.1)
HARDNESS_EPSILONS = (0.05, 0.1, 0.5, 1, math.inf)


def inflation_quality(evidence: Evidence) -> Estimate:
    """R^2 of T_0.9 of DP-OD as an affine function of rho/epsilon, rho = y/x."""
    return _inflation(evidence, EPSILONS).quality()


def inflation_slope(evidence: Evidence) -> Estimate:
    """The slope b of T_0.9 = a/Delta^2 + b rho/(epsilon Delta), DP-OD."""
    return _inflation(evidence, EPSILONS).coefficient(1)


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


def hardness_quality(evidence: Evidence) -> Estimate:
    """R^2 of T_0.9 of DP-BAI as a Delta^-2 + b (epsilon Delta)^-1."""
    return _hardness(evidence).quality()


def hardness_coefficients(evidence: Evidence) -> dict[str, Estimate]:
    """The two coefficients of that fit."""
    fit = _hardness(evidence)
    return {"a": fit.coefficient(0), "b": fit.coefficient(1)}


def ratio_growth(evidence: Evidence, *, algorithm: str, ratios: str) -> dict[str, Estimate]:
    """Slope of log T_0.9 over log(y/x), at each epsilon.

    Args:
        evidence: the results.
        algorithm: ``dp-bai`` or ``dp-od``.
        ratios: ``largest`` (between the two largest) or ``all`` (least squares).
    """
    chosen = RATIOS[-2:] if ratios == "largest" else RATIOS
    scores = np.log(np.array(chosen, dtype=np.float64))
    found: dict[str, Estimate] = {}
    for epsilon in EPSILONS:
        budgets, runs = _budgets(evidence, algorithm, [(epsilon, ratio) for ratio in chosen])
        found[f"epsilon={epsilon:g}"] = _slope(scores, np.log(budgets), runs)
    return found


def privacy_growth(evidence: Evidence) -> dict[str, Estimate]:
    """Slope of log T_0.9 of DP-BAI over log(1/epsilon) between the two smallest, at each Delta."""
    scores = -np.log(np.array(HARDNESS_EPSILONS[:2]))
    return {
        f"Delta={gap:g}": _hardness_slope(
            evidence, [(gap, epsilon) for epsilon in HARDNESS_EPSILONS[:2]], scores
        )
        for gap in HARDNESS_GAPS
    }


def gap_growth(evidence: Evidence) -> dict[str, Estimate]:
    """Slope of log T_0.9 of DP-BAI over log(1/Delta) between the two smallest, at each epsilon."""
    scores = -np.log(np.array(HARDNESS_GAPS[:2]))
    return {
        f"epsilon={epsilon:g}": _hardness_slope(
            evidence, [(gap, epsilon) for gap in HARDNESS_GAPS[:2]], scores
        )
        for epsilon in HARDNESS_EPSILONS
    }


def _hardness_slope(
    evidence: Evidence, grid: Sequence[tuple[float, float]], scores: Values
) -> Estimate:
    budgets, runs = hardness_budgets(evidence, grid)
    return _slope(scores, np.log(budgets), runs)


def _slope(scores: Values, logs: Values, runs: int) -> Estimate:
    """Return the least-squares slope over scores, shape (k,), of logs, shape (1 + resamples, k)."""
    fit = least_squares(scores, logs, np.ones(scores.size))
    return from_resamples(fit[0, 1], fit[1:, 1], runs)


def needed_budgets(
    evidence: Evidence, algorithm: str, grid: Sequence[tuple[float, float]]
) -> list[Estimate]:
    """Return T_0.9 at each (epsilon, y/x)."""
    return estimated(*_budgets(evidence, algorithm, grid))


def estimated(budgets: Values, runs: int) -> list[Estimate]:
    """Return T_0.9 with their intervals, of values and resamples, shape (1 + resamples, k)."""
    return [from_resamples(each[0], each[1:], runs) for each in budgets.T]


def fitted_inflation(evidence: Evidence) -> tuple[float, float]:
    """Return a and b of T_0.9 = a/Delta^2 + b rho/(epsilon Delta), DP-OD."""
    found = _inflation(evidence, EPSILONS).coefficients[0]
    return float(found[0]), float(found[1])


def fitted_hardness(evidence: Evidence) -> tuple[float, float]:
    """Return a and b of T_0.9 = a Delta^-2 + b (epsilon Delta)^-1, DP-BAI."""
    found = _hardness(evidence).coefficients[0]
    return float(found[0]), float(found[1])


def hardness_budgets(evidence: Evidence, grid: Sequence[tuple[float, float]]) -> tuple[Values, int]:
    """Return T_0.9 of DP-BAI and its resamples at each (Delta, epsilon), and the trials."""
    tags = [{"gap": gap, "epsilon": epsilon} for gap, epsilon in grid]
    return _all_budgets(evidence, "budgets-hardness", tags)


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
    design = np.array([[gap**-2, 1.0 / (epsilon * gap)] for gap, epsilon in grid])
    budgets, runs = hardness_budgets(evidence, grid)
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
