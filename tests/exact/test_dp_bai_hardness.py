"""Hardness, bounds and Table 1 of dp-bai: printed numbers, and against each other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbandits import InputError
from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.papers.dp_bai.instances import section5, two_armed
from dpbandits.papers.dp_bai.theory import (
    Hardness,
    asymptotic_budget,
    boundaries,
    boundary_deltas,
    conditions,
    exponents,
    hardness,
    proof_bound,
    regimes,
    theorem_bound,
    union_bound,
)

LARGE = st.floats(1.0, 1e6)


def test_hardness_of_the_two_armed_instance_is_that_of_the_spec() -> None:
    """dp-bai, Theorem 4.2: H_BAI = 2/Delta^2 = 800, H_pri = 2/(epsilon Delta) = 40/epsilon."""
    for ratio, epsilon in ((1.0, 1.0), (20.0, 0.1), (5.0, math.inf)):
        found = hardness(two_armed(ratio=ratio).means, 2, epsilon)
        assert found.identification == pytest.approx(800.0, rel=1e-12)
        assert found.privacy == pytest.approx(40.0 / epsilon, rel=1e-12)
        assert found.total == found.identification + found.privacy


@pytest.mark.parametrize("draw", range(20))
def test_hardness_of_section_5_is_the_formula_of_the_spec(draw: int) -> None:
    """dp-bai, Theorem 4.2: indices 2 to 4, Delta_(4) = 0.455 - omega_max/2 in [0.055, 0.455]."""
    bandit = section5(draw=draw)
    gap = 0.455 - bandit.feature_matrix[3:, 1].max() / 2.0
    assert 0.055 <= gap <= 0.455
    found = hardness(bandit.means, 2, 0.5)
    # Gaps are differences of numbers below 1: 1e-16 of 0.05.
    assert found.identification == pytest.approx(max(1200.0, 4.0 / gap**2), rel=1e-12)
    assert 0.5 * found.privacy == pytest.approx(max(60.0, 4.0 / gap), rel=1e-12)


def test_hardness_takes_arms_up_to_the_square_of_the_dimension() -> None:
    """dp-bai, Theorem 4.2: 2 <= i <= min(d^2, K). The fifth arm would be the hardest of seven."""
    means = [0.9, 0.6, 0.6, 0.6, 0.58, 0.1, 0.1]
    assert hardness(means, 2, 1.0).identification == pytest.approx(4 / 0.3**2)
    assert hardness(means, 3, 1.0).identification == pytest.approx(5 / 0.32**2)
    assert hardness(means[:3], 3, 1.0).privacy == pytest.approx(3 / 0.3)


def test_hardness_in_one_dimension_is_refused_or_extended() -> None:
    """BAI-E18."""
    with pytest.raises(InputError, match=r"dimension is 1; allowed: at least 2"):
        hardness([0.5, 0.4], 1, 1.0)
    found = hardness([0.5, 0.4, 0.3], 1, 1.0, at_dimension_1="extend")
    assert found.identification == pytest.approx(200.0)


@pytest.mark.parametrize(
    ("means", "dimension", "epsilon", "message"),
    [
        ([0.5, 0.5], 2, 1.0, "means are"),
        ([0.5], 2, 1.0, "means are"),
        ([0.5, 0.4], 2, 0.0, "epsilon is 0.0; allowed: above 0"),
        ([0.5, 0.4], 0, 1.0, "dimension is 0"),
    ],
)
def test_hardness_refuses_in_one_line(
    means: list[float], dimension: int, epsilon: float, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        hardness(means, dimension, epsilon)


def test_bounds_on_section_5_are_their_formulas() -> None:
    """M = M1 = 1, T' = T - 2, lambda = 29^(1/log 2) = 128.7640 (dp-bai, Section 5)."""
    schedule, hard = phase_schedule(30, 2), Hardness(1200.0, 600.0)
    assert schedule.shrinkage == pytest.approx(128.7640, abs=5e-5)
    exponent = 998.0 / 1800.0
    assert theorem_bound(schedule, 1000, hard) == pytest.approx(math.exp(-exponent / 65.0))
    prefactor = 12.0 + 4.0 * schedule.shrinkage
    expected = prefactor * math.exp(-exponent / 64.0)
    assert proof_bound(schedule, 1000, hard) == pytest.approx(expected)
    expected = 4.0 * 29.0 * math.exp(-exponent / 32.0)
    assert union_bound(schedule, 30, 2, 1000, hard) == pytest.approx(expected)


