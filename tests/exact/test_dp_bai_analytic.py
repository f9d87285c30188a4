"""Analytic results of dp-bai: format, numbers of the spec, and what the exact claims read.

"spec" is the restatement of dp-bai.
"""

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpbandits
from dpbandits.algorithms.best_arm.max_det import max_det
from dpbandits.algorithms.best_arm.schedule import phase_schedule
from dpbandits.claims import Evidence
from dpbandits.papers.dp_bai import exact_statistics
from dpbandits.papers.dp_bai.analytic import ANALYTIC
from dpbandits.papers.dp_bai.audit import difference_loss, dp_od_scales, tree_chances, tree_loss
from dpbandits.papers.dp_bai.hardness import hardness, theorem_bound
from dpbandits.papers.dp_bai.instances import INSTANCES, section5, two_armed
from dpbandits.papers.dp_bai.max_det_checks import LAWS, max_det_factor, variance_factors
from dpbandits.papers.dp_bai.privacy_tables import unit_vectors
from dpbandits.papers.dp_bai.schedule_tables import DIMENSIONS, expected_phases

FRAMES = {name: make() for name, make in ANALYTIC.items()}
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


@pytest.mark.parametrize("name", ANALYTIC)
def test_frames_have_the_format_that_figures_and_claims_read(name: str) -> None:
    frame = FRAMES[name]
    assert frame.columns[0] == "series"
    assert list(frame.columns[-4:]) == ["x", "y", "lo", "hi"]
    assert (frame["lo"] == frame["y"]).all()
    assert (frame["hi"] == frame["y"]).all()
    assert not frame[["x", "y"]].isna().any().any()
    assert not frame.duplicated(["series", "x"]).any()
    # A column "run" would make it a simulation; a figure shows at most 400 points a series.
    assert "run" not in frame
    assert frame.groupby("series").size().max() <= 400
    texts = frame.select_dtypes(exclude="number")
    assert all(isinstance(each, str) for column in texts for each in texts[column].dropna())


@pytest.mark.parametrize("name", ["max-det", "table1-grid", "instances"])
def test_random_draws_come_from_fixed_seeds(name: str) -> None:
    pd.testing.assert_frame_equal(ANALYTIC[name](), FRAMES[name])


# Appendix B (spec 3.1).


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
    """Spec 3.1: M1, M, the first size and all ratios deviate; the rest is verified."""
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
    """Spec 3.1: 27.68 and 27.62 are those of p = 2 and 3, 27.65 is lambda itself."""
    ratios = rows("appendix-b", schedule="consistent", quantity="ratio")
    assert ratios["y"].round(2).tolist()[:2] == ratios["printed"].tolist()[1:]
    shrinkage = at("appendix-b", schedule="consistent", quantity="lambda")
    assert round(shrinkage, 2) == ratios["printed"].tolist()[0]


# Number of phases (C22).


@pytest.mark.parametrize("schedule", ["consistent", "literal", "printed"])
def test_phases_grow_with_log_d(schedule: str) -> None:
    """Spec 7.1: within 3 of log d + 2 log2 d, residuals of the fit at most 2."""
    deviations = exact_statistics.phase_deviations(EVIDENCE, schedule=schedule)
    residuals = exact_statistics.phase_residuals(EVIDENCE, schedule=schedule)
    assert set(deviations) == set(residuals) == {"K=d^2", "K=d^3", "K=10000"}
    assert max(each.value for each in deviations.values()) <= 3.0
    assert max(each.value for each in residuals.values()) <= 2.0


def test_phase_counts_are_by_the_schedule_and_its_fit() -> None:
    """d = 16, K = 10000 has 9 phases (spec 3.1); least squares leave nothing along a regressor."""
    tags = {"schedule": "consistent", "arms": "10000"}
    assert at("phase-counts", quantity="phases", x=16, **tags) == 9
    own = rows("phase-counts", **tags).pivot(index="x", columns="quantity", values="y")
    np.testing.assert_allclose(own["expected"], expected_phases(DIMENSIONS))
    assert own["expected"][16] == pytest.approx(math.log(16) + 2 * 4)
    residuals = (own["phases"] - own["fit"]).to_numpy()
    assert abs(residuals.sum()) < 1e-9
    assert abs(residuals @ np.log(DIMENSIONS)) < 1e-9


# Max-Det (C10, C23).


def test_coefficients_do_not_exceed_one() -> None:
    """C10: ten thousand sets, ranks 1 to 6, and where not all subsets are tried."""
    assert rows("max-det", quantity="sets")["y"].sum() == 10_000
    assert set(rows("max-det", quantity="sets")["rank"]) == {1, 2, 3, 4, 5, 6}
    searched = rows("max-det", quantity="searched")["y"].sum()
    assert 6000 < searched < 9800
    assert exact_statistics.coefficients_above(EVIDENCE).value == 0
    assert exact_statistics.largest_coefficient(EVIDENCE).value == pytest.approx(1.0, abs=1e-8)


def test_other_subsets_have_coefficients_above_one() -> None:
    """Negative control of C10: the first r arms in place of the Max-Det collection."""
    generator = np.random.default_rng(7)
    features = LAWS["normal"](generator, 12, 3)
    assert np.abs(features @ np.linalg.inv(features[:3])).max() > 1.0
    assert np.abs(max_det(features).coefficients).max() <= 1.0 + 1e-12


def test_max_det_is_not_the_subset_of_least_noise() -> None:
    """C23: in some of the 1000 sets another subset has a smaller v; v is at most the rank."""
    found = {each: at("max-det", quantity=each, rank=0) for each in ("smaller", "above rank")}
    assert found["smaller"] == 125
    assert found["above rank"] == 0
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


def test_errors_of_a_kernel_stay_below_the_theorem() -> None:
    """One point of C12, as a check of the tags: I-B, epsilon = 1, T = 500."""
    bandit = two_armed(ratio=2.0)
    runs = dpbandits.identify(
        algorithm="dp-bai", params={"epsilon": 1.0}, bandit=bandit, budget=500, runs=2000, seed=1
    )
    tags: dict[str, Any] = {"schedule": "consistent", "against": "budget", "horizon": 500}
    bound = at("bounds", instance="two-armed", epsilon=1.0, bound="theorem", **tags)
    assert 1.0 - runs.success.mean() < bound < 1.0


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
    # Spec E7: arm 1 of I-B leaves the unit interval.
    np.testing.assert_allclose(rewards["y"], [1.1, 1.0])


def test_dp_od_has_one_round_on_the_instances_of_the_paper() -> None:
    """C21; three on ours of rank 6 and 8 (spec 2.6)."""
    found = exact_statistics.rounds_of_dp_od(EVIDENCE)
    assert len(found) == 10
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


# Privacy (C14, C24), pure noise (C16).


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


def test_theorem_bound_reads_the_schedule() -> None:
    hard = hardness(section5().means, 2, 0.1)
    tags = {"schedule": "consistent", "against": "budget", "epsilon": 0.1, "horizon": 400}
    found = at("bounds", instance="section5", bound="theorem", **tags)
    assert found == pytest.approx(theorem_bound(phase_schedule(30, 2), 400, hard))
