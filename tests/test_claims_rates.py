"""Estimates from counted successes: coverage, size, power, and that none collapses at 0 or 1."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpbandits.claims.numbers import Estimate, rate, rate_difference, rate_trend
from dpbandits.claims.verdict import deciding_alpha, region_of

RATES = (0.01, 0.1, 0.5, 0.9, 0.99)
REPETITIONS = 2000
FOUR_SIGMA = 4.0 * math.sqrt(0.05 * 0.95 / REPETITIONS)
"""Four standard deviations of a coverage of 95 % over the repetitions: 0.0195."""


def exact_coverage(trials: int, probability: float, alpha: float) -> float:
    """Chance that the interval of a rate covers it, summed over all outcomes."""
    chances = stats.binom.pmf(np.arange(trials + 1), trials, probability)
    ends = [rate((won, trials)).interval(alpha) for won in range(trials + 1)]
    return sum(
        float(chance)
        for chance, (lo, hi) in zip(chances, ends, strict=True)
        if lo <= probability <= hi
    )


def test_the_interval_of_a_rate_covers_at_least_as_often_as_it_says() -> None:
    """Clopper and Pearson's interval is conservative for every rate and number of trials."""
    for probability in RATES:
        for trials, alpha in product((10, 60), (0.01, 0.05, 0.3)):
            assert exact_coverage(trials, probability, alpha) >= 1.0 - alpha


def test_a_rate_less_a_number_is_shifted() -> None:
    plain, shifted = rate((30, 40)), rate((30, 40), 0.5)
    assert shifted.value == pytest.approx(0.25)
    assert shifted.interval(0.05) == pytest.approx([end - 0.5 for end in plain.interval(0.05)])
    assert shifted.is_random
    assert shifted.runs == 40
    expected = stats.binomtest(30, 40).proportion_ci(0.95, "exact")
    assert plain.interval(0.05) == pytest.approx((expected.low, expected.high))


def coverage(first: float, second: float, trials: int, alpha: float) -> float:
    """Share of repetitions in which the interval of a difference covers it; fixed seed."""
    generator = np.random.default_rng(20260719)
    won = generator.binomial(trials, [first, second], (REPETITIONS, 2))
    ends = [
        rate_difference((int(one), trials), (int(other), trials)).interval(alpha)
        for one, other in won
    ]
    return float(np.mean([lo <= first - second <= hi for lo, hi in ends]))


def test_the_interval_of_a_difference_covers() -> None:
    """2000 repetitions: not less than 95 % by more than four sd; it may be conservative."""
    for trials, (first, second) in product(
        [50, 1000, 10_000], [(0.5, 0.5), (0.9, 0.87), (0.99, 0.96), (0.05, 0.3)]
    ):
        assert coverage(first, second, trials, 0.05) >= 0.95 - FOUR_SIGMA


def test_a_narrower_interval_of_a_difference_does_not_cover() -> None:
    """A control: at level 10 % the same check fails."""
    assert coverage(0.5, 0.5, 10_000, 0.1) < 0.95 - FOUR_SIGMA


MADE: list[Callable[[int, int], Estimate]] = [
    lambda won, trials: rate((won, trials)),
    lambda won, trials: rate_difference((won, trials), (trials // 2, trials)),
    lambda won, trials: rate_difference((won, trials), (won, trials)),
    lambda won, trials: rate_trend([(won, trials), (trials // 2, trials)], [0.0, 1.0]),
]


@pytest.mark.parametrize("make", MADE)
@given(st.integers(1, 1000), st.floats(0.0, 1.0), st.floats(1e-9, 0.5), st.floats(1.01, 2.0))
def test_a_smaller_alpha_gives_an_interval_around_the_other(
    make: Callable[[int, int], Estimate], trials: int, share: float, alpha: float, factor: float
) -> None:
    """What p-values rest on: decided at one alpha, decided at every larger one."""
    estimate = make(round(share * trials), trials)
    (lo, hi), (inner_lo, inner_hi) = estimate.interval(alpha), estimate.interval(factor * alpha)
    assert lo <= inner_lo <= inner_hi <= hi


@pytest.mark.parametrize("won", [0, 100])
def test_no_interval_collapses_where_all_trials_agree(won: int) -> None:
    lo, hi = rate((won, 100)).interval(0.05)
    assert hi - lo > 0.03
    lo, hi = rate_difference((won, 100), (won, 100)).interval(0.05)
    assert lo < -0.03 < 0.03 < hi
    assert rate_trend([(won, 100)] * 3, [0, 1, 2]).interval(0.05) == (-math.inf, math.inf)


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


def test_the_trend_is_that_of_cochran_and_armitage() -> None:
    """Their statistic is the trials times the squared correlation of success and score."""
    counted, scores = [(10, 40), (25, 60), (30, 50)], [0.0, 1.0, 3.0]
    outcomes = np.concatenate([np.repeat([1, 0], [won, n - won]) for won, n in counted])
    positions = np.repeat(scores, [n for _, n in counted])
    z = math.sqrt(outcomes.size) * np.corrcoef(outcomes, positions)[0, 1]
    estimate = rate_trend(counted, scores)
    assert estimate.value / estimate.standard_error == pytest.approx(z, rel=1e-12)
    assert estimate.value == pytest.approx(np.polyfit(positions, outcomes, 1)[0])
    found = deciding_alpha(estimate, region_of("greater", 0.0))
    assert found == pytest.approx(2.0 * stats.norm.sf(z), rel=1e-6)
