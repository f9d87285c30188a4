"""Table 1 of dp-bai and the bounds on the grids of its figures, and what claims read of them.

"spec" is the restatement of dp-bai.
"""

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpbandits
from dpbandits.algorithms.best_arm.schedule import phase_schedule
from dpbandits.claims import Evidence
from dpbandits.papers.dp_bai import exact_statistics
from dpbandits.papers.dp_bai.analytic import ANALYTIC
from dpbandits.papers.dp_bai.hardness import hardness, theorem_bound
from dpbandits.papers.dp_bai.instances import section5, two_armed

FRAMES = {name: ANALYTIC[name]() for name in ("regimes", "table1-grid", "bounds")}
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
    """Spec 4: A = T/(800 log 2), C = T/((800 + 40/eps) log 2) at T = 1000, eps = 0.5."""
    tags = {"instance": "two-armed", "epsilon": 0.5, "delta": 0.1, "x": 1000}
    log2 = math.log(2.0)
    assert at("regimes", quantity="A", **tags) == pytest.approx(1000 / (800 * log2))
    assert at("regimes", quantity="C", **tags) == pytest.approx(1000 / (880 * log2))
    expected = (1000 / (math.sqrt(math.log(12.5)) * 80 * log2)) ** 2
    assert at("regimes", quantity="B", **tags) == pytest.approx(expected)


# Bounds (C12).


def test_bounds_cover_the_grids_and_are_the_formulas() -> None:
    """Spec 6: F1a, F1b, F1c and F2; the bounds themselves are tested beside ``hardness``."""
    tags: dict[str, Any] = {"bound": "theorem", "schedule": "consistent", "against": "budget"}
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


def test_bounds_under_the_printed_schedule_spend_half() -> None:
    """Spec 3.2: s = [30, 1, 1], M = 2, T' = T - 4."""
    tags = {"instance": "section5", "epsilon": 1.0, "horizon": 1000, "against": "budget"}
    found = rows("bounds", bound="theorem", schedule="printed", **tags).iloc[0]
    hard = hardness(section5().means, 2, 1.0).total
    assert found["y"] == pytest.approx(math.exp(-996 / (65 * 2 * hard)))


def test_bounds_over_epsilon_are_those_over_the_budget() -> None:
    over = rows("bounds", against="epsilon", bound="union", schedule="consistent")
    assert over["x"].tolist() == over["epsilon"].tolist()
    tags = {"instance": "section5", "bound": "union", "schedule": "consistent", "against": "budget"}
    same = rows("bounds", horizon=1000, **tags)
    assert over["y"].tolist() == same["y"].tolist()


def test_theorem_bound_reads_the_schedule() -> None:
    hard = hardness(section5().means, 2, 0.1)
    tags = {"schedule": "consistent", "against": "budget", "epsilon": 0.1, "horizon": 400}
    found = at("bounds", instance="section5", bound="theorem", **tags)
    assert found == pytest.approx(theorem_bound(phase_schedule(30, 2), 400, hard))


def test_errors_of_a_kernel_stay_below_the_theorem() -> None:
    """One point of C12, as a check of the tags: I-B, epsilon = 1, T = 500."""
    bandit = two_armed(ratio=2.0)
    runs = dpbandits.identify(
        algorithm="dp-bai", params={"epsilon": 1.0}, bandit=bandit, budget=500, runs=2000, seed=1
    )
    tags: dict[str, Any] = {"schedule": "consistent", "against": "budget", "horizon": 500}
    bound = at("bounds", instance="two-armed", epsilon=1.0, bound="theorem", **tags)
    assert 1.0 - runs.success.mean() < bound < 1.0
