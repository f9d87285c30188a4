"""Holm's levels and the interim analyses keep the family-wise error; intervals cover.

Error rates are estimated on made-up normal runs with fixed seeds. With R repetitions at rate p
the bands are p + 4 sqrt(p (1 - p) / R): a correct procedure leaves them with probability 3e-5.
Beside each stands a control that the bands can be left: no correction, or too narrow intervals.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest

from dpbandits.claims.docket import Comparison
from dpbandits.claims.judge import Measured, judge, judge_comparisons
from dpbandits.claims.numbers import (
    Estimate,
    largest,
    mean,
    smallest,
)
from dpbandits.claims.verdict import decide, holm_levels
from toy_claims import claim, on_series, toy_evidence

ALPHA = 0.05
ABOVE = Comparison.model_validate({"value": "a", "greater": 0})


def band(rate: float, repetitions: int) -> float:
    return 4.0 * math.sqrt(rate * (1.0 - rate) / repetitions)


def test_levels_step_down_as_holm_prints_them() -> None:
    """Holm (1979): 0.01 <= 0.05/4, 0.013 <= 0.05/3, 0.03 > 0.05/2, so two of four are decided."""
    p_values = [0.03, 0.01, 0.04, 0.013]
    levels = holm_levels(p_values, 0.05)
    assert levels == pytest.approx([0.025, 0.0125, 0.025, 0.05 / 3])
    assert [p <= level for p, level in zip(p_values, levels, strict=True)] == [
        False,
        True,
        False,
        True,
    ]


def test_one_comparison_keeps_the_whole_level_and_none_is_no_error() -> None:
    assert holm_levels([0.2], 0.05) == [0.05]
    assert holm_levels([], 0.05) == []


def test_what_is_decided_by_p_value_is_decided_by_the_interval_at_its_level() -> None:
    generator = np.random.default_rng(11)
    for _ in range(50):
        effects = generator.choice([0.0, 0.5, 1.0], 8)
        estimates = [mean(generator.normal(effect, 1.0, 30)) for effect in effects]
        judged = judge_comparisons([Measured(ABOVE, "", "", one) for one in estimates], ALPHA)
        assert [each.decision for each in judged] == [
            decide(*estimate.interval(each.level), ABOVE.region)
            for estimate, each in zip(estimates, judged, strict=True)
        ]
        decided = sorted(each.level for each in judged if each.decision != "undecided")
        assert decided == sorted(ALPHA / (8 - rank) for rank in range(len(decided)))


def family_error(repetitions: int, *, corrected: bool) -> float:
    """Share of repetitions in which some comparison of 20 true nulls is decided."""
    generator = np.random.default_rng(20240719)
    wrong = 0
    for _ in range(repetitions):
        estimates = [mean(generator.normal(0.0, 1.0, 30)) for _ in range(20)]
        if corrected:
            items = [Measured(ABOVE, "", "", one) for one in estimates]
            decisions = [each.decision for each in judge_comparisons(items, ALPHA)]
        else:
            decisions = [decide(*e.interval(ALPHA), ABOVE.region) for e in estimates]
        wrong += any(decision != "undecided" for decision in decisions)
    return wrong / repetitions


@pytest.mark.slow
def test_family_wise_error_is_held_under_the_null() -> None:
    """All 20 means lie on the threshold, where every decision is an error."""
    repetitions = 1000
    assert family_error(repetitions, corrected=True) <= ALPHA + band(ALPHA, repetitions)


def test_without_correction_the_family_wise_error_is_far_off() -> None:
    """Control: 1 - 0.95^20 = 0.64."""
    assert family_error(200, corrected=False) > 0.5


@pytest.mark.slow
def test_the_level_split_over_the_looks_holds_for_all_of_them_together() -> None:
    """A claim of two true nulls, looked at after 50, 100, 200 and 400 runs."""
    repetitions = 400
    toy = claim(*on_series(0, 1))
    wrong = sum(
        judge([toy], toy_evidence([0.0, 0.0], seed=seed))[0].verdict != "undecided"
        for seed in range(repetitions)
    )
    assert wrong / repetitions <= ALPHA + band(ALPHA, repetitions)


def test_exact_and_exploratory_comparisons_cost_no_level() -> None:
    values = np.random.default_rng(1).normal(0.0, 1.0, 30)
    beside = Comparison.model_validate({"value": "a", "less": 0, "exploratory": True})
    items = [
        Measured(ABOVE, "", "random", mean(values)),
        Measured(ABOVE, "", "exact", Estimate(-1.0)),
        Measured(beside, "", "exploratory", mean(values)),
    ]
    assert [each.level for each in judge_comparisons(items, ALPHA)] == [ALPHA] * 3


Runs = np.ndarray

# Estimate from two means 2 and 1 and three tied means 1, and what it estimates.
ESTIMATES: dict[str, tuple[Callable[[Runs, Runs, list[Runs]], Estimate], float]] = {
    "mean": (lambda first, second, tied: mean(first), 2.0),
    "welch": (lambda first, second, tied: mean(first) - mean(second), 1.0),
    "ratio": (lambda first, second, tied: mean(first) / mean(second), 2.0),
    "largest": (lambda first, second, tied: largest(mean(each) for each in tied), 1.0),
    "smallest": (lambda first, second, tied: smallest(mean(each) for each in tied), 1.0),
}


def coverage(kind: str, repetitions: int, alpha: float) -> float:
    """Share of intervals that cover; sd 1, 40 runs."""
    generator = np.random.default_rng(list(kind.encode()))
    estimate, truth = ESTIMATES[kind]
    covered = 0
    for _ in range(repetitions):
        first, second, *tied = (generator.normal(centre, 1.0, 40) for centre in (2, 1, 1, 1, 1))
        lo, hi = estimate(first, second, tied).interval(alpha)
        covered += lo <= truth <= hi
    return covered / repetitions


@pytest.mark.parametrize("kind", ["mean", "welch", "ratio"])
def test_intervals_cover_at_their_level(kind: str) -> None:
    repetitions = 3000
    assert coverage(kind, repetitions, ALPHA) == pytest.approx(0.95, abs=band(ALPHA, repetitions))


@pytest.mark.parametrize("kind", ["largest", "smallest"])
def test_the_extreme_of_several_is_covered_at_least_at_its_level(kind: str) -> None:
    """Where three true means tie, picking the best one is worst for coverage."""
    repetitions = 3000
    assert coverage(kind, repetitions, ALPHA) >= 0.95 - band(ALPHA, repetitions)


def test_coverage_notices_intervals_at_another_level() -> None:
    """Control: intervals at 10 % are told from intervals at 5 %."""
    assert abs(coverage("mean", 3000, 0.1) - 0.95) > band(ALPHA, 3000)
