"""Quantities of dp-ncb against the same numbers computed directly on made-up curves and runs."""

import math
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from dpbandits.claims.evidence import Evidence, Series
from dpbandits.claims.numbers import Measured, mean
from dpbandits.papers.dp_ncb import quantities, theory
from dpbandits.papers.dp_ncb.instances import drawn_means, weak_arms

GDP, LDP = "gdp-ncb", "ldp-ncb"
SHARES = np.array([0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 0.75, 1.0])
HORIZON = 10**7
NOISE = np.random.default_rng(4).normal(0.0, 0.01, 50)
RUNS = 20


@dataclass
class Curve:
    """A Nash curve whose regret is known, with a spread of 1 % that all times share."""

    values: np.ndarray
    tags: dict[str, Any] = field(default_factory=dict)

    @property
    def regrets(self) -> tuple[list[int], list[Measured]]:
        """Times and regrets there."""
        times = (SHARES * HORIZON).astype(int).tolist()
        noise = NOISE - NOISE.mean()
        return times, [mean(value * (1.0 + noise), id(self)) for value in self.values]

    def number(self) -> Measured:
        """The regret at the horizon."""
        return self.regrets[1][-1]


def curve(level: float, power: float = 0.0, **tags: Any) -> Series:
    """Return a curve that is level s^power at a share s of the horizon."""
    return cast("Series", Curve(level * SHARES**power, tags))


def test_a_level_is_reached_between_two_times_on_a_line_in_log_t() -> None:
    """0.075 s^-0.95 is above 0.1 at 0.7 T and below at 0.75 T."""
    found = quantities.time_below(curve(0.075, -0.95), level=0.1)
    ends = np.array([0.7, 0.75])
    above = 0.075 * ends**-0.95 - 0.1
    place = np.interp(0.0, above[::-1], np.log(ends[::-1] * HORIZON))
    assert found.value == pytest.approx(math.exp(place))
    lo, hi = found.interval(0.05)
    assert lo < found.value < hi
    # 0.01 / sqrt(50) on the logarithm of Nash regret, over the slope.
    spread = 2 * 2.01 * NOISE.std(ddof=1) / math.sqrt(50) / 0.95
    assert math.log(hi / lo) == pytest.approx(spread, rel=0.1)


def test_a_level_that_is_not_reached_counts_as_reached_at_the_horizon() -> None:
    flat, falling = curve(0.3), curve(0.1, -0.5)
    assert quantities.time_below(flat, level=0.1).value == pytest.approx(HORIZON)
    assert quantities.time_below_ratio(flat, falling, level=0.2).value > 1.0
    # Neither falls below 0.01, which says nothing of their order.
    assert math.isnan(quantities.time_below_ratio(flat, falling, level=0.01).value)


def test_the_crossing_is_the_last_time_at_which_the_curves_meet() -> None:
    """0.009 s^-0.95 meets a flat curve of 0.03 between 0.25 and 0.3 T."""
    found = quantities.crossing_time(curve(0.009, -0.95), curve(0.03))
    ends = np.array([0.25, 0.3])
    above = 0.009 * ends**-0.95 - 0.03
    place = np.interp(0.0, above[::-1], np.log(ends[::-1] * HORIZON))
    assert found.value == pytest.approx(math.exp(place))
    assert math.isnan(quantities.crossing_time(curve(0.009, -0.95), curve(0.001)).value)


def test_curves_are_compared_in_the_order_of_other_curves_where_that_is_clear() -> None:
    names = ("ncb", GDP, LDP)
    order = [
        curve(value, algorithm=name) for name, value in zip(names, (0.1, 0.2, 0.3), strict=True)
    ]
    other = [
        curve(value, algorithm=name) for name, value in zip(names, (0.1, 0.4, 0.3), strict=True)
    ]
    found = quantities.order_ratios(*order, *other)
    assert {label: one.value for label, one in found.items()} == pytest.approx(
        {"ncb over gdp-ncb": 0.25, "gdp-ncb over ldp-ncb": 4 / 3}
    )
    tied = [order[0], order[1], curve(0.2001, algorithm=LDP)]
    assert math.isnan(quantities.order_ratios(*tied, *other)["gdp-ncb over ldp-ncb"].value)


def lengths(ends: list[float]) -> Series:
    """Return runs of GDP-NCB at T = 1e9 whose Phase I ends at these multiples of k S."""
    means = np.array(drawn_means())
    unit = means.size * theory.scale(GDP, 10**9, 0.2, means.max())
    edges = np.arange(1, 41) * 100.0 * unit
    tags = {"series": "one", "horizon": 10**9, "metric": "nash_bins", "arm": -1}
    uniform, best = means.mean(), means.max()
    rows = [
        {**tags, "run": run, "t": round(edge), "value": uniform if edge < end * unit else best}
        for run, end in enumerate(ends)
        for edge in edges
    ]
    evidence = Evidence.of_frames({"runs": pd.DataFrame(rows)})
    return Series(evidence, {"in": "runs", "horizon": 10**9, "metric": "nash_bins"})


