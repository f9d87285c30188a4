"""Results as a simulation would write them, with made-up values: to try filters on."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from dpbandits.engine.cells import Series
from dpbandits.engine.play import Runs
from dpbandits.engine.results import results_frame
from dpbandits.metrics.names import NOMINAL, PER_ARM, QUANTITIES
from dpbandits.metrics.nash import bin_edges

RUNS = 2
"""So many runs are made up; no filter names a run."""


def blank_results(series: Sequence[Series]) -> pd.DataFrame:
    """Return the table of a simulation's results, each value 0.

    Columns, series, metrics, times and arms are those that a simulation would write; runs are
    ``RUNS`` at most, and one where they make Nash curves.
    """
    short = [_short(line) for line in series]
    frame = results_frame(short, [_blank(line) for line in short])
    # Rows are taken from plain objects ten times as fast as from the many pieces of put-together
    # text columns.
    return frame.astype(dict.fromkeys(frame.select_dtypes("str").columns, object))


def _short(series: Series) -> Series:
    """Return the series with few runs, or with one that makes a Nash curve."""
    runs = series.runs[: 1 if series.cell.in_lockstep else RUNS]
    return replace(series, runs=runs, runs_per_curve=0)


def _blank(series: Series) -> Runs:
    return {metric: np.zeros(_shape(series, metric)) for metric in series.cell.metrics}


def _shape(series: Series, metric: str) -> tuple[int, ...]:
    """Return the shape of a metric's values."""
    cell, runs = series.cell, len(series.runs)
    name = metric.removeprefix(NOMINAL)
    if name == "nash_regret":
        return 1, len(QUANTITIES), len(cell.grid)
    if name == "nash_bins":
        return runs, bin_edges(cell.horizon).size
    return runs, len(cell.bandit.arms) if metric in PER_ARM else len(cell.grid)
