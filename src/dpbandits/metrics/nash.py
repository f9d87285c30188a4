"""Nash regret of one curve: all its runs in one pass, never an array of rounds times runs.

Definitions (DP-NCB, Equation 2): e_s is the mean over R runs of the mean of the arm played in
round s, G_t = exp(1/t sum_{s<=t} log e_s), and the Nash regret is mu* - G_t. The average is
inside the logarithm, so runs are taken in side by side, window by window of time.

In the same pass: the influence of run r on log G_t, 1/t sum_{s<=t} (mu_{r,s} - e_s) / e_s, whose
mean square gives the standard error (infinitesimal jackknife); the first-order bias in 1/R; the
average over time of e_s (average regret); the mean over runs of the geometric mean along each run;
and means over equal bins of time, of each run and, before the logarithm, of all.

Time is cut into pieces on which e is constant. A piece ends where the sum over runs of the means of
the arms changes (where means are tiny: at every time at which a run changes its arm). Which rounds
a piece holds, and so every rounding below, depends on the runs alone: not on how time is cut into
windows, nor on the times recorded.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbandits.kernels import njit
from dpbandits.metrics import PARTS

Times = NDArray[np.int64]
Values = NDArray[np.float64]

BINS = 2000  # equal bins of time; as many as there are rounds where these are fewer
MAXIMAL_RUNS = 2**13 - 1  # with more the sum over runs of integer means would overflow
MAXIMAL_PULLS = 2**62  # pulls of all runs that are surely counted without overflow
UNIT = 2.0**-50  # of integer means, whose sums do not depend on their order
SMALLEST_MEAN = 2.0**-13  # below it an integer mean is less exact than 1e-12: in logarithms
LOG_FLOOR = math.log(1e-300)  # of the least mean that a round counts with (DP-NCB, Equation 2)
SMALLEST_PRODUCT = 1e-200  # a product of means below it becomes a logarithm
ROUNDS_PER_SEGMENT = 16  # with more to a segment of any run, changes are sorted, not taken by round
ROUNDS_AT_ONCE = 2048  # longest stretch that is taken in by round; it fits a core's cache
CHANGES_AT_ONCE = 1 << 20  # changes of arm kept meanwhile: with many runs a stretch is shorter


class Scores(NamedTuple):
    """What pulls of K arms count as; arm K is uniformly random, K + 1 none, before the first round.

    Where means are too small for integers, logarithms are carried (``in_logs``).
    """

    in_logs: bool
    units: NDArray[np.int64]  # mean and mean squared in UNIT, shape (K + 2, 2)
    means: Values
    logs: Values  # of the means
    path_logs: Values  # finite; of a uniformly random arm the mean logarithm
    weights: Values  # the means; in logs, over e of the present piece


class Piece(NamedTuple):
    """The present piece and the sums over the rounds before it; numbers, as shapes (1,)."""

    start: NDArray[np.int64]  # its first round, counted from 0
    sums: NDArray[np.int64]  # over runs, of the means and their squares in UNIT, shape (2,)
    mean: Values  # over runs, e
    inverse: Values  # 1/e
    log_mean: Values  # kept where logarithms are carried
    spread: Values  # variance over runs, over e^2
    log_sum: Values  # of log e, and what rounding lost, shape (2,)
    product: Values  # the part of it that is not yet a logarithm
    spread_sum: Values
    inverse_sum: Values


class Paths(NamedTuple):
    """The R runs so far, by run."""

    arms: NDArray[np.int64]  # present ones
    since: NDArray[np.int64]  # the round from which on pulls are not yet counted
    entered: Values  # the sum of 1/e as the present arm began
    influences: Values  # sum of (mean of the arm)/e over earlier arms
    pulls: NDArray[np.int64]  # of each arm, shape (R, K + 2)


class Records(NamedTuple):
    """What is recorded at G times of a grid and of B bins, and when: at M ``marks``.

    The last seven are results; ``quantities`` says what the curves of shape (G,) are.
    """

    marks: Times
    grid_at: NDArray[np.int64]  # position of each mark in the grid, or -1
    bin_at: NDArray[np.int64]  # the bin that ends at each mark, or -1
    mark: NDArray[np.int64]  # the next one
    bin_start: NDArray[np.int64]  # of the present bin
    bin_pulls: NDArray[np.int64]  # before it, shape (R, K + 2)
    bin_log_sum: Values  # over earlier bins, length times log of the mean
    log_means: Values
    spreads: Values  # mean over time of the variance over runs, over e^2
    averages: Values
    trajectories: Values
    binned: Values
    influences: Values  # of each run on log G_t, shape (R, G)
    bins: Values  # mean of the arms of each run in each bin, shape (R, B)


class NashAccumulator(NamedTuple):
    """R runs of one curve so far, fed with windows of their segments."""

    scores: Scores
    piece: Piece
    paths: Paths
    records: Records


def bin_edges(horizon: int) -> Times:
    """Return the ends of the bins, increasing up to the horizon; shape (B,)."""
    count = min(BINS, horizon)
    return np.array([horizon * (number + 1) // count for number in range(count)], np.int64)


def nash_accumulator(
    means: Values, log_means: Values, runs: int, horizon: int, grid: Times
) -> NashAccumulator:
    """Return the accumulator of R runs, at most ``MAXIMAL_RUNS``, that have not begun.

    ``log_means`` are exact where a mean is too small for a double; the grid increases in [1, T].
    """
    scores, edges = _scores(means, log_means), bin_edges(horizon)
    marks, arms, times = np.union1d(grid, edges), scores.means.size, grid.size
    start, sums, log_sum = np.zeros(1, np.int64), np.zeros(2, np.int64), np.zeros(2)
    mean, product = np.ones((2, 1))
    inverse, log_mean, spread, spread_sum, inverse_sum = np.zeros((5, 1))
    piece = Piece(
        start, sums, mean, inverse, log_mean, spread, log_sum, product, spread_sum, inverse_sum
    )
    entered, influences = np.zeros((2, runs))
    pulls = np.zeros((runs, arms), np.int64)
    paths = Paths(np.full(runs, arms - 1), np.zeros(runs, np.int64), entered, influences, pulls)
    records = Records(
        marks=marks,
        grid_at=_positions(grid, marks),
        bin_at=_positions(edges, marks),
        mark=np.zeros(1, np.int64),
        bin_start=np.zeros(1, np.int64),
        bin_pulls=np.zeros((runs, arms), np.int64),
        bin_log_sum=np.zeros(1),
        log_means=np.empty(times),
        spreads=np.empty(times),
        averages=np.empty(times),
        trajectories=np.empty(times),
        binned=np.empty(times),
        influences=np.empty((runs, times)),
        bins=np.empty((runs, edges.size)),
    )
    return NashAccumulator(scores, piece, paths, records)


def _scores(means: Values, log_means: Values) -> Scores:
    with_two_more = _with_two_more(means)
    in_logs = bool(log_means.min() < np.log(SMALLEST_MEAN))
    of_all = np.logaddexp.reduce(log_means) - np.log(log_means.size)
    finite = np.where(log_means == -np.inf, LOG_FLOOR, log_means)
    units = np.stack([with_two_more, with_two_more**2], axis=1) / UNIT
    return Scores(
        in_logs=in_logs,
        units=np.rint(units).astype(np.int64),
        means=with_two_more,
        logs=np.concatenate([log_means, [of_all, -np.inf]]),
        path_logs=_with_two_more(finite),
        weights=np.zeros(means.size + 2) if in_logs else with_two_more.copy(),
    )


def _with_two_more(values: Values) -> Values:
    """Append the value of a uniformly random arm, the mean of all, and of none, 0."""
    return np.concatenate([values, [values.mean(), 0.0]])


def _positions(times: Times, marks: Times) -> Times:
    positions = np.full(marks.size, -1)
    positions[np.searchsorted(marks, times)] = np.arange(times.size)
    return positions


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
        if piece.product[0] < SMALLEST_PRODUCT:
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
def end_piece_in_logs(piece, weights, paths, time):
    """End the present piece, and settle every run, since no common unit of 1/e would do."""
    length = time - piece.start[0]
    _add_log(piece, length * piece.log_mean[0])
    piece.spread_sum[0] += length * piece.spread[0]
    piece.start[0] = time
    for run in range(paths.arms.size):
        paths.influences[run] += length * weights[paths.arms[run]]


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
def _bin_log(curve):
    """Return the logarithm of the mean over runs and over the present bin so far."""
    counts = np.zeros(curve.scores.logs.size, np.int64)
    for run in range(curve.paths.arms.size):
        for arm in range(counts.size):
            counts[arm] += curve.paths.pulls[run, arm] - curve.records.bin_pulls[run, arm]
    return log_of_mean(counts, curve.scores.logs)


@njit
def _record_time(curve, time, position):
    """Record at a time of the grid; of each run its influence and both its means."""
    scores, piece, paths, records = curve
    records.log_means[position] = log_sum_at(piece, scores.in_logs, time) / time
    spread_sum = piece.spread_sum[0] + (time - piece.start[0]) * piece.spread[0]
    records.spreads[position] = spread_sum / time
    count, inverse_sum = paths.arms.size, inverse_sum_at(piece, time)
    average, trajectory = 0.0, 0.0
    for run in range(count):
        present = scores.weights[paths.arms[run]] * (inverse_sum - paths.entered[run])
        records.influences[run, position] = (paths.influences[run] + present - time) / time
        path = 0.0
        for arm in range(scores.means.size):
            average += paths.pulls[run, arm] * scores.means[arm]
            path += paths.pulls[run, arm] * scores.path_logs[arm]
        trajectory += math.exp(path / time)
    records.averages[position] = average / (count * time)
    records.trajectories[position] = trajectory / count
    binned = records.bin_log_sum[0]
    if time > records.bin_start[0]:
        binned += (time - records.bin_start[0]) * _bin_log(curve)
    records.binned[position] = binned / time


@njit
def _end_bin(curve, time, position):
    scores, _, paths, records = curve
    length = time - records.bin_start[0]
    records.bin_log_sum[0] += length * _bin_log(curve)
    for run in range(paths.arms.size):
        total = 0.0
        for arm in range(scores.means.size):
            total += (paths.pulls[run, arm] - records.bin_pulls[run, arm]) * scores.means[arm]
            records.bin_pulls[run, arm] = paths.pulls[run, arm]
        records.bins[run, position] = total / length
    records.bin_start[0] = time


@njit
def record_marks(curve, until):
    """Record at all marks up to ``until``, which the present piece reaches; no sum is touched."""
    _, _, paths, records = curve
    while records.mark[0] < records.marks.size and records.marks[records.mark[0]] <= until:
        index = records.mark[0]
        time = records.marks[index]
        for run in range(paths.arms.size):
            paths.pulls[run, paths.arms[run]] += time - paths.since[run]
            paths.since[run] = time
        if records.grid_at[index] >= 0:
            _record_time(curve, time, records.grid_at[index])
        if records.bin_at[index] >= 0:
            _end_bin(curve, time, records.bin_at[index])
        records.mark[0] += 1


# Two ways through a window, with equal results. A window is what R runs played between two times,
# as rows of segments: segment c of a run is arms[run, c] played lengths[run, c] times in a row, the
# first of them beginning at the round starts[run] (counted from 0), filled[run] of them in all.


@njit
def _scatter(units, present_arms, segments, position, times, begin, end, changes, by_run):
    """Add every change of arm in [begin, end) to ``changes`` of the sums over runs.

    ``by_run`` gets their times, counted from ``begin``, the new arms, and their numbers.
    """
    (arms, lengths, filled), (when, new, changed), uniform = segments, by_run, len(units) - 2
    # Unsigned numbers: numba then does not look for negative indices, which saves a third.
    stop = np.uint64(end - begin)
    for run in range(filled.size):
        row_arms, row_lengths, row_when, row_new = arms[run], lengths[run], when[run], new[run]
        present, segment, count = present_arms[run], np.uint64(position[run]), np.uint64(0)
        last, time = np.uint64(filled[run]), np.uint64(times[run] - begin)
        mean, square = units[present, 0], units[present, 1]
        while time < stop and segment < last:
            arm = row_arms[segment]
            if arm != present:
                if arm < 0:
                    arm = uniform
                if arm != present:
                    changes[time, 0] += units[np.uint64(arm), 0] - mean
                    changes[time, 1] += units[np.uint64(arm), 1] - square
                    mean, square = units[np.uint64(arm), 0], units[np.uint64(arm), 1]
                    row_when[count], row_new[count] = time, arm
                    count += np.uint64(1)
                    present = arm
            time += np.uint64(row_lengths[segment])
            segment += np.uint64(1)
        position[run], times[run], changed[run] = segment, begin + np.int64(time), count


@njit
def _scan(piece, runs, begin, end, changes, inverse_sums):
    """Go through the pieces in [begin, end) and note the sum of 1/e before every round."""
    for time in range(begin, end):
        inverse_sums[time - begin] = inverse_sum_at(piece, time)
        first, second = changes[time - begin, 0], changes[time - begin, 1]
        if first != 0 or second != 0:
            changes[time - begin, 0] = 0
            changes[time - begin, 1] = 0
            end_piece(piece, time)
            piece.sums[0] += first
            piece.sums[1] += second
            begin_piece(piece, runs)


@njit
def _gather(weights, paths, begin, by_run, inverse_sums):
    """Let every run go through its changes of arm."""
    when, new, changed = by_run
    # Local names: fields read again and again cost twice the time.
    for run in range(paths.arms.size):
        row_when, row_new, pulls = when[run], new[run], paths.pulls[run]
        present, since = np.uint64(paths.arms[run]), paths.since[run]
        entered, influence = paths.entered[run], paths.influences[run]
        for change in range(changed[run]):
            time = np.uint64(row_when[np.uint64(change)])
            inverse_sum = inverse_sums[time]
            influence += weights[present] * (inverse_sum - entered)
            pulls[present] += begin + np.int64(time) - since
            since, entered = begin + np.int64(time), inverse_sum
            present = np.uint64(row_new[np.uint64(change)])
        paths.arms[run], paths.since[run] = np.int64(present), since
        paths.entered[run], paths.influences[run] = entered, influence


@njit(nogil=True)
def sweep_rounds(curve, arms, lengths, filled, starts, begin, until):
    """Take in the window [begin, until) round by round: for runs that change their arm often."""
    scores, piece, paths, records = curve
    count, segments = filled.size, (arms, lengths, filled)
    longest = max(1, min(ROUNDS_AT_ONCE, CHANGES_AT_ONCE // count, until - begin))
    position, times, changed = np.zeros(count, np.int64), starts.copy(), np.zeros(count, np.int64)
    when, new = np.empty((count, longest), np.int32), np.empty((count, longest), np.int32)
    by_run = when, new, changed
    changes, inverse_sums = np.zeros((longest, 2), np.int64), np.empty(longest)
    while begin < until:
        end = min(begin + longest, until)
        if records.mark[0] < records.marks.size:
            end = min(end, records.marks[records.mark[0]])
        _scatter(scores.units, paths.arms, segments, position, times, begin, end, changes, by_run)
        _scan(piece, count, begin, end, changes, inverse_sums)
        _gather(scores.weights, paths, begin, by_run, inverse_sums)
        record_marks(curve, end)
        begin = end


@njit(nogil=True)
def collect_changes(present_arms, uniform, arms, lengths, filled, starts, until):
    """Return every change of arm before ``until``: its time, run and new arm; run by run."""
    times = np.empty(filled.sum(), np.int64)
    runs, new = np.empty(times.size, np.int32), np.empty(times.size, np.int32)
    count = 0
    for run in range(filled.size):
        present, time = present_arms[run], starts[run]
        for segment in range(filled[run]):
            if time >= until:
                break
            arm = arms[run, segment]
            if arm < 0:
                arm = uniform
            if arm != present:
                times[count], runs[count], new[count] = time, run, arm
                count += 1
                present = arm
            time += lengths[run, segment]
    return times[:count], runs[:count], new[:count]


@njit(nogil=True)
def sweep_changes(curve, times, changing, new, order, until):
    """Add a window change by change, in the given ``order``; the cost does not grow with rounds."""
    scores, piece, paths, records = curve
    units, weights, in_logs = scores.units, scores.weights, scores.in_logs
    # Local names instead of a call for every change: passing these arrays would cost ten times the
    # rest.
    arms, since, pulls, index = paths.arms, paths.since, paths.pulls, 0
    entered, influences = paths.entered, paths.influences
    while index < order.size:
        time = times[order[index]]
        if records.mark[0] < records.marks.size and records.marks[records.mark[0]] <= time:
            record_marks(curve, time)
        inverse_sum = inverse_sum_at(piece, time)
        first = second = 0
        if in_logs:
            end_piece_in_logs(piece, weights, paths, time)
        while index < order.size and times[order[index]] == time:
            run, arm = changing[order[index]], new[order[index]]
            present = arms[run]
            first += units[arm, 0] - units[present, 0]
            second += units[arm, 1] - units[present, 1]
            pulls[run, present] += time - since[run]
            since[run] = time
            if not in_logs:
                influences[run] += weights[present] * (inverse_sum - entered[run])
                entered[run] = inverse_sum
            arms[run] = arm
            index += 1
        if in_logs:
            begin_piece_in_logs(piece, scores.logs, weights, arms)
        elif first != 0 or second != 0:
            end_piece(piece, time)
            piece.sums[0] += first
            piece.sums[1] += second
            begin_piece(piece, arms.size)
    record_marks(curve, until)


@njit(nogil=True)
def drop_segments(arms, lengths, filled, starts, until):
    """Take the segments that begin before ``until`` off the front of every row."""
    for run in range(filled.size):
        gone, time = 0, starts[run]
        while gone < filled[run] and time < until:
            time += lengths[run, gone]
            gone += 1
        starts[run] = time
        filled[run] -= gone
        for segment in range(filled[run]):
            arms[run, segment] = arms[run, segment + gone]
            lengths[run, segment] = lengths[run, segment + gone]


def enter_window(
    curve: NashAccumulator,
    arms: NDArray[np.int64],
    lengths: NDArray[np.int64],
    filled: NDArray[np.int64],
    starts: Times,
    window: tuple[int, int],
) -> None:
    """Take in what every run plays in a window, rows of segments as above; windows adjoin.

    Arms below 0 are uniformly random ones. The segments of each run reach the end of the window.
    """
    begin, until = window
    segments = (arms, lengths, filled, starts)
    often = (until - begin) <= ROUNDS_PER_SEGMENT * int(filled.sum())
    if often and not curve.scores.in_logs:
        sweep_rounds(curve, *segments, begin, until)
        return
    uniform = curve.scores.means.size - 2
    times, runs, new = collect_changes(curve.paths.arms, uniform, *segments, until)
    sweep_changes(curve, times, runs, new, times.argsort(kind="stable"), until)


def quantities(curve: NashAccumulator) -> Values:
    """Return ``metrics.NASH_QUANTITIES`` at each time of the grid, shape (7, G).

    They are log G_t, its standard error (infinitesimal jackknife) and what it is too low by on
    average, to first order in 1/R (both NaN for one run); the mean over time of e_s; the mean over
    runs of the geometric mean along each; log G_t from means over runs and bins of time, the last
    cut at t; and mu*, the largest mean.
    """
    records, runs = curve.records, curve.paths.arms.size
    error = bias = np.full(records.spreads.shape, np.nan)
    if runs > 1:
        squares = (records.influences**2).sum(axis=0)
        error = np.sqrt(squares / (runs * (runs - 1)))
        bias = np.maximum(records.spreads, 0.0) / (2 * (runs - 1))
    best = np.full(error.shape, curve.scores.means[:-2].max())
    recorded = (records.averages, records.trajectories, records.binned)
    return np.stack([records.log_means, error, bias, *recorded, best])


def nash_parts(curve: NashAccumulator) -> dict[str, Values]:
    """Return ``PARTS`` by name at the horizon, of shapes (1, 7, G), (R, G) and (R, B)."""
    parts = (quantities(curve)[None], curve.records.influences, curve.records.bins)
    return dict(zip(PARTS, parts, strict=True))
