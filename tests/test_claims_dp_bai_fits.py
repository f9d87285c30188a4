"""The fits behind the claims on budgets: maximum likelihood, coverage, and least squares."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr, ndtri

from dpbandits.claims.numbers import Counted, from_resamples
from dpbandits.papers.dp_bai.fits import crossing_budgets, linear_fit, resampled_rates

BUDGETS = (600, 750, 900, 1000, 1100, 1300, 1500)
TRIALS = 2000
NEEDED = 1000.0
"""T at success 0.9 in the made-up law, which is exactly a probit line in sqrt(T)."""

RATES = ndtr(ndtri(0.9) * np.sqrt(np.array(BUDGETS) / NEEDED))
SEED = 20260719


def counted(successes: object) -> tuple[Counted, ...]:
    return tuple((int(each), TRIALS) for each in np.asarray(successes))


def test_the_probit_fit_is_that_of_maximum_likelihood() -> None:
    successes = np.random.default_rng(1).binomial(TRIALS, RATES)
    roots = np.sqrt(BUDGETS)

    def deviance(fit: np.ndarray) -> float:
        line = fit[0] + fit[1] * roots
        return -float(successes @ log_ndtr(line) + (TRIALS - successes) @ log_ndtr(-line))

    start = np.array([0.0, ndtri(0.9) / math.sqrt(NEEDED)])
    best = minimize(deviance, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-10})
    expected = ((ndtri(0.9) - best.x[0]) / best.x[1]) ** 2
    found = crossing_budgets(counted(successes), BUDGETS, 0.9, "a", SEED, 0)
    # Nelder-Mead stops within about 1e-8 of the coefficients.
    assert found == pytest.approx([expected], rel=1e-5)


def test_resamples_are_fitted_as_well_as_the_trials_themselves() -> None:
    """Five steps from the fit of all trials end where twenty-five from scratch do."""
    successes = np.random.default_rng(2).binomial(TRIALS, RATES)
    rates = resampled_rates(counted(successes), "a", SEED, 50)
    found = crossing_budgets(counted(successes), BUDGETS, 0.9, "a", SEED, 50)
    for row, budget in zip(rates[1:], found[1:], strict=True):
        alone = crossing_budgets(counted(np.rint(row * TRIALS)), BUDGETS, 0.9, "b", SEED, 0)
        assert budget == pytest.approx(alone[0], rel=1e-9)


def test_the_bootstrap_interval_of_the_crossing_covers() -> None:
    """400 repetitions: within 4 sd (0.044) of 95 %; a control at 50 % is not."""
    drawn = np.random.default_rng(3).binomial(TRIALS, RATES, (400, len(BUDGETS)))
    covered = {0.05: 0, 0.5: 0}
    for index, successes in enumerate(drawn):
        found = crossing_budgets(counted(successes), BUDGETS, 0.9, index, SEED, 500)
        estimate = from_resamples(found[0], found[1:], TRIALS)
        for alpha in covered:
            lo, hi = estimate.interval(alpha)
            covered[alpha] += lo <= NEEDED <= hi
    assert covered[0.05] / 400 == pytest.approx(0.95, abs=0.044)
    assert abs(covered[0.5] / 400 - 0.95) > 0.044


def test_success_that_does_not_rise_with_the_budget_has_no_crossing() -> None:
    falling = crossing_budgets(counted(TRIALS * RATES[::-1]), BUDGETS, 0.9, "a", SEED, 0)
    assert np.isnan(falling).all()


def test_resamples_have_the_spread_of_the_trials_and_depend_on_the_key_alone() -> None:
    """20000 resamples leave 0.5 % in a standard deviation, of which 2 % is four times."""
    rates = resampled_rates(((300, 1000), (900, 1000)), "a", SEED, 20_000)
    again = resampled_rates(((300, 1000), (900, 1000)), "a", SEED, 20_000)
    other = resampled_rates(((300, 1000), (900, 1000)), "b", SEED, 20_000)
    assert rates[0].tolist() == [0.3, 0.9]
    spread = np.sqrt(np.array([0.3 * 0.7, 0.9 * 0.1]) / 1000)
    assert rates[1:].std(axis=0) == pytest.approx(spread, rel=0.02)
    assert np.array_equal(rates, again)
    assert not np.array_equal(rates, other)


def test_linear_fits_are_weighted_least_squares() -> None:
    generator = np.random.default_rng(4)
    x, weights = generator.random(12), generator.random(12) + 0.1
    y = 1.0 + 2.0 * x + 0.1 * generator.standard_normal((3, 12))
    fit = linear_fit(np.stack([np.ones(12), x], axis=1), y, weights, 100)
    for row, (intercept, slope) in zip(y, fit.coefficients, strict=True):
        assert [slope, intercept] == pytest.approx(np.polyfit(x, row, 1, w=np.sqrt(weights)))
    line = fit.coefficients[0] @ np.stack([np.ones(12), x])
    mean = np.average(y[0], weights=weights)
    unexplained = weights @ (y[0] - line) ** 2 / (weights @ (y[0] - mean) ** 2)
    assert fit.quality().value == pytest.approx(1.0 - unexplained)
    assert fit.coefficient(1).value == fit.coefficients[0, 1]
    assert fit.coefficient(1).runs == 100
