"""Pieces of time on which the mean over runs is constant, and what is recorded between them.

A piece ends where the sum over runs of the means of the arms changes (where means are tiny: at
every time at which a run changes its arm). Which rounds a piece holds, and so every rounding below,
depends on the runs alone: not on how time is cut into windows, nor on the times recorded.
"""

import math
from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

UNIT = 2.0**-50
"""What an integer mean counts in: sums of integers do not depend on their order."""

LOG_FLOOR = math.log(1e-300)
"""Logarithm of the least mean that a round counts with (DP-NCB, spec section 1.1)."""

_SMALLEST_PRODUCT = 1e-200


class NashLedger(NamedTuple):
    """What R runs of one curve have done so far, fed with windows of their chunks.

    Arms are 0 to K - 1; K stands for a uniformly random arm, K + 1 for none, before the first
    round. Everything of shape (1,) is one number that changes.

    Attributes:
        in_logs: whether means are too small for integers, so that logarithms are carried.
        units: mean of each arm, and mean squared, in ``UNIT``; shape (K + 2, 2).
        means: shape (K + 2,).
        logs: logarithm of each mean, shape (K + 2,).
        path_logs: the same, but the mean logarithm for a uniformly random arm; finite.
        marks: increasing times at which something is recorded, shape (M,).
        grid_at: position of each mark in the grid of times, or -1; shape (M,).
        bin_at: the bin of time that ends at each mark, or -1; shape (M,).
        mark: index of the next mark.
        start: first round of the present piece, counted from 0.
        sums: sum over runs of the means, and of their squares, in ``UNIT``; shape (2,).
        mean: mean over runs e of the present piece; ``inverse`` is 1/e, ``log_mean`` its logarithm
            (kept where logarithms are carried), ``spread`` the variance over runs over e^2.
        log_sum: sum over the rounds before the piece of log e, and what rounding lost; shape (2,);
            ``product`` is the part of it that is not yet a logarithm.
        spread_sum: sum over the rounds before the piece of the spread.
        inverse_sum: sum over the rounds before the piece of 1/e.
        weights: each mean; where logarithms are carried, each mean over e; shape (K + 2,).
        arms: present arm of each run, shape (R,).
        since: from which round on its pulls are not yet counted, shape (R,).
        entered: ``inverse_sum`` as its present arm began, shape (R,).
        influences: sum of (mean of the arm)/e over its earlier arms, shape (R,).
        pulls: pulls of each arm by each run, shape (R, K + 2).
        bin_start, bin_pulls, bin_log_sum: where the present bin begins, the pulls until then, and
            the sum over the bins before it of length times logarithm of the mean.
        log_means, spreads, averages, trajectories, binned: what is recorded, shape (G,).
        influences_at: influence of each run at each time of the grid, shape (R, G).
        bins: mean of the arms played by each run in each bin, shape (R, B).
    """

    in_logs: bool
    units: NDArray[np.int64]
    means: NDArray[np.float64]
    logs: NDArray[np.float64]
    path_logs: NDArray[np.float64]
    marks: NDArray[np.int64]
    grid_at: NDArray[np.int64]
    bin_at: NDArray[np.int64]
    mark: NDArray[np.int64]
    start: NDArray[np.int64]
    sums: NDArray[np.int64]
    mean: NDArray[np.float64]
    inverse: NDArray[np.float64]
    log_mean: NDArray[np.float64]
    spread: NDArray[np.float64]
    log_sum: NDArray[np.float64]
    product: NDArray[np.float64]
    spread_sum: NDArray[np.float64]
    inverse_sum: NDArray[np.float64]
    weights: NDArray[np.float64]
    arms: NDArray[np.int64]
    since: NDArray[np.int64]
    entered: NDArray[np.float64]
    influences: NDArray[np.float64]
    pulls: NDArray[np.int64]
    bin_start: NDArray[np.int64]
    bin_pulls: NDArray[np.int64]
    bin_log_sum: NDArray[np.float64]
    log_means: NDArray[np.float64]
    spreads: NDArray[np.float64]
    averages: NDArray[np.float64]
    trajectories: NDArray[np.float64]
    binned: NDArray[np.float64]
    influences_at: NDArray[np.float64]
    bins: NDArray[np.float64]


