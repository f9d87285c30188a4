"""Exact results of dp-bai: printed numbers, slow enumerations, draws and the kernels.

Simulations have fixed seeds and are compared within 4.5 standard errors (``agreement.near``).
"""

import itertools
import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbandits
from agreement import near
from dpbandits.algorithms.best_arm.designs import max_det, rank_of
from dpbandits.algorithms.best_arm.eliminations import SCHEDULES, phase_schedule
from dpbandits.auditing.laplace import log_tail_of_two
from dpbandits.bandits import LinearBandit
from dpbandits.papers.dp_bai.analytic import (
    crossing,
    linear_limit,
    log_gauss_tail,
    max_det_factor,
    uniform_limit,
    variance_factors,
)
from dpbandits.papers.dp_bai.instances import INSTANCES, section5, two_armed
from dpbandits.papers.dp_bai.schedules import (
    contradictions,
    phase_totals,
    random_design_totals,
    violations,
    worst_design_totals,
)
from dpbandits.papers.dp_bai.theory import (
    FAR,
    JUDGED,
    Bounds,
    Draws,
    Hardness,
    boundaries,
    bounds,
    conditions,
    hardness,
)


def played(algorithm: str, epsilon: float, bandit: LinearBandit, budget: int, **more: Any) -> Any:
    params = {} if algorithm == "od-linbai" else {"epsilon": epsilon}
    given: dict[str, Any] = {"params": params, "bandit": bandit, "budget": budget, "runs": 1}
    return dpbandits.identify(algorithm=algorithm, **given | {"seed": 1} | more)


def test_a_schedule_beyond_the_limits_is_counted() -> None:
    """Negative control: more early phases, slower shrinking, too few phases in all."""
    right = phase_schedule(10_000, 16)
    assert violations(right, 16) == ["schedules"]
    for changed, broken in [
        ({"sizes": right.sizes[:1] * 15}, "above limit"),
        ({"sizes": right.sizes[:1] * 4}, "below log2 d"),
        ({"early_phases": 5}, "early above"),
        ({"shrinking": (9936, 900, 40, 0)}, "shrinking above"),
    ]:
        assert violations(replace(right, **changed), 16) == ["schedules", broken]


def test_a_trial_that_is_no_halving_is_counted() -> None:
    """Negative control: DP-BAI pulls two of thirty arms; another arm is recommended."""
    found = {
        algorithm: played(algorithm, math.inf, section5(), 500).trace
        for algorithm in ("baseline", "dp-bai")
    }
    assert contradictions(found["baseline"]) == ["phases"]
    assert contradictions(found["dp-bai"]) == ["phases", "unequal pulls"]
    other = (found["baseline"].recommended + 1) % 30
    assert contradictions(replace(found["baseline"], recommended=other)) == ["phases", "wrong arms"]


def test_variance_factors_are_those_of_every_subset() -> None:
    features = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [2.0, 0.0]])
    bases = [features[[*subset]] for subset in itertools.combinations(range(4), 2)]
    weights = [features @ np.linalg.inv(base) for base in bases if np.linalg.det(base)]
    expected = [(each**2).sum(axis=1).max() for each in weights]
    found = variance_factors(features)
    np.testing.assert_allclose(np.sort(found), np.sort(expected))
    # Largest volume: the last and the second arm.
    assert max_det_factor(features) == pytest.approx(1.0)


def test_rounds_are_those_of_the_kernel() -> None:
    for instance in ("section5", "sphere"):
        bandit = INSTANCES[instance]()
        found = played("dp-od", 1.0, bandit, 500)
        assert len(found.trace.phases) == max(
            1, math.ceil(math.log2(rank_of(bandit.feature_matrix)))
        )


def test_hardness_is_the_formula_of_the_spec() -> None:
    """dp-bai, Theorem 4.2: H_BAI = 2/Delta^2 = 800, H_pri = 2/(epsilon Delta) = 40/epsilon."""
    for ratio, epsilon in ((1.0, 1.0), (20.0, 0.1), (5.0, math.inf)):
        found = hardness(two_armed(ratio=ratio).means, 2, epsilon)
        assert found.identification == pytest.approx(800.0, rel=1e-12)
        assert found.privacy == pytest.approx(40.0 / epsilon, rel=1e-12)
        assert found.total == found.identification + found.privacy
    # 2 <= i <= min(d^2, K): the fifth arm would be the hardest of seven.
    means = [0.9, 0.6, 0.6, 0.6, 0.58, 0.1, 0.1]
    assert hardness(means, 2, 1.0).identification == pytest.approx(4 / 0.3**2)
    assert hardness(means, 3, 1.0).identification == pytest.approx(5 / 0.32**2)
    assert hardness(means[:3], 3, 1.0).privacy == pytest.approx(3 / 0.3)