def test_phase_one_is_found_in_the_bins_of_every_run() -> None:
    """Bins of 100 k S; the range is from 512 to 3872 k S."""
    inside = lengths([1550.0, 1650.0, 2050.0])
    assert quantities.phase_one_outside(inside).value == 0.0
    assert quantities.mean_phase_one(inside).value == pytest.approx(1750.0, rel=1e-6)
    assert quantities.phase_one_outside(lengths([450.0, 1650.0, 3950.0])).value == 2.0
    # Phase I ends in the bin of 500 to 600, in which 512 is.
    assert math.isnan(quantities.phase_one_outside(lengths([550.0, 1650.0])).value)


@pytest.mark.parametrize(("pulls", "count"), [(22.0, 0), (23.0, RUNS)])
def test_weak_arms_pulled_more_often_than_phase_one_has_rounds(pulls: float, count: int) -> None:
    """F14: W = 1001 at T = 1e6, one more for LDP-NCB; 45 weak arms have 22 or 23 each."""
    rows = [
        {"series": name, "algorithm": name, "run": run, "arm": arm, "value": pulls}
        for name in (GDP, LDP)
        for run in range(RUNS)
        for arm in range(len(weak_arms().arms))
    ]
    evidence = Evidence.of_frames({"weak-arms": pd.DataFrame(rows).assign(metric="pulls", t=10**6)})
    for algorithm in (GDP, LDP):
        series = Series(evidence, {"in": "weak-arms", "algorithm": algorithm, "metric": "pulls"})
        assert quantities.runs_with_weak_pulls(series).value == count


def test_the_terms_of_the_bound_balance_where_remark_2_says() -> None:
    """sqrt(50/T) L^1.5 is 0.363, 0.145 and 0.056; the ratio at epsilon = 0.2, T = 1e7 is 0.723."""
    horizons = [10**power for power in (6, 7, 8)]
    found = [quantities.balancing_epsilon(horizon=horizon).value for horizon in horizons]
    assert found == pytest.approx([0.3631, 0.1447, 0.0559], abs=1e-4)
    for horizon in horizons:
        assert quantities.ratio_at_balance(horizon=horizon).value == pytest.approx(1.0)
    found = quantities.term_ratio(horizon=10**7, epsilon=0.2).value
    assert found == pytest.approx(0.7235, abs=1e-4)


def test_the_bound_of_theorem_1_is_asked_of_horizons_with_the_best_mean_of_its_proof() -> None:
    """C17: at T = 1e9 and 1e10 and at no smaller one; it is off the figure there."""
    premises = [
        theory.theorem_1_premise(10**power, 0.2, len(drawn_means())) for power in (8, 9, 10)
    ]
    assert [premise <= max(drawn_means()) for premise in premises] == [False, True, True]
    assert quantities.bound_over_best_mean(horizon=10**10).value == pytest.approx(4.1446, abs=1e-4)
    first = quantities.first_informative_horizon().value
    assert quantities.bound_over_best_mean(horizon=round(first)).value == pytest.approx(1.0)
    assert quantities.mended_premise(horizon=10**10).value > 1.0


def test_exact_numbers_are_those_by_hand() -> None:
    """The code's Phase I has noise of scale 1; W = 32 of T = 1e3 rounds leaves 8 releases."""
    assert quantities.noise_scale(variant="as-coded", phase="I", epsilon=0.5).value == 0.5
    assert quantities.noise_scale(variant="as-coded", phase="II", epsilon=0.5).value == 1.0
    assert quantities.noise_scale(variant="as-written", phase="I", epsilon=2).value == 1.0
    repaired = quantities.composed_loss(variant="repaired", horizon=1000, release_log="base2")
    assert repaired.value == pytest.approx(8 / math.log2(1000))
    written = {"variant": "as-written", "horizon": 10**7}
    # T/k means consulted; without them the first index and the releases of Phase II.
    assert quantities.composed_loss(**written).value > 2e5 / math.log(1e7)
    later = quantities.composed_loss(**written, counted="phase-two").value
    assert later == pytest.approx((1 + 22) / math.log(1e7))
    predicted = quantities.predicted_phase_one(variant="as-written", algorithm=GDP, horizon=10**9)
    assert predicted.value == pytest.approx(1600)
    capped = quantities.predicted_phase_one(variant="as-coded", algorithm=LDP, horizon=10**6)
    scale = theory.scale(LDP, 10**6, 0.2, max(drawn_means()))
    assert capped.value == pytest.approx(1002 / (50 * scale))
