"""Comparisons and fits of dp-bai on planted success counts, against numbers computed directly."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr, ndtri

from dpbandits.algorithms.best_arm.designs import max_det
from dpbandits.claims.estimates import Estimate, mean, rate, rate_difference
from dpbandits.claims.measure import Measurement
from dpbandits.claims.series import Evidence, SeriesQuery
from dpbandits.papers.dp_bai.analytic import needed_delta
from dpbandits.papers.dp_bai.fits import linear_fit
from dpbandits.papers.dp_bai.instances import section5, sphere
from dpbandits.papers.dp_bai.quantities import (
    budget_90,
    loss_seen_from,
    of_section5,
    visible_excess,
    visible_lead,
    witness_chances,
)
from dpbandits.papers.dp_bai.theory import bounds
from shared import ExactResults
from synthetic_results import THIRD as PAPER

EXACT = ExactResults("dp-bai")
TRIALS = 40_000
STATED = {entry.id: entry for entry in PAPER.study.stated}
BUDGETS = (100, 200, 400, 800, 1600, 3200, 6400)

Tags = Mapping[str, Any]
Rate = Callable[[str, Tags], float]
"""Success rate by name of the results and tags of a series."""


def drawn(name: str, tags: Tags) -> float:
    """Return a rate of its own for each series."""
    label = "|".join(f"{key}={tags[key]}" for key in sorted(tags))
    return float(np.random.default_rng([*f"{name}|{label}".encode()]).uniform(0.55, 0.97))


@cache
def frame_of(name: str, rate: Rate = drawn) -> pd.DataFrame:
    """Return results: one block of trials a series, or the arms that 300 trials returned."""
    if name in EXACT:
        return EXACT[name]
    plan, rows = PAPER.plan(name), []
    for each in plan.series():
        horizon = each.cell.horizon
        tags = {"algorithm": each.cell.definition.id, "horizon": horizon, **each.tags}
        base = {"series": each.label, **tags, "t": horizon, "arm": -1, "run": 0, "trials": TRIALS}
        if plan.spec.metrics == ("recommended",):
            arms = np.random.default_rng(len(rows)).integers(0, 2, 300).astype(float)
            base |= {"metric": "recommended", "trials": 1}
            rows += [{**base, "run": run, "value": arm} for run, arm in enumerate(arms)]
        else:
            won = float(round(rate(name, tags) * TRIALS))
            rows.append({**base, "metric": "success", "value": won})
    return pd.DataFrame(rows)


def evidence_of(rate: Rate = drawn) -> Evidence:
    return Evidence(lambda name: frame_of(name, rate), PAPER.paper.quantities)


EVIDENCE = evidence_of()


def measured(claim: str, name: str, evidence: Evidence = EVIDENCE) -> dict[str, Estimate]:
    """Measure a comparison of a claim; labels without its name where it runs over points."""
    stated = STATED[claim]
    estimates = {}
    for case in stated.cases(stated.readings[0]):
        if case.name == name:
            over = ", ".join(map(str, case.over.values()))
            numbers = Measurement(case, replace(evidence, reads=stated.reads)).numbers()
            estimates |= {label or over: estimate for label, estimate in numbers.items()}
    return estimates


def kept(name: str, **where: Any) -> np.ndarray:
    """Return the values of the rows with these tags, of drawn rates."""
    frame = frame_of(name)
    for key, value in where.items():
        frame = frame[frame[key] == value]
    return frame["value"].to_numpy()


def values(found: Mapping[str, Estimate]) -> dict[str, float]:
    return {label: estimate.value for label, estimate in found.items()}


def number(claim: str, name: str, evidence: Evidence = EVIDENCE) -> float:
    [estimate] = measured(claim, name, evidence).values()
    return estimate.value


def test_trials_on_the_same_rewards_are_compared_one_by_one() -> None:
    name = "DP-BAI at epsilon=100 minus DP-BAI without noise, same rewards"
    gaps = measured("BAI-C3", name)
    for budget in BUDGETS:
        noisy, plain = (
            kept("weak-privacy-stream", horizon=budget, epsilon=epsilon) == 0
            for epsilon in (100, 1e9)
        )
        gap = gaps[f"T={budget}"]
        assert gap.value == pytest.approx(noisy.mean() - plain.mean())
        spread = np.std(noisy.astype(float) - plain, ddof=1) / math.sqrt(noisy.size)
        lo, hi = gap.interval(0.05)
        assert hi - lo == pytest.approx(2 * 1.968 * spread, rel=0.01)
    other = [
        (kept("noiseless", horizon=budget, algorithm="dp-bai") != arms).sum()
        for budget in BUDGETS
        for arms in [kept("noiseless", horizon=budget, algorithm="od-linbai")]
    ]
    name = "most trials of one T in which DP-BAI without noise and OD-LinBAI return different arms"
    assert number("BAI-C3", name) == max(other) > 0


def test_errors_are_held_against_the_bounds_of_their_points() -> None:
    for instance, words, budget in (
        ("section5", "30 arms, T=400000", 400_000),
        ("two-armed", "two arms, T=80000", 80_000),
    ):
        limit = bounds(instance, 1.0).theorem(budget)
        won = kept(f"verdicts-far-{instance}").item()
        excess = number("BAI-C12", f"error minus bound, {words}")
        assert excess == pytest.approx(1.0 - won / TRIALS - limit)
        assert number("BAI-C12", f"bound, {words}") == pytest.approx(limit)
        assert number("BAI-C12", f"error, {words}") == pytest.approx(1.0 - won / TRIALS)
    limits = [bounds("section5", each).theorem(budget) for each in (0.1, 1) for budget in BUDGETS]
    smallest = number("BAI-F8", "smallest bound on 30 arms over T")
    assert smallest == pytest.approx(min(limits))


def counted_series(won: int, **tags: Any) -> SeriesQuery:
    """Return a series with so many successes of 10,000 trials."""
    tags = {"series": "made up", "t": 400_000, "epsilon": 1.0, **tags}
    frame = pd.DataFrame([{**tags, "value": won, "run": 0, "arm": -1, "trials": 10_000}])
    frame = frame.assign(metric="success")
    return SeriesQuery(Evidence.of_frames({"made up": frame}), {"in": "made up"})


def test_a_visible_lead_is_the_first_that_an_interval_sees() -> None:
    lead = round(visible_lead(counted_series(9_000), points=27).value * 10_000)
    for more, is_seen in ((lead - 1, False), (lead, True)):
        counts = (9_000 + more, 10_000), (9_000, 10_000)
        assert (rate_difference(*counts).interval(0.05 / 27)[0] > 0.0) == is_seen
    assert math.isnan(visible_lead(counted_series(10_000), points=27).value)


def test_a_visible_excess_is_in_units_of_the_bound() -> None:
    bound = bounds("section5", 1.0).theorem(400_000)
    found = visible_excess(counted_series(10_000), points=2).value
    errors = round(found * bound * 10_000)
    assert found > 1.0
    for count, is_seen in ((errors - 1, False), (errors, True)):
        assert (rate((count, 10_000)).interval(0.025)[0] > bound) == is_seen


def test_a_loss_is_seen_from_the_epsilon_that_sees_least() -> None:
    losses = [(0.1, 0.5), (0.1, 0.8), (1.0, 1.0)]
    frame = pd.DataFrame(losses, columns=["epsilon", "y"]).assign(x=1.0)
    made_up = SeriesQuery(Evidence.of_frames({"made up": frame}), {"in": "made up"})
    assert loss_seen_from(made_up).value == pytest.approx(1.25)


def test_chances_of_the_witness_need_its_delta() -> None:
    """P - e^epsilon Q is the delta that is needed."""
    found = values(witness_chances(epsilon=5.0, delta=0.38))
    first, second = found["under the first table"], found["under the second table"]
    expected = 0.38 * needed_delta(5.0, 0.38, 10_002)
    assert first - math.exp(5.0) * second == pytest.approx(expected)
    for table, chance in (("first", first), ("second", second)):
        assert found[f"log10 under the {table} table"] == pytest.approx(math.log10(chance))


def test_the_ends_of_the_coordinates_decide_for_all_draws() -> None:
    draws = np.array([section5(draw=draw).means for draw in range(200)])
    gaps = draws.max(axis=1, keepdims=True) - draws
    assert gaps[:, 3:].min() >= of_section5(number="smallest other gap").value > 0.05
    assert draws.min() >= of_section5(number="smallest mean").value
    for arm in (2, 3):
        assert np.abs(gaps[:, arm - 1] - 0.05).max() < 1e-12
        assert of_section5(number=f"gap {arm}").value < 1e-12


def test_a_larger_collection_than_the_first_one_of_dp_bai_exists() -> None:
    # As the algorithm reduces features before it looks for a collection.
    u, lengths, _ = np.linalg.svd(sphere().feature_matrix, full_matrices=False)
    own = abs(np.linalg.det((u * lengths)[[*max_det(u * lengths).arms]]))
    assert number("BAI-F3", "volume of the first collection of DP-BAI") == pytest.approx(own)
    assert number("BAI-F3", "largest volume found from random starts") > 1.05 * own


def test_the_decay_of_errors_is_that_of_the_larger_half() -> None:
    """Planted: slower on the larger half of T, which is what counts."""

    def rate(_: str, tags: Tags) -> float:
        budget = tags["horizon"]
        return 1.0 - 0.2 * math.exp(-0.002 * budget - 1e-3 * min(budget, 1200))

    name = "slope of -log(error) over T/1000, epsilon={epsilon}"
    found = measured("BAI-C17", name, evidence_of(rate))["1"].value
    assert found == pytest.approx(2.0, rel=0.02)


def planted_budgets(a: float, b: float) -> Evidence:
    """Return success of 0.9 at a/Delta^2 + b rho/(epsilon Delta), rho of DP-OD alone, by probit."""

    def rate(name: str, tags: Tags) -> float:
        gap = tags.get("gap", 0.05)
        rho = tags["ratio"] if tags["algorithm"] == "dp-od" else 1.0
        needed = a / gap**2 + b * rho / (tags["epsilon"] * gap)
        return float(ndtr(ndtri(0.9) * math.sqrt(tags["horizon"] / needed)))

    return evidence_of(rate)


@pytest.mark.slow
def test_budgets_at_success_ninety_per_cent_are_those_planted() -> None:
    evidence = planted_budgets(0.5, 4.4)
    slope = number("BAI-F13", "slope over rho/epsilon of DP-OD, times Delta", evidence)
    assert slope == pytest.approx(4.4, rel=0.03)
    assert number("BAI-F13", "R^2 of the affine fit to DP-OD", evidence) > 0.999
    found = values(measured("BAI-F13", "coefficient [{number}]", evidence))
    assert found == pytest.approx({"a": 0.5, "b": 4.4}, rel=0.05)
    change = number("BAI-F13", "relative change of the budget of DP-BAI", evidence)
    assert change == pytest.approx(0.0, abs=0.02)
    growth = measured("BAI-C9", "power of rho in the budget of DP-OD, rho=20 to 50", evidence)
    assert len(growth) == 3
    for label, slope in values(growth).items():
        epsilon = float(label.split("=")[1])
        needed = [200 + 88 * rho / epsilon for rho in (20, 50)]
        assert slope == pytest.approx(math.log(needed[1] / needed[0]) / math.log(2.5), abs=0.02)


FITTED = np.array([600, 750, 900, 1000, 1100, 1300, 1500])
FITTED_TRIALS = 2000
NEEDED = 1000.0
"""T at success 0.9 in the made-up law, which is exactly a probit line in sqrt(T)."""

RATES = ndtr(ndtri(0.9) * np.sqrt(FITTED / NEEDED))


def fitted_crossing(successes: np.ndarray) -> Estimate:
    """Return the T at success 0.9 by the fit, of results with these successes."""
    frame = pd.DataFrame({"horizon": FITTED, "multiple": FITTED / 1000, "t": FITTED})
    frame = frame.assign(series=[*map(str, FITTED)], value=np.asarray(successes, dtype=float))
    frame = frame.assign(run=0, metric="success", arm=-1, trials=FITTED_TRIALS)
    return budget_90(SeriesQuery(Evidence.of_frames({"made up": frame}), {"in": "made up"}))


def test_the_probit_fit_is_that_of_maximum_likelihood() -> None:
    successes = np.random.default_rng(1).binomial(FITTED_TRIALS, RATES)
    roots = np.sqrt(FITTED)

    def deviance(fit: np.ndarray) -> float:
        line = fit[0] + fit[1] * roots
        return -float(successes @ log_ndtr(line) + (FITTED_TRIALS - successes) @ log_ndtr(-line))

    start = np.array([0.0, ndtri(0.9) / math.sqrt(NEEDED)])
    best = minimize(deviance, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-10})
    expected = ((ndtri(0.9) - best.x[0]) / best.x[1]) ** 2
    # Nelder-Mead stops within about 1e-8 of the coefficients.
    assert fitted_crossing(successes).value == pytest.approx(expected, rel=1e-5)
    assert math.isnan(fitted_crossing(FITTED_TRIALS * RATES[::-1]).value), "success falls"


@pytest.mark.slow
def test_the_interval_of_the_crossing_covers() -> None:
    """200 repetitions: within 4 sd (0.062) of 95 %; a control at 50 % is not."""
    drawn = np.random.default_rng(3).binomial(FITTED_TRIALS, RATES, (200, len(FITTED)))
    estimates = [fitted_crossing(successes) for successes in drawn]
    for alpha, covers in ((0.05, True), (0.5, False)):
        ends = np.array([estimate.interval(alpha) for estimate in estimates])
        covered = ((ends[:, 0] <= NEEDED) & (ends[:, 1] >= NEEDED)).mean()
        assert (abs(covered - 0.95) <= 0.062) == covers


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
