"""Intervals of rank correlations and of places of optima, by all pairs at once."""

import math

import numpy as np
import pytest
from scipy import stats

from dpbandits.claims.numbers import (
    Measured,
    distance_of_lowest,
    is_lowest,
    mean,
    place_of_lowest,
    rank_correlation,
)


def samples(*means: float, runs: int = 50) -> list[Measured]:
    """Normal runs around each mean."""
    generator = np.random.default_rng(6)
    return [mean(centre + generator.standard_normal(runs)) for centre in means]


def apart(one: int, other: int) -> float:
    """Distance of two places."""
    return float(abs(one - other))


def test_a_plain_order_has_an_interval_at_any_level() -> None:
    own = samples(10.0, 40.0, 30.0, 20.0)
    found = rank_correlation([0, 1, 2, 3], own)
    means = [each.value for each in own]
    assert found.value == pytest.approx(stats.kendalltau(range(4), means).statistic)
    assert found.value == pytest.approx(0.0)
    assert found.interval(1e-6) == pytest.approx((0.0, 0.0))


def test_a_pair_that_is_not_told_apart_may_have_either_order() -> None:
    """One pair of six open moves tau by a third to one side of where it is."""
    own = samples(10.0, 40.0, 40.01, 50.0)
    found = rank_correlation([0, 1, 2, 3], own)
    assert found.interval(0.05) == pytest.approx((4 / 6, 1.0))
    wide = rank_correlation([0, 1, 2, 3], samples(1.0, 1.0, 1.0, 1.0))
    assert wide.interval(0.05) == pytest.approx((-1.0, 1.0))


def test_the_best_places_are_those_that_no_other_is_certainly_below() -> None:
    clear, other = samples(30.0, 10.0, 20.0), samples(10.0, 20.0, 30.0)
    # Places 1 and 2 are too close to tell: the best of the first list may be 1 or 2 from place 0.
    open_pair = samples(30.0, 10.0, 10.01)
    for first, second, alpha, ends in (
        (clear, clear, 1e-6, (0.0, 0.0)),
        (clear, other, 1e-6, (1.0, 1.0)),
        (open_pair, other, 0.05, (1.0, 2.0)),
        (open_pair, open_pair, 0.05, (0.0, 1.0)),
    ):
        assert distance_of_lowest(first, second, apart).interval(alpha) == ends
    assert distance_of_lowest(clear, other, apart).value == 1.0


def test_the_place_of_the_best_is_between_those_that_may_be() -> None:
    found = place_of_lowest([1, 2, 8], samples(30.0, 10.0, 20.0))
    assert (found.value, found.interval(1e-6)) == (2.0, (2.0, 2.0))
    found = place_of_lowest([1, 2, 8], samples(30.0, 10.0, 10.01))
    assert found.interval(0.05) == (2.0, 8.0)
    lost = samples(30.0, 10.0, math.nan)
    assert place_of_lowest([1, 2, 8], lost).interval(0.05) == (-math.inf, math.inf)


def test_the_lowest_is_known_where_all_others_are_certainly_above() -> None:
    clear, close = samples(30.0, 10.0, 20.0), samples(30.0, 10.0, 10.01)
    assert [is_lowest(place, clear).interval(1e-6) for place in range(3)] == [
        (0.0, 0.0),
        (1.0, 1.0),
        (0.0, 0.0),
    ]
    assert is_lowest(1, close).interval(0.05) == (0.0, 1.0)


def test_fewer_than_two_runs_or_a_lost_number_leave_everything_open() -> None:
    one = samples(1.0, 2.0, 3.0, runs=1)
    assert rank_correlation([0, 1, 2], one).interval(0.05) == (-1.0, 1.0)
    lost = samples(1.0, math.nan, 3.0)
    found = distance_of_lowest(lost, samples(1.0, 2.0, 3.0), apart)
    assert found.interval(0.05) == (-math.inf, math.inf)


def test_the_interval_holds_as_often_as_it_says() -> None:
    """Four equal means: any order is right, and an interval that leaves out tau = 0 is wrong."""
    generator = np.random.default_rng(11)
    missed = 0
    for _ in range(400):
        own = [mean(generator.standard_normal(30)) for _ in range(4)]
        lo, hi = rank_correlation([0, 1, 2, 3], own).interval(0.05)
        missed += not lo <= 0.0 <= hi
    # 5 % of 400, and four standard deviations.
    assert missed <= 20 + 4 * math.sqrt(400 * 0.05 * 0.95)
