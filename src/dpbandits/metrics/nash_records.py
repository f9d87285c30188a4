"""What is recorded of a Nash curve: at the times of a grid, and in equal bins of time.

Recording touches nothing that is still being summed, so that no value depends on the other times.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.kernels import njit
from dpbandits.metrics.nash_pieces import (
    Piece,
    Runs,
    Scores,
    count_pulls,
    inverse_sum_at,
    log_of_mean,
    log_sum_at,
    spread_sum_at,
)


class Records(NamedTuple):
    """What is recorded, and when.

    Attributes:
        marks: increasing times at which something is recorded, shape (M,).
        grid_at: position of each mark in the grid of times, or -1; shape (M,).
        bin_at: the bin of time that ends at each mark, or -1; shape (M,).
        mark: index of the next mark, shape (1,).
        bin_start, bin_pulls, bin_log_sum: where the present bin begins, the pulls until then
            (shape (R, K + 2)), and the sum over the bins before it of length times logarithm of
            the mean.
        log_means: log G_t, shape (G,).
        spreads: mean over time of the variance over runs over e^2, shape (G,).
        averages: mean over time of e, shape (G,).
        trajectories: mean over runs of the geometric mean along each, shape (G,).
        binned: log G_t from means over runs and bins, shape (G,).
        influences: influence of each run on log G_t, shape (R, G).
        bins: mean of the arms played by each run in each bin, shape (R, B).
    """

    marks: NDArray[np.int64]
    grid_at: NDArray[np.int64]
    bin_at: NDArray[np.int64]
    mark: NDArray[np.int64]
    bin_start: NDArray[np.int64]
    bin_pulls: NDArray[np.int64]
    bin_log_sum: NDArray[np.float64]
    log_means: NDArray[np.float64]
    spreads: NDArray[np.float64]
    averages: NDArray[np.float64]
    trajectories: NDArray[np.float64]
    binned: NDArray[np.float64]
    influences: NDArray[np.float64]
    bins: NDArray[np.float64]


class NashLedger(NamedTuple):
    """What R runs of one curve have done so far, fed with windows of their chunks."""

    scores: Scores
    piece: Piece
    runs: Runs
    records: Records


@njit
def _bin_log(scores, runs, records):
    """Return the logarithm of the mean over runs and over the present bin so far."""
    counts = np.zeros(scores.logs.size, np.int64)
    for run in range(runs.arms.size):
        for arm in range(counts.size):
            counts[arm] += runs.pulls[run, arm] - records.bin_pulls[run, arm]
    return log_of_mean(counts, scores.logs)


@njit
def _record_runs(scores, runs, records, time, inverse_sum, position):
    """Record what is known of each run: its influence, its arithmetic and geometric mean."""
    count = runs.arms.size
    average, trajectory = 0.0, 0.0
    for run in range(count):
        present = scores.weights[runs.arms[run]] * (inverse_sum - runs.entered[run])
        records.influences[run, position] = (runs.influences[run] + present - time) / time
        path = 0.0
        for arm in range(scores.means.size):
            average += runs.pulls[run, arm] * scores.means[arm]
            path += runs.pulls[run, arm] * scores.path_logs[arm]
        trajectory += math.exp(path / time)
    records.averages[position] = average / (count * time)
    records.trajectories[position] = trajectory / count


@njit
def _end_bin(scores, runs, records, time, position):
    length = time - records.bin_start[0]
    records.bin_log_sum[0] += length * _bin_log(scores, runs, records)
    for run in range(runs.arms.size):
        total = 0.0
        for arm in range(scores.means.size):
            total += (runs.pulls[run, arm] - records.bin_pulls[run, arm]) * scores.means[arm]
            records.bin_pulls[run, arm] = runs.pulls[run, arm]
        records.bins[run, position] = total / length
    records.bin_start[0] = time


@njit
def record_marks(scores, piece, runs, records, until):
    """Record at all marks up to the time ``until``, which the present piece reaches."""
    while records.mark[0] < records.marks.size and records.marks[records.mark[0]] <= until:
        index = records.mark[0]
        time, position = records.marks[index], records.grid_at[index]
        for run in range(runs.arms.size):
            count_pulls(runs, run, time)
        if position >= 0:
            records.log_means[position] = log_sum_at(piece, scores.in_logs, time) / time
            records.spreads[position] = spread_sum_at(piece, time) / time
            _record_runs(scores, runs, records, time, inverse_sum_at(piece, time), position)
            binned = records.bin_log_sum[0]
            if time > records.bin_start[0]:
                binned += (time - records.bin_start[0]) * _bin_log(scores, runs, records)
            records.binned[position] = binned / time
        if records.bin_at[index] >= 0:
            _end_bin(scores, runs, records, time, records.bin_at[index])
        records.mark[0] += 1
