"""Nash regret of one curve: all its runs in one pass, never an array of rounds times runs.

Definitions (DP-NCB, Equation 2): e_s is the mean over R runs of the mean of the arm played in
round s, G_t = exp(1/t sum_{s<=t} log e_s), and the Nash regret is mu* - G_t. The average is
inside the logarithm, so runs are taken in together, window by window of time.

In the same pass: the influence of run r on log G_t, 1/t sum_{s<=t} (mu_{r,s} - e_s) / e_s, whose
mean square gives the standard error (infinitesimal jackknife); the first-order bias in 1/R; the
average over time of e_s (average regret); the mean over runs of each run's own geometric mean; and
means over equal bins of time, of each run and, before the logarithm, of all.
"""

import numpy as np
from numpy.typing import NDArray

from dpbandits.metrics.names import PARTS
from dpbandits.metrics.nash_pieces import LOG_FLOOR, UNIT, Piece, Runs, Scores
from dpbandits.metrics.nash_records import NashLedger, Records
from dpbandits.metrics.nash_sweeps import collect_changes, sweep_changes, sweep_rounds

Times = NDArray[np.int64]
Values = NDArray[np.float64]

BINS = 2000
"""Equal bins of time; as many as there are rounds where these are fewer."""

MAXIMAL_RUNS = 2**13 - 1
"""With more the sum over runs of integer means would overflow."""

MAXIMAL_PULLS = 2**62
"""Pulls of all runs together that are surely counted without overflow."""

SMALLEST_MEAN = 2.0**-13
"""Below it an integer mean is less exact than 1e-12, and logarithms are carried instead."""

ROUNDS_PER_CHUNK = 16
"""With more rounds than this to a chunk of any run, changes are sorted, not entered by round."""


