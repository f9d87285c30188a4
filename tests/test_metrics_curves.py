"""Nash regret, regret and pulls in one pass, against a computation round by round."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.special import logsumexp

import dpbandits
from dpbandits import NashCurve, Simulation
from dpbandits.engine.cells import Series, make_cell
from dpbandits.engine.identity import run_generator, stream_key
from dpbandits.metrics import METRICS, NASH_QUANTITIES, nash, require_metric
from dpbandits.metrics.intervals import mean_interval, runs_interval
from dpbandits.metrics.nash import (
    MAXIMAL_PULLS,
    MAXIMAL_RUNS,
    NashAccumulator,
    bin_edges,
    drop_segments,
    enter_window,
    nash_accumulator,
    nash_parts,
    quantities,
)
from dpbandits.metrics.regret import (
    Accumulator,
    accumulate,
    accumulator_of,
    inverse_counts,
    pseudo_regret,
    pulls,
    realised_regret,
)
from support import Decision, bandits, message_of

Values = NDArray[np.float64]
Run = list[tuple[int, int]]
"""Segments of one run: (arm, or -1 for uniformly random ones; length)."""


@st.composite
def runs_of_segments(draw: st.DrawFn, arms: int, most_runs: int = 6) -> list[Run]:
    """Draw some runs of one length, in segments; arms repeat, and -1 is among them."""
    horizon = draw(st.integers(1, 40))
    runs = []
    for _ in range(draw(st.integers(1, most_runs))):
        cuts = draw(st.sets(st.integers(1, horizon), max_size=horizon))
        lengths = np.diff([0, *sorted(cuts | {horizon})]).tolist()
        runs.append([(draw(st.integers(-1, arms - 1)), length) for length in lengths])
    return runs


def random_runs(seed: int, runs: int, horizon: int, mean_length: float, arms: int) -> list[Run]:
    """Return runs of random arms, uniformly random ones (-1) among them, in random segments."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(runs):
        run: Run = []
        left = horizon
        while left:
            length = min(left, int(generator.geometric(1 / mean_length)))
            run.append((int(generator.integers(-1, arms)), length))
            left -= length
        found.append(run)
    return found


def rounds(runs: list[Run]) -> int:
    """Return the number of rounds that every run has."""
    return sum(length for _, length in runs[0])


def entered(
    runs: list[Run],
    means: Values,
    grid: list[int],
    ends: list[int] | None = None,
    log_means: Values | None = None,
) -> NashAccumulator:
    """Feed the runs to an accumulator, in windows that end at ``ends`` and at the horizon."""
    horizon = rounds(runs)
    if log_means is None:
        with np.errstate(divide="ignore"):
            log_means = np.log(means)
    curve = nash_accumulator(means, log_means, len(runs), horizon, np.array(grid, np.int64))
    filled = np.array([len(run) for run in runs])
    # What lies behind the segments is never read: arm 99 would stand out.
    arms, lengths = np.full((2, len(runs), filled.max()), 99)
    for number, run in enumerate(runs):
        arms[number, : len(run)] = [arm for arm, _ in run]
        lengths[number, : len(run)] = [length for _, length in run]
    starts = np.zeros(len(runs), np.int64)
    begin = 0
    for until in [*(ends or []), horizon]:
        enter_window(curve, arms, lengths, filled, starts, (begin, until))
        drop_segments(arms, lengths, filled, starts, until)
        begin = until
    return curve


def dense(runs: list[Run], arms: int) -> NDArray[np.int64]:
    """Return the arm of every round, shape (R, T); ``arms`` for a uniformly random one."""
    return np.array([[a % (arms + 1) for a, length in run for _ in range(length)] for run in runs])


def by_hand(played: NDArray[np.int64], log_means: Values, t: int) -> dict[str, Any]:
    """Return the quantities of a curve at the time t, round by round, in logarithms throughout."""
    arms, runs = log_means.size, played.shape[0]
    logs = np.append(log_means, logsumexp(log_means) - np.log(arms))
    paths = np.append(log_means, log_means.mean())[played[:, :t]]
    scored = logs[played[:, :t]]
    log_e = logsumexp(scored, axis=0) - np.log(runs)
    ratio = np.exp(scored - log_e)
    influences = (ratio - 1.0).mean(axis=1)
    spread = (ratio**2).mean(axis=0) - 1.0
    return {
        "nash_log_mean": log_e.mean(),
        "nash_standard_error": np.sqrt((influences**2).sum() / (runs * max(1, runs - 1))),
        "nash_bias": spread.mean() / (2 * max(1, runs - 1)),
        "average_mean": np.exp(log_e).mean(),
        "trajectory_mean": np.exp(paths.mean(axis=1)).mean(),
        "best_mean": np.exp(log_means.max()),
        "influences": influences,
    }


