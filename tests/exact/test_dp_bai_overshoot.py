"""Total pulls of dp-bai's algorithms: printed numbers, a slow enumeration, and the kernels."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms.best_arm.designs import g_optimal, max_det
from dpbandits.algorithms.best_arm.eliminations import SCHEDULES, phase_schedule
from dpbandits.bandits import LinearBandit
from dpbandits.papers.dp_bai.instances import section5
from dpbandits.papers.dp_bai.schedules import (
    Overrun,
    design_rounds,
    design_supports,
    phase_pulls,
    phase_totals,
    random_design_totals,
    sample_designs,
    worst_design_totals,
)
from shared import ExactResults

FRAMES = ExactResults("dp-bai")

# dp-bai, Appendix B, T = 20000: arms times pulls of each, by phase, and the total.
PHASES = {
    "consistent": (
        [
            *((16, 136), (16, 136), (77, 29), (64, 34), (32, 68), (16, 136), (8, 272), (4, 544)),
            (2, 1088),
        ],
        19_568,
        19_641,
    ),
    "literal": (
        [(16, 154), (16, 154), (77, 32), (32, 77), (16, 154), (8, 307), (4, 614), (2, 1227)],
        19_632,
        19_686,
    ),
    "printed": (
        [
            *((16, 123), (16, 123), (77, 26), (64, 31), (32, 62), (16, 123), (8, 245), (4, 489)),
            *((2, 978), (1, 1956)),
        ],
        19_552,
        19_702,
    ),
}


def quantity(algorithm: str, schedule: str, name: str) -> dict[str, Any]:
    """Return the one row of this quantity."""
    kept = FRAMES.rows("overshoot", algorithm=algorithm, schedule=schedule)
    [row] = kept[kept["quantity"] == name].to_dict("records")
    return {str(key): value for key, value in row.items()}


def total(arms: int, dimension: int, schedule: str, budget: int, *, linear: bool) -> int:
    """Return the pulls at one budget."""
    budgets, pulls = phase_totals(arms, dimension, schedule, linear)
    return int(pulls[budgets == budget].item())


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_phases_of_the_worked_example_are_those_of_the_spec(schedule: str) -> None:
    expected, effective, pulls = PHASES[schedule]
    found = phase_schedule(10_000, 16, schedule)
    assert 20_000 - found.reserved == effective
    counts = [phase_pulls(size, 16, linear=True) for size in found.sizes[:-1]]
    phases = [(count, -(-effective // (found.phases * count))) for count in counts]
    assert phases == expected
    assert sum(count * each for count, each in phases) == pulls


def test_section_5_uses_what_the_spec_says() -> None:
    """dp-bai, Section 5 and BAI-E3."""
    for budget in range(3, 500):
        half, thirtieth = -(-(budget - 2) // 2), -(-(budget - 2) // 30)
        assert total(30, 2, "consistent", budget, linear=True) == 2 * half
        assert total(30, 2, "consistent", budget, linear=False) == 30 * thirtieth
    excess = [total(30, 2, "consistent", T, linear=False) - T for T in range(3, 500)]
    assert max(excess) == 27
    assert [total(30, 2, "literal", T, linear=True) for T in (100, 101)] == [98, 100]


@pytest.mark.parametrize("draw", range(10))
def test_arms_that_section_5_pulls_are_those_of_the_spec(draw: int) -> None:
    """Section 5: Max-Det is arms 1 and 3; so is the design, one half each, certificate 2."""
    features = section5(draw=draw).feature_matrix
    found = max_det(features)
    assert found.arms == (0, 2)
    assert abs(np.linalg.det(features[[0, 2]])) == pytest.approx(10.0)
    others = itertools.combinations(range(30), 2)
    volumes = {pair: abs(np.linalg.det(features[list(pair)])) for pair in others}
    assert sorted(volumes.values())[-2] == pytest.approx(volumes[1, 2]) == pytest.approx(9.0)
    np.testing.assert_allclose(found.coefficients[1], [0.9, 0.0], atol=1e-15)
    np.testing.assert_allclose(found.coefficients[3:, 1], 0.1, rtol=1e-13)
    np.testing.assert_allclose(found.coefficients[3:, 0], features[3:, 1], rtol=1e-13)
    weights = g_optimal(features)
    np.testing.assert_allclose(weights[[0, 2]], 0.5, rtol=1e-9)
    inverse = np.linalg.inv((features.T * weights) @ features)
    np.testing.assert_allclose(np.linalg.inv(inverse), np.diag([50.0, 0.5]), atol=1e-9)
    variances = ((features @ inverse) * features).sum(axis=1)
    np.testing.assert_allclose(variances[:3], [2.0, 1.62, 2.0], rtol=1e-9)
    assert variances[3:].max() <= 1.3 + 1e-9


def test_the_smallest_counterexamples_of_the_spec_are_found() -> None:
    """BAI-E3: K = 4, d = 2, T = 3 gives T' = 1 and 4 pulls, T = 7 gives T' = 5 and 8 pulls."""
    assert total(4, 2, "consistent", 3, linear=True) == 4
    assert total(4, 2, "consistent", 7, linear=True) == 8
    kept = FRAMES.rows("overshoot", algorithm="dp-bai", schedule="consistent")
    first = kept[kept["quantity"] == "counterexample"].iloc[0]
    assert (first["arms"], first["dimension"], first["budget"], first["y"]) == (4, 2, 3, 4)


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


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_totals_agree_with_a_slow_enumeration(schedule: str, linear: bool) -> None:
    """Every K up to 26, d up to 8, a few T of each; the squares decide the branch."""
    for arms, dimension in itertools.product((2, 3, 4, 5, 9, 10, 16, 17, 25, 26), range(1, 9)):
        budgets, pulls = phase_totals(arms, dimension, schedule, linear)
        assert slow_total(arms, dimension, schedule, int(budgets[0]) - 1, linear) == 0
        for place in (0, 1, 7, 100, budgets.size - 1):
            expected = slow_total(arms, dimension, schedule, int(budgets[place]), linear)
            assert pulls[place] == expected
        assert budgets[-1] == 5000


def generic(arms: int, dimension: int, seed: int) -> LinearBandit:
    """Return an instance with random features in [0, 1] and means in [0, 1]."""
    features = np.random.default_rng(seed).random((arms, dimension))
    return dpbandits.linear(features, np.full(dimension, 1.0 / dimension))


@pytest.mark.parametrize(
    ("algorithm", "schedule", "arms", "dimension", "budget"),
    [
        ("dp-bai", "consistent", 4, 2, 7),
        ("dp-bai", "consistent", 16, 4, 17),
        ("dp-bai", "literal", 16, 4, 13),
        ("dp-bai", "consistent", 64, 8, 89),
        ("dp-bai", "printed", 64, 8, 97),
        ("dp-bai", "consistent", 40, 3, 200),
        ("baseline", "consistent", 40, 3, 200),
        ("baseline", "printed", 12, 5, 100),
        ("baseline", "literal", 12, 4, 90),
    ],
)
def test_totals_are_those_of_the_kernels(
    algorithm: str, schedule: str, arms: int, dimension: int, budget: int
) -> None:
    """On random features, which are generic but for a null set."""
    found = dpbandits.identify(
        algorithm=algorithm,
        params={"epsilon": 1.0},
        interpretations={"schedule": schedule},
        bandit=generic(arms, dimension, seed=arms),
        budget=budget,
        runs=1,
        seed=1,
    )
    linear = algorithm == "dp-bai"
    assert found.total_pulls[0] == total(arms, dimension, schedule, budget, linear=linear)


@pytest.mark.parametrize(("arms", "dimension"), [(2, 2), (9, 2), (20, 3), (30, 5), (40, 8)])
def test_the_bound_on_od_linbai_holds_for_its_kernel(arms: int, dimension: int) -> None:
    bandit = generic(arms, dimension, seed=dimension)
    budgets, most = worst_design_totals(arms, dimension)
    for budget in (int(budgets[0]), int(budgets[0]) + 3, 300, 1001):
        found = dpbandits.identify(
            algorithm="od-linbai", params={}, bandit=bandit, budget=budget, runs=5, seed=1
        )
        assert found.total_pulls.max() <= most[budgets == budget].item() <= budget - 1


def test_the_bound_on_od_linbai_is_attained() -> None:
    """Section 5 and Appendix E.2: T - 1 of two arms at odd T; one arm in one dimension."""
    for arms, dimension in ((2, 1), (2, 2), (30, 2)):
        budgets, most = worst_design_totals(arms, dimension)
        np.testing.assert_array_equal(most, budgets - 1)
    generator = np.random.default_rng(1)
    budgets, pulls = random_design_totals(np.eye(2), generator)
    np.testing.assert_array_equal(pulls[budgets % 2 == 1], budgets[budgets % 2 == 1] - 1)


def test_rounds_and_supports_are_those_of_yang_and_tan() -> None:
    """R = max(1, ceil(log2 r)), supports min(K, r(r + 1)/2), then ceil(r / 2^r)."""
    assert [design_rounds(rank) for rank in range(1, 9)] == [1, 1, 2, 2, 3, 3, 3, 3]
    assert design_supports(30, 2) == [3]
    assert design_supports(2, 2) == [2]
    assert design_supports(120, 8) == [36, 4, 2]
    assert design_supports(120, 5) == [15, 3, 2]


def test_random_designs_stay_below_the_bound() -> None:
    found = sample_designs()
    assert found.overruns == 0
    assert found.worst[0] <= -1


def test_enumeration_counts_what_it_is_given() -> None:
    found = Overrun()
    found.add(3, 2, np.array([4, 5, 6]), np.array([4, 7, 9]))
    found.add(3, 3, np.array([10, 11]), np.array([9, 11]))
    assert (found.triples, found.overruns) == (5, 2)
    assert found.worst == (3.0, (3, 2, 6, 9))
    assert found.worst_relative == (0.5, (3, 2, 6, 9))
    assert found.first == [(3, 2, 5, 7)]
    assert found.shares == [(3, 2, 2 / 3), (3, 3, 0.0)]


def test_what_the_enumeration_of_c13_finds() -> None:
    """The paper has no number of these: DP-BAI and Baseline overrun (BAI-E3)."""
    for schedule, overruns in (("consistent", 32_103), ("literal", 60_291), ("printed", 10_604)):
        assert quantity("dp-bai", schedule, "overruns")["y"] == overruns
    worst = quantity("dp-bai", "consistent", "worst")
    assert (worst["arms"], worst["dimension"], worst["budget"], worst["y"]) == (64, 8, 89, 45)
    assert slow_total(64, 8, "consistent", 89, linear=True) == 89 + 45
    assert quantity("baseline", "consistent", "share")["y"] == pytest.approx(0.593, abs=5e-4)
    assert quantity("od-linbai", "bound", "overruns")["y"] == 0
    assert quantity("od-linbai", "bound", "worst")["y"] == -1
    # T' > 0 leaves out the first 2 to 90 budgets of each of the 952 pairs (K, d).
    assert 119 * 8 * 4900 < quantity("dp-bai", "consistent", "triples")["y"] < 119 * 8 * 5000
