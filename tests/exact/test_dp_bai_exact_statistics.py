"""What the claims and findings of dp-bai read of its audits, its enumeration and pure noise."""

import math
from typing import Any

import numpy as np
import pytest

import dpbandits
from dpbandits.auditing.best_arm import (
    difference_loss,
    dp_od_scales,
    tree_chances,
    tree_loss,
    unit_vectors,
)
from dpbandits.claims.evidence import Evidence
from dpbandits.papers.dp_bai import exact_statistics
from dpbandits.papers.dp_bai.instances import section5
from shared import ExactResults

FRAMES = ExactResults("dp-bai")
EVIDENCE = Evidence.of_frames(FRAMES, root_seed=1)
rows, at = FRAMES.rows, FRAMES.at


@pytest.mark.parametrize(
    ("where", "low", "high"),
    [
        ({"algorithm": "dp-bai"}, 1 - 1e-9, 1 + 1e-9),
        ({"algorithm": "dp-bai", "is_admissible": False}, 1 - 1e-9, 1 + 1e-9),
        ({"algorithm": "baseline"}, 0.6, 1.0),
        ({"algorithm": "baseline", "is_admissible": False}, 0.99, 1.0),
        ({"algorithm": "dp-od", "norm": "l2", "features": ["axis-aligned"]}, 0.99, 1.0),
        ({"algorithm": "dp-od", "norm": "l2", "features": ["diagonal"]}, 1.41, math.sqrt(2)),
        ({"algorithm": "dp-od", "norm": "l2"}, 1.41, math.sqrt(2)),
        ({"algorithm": "dp-od", "norm": "l1"}, 0.99, 1.0),
        ({"algorithm": "dp-bai", "is_admissible": False, "largest_reward": 1.1}, 1.0999, 1.1001),
        ({"algorithm": "baseline", "is_admissible": False, "largest_reward": 1.1}, 1.09, 1.1),
    ],
)
def test_losses_are_what_the_formulas_expect(where: Any, low: float, high: float) -> None:
    """Of DP-BAI at most epsilon, of DP-OD up to sqrt(2) epsilon with the Euclidean norm."""
    found = exact_statistics.privacy_losses(EVIDENCE, **where)
    assert set(found) == {f"epsilon={epsilon}" for epsilon in ("0.1", "0.5", "1", "2", "5")}
    assert all(low <= each.value <= high for each in found.values())


def test_features_that_no_instance_of_the_paper_has_are_kept_apart() -> None:
    """The four diagonals lose sqrt(2) epsilon; so does L by l1 where the basis is turned."""
    own: dict[str, Any] = {"algorithm": "dp-od", "is_admissible": False}
    square = exact_statistics.privacy_losses(EVIDENCE, **own, norm="l2", features=["square"])
    assert all(each.value == pytest.approx(math.sqrt(2)) for each in square.values())
    turned = exact_statistics.privacy_losses(EVIDENCE, **own, norm="l1", features=["turned"])
    assert all(1.38 < each.value < math.sqrt(2) for each in turned.values())
    admissible = rows("privacy-loss", is_admissible=1.0)
    assert admissible["arms"].min() == 3
    assert set(admissible["largest_reward"]) == {1.0}
    assert not set(admissible["features"]) & {"square", "turned", "angle", "search"}


def test_losses_are_at_the_pulls_of_the_spec() -> None:
    """At T = 12, epsilon = 1: ceil((T - 2)/2) = 5 pulls of each arm, Baseline in one
    dimension ceil((T - 1)/2) = 6. Two phases: T' = T - 4 over 6 and 4, T - 8 over 8 and 4."""
    tags: dict[str, Any] = {"epsilon": 1.0, "largest_reward": 1.0, "output": "recommended arm"}
    for algorithm in ("dp-bai", "baseline"):
        found = at("privacy-loss", algorithm=algorithm, arms=2, dimension=2, x=12, **tags)
        assert found == pytest.approx(1 + math.log(6 / 7), rel=1e-12)
    found = at("privacy-loss", algorithm="baseline", arms=2, dimension=1, x=12, **tags)
    assert found == pytest.approx(1 + math.log(7 / 8), rel=1e-12)
    for arms, dimension, budget, pulls in ((3, 2, 12, (2, 2)), (4, 4, 24, (2, 4))):
        own = {"algorithm": "dp-bai", "arms": arms, "dimension": dimension, "x": budget}
        own["features"] = "any"
        expected = tree_loss(tree_chances(arms, pulls, 1.0), sequence=False).value
        assert at("privacy-loss", **own, **tags) == pytest.approx(expected, rel=1e-12)
    own = {"algorithm": "dp-od", "norm": "l2", "features": "angle", "x": 224.0}
    scales = dp_od_scales(unit_vectors(46.0, 224.0), "l2")
    expected = difference_loss(500, 1.0, scales=scales).value
    assert at("privacy-loss", **own) == pytest.approx(expected, rel=1e-12)


def test_loss_of_axis_aligned_dp_od_falls_with_the_ratio() -> None:
    """The limit is epsilon / (L max|w|), here 1 over y/x."""
    for ratio in (2.0, 5.0, 20.0):
        tags: dict[str, Any] = {"features": "axis-aligned", "norm": "l2", "epsilon": 1.0}
        found = at("privacy-loss", ratio=ratio, x=10_002, largest_reward=1.0, arms=2, **tags)
        assert found == pytest.approx(1.0 / ratio, rel=1e-9)


