"""The ledger and the metrics read off it, against a computation round by round."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dpbandits
from dpbandits.metrics.intervals import mean_interval
from dpbandits.metrics.ledger import Ledger, close_ledger, open_ledger, record
from dpbandits.metrics.regret import (
    METRICS,
    inverse_counts,
    pseudo_regret,
    pulls,
    realised_regret,
    require_metric,
)
from support import Decision, bandits, message_of


@st.composite
def traces(draw: st.DrawFn, longest: int = 12) -> tuple[int, list[Decision], list[int]]:
    """Draw the number of arms, chunks, and some times of the run at which they are recorded."""
    arms = draw(st.integers(2, 5))
    length = st.integers(1, longest)
    chunk = st.tuples(st.integers(0, arms - 1), length, st.floats(0.0, 1.0))
    drawn = draw(st.lists(chunk, min_size=1, max_size=30))
    chunks = [(arm, length, share * length) for arm, length, share in drawn]
    horizon = sum(length for _, length, _ in chunks)
    grid = draw(st.sets(st.integers(1, horizon), min_size=1))
    return arms, chunks, sorted(grid)


def recorded(arms: int, chunks: list[Decision], grid: list[int], cuts: list[int]) -> Ledger:
    """Feed the chunks in pieces that end at ``cuts``, from arrays with room to spare."""
    ledger = open_ledger(np.array(grid, np.int64), arms)
    for first, last in zip([0, *cuts], [*cuts, len(chunks)], strict=True):
        piece = chunks[first:last]
        spare = [(0, 99, 99.0)] * 3
        columns = zip(*[*piece, *spare], strict=True)
        kinds = (np.int64, np.int64, np.float64)
        arrays = [np.array(each, kind) for each, kind in zip(columns, kinds, strict=True)]
        record(ledger, *arrays, len(piece))
    close_ledger(ledger)
    return ledger


def rounds_of(chunks: list[Decision]) -> tuple[list[int], dict[int, float]]:
    """Return the arm of each round, and the rewards so far at the times where they are known."""
    played: list[int] = []
    known, total = {}, 0.0
    for arm, length, rewards in chunks:
        played += [arm] * length
        total += rewards
        known[len(played)] = total
    return played, known


def counts_by_round(arms: int, played: list[int]) -> list[float]:
    """Sum over the rounds after an arm's first pull of 1/(n + 1), n its pulls before the round."""
    sums, counts = [0.0] * arms, [0] * arms
    for arm in played:
        for i in range(arms):
            if counts[i] > 0:
                sums[i] += 1 / (counts[i] + 1)
        counts[arm] += 1
    return sums


@given(traces())
def test_ledger_equals_the_rounds(trace: tuple[int, list[Decision], list[int]]) -> None:
    arms, chunks, grid = trace
    ledger = recorded(arms, chunks, grid, [])
    played, known = rounds_of(chunks)
    for index, t in enumerate(grid):
        assert ledger.pulls_at[index].tolist() == [played[:t].count(arm) for arm in range(arms)]
        expected = known.get(t, np.nan)
        np.testing.assert_equal(ledger.rewards_at[index], expected)
    assert ledger.pulls.tolist() == [played.count(arm) for arm in range(arms)]
    assert ledger.clock.tolist() == [len(played), len(grid)]
    # At most 360 rounds are added in another order: each addition rounds by 1e-16 of the sum.
    expected_counts = counts_by_round(arms, played)
    np.testing.assert_allclose(ledger.inverse_counts, expected_counts, rtol=1e-13)


@given(trace=traces(), data=st.data())
def test_cuts_between_calls_change_nothing(
    trace: tuple[int, list[Decision], list[int]], data: st.DataObject
) -> None:
    arms, chunks, grid = trace
    cuts = sorted(data.draw(st.lists(st.integers(0, len(chunks)), max_size=8)))
    whole, pieces = recorded(arms, chunks, grid, []), recorded(arms, chunks, grid, cuts)
    for name, expected in whole._asdict().items():
        np.testing.assert_array_equal(getattr(pieces, name), expected, err_msg=name)


@given(traces(longest=1))
def test_single_rounds_are_known_everywhere(
    trace: tuple[int, list[Decision], list[int]],
) -> None:
    ledger = recorded(*trace, [])
    assert not np.isnan(ledger.rewards_at).any()


@given(traces(), bandits(5))
def test_regret_does_not_depend_on_the_other_times(
    trace: tuple[int, list[Decision], list[int]], bandit: dpbandits.Bandit
) -> None:
    _, chunks, grid = trace
    chunks = [(arm % len(bandit.arms), length, rewards) for arm, length, rewards in chunks]
    for curve in (pseudo_regret, realised_regret):
        along = curve(recorded(len(bandit.arms), chunks, grid, []), bandit)
        for t, value in zip(grid, along, strict=True):
            alone = curve(recorded(len(bandit.arms), chunks, [t], []), bandit)
            np.testing.assert_array_equal(alone, [value])


