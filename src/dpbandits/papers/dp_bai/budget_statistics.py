"""Statistics of the claims on budgets: T at success 0.9, on two arms."""

import math
from itertools import product

import numpy as np

from dpbandits.claims.estimates import Estimate
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.percentiles import from_resamples
from dpbandits.papers.dp_bai.fits import (
    EPSILONS,
    HARDNESS_EPSILONS,
    HARDNESS_GAPS,
    RATIOS,
    Values,
    hardness_budgets,
    hardness_fit,
    inflation_fit,
    least_squares,
    linear_fit,
    ratio_budgets,
)


def inflation_quality(evidence: Evidence) -> Estimate:
    """Return R^2 of T_0.9 of DP-OD as an affine function of rho/epsilon, rho = y/x."""
    return inflation_fit(evidence).quality()


def inflation_slope(evidence: Evidence) -> Estimate:
    """Return the slope b of T_0.9 = a/Delta^2 + b rho/(epsilon Delta), DP-OD."""
    return inflation_fit(evidence).coefficient(1)


def budget_change(evidence: Evidence) -> Estimate:
    """Return the relative change of T_0.9 of DP-BAI from y/x = 1 to 50.

    By one slope of log T_0.9 in log y/x for all epsilon, with an intercept for each: the largest
    of six over the smallest is above 1 by chance alone.
    """
    grid = list(product(EPSILONS, RATIOS))
    budgets, runs = ratio_budgets(evidence, "dp-bai", grid)
    design = np.array(
        [[math.log(ratio), *(epsilon == other for other in EPSILONS)] for epsilon, ratio in grid]
    )
    fit = linear_fit(design, np.log(budgets), np.ones(len(grid)), runs)
    return fit.estimate(np.expm1(fit.coefficients[:, 0] * math.log(RATIOS[-1] / RATIOS[0])))


def hardness_quality(evidence: Evidence) -> Estimate:
    """Return R^2 of T_0.9 of DP-BAI as a Delta^-2 + b (epsilon Delta)^-1."""
    return hardness_fit(evidence).quality()


def hardness_coefficients(evidence: Evidence) -> dict[str, Estimate]:
    """Return the two coefficients of that fit."""
    fit = hardness_fit(evidence)
    return {"a": fit.coefficient(0), "b": fit.coefficient(1)}


def ratio_growth(evidence: Evidence, *, algorithm: str, ratios: str) -> dict[str, Estimate]:
    """Return the slope of log T_0.9 over log(y/x), at each epsilon.

    Args:
        evidence: the results.
        algorithm: ``dp-bai`` or ``dp-od``.
        ratios: ``largest`` (between the two largest) or ``all`` (least squares).
    """
    chosen = RATIOS[-2:] if ratios == "largest" else RATIOS
    return {
        f"epsilon={epsilon:g}": _slope(
            np.log(chosen), *ratio_budgets(evidence, algorithm, [(epsilon, y) for y in chosen])
        )
        for epsilon in EPSILONS
    }


def privacy_growth(evidence: Evidence) -> dict[str, Estimate]:
    """Return the slope of log T_0.9 of DP-BAI over log(1/epsilon), at each Delta.

    Between the two smallest epsilon.
    """
    epsilons = HARDNESS_EPSILONS[:2]
    return {
        f"Delta={gap:g}": _slope(
            -np.log(epsilons), *hardness_budgets(evidence, [(gap, epsilon) for epsilon in epsilons])
        )
        for gap in HARDNESS_GAPS
    }


def gap_growth(evidence: Evidence) -> dict[str, Estimate]:
    """Return the slope of log T_0.9 of DP-BAI over log(1/Delta), at each epsilon.

    Between the two smallest Delta.
    """
    gaps = HARDNESS_GAPS[:2]
    return {
        f"epsilon={epsilon:g}": _slope(
            -np.log(gaps), *hardness_budgets(evidence, [(gap, epsilon) for gap in gaps])
        )
        for epsilon in HARDNESS_EPSILONS
    }


def _slope(scores: Values, budgets: Values, runs: int) -> Estimate:
    """Return the least-squares slope of log T_0.9, shape (1 + resamples, k), over k scores."""
    fit = least_squares(scores, np.log(budgets), np.ones(scores.size))
    return from_resamples(fit[0, 1], fit[1:, 1], runs)
