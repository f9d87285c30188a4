"""The bootstrap: keyed draws, percentile intervals, and functions of several means."""

import math

import numpy as np
import pytest
from scipy import stats

from dpbandits.claims import resampling
from dpbandits.claims.numbers import from_resamples, ratio_of_means
from dpbandits.claims.resampling import Resampler, Sample, argmin, from_means, kendall_tau, ratio

SEED = 20260719


def sample(values: object, name: str = "a", resamples: int = 20_000) -> Sample:
    return Sample(np.asarray(values, dtype=float), ("toy", name), Resampler(SEED, resamples))


def test_the_same_key_gives_the_same_resamples_and_another_key_others() -> None:
    values = np.random.default_rng(1).normal(size=50)
    one, again = (Resampler(SEED, 1000).means(values, ("s", "a")) for _ in range(2))
    other_key = Resampler(SEED, 1000).means(values, ("s", "b"))
    other_root = Resampler(SEED + 1, 1000).means(values, ("s", "a"))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other_key)
    assert not np.array_equal(one, other_root)
    # Independent: a correlation of 1000 pairs has sd 0.032; 0.15 is beyond 4 of them.
    assert abs(np.corrcoef(one, other_key)[0, 1]) < 0.15


def test_resamples_do_not_depend_on_how_many_indices_are_drawn_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = np.random.default_rng(1).normal(size=50)
    one = Resampler(SEED, 1000).means(values, ("a",))
    monkeypatch.setattr(resampling, "_INDICES_AT_ONCE", 50 * 7)
    assert np.array_equal(one, Resampler(SEED, 1000).means(values, ("a",)))


def test_the_store_of_means_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "_MEANS_KEPT", 3)
    resampler = Resampler(SEED, 10)
    for index in range(6):
        resampler.means(np.array([0.0, float(index)]), ("a",))
    assert len(resampler._kept) == 3


def test_resampled_means_have_the_spread_of_the_mean() -> None:
    values = np.random.default_rng(2).exponential(size=60)
    means = Resampler(SEED, 20_000).means(values, ("a",))
    # Exact for the bootstrap: mean, and sd of the plug-in law over sqrt(runs); 20000 resamples
    # leave a relative error of 1/sqrt(40000) = 0.5 %, of which 2 % is four.
    assert means.std() == pytest.approx(values.std() / math.sqrt(60), rel=0.02)
    assert means.mean() == pytest.approx(values.mean(), abs=4 * means.std() / math.sqrt(20_000))


def test_two_quantities_of_one_series_are_resampled_on_the_same_runs() -> None:
    base = sample(np.random.default_rng(3).normal(size=50))
    difference = from_means([base, base.derive(base.values + 1.0)], lambda m: m[:, 1] - m[:, 0])
    lo, hi = difference.interval(0.05)
    assert (lo, hi) == pytest.approx((1.0, 1.0), abs=1e-12)


def test_percentile_ends_are_order_statistics_rounded_outwards() -> None:
    resamples = np.arange(1.0, 1000.0)  # 999 values: alpha/2 (999 + 1) is a rank
    estimate = from_resamples(500.0, np.random.default_rng(1).permutation(resamples), 50)
    assert estimate.interval(0.05) == (25.0, 975.0)
    assert estimate.interval(0.051) == (25.0, 975.0)
    assert estimate.interval(0.002) == (1.0, 999.0)
    assert estimate.interval(0.0019) == (-math.inf, math.inf)


def test_nan_resamples_widen_both_ends() -> None:
    resamples = np.concatenate([np.arange(1.0, 980.0), np.full(20, np.nan)])
    lo, hi = from_resamples(500.0, resamples, 50).interval(0.05)
    assert (lo, hi) == (5.0, 975.0)
    assert from_resamples(500.0, np.full(999, np.nan), 50).interval(0.05) == (-math.inf, math.inf)


def test_one_run_tells_nothing() -> None:
    assert ratio(sample([3.0]), sample([2.0], "b")).interval(0.05) == (-math.inf, math.inf)
    assert math.isnan(ratio(sample([]), sample([2.0], "b")).value)


def test_bootstrap_and_fieller_ratios_agree_on_fifty_runs() -> None:
    """Two methods of one interval; at 50 runs with a relative sd of 0.3 the ends differ by 3 %."""
    generator = np.random.default_rng(4)
    first, second = generator.normal(3.0, 0.9, 50), generator.normal(2.0, 0.6, 50)
    one = ratio(sample(first), sample(second, "b"))
    other = ratio_of_means(first, second)
    assert one.value == pytest.approx(other.value, rel=1e-12)
    assert one.interval(0.05) == pytest.approx(other.interval(0.05), rel=0.03)


def test_percentile_intervals_of_a_ratio_cover() -> None:
    """400 repetitions with 50 runs: within 4 sd (0.044) of 95 %; a control at 50 % is not."""
    generator = np.random.default_rng(5)
    covered = {0.05: 0, 0.5: 0}
    for _ in range(400):
        one = sample(generator.normal(3.0, 1.0, 50), resamples=2000)
        other = sample(generator.normal(2.0, 1.0, 50), "b", resamples=2000)
        estimate = ratio(one, other)
        for alpha in covered:
            lo, hi = estimate.interval(alpha)
            covered[alpha] += lo <= 1.5 <= hi
    assert covered[0.05] / 400 == pytest.approx(0.95, abs=0.044)
    assert abs(covered[0.5] / 400 - 0.95) > 0.044


@pytest.mark.parametrize("seed", range(5))
def test_kendall_tau_is_scipys_tau_b(seed: int) -> None:
    generator = np.random.default_rng(seed)
    order = np.array([0, 500, 1000, 2000, 5000, 10000])
    # Few distinct values, so that ties occur.
    means = generator.integers(0, 4, (20, 6)).astype(float)
    expected = [stats.kendalltau(order, row).statistic for row in means]
    assert kendall_tau(order, means) == pytest.approx(expected, nan_ok=True)


def test_kendall_tau_of_equal_means_is_undefined() -> None:
    with np.errstate(invalid="ignore"):
        assert np.isnan(kendall_tau([1, 2, 3], np.zeros((1, 3)))).all()


def test_argmin_takes_the_first_and_passes_nan_on() -> None:
    means = np.array([[3.0, 1.0, 1.0], [0.0, np.nan, 1.0]])
    assert np.array_equal(argmin(means), [1.0, np.nan], equal_nan=True)


def test_argmin_settles_only_where_the_best_is_clear() -> None:
    """Settled if one value wins in at least 95 % of resamples."""
    noise = np.random.default_rng(6).normal(0.0, 1.0, (3, 50))
    clear = [sample(row + 5.0 * i, str(i)) for i, row in enumerate(noise)]
    close = [sample(row, str(i)) for i, row in enumerate(noise)]
    lo, hi = from_means(clear, argmin).interval(0.05)
    assert lo == hi == 0.0
    lo, hi = from_means(close, argmin).interval(0.05)
    assert lo < hi
