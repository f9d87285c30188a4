"""Comparisons and fits of dp-bai on planted success counts, against numbers computed directly."""

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr, ndtri

from dpbandits.algorithms.best_arm.designs import max_det
from dpbandits.claims.docket import Comparison
from dpbandits.claims.evidence import Evidence, Series
from dpbandits.claims.judge import Measured, judge_comparisons
from dpbandits.claims.numbers import Estimate, mean
from dpbandits.claims.statistics import Measurement
from dpbandits.papers.dp_bai.fits import linear_fit
from dpbandits.papers.dp_bai.instances import sphere
from dpbandits.papers.dp_bai.quantities import budget_90
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
    return Evidence(lambda name: frame_of(name, rate))


EVIDENCE = evidence_of()


def measured(claim: str, name: str, evidence: Evidence = EVIDENCE) -> dict[str, Estimate]:
    """Measure a comparison of a claim; labels without its name where it runs over points."""
    stated = STATED[claim]
    estimates = {}
    for question in stated.questions(stated.interpretations[0]):
        if question.name == name:
            over = ", ".join(map(str, question.over.values()))
            numbers = Measurement(question, evidence.of_results(stated.reads)).numbers()
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


def test_the_margin_is_where_the_verdict_turns() -> None:
    """Every lead exceeds a margin a little below it, and not one a little above."""

    def ahead(name: str, tags: Tags) -> float:
        return 0.9 if tags["algorithm"] == "dp-bai" else drawn(name, tags) - 0.2

    evidence = evidence_of(ahead)
    margin = number("BAI-C2", "margin that every informative point exceeds", evidence)
    leads = measured("BAI-C2", "DP-BAI minus DP-OD over T", evidence)
    leads |= measured("BAI-C2", "DP-BAI minus DP-OD over epsilon", evidence)
    assert margin > 0.05
    for moved, is_ahead in ((-0.0005, True), (0.0005, False)):
        asked = Comparison.model_validate({"value": "difference", "greater": margin + moved})
        compared = [Measured(asked, "", label, estimate) for label, estimate in leads.items()]
        decided = {each.decision for each in judge_comparisons(compared, 0.02)}
        assert (decided == {"for"}) == is_ahead


def test_points_at_the_ceiling_and_the_floor_are_others() -> None:
    """Pure-noise limits are 3/8 and 21/44; a lead where both exceed 0.98 says nothing."""

    def rate(name: str, tags: Tags) -> float:
        if name == "verdicts-budget" and tags["horizon"] == 6400:
            return 0.985 if tags["algorithm"] == "dp-bai" else 1.0
        if name == "verdicts-budget" and (tags["horizon"], tags.get("epsilon")) == (100, 0.1):
            return {"dp-bai": 0.375, "dp-od": 0.477}.get(tags["algorithm"], 0.7)
        return drawn(name, tags)

    evidence = evidence_of(rate)
    others = values(measured("BAI-C2", "DP-BAI minus DP-OD over T, elsewhere", evidence))
    labels = ["T=100, epsilon=0.1: floor", "T=6400, epsilon=0.1: ceiling"]
    assert [*others] == [*labels, "T=6400, epsilon=1: ceiling"]
    assert others[labels[1]] == pytest.approx(-0.015)
    assert len(measured("BAI-C2", "DP-BAI minus DP-OD over T", evidence)) == 11


def test_dp_bai_is_similar_from_the_epsilon_after_which_it_is_never_behind() -> None:
    """Planted: 0.05 behind OD-LinBAI up to epsilon = 0.5 and at one more, else alike."""
    for behind, expected in ((0.1, 1.0), (5, 10.0), (100, math.nan)):

        def rate(name: str, tags: Tags, behind: float = behind) -> float:
            epsilon = tags["epsilon"] if tags["algorithm"] == "dp-bai" else math.inf
            return 0.85 if epsilon <= 0.5 or epsilon == behind else 0.9

        found = number("BAI-F11", "smallest similar epsilon at T=1000", evidence_of(rate))
        assert found == pytest.approx(expected, nan_ok=True)


def test_trials_on_common_rewards_are_compared_one_by_one() -> None:
    gaps = measured("BAI-C3", "DP-BAI at epsilon=100 minus DP-BAI without noise on common rewards")
    mismatches = measured("BAI-C3", "trials in which DP-BAI without noise and OD-LinBAI differ")
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
        private, other = (
            kept("noiseless", horizon=budget, algorithm=name) for name in ("dp-bai", "od-linbai")
        )
        assert mismatches[f"T={budget}"].value == (private != other).sum()


def test_errors_are_held_against_the_bounds_of_their_points() -> None:
    excess = values(measured("BAI-C12", "error minus bound"))
    assert len(excess) == 2 * 7 + 13 + 6 + 6 * 3 * 6
    limits = {}
    for label in excess:
        instance, *rest = label.split(", ")
        tags = {key: float(value) for key, value in (each.split("=") for each in rest)}
        name = {"30 arms": "section5", "two arms": "two-armed"}[instance]
        limits[label] = bounds(name, tags["epsilon"]).theorem(tags["T"])
    won = kept("verdicts-budget", algorithm="dp-bai", horizon=400, epsilon=0.1).item()
    label = "30 arms, T=400, epsilon=0.1"
    assert excess[label] == pytest.approx(1.0 - won / TRIALS - limits[label])
    smallest = number("BAI-C12", "smallest bound at the points of the figures")
    assert smallest == pytest.approx(min(limits.values()))
    over = [limit / (excess[label] + limit) for label, limit in limits.items()]
    assert number("BAI-F8", "largest bound over error") == pytest.approx(max(over))


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


def test_budgets_at_success_ninety_per_cent_are_those_planted() -> None:
    evidence = planted_budgets(0.5, 4.4)
    slope = number("BAI-F13", "slope over rho/epsilon, times Delta", evidence)
    assert slope == pytest.approx(4.4, rel=0.03)
    assert number("BAI-F13", "R^2 of the affine fit", evidence) > 0.999
    found = values(measured("BAI-F13", "coefficient [{number}]", evidence))
    assert found == pytest.approx({"a": 0.5, "b": 4.4}, rel=0.05)
    change = number("BAI-F13", "relative change of T_0.9 of DP-BAI", evidence)
    assert change == pytest.approx(0.0, abs=0.02)
    growth = measured("BAI-C9", "slope of log T_0.9 of DP-OD, at most 1", evidence)
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
    return budget_90(Series(Evidence.of_frames({"made up": frame}), {"in": "made up"}))


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
