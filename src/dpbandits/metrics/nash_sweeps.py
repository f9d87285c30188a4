"""Two ways through a window of time, round by round and change by change, with equal results.

A window is what R runs played between two times, as rows of chunks: chunk ``c`` of a run is
``arms[run, c]`` played ``lengths[run, c]`` times in a row, the first of them beginning at the round
``starts[run]`` (counted from 0), ``filled[run]`` of them being there.
"""

import numpy as np

from dpbandits.kernels import njit
from dpbandits.metrics.nash_pieces import (
    begin_piece,
    begin_piece_in_logs,
    end_piece,
    end_piece_in_logs,
    inverse_sum_at,
)
from dpbandits.metrics.nash_records import record_marks

ROUNDS_AT_ONCE = 2048
"""Longest stretch of a window that is taken in at once, round by round; it fits a core's cache."""

CHANGES_AT_ONCE = 1 << 20
"""Changes of arm that are kept meanwhile: with many runs a stretch is shorter."""


@njit
def _scatter(units, present_arms, chunks, position, times, begin, end, changes, when, new, found):
    """Enter every change of arm in [begin, end) into ``changes`` of the sums over runs.

    When they are, counted from ``begin``, and to which arms, is in ``when`` and ``new`` after.
    """
    (arms, lengths, filled), uniform = chunks, len(units) - 2
    # Unsigned numbers: numba then does not look for negative indices, which saves a third.
    stop = np.uint64(end - begin)
    for run in range(filled.size):
        own_arms, own_lengths, own_when, own_new = arms[run], lengths[run], when[run], new[run]
        present, chunk, count = present_arms[run], np.uint64(position[run]), np.uint64(0)
        last, time = np.uint64(filled[run]), np.uint64(times[run] - begin)
        mean, square = units[present, 0], units[present, 1]
        while time < stop and chunk < last:
            arm = own_arms[chunk]
            if arm != present:
                if arm < 0:
                    arm = uniform
                if arm != present:
                    changes[time, 0] += units[np.uint64(arm), 0] - mean
                    changes[time, 1] += units[np.uint64(arm), 1] - square
                    mean, square = units[np.uint64(arm), 0], units[np.uint64(arm), 1]
                    own_when[count], own_new[count] = time, arm
                    count += np.uint64(1)
                    present = arm
            time += np.uint64(own_lengths[chunk])
            chunk += np.uint64(1)
        position[run], times[run], found[run] = chunk, begin + np.int64(time), count


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
def _gather(weights, runs, begin, when, new, found, inverse_sums):
    """Let every run go through its changes of arm."""
    # Local names: fields read again and again cost twice the time.
    for run in range(runs.arms.size):
        own_when, own_new, pulls = when[run], new[run], runs.pulls[run]
        present, since = np.uint64(runs.arms[run]), runs.since[run]
        entered, influence = runs.entered[run], runs.influences[run]
        for change in range(found[run]):
            time = np.uint64(own_when[np.uint64(change)])
            inverse_sum = inverse_sums[time]
            influence += weights[present] * (inverse_sum - entered)
            pulls[present] += begin + np.int64(time) - since
            since, entered = begin + np.int64(time), inverse_sum
            present = np.uint64(own_new[np.uint64(change)])
        runs.arms[run], runs.since[run] = np.int64(present), since
        runs.entered[run], runs.influences[run] = entered, influence


@njit(nogil=True)
def sweep_rounds(ledger, arms, lengths, filled, starts, begin, until):
    """Take in the window [begin, until) round by round: for runs that change their arm often."""
    scores, piece, runs, records = ledger
    count, chunks = filled.size, (arms, lengths, filled)
    longest = max(1, min(ROUNDS_AT_ONCE, CHANGES_AT_ONCE // count, until - begin))
    position, times, found = np.zeros(count, np.int64), starts.copy(), np.zeros(count, np.int64)
    when, new = np.empty((count, longest), np.int32), np.empty((count, longest), np.int32)
    changes, inverse_sums = np.zeros((longest, 2), np.int64), np.empty(longest)
    while begin < until:
        end = min(begin + longest, until)
        if records.mark[0] < records.marks.size:
            end = min(end, records.marks[records.mark[0]])
        _scatter(
            scores.units, runs.arms, chunks, position, times, begin, end, changes, when, new, found
        )
        _scan(piece, count, begin, end, changes, inverse_sums)
        _gather(scores.weights, runs, begin, when, new, found, inverse_sums)
        record_marks(scores, piece, runs, records, end)
        begin = end


@njit(nogil=True)
def collect_changes(present_arms, uniform, arms, lengths, filled, starts, until):
    """Return every change of arm before ``until``: its time, run and new arm; run by run."""
    times = np.empty(filled.sum(), np.int64)
    runs, new = np.empty(times.size, np.int32), np.empty(times.size, np.int32)
    found = 0
    for run in range(filled.size):
        present, time = present_arms[run], starts[run]
        for chunk in range(filled[run]):
            if time >= until:
                break
            arm = arms[run, chunk]
            if arm < 0:
                arm = uniform
            if arm != present:
                times[found], runs[found], new[found] = time, run, arm
                found += 1
                present = arm
            time += lengths[run, chunk]
    return times[:found], runs[:found], new[:found]


@njit(nogil=True)
def sweep_changes(ledger, times, changing, new, order, until):
    """Take in a window up to ``until`` change by change, at a cost that rounds do not add to.

    Args:
        ledger: what the runs did before.
        times: when an arm changes, shape (N,).
        changing: which run's, shape (N,).
        new: to which arm, shape (N,).
        order: indices of the changes by increasing time, shape (N,).
        until: the end of the window.
    """
    scores, piece, runs, records = ledger
    units, weights, in_logs = scores.units, scores.weights, scores.in_logs
    # Local names, and no call with so many arrays for every change: they would cost ten times all
    # the rest of it.
    arms, since, pulls, index = runs.arms, runs.since, runs.pulls, 0
    entered, influences = runs.entered, runs.influences
    while index < order.size:
        time = times[order[index]]
        if records.mark[0] < records.marks.size and records.marks[records.mark[0]] <= time:
            record_marks(scores, piece, runs, records, time)
        inverse_sum = inverse_sum_at(piece, time)
        first = second = 0
        if in_logs:
            end_piece_in_logs(piece, weights, runs, time)
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
    record_marks(scores, piece, runs, records, until)


@njit(nogil=True)
def drop_chunks(arms, lengths, filled, starts, until):
    """Take the chunks that begin before ``until`` off the front of every row."""
    for run in range(filled.size):
        gone, time = 0, starts[run]
        while gone < filled[run] and time < until:
            time += lengths[run, gone]
            gone += 1
        starts[run] = time
        filled[run] -= gone
        for chunk in range(filled[run]):
            arms[run, chunk] = arms[run, chunk + gone]
            lengths[run, chunk] = lengths[run, chunk + gone]