def test_deltas_of_gauss_are_as_reported() -> None:
    """C24: fine up to 2; at 5 three arms need more than their delta where it is 0.3 to 0.42."""
    asked = exact_statistics.needed_deltas(EVIDENCE, epsilons="asked")
    assert [point for point, each in asked.items() if each.value > 1.0] == [
        f"epsilon=5, delta={delta}" for delta in (0.3, 0.38, 0.42)
    ]
    assert asked["epsilon=5, delta=0.38"].value == pytest.approx(1.08239, abs=1e-5)
    assert asked["epsilon=2, delta=0.5"].value < 0.5
    for (epsilon, delta), expected in {
        (5, 0.3): 1.01179,
        (5, 0.42): 1.06491,
        (5, 0.5): 0.96717,
        (8, 0.1): 2.35848,
        (8, 1e-5): 0.79706,
        (10, 0.01): 4.05781,
        (20, 1e-5): 152.66947,
    }.items():
        found = exact_statistics.needed_delta_at(EVIDENCE, epsilon=epsilon, delta=delta)
        assert found.value == pytest.approx(expected, abs=1e-5)
    at_five: dict[str, Any] = {"epsilon": 5, "delta": 0.38}
    binary = exact_statistics.needed_delta_at(EVIDENCE, **at_five, tables="binary")
    line = exact_statistics.needed_delta_at(EVIDENCE, **at_five, instance="line")
    assert binary.value == line.value == pytest.approx(1.08239, abs=1e-5)
    assert exact_statistics.needed_delta_at(EVIDENCE, **at_five, instance="plane").value < 1.0
    for epsilons in ("asked", "larger"):
        exactly = exact_statistics.needed_deltas(
            EVIDENCE, epsilons=epsilons, calibration="analytic"
        )
        assert max(each.value for each in exactly.values()) <= 1.0 + 1e-9


def test_the_smallest_epsilon_that_refutes_is_where_the_need_passes_delta() -> None:
    """By bisection of the formula apart from the pipeline, at each delta and over all of them."""
    first = exact_statistics.first_refuted_epsilon(EVIDENCE).value
    assert first == pytest.approx(4.70229, abs=1e-5)
    by_delta = exact_statistics.first_refuted_epsilons(EVIDENCE)
    expected = {1e-6: 8.78209, 1e-5: 8.41977, 0.01: 6.77181, 0.1: 5.74259, 0.42: 4.70300}
    assert {point: each.value for point, each in by_delta.items()} == pytest.approx(
        {f"delta={delta:g}": epsilon for delta, epsilon in expected.items()}, abs=1e-5
    )
    curve = rows("gauss-privacy", epsilons="curve")
    assert curve[curve["y"] > 1.0]["x"].min() == pytest.approx(4.75)


def test_crossings_and_limits_are_read() -> None:
    """F5 and F2."""
    errors = exact_statistics.crossing_errors(EVIDENCE)
    assert [point for point, each in errors.items() if each.value < 1e-5] == [
        "delta=1e-05",
        "delta=0.01",
        "delta=0.1",
    ]
    ratios = exact_statistics.deviation_ratios(EVIDENCE)
    below = {point for point, each in ratios.items() if each.value < 1.0}
    assert below == {"delta=0.5", "delta=0.9"}
    limits = {"dp-bai": 3 / 8, "dp-od": 21 / 44, "baseline": 1 / 30}
    for algorithm, limit in limits.items():
        tags = {"quantity": "limit", "instance": "section5", "algorithm": algorithm}
        assert at("pure-noise", **tags) == pytest.approx(limit, rel=1e-10)


def test_thresholds_are_where_the_tails_have_that_error() -> None:
    """In closed form for Laplace: exp(-c) (1/2 + c/4)."""
    found = rows("pure-noise", quantity="threshold", algorithm="dp-bai")
    c = found["y"].to_numpy()
    np.testing.assert_allclose(np.exp(-c) * (0.5 + c / 4), found["x"], rtol=1e-9)


def test_overruns_are_read() -> None:
    """F1, by the statistics that its entry names."""
    own = {"algorithm": "dp-bai", "schedule": "consistent"}
    assert exact_statistics.overrun(EVIDENCE, **own, quantity="overruns").value == 32_103
    assert exact_statistics.overrun(EVIDENCE, **own, quantity="triples").value == 4_729_500
    assert exact_statistics.overrun(EVIDENCE, **own, quantity="worst").value == 45
    first = exact_statistics.first_overruns(EVIDENCE, **own)
    assert next(iter(first)) == "K=4, d=2, T=3"
    none = {"algorithm": "od-linbai", "schedule": "bound"}
    assert exact_statistics.overrun(EVIDENCE, **none, quantity="overruns").value == 0
    assert list(exact_statistics.first_overruns(EVIDENCE, **none)) == ["none"]


def test_pulls_on_the_instances_of_the_paper_are_those_of_the_kernels() -> None:
    """F1: T - 2 at even T and T - 1 at odd with DP-BAI, T + 20 with Baseline on 30 arms."""
    for algorithm in ("dp-bai", "baseline", "dp-od"):
        for budget in (100, 1000):
            trials = dpbandits.identify(
                algorithm=algorithm,
                params={"epsilon": 1.0},
                bandit=section5(),
                budget=budget,
                runs=1,
                seed=1,
            )
            tags = {"quantity": "section5", "algorithm": algorithm, "schedule": "consistent"}
            if algorithm == "dp-od":
                tags |= {"algorithm": "od-linbai", "schedule": "random features"}
            assert trials.pulls.sum() - budget == at("overshoot", **tags, x=budget)
    worst = {"algorithm": "dp-bai", "schedule": "consistent"}
    for quantity in ("worst on section5", "worst on two-armed"):
        assert exact_statistics.overrun(EVIDENCE, **worst, quantity=quantity).value == -1
