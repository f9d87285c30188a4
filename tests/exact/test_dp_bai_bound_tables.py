"""Table 1 of dp-bai and the bounds on the grids of its figures, and what claims read of them."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.algorithms.best_arm.eliminations import phase_schedule
from dpbandits.claims.evidence import Evidence
from dpbandits.papers.dp_bai import exact_statistics
from dpbandits.papers.dp_bai.instances import section5, two_armed
from dpbandits.papers.dp_bai.theory import (
    exponents,
    hardness,
    instance_hardness,
    theorem_bound,
    union_bound,
    union_budget,
)
from shared import ExactResults

FRAMES = ExactResults("dp-bai")
EVIDENCE = Evidence.of_frames(FRAMES, root_seed=1)
rows, at = FRAMES.rows, FRAMES.at


# Table 1 (C15), regimes.


def test_table_1_is_exhaustive_exclusive_and_right() -> None:
    """C15; every row is met by some draws, so that there was something to refute."""
    assert exact_statistics.misplaced_draws(EVIDENCE).value == 0
    for row in (1, 2, 3, 4):
        assert exact_statistics.lost_draws(EVIDENCE, row=row).value == 0
    met = [at("table1-grid", quantity="met", x=row) for row in (1, 2, 3)]
    assert min(met) > 10_000
    assert sum(met) == at("table1-grid", quantity="draws") == 1_000_000


def test_regimes_of_the_instances_follow_their_boundaries() -> None:
    for instance, epsilon in (("section5", 0.1), ("two-armed", 0.01)):
        tags: dict[str, Any] = {"instance": instance, "epsilon": epsilon}
        for delta in (1e-5, 0.5):
            start = at("regimes", quantity="T_C", x=delta, **tags)
            even = at("regimes", quantity="T_A", x=delta, **tags)
            kinds = rows("regimes", quantity="regime", delta=delta, **tags)
            expected = [3 - (budget >= start) - (budget >= even) for budget in kinds["x"]]
            assert kinds["y"].tolist() == expected
    curve = rows("regimes", quantity="delta_A", instance="two-armed", epsilon=0.01)
    hard = hardness(two_armed(ratio=1.0).means, 2, 0.01)
    unit = hard.identification / (hard.privacy**2 * math.log(2))
    np.testing.assert_allclose(curve["y"], 1.25 * np.exp(-unit * curve["x"]), rtol=1e-9)
    assert rows("regimes", quantity="row")["tick"].tolist() == [
        "DP-BAI-Gauss",
        "",
        "DP-BAI",
        "DP-BAI",
    ]


def test_exponents_of_the_two_armed_instance() -> None:
    """A = T/(800 log 2), C = T/((800 + 40/eps) log 2) at T = 1000, eps = 0.5."""
    tags = {"instance": "two-armed", "epsilon": 0.5, "delta": 0.1, "x": 1000}
    log2 = math.log(2.0)
    assert at("regimes", quantity="A", **tags) == pytest.approx(1000 / (800 * log2))
    assert at("regimes", quantity="C", **tags) == pytest.approx(1000 / (880 * log2))
    expected = (1000 / (math.sqrt(math.log(12.5)) * 80 * log2)) ** 2
    assert at("regimes", quantity="B", **tags) == pytest.approx(expected)


# Bounds (C12).


def test_bounds_cover_the_grids_and_are_the_formulas() -> None:
    """Figures 1 and 2 and the corner; the bounds themselves are tested beside ``hardness``."""
    tags: dict[str, Any] = {"bound": "theorem", "against": "budget"}
    section = rows("bounds", instance="section5", **tags)
    wanted = set(itertools.product((100, 200, 400, 800, 1600, 3200, 6400), (0.1, 1.0)))
    wanted |= {(1000, epsilon) for epsilon in (0.01, 0.02, 0.05, 0.2, 0.5, 2, 5, 10, 20, 50, 100)}
    wanted |= {(100, epsilon) for epsilon in (0.001, 0.002, 0.005)}
    assert wanted <= set(zip(section["horizon"], section["epsilon"], strict=True))
    pair = rows("bounds", instance="two-armed", **tags)
    wanted = set(itertools.product((200, 500, 1000, 2000, 5000, 10_000), (0.1, 0.5, 1.0)))
    assert wanted <= set(zip(pair["horizon"], pair["epsilon"], strict=True))
    found = rows("bounds", instance="two-armed", epsilon=0.5, horizon=1000, **tags).iloc[0]
    assert found["y"] == pytest.approx(math.exp(-998 / (65 * 880)))
    assert (found["effective_budget"], found["phases"]) == (998, 1)
    assert found["hardness"] == pytest.approx(880.0)
    assert found["applies_from"] > 1e7


def test_the_union_bound_gives_that_of_the_theorem_from_a_budget_on() -> None:
    """C12, F8: below it the union bound is the larger one, from there on the smaller one."""
    for instance, arms, far in (("section5", 30, 400_000), ("two-armed", 2, 80_000)):
        tags: dict[str, Any] = {"instance": instance, "epsilon": 1.0, "against": "budget"}
        last = rows("bounds", bound="theorem", horizon=far, **tags).iloc[0]
        assert last["follows_from"] < far < last["applies_from"]
        assert at("bounds", bound="union", horizon=far, **tags) < last["y"]
        schedule, hard = phase_schedule(arms, 2), instance_hardness(instance, 1.0)
        start = union_budget(schedule, arms, hard)
        for budget, is_smaller in ((1.001 * start, True), (0.999 * start, False)):
            union = union_bound(schedule, arms, 2, budget, hard)
            assert (union < theorem_bound(schedule, budget, hard)) == is_smaller


def test_the_remark_below_table_1_is_contradicted_by_no_draw() -> None:
    """C16 has none; either side of T_C is as the counts have it."""
    quantities = ("A at most C", "turned by T", "turned by delta", "late", "early")
    for quantity in quantities:
        assert exact_statistics.remark_draws(EVIDENCE, quantity=quantity).value == 0
    # B/C is T over T_C: at twice T_C the Gaussian bound leads, at half of it it does not.
    identification, private, delta = 1.0, 7.0, 0.1
    edge = math.log(1.25 / delta) * private**2 * math.log(2.0) / (identification + private)
    for budget, leads in ((2.0 * edge, True), (edge / 2.0, False)):
        found = exponents(budget, delta, identification, private, 2)
        assert bool(found.gauss > found.laplace) == leads


def test_bounds_over_epsilon_are_those_over_the_budget() -> None:
    over = rows("bounds", against="epsilon", bound="union")
    assert over["x"].tolist() == over["epsilon"].tolist()
    tags = {"instance": "section5", "bound": "union", "against": "budget"}
    same = rows("bounds", horizon=1000, **tags)
    assert over["y"].tolist() == same["y"].tolist()


def test_theorem_bound_reads_the_schedule() -> None:
    hard = hardness(section5().means, 2, 0.1)
    tags = {"against": "budget", "epsilon": 0.1, "horizon": 400}
    found = at("bounds", instance="section5", bound="theorem", **tags)
    assert found == pytest.approx(theorem_bound(phase_schedule(30, 2), 400, hard))


def test_errors_of_a_kernel_stay_below_the_theorem() -> None:
    """One point of C12, as a check of the tags: I-B, epsilon = 1, T = 500."""
    bandit = two_armed(ratio=2.0)
    runs = dpbandits.identify(
        algorithm="dp-bai", params={"epsilon": 1.0}, bandit=bandit, budget=500, runs=2000, seed=1
    )
    tags: dict[str, Any] = {"against": "budget", "horizon": 500}
    bound = at("bounds", instance="two-armed", epsilon=1.0, bound="theorem", **tags)
    assert 1.0 - runs.success.mean() < bound < 1.0