MEANS = np.array([0.9, 0.3, 0.3, 0.05, 0.001])
LOGS = np.log(MEANS)
SCORES = {
    "integers": (MEANS, LOGS),
    "logarithms": (np.array([0.0, 1.0]), np.array([-1000.0 * math.log(2 * math.e), 0.0])),
}
"""Means and their logarithms; of panel (a) (2e)^-T and 1, at T = 1000, where 0 is a double's."""


def same_bits(one: NashAccumulator, other: NashAccumulator) -> None:
    """Assert that all that is recorded of two curves is equal bit for bit."""
    for name, part in nash_parts(one).items():
        np.testing.assert_array_equal(nash_parts(other)[name], part, err_msg=name)


def check(curve: NashAccumulator, played: Any, log_means: Any, grid: list[int]) -> None:
    found = dict(zip(NASH_QUANTITIES, quantities(curve), strict=True))
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


@pytest.mark.parametrize("kind", SCORES)
@given(data=st.data())
def test_one_pass_equals_the_dense_formulas(kind: str, data: st.DataObject) -> None:
    means, log_means = SCORES[kind]
    runs = data.draw(runs_of_segments(means.size))
    grid = sorted(data.draw(st.sets(st.integers(1, rounds(runs)), min_size=1)))
    curve = entered(runs, means, grid, [], log_means)
    assert curve.scores.in_logs == (kind == "logarithms")
    check(curve, dense(runs, means.size), log_means, grid)


@pytest.mark.parametrize("kind", SCORES)
@given(data=st.data())
def test_windows_times_segments_and_the_order_of_runs_change_no_bit(
    kind: str, data: st.DataObject
) -> None:
    means, log_means = SCORES[kind]
    runs = data.draw(runs_of_segments(means.size))
    horizon = rounds(runs)
    grid = list(range(1, horizon + 1))
    enter = partial(entered, means=means, log_means=log_means)
    whole = enter(runs, grid=grid)
    ends = sorted(data.draw(st.sets(st.integers(1, horizon), max_size=8)) - {horizon})
    same_bits(enter(runs, grid=grid, ends=ends), whole)
    single = [[(arm, 1) for arm, length in run for _ in range(length)] for run in runs]
    same_bits(enter(single, grid=grid), whole)
    t = data.draw(st.integers(1, horizon))
    alone, records = enter(runs, grid=[t]), whole.records
    np.testing.assert_array_equal(quantities(alone)[:, 0], quantities(whole)[:, t - 1])
    np.testing.assert_array_equal(alone.records.influences[:, 0], records.influences[:, t - 1])
    order = data.draw(st.permutations(range(len(runs))))
    other = enter([runs[r] for r in order], grid=grid).records
    for name in ("log_means", "spreads"):
        np.testing.assert_array_equal(getattr(other, name), getattr(records, name))
    np.testing.assert_array_equal(other.influences, records.influences[order])


def test_rounds_and_changes_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = [1, 2, 17, 2048, 2049, 4096, 8999, 9000]
    for mean_length in (1.0, 3.0, 200.0):
        runs = random_runs(3, 7, 9000, mean_length, MEANS.size)
        both = []
        for ratio in (10**9, 0):
            monkeypatch.setattr(nash, "ROUNDS_PER_SEGMENT", ratio)
            both.append(entered(runs, MEANS, grid, [5, 2500, 8192]))
        same_bits(*both)
        check(both[0], dense(runs, MEANS.size), LOGS, grid)


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