def slow_total(arms: int, dimension: int, schedule: str, budget: int, linear: bool) -> int:
    """Return the pulls phase by phase, as Algorithm 1 has it; 0 where T' is not above 0."""
    phases = phase_schedule(arms, dimension, schedule)
    effective = budget - phases.reserved
    pulls = 0
    for size in phases.sizes[:-1]:
        rank = min(size, dimension)
        pulled = rank if linear and rank < math.sqrt(size) else size
        pulls += pulled * math.ceil(effective / (phases.phases * pulled))
    return pulls if effective > 0 else 0


def test_totals_agree_with_a_slow_enumeration() -> None:
    """Every K up to 26, d up to 8, a few T of each; the squares decide the branch."""
    sizes = (2, 3, 4, 5, 9, 10, 16, 17, 25, 26)
    for arms, dimension, schedule, linear in product(sizes, range(1, 9), SCHEDULES, [True, False]):
        told = arms, dimension, schedule
        budgets, pulls = phase_totals(*told, linear)
        assert slow_total(*told, int(budgets[0]) - 1, linear) == 0
        for place in (0, 1, 7, 100, budgets.size - 1):
            assert pulls[place] == slow_total(*told, int(budgets[place]), linear)
        assert budgets[-1] == 5000


def generic(arms: int, dimension: int, seed: int) -> LinearBandit:
    features = np.random.default_rng(seed).random((arms, dimension))
    return dpbandits.linear(features, np.full(dimension, 1.0 / dimension))


def test_totals_are_those_of_the_kernels() -> None:
    """On random features, which are generic but for a null set."""
    for algorithm, schedule, arms, dimension, budget in [
        ("dp-bai", "consistent", 4, 2, 7),
        ("dp-bai", "literal", 16, 4, 13),
        ("dp-bai", "printed", 64, 8, 97),
        ("dp-bai", "consistent", 40, 3, 200),
        ("baseline", "consistent", 40, 3, 200),
        ("baseline", "printed", 12, 5, 100),
    ]:
        bandit, chosen = generic(arms, dimension, seed=arms), {"schedule": schedule}
        found = played(algorithm, 1.0, bandit, budget, interpretations=chosen)
        budgets, pulls = phase_totals(arms, dimension, schedule, algorithm == "dp-bai")
        assert found.total_pulls[0] == pulls[budgets == budget].item()


def test_the_bound_on_od_linbai_holds_for_its_kernel() -> None:
    for arms, dimension in [(2, 2), (9, 2), (20, 3), (30, 5), (40, 8)]:
        bandit = generic(arms, dimension, seed=dimension)
        budgets, most = worst_design_totals(arms, dimension)
        for budget in (int(budgets[0]), int(budgets[0]) + 3, 300, 1001):
            found = played("od-linbai", 1.0, bandit, budget, runs=5)
            assert found.total_pulls.max() <= most[budgets == budget].item() <= budget - 1


def test_the_bound_on_od_linbai_is_attained() -> None:
    """Section 5 and Appendix E.2: T - 1 of two arms at odd T; one arm in one dimension."""
    for arms, dimension in ((2, 1), (2, 2), (30, 2)):
        budgets, most = worst_design_totals(arms, dimension)
        np.testing.assert_array_equal(most, budgets - 1)
    generator = np.random.default_rng(1)
    budgets, pulls = random_design_totals(np.eye(2), generator)
    np.testing.assert_array_equal(pulls[budgets % 2 == 1], budgets[budgets % 2 == 1] - 1)


def test_limits_of_pure_noise_are_those_of_the_spec() -> None:
    """Section 5, for every omega: 3/8, 21/44 and 1/30; Appendix E.2: 1/2 for two arms."""
    for draw in range(20):
        features, means = section5(draw=draw).feature_matrix, section5(draw=draw).means
        # BAI-F12: the Max-Det pair is the best arm and a runner-up.
        assert max_det(features).arms == (0, 2)
        assert means[[0, 2]] == pytest.approx(np.sort(means)[[-1, -2]])
        assert linear_limit(features, (0, 2), (1.0, 1.0)) == pytest.approx(3 / 8, rel=1e-10)
        assert linear_limit(features, (0, 2), (10.0, 1.0)) == pytest.approx(21 / 44, rel=1e-10)
    assert uniform_limit(30) == pytest.approx(1 / 30, rel=1e-10)
    pair = two_armed(ratio=5.0).feature_matrix
    assert linear_limit(pair, (0, 1), (5.0, 1.0)) == pytest.approx(0.5, rel=1e-10)