def bin_edges(horizon: int) -> Times:
    """Return the ends of the bins, increasing up to the horizon; shape (B,)."""
    count = min(BINS, horizon)
    return np.array([horizon * (each + 1) // count for each in range(count)], np.int64)


def open_nash_ledger(
    means: Values, log_means: Values, runs: int, horizon: int, grid: Times
) -> NashLedger:
    """Return the ledger of R runs that have not begun.

    Args:
        means: what the pulls of each arm count as, in [0, 1], shape (K,).
        log_means: their logarithms, exact where a mean is too small for a double.
        runs: R, at most ``MAXIMAL_RUNS``.
        horizon: number of rounds T.
        grid: increasing times in [1, T], shape (G,).
    """
    scores = _scores(means, log_means)
    shape = (runs, scores.means.size)
    return NashLedger(
        scores,
        Piece(
            start=np.zeros(1, np.int64),
            sums=np.zeros(2, np.int64),
            mean=np.ones(1),
            inverse=np.zeros(1),
            log_mean=np.zeros(1),
            spread=np.zeros(1),
            log_sum=np.zeros(2),
            product=np.ones(1),
            spread_sum=np.zeros(1),
            inverse_sum=np.zeros(1),
        ),
        Runs(
            arms=np.full(runs, shape[1] - 1),
            since=np.zeros(runs, np.int64),
            entered=np.zeros(runs),
            influences=np.zeros(runs),
            pulls=np.zeros(shape, np.int64),
        ),
        _records(shape, grid, bin_edges(horizon)),
    )


def _scores(means: Values, log_means: Values) -> Scores:
    own = _with_two_more(means)
    in_logs = bool(log_means.min() < np.log(SMALLEST_MEAN))
    of_all = np.logaddexp.reduce(log_means) - np.log(log_means.size)
    finite = np.where(log_means == -np.inf, LOG_FLOOR, log_means)
    return Scores(
        in_logs=in_logs,
        units=np.rint(np.stack([own, own**2], axis=1) / UNIT).astype(np.int64),
        means=own,
        logs=np.concatenate([log_means, [of_all, -np.inf]]),
        path_logs=_with_two_more(finite),
        weights=np.zeros(own.size) if in_logs else own.copy(),
    )


def _with_two_more(values: Values) -> Values:
    """Append the value of a uniformly random arm, the mean of all, and of none, 0."""
    return np.concatenate([values, [values.mean(), 0.0]])


def _records(shape: tuple[int, int], grid: Times, edges: Times) -> Records:
    marks = np.union1d(grid, edges)
    return Records(
        marks=marks,
        grid_at=_positions(grid, marks),
        bin_at=_positions(edges, marks),
        mark=np.zeros(1, np.int64),
        bin_start=np.zeros(1, np.int64),
        bin_pulls=np.zeros(shape, np.int64),
        bin_log_sum=np.zeros(1),
        log_means=np.empty(grid.size),
        spreads=np.empty(grid.size),
        averages=np.empty(grid.size),
        trajectories=np.empty(grid.size),
        binned=np.empty(grid.size),
        influences=np.empty((shape[0], grid.size)),
        bins=np.empty((shape[0], edges.size)),
    )


def _positions(times: Times, marks: Times) -> Times:
    positions = np.full(marks.size, -1)
    positions[np.searchsorted(marks, times)] = np.arange(times.size)
    return positions


def enter_window(
    ledger: NashLedger,
    arms: NDArray[np.int64],
    lengths: NDArray[np.int64],
    filled: NDArray[np.int64],
    starts: Times,
    window: tuple[int, int],
) -> None:
    """Take in what every run plays in a window; windows follow upon each other from round 0.

    Args:
        ledger: what the runs did before.
        arms: arms of the chunks, shape (R, C); below 0 for uniformly random ones.
        lengths: their lengths, shape (R, C).
        filled: number of chunks of each run, shape (R,); they reach the end of the window.
        starts: first round of each run's first chunk, counted from 0; shape (R,).
        window: first round, and the round before which the window ends.
    """
    begin, until = window
    often = (until - begin) <= ROUNDS_PER_CHUNK * int(filled.sum())
    if often and not ledger.scores.in_logs:
        sweep_rounds(ledger, arms, lengths, filled, starts, begin, until)
        return
    uniform = ledger.scores.means.size - 2
    times, runs, new = collect_changes(
        ledger.runs.arms, uniform, arms, lengths, filled, starts, until
    )
    sweep_changes(ledger, times, runs, new, times.argsort(kind="stable"), until)


def quantities(ledger: NashLedger) -> Values:
    """Return what is known of the curve at each time of the grid, shape (7, G).

    By row, for R runs of which one alone has neither standard error nor bias (NaN):

    - ``nash_log_mean``: log G_t.
    - ``nash_standard_error``: standard error of log G_t over runs, by the infinitesimal jackknife.
    - ``nash_bias``: what log G_t is too low by on average, to first order in 1/R.
    - ``average_mean``: 1/t sum_{s<=t} e_s; mu* minus it is the average regret.
    - ``trajectory_mean``: mean over runs of the geometric mean along each run.
    - ``binned_log_mean``: log G_t from means over runs and bins of time (the last cut at t).
    - ``best_mean``: mu*, the largest mean.
    """
    records, runs = ledger.records, ledger.runs.arms.size
    error = bias = np.full(records.spreads.shape, np.nan)
    if runs > 1:
        squares = (records.influences**2).sum(axis=0)
        error = np.sqrt(squares / (runs * (runs - 1)))
        bias = np.maximum(records.spreads, 0.0) / (2 * (runs - 1))
    best = np.full(error.shape, ledger.scores.means[:-2].max())
    recorded = (records.averages, records.trajectories, records.binned)
    return np.stack([records.log_means, error, bias, *recorded, best])


def nash_parts(ledger: NashLedger) -> dict[str, Values]:
    """Return ``PARTS`` by name once the horizon is reached.

    Their shapes are (1, 7, G) for the quantities, (R, G) for the influences of the runs on log G_t,
    and (R, B) for the means of the arms that each run played in each bin.
    """
    parts = (quantities(ledger)[None], ledger.records.influences, ledger.records.bins)
    return dict(zip(PARTS, parts, strict=True))
