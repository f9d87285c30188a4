"""Nash regret in one pass, against an array of rounds times runs."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbandits.kernels import UNIFORM
from dpbandits.metrics import QUANTITIES, nash
from dpbandits.metrics.nash import NashAccumulator, bin_edges, nash_parts, quantities
from nash_by_hand import Run, by_hand, dense, entered, horizon_of, random_runs, runs_of_segments

MEANS = np.array([0.9, 0.3, 0.3, 0.05, 0.001])
LOGS = np.log(MEANS)
RUNS = runs_of_segments(arms=MEANS.size)


def same_bits(one: NashAccumulator, other: NashAccumulator) -> None:
    """Assert that all that is recorded of two curves is equal bit for bit."""
    for name, part in nash_parts(one).items():
        np.testing.assert_array_equal(nash_parts(other)[name], part, err_msg=name)


def check(curve: NashAccumulator, played: Any, log_means: Any, grid: list[int]) -> None:
    found = dict(zip(QUANTITIES, quantities(curve), strict=True))
    for index, t in enumerate(grid):
        expected = by_hand(played, log_means, t)
        influences = expected.pop("influences")
        # Means are rounded to 2^-51: relative to 0.001 that is 5e-13, in a square 5e-10.
        np.testing.assert_allclose(curve.records.influences[:, index], influences, atol=4e-12)
        for name, value in expected.items():
            if name in ("nash_standard_error", "nash_bias") and len(played) == 1:
                assert np.isnan(found[name][index])
                continue
            tolerance = 5e-10 if name == "nash_bias" else 4e-12
            np.testing.assert_allclose(found[name][index], value, rtol=4e-12, atol=tolerance)


@given(runs=RUNS, data=st.data())
def test_one_pass_equals_the_dense_formulas(runs: list[Run], data: st.DataObject) -> None:
    grid = sorted(data.draw(st.sets(st.integers(1, horizon_of(runs)), min_size=1)))
    curve = entered(runs, MEANS, grid)
    check(curve, dense(runs, MEANS.size), LOGS, grid)


@given(runs=RUNS, data=st.data())
def test_windows_and_times_change_no_bit(runs: list[Run], data: st.DataObject) -> None:
    horizon = horizon_of(runs)
    grid = list(range(1, horizon + 1))
    whole = entered(runs, MEANS, grid)
    ends = sorted(data.draw(st.sets(st.integers(1, horizon), max_size=8)) - {horizon})
    same_bits(entered(runs, MEANS, grid, ends), whole)
    t = data.draw(st.integers(1, horizon))
    alone = entered(runs, MEANS, [t])
    np.testing.assert_array_equal(quantities(alone)[:, 0], quantities(whole)[:, t - 1])
    np.testing.assert_array_equal(
        alone.records.influences[:, 0], whole.records.influences[:, t - 1]
    )


@given(runs=RUNS)
def test_segments_change_no_bit(runs: list[Run]) -> None:
    """Only the arms of the rounds count, not how they are cut into segments."""
    single = [[(arm, 1) for arm, length in run for _ in range(length)] for run in runs]
    grid = list(range(1, horizon_of(runs) + 1))
    same_bits(entered(single, MEANS, grid), entered(runs, MEANS, grid))


@given(runs=RUNS, data=st.data())
def test_runs_may_come_in_any_order(runs: list[Run], data: st.DataObject) -> None:
    grid = list(range(1, horizon_of(runs) + 1))
    order = data.draw(st.permutations(range(len(runs))))
    one, other = entered(runs, MEANS, grid), entered([runs[r] for r in order], MEANS, grid)
    for name in ("log_means", "spreads"):
        np.testing.assert_array_equal(getattr(other.records, name), getattr(one.records, name))
    np.testing.assert_array_equal(other.records.influences, one.records.influences[order])


@pytest.fixture
def both_ways(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that feeds runs round by round, and change by change."""

    def feed(*arguments: Any) -> tuple[NashAccumulator, NashAccumulator]:
        found = []
        for ratio in (10**9, 0):
            with monkeypatch.context() as patched:
                patched.setattr(nash, "ROUNDS_PER_SEGMENT", ratio)
                found.append(entered(*arguments))
        return found[0], found[1]

    return feed


@pytest.mark.parametrize("mean_length", [1.0, 3.0, 200.0])
def test_rounds_and_changes_give_the_same_bits(both_ways: Any, mean_length: float) -> None:
    runs = random_runs(3, 7, 9000, mean_length, MEANS.size)
    grid = [1, 2, 17, 2048, 2049, 4096, 8999, 9000]
    by_round, by_change = both_ways(runs, MEANS, grid, [5, 2500, 8192])
    same_bits(by_round, by_change)
    check(by_round, dense(runs, MEANS.size), LOGS, grid)


