"""Two ways through a window of time, round by round and change by change, with equal results.

A window is what R runs played between two times, as rows of chunks: chunk ``c`` of a run is
``arms[run, c]`` played ``lengths[run, c]`` times in a row, the first of them beginning at the round
``starts[run]`` (counted from 0), ``filled[run]`` of them being there.
"""

import numba
import numpy as np

from dpbandits.metrics.nash_pieces import (
    begin_piece,
    begin_piece_in_logs,
    change_arm,
    end_piece,
    end_piece_in_logs,
    inverse_sum_at,
    record_marks,
)

ROUNDS_AT_ONCE = 8192
"""Length of the arrays that hold one number a round."""


@numba.njit(cache=True)
def _scatter(ledger, arms, lengths, filled, position, times, begin, end, changes):  # type: ignore[no-untyped-def]
    """Enter every change of arm in [begin, end) into ``changes`` of the sums over runs."""
    units, uniform = ledger.units, ledger.logs.size - 2
    for run in range(ledger.arms.size):
        present, chunk, time, last = ledger.arms[run], position[run], times[run], filled[run]
        mean, square = units[present, 0], units[present, 1]
        while time < end and chunk < last:
            arm = arms[run, chunk]
            if arm < 0:
                arm = uniform
            if arm != present:
                changes[time - begin, 0] += units[arm, 0] - mean
                changes[time - begin, 1] += units[arm, 1] - square
                present, mean, square = arm, units[arm, 0], units[arm, 1]
            time += lengths[run, chunk]
            chunk += 1


@numba.njit(cache=True)
def _scan(ledger, begin, end, changes, inverse_sums):  # type: ignore[no-untyped-def]
    """Go through the pieces in [begin, end) and note the sum of 1/e before every round."""
    for time in range(begin, end):
        inverse_sums[time - begin] = inverse_sum_at(ledger, time)
        first, second = changes[time - begin, 0], changes[time - begin, 1]
        if first != 0 or second != 0:
            changes[time - begin, 0] = 0
            changes[time - begin, 1] = 0
            end_piece(ledger, time)
            ledger.sums[0] += first
            ledger.sums[1] += second
            begin_piece(ledger)


@numba.njit(cache=True)
def _gather(ledger, arms, lengths, filled, position, times, begin, end, inverse_sums):  # type: ignore[no-untyped-def]
    """Let every run go through its changes of arm in [begin, end), as ``change_arm`` does."""
    # Local names: fields of the ledger read again and again cost twice the time.
    weights, uniform = ledger.weights, ledger.logs.size - 2
    for run in range(ledger.arms.size):
        chunk, time, last, pulls = position[run], times[run], filled[run], ledger.pulls[run]
        present, since = ledger.arms[run], ledger.since[run]
        entered, influence = ledger.entered[run], ledger.influences[run]
        while time < end and chunk < last:
            arm = arms[run, chunk]
            if arm < 0:
                arm = uniform
            if arm != present:
                inverse_sum = inverse_sums[time - begin]
                influence += weights[present] * (inverse_sum - entered)
                pulls[present] += time - since
                present, since, entered = arm, time, inverse_sum
            time += lengths[run, chunk]
            chunk += 1
        position[run], times[run] = chunk, time
        ledger.arms[run], ledger.since[run] = present, since
        ledger.entered[run], ledger.influences[run] = entered, influence


@numba.njit(cache=True, nogil=True)
def sweep_rounds(ledger, arms, lengths, filled, starts, begin, until):  # type: ignore[no-untyped-def]
    """Take in the window [begin, until) round by round: for runs that change their arm often."""
    position, times = np.zeros(filled.size, np.int64), starts.copy()
    changes = np.zeros((ROUNDS_AT_ONCE, 2), np.int64)
    inverse_sums = np.empty(ROUNDS_AT_ONCE)
    while begin < until:
        end = min(begin + ROUNDS_AT_ONCE, until)
        if ledger.mark[0] < ledger.marks.size:
            end = min(end, ledger.marks[ledger.mark[0]])
        _scatter(ledger, arms, lengths, filled, position, times, begin, end, changes)
        _scan(ledger, begin, end, changes, inverse_sums)
        _gather(ledger, arms, lengths, filled, position, times, begin, end, inverse_sums)
        record_marks(ledger, end)
        begin = end


@numba.njit(cache=True, nogil=True)
def collect_changes(ledger, arms, lengths, filled, starts, until):  # type: ignore[no-untyped-def]
    """Return every change of arm before ``until``: its time, run and new arm; run by run."""
    uniform = ledger.logs.size - 2
    times = np.empty(filled.sum(), np.int64)
    runs, new = np.empty(times.size, np.int32), np.empty(times.size, np.int32)
    found = 0
    for run in range(filled.size):
        present, time = ledger.arms[run], starts[run]
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


@numba.njit(cache=True, nogil=True)
def sweep_changes(ledger, times, runs, arms, order, until):  # type: ignore[no-untyped-def]
    """Take in a window up to ``until`` change by change, at a cost that rounds do not add to."""
    index = 0
    while index < order.size:
        time = times[order[index]]
        record_marks(ledger, time)
        inverse_sum = inverse_sum_at(ledger, time)
        first = second = 0
        if ledger.in_logs:
            end_piece_in_logs(ledger, time)
        while index < order.size and times[order[index]] == time:
            change = order[index]
            run, arm = runs[change], arms[change]
            first += ledger.units[arm, 0] - ledger.units[ledger.arms[run], 0]
            second += ledger.units[arm, 1] - ledger.units[ledger.arms[run], 1]
            change_arm(ledger, run, arm, time, inverse_sum)
            index += 1
        ledger.sums[0] += first
        ledger.sums[1] += second
        if ledger.in_logs:
            begin_piece_in_logs(ledger)
        elif first != 0 or second != 0:
            end_piece(ledger, time)
            begin_piece(ledger)
    record_marks(ledger, until)


@numba.njit(cache=True, nogil=True)
def drop_chunks(arms, lengths, filled, starts, until):  # type: ignore[no-untyped-def]
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