# Arms of means 1/2, 1/4 and 1, all dyadic: gaps 1/2, 3/4 and 0, so every number below is exact.
HAND_BANDIT = dpbandits.bernoulli([0.5, 0.25, 1.0])
# Rounds: 0 | 1 1 1 | 0 | 2 2 | 1, with rewards 1 | 2 | 0 | 1.5 | 0.25.
HAND_CHUNKS = [(0, 1, 1.0), (1, 3, 2.0), (0, 1, 0.0), (2, 2, 1.5), (1, 1, 0.25)]


@pytest.fixture
def ledger() -> Ledger:
    return recorded(3, HAND_CHUNKS, list(range(1, 9)), [2])


def test_pseudo_regret_by_hand(ledger: Ledger) -> None:
    expected = [0.5, 1.25, 2.0, 2.75, 3.25, 3.25, 3.25, 4.0]
    assert pseudo_regret(ledger, HAND_BANDIT).tolist() == expected


def test_realised_regret_by_hand(ledger: Ledger) -> None:
    # mu* t less the rewards so far, known where a chunk ends: t = 1, 4, 5, 7, 8.
    expected = [0.0, np.nan, np.nan, 1.0, 2.0, np.nan, 2.5, 3.25]
    np.testing.assert_array_equal(realised_regret(ledger, HAND_BANDIT), expected)


def test_pulls_and_inverse_counts_by_hand(ledger: Ledger) -> None:
    assert pulls(ledger, HAND_BANDIT).tolist() == [2.0, 4.0, 2.0]
    # Arm 0: first pull in round 1; n = 1 in rounds 2 to 5, n = 2 in rounds 6 to 8.
    # Arm 1: first pull in round 2; n = 1 in round 3, 2 in round 4, 3 in rounds 5 to 8.
    # Arm 2: first pull in round 6; n = 1 in round 7, 2 in round 8.
    expected = [4 / 2 + 3 / 3, 1 / 2 + 1 / 3 + 4 / 4, 1 / 2 + 1 / 3]
    np.testing.assert_allclose(inverse_counts(ledger, HAND_BANDIT), expected, rtol=1e-15)


def test_inverse_counts_cost_nothing_where_they_are_not_kept() -> None:
    # A division a pull would take an hour.
    chunks = [(0, 10**12, 1.0), (1, 10**12, 2.0), (0, 5, 0.5)]
    ledger = open_ledger(np.array([3, 2 * 10**12 + 5], np.int64), 3, count_inversely=False)
    arms, lengths, sums = (np.array(column) for column in zip(*chunks, strict=True))
    record(ledger, arms, lengths, sums, 3)
    close_ledger(ledger)
    assert ledger.inverse_counts.size == 0
    assert ledger.pulls.tolist() == [10**12 + 5, 10**12, 0]
    assert ledger.pulls_at[0].tolist() == [3, 0, 0]
    assert ledger.rewards_at[-1] == 3.5


@given(traces())
def test_nothing_else_depends_on_inverse_counts(
    trace: tuple[int, list[Decision], list[int]],
) -> None:
    arms, chunks, grid = trace
    counted = recorded(arms, chunks, grid, [])
    ledger = open_ledger(np.array(grid, np.int64), arms, count_inversely=False)
    kinds = (np.int64, np.int64, np.float64)
    columns = zip(*chunks, strict=True)
    arrays = [np.array(each, kind) for each, kind in zip(columns, kinds, strict=True)]
    record(ledger, *arrays, len(chunks))
    for name in ("pulls_at", "rewards_at", "clock", "pulls", "rewards"):
        np.testing.assert_array_equal(getattr(ledger, name), getattr(counted, name), err_msg=name)


def test_unpulled_arms_count_nothing() -> None:
    ledger = recorded(3, [(0, 5, 1.0)], [5], [])
    assert ledger.inverse_counts.tolist()[1:] == [0.0, 0.0]
    assert pseudo_regret(ledger, HAND_BANDIT).tolist() == [2.5]


def test_closing_twice_counts_once(ledger: Ledger) -> None:
    before = ledger.inverse_counts.copy()
    close_ledger(ledger)
    np.testing.assert_array_equal(ledger.inverse_counts, before)


@pytest.mark.parametrize("name", ["nash", "", None, ["pulls"], 3])
def test_unknown_metrics_are_refused(name: Any) -> None:
    expected = f"metric is {name!r}; allowed: {', '.join(METRICS)}"
    assert message_of(lambda: require_metric(name)).startswith(expected)


def test_intervals_over_runs() -> None:
    values = np.random.default_rng(1).normal(size=(12, 3))
    mean, low, high = mean_interval(values)
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    np.testing.assert_allclose(mean, values.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose((low, high), expected, rtol=1e-12)


def test_one_run_has_no_interval() -> None:
    mean, low, high = mean_interval([[2.0, 3.0]])
    assert mean.tolist() == [2.0, 3.0]
    assert low.tolist() == [-np.inf] * 2
    assert high.tolist() == [np.inf] * 2
