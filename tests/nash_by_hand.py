"""Nash regret from an array of rounds times runs: the yardstick of the one pass over segments."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpbandits.metrics.nash import (
    NashAccumulator,
    drop_segments,
    enter_window,
    nash_accumulator,
)

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


def horizon_of(runs: list[Run]) -> int:
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
    horizon = horizon_of(runs)
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
