"""What the claims of dp-bai read of its audits, its enumeration and pure noise.

"spec" is the restatement of dp-bai, "audit spec" that of the audit.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpbandits.claims import Evidence
from dpbandits.papers.dp_bai import exact_statistics
from dpbandits.papers.dp_bai.analytic import ANALYTIC
from dpbandits.papers.dp_bai.audit import difference_loss, dp_od_scales, tree_chances, tree_loss
from dpbandits.papers.dp_bai.privacy_tables import unit_vectors

READ = ("privacy-loss", "gauss-privacy", "pure-noise", "overshoot")
FRAMES = {name: ANALYTIC[name]() for name in READ}
EVIDENCE = Evidence.of_frames(FRAMES, root_seed=1)


def rows(name: str, **where: Any) -> pd.DataFrame:
    """The rows with these tags."""
    frame = FRAMES[name]
    for key, value in where.items():
        frame = frame[frame[key] == value]
    return frame


def at(name: str, **where: Any) -> float:
    """The one y of the rows with these tags."""
    return float(rows(name, **where)["y"].item())


@pytest.mark.parametrize(
    ("algorithm", "norm", "features", "reward", "low", "high"),
    [
        ("dp-bai", "none", "any", 1.0, 1 - 1e-9, 1 + 1e-9),
        ("baseline", "none", "any", 1.0, 0.99, 1.0),
        ("dp-od", "l2", "axis-aligned", 1.0, 0.99, 1.0),
        ("dp-od", "l2", "diagonal", 1.0, 1.41, math.sqrt(2)),
        ("dp-od", "l2", "square", 1.0, math.sqrt(2) - 1e-9, math.sqrt(2) + 1e-9),
        ("dp-od", "l1", "diagonal", 1.0, 0.99, 1.0),
        ("dp-od", "l1", "square", 1.0, 1 - 1e-9, 1 + 1e-9),
        ("dp-bai", "none", "any", 1.1, 1.1 - 1e-9, 1.1 + 1e-9),
        ("baseline", "none", "any", 1.1, 1.09, 1.1),
    ],
)
def test_losses_are_what_the_specs_expect(
    algorithm: str, norm: str, features: str, reward: float, low: float, high: float
) -> None:
    """Spec E7, E8 and C14; audit spec 4.3 (AUD-9 to AUD-11). By epsilon, of all budgets."""
    own = {"algorithm": algorithm, "norm": norm, "features": features}
    found = exact_statistics.privacy_losses(EVIDENCE, **own, largest_reward=reward)
    assert set(found) == {f"epsilon={epsilon}" for epsilon in ("0.1", "0.5", "1", "2", "5")}
    assert all(low <= each.value <= high for each in found.values())
    scaled = exact_statistics.losses_by_reward(EVIDENCE, **own, largest_reward=reward)
    for point, loss in found.items():
        assert scaled[point].value == pytest.approx(loss.value / reward)


def test_losses_are_at_the_pulls_of_the_spec() -> None:
    """Spec C14 at T = 12, epsilon = 1: ceil((T - 2)/2) = 5 pulls of each arm, Baseline in one
    dimension ceil((T - 1)/2) = 6. Two phases (3.4): T' = T - 4 over 6 and 4, T - 8 over 8 and 4."""
    tags: dict[str, Any] = {"epsilon": 1.0, "largest_reward": 1.0, "output": "recommended arm"}
    for algorithm in ("dp-bai", "baseline"):
        found = at("privacy-loss", algorithm=algorithm, arms=2, dimension=2, x=12, **tags)
        assert found == pytest.approx(1 + math.log(6 / 7), rel=1e-12)
    found = at("privacy-loss", algorithm="baseline", arms=2, dimension=1, x=12, **tags)
    assert found == pytest.approx(1 + math.log(7 / 8), rel=1e-12)
    for arms, dimension, budget, pulls in ((3, 2, 12, (2, 2)), (4, 4, 24, (2, 4))):
        own = {"algorithm": "dp-bai", "arms": arms, "dimension": dimension, "x": budget}
        expected = tree_loss(tree_chances(arms, pulls, 1.0), sequence=False).value
        assert at("privacy-loss", **own, **tags) == pytest.approx(expected, rel=1e-12)
    own = {"algorithm": "dp-od", "norm": "l2", "features": "angle", "x": 224.0}
    scales = dp_od_scales(unit_vectors(46.0, 224.0), "l2")
    expected = difference_loss(500, 1.0, scales=scales).value
    assert at("privacy-loss", **own) == pytest.approx(expected, rel=1e-12)


def test_loss_of_axis_aligned_dp_od_falls_with_the_ratio() -> None:
    """Audit spec 4.3: the limit is epsilon / (L max|w|), here 1 over y/x."""
    for ratio in (2.0, 5.0, 20.0):
        tags: dict[str, Any] = {"features": "axis-aligned", "norm": "l2", "epsilon": 1.0}
        found = at("privacy-loss", ratio=ratio, x=10_002, largest_reward=1.0, **tags)
        assert found == pytest.approx(1.0 / ratio, rel=1e-9)


def test_deltas_of_gauss_are_as_reported() -> None:
    """C24: fine up to 2; at 5 some table in [0, 1] needs more than its delta; E9 beyond."""
    own = {"calibration": "classical", "epsilons": "asked"}
    binary = exact_statistics.needed_deltas(EVIDENCE, **own, tables="binary")
    assert max(each.value for each in binary.values()) < 1.0
    between = exact_statistics.needed_deltas(EVIDENCE, **own, tables="all")
    assert [point for point, each in between.items() if each.value > 1.0] == ["epsilon=5"]
    own = {"calibration": "classical", "epsilons": "larger"}
    larger = exact_statistics.needed_deltas(EVIDENCE, **own, tables="binary")
    assert min(each.value for each in larger.values()) > 1.6
    for epsilons in ("asked", "larger"):
        own = {"calibration": "analytic", "tables": "all", "epsilons": epsilons}
        found = exact_statistics.needed_deltas(EVIDENCE, **own)
        assert max(each.value for each in found.values()) <= 1.0 + 1e-9


def test_crossings_and_limits_are_read() -> None:
    """Spec 7.1 (C16) and 3.2."""
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
    """C13, by the statistics that its entry names."""
    own = {"algorithm": "dp-bai", "schedule": "consistent"}
    assert exact_statistics.overruns(EVIDENCE, **own).value == 32_103
    assert exact_statistics.overrun(EVIDENCE, **own, quantity="worst").value == 45
    first = exact_statistics.first_overruns(EVIDENCE, **own)
    assert next(iter(first)) == "K=4, d=2, T=3"
    none = {"algorithm": "od-linbai", "schedule": "bound"}
    assert exact_statistics.overruns(EVIDENCE, **none).value == 0
    assert list(exact_statistics.first_overruns(EVIDENCE, **none)) == ["none"]
