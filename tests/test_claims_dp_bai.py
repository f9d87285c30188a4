"""Statistics of dp-bai on planted success counts, against the same numbers computed directly."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtr, ndtri

from dpbandits.claims.docket import Comparison
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Measured, judge_comparisons
from dpbandits.claims.numbers import Estimate, exact
from dpbandits.papers.dp_bai import fit_statistics, grid, statistics
from shared import ExactResults
from synthetic_results import PAPERS

PAPER = PAPERS["dp-bai"]
EXACT = ExactResults("dp-bai")
TRIALS = 40_000
SECTION5 = {"budget": "verdicts-budget", "epsilon": "verdicts-epsilon"}

Tags = Mapping[str, Any]
Rate = Callable[[str, Tags], float]
"""Success rate by name of the results and tags of a series."""


def drawn(name: str, tags: Tags) -> float:
    """Return a rate of its own for each series."""
    label = "|".join(f"{key}={tags[key]}" for key in sorted(tags))
    return float(np.random.default_rng([*f"{name}|{label}".encode()]).uniform(0.55, 0.97))


@cache
def series_of(name: str) -> list[dict[str, Any]]:
    """Return the tags of the series of a simulation."""
    return [
        {
            "series": each.label,
            "algorithm": each.cell.definition.id,
            "horizon": each.cell.horizon,
            **each.tags,
        }
        for each in PAPER.plan(name).series()
    ]


def frame_of(name: str, rate: Rate = drawn) -> pd.DataFrame:
    """Return results: one block of trials a series, or the arms that 300 trials returned."""
    if name in EXACT:
        return EXACT[name]
    rows = []
    for tags in series_of(name):
        keys = {key: value for key, value in tags.items() if key != "series"}
        base = {**tags, "t": tags["horizon"], "arm": -1}
        if PAPER.document["simulations"][name]["metrics"] == ["recommended"]:
            arms = np.random.default_rng(len(rows)).integers(0, 2, 300).astype(float)
            rows += [
                {**base, "metric": "recommended", "run": run, "trials": 1, "value": arm}
                for run, arm in enumerate(arms)
            ]
        else:
            won = float(round(rate(name, keys) * TRIALS))
            rows.append({**base, "metric": "success", "run": 0, "trials": TRIALS, "value": won})
    return pd.DataFrame(rows)


def evidence_of(rate: Rate = drawn) -> Evidence:
    """Return evidence over results of these rates."""
    return Evidence(lambda name: frame_of(name, rate))


EVIDENCE = evidence_of()


def share(name: str, **where: Any) -> float:
    """Return the success rate of the one series with these tags, read from the frame."""
    frame = frame_of(name)
    for key, value in where.items():
        frame = frame[frame[key] == value]
    return float(frame["value"].item()) / TRIALS


def values(found: Mapping[str, Estimate]) -> dict[str, float]:
    return {label: estimate.value for label, estimate in found.items()}


def at_budget(algorithm: str, budget: int, epsilon: float) -> float:
    where = {} if algorithm == "od-linbai" else {"epsilon": epsilon}
    return share("verdicts-budget", algorithm=algorithm, horizon=budget, **where)


def at_epsilon(algorithm: str, epsilon: float) -> float:
    where = {} if algorithm == "od-linbai" else {"epsilon": epsilon}
    return share("verdicts-epsilon", algorithm=algorithm, **where)


def over_figure_1(first: str, second: str) -> dict[str, float]:
    """Return differences of success on both panels."""
    over_budgets = {
        f"T={budget}, epsilon={epsilon:g}": at_budget(first, budget, epsilon)
        - at_budget(second, budget, epsilon)
        for epsilon in (0.1, 1)
        for budget in grid.BUDGETS
    }
    over_epsilon = {
        f"T=1000, epsilon={epsilon:g}": at_epsilon(first, epsilon) - at_epsilon(second, epsilon)
        for epsilon in grid.EPSILONS
    }
    return over_budgets | over_epsilon


@pytest.mark.parametrize("over", ["baseline", "dp-od"])
def test_leads_of_dp_bai_over_the_private_algorithms(over: str) -> None:
    found: dict[str, float] = {}
    for panel in ("T", "epsilon"):
        where = {"over": over, "panel": panel}
        found |= values(statistics.advantage(EVIDENCE, points="informative", **where))
    expected = over_figure_1("dp-bai", over)
    assert found == pytest.approx(expected)
    for quantity, function in (("smallest", min), ("median", np.median), ("largest", max)):
        one = statistics.advantage_summary(EVIDENCE, over=over, quantity=quantity)
        assert one.value == pytest.approx(function([*expected.values()]))


def test_leads_over_od_linbai_and_the_gap_at_weak_privacy() -> None:
    expected = over_figure_1("dp-bai", "od-linbai")
    leads = statistics.lead_of_private(EVIDENCE, algorithm="dp-bai")
    assert values(leads) == pytest.approx(expected)
    largest = statistics.largest_lead(EVIDENCE, algorithm="dp-bai", quantity="largest")
    assert largest.value == pytest.approx(max(expected.values()))
    by_epsilon = values(statistics.gap_by_epsilon(EVIDENCE))
    assert [*by_epsilon.values()] == pytest.approx([*expected.values()][-len(by_epsilon) :])
    gaps = {
        f"T={budget}": share("verdicts-weak-privacy", horizon=budget)
        - at_budget("od-linbai", budget, 1)
        for budget in grid.BUDGETS
    }
    found = statistics.gap_at_weak_privacy(EVIDENCE)
    assert values(found) == pytest.approx(gaps)
    margin = statistics.largest_gap_at_weak_privacy(EVIDENCE, level=0.02).value
    assert 0.0 < margin - max(map(abs, gaps.values())) < 0.02


def decisions(found: Mapping[str, Estimate], kind: str, threshold: float) -> set[str]:
    """Decide differences at the level of the claims on success rates."""
    asked = Comparison.model_validate({"value": "difference", kind: threshold})
    measured = [Measured(asked, "", label, estimate) for label, estimate in found.items()]
    return {each.decision for each in judge_comparisons(measured, statistics.LEVEL)}


def test_the_margin_is_where_the_verdict_turns() -> None:
    """Every lead exceeds a margin a little below it, and not one a little above."""

    def ahead(name: str, tags: Tags) -> float:
        return 0.9 if tags["algorithm"] == "dp-bai" else drawn(name, tags) - 0.2

    evidence = evidence_of(ahead)
    margin = statistics.advantage_summary(evidence, over="dp-od", quantity="turning margin").value
    leads = {
        **statistics.advantage(evidence, over="dp-od", panel="T", points="informative"),
        **statistics.advantage(evidence, over="dp-od", panel="epsilon", points="informative"),
    }
    assert margin > 0.05
    assert decisions(leads, "greater", margin - 0.0005) == {"for"}
    assert decisions(leads, "greater", margin + 0.0005) != {"for"}


def test_points_at_the_ceiling_and_the_floor_are_others() -> None:
    """Pure-noise limits are 3/8 and 21/44; a lead where both exceed 0.98 says nothing."""

    def rate(name: str, tags: Tags) -> float:
        if name == "verdicts-budget" and tags["horizon"] == 6400:
            return 0.985 if tags["algorithm"] == "dp-bai" else 1.0
        if name == "verdicts-budget" and (tags["horizon"], tags.get("epsilon")) == (100, 0.1):
            return {"dp-bai": 0.375, "dp-od": 0.477}.get(tags["algorithm"], 0.7)
        return drawn(name, tags)

    where = {"over": "dp-od", "panel": "T"}
    others = values(statistics.advantage(evidence_of(rate), points="other", **where))
    labels = ["T=100, epsilon=0.1: floor", "T=6400, epsilon=0.1: ceiling"]
    assert [*others] == [*labels, "T=6400, epsilon=1: ceiling"]
    assert others[labels[1]] == pytest.approx(-0.015)
    assert len(statistics.advantage(evidence_of(rate), points="informative", **where)) == 11


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [((0.1, 0.4), (0.1, 0.25, 0.4)), ((0.4, 0.1, 0.3, 0.2, 0.5), (0.1, 0.3, 0.5))],
)
def test_the_median_of_an_even_count_is_between_its_middles(
    numbers: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    differences = {str(index): exact(value) for index, value in enumerate(numbers)}
    found = [grid.summary(differences, each).value for each in ("smallest", "median", "largest")]
    assert found == pytest.approx(expected)


def arms(name: str, **where: Any) -> np.ndarray:
    """Return the arms that the trials of a series returned, read from the frame."""
    frame = frame_of(name)
    for key, value in where.items():
        frame = frame[frame[key] == value]
    return frame.sort_values("run")["value"].to_numpy()


def test_trials_on_common_rewards_are_compared_one_by_one() -> None:
    gaps = statistics.gap_on_common_rewards(EVIDENCE)
    mismatches = statistics.noiseless_mismatches(EVIDENCE)
    for budget in grid.BUDGETS:
        noisy, plain = (
            arms("weak-privacy-stream", horizon=budget, epsilon=epsilon) == 0
            for epsilon in (100, 1e9)
        )
        gap = gaps[f"T={budget}"]
        assert gap.value == pytest.approx(noisy.mean() - plain.mean())
        spread = np.std(noisy.astype(float) - plain, ddof=1) / math.sqrt(noisy.size)
        lo, hi = gap.interval(0.05)
        assert hi - lo == pytest.approx(2 * 1.968 * spread, rel=0.01)
        private, other = (
            arms("noiseless", horizon=budget, algorithm=name) for name in ("dp-bai", "od-linbai")
        )
        assert mismatches[f"T={budget}"].value == (private != other).sum()
    for label, gap in statistics.ratio_gaps(EVIDENCE).items():
        ratio, budget, epsilon = (float(each.split("=")[1]) for each in label.split(", "))
        one, other = (
            arms("common-stream", ratio=y, horizon=budget, epsilon=epsilon) for y in (1, ratio)
        )
        assert gap.value == pytest.approx((other == 0).mean() - (one == 0).mean())
        found = statistics.ratio_mismatches(EVIDENCE)[label]
        assert found.value == (one != other).sum()


def test_trends_and_steps_of_success_are_least_squares_over_the_logarithm() -> None:
    trends, steps = statistics.success_trends(EVIDENCE), statistics.success_steps(EVIDENCE)
    rates = [at_budget("dp-bai", budget, 0.1) for budget in grid.BUDGETS]
    slope = np.polyfit(np.log(grid.BUDGETS), rates, 1)[0]
    assert trends["over T, epsilon=0.1"].value == pytest.approx(slope)
    rates = [at_epsilon("dp-bai", epsilon) for epsilon in grid.EPSILONS]
    slope = np.polyfit(np.log(grid.EPSILONS), rates, 1)[0]
    assert trends["over epsilon, T=1000"].value == pytest.approx(slope)
    step = at_epsilon("dp-bai", 0.2) - at_epsilon("dp-bai", 0.1)
    assert steps["over epsilon, T=1000, 0.1 to 0.2"].value == pytest.approx(step)
    assert statistics.lowest_step(EVIDENCE).value == min(values(steps).values())


def at_pair(algorithm: str, ratio: float, epsilon: float, budget: int) -> float:
    name = "verdicts-ratios" if ratio > 20 else "verdicts-fig2"
    return share(name, algorithm=algorithm, ratio=ratio, epsilon=epsilon, horizon=budget)


def test_success_over_the_ratio_of_the_features() -> None:
    trends = statistics.ratio_trends(EVIDENCE)
    for epsilon, budget in ((0.1, 200), (1, 5000), (0.5, 1000)):
        ratios = [1, 1.5, 2, 5, 10, 20, *((50, 100) if (epsilon, budget) == (0.5, 1000) else ())]
        rates = [at_pair("dp-od", ratio, epsilon, budget) for ratio in ratios]
        label, slope = f"T={budget}, epsilon={epsilon:g}", np.polyfit(np.log(ratios), rates, 1)[0]
        assert (label in trends) == (0.6 <= rates[0] <= 0.98)
        if label in trends:
            assert trends[label].value == pytest.approx(slope)
    leads = values(statistics.ratio_advantage(EVIDENCE, points="informative"))
    assert len(leads) > 50
    for label, lead in leads.items():
        ratio, budget, epsilon = (float(each.split("=")[1]) for each in label.split(", "))
        pair = [at_pair(name, ratio, epsilon, int(budget)) for name in ("dp-bai", "dp-od")]
        assert 0.6 <= pair[0] <= 0.98
        assert lead == pytest.approx(pair[0] - pair[1])
    smallest = statistics.ratio_advantage_summary(EVIDENCE, quantity="smallest")
    assert smallest.value == min(leads.values())


def test_errors_are_held_against_the_bounds_of_their_points() -> None:
    bounds = EXACT.rows("bounds", bound="theorem", against="budget")
    excess = fit_statistics.error_excess(EVIDENCE, bound="theorem", budgets="figures")
    limits = {}
    for label in excess:
        instance, *rest = label.split(", ")
        tags = {key: float(value) for key, value in (each.split("=") for each in rest)}
        rows = bounds[bounds["instance"] == {"I-A": "section5", "I-B": "two-armed"}[instance]]
        rows = rows[(rows["horizon"] == tags["T"]) & (rows["epsilon"] == tags["epsilon"])]
        limits[label] = float(rows["y"].item())
    assert len(limits) == 2 * 7 + 13 + 6 + 6 * 3 * 6
    label = "I-A, T=400, epsilon=0.1"
    error = 1.0 - at_budget("dp-bai", 400, 0.1)
    assert excess[label].value == pytest.approx(error - limits[label])
    smallest = fit_statistics.smallest_bound(EVIDENCE, bound="theorem")
    assert smallest.value == pytest.approx(min(limits.values()))
    over = [limit / (excess[label].value + limit) for label, limit in limits.items()]
    largest = fit_statistics.largest_bound_over_error(EVIDENCE, bound="theorem")
    assert largest.value == pytest.approx(max(over))


@pytest.mark.parametrize(
    ("error", "decay"),
    [
        (lambda budget: 0.25 * math.exp(-0.004 * budget), 4.0),
        # Slower on the larger half of T, which is what counts, and rising there.
        (lambda budget: 0.2 * math.exp(-0.002 * budget - 1e-3 * min(budget, 1200)), 2.0),
        (lambda budget: 1e-3 + abs(budget - 1000) * 1e-5, -1.0),
    ],
)
def test_the_decay_of_errors_is_that_of_the_larger_half(
    error: Callable[[float], float], decay: float
) -> None:
    found = fit_statistics.error_decay(
        evidence_of(lambda name, tags: 1.0 - error(tags["horizon"])), epsilon=1
    ).value
    if decay > 0.0:
        assert found == pytest.approx(decay, rel=0.02)
    else:
        assert found < 0.0


def planted_budgets(a: float, b: float) -> Evidence:
    """Return success of 0.9 at a/Delta^2 + b rho/(epsilon Delta), rho of DP-OD alone, by probit."""

    def rate(name: str, tags: Tags) -> float:
        gap = tags.get("gap", 0.05)
        rho = tags["ratio"] if tags["algorithm"] == "dp-od" else 1.0
        needed = a / gap**2 + b * rho / (tags["epsilon"] * gap)
        return float(ndtr(ndtri(0.9) * math.sqrt(tags["horizon"] / needed)))

    return evidence_of(rate)


def test_budgets_at_success_ninety_per_cent_are_those_planted() -> None:
    evidence = planted_budgets(0.5, 4.4)
    assert fit_statistics.inflation_slope(evidence).value == pytest.approx(4.4, rel=0.03)
    assert fit_statistics.inflation_quality(evidence).value > 0.999
    found = values(fit_statistics.hardness_coefficients(evidence))
    assert found == pytest.approx({"a": 0.5, "b": 4.4}, rel=0.05)
    assert fit_statistics.budget_change(evidence).value == pytest.approx(0.0, abs=0.02)
    growth = values(fit_statistics.ratio_growth(evidence, algorithm="dp-od", ratios="largest"))
    for label, slope in growth.items():
        epsilon = float(label.split("=")[1])
        needed = [200 + 88 * rho / epsilon for rho in (20, 50)]
        assert slope == pytest.approx(math.log(needed[1] / needed[0]) / math.log(2.5), abs=0.02)
    for label, slope in values(fit_statistics.gap_growth(evidence)).items():
        epsilon = float(label.split("=")[1])
        gaps = sorted({tags["gap"] for tags in series_of("budgets-hardness")})[:2]
        needed = [0.5 / gap**2 + 4.4 / (epsilon * gap) for gap in gaps]
        slope_planted = math.log(needed[0] / needed[1]) / math.log(gaps[1] / gaps[0])
        assert slope == pytest.approx(slope_planted, abs=0.03)


def rates_by(name: str, *keys: str) -> Iterator[tuple[Any, float]]:
    for row in frame_of(name).to_dict("records"):
        yield tuple(row[key] for key in keys), row["value"] / TRIALS


def test_rates_of_the_findings() -> None:
    by_basis = dict(rates_by("phases-basis", "algorithm", "horizon", "epsilon"))
    pairs = {key[1:] for key in by_basis if key[0] == "dp-bai"}
    expected = max(abs(by_basis["dp-bai", *key] - by_basis["dp-od", *key]) for key in pairs)
    found = statistics.basis_difference(EVIDENCE, first="dp-bai", second="dp-od")
    assert found.value == pytest.approx(expected)
    halved = statistics.halving_difference(
        EVIDENCE, first="stated", second="textbook", points="informative"
    )
    for label, difference in values(halved).items():
        budget = int(label.split("=")[1])
        pair = (
            share("halving", algorithm="baseline", horizon=budget, sizes="stated"),
            share("halving", algorithm="sequential-halving", horizon=budget),
        )
        assert difference == pytest.approx(pair[0] - pair[1])
    assert len(halved) == len(grid.BUDGETS)
    delta = min(tags["delta"] for tags in series_of("verdicts-gauss-section5") if "delta" in tags)
    where = {"deltas": [delta], "epsilons": [0.5], "budgets": [400, 400], "points": "informative"}
    gauss = values(statistics.gauss_advantage(EVIDENCE, **where))  # type: ignore[arg-type]
    tags = {"horizon": 400, "epsilon": 0.5}
    expected_gauss = {}
    for label, name, more in (
        ("I-A", "verdicts-gauss-section5", {}),
        ("I-B", "verdicts-gauss-two-armed", {"ratio": 3}),
    ):
        noisy = share(name, algorithm="dp-bai-gauss", delta=delta, **tags, **more)
        plain = share(name, algorithm="dp-bai", **tags, **more)
        expected_gauss[f"{label}, T=400, epsilon=0.5, delta={delta:g}"] = noisy - plain
    assert gauss == pytest.approx(expected_gauss)
    by_draw = dict(rates_by("omega-draws", "algorithm", "epsilon", "draw"))
    epsilon = min(key[1] for key in by_draw if key[0] == "dp-od")
    of_draws = [rate for key, rate in by_draw.items() if key[:2] == ("dp-od", epsilon)]
    assert len(of_draws) == 50
    ends = values(statistics.omega_range(EVIDENCE, algorithm="dp-od", epsilon=epsilon))
    assert ends == pytest.approx({"lowest": min(of_draws), "highest": max(of_draws)})
