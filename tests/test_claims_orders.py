"""Intervals of rank correlations and of places of optima, by all pairs at once."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpbandits.claims import statistics
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.resampling import (
    Resampler,
    Sample,
    distance_of_best,
    measure,
    place_of_best,
    rank_correlation,
)

RESAMPLER = Resampler(1, 10)


def samples(*means: float, runs: int = 50) -> list[Sample]:
    """Normal runs around each mean."""
    generator = np.random.default_rng(6)
    return [
        Sample(mean + generator.standard_normal(runs), ("s", f"{index}"), RESAMPLER)
        for index, mean in enumerate(means)
    ]


def apart(one: int, other: int) -> float:
    """Distance of two places."""
    return float(abs(one - other))


def test_a_plain_order_has_an_interval_at_any_level() -> None:
    own = samples(10.0, 40.0, 30.0, 20.0)
    found = rank_correlation([0, 1, 2, 3], [measure(each) for each in own])
    means = [each.mean for each in own]
    assert found.value == pytest.approx(stats.kendalltau(range(4), means).statistic)
    assert found.value == pytest.approx(0.0)
    assert found.interval(1e-6) == pytest.approx((0.0, 0.0))


def test_a_pair_that_is_not_told_apart_may_have_either_order() -> None:
    """One pair of six open moves tau by a third to one side of where it is."""
    own = samples(10.0, 40.0, 40.01, 50.0)
    found = rank_correlation([0, 1, 2, 3], [measure(each) for each in own])
    assert found.interval(0.05) == pytest.approx((4 / 6, 1.0))
    wide = rank_correlation([0, 1, 2, 3], [measure(each) for each in samples(1.0, 1.0, 1.0, 1.0)])
    assert wide.interval(0.05) == pytest.approx((-1.0, 1.0))


def test_the_best_places_are_those_that_no_other_is_certainly_below() -> None:
    clear, other = samples(30.0, 10.0, 20.0), samples(10.0, 20.0, 30.0)
    assert distance_of_best(clear, clear, apart).interval(1e-6) == (0.0, 0.0)
    found = distance_of_best(clear, other, apart)
    assert (found.value, found.interval(1e-6)) == (1.0, (1.0, 1.0))
    # Places 1 and 2 are too close to tell: the best of the first list may be 1 or 2 from place 0.
    open_pair = samples(30.0, 10.0, 10.01)
    assert distance_of_best(open_pair, other, apart).interval(0.05) == (1.0, 2.0)
    assert distance_of_best(open_pair, open_pair, apart).interval(0.05) == (0.0, 1.0)


def test_the_place_of_the_best_is_between_those_that_may_be() -> None:
    found = place_of_best([1, 2, 8], samples(30.0, 10.0, 20.0))
    assert (found.value, found.interval(1e-6)) == (2.0, (2.0, 2.0))
    found = place_of_best([1, 2, 8], samples(30.0, 10.0, 10.01))
    assert found.interval(0.05) == (2.0, 8.0)
    lost = samples(30.0, 10.0, math.nan)
    assert place_of_best([1, 2, 8], lost).interval(0.05) == (-math.inf, math.inf)


@pytest.mark.parametrize("along", ["epsilon", "t"])
def test_the_shared_statistics_stand_at_a_level_that_resamples_do_not_resolve(along: str) -> None:
    """Runs of one series at two times are the same runs: their noise cancels in the order."""
    noise = np.random.default_rng(3).standard_normal(50)
    frame = pd.DataFrame(
        [
            {"series": f"e={epsilon}", "epsilon": epsilon, "metric": "pseudo_regret", "arm": -1}
            | {"run": run, "t": t, "value": 10.0 * epsilon + 0.1 * t + noise[run]}
            for epsilon in (1, 2, 4)
            for run in range(50)
            for t in (1, 2, 3)
        ]
    )
    evidence = Evidence.of_frames({"runs": frame}, root_seed=1, resamples=100)
    where = {"results": "runs", "along": along, "of": {"epsilon": 1} if along == "t" else {}}
    assert statistics.trend(evidence, **where).interval(1e-7) == (1.0, 1.0)
    assert statistics.place_of_lowest(evidence, **where).interval(1e-7) == (1.0, 1.0)


def test_fewer_than_two_runs_or_a_lost_number_leave_everything_open() -> None:
    one = [measure(each) for each in samples(1.0, 2.0, 3.0, runs=1)]
    assert rank_correlation([0, 1, 2], one).interval(0.05) == (-1.0, 1.0)
    lost = samples(1.0, 2.0, 3.0)
    lost[1].values[0] = math.nan
    found = distance_of_best(lost, samples(1.0, 2.0, 3.0), apart)
    assert found.interval(0.05) == (-math.inf, math.inf)


def test_the_interval_holds_as_often_as_it_says() -> None:
    """Four equal means: any order is right, and an interval that leaves out tau = 0 is wrong."""
    generator = np.random.default_rng(11)
    missed = 0
    for _ in range(400):
        own = [Sample(generator.standard_normal(30), ("s", f"{i}"), RESAMPLER) for i in range(4)]
        lo, hi = rank_correlation([0, 1, 2, 3], [measure(each) for each in own]).interval(0.05)
        missed += not lo <= 0.0 <= hi
    # 5 % of 400, and four standard deviations.
    assert missed <= 20 + 4 * math.sqrt(400 * 0.05 * 0.95)
