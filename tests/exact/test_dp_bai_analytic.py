"""Analytic results of dp-bai: format, printed numbers, and what the exact claims read."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpbandits
from dpbandits.algorithms.best_arm.designs import max_det
from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.claims.evidence import Evidence
from dpbandits.papers.dp_bai import exact_statistics
from dpbandits.papers.dp_bai.analytic import ANALYTIC, LAWS, max_det_factor, variance_factors
from dpbandits.papers.dp_bai.instances import INSTANCES, section5
from dpbandits.papers.dp_bai.schedules import VIOLATIONS, contradictions, halves, violations
from shared import ExactResults
from support import mostly_slow

FRAMES = ExactResults("dp-bai")
EVIDENCE = Evidence.of_frames(FRAMES, root_seed=1)
rows, at = FRAMES.rows, FRAMES.at


@pytest.mark.parametrize(
    "name", mostly_slow(["max-det", "table1-grid", "instances"], "table1-grid", "instances")
)
def test_random_draws_come_from_fixed_seeds(name: str) -> None:
    pd.testing.assert_frame_equal(ANALYTIC[name](), FRAMES[name])


# dp-bai, Appendix B.


@pytest.mark.parametrize(
    ("schedule", "sizes", "early", "phases"),
    [
        ("consistent", [10_000, 423, 77, 64, 32, 16, 8, 4, 2, 1], 3, 9),
        ("literal", [10_000, 423, 77, 32, 16, 8, 4, 2, 1, 0], 3, 8),
        ("printed", [10_000, 423, 77, 64, 32, 16, 8, 4, 2, 1], 4, 10),
    ],
)
def test_appendix_b_is_that_of_the_spec(
    schedule: str, sizes: list[int], early: int, phases: int
) -> None:
    found = rows("appendix-b", schedule=schedule)
    assert rows("appendix-b", schedule=schedule, quantity="size")["y"].tolist() == sizes
    numbers = {"g0": 64, "h0": 9936, "M1": early, "M": phases}
    for quantity, value in numbers.items():
        assert at("appendix-b", schedule=schedule, quantity=quantity) == value
    assert at("appendix-b", schedule=schedule, quantity="lambda") == pytest.approx(27.64963, 2e-7)
    ratios = found[found["quantity"] == "ratio"]["y"].tolist()
    assert ratios[:2] == pytest.approx([9936 / 359, 359 / 13])
    assert ratios[2] == (math.inf if schedule != "literal" else (77 - 64) / (32 - 64))


def test_verdicts_on_appendix_b_are_those_of_the_spec() -> None:
    """dp-bai, Appendix B: M1, M, the first size and all ratios deviate; the rest is verified."""
    found = rows("appendix-b", schedule="consistent", verdict="deviates")
    assert list(zip(found["quantity"], found["x"], strict=True)) == [
        ("M1", 0),
        ("M", 0),
        ("size", 1),
        ("ratio", 2),
        ("ratio", 3),
        ("ratio", 4),
    ]
    assert rows("appendix-b", schedule="printed", verdict="agrees")["quantity"].tolist()[3:5] == [
        "M1",
        "M",
    ]


def test_printed_ratios_stand_one_row_too_low() -> None:
    """dp-bai, Appendix B: 27.68 and 27.62 are those of p = 2 and 3, 27.65 is lambda itself."""
    ratios = rows("appendix-b", schedule="consistent", quantity="ratio")
    assert ratios["y"].round(2).tolist()[:2] == ratios["printed"].tolist()[1:]
    shrinkage = at("appendix-b", schedule="consistent", quantity="lambda")
    assert round(shrinkage, 2) == ratios["printed"].tolist()[0]


# Number of phases (C22).


def test_phases_keep_to_their_limits() -> None:
    """Both sides of the order, and the two inequalities of the upper one."""
    for quantity in VIOLATIONS:
        assert exact_statistics.phase_violations(EVIDENCE, quantity=quantity).value == 0
    assert exact_statistics.phase_violations(EVIDENCE, quantity="schedules").value > 50_000
    assert at("phase-counts", quantity="phases", x=16, arms="10000") == 9
    assert at("phase-counts", quantity="limit", x=16, arms="10000") == pytest.approx(12.7726, 1e-5)


def test_a_schedule_beyond_the_limits_is_counted() -> None:
    """Negative control: more early phases, slower shrinking, too few phases in all."""
    right = phase_schedule(10_000, 16)
    assert violations(right, 16) == ["schedules"]
    longer, shorter = (replace(right, sizes=right.sizes[:1] * (n + 1)) for n in (14, 3))
    assert violations(longer, 16) == ["schedules", "above limit"]
    assert violations(shorter, 16) == ["schedules", "below log2 d"]
    assert violations(replace(right, early_phases=5), 16) == ["schedules", "early above"]
    slower = replace(right, shrinking=(9936, 900, 40, 0))
    assert violations(slower, 16) == ["schedules", "shrinking above"]


# Baseline (C20).


def test_baseline_halves_and_keeps_the_best() -> None:
    for quantity in ("unequal pulls", "wrong arms", "late not halved", "small not halved"):
        assert exact_statistics.baseline_structure(EVIDENCE, quantity=quantity).value == 0
    assert exact_statistics.baseline_structure(EVIDENCE, quantity="phases").value == 200
    assert halves((30, 15, 8, 4, 2, 1))
    assert not halves((30, 16, 8, 4, 2, 1))


def test_a_trial_that_is_no_halving_is_counted() -> None:
    """Negative control: DP-BAI pulls two of thirty arms; another arm is recommended."""
    found = {
        algorithm: dpbandits.identify(
            algorithm=algorithm,
            params={"epsilon": math.inf},
            bandit=section5(),
            budget=500,
            runs=1,
            seed=1,
        ).trace
        for algorithm in ("baseline", "dp-bai")
    }
    assert contradictions(found["baseline"]) == ["phases"]
    assert contradictions(found["dp-bai"]) == ["phases", "unequal pulls"]
    other = (found["baseline"].recommended + 1) % 30
    assert contradictions(replace(found["baseline"], recommended=other)) == ["phases", "wrong arms"]


# Max-Det (C10, C23).


def test_coefficients_do_not_exceed_one() -> None:
    """C10: ten thousand sets, ranks 1 to 6, and where not all subsets are tried."""
    assert rows("max-det", quantity="sets")["y"].sum() == 10_000
    assert set(rows("max-det", quantity="sets")["rank"]) == {1, 2, 3, 4, 5, 6}
    searched = rows("max-det", quantity="searched")["y"].sum()
    assert 6000 < searched < 9800
    for found_by, number in (("searched", searched), ("exchanged", 10_000 - searched)):
        assert exact_statistics.coefficients_above(EVIDENCE, found_by=found_by).value == 0
        assert exact_statistics.sets_of_features(EVIDENCE, found_by=found_by).value == number
    assert exact_statistics.largest_coefficient(EVIDENCE).value == pytest.approx(1.0, abs=1e-8)


def test_other_subsets_have_coefficients_above_one() -> None:
    """Negative control of C10: the first r arms in place of the Max-Det collection."""
    generator = np.random.default_rng(7)
    features = LAWS["normal"](generator, 12, 3)
    assert np.abs(features @ np.linalg.inv(features[:3])).max() > 1.0
    assert np.abs(max_det(features).coefficients).max() <= 1.0 + 1e-12


def test_the_pair_of_section_5_is_its_best_arm_and_a_runner_up() -> None:
    """BAI-F12: |det(a_1, a_3)| = 10, and of any other pair 9 at most as omega is at most 0.8."""
    pairs = {tuple(sorted(max_det(section5(draw=d).feature_matrix).arms)) for d in range(50)}
    assert pairs == {(0, 2)}
    means = section5().means
    assert means.argmax() == 0
    assert means[2] == pytest.approx(np.sort(means)[-2], abs=1e-12)


def test_max_det_is_not_the_subset_of_least_noise() -> None:
    """C23: in some of the 1000 sets another subset has a smaller v; v is at most the rank."""
    found = {each: at("max-det", quantity=each, rank=0) for each in ("smaller", "above rank")}
    assert found["smaller"] == 125
    assert found["above rank"] == 0
    for quantity, value in {"smaller": found["smaller"], "less injected": 0}.items():
        assert exact_statistics.compared_sets(EVIDENCE, quantity=quantity).value == value
    # 1000 pulls of a phase on at most 4 arms, or on 12.
    assert at("max-det", quantity="injected ratio", rank=0) == pytest.approx(84 / 250)
    for quantity, value in found.items():
        assert exact_statistics.compared_sets(EVIDENCE, quantity=quantity).value == value
    assert at("max-det", quantity="compared sets", rank=0) == 1000
    assert at("max-det", quantity="median ratio", rank=0) == pytest.approx(1.0, abs=1e-9)
    assert 1.0 < at("max-det", quantity="largest ratio", rank=0) < 1.5
    # 2 v r^2 against 2 s^2: less than pulling all twelve arms throughout.
    assert at("max-det", quantity="noise ratio", rank=0) < 1.0


def test_variance_factors_are_those_of_every_subset() -> None:
    features = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0], [2.0, 0.0]])
    expected = []
    for subset in itertools.combinations(range(4), 2):
        base = features[list(subset)]
        if abs(np.linalg.det(base)) > 0:
            weights = [np.linalg.solve(base.T, row) for row in features]
            expected.append(max(float(each @ each) for each in weights))
    found = variance_factors(features)
    np.testing.assert_allclose(np.sort(found), np.sort(expected))
    # Largest volume: the last and the second arm.
    assert max_det_factor(features) == pytest.approx(1.0)


# Instances (C19) and rounds (C21).


def test_section_5_has_the_gaps_of_the_spec() -> None:
    """C19: arms 2 and 3 at 0.05, all others above, rewards in [0, 1], whatever the omegas."""
    for quantity in ("gap 2", "gap 3"):
        found = exact_statistics.draws_of_section5(EVIDENCE, quantity=quantity)
        assert max(each.value for each in found.values()) < 1e-15
    others = exact_statistics.draws_of_section5(EVIDENCE, quantity="smallest other gap")
    assert others["section5 draws"].value >= others["section5 limit"].value
    assert others["section5 limit"].value == pytest.approx(0.055)
    rewards = exact_statistics.draws_of_section5(EVIDENCE, quantity="largest reward")
    assert {each.value for each in rewards.values()} == {1.0}


def test_instances_are_described_as_they_are() -> None:
    omegas = rows("instances", instance="section5", quantity="omega")
    assert omegas["x"].tolist() == list(range(4, 31))
    np.testing.assert_array_equal(omegas["y"], section5().feature_matrix[3:, 1])
    assert at("instances", instance="two-armed, y/x=5", quantity="H_BAI") == pytest.approx(800)
    rewards = rows("instances", instance="two-armed, y/x=5", quantity="largest reward")
    # BAI-E7: arm 1 of I-B leaves the unit interval.
    np.testing.assert_allclose(rewards["y"], [1.1, 1.0])


def test_dp_od_has_one_round_on_the_instances_of_the_paper() -> None:
    """C21; three on ours of rank 6 and 8 (Yang and Tan, 2022)."""
    for instance, number in (("two-armed", 8), ("section5", 2)):
        found = exact_statistics.rounds_of_dp_od(EVIDENCE, instance=instance)
        assert len(found) == number
        assert {each.value for each in found.values()} == {1.0}
    assert rows("rounds", instance="section5 draws")["draws"].tolist() == [1000]
    assert at("rounds", instance="sphere") == at("rounds", instance="standard-basis") == 3


@pytest.mark.parametrize("instance", ["section5", "sphere"])
def test_rounds_are_those_of_the_kernel(instance: str) -> None:
    runs = dpbandits.identify(
        algorithm="dp-od",
        params={"epsilon": 1.0},
        bandit=INSTANCES[instance](),
        budget=500,
        runs=1,
        seed=1,
    )
    assert len(runs.trace.phases) == at("rounds", instance=instance)