def test_the_way_is_chosen_by_density(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def noted(name: str) -> None:
        sweep = getattr(nash, name)
        monkeypatch.setattr(nash, name, lambda *given: (taken.append(name), sweep(*given)))

    noted("sweep_rounds")
    noted("sweep_changes")
    entered(random_runs(5, 4, 500, 1.0, MEANS.size), MEANS, [500])
    entered(random_runs(5, 4, 50_000, 500.0, MEANS.size), MEANS, [50_000])
    assert taken == ["sweep_rounds", "sweep_changes"]


def test_stretches_of_a_window_change_no_bit() -> None:
    """More runs than changes fit: stretches of a single round, against changes sorted."""
    runs = random_runs(4, 5, 300, 2.0, MEANS.size)
    whole = entered(runs, MEANS, [300])
    many = runs * (nash.CHANGES_AT_ONCE // (2 * nash.ROUNDS_AT_ONCE))
    repeated = entered(many, MEANS, [300])
    assert len(many) * nash.ROUNDS_AT_ONCE > nash.CHANGES_AT_ONCE
    np.testing.assert_allclose(repeated.records.log_means, whole.records.log_means, rtol=1e-14)
    np.testing.assert_allclose(
        repeated.records.influences[:5], whole.records.influences, atol=1e-14
    )


def test_runs_that_trade_arms(both_ways: Any) -> None:
    """Sums over runs stay the same where two runs swap their arms, or go to an equal mean."""
    runs: list[Run] = [[(0, 5), (1, 5)], [(1, 5), (0, 5)], [(1, 3), (2, 7)]]
    curves = both_ways(runs, MEANS, list(range(1, 11)))
    same_bits(*curves)
    check(curves[0], dense(runs, MEANS.size), LOGS, list(range(1, 11)))
    assert curves[0].piece.start[0] == 0, "one piece from first to last"


def test_a_change_at_a_grid_time_counts_after_it() -> None:
    curve = entered([[(0, 3), (1, 3)]] * 2, np.array([1.0, 0.25]), [3, 4])
    np.testing.assert_array_equal(curve.records.log_means, [0.0, math.log(0.25) / 4])


@given(runs=RUNS)
def test_average_regret_is_no_larger(runs: list[Run]) -> None:
    # NCB-C14, by the inequality of arithmetic and geometric means; 1e-12 for means in 2^-51.
    found = quantities(entered(runs, MEANS, list(range(1, horizon_of(runs) + 1))))
    named = dict(zip(QUANTITIES, found, strict=True))
    assert (np.exp(named["nash_log_mean"]) <= named["average_mean"] + 1e-12).all()
    assert (named["trajectory_mean"] <= np.exp(named["nash_log_mean"]) + 1e-12).all()


def test_uniform_rounds_count_by_the_mean_of_all_arms() -> None:
    assert UNIFORM == -1
    curve = entered([[(UNIFORM, 4)], [(0, 4)]], np.array([0.5, 0.25]), [4])
    found = dict(zip(QUANTITIES, quantities(curve)[:, 0], strict=True))
    # e = (0.375 + 0.5) / 2 in every round; along the first run the mean logarithm counts.
    assert found["nash_log_mean"] == pytest.approx(math.log(0.4375), rel=1e-15)
    assert found["average_mean"] == 0.4375
    expected = (math.sqrt(0.125) + 0.5) / 2
    assert found["trajectory_mean"] == pytest.approx(expected, rel=1e-15)


def test_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nash, "BINS", 4)
    runs = random_runs(6, 3, 11, 2.0, MEANS.size)
    curve = entered(runs, MEANS, list(range(1, 12)))
    scored = np.append(MEANS, MEANS.mean())[dense(runs, MEANS.size)]
    edges = bin_edges(11)
    assert edges.tolist() == [2, 5, 8, 11]
    parts = np.split(scored, edges[:-1], axis=1)
    expected = np.stack([part.mean(axis=1) for part in parts], axis=1)
    np.testing.assert_allclose(curve.records.bins, expected, rtol=1e-14)
    for t in range(1, 12):
        inside = np.split(scored[:, :t], edges[edges < t], axis=1)
        logs = sum(part.shape[1] * math.log(part.mean()) for part in inside)
        assert curve.records.binned[t - 1] == pytest.approx(logs / t, rel=1e-13)


def test_bins_are_rounds_where_these_are_fewer() -> None:
    assert bin_edges(3).tolist() == [1, 2, 3]
    assert len(bin_edges(10**10)) == 2000
    assert bin_edges(10**10)[-1] == 10**10
    runs = random_runs(7, 4, 60, 2.0, MEANS.size)
    curve = entered(runs, MEANS, [60])
    np.testing.assert_allclose(curve.records.binned, curve.records.log_means, rtol=1e-11)
    expected = np.append(MEANS, MEANS.mean())[dense(runs, MEANS.size)]
    np.testing.assert_allclose(curve.records.bins, expected, rtol=1e-15)


@given(runs=runs_of_segments(arms=2))
def test_tiny_means_are_carried_as_logarithms(runs: list[Run]) -> None:
    """Panel (a): means (2e)^-T and 1, here at T = 1000, where the first is 0 in a double."""
    log_means = np.array([-1000.0 * math.log(2 * math.e), 0.0])
    grid = list(range(1, horizon_of(runs) + 1))
    curve = entered(runs, np.array([0.0, 1.0]), grid, [], log_means)
    assert curve.scores.in_logs
    check(curve, dense(runs, 2), log_means, grid)


def test_uniform_rounds_of_tiny_means() -> None:
    log_means = np.array([-2000.0, -1900.0, -1950.0])
    curve = entered([[(UNIFORM, 3), (0, 1)], [(UNIFORM, 4)]], np.zeros(3), [3, 4], [], log_means)
    check(curve, np.array([[3, 3, 3, 0], [3, 3, 3, 3]]), log_means, [3, 4])


def test_logarithms_and_integers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = random_runs(8, 6, 800, 2.5, MEANS.size)
    grid = [1, 100, 799, 800]
    in_integers = entered(runs, MEANS, grid)
    monkeypatch.setattr(nash, "SMALLEST_MEAN", 1.0)
    in_logs = entered(runs, MEANS, grid, [33, 700])
    assert in_logs.scores.in_logs
    assert not in_integers.scores.in_logs
    np.testing.assert_allclose(quantities(in_logs), quantities(in_integers), rtol=1e-11)
    np.testing.assert_allclose(
        in_logs.records.influences, in_integers.records.influences, atol=4e-12
    )
    same_bits(entered(runs, MEANS, grid), in_logs)


def test_the_first_pulls_of_panel_a() -> None:
    """All runs begin with arm 0, so NR_T >= 1 - 1/(2e) whatever follows (derived)."""
    horizon = 500
    log_means = np.array([-horizon * math.log(2 * math.e), 0.0])
    runs: list[Run] = [[(0, 1), (1, horizon - 1)]] * 50
    curve = entered(runs, np.array([0.0, 1.0]), [horizon], [], log_means)
    assert math.exp(curve.records.log_means[0]) == pytest.approx(1 / (2 * math.e), rel=1e-12)


def test_a_round_of_mean_zero_counts_with_the_floor() -> None:
    # dp-ncb, Equation 2, step 3: log max(e, 1e-300). The floor moves with no run.
    curve = entered([[(0, 1), (1, 2)], [(0, 1), (0, 2)]], np.array([0.0, 0.5]), [1, 3])
    expected = [math.log(1e-300), (math.log(1e-300) + 2 * math.log(0.25)) / 3]
    np.testing.assert_allclose(curve.records.log_means, expected, rtol=1e-14)
    np.testing.assert_allclose(curve.records.influences, [[0.0, 2 / 3], [0.0, -2 / 3]], atol=1e-15)


def test_long_pieces_lose_no_digits() -> None:
    """Ten thousand million rounds in two segments a run, against 50 digits."""
    horizon, change = 10**10, 123_456_789
    means = np.array([0.97, 0.31])
    curve = entered([[(1, change), (0, horizon - change)], [(0, horizon)]], means, [horizon])
    with mpmath.workdps(50):
        low, high = mpmath.mpf(means[1]), mpmath.mpf(means[0])
        mixed = (low + high) / 2
        mean = (change * mpmath.log(mixed) + (horizon - change) * mpmath.log(high)) / horizon
        influence = change * (low / mixed - 1) / horizon
    assert curve.records.log_means[0] == pytest.approx(float(mean), rel=1e-14)
    # The sum of 1/e reaches 1e10, where a double is exact to 1e-6; over 1e10 rounds, 1e-16.
    expected = [float(influence), -float(influence)]
    np.testing.assert_allclose(curve.records.influences[:, 0], expected, atol=1e-15)


def test_products_of_many_means_do_not_underflow() -> None:
    """Single rounds are multiplied before the logarithm: here past 1e-308 many times."""
    means = np.array([0.0002, 0.0003, 0.0004, 0.0005, 0.0006])
    runs = random_runs(9, 2, 20_000, 1.0, means.size)
    curve = entered(runs, means, [20_000])
    expected = by_hand(dense(runs, means.size), np.log(means), 20_000)["nash_log_mean"]
    # Means of 2e-4 in units of 2^-51 are exact to 2e-12, their logarithms of -8 to 3e-13.
    assert curve.records.log_means[0] == pytest.approx(expected, rel=1e-12)