@numba.njit(cache=True)
def _add_log(ledger, value):  # type: ignore[no-untyped-def]
    """Add to the sum of logarithms and keep what rounding loses (Neumaier's summation)."""
    total = ledger.log_sum[0]
    larger, smaller = (total, value) if abs(total) >= abs(value) else (value, total)
    ledger.log_sum[0] = total + value
    ledger.log_sum[1] += (larger - ledger.log_sum[0]) + smaller


@numba.njit(cache=True)
def _piece_log(ledger):  # type: ignore[no-untyped-def]
    return ledger.log_mean[0] if ledger.in_logs else math.log(ledger.mean[0])


@numba.njit(cache=True)
def inverse_sum_at(ledger, time):  # type: ignore[no-untyped-def]
    """Return the sum of 1/e over the rounds before ``time``, a time of the present piece."""
    return ledger.inverse_sum[0] + (time - ledger.start[0]) * ledger.inverse[0]


@numba.njit(cache=True)
def end_piece(ledger, time):  # type: ignore[no-untyped-def]
    """End the present piece before the round ``time``."""
    length = time - ledger.start[0]
    if length == 1 and not ledger.in_logs:
        # One logarithm of a product of many means, instead of a logarithm for each.
        ledger.product[0] *= ledger.mean[0]
        if ledger.product[0] < _SMALLEST_PRODUCT:
            _add_log(ledger, math.log(ledger.product[0]))
            ledger.product[0] = 1.0
    elif length > 0:
        _add_log(ledger, length * _piece_log(ledger))
    ledger.spread_sum[0] += length * ledger.spread[0]
    ledger.inverse_sum[0] += length * ledger.inverse[0]
    ledger.start[0] = time


@numba.njit(cache=True)
def begin_piece(ledger):  # type: ignore[no-untyped-def]
    """Begin a piece with the present sums over runs."""
    scale = UNIT / ledger.arms.size
    mean = ledger.sums[0] * scale
    ledger.mean[0] = mean
    ledger.inverse[0] = 1.0 / mean
    ledger.spread[0] = ledger.sums[1] * scale * ledger.inverse[0] * ledger.inverse[0] - 1.0


@numba.njit(cache=True)
def end_piece_in_logs(ledger, time):  # type: ignore[no-untyped-def]
    """End the present piece, and settle every run, since no common unit of 1/e would do."""
    length = time - ledger.start[0]
    end_piece(ledger, time)
    ledger.inverse_sum[0] = 0.0
    for run in range(ledger.arms.size):
        ledger.influences[run] += length * ledger.weights[ledger.arms[run]]


@numba.njit(cache=True)
def log_of_mean(counts, logs):  # type: ignore[no-untyped-def]
    """Return the log of the mean of exp(logs), each counted so often; the floor if all are 0."""
    largest = -math.inf
    for arm in range(counts.size):
        if counts[arm] > 0:
            largest = max(largest, logs[arm])
    if largest == -math.inf:
        return LOG_FLOOR
    total, number = 0.0, 0
    for arm in range(counts.size):
        if counts[arm] > 0:
            total += counts[arm] * math.exp(logs[arm] - largest)
            number += counts[arm]
    return largest + math.log(total / number)


@numba.njit(cache=True)
def begin_piece_in_logs(ledger):  # type: ignore[no-untyped-def]
    """Begin a piece with the present arms, from the logarithms of their means."""
    counts = np.zeros(ledger.logs.size, np.int64)
    for run in range(ledger.arms.size):
        counts[ledger.arms[run]] += 1
    log_mean = log_of_mean(counts, ledger.logs)
    squares = 0.0
    for arm in range(counts.size):
        if counts[arm] > 0:
            # Where all means are 0 the floor stands in for them, on which no run has influence.
            weight = 1.0 if log_mean == LOG_FLOOR else math.exp(ledger.logs[arm] - log_mean)
            ledger.weights[arm] = weight
            squares += counts[arm] * weight * weight
    ledger.log_mean[0] = log_mean
    ledger.inverse[0] = 1.0
    ledger.spread[0] = squares / ledger.arms.size - 1.0