def test_kernels_tend_to_the_limits() -> None:
    """At epsilon = 1e-7 and T = 100 the means move the noise by less than 1e-4 deviations."""
    for algorithm, limit in (("dp-bai", 3 / 8), ("dp-od", 21 / 44), ("baseline", 1 / 30)):
        found = played(algorithm, 1e-7, section5(), 100, runs=20_000, seed=5)
        assert near(float(found.success.mean()), limit, 20_000)


def test_tails_cross_where_the_spec_says() -> None:
    """BAI-C16, to the digits printed; Gauss is the lighter tail beyond and not before."""
    for delta, level, digits in [(0.5, 7.8e-2, 0.01), (0.1, 1.5e-6, 0.04), (1e-5, 5e-37, 0.1)]:
        found = crossing(delta)
        assert math.exp(found) == pytest.approx(level, rel=digits)
        grid = np.linspace(0.01, 200.0, 5000)
        logs = log_tail_of_two(grid)
        beyond = logs < found - 1e-9
        assert (log_gauss_tail(grid[beyond], delta) < logs[beyond]).all()
        before = logs > found + 1e-9
        assert (log_gauss_tail(grid[before], delta) > logs[before]).all()


@pytest.mark.parametrize(("arms", "dimension"), [(30, 2), (100, 4), (10_000, 16), (8, 8)])
def test_the_theorem_follows_from_its_proof_from_the_asymptotic_budget(
    arms: int, dimension: int
) -> None:
    """(12 M + 4 M1 lambda) exp(-T' / (64 M H)) is the bound there, and below it beyond."""
    schedule, hard = phase_schedule(arms, dimension), Hardness(1000.0, 100.0)
    early = 4 * schedule.early_phases * schedule.shrinkage if schedule.early_phases else 0.0

    def proof(budget: float) -> float:
        exponent = (budget - schedule.reserved) / (64 * schedule.phases * hard.total)
        return (12 * schedule.phases + early) * math.exp(-exponent)

    found = Bounds(schedule, arms, hard)
    start = found.applies_from
    # Exponents are in the hundreds at most: rounding is far below 1e-9.
    assert proof(start) == pytest.approx(found.theorem(start), rel=1e-9)
    assert proof(1.01 * start) < found.theorem(1.01 * start)
    assert proof(0.99 * start) > found.theorem(0.99 * start)


def test_the_union_bound_gives_that_of_the_theorem_from_a_budget_on() -> None:
    """C12, F8: below it the union bound is the larger one, from there on the smaller one."""
    for instance in JUDGED:
        found = bounds(instance, 1.0)
        above, below = 1.001 * found.follows_from, 0.999 * found.follows_from
        assert found.union(above) < found.theorem(above)
        assert found.union(below) > found.theorem(below)
        # What is simulated far out, where the bound follows.
        assert FAR[instance] >= found.follows_from


LARGE = st.floats(1.0, 1e6)


@given(LARGE, LARGE, st.floats(1e-12, 0.999), st.integers(2, 64))
def test_boundaries_are_where_exponents_are_equal(
    identification: float, privacy: float, delta: float, dimension: int
) -> None:
    """dp-bai, Theorem 4.2: B >= A from T_A on, B < C below T_C."""
    hard = Draws(np.array([identification]), np.array([privacy]), np.array([dimension]))
    tight, even = boundaries(delta, Hardness(identification, privacy), dimension)
    # Both sides are products of a handful of factors.
    at_tight, at_even = hard.exponents(tight, delta), hard.exponents(even, delta)
    assert at_tight.gauss_privacy == pytest.approx(at_tight.laplace, rel=1e-12)
    assert at_even.gauss_privacy == pytest.approx(at_even.identification, rel=1e-12)
    for budget, row in ((tight * (1 - 1e-9), 2), (even * (1 + 1e-9), 0)):
        met = conditions(hard.exponents(budget, delta), delta)
        assert met[:, 0].tolist() == [place == row for place in range(4)]
    # At delta = 0 the bound of DP-BAI-Gauss says nothing, in a row of its own.
    without = hard.exponents(1e9, 0.0)
    assert without.gauss == [0.0]
    assert conditions(without, 0.0)[:, 0].tolist() == [False, False, False, True]
