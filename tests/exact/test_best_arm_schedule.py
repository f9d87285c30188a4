"""The phase schedule against the numbers of dp-bai, Section 3.1, Appendix B and Section 5."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_arm_trials import run, task_for
from dpbandits.algorithms.best_arm.eliminations import (
    SCHEDULES,
    halving_schedule,
    phase_schedule,
    rounds_of,
)
from dpbandits.bandits import linear

# Equations 7 and 8: (K, d), lambda, h, then s, M1, M, T - T' as `consistent` and as `literal`.
VECTORS: list[tuple[Any, ...]] = [
    (3, 2, math.e, (2, 1, 0), ((3, 2, 1), 2, 2, 4), ((3, 2, 1), 2, 2, 4)),
    (4, 2, 4.879108, (3, 0), ((4, 1), 1, 1, 2), ((4, 1), 1, 1, 2)),
    (4, 4, 2, (0,), ((4, 2, 1), 0, 2, 8), ((4, 2, 1), 1, 2, 8)),
    (3, 3, 2, (0,), ((3, 2, 1), 0, 2, 6), ((3, 2, 1), 1, 2, 6)),
    (8, 8, 2, (0,), ((8, 4, 2, 1), 0, 3, 48), ((8, 4, 2, 1), 1, 3, 40)),
    (10, 4, 3.641812, (6, 1, 0), ((10, 5, 4, 2, 1), 2, 4, 16), ((10, 5, 2, 1), 2, 3, 12)),
    (100, 4, 26.90955, (96, 3, 0), ((100, 7, 4, 2, 1), 2, 4, 16), ((100, 7, 2, 1), 2, 3, 12)),
    (
        200,
        6,
        18.752923,
        (191, 10, 0),
        ((200, 19, 9, 5, 3, 2, 1), 2, 6, 48),
        ((200, 19, 5, 3, 2, 1), 2, 5, 39),
    ),
    (
        1000,
        8,
        27.499601,
        (984, 35, 1, 0),
        ((1000, 51, 17, 16, 8, 4, 2, 1), 3, 7, 88),
        ((1000, 51, 17, 8, 4, 2, 1), 3, 6, 72),
    ),
    # dp-bai, Section 5 and Appendix E.2, the instances of the paper.
    (30, 2, 128.7640, (29, 0), ((30, 1), 1, 1, 2), ((30, 1), 1, 1, 2)),
    (2, 2, 2, (1, 0), ((2, 1), 1, 1, 2), ((2, 1), 1, 1, 2)),
    # Not in the paper: d = 1 has q = 1 and, for K > 2, an infinite lambda.
    (50, 1, math.inf, (49, 0), ((50, 1), 1, 1, 1), ((50, 1), 1, 1, 1)),
    (2, 1, 2, (1, 0), ((2, 1), 1, 1, 1), ((2, 1), 1, 1, 1)),
]


Found = tuple[tuple[int, ...], int, int, int]


def found(arms: int, dimension: int, interpretation: str) -> Found:
    schedule = phase_schedule(arms, dimension, interpretation)
    return schedule.sizes, schedule.early_phases, schedule.phases, schedule.reserved


def test_schedules_of_the_spec() -> None:
    for arms, dimension, shrinkage, shrinking, stated, literal in VECTORS:
        schedule = phase_schedule(arms, dimension)
        assert schedule.shrinkage == pytest.approx(shrinkage, abs=5e-5)  # printed digits
        assert schedule.shrinking == shrinking
        assert found(arms, dimension, "consistent") == stated
        assert found(arms, dimension, "literal") == literal
        # Last line of dp-bai, Equations 7 and 8.
        sizes, early, phases, reserved = stated
        printed = ((*sizes, 1), early + 1, phases + 1, reserved + dimension)
        assert found(arms, dimension, "printed") == printed


def test_example_of_the_paper() -> None:
    # dp-bai, Appendix B: K = 10,000, d = 16.
    schedule = phase_schedule(10_000, 16)
    assert schedule.late_pulls == 64
    assert schedule.halving == (64, 32, 16, 8, 4, 2, 1)
    assert schedule.shrinking == (9936, 359, 13, 0)
    assert schedule.shrinkage == pytest.approx(27.64963, abs=5e-6)
    assert found(10_000, 16, "consistent") == ((10_000, 423, 77, 64, 32, 16, 8, 4, 2, 1), 3, 9, 432)
    assert found(10_000, 16, "literal") == ((10_000, 423, 77, 32, 16, 8, 4, 2, 1), 3, 8, 368)
    sizes = (10_000, 423, 77, 64, 32, 16, 8, 4, 2, 1, 1)
    assert found(10_000, 16, "printed") == (sizes, 4, 10, 448)


# dp-bai, Appendix B: arms pulled and pulls of each, T = 20,000, for generic features.
PULLS = {
    "consistent": "16x136 16x136 77x29 64x34 32x68 16x136 8x272 4x544 2x1088",
    "literal": "16x154 16x154 77x32 32x77 16x154 8x307 4x614 2x1227",
    "printed": "16x123 16x123 77x26 64x31 32x62 16x123 8x245 4x489 2x978 1x1956",
}
TOTALS = {"consistent": 19_641, "literal": 19_686, "printed": 19_702}


@pytest.mark.parametrize("interpretation", SCHEDULES)
def test_pulls_of_the_example(interpretation: str) -> None:
    generator = np.random.default_rng(1)
    features = generator.normal(size=(10_000, 16))
    features[:, 0] = 10.0
    bandit = linear(features, np.r_[0.05, np.full(15, 0.005)])
    first = run("dp-bai", task_for("dp-bai", bandit, 20_000, {"schedule": interpretation})).first
    played = [f"{phase.arms.size}x{set(phase.pulls.tolist()).pop()}" for phase in first.phases]
    assert " ".join(played) == PULLS[interpretation]
    assert first.pulls(10_000).sum() == TOTALS[interpretation]


@given(
    arms=st.integers(2, 20_000),
    dimension=st.integers(1, 200),
    interpretation=st.sampled_from(list(SCHEDULES)),
)
def test_properties_of_a_schedule(arms: int, dimension: int, interpretation: str) -> None:
    schedule = phase_schedule(arms, dimension, interpretation)
    sizes, early = schedule.sizes, schedule.early_phases
    assert sizes[0] == arms
    assert sizes[-1] == 1
    assert len(sizes) == schedule.phases + 1
    repeated = 1 if interpretation == "printed" else 0
    assert sum(a == b for a, b in itertools.pairwise(sizes)) == repeated
    assert list(sizes) == sorted(sizes, reverse=True)
    assert schedule.late_pulls == math.ceil(dimension**2 / 4)
    assert 0 <= early <= schedule.phases
    assert schedule.shrinkage >= 2
    # T' = T - M1 d - (M - M1) q.
    late = schedule.phases - early
    assert schedule.reserved == early * dimension + late * schedule.late_pulls
    if interpretation == "consistent":
        # BAI-E1: what the proof of App. G needs. The slack is that of the rounded lambda.
        assert (early == 0) == (arms <= schedule.late_pulls)
        rest = [size - schedule.halving[0] + 1 for size in sizes[: early + 1]]
        for before, after in itertools.pairwise(rest):
            assert before / after <= schedule.shrinkage * (1 + 1e-9)


@given(excess=st.integers(2, 10**6), dimension=st.integers(2, 200))
def test_shrinkage_is_the_smallest_that_is_allowed(excess: int, dimension: int) -> None:
    schedule = phase_schedule(excess + math.ceil(dimension**2 / 4), dimension)
    power, goal = math.log(dimension), math.log(excess)
    assert power * math.log(schedule.shrinkage) >= goal - 1e-9
    smaller = schedule.shrinkage * (1 - 1e-6)
    assert smaller < 2 or power * math.log(smaller) < goal


def test_whole_quotients_are_not_rounded_up() -> None:
    # K - q = 7 and d = 40, lambda = 2 as 2^(log 40) = 12.9: (7 + 1)/2 - 1 = 3, 1, 0.
    schedule = phase_schedule(7 + 400, 40)
    assert schedule.shrinkage == 2
    assert schedule.shrinking == (7, 3, 1, 0)


@given(arms=st.integers(2, 100_000), late_pulls=st.integers(0, 3))
def test_halving_schedule(arms: int, late_pulls: int) -> None:
    # BAI-E4: K, ceil(K/2), ..., 1 with M = ceil(log2 K) phases, T' = T - M for the Baseline.
    schedule = halving_schedule(arms, late_pulls)
    phases = (arms - 1).bit_length()
    assert schedule.sizes == tuple(-(-arms // 2**phase) for phase in range(phases + 1))
    assert schedule.phases == phases
    assert schedule.reserved == phases * late_pulls


def test_rounds_of_od_linbai() -> None:
    table: dict[tuple[int, int], tuple[Any, ...]] = {
        # dp-bai, Section 5 and Appendix E.2: one round; m = T - 3 and m = T - 2.
        (30, 2): ((30, 1), 1, 3, 3),
        (2, 2): ((2, 1), 1, 2, 2),
        # Yang and Tan (2022): rank 1 has one round and m = T - 1.
        (9, 1): ((9, 1), 1, 1, 1),
        # By the formula of Yang and Tan (2022): d_0 = 6, R = 3, m = (T - 21 - 3 - 2) / 3.
        (200, 6): ((200, 3, 2, 1), 3, 26, 21),
        (8, 8): ((8, 4, 2, 1), 3, 8 + 4 + 2, 8),
    }
    for (arms, rank), rounds in table.items():
        assert rounds_of(arms, rank) == rounds