def test_bounds_refuse_what_they_do_not_cover() -> None:
    schedule, hard = phase_schedule(30, 2), Hardness(1200.0, 600.0)
    with pytest.raises(InputError, match="budget is 2; allowed: above 2 here"):
        theorem_bound(schedule, 2, hard)
    with pytest.raises(InputError, match="dimension is 3; allowed: 2"):
        union_bound(schedule, 30, 3, 100, hard)


@pytest.mark.parametrize(("arms", "dimension"), [(30, 2), (100, 4), (10_000, 16), (8, 8)])
def test_the_theorem_follows_from_its_proof_from_the_asymptotic_budget(
    arms: int, dimension: int
) -> None:
    """Equal at T' = 64 * 65 M H log(12 M + 4 M1 lambda), the proof's smaller beyond."""
    schedule, hard = phase_schedule(arms, dimension), Hardness(1000.0, 100.0)
    start = asymptotic_budget(schedule, hard)
    # Exponents are in the hundreds at most: rounding is far below 1e-9.
    assert proof_bound(schedule, start, hard) == pytest.approx(
        theorem_bound(schedule, start, hard), rel=1e-9
    )
    for factor, is_below in ((0.99, False), (1.01, True)):
        both = [bound(schedule, factor * start, hard) for bound in (proof_bound, theorem_bound)]
        assert (both[0] < both[1]) is is_below


def test_the_asymptotic_form_applies_far_beyond_the_figures() -> None:
    """Theorem 4.2, on I-B at epsilon = 1: 4160 * 840 * log(12 + 8) + 2, ten million pulls."""
    start = asymptotic_budget(phase_schedule(2, 2), hardness(two_armed(ratio=2.0).means, 2, 1.0))
    assert start == pytest.approx(4160.0 * 840.0 * math.log(20.0) + 2.0, rel=1e-12)
    assert start > 1e7


@given(LARGE, LARGE, st.floats(1e-12, 0.999), st.integers(2, 64))
def test_boundaries_are_where_exponents_are_equal(
    identification: float, privacy: float, delta: float, dimension: int
) -> None:
    """dp-bai, Theorem 4.2: B >= A from T_A on, B < C below T_C."""
    hard = Hardness(identification, privacy)
    tight, even = boundaries(delta, hard, dimension)
    assert tight <= even
    at_tight = exponents(tight, delta, identification, privacy, dimension)
    at_even = exponents(even, delta, identification, privacy, dimension)
    # Both sides are products of a handful of factors.
    assert at_tight.gauss_privacy == pytest.approx(at_tight.laplace, rel=1e-12)
    assert at_even.gauss_privacy == pytest.approx(at_even.identification, rel=1e-12)
    budgets = [tight * (1 - 1e-9), even * (1 + 1e-9), math.sqrt(tight * even)]
    expected = [3, 1] + ([2] if even > tight * (1 + 1e-6) else [])
    assert regimes(budgets[: len(expected)], delta, hard, dimension).tolist() == expected


@given(LARGE, LARGE, st.floats(10.0, 1e5), st.integers(2, 64))
def test_boundary_deltas_invert_the_boundaries(
    identification: float, privacy: float, budget: float, dimension: int
) -> None:
    hard = Hardness(identification, privacy)
    for place, delta in enumerate(boundary_deltas(budget, hard, dimension)):
        if 1e-280 < delta < 1.0:
            # log(1.25/delta) magnifies the rounding of delta where delta is near 1.25.
            assert boundaries(float(delta), hard, dimension)[place] == pytest.approx(budget, 1e-6)


def test_table_1_without_delta_is_a_row_of_its_own() -> None:
    """dp-bai, Theorem 4.2: the Gauss bound is vacuous at delta = 0."""
    found = exponents([1.0, 1e9], 0.0, 800.0, 40.0, 2)
    assert (found.gauss == 0.0).all()
    assert conditions(found, 0.0).tolist() == [[False] * 2, [False] * 2, [False] * 2, [True] * 2]
    assert regimes([1.0, 1e9], 0.0, Hardness(800.0, 40.0), 2).tolist() == [4, 4]
    assert boundaries(0.0, Hardness(800.0, 40.0), 2) == (math.inf, math.inf)


def test_regimes_refuse_in_one_line() -> None:
    with pytest.raises(InputError, match=r"delta is 1\.0; allowed: 0 to below 1"):
        exponents(100.0, 1.0, 800.0, 40.0, 2)
    with pytest.raises(InputError, match="dimension is 1; allowed: at least 2"):
        exponents(100.0, 0.5, 800.0, 40.0, 1)


def test_privacy_hardly_matters_at_a_huge_epsilon() -> None:
    found = exponents(np.array([10.0]), 0.1, 800.0, 1e-30, 2)
    assert found.gauss == found.identification
    assert found.laplace == pytest.approx(found.identification, rel=1e-15)