def test_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds, where these are fewer."""
    assert bin_edges(3).tolist() == [1, 2, 3]
    assert len(bin_edges(10**10)) == 2000
    assert bin_edges(10**10)[-1] == 10**10
    for bins, horizon, ends in ((4, 11, [2, 5, 8, 11]), (2000, 60, list(range(1, 61)))):
        monkeypatch.setattr(nash, "BINS", bins)
        runs = random_runs(6, 3, horizon, 2.0, MEANS.size)
        curve = entered(runs, MEANS, list(range(1, horizon + 1)))
        scored = np.append(MEANS, MEANS.mean())[dense(runs, MEANS.size)]
        edges = bin_edges(horizon)
        assert edges.tolist() == ends
        parts = np.split(scored, edges[:-1], axis=1)
        expected = np.stack([part.mean(axis=1) for part in parts], axis=1)
        np.testing.assert_allclose(curve.records.bins, expected, rtol=1e-14)
        for t in range(1, horizon + 1):
            inside = np.split(scored[:, :t], edges[edges < t], axis=1)
            logs = sum(part.shape[1] * math.log(part.mean()) for part in inside)
            assert curve.records.binned[t - 1] == pytest.approx(logs / t, rel=1e-11)


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


# The curve that is returned.

BANDIT = dpbandits.bernoulli([0.75, 0.5, 0.25])


def curve(runs: int = 5) -> NashCurve:
    ledger = entered(random_runs(10, runs, 50, 2.0, MEANS.size), MEANS, [10, 50])
    influences = ledger.records.influences
    return NashCurve.of_parts(np.array([10, 50]), quantities(ledger), len(influences), influences)


def test_a_curve_is_read_off_its_parts() -> None:
    one = curve()
    assert one.best_mean == 0.9
    np.testing.assert_allclose(one.nash_regret, 0.9 - np.exp(one.log_mean + one.log_bias), 1e-13)
    plain = one.with_bias("kept")
    np.testing.assert_array_equal(plain.nash_regret, 0.9 - np.exp(one.log_mean))
    np.testing.assert_array_equal(plain.with_bias("subtracted").nash_regret, one.nash_regret)
    np.testing.assert_allclose(plain.nash_regret - one.nash_regret, one.bias, rtol=1e-10)
    np.testing.assert_array_equal(np.asarray(one), one.nash_regret)
    with pytest.raises(ValueError, match="is a copy"):
        np.array(one, copy=False)
    assert list(one) == one.nash_regret.tolist()
    assert len(one) == 2
    assert one[1] == one.nash_regret[1]
    assert one.runs == 5
    assert (one.average_regret <= plain.nash_regret).all()
    assert (plain.nash_regret <= one.trajectory_regret).all()
    assert (one.bias > 0).all()
    other = one.against(1.0)
    for name in ("nash_regret", "average_regret", "trajectory_regret", "binned_regret"):
        np.testing.assert_allclose(getattr(other, name) - getattr(one, name), 0.1, rtol=1e-13)
    for each in (one, plain):
        ends = stats.t.interval(0.9, 4, each.nash_regret, one.standard_error)
        np.testing.assert_allclose(each.interval(0.9), ends, rtol=1e-12)
    for each in (other, plain):
        np.testing.assert_array_equal(each.standard_error, one.standard_error)
        np.testing.assert_array_equal(each.bias, one.bias)


def simulate(**changes: Any) -> Simulation:
    base: dict[str, Any] = {"algorithm": "ucb1"}
    return dpbandits.simulate(**(base | {"bandit": BANDIT, "horizon": 80, "runs": 12} | changes))


def test_curves_are_those_of_the_reference_s_decisions() -> None:
    """By segments from kernels, round by round from the plain references on the same streams."""
    for algorithm, params in (("ucb1", {}), ("dp-ts-ucb", {"alpha": 1.0})):
        simulation = simulate(algorithm=algorithm, params=params, seed=8)
        cell, played = simulation.cell, []
        key = stream_key(cell.stream_description)
        for run in range(12):
            generator = run_generator(8, key, run)
            chunks = cell.definition.reference(cell.settings, BANDIT, generator)
            played.append([arm for arm, length, _ in chunks for _ in range(length)])
        found = simulation.nash_regret(at=[80, 3, 40, 3])
        assert found.times.tolist() == [80, 3, 40, 3]
        for index, t in enumerate(found.times):
            expected = by_hand(np.array(played), np.log(BANDIT.means), int(t))
            geometric = math.exp(expected["nash_log_mean"])
            for quantity, value in (
                (found.log_mean[index], expected["nash_log_mean"]),
                (found.influences[:, index], expected["influences"]),
                (found.standard_error[index], geometric * expected["nash_standard_error"]),
                (found.bias[index], geometric * math.expm1(expected["nash_bias"])),
                (found.average_regret[index], 0.75 - expected["average_mean"]),
            ):
                # Exact but for rounding: the means are dyadic.
                np.testing.assert_allclose(quantity, value, 1e-13, 1e-14, err_msg=algorithm)


def test_nominal_means_score_the_same_runs() -> None:
    nominal = dpbandits.Bandit(BANDIT.arms, nominal=(0.5, 0.75, 0.25))
    plain, scored = simulate(), simulate(bandit=nominal)
    np.testing.assert_array_equal(scored.pulls, plain.pulls)
    for_true = scored.nash_regret(at=[80])
    np.testing.assert_array_equal(for_true.nash_regret, plain.nash_regret(at=[80]).nash_regret)
    found = scored.nash_regret(at=[80], nominal=True)
    assert found.best_mean == 0.75
    expected = 0.75 - (scored.pulls @ np.array([0.5, 0.75, 0.25])).mean() / 80
    np.testing.assert_allclose(found.average_regret, [expected], rtol=1e-13)
    without = plain.nash_regret(at=[80], nominal=True)
    np.testing.assert_array_equal(without.nash_regret, for_true.nash_regret)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    *(
        (call, f"bias is {bias!r}; allowed: subtracted, kept")
        for bias in ("", "Kept", None, True)
        for call in (
            lambda bias=bias: curve().with_bias(bias),
            lambda bias=bias: simulate().nash_regret(at=[80], bias=bias),
        )
    ),
    *(
        (lambda level=level: curve().interval(level), f"level is {level}")
        for level in (0.0, 1.0, -0.5, 95, math.nan)
    ),
    *(
        (lambda name=name: getattr(curve(runs=1), name), f"runs is 1; allowed: at least 2 for {of}")
        for name, of in (
            ("standard_error", "a standard error"),
            ("bias", "a bias, or bias='kept'"),
            ("nash_regret", "a bias, or bias='kept'"),
        )
    ),
    (lambda: curve(runs=1).interval(), "runs is 1; allowed: at least 2 for an interval"),
    *(
        (lambda words=words: dpbandits.Bandit(BANDIT.arms, **words), f"bandit: {expected}")
        for words, expected in (
            ({"nominal": (0.5,)}, "1 nominal for 3 arms; allowed: one an arm"),
            ({"nominal": (0.5, 1.5, 0.0)}, "nominal mean is 1.5; allowed: 0 to 1"),
            ({"nominal": (0.5, math.nan, 0.0)}, "nominal mean is nan; allowed: 0 to 1"),
            ({"logarithms": (0.0, 0.0, 0.0)}, "logarithm is 0.0; allowed: that of the mean"),
            ({"logarithms": (-math.inf,) * 3}, "logarithm is -inf; allowed: that of the mean"),
        )
    ),
    (lambda: require_metric("nash", METRICS), f"metric is 'nash'; allowed: {', '.join(METRICS)}"),
    (lambda: require_metric(["pulls"], METRICS), "metric is ['pulls']; allowed: "),
]


def test_wrong_words_scores_and_too_few_runs_are_refused() -> None:
    for call, expected in REFUSED:
        assert message_of(call).startswith(expected)
    assert np.isfinite(curve(runs=1).with_bias("kept").nash_regret).all()


def test_runs_that_would_overflow_or_make_no_curves_are_refused() -> None:
    many = simulate(runs=MAXIMAL_RUNS + 1)
    message = message_of(lambda: many.nash_regret(at=[80]))
    assert message == "runs of one Nash curve is 8192; allowed: a whole number from 1 to 8191"
    # 2^13 - 1 means of 1 in units of 2^-50 still fit.
    assert MAXIMAL_RUNS * 2**50 < 2**63 <= (MAXIMAL_RUNS + 1) * 2**50
    long = simulate(runs=1000, horizon=2**53)
    message = message_of(lambda: long.nash_regret(at=[80]))
    longest = MAXIMAL_PULLS // 1000
    assert message.startswith(f"horizon is {2**53}, for a Nash curve of 1000 runs; allowed: at ")
    assert f"most {longest}, so that pulls are counted without overflow" in message
    cell = make_cell(algorithm="ucb1", bandit=BANDIT, horizon=80, metrics=["nash_regret"])
    message = message_of(lambda: Series("a", {}, cell, range(10), runs_per_curve=4))
    assert message == "runs is 10, 4 of them together; allowed: a multiple of it"


# Regret, pulls and inverse counts.

Trace = tuple[int, list[Decision], list[int]]


@st.composite
def traces(draw: st.DrawFn, longest: int = 12) -> Trace:
    """Draw the number of arms, segments, and some times of the run at which they are recorded."""
    arms = draw(st.integers(2, 5))
    length = st.integers(1, longest)
    segment = st.tuples(st.integers(0, arms - 1), length, st.floats(0.0, 1.0))
    drawn = draw(st.lists(segment, min_size=1, max_size=30))
    segments = [(arm, length, share * length) for arm, length, share in drawn]
    horizon = sum(length for _, length, _ in segments)
    return arms, segments, sorted(draw(st.sets(st.integers(1, horizon), min_size=1)))


def recorded(
    arms: int,
    segments: list[Decision],
    grid: list[int],
    cuts: tuple[int, ...] = (),
    counted: bool = True,
) -> Accumulator:
    """Add the segments in pieces that end at ``cuts``, from arrays with room to spare."""
    run = accumulator_of(np.array(grid, np.int64), arms, count_inversely=counted)
    for first, last in zip([0, *cuts], [*cuts, len(segments)], strict=True):
        piece = segments[first:last]
        columns = zip(*piece, *[(0, 99, 99.0)] * 3, strict=True)
        kinds = (np.int64, np.int64, np.float64)
        arrays = [np.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        accumulate(run, *arrays, len(piece))
    return run


@given(traces(), bandits(5))
def test_metrics_are_those_of_the_rounds(trace: Trace, bandit: dpbandits.Bandit) -> None:
    _, segments, grid = trace
    arms = len(bandit.arms)
    segments = [(arm % arms, length, rewards) for arm, length, rewards in segments]
    run = recorded(arms, segments, grid)
    played: list[int] = []
    known, total = {}, 0.0
    for arm, length, rewards in segments:
        played += [arm] * length
        total += rewards
        known[len(played)] = total
    regrets = zip(pseudo_regret(run, bandit), realised_regret(run, bandit), strict=True)
    for index, (t, (pseudo, realised)) in enumerate(zip(grid, regrets, strict=True)):
        assert run.pulls_at[index].tolist() == [played[:t].count(arm) for arm in range(arms)]
        np.testing.assert_equal(run.rewards_at[index], known.get(t, np.nan))
        np.testing.assert_allclose(pseudo, bandit.gaps[played[:t]].sum(), rtol=1e-12, atol=1e-12)
        expected = bandit.means.max() * t - known.get(t, np.nan)
        np.testing.assert_allclose(realised, expected, rtol=1e-12, atol=1e-12)
        alone = recorded(arms, segments, [t])
        np.testing.assert_array_equal(pseudo_regret(alone, bandit), [pseudo])
        np.testing.assert_array_equal(realised_regret(alone, bandit), [realised])
    assert pulls(run, bandit).tolist() == [played.count(arm) for arm in range(arms)]
    before = np.cumsum(np.array(played)[:, None] == np.arange(arms), axis=0)[:-1]
    sums = np.where(before > 0, 1.0 / (before + 1), 0.0).sum(axis=0)
    # At most 360 rounds are added in another order: each addition rounds by 1e-16 of the sum.
    np.testing.assert_allclose(inverse_counts(run, bandit), sums, rtol=1e-13)


@given(trace=traces(), counted=st.booleans(), data=st.data())
def test_neither_cuts_between_calls_nor_inverse_counts_change_the_rest(
    trace: Trace, counted: bool, data: st.DataObject
) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(trace[1])), max_size=8).map(sorted).map(tuple))
    whole, pieces = recorded(*trace), recorded(*trace, cuts, counted)
    for name, expected in whole._asdict().items():
        if counted or name not in ("inverse_counts", "counted_to"):
            np.testing.assert_array_equal(getattr(pieces, name), expected, err_msg=name)


def test_inverse_counts_cost_nothing_where_they_are_not_kept() -> None:
    # A division a pull would take an hour.
    segments = [(0, 10**12, 1.0), (1, 10**12, 2.0), (0, 5, 0.5)]
    run = recorded(3, segments, [3, 2 * 10**12 + 5], counted=False)
    assert run.pulls.tolist() == [10**12 + 5, 10**12, 0]
    assert run.pulls_at[0].tolist() == [3, 0, 0]
    assert run.rewards_at[-1] == 3.5


def test_intervals_over_runs() -> None:
    values = np.random.default_rng(1).normal(size=(12, 3))
    mean, low, high = mean_interval(values)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose(mean, values.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose((low, high), expected, rtol=1e-12)
    mean, low, high = mean_interval([[2.0, 3.0]])
    assert [*mean, *low, *high] == [2.0, 3.0, -np.inf, -np.inf, np.inf, np.inf]


def test_runs_that_all_agree_have_no_interval() -> None:
    """Twenty times 0.1, whose mean is not 0.1 in floating point; the second column varies."""
    values = np.array([[0.1, float(run)] for run in range(20)])
    _, low, high = runs_interval(values)
    assert (low[0], high[0]) == (-np.inf, np.inf)
    assert 0.0 < low[1] < high[1] < 19.0
