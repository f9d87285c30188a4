"""Pieces of time on which the mean over runs is constant, and what is recorded between them.

A piece ends where the sum over runs of the means of the arms changes (where means are tiny: at
every time at which a run changes its arm). Which rounds a piece holds, and so every rounding below,
depends on the runs alone: not on how time is cut into windows, nor on the times recorded.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.kernels import njit

UNIT = 2.0**-50
"""What an integer mean counts in: sums of integers do not depend on their order."""

LOG_FLOOR = math.log(1e-300)
"""Logarithm of the least mean that a round counts with (DP-NCB, Equation 2)."""

_SMALLEST_PRODUCT = 1e-200


class Scores(NamedTuple):
    """What pulls count as.

    Arms are 0 to K - 1; K means a uniformly random arm, K + 1 for none, before the first
    round.

    Attributes:
        in_logs: whether means are too small for integers, so that logarithms are carried.
        units: mean of each arm, and mean squared, in ``UNIT``; shape (K + 2, 2).
        means: shape (K + 2,).
        logs: logarithm of each mean, shape (K + 2,).
        path_logs: the same, but the mean logarithm for a uniformly random arm; finite.
        weights: each mean; where logarithms are carried, each over e of the present piece.
    """

    in_logs: bool
    units: NDArray[np.int64]
    means: NDArray[np.float64]
    logs: NDArray[np.float64]
    path_logs: NDArray[np.float64]
    weights: NDArray[np.float64]


class Piece(NamedTuple):
    """The present piece and the sums over the rounds before it; numbers, as shapes (1,).

    Attributes:
        start: its first round, counted from 0.
        sums: sum over runs of the means, and of their squares, in ``UNIT``; shape (2,).
        mean: mean over runs e; ``inverse`` is 1/e, ``log_mean`` its logarithm (kept where
            logarithms are carried), ``spread`` the variance over runs over e^2.
        log_sum: sum of log e, and what rounding lost, shape (2,); ``product`` is the part of it
            that is not yet a logarithm.
        spread_sum: sum of the spread.
        inverse_sum: sum of 1/e.
    """

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


class Runs(NamedTuple):
    """The R runs.

    Attributes:
        arms: present arm of each, shape (R,).
        since: from which round on its pulls are not yet counted, shape (R,).
        entered: the sum of 1/e as it began, shape (R,).
        influences: sum of (mean of the arm)/e over its earlier arms, shape (R,).
        pulls: pulls of each arm, shape (R, K + 2).
    """

    arms: NDArray[np.int64]
    since: NDArray[np.int64]
    entered: NDArray[np.float64]
    influences: NDArray[np.float64]
    pulls: NDArray[np.int64]


@njit
def _add_log(piece, value):
    """Add to the sum of logarithms and keep what rounding loses (Neumaier's summation)."""
    total = piece.log_sum[0]
    larger, smaller = (total, value) if abs(total) >= abs(value) else (value, total)
    piece.log_sum[0] = total + value
    piece.log_sum[1] += (larger - piece.log_sum[0]) + smaller


@njit
def inverse_sum_at(piece, time):
    """Return the sum of 1/e over the rounds before ``time``, a time of the present piece."""
    return piece.inverse_sum[0] + (time - piece.start[0]) * piece.inverse[0]


@njit
def spread_sum_at(piece, time):
    """Return the sum of the spread over the rounds before ``time``, a time of this piece."""
    return piece.spread_sum[0] + (time - piece.start[0]) * piece.spread[0]


@njit
def log_sum_at(piece, in_logs, time):
    """Return the sum of log e over the rounds before ``time``, a time of the present piece."""
    log_mean = piece.log_mean[0] if in_logs else math.log(piece.mean[0])
    before = piece.log_sum[0] + piece.log_sum[1] + math.log(piece.product[0])
    return before + (time - piece.start[0]) * log_mean


@njit
def end_piece(piece, time):
    """End the present piece before the round ``time``."""
    length = time - piece.start[0]
    if length == 1:
        # One logarithm of a product of many means, instead of a logarithm for each.
        piece.product[0] *= piece.mean[0]
        if piece.product[0] < _SMALLEST_PRODUCT:
            _add_log(piece, math.log(piece.product[0]))
            piece.product[0] = 1.0
    elif length > 0:
        _add_log(piece, length * math.log(piece.mean[0]))
    piece.spread_sum[0] += length * piece.spread[0]
    piece.inverse_sum[0] += length * piece.inverse[0]
    piece.start[0] = time


@njit
def begin_piece(piece, runs):
    """Begin a piece with the present sums over a number of runs."""
    scale = UNIT / runs
    mean = piece.sums[0] * scale
    piece.mean[0] = mean
    piece.inverse[0] = 1.0 / mean
    piece.spread[0] = piece.sums[1] * scale * piece.inverse[0] * piece.inverse[0] - 1.0


@njit
def end_piece_in_logs(piece, weights, runs, time):
    """End the present piece, and settle every run, since no common unit of 1/e would do."""
    length = time - piece.start[0]
    _add_log(piece, length * piece.log_mean[0])
    piece.spread_sum[0] += length * piece.spread[0]
    piece.start[0] = time
    for run in range(runs.arms.size):
        runs.influences[run] += length * weights[runs.arms[run]]


@njit
def log_of_mean(counts, logs):
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


@njit
def begin_piece_in_logs(piece, logs, weights, arms):
    """Begin a piece with the present arms, from the logarithms of their means."""
    counts = np.zeros(logs.size, np.int64)
    for run in range(arms.size):
        counts[arms[run]] += 1
    log_mean = log_of_mean(counts, logs)
    squares = 0.0
    for arm in range(counts.size):
        if counts[arm] > 0:
            # Where all means are 0 the floor replaces them, on which no run has influence.
            weights[arm] = 1.0 if log_mean == LOG_FLOOR else math.exp(logs[arm] - log_mean)
            squares += counts[arm] * weights[arm] * weights[arm]
    piece.log_mean[0] = log_mean
    piece.inverse[0] = 1.0
    piece.spread[0] = squares / arms.size - 1.0


@njit
def count_pulls(runs, run, time):
    """Count the pulls of a run's present arm up to the round ``time``."""
    runs.pulls[run, runs.arms[run]] += time - runs.since[run]
    runs.since[run] = time
