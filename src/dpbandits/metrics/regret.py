"""One pass over the segments of a run, and the metrics of a run and of a trial read off it.

No algorithm computes a metric of its own.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.bandits import Bandit, LinearBandit
from dpbandits.kernels import njit

Values = NDArray[np.float64]
Counts = NDArray[np.int64]


class Accumulator(NamedTuple):
    """Pulls and rewards of a run so far, fed with segments (arm, length, sum of rewards)."""

    grid: Counts  # increasing times, shape (G,)
    pulls_at: Counts  # of each arm up to each time, shape (G, K)
    rewards_at: Values  # up to each time; NaN inside a segment
    clock: Counts  # rounds seen, and next index into the grid
    pulls: Counts  # of each arm so far
    rewards: Values  # so far, shape (1,)
    inverse_counts: Values  # up to ``counted_to``; of size 0 where not counted: it is slow
    counted_to: Counts


def accumulator_of(grid: Counts, arms: int, *, count_inversely: bool = True) -> Accumulator:
    """Return the accumulator of a run that has not begun, for increasing times."""
    counted = arms if count_inversely else 0
    return Accumulator(
        grid=grid,
        pulls_at=np.zeros((grid.size, arms), np.int64),
        rewards_at=np.full(grid.size, np.nan),
        clock=np.zeros(2, np.int64),
        pulls=np.zeros(arms, np.int64),
        rewards=np.zeros(1),
        inverse_counts=np.zeros(counted),
        counted_to=np.zeros(counted, np.int64),
    )


@njit
def _count_inversely(run, arm, t, length):
    if run.pulls[arm] > 0:
        waited = t - run.counted_to[arm]
        run.inverse_counts[arm] += waited / (run.pulls[arm] + 1)
        for pull in range(length):
            run.inverse_counts[arm] += 1.0 / (run.pulls[arm] + pull + 1)
    else:
        for pull in range(1, length):
            run.inverse_counts[arm] += 1.0 / (pull + 1)
    run.counted_to[arm] = t + length


@njit
def _record(run, index):
    """Copy the pulls to a time of the grid, one by one: assigning an array compiles for seconds."""
    for arm in range(run.pulls.size):
        run.pulls_at[index, arm] = run.pulls[arm]


@njit(nogil=True)
def accumulate(run, arms, lengths, sums, written):
    """Add the first ``written`` segments to a run; the grid never cuts a segment's rewards."""
    t, index = run.clock[0], run.clock[1]
    for segment in range(written):
        arm, length = arms[segment], lengths[segment]
        if run.inverse_counts.size > 0:
            _count_inversely(run, arm, t, length)
        while index < run.grid.size and run.grid[index] < t + length:
            _record(run, index)
            run.pulls_at[index, arm] += run.grid[index] - t
            if run.grid[index] == t:
                run.rewards_at[index] = run.rewards[0]
            index += 1
        t += length
        run.pulls[arm] += length
        run.rewards[0] += sums[segment]
        if index < run.grid.size and run.grid[index] == t:
            _record(run, index)
            run.rewards_at[index] = run.rewards[0]
            index += 1
    run.clock[0], run.clock[1] = t, index


def pseudo_regret(run: Accumulator, bandit: Bandit) -> Values:
    """Sum over the rounds of mu* minus the mean of the arm played, on the grid, shape (G,).

    TS-is-DP, Equation 2. Counts times gaps, so that nothing is rounded round by round; summed row
    by row, since the last bits of a matrix product depend on the other times of the grid.
    """
    return np.asarray((run.pulls_at * bandit.gaps).sum(axis=1))


def realised_regret(run: Accumulator, bandit: Bandit) -> Values:
    """mu* t minus the rewards received (TS-is-DP, Equation 3); NaN inside an episode."""
    return np.asarray(bandit.means.max() * run.grid - run.rewards_at)


def pulls(run: Accumulator, bandit: Bandit) -> Values:
    """Pulls of each arm at the horizon, shape (K,)."""
    return run.pulls.astype(np.float64)


def inverse_counts(run: Accumulator, bandit: Bandit) -> Values:
    """Return by arm the sum of 1/(n + 1) over the rounds after its first pull, n its pulls before.

    Over c, its root is the realised Gaussian-DP loss of a change in the arm's first reward
    (TS-is-DP, Remark 2).
    """
    waited = np.where(run.pulls > 0, run.clock[0] - run.counted_to, 0)
    return np.asarray(run.inverse_counts + waited / (run.pulls + 1))


REGRET_METRICS: dict[str, Callable[[Accumulator, Bandit], Values]] = {
    "pseudo_regret": pseudo_regret,
    "realised_regret": realised_regret,
    "pulls": pulls,
    "inverse_counts": inverse_counts,
}
"""Metrics of a run (``metrics.CURVES``, ``metrics.PER_ARM``)."""


def success(recommended: Counts, pulls: Counts, bandit: LinearBandit) -> Values:
    """1 where the arm returned is the best one, else 0."""
    return np.asarray(recommended == bandit.best_arm, np.float64)[:, None]


def total_pulls(recommended: Counts, pulls: Counts, bandit: LinearBandit) -> Values:
    """Pulls of all arms together; they may exceed the budget."""
    return np.asarray(pulls.sum(axis=1, keepdims=True), np.float64)


def recommended_arm(recommended: Counts, pulls: Counts, bandit: LinearBandit) -> Values:
    """The arm returned."""
    return np.asarray(recommended, np.float64)[:, None]


TRIAL_METRICS: dict[str, Callable[[Counts, Counts, LinearBandit], Values]] = {
    "success": success,
    "total_pulls": total_pulls,
    "recommended": recommended_arm,
}
"""Metrics of trials (``metrics.IDENTIFIED``).

(arms returned, shape (trials,); pulls, shape (trials, K); instance) -> (trials, 1).
"""
