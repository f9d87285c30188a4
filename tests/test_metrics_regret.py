"""The accumulator and the metrics read off it, against a computation round by round."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dpbandits
from dpbandits.metrics import METRICS, require_metric
from dpbandits.metrics.intervals import mean_interval
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
    arms, segments, grid = trace
    run = recorded(arms, segments, grid)
    played: list[int] = []
    known, total = {}, 0.0
    for arm, length, rewards in segments:
        played += [arm] * length
        total += rewards
        known[len(played)] = total
    for index, t in enumerate(grid):
        assert run.pulls_at[index].tolist() == [played[:t].count(arm) for arm in range(arms)]
        np.testing.assert_equal(run.rewards_at[index], known.get(t, np.nan))
    assert pulls(run, bandit).tolist() == [played.count(arm) for arm in range(arms)]
    sums, counts = [0.0] * arms, [0] * arms
    for arm in played:
        for other in range(arms):
            sums[other] += 1 / (counts[other] + 1) if counts[other] else 0.0
        counts[arm] += 1
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


@given(traces(), bandits(5))
def test_regret_does_not_depend_on_the_other_times(trace: Trace, bandit: dpbandits.Bandit) -> None:
    _, segments, grid = trace
    arms = len(bandit.arms)
    segments = [(arm % arms, length, rewards) for arm, length, rewards in segments]
    for curve in (pseudo_regret, realised_regret):
        along = curve(recorded(arms, segments, grid), bandit)
        for t, value in zip(grid, along, strict=True):
            alone = curve(recorded(arms, segments, [t]), bandit)
            np.testing.assert_array_equal(alone, [value])


def test_metrics_by_hand() -> None:
    # Arms of means 1/2, 1/4 and 1, all dyadic: gaps 1/2, 3/4 and 0, so every number is exact.
    bandit = dpbandits.bernoulli([0.5, 0.25, 1.0])
    # Rounds: 0 | 1 1 1 | 0 | 2 2 | 1, with rewards 1 | 2 | 0 | 1.5 | 0.25.
    segments = [(0, 1, 1.0), (1, 3, 2.0), (0, 1, 0.0), (2, 2, 1.5), (1, 1, 0.25)]
    run = recorded(3, segments, list(range(1, 9)), (2,))
    expected = [0.5, 1.25, 2.0, 2.75, 3.25, 3.25, 3.25, 4.0]
    assert pseudo_regret(run, bandit).tolist() == expected
    # mu* t less the rewards so far, known where a segment ends: t = 1, 4, 5, 7, 8.
    expected = [0.0, np.nan, np.nan, 1.0, 2.0, np.nan, 2.5, 3.25]
    np.testing.assert_array_equal(realised_regret(run, bandit), expected)
    assert pulls(run, bandit).tolist() == [2.0, 4.0, 2.0]
    # Arm 0: first pull in round 1; n = 1 in rounds 2 to 5, n = 2 in rounds 6 to 8.
    # Arm 1: first pull in round 2; n = 1 in round 3, 2 in round 4, 3 in rounds 5 to 8.
    # Arm 2: first pull in round 6; n = 1 in round 7, 2 in round 8.
    expected = [4 / 2 + 3 / 3, 1 / 2 + 1 / 3 + 4 / 4, 1 / 2 + 1 / 3]
    np.testing.assert_allclose(inverse_counts(run, bandit), expected, rtol=1e-15)
    never_pulled = recorded(3, [(0, 5, 1.0)], [5])
    assert inverse_counts(never_pulled, bandit).tolist()[1:] == [0.0, 0.0]


def test_inverse_counts_cost_nothing_where_they_are_not_kept() -> None:
    # A division a pull would take an hour.
    segments = [(0, 10**12, 1.0), (1, 10**12, 2.0), (0, 5, 0.5)]
    run = recorded(3, segments, [3, 2 * 10**12 + 5], counted=False)
    assert run.pulls.tolist() == [10**12 + 5, 10**12, 0]
    assert run.pulls_at[0].tolist() == [3, 0, 0]
    assert run.rewards_at[-1] == 3.5


def test_unknown_metrics_are_refused() -> None:
    for name in ["nash", "", None, ["pulls"], 3]:
        expected = f"metric is {name!r}; allowed: {', '.join(METRICS)}"
        assert message_of(lambda: require_metric(name, METRICS)).startswith(expected)


def test_intervals_over_runs() -> None:
    values = np.random.default_rng(1).normal(size=(12, 3))
    mean, low, high = mean_interval(values)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose(mean, values.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose((low, high), expected, rtol=1e-12)
    mean, low, high = mean_interval([[2.0, 3.0]])
    assert [*mean, *low, *high] == [2.0, 3.0, -np.inf, -np.inf, np.inf, np.inf]
