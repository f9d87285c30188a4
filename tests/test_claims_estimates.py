"""Influences, averages, slopes, orders, places of optima, rates: arithmetic and coverage.

Everything has a fixed seed, and statements about coverage say how often they would fail by chance.
That of means is in `test_claims_coverage.py`, that of curves in `law/test_nash_coverage.py`.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from dpbandits.claims.estimates import (
    Estimate,
    Measured,
    average,
    distance_of_lowest,
    mean,
    place_of_lowest,
    rate,
    rate_difference,
    rate_trend,
    ratio,
    slope,
)
from dpbandits.claims.series import Curves, Evidence, Recorded, SeriesQuery, nash_regret
from dpbandits.errors import InputError
from dpbandits.metrics import NASH_QUANTITIES
from toy_claims import measured

Values = NDArray[np.float64]

ONE, OTHER = mean(np.array([1.0, 2.0, 4.0, 5.0]), "a"), mean(np.array([2.0, 2.5, 3.5]), "b")
SAME = mean(np.array([0.5, 1.0, 1.5, 5.0]), "a")


def test_a_difference_of_means_has_the_error_and_degrees_of_welch() -> None:
    difference = ONE - OTHER
    welch = stats.ttest_ind([1.0, 2.0, 4.0, 5.0], [2.0, 2.5, 3.5], equal_var=False)
    assert (difference.value, difference.runs) == pytest.approx((3.0 - 8.0 / 3.0, 3))
    assert difference.student.degrees == pytest.approx(welch.df)
    assert difference.value / difference.student.standard_error == pytest.approx(welch.statistic)


def test_quantities_of_the_same_runs_are_paired() -> None:
    paired = mean(np.array([1.0, 2.0, 4.0, 5.0]) - np.array([0.5, 1.0, 1.5, 5.0]))
    found = ONE - SAME
    assert (found.value, found.student.standard_error, found.student.degrees) == pytest.approx(
        (paired.value, paired.student.standard_error, 3.0)
    )
    assert (ONE - ONE).interval(0.01) == (0.0, 0.0)


def test_the_chain_rule_is_that_of_small_changes() -> None:
    """Weights of runs moved by 1e-6: values move by their influences, to second order."""

    def function(one: Measured, other: Measured) -> Measured:
        return (one.log() - 0.3 * other.log() + 2.0) * 1.7 - other

    whole = function(ONE, OTHER)
    for position, measure, sample in ((0, ONE, "a"), (1, OTHER, "b")):
        for run, influence in enumerate(measure.influences[sample]):
            pair = [ONE, OTHER]
            pair[position] = Measured(measure.value + 1e-6 * float(influence))
            change = (function(*pair).value - whole.value) / 1e-6
            assert whole.influences[sample][run] == pytest.approx(change, abs=1e-5)


def test_ratios_have_intervals_of_their_logarithm() -> None:
    quotient = ratio(ONE, OTHER)
    assert quotient.value == pytest.approx(9.0 / 8.0)
    expected = np.exp((ONE.log() - OTHER.log()).interval(0.05))
    assert quotient.interval(0.05) == pytest.approx(expected)
    assert ONE.log().exp().value == pytest.approx(ONE.value)
    assert quotient.is_random


def test_averages_and_slopes_are_linear() -> None:
    both = average([ONE, OTHER])
    assert both.value == pytest.approx((3.0 + 8.0 / 3.0) / 2.0)
    assert both.influences["a"] == pytest.approx(0.5 * ONE.influences["a"])
    x, values = [0.0, 1.0, 3.0], [ONE.value, OTHER.value, SAME.value]
    assert slope(x, [ONE, OTHER, SAME]).value == pytest.approx(np.polyfit(x, values, 1)[0])
    assert slope(x, [ONE, ONE, ONE]).student.standard_error == pytest.approx(0.0, abs=1e-15)


def test_what_is_not_known_decides_nothing() -> None:
    assert math.isnan(average([]).value)
    one_run = Measured.of(1.0, {"a": np.zeros(1)})
    assert one_run.interval(0.05) == (-math.inf, math.inf)
    assert math.isnan((ONE - 4.0).log().value)
    assert np.isnan(ratio(ONE - 4.0, OTHER).interval(0.05)).all()


def frame(curves: int, runs: int) -> pd.DataFrame:
    """Recorded Nash curves of one series: logarithms -0.1, -0.2, ...; influences the run number."""
    rows = [
        (curve * runs, runs, name, t, -0.1 * (curve + 1) if "log_mean" in name else 0.9)
        for curve, name, t in product(range(curves), NASH_QUANTITIES, (5, 9))
    ]
    influences = product(range(curves * runs), [1], ["nash_influence"], (5, 9))
    rows += [(*row, float(row[0])) for row in influences]
    recorded = pd.DataFrame(rows, columns=["run", "trials", "metric", "t", "value"])
    return recorded.assign(series="s", arm=-1, variant="repaired", order=None)


def nash_curves(evidence: Evidence, **tags: object) -> Curves:
    return SeriesQuery(evidence, {"in": "sim", "metric": "nash_regret", **tags}).curves


def test_curves_come_with_the_influences_of_their_own_runs() -> None:
    evidence = Evidence.of_frames({"sim": frame(3, 4)})
    curves = nash_curves(evidence, variant="repaired", order=None, absent=None)
    assert list(curves) == [("sim", "s", 0), ("sim", "s", 4), ("sim", "s", 8)]
    second = curves["sim", "s", 4]
    assert second.times.tolist() == [5, 9]
    assert second.influences[:, 1].tolist() == [4.0, 5.0, 6.0, 7.0]
    found = nash_regret(curves, 1)
    assert found.value == pytest.approx(np.mean([each.nash_regret[1] for each in curves.values()]))
    expected = -math.exp(-0.2) / 3.0 * second.influences[:, 1]
    assert found.influences["sim", "s", 4] == pytest.approx(expected)
    assert evidence.runs(["sim"]) == 12
    # Limited runs are whole curves.
    for limit, first_runs in [(4, [0]), (5, [0, 4]), (0, [])]:
        assert [key[2] for key in nash_curves(replace(evidence, limit=limit))] == first_runs
    assert math.isnan(nash_regret({}, 0).value)


def test_subtracted_bias_is_that_of_the_geometric_mean() -> None:
    curves = nash_curves(Evidence.of_frames({"sim": frame(1, 4)}))
    assert nash_regret(curves, 0).value == pytest.approx(0.9 - math.exp(-0.1 + 0.9))
    [curve] = curves.values()
    assert curve.with_bias("kept").nash_regret[0] == pytest.approx(0.9 - math.exp(-0.1))


def test_curves_without_influences_have_a_value_alone() -> None:
    quantities = frame(1, 4).query("metric != 'nash_influence'")
    recorded = Recorded("sim", quantities)
    assert recorded.curves("s")[0].influences.shape == (0, 2)
    with pytest.raises(InputError, match="no nominal_nash_log_mean recorded for 's'"):
        recorded.curves("s", "nominal_")


def samples(*means: float, runs: int = 50) -> list[Measured]:
    generator = np.random.default_rng(6)
    return [mean(centre + generator.standard_normal(runs)) for centre in means]


def apart(one: int, other: int) -> float:
    return float(abs(one - other))


def test_places_are_certain_where_all_others_are_certainly_above() -> None:
    clear, other = samples(30.0, 10.0, 20.0), samples(10.0, 20.0, 30.0)
    # Places 1 and 2 are too close to tell: the best of the first list may be 1 or 2 from place 0.
    close, lost = samples(30.0, 10.0, 10.01), samples(30.0, 10.0, math.nan)
    for found, alpha, ends in (
        (distance_of_lowest(clear, clear, apart), 1e-6, (0.0, 0.0)),
        (distance_of_lowest(clear, other, apart), 1e-6, (1.0, 1.0)),
        (distance_of_lowest(close, other, apart), 0.05, (1.0, 2.0)),
        (distance_of_lowest(close, close, apart), 0.05, (0.0, 1.0)),
        (place_of_lowest([1, 2, 8], clear), 1e-6, (2.0, 2.0)),
        (place_of_lowest([1, 2, 8], close), 0.05, (2.0, 8.0)),
        (place_of_lowest([1, 2, 8], lost), 0.05, (-math.inf, math.inf)),
        # Fewer than two runs or a lost number leave everything open.
        (distance_of_lowest(lost, clear, apart), 0.05, (-math.inf, math.inf)),
        (place_of_lowest([1, 2, 8], samples(1.0, 2.0, 3.0, runs=1)), 0.05, (1.0, 8.0)),
    ):
        assert found.interval(alpha) == ends
    assert distance_of_lowest(clear, other, apart).value == 1.0
    assert place_of_lowest([1, 2, 8], clear).value == 2.0


def test_the_interval_holds_as_often_as_it_says() -> None:
    """Four equal means: any place is right, and an interval that leaves out one is wrong."""
    generator = np.random.default_rng(11)
    missed = 0
    for _ in range(400):
        own = [mean(generator.standard_normal(30)) for _ in range(4)]
        missed += place_of_lowest([0, 1, 2, 3], own).interval(0.05) != (0.0, 3.0)
    # 5 % of 400, and four standard deviations.
    assert missed <= 20 + 4 * math.sqrt(400 * 0.05 * 0.95)


RATE_REPETITIONS = 2000
FOUR_SIGMA = 4.0 * math.sqrt(0.05 * 0.95 / RATE_REPETITIONS)
"""Four standard deviations of a coverage of 95 % over the repetitions: 0.0195."""


def test_the_interval_of_a_rate_less_a_number_is_that_of_clopper_and_pearson() -> None:
    for trials, alpha, less in product((10, 30), (0.01, 0.3), (0.0, 0.5)):
        for won in range(trials + 1):
            found = rate((won, trials), less)
            exact = stats.binomtest(won, trials).proportion_ci(1.0 - alpha, "exact")
            assert found.value == pytest.approx(won / trials - less)
            assert found.interval(alpha) == pytest.approx((exact.low - less, exact.high - less))
            assert (found.is_random, found.runs) == (True, trials)


def coverage(first: float, second: float, trials: int, alpha: float) -> float:
    """Share of repetitions in which the interval of a difference covers it; fixed seed."""
    generator = np.random.default_rng(20260719)
    won = generator.binomial(trials, [first, second], (RATE_REPETITIONS, 2))
    ends = [
        rate_difference((int(one), trials), (int(other), trials)).interval(alpha)
        for one, other in won
    ]
    return float(np.mean([lo <= first - second <= hi for lo, hi in ends]))


def test_the_interval_of_a_difference_covers_and_a_narrower_one_does_not() -> None:
    """2000 repetitions: not less than 95 % by more than four sd; it may be conservative."""
    for trials, (first, second) in product(
        [50, 1000, 10_000], [(0.5, 0.5), (0.9, 0.87), (0.99, 0.96), (0.05, 0.3)]
    ):
        assert coverage(first, second, trials, 0.05) >= 0.95 - FOUR_SIGMA
    # Control.
    assert coverage(0.5, 0.5, 10_000, 0.1) < 0.95 - FOUR_SIGMA


MADE: list[Callable[[int, int], Estimate]] = [
    lambda won, trials: rate((won, trials)),
    lambda won, trials: rate_difference((won, trials), (trials // 2, trials)),
    lambda won, trials: rate_trend([(won, trials), (trials // 2, trials)], [0.0, 1.0]),
]


@pytest.mark.parametrize("make", MADE, ids=["rate", "difference", "trend"])
@given(st.integers(1, 1000), st.floats(0.0, 1.0), st.floats(1e-9, 0.5), st.floats(1.01, 2.0))
def test_a_smaller_alpha_gives_an_interval_around_the_other(
    make: Callable[[int, int], Estimate], trials: int, share: float, alpha: float, factor: float
) -> None:
    """What p-values rest on: decided at one alpha, decided at every larger one."""
    estimate = make(round(share * trials), trials)
    (lo, hi), (inner_lo, inner_hi) = estimate.interval(alpha), estimate.interval(factor * alpha)
    assert lo <= inner_lo <= inner_hi <= hi


def test_without_trials_nothing_is_known() -> None:
    for estimate in (
        rate((0, 0)),
        rate_difference((0, 0), (5, 10)),
        rate_difference((5, 10), (0, 0)),
        rate_trend([(0, 0), (5, 10)], [0, 1]),
    ):
        assert math.isnan(estimate.value)
        assert estimate.runs == 0
        assert not math.isfinite(estimate.interval(0.05)[0])
    # Nor of a trend where all trials agree.
    assert rate_trend([(100, 100)] * 3, [0, 1, 2]).interval(0.05) == (-math.inf, math.inf)


def test_the_trend_is_that_of_cochran_and_armitage() -> None:
    """Their statistic is the trials times the squared correlation of success and score."""
    counted, scores = [(10, 40), (25, 60), (30, 50)], [0.0, 1.0, 3.0]
    outcomes = np.concatenate([np.repeat([1, 0], [won, n - won]) for won, n in counted])
    positions = np.repeat(scores, [n for _, n in counted])
    z = math.sqrt(outcomes.size) * np.corrcoef(outcomes, positions)[0, 1]
    estimate = rate_trend(counted, scores)
    assert estimate.value / estimate.standard_error == pytest.approx(z, rel=1e-12)
    assert estimate.value == pytest.approx(np.polyfit(positions, outcomes, 1)[0])
    found = measured(estimate, greater=0).p_value
    assert found == pytest.approx(2.0 * stats.norm.sf(z), rel=1e-6)