@numba.njit(cache=True)
def count_pulls(ledger, run, time):  # type: ignore[no-untyped-def]
    """Count the pulls of a run's present arm up to the round ``time``."""
    ledger.pulls[run, ledger.arms[run]] += time - ledger.since[run]
    ledger.since[run] = time


@numba.njit(cache=True)
def change_arm(ledger, run, arm, time, inverse_sum):  # type: ignore[no-untyped-def]
    """Let a run go over to another arm; ``inverse_sum`` is the sum of 1/e until then."""
    count_pulls(ledger, run, time)
    if not ledger.in_logs:
        weight = ledger.weights[ledger.arms[run]]
        ledger.influences[run] += weight * (inverse_sum - ledger.entered[run])
        ledger.entered[run] = inverse_sum
    ledger.arms[run] = arm


@numba.njit(cache=True)
def _record_grid(ledger, time, position):  # type: ignore[no-untyped-def]
    """Record the curve at one time; nothing that is still being summed is touched."""
    log_sum = ledger.log_sum[0] + ledger.log_sum[1] + math.log(ledger.product[0])
    length = time - ledger.start[0]
    ledger.log_means[position] = (log_sum + length * _piece_log(ledger)) / time
    ledger.spreads[position] = (ledger.spread_sum[0] + length * ledger.spread[0]) / time
    inverse_sum = inverse_sum_at(ledger, time)
    runs = ledger.arms.size
    average, trajectory = 0.0, 0.0
    for run in range(runs):
        weight = ledger.weights[ledger.arms[run]]
        influence = ledger.influences[run] + weight * (inverse_sum - ledger.entered[run])
        ledger.influences_at[run, position] = (influence - time) / time
        path = 0.0
        for arm in range(ledger.means.size):
            average += ledger.pulls[run, arm] * ledger.means[arm]
            path += ledger.pulls[run, arm] * ledger.path_logs[arm]
        trajectory += math.exp(path / time)
    ledger.averages[position] = average / (runs * time)
    ledger.trajectories[position] = trajectory / runs
    binned = ledger.bin_log_sum[0]
    if time > ledger.bin_start[0]:
        binned += (time - ledger.bin_start[0]) * _bin_log(ledger)
    ledger.binned[position] = binned / time


@numba.njit(cache=True)
def _bin_log(ledger):  # type: ignore[no-untyped-def]
    """Return the logarithm of the mean over runs and over the present bin so far."""
    counts = np.zeros(ledger.logs.size, np.int64)
    for run in range(ledger.arms.size):
        for arm in range(counts.size):
            counts[arm] += ledger.pulls[run, arm] - ledger.bin_pulls[run, arm]
    return log_of_mean(counts, ledger.logs)


@numba.njit(cache=True)
def _end_bin(ledger, time, position):  # type: ignore[no-untyped-def]
    length = time - ledger.bin_start[0]
    ledger.bin_log_sum[0] += length * _bin_log(ledger)
    for run in range(ledger.arms.size):
        total = 0.0
        for arm in range(ledger.means.size):
            counted = ledger.pulls[run, arm] - ledger.bin_pulls[run, arm]
            total += counted * ledger.means[arm]
            ledger.bin_pulls[run, arm] = ledger.pulls[run, arm]
        ledger.bins[run, position] = total / length
    ledger.bin_start[0] = time


@numba.njit(cache=True)
def record_marks(ledger, until):  # type: ignore[no-untyped-def]
    """Record at all marks up to the time ``until``, which the present piece reaches."""
    while ledger.mark[0] < ledger.marks.size and ledger.marks[ledger.mark[0]] <= until:
        index = ledger.mark[0]
        time = ledger.marks[index]
        for run in range(ledger.arms.size):
            count_pulls(ledger, run, time)
        if ledger.grid_at[index] >= 0:
            _record_grid(ledger, time, ledger.grid_at[index])
        if ledger.bin_at[index] >= 0:
            _end_bin(ledger, time, ledger.bin_at[index])
        ledger.mark[0] += 1
