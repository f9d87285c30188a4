"""The fits behind the claims on budgets: maximum likelihood, coverage, and least squares."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr, ndtri

from dpbandits.claims.evidence import Evidence, Series
from dpbandits.claims.numbers import Measured, mean
from dpbandits.papers.dp_bai.fits import linear_fit
from dpbandits.papers.dp_bai.quantities import budget_90

MULTIPLES = (0.6, 0.75, 0.9, 1, 1.1, 1.3, 1.5)
BUDGETS = (600, 750, 900, 1000, 1100, 1300, 1500)
TRIALS = 2000
NEEDED = 1000.0
"""T at success 0.9 in the made-up law, which is exactly a probit line in sqrt(T)."""

RATES = ndtr(ndtri(0.9) * np.sqrt(np.array(BUDGETS) / NEEDED))


def crossing(successes: np.ndarray) -> Measured:
    """Return the T at success 0.9 by the fit, of results with these successes."""
    frame = pd.DataFrame(
        {
            **{"series": [str(one) for one in MULTIPLES], "multiple": MULTIPLES},
            **{"horizon": BUDGETS, "run": 0, "metric": "success", "t": BUDGETS, "arm": -1},
            **{"trials": TRIALS, "value": np.asarray(successes, dtype=float)},
        }
    )
    return budget_90(Series(Evidence.of_frames({"made up": frame}), {"in": "made up"}))


def test_the_probit_fit_is_that_of_maximum_likelihood() -> None:
    successes = np.random.default_rng(1).binomial(TRIALS, RATES)
    roots = np.sqrt(BUDGETS)

    def deviance(fit: np.ndarray) -> float:
        line = fit[0] + fit[1] * roots
        return -float(successes @ log_ndtr(line) + (TRIALS - successes) @ log_ndtr(-line))

    start = np.array([0.0, ndtri(0.9) / math.sqrt(NEEDED)])
    best = minimize(deviance, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-10})
    expected = ((ndtri(0.9) - best.x[0]) / best.x[1]) ** 2
    # Nelder-Mead stops within about 1e-8 of the coefficients.
    assert crossing(successes).value == pytest.approx(expected, rel=1e-5)


def test_the_interval_of_the_crossing_covers() -> None:
    """400 repetitions: within 4 sd (0.044) of 95 %; a control at 50 % is not."""
    drawn = np.random.default_rng(3).binomial(TRIALS, RATES, (400, len(BUDGETS)))
    covered = {0.05: 0, 0.5: 0}
    for successes in drawn:
        estimate = crossing(successes)
        for alpha in covered:
            lo, hi = estimate.interval(alpha)
            covered[alpha] += lo <= NEEDED <= hi
    assert covered[0.05] / 400 == pytest.approx(0.95, abs=0.044)
    assert abs(covered[0.5] / 400 - 0.95) > 0.044


def test_success_that_does_not_rise_with_the_budget_has_no_crossing() -> None:
    assert math.isnan(crossing(TRIALS * RATES[::-1]).value)


def test_linear_fits_are_weighted_least_squares() -> None:
    generator = np.random.default_rng(4)
    x, weights = generator.random(12), generator.random(12) + 0.1
    runs = 1.0 + 2.0 * x + 0.1 * generator.standard_normal((50, 12))
    response = [mean(column) for column in runs.T]
    y = np.array([one.value for one in response])
    fit = linear_fit(np.stack([np.ones(12), x], axis=1), response, weights)
    intercept, slope = fit.coefficients
    expected = np.polyfit(x, y, 1, w=np.sqrt(weights))
    assert [slope.value, intercept.value] == pytest.approx(expected)
    line = intercept.value + slope.value * x
    unexplained = weights @ (y - line) ** 2 / (weights @ (y - np.average(y, weights=weights)) ** 2)
    assert fit.quality.value == pytest.approx(1.0 - unexplained)
    # The slope is linear in the response, whose runs are independent.
    centred = x - np.average(x, weights=weights)
    factors = weights * centred / (weights @ centred**2)
    spread = math.sqrt(factors**2 @ runs.var(axis=0, ddof=1) / 50)
    assert slope.student.standard_error == pytest.approx(spread)
