"""Results of a simulation as one parquet file with the fingerprint of what they depend on."""

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dpbandits.engine.provenance import METADATA, write_atomically
from dpbandits.errors import InputError
from dpbandits.metrics import COUNTED, IDENTIFIED, NASH_QUANTITIES, NOMINAL, PER_ARM

# Drawing and judging read results without what simulates them.
if TYPE_CHECKING:
    from dpbandits.engine.cells import Cell, Series
    from dpbandits.engine.play import MetricArrays

Values = NDArray[np.float64]
Counts = NDArray[np.int64]


def results_frame(series: Sequence["Series"], runs: Sequence["MetricArrays"]) -> pd.DataFrame:
    """Return the long table of a simulation: one row per series, run, metric, time and arm.

    Columns: series, algorithm, variant, interpretation (those that differ from the variant's), the
    tags and the parameters, run, metric, t (rounds), arm (-1 where the metric is not per arm),
    value. Results of identification and of Nash regret have a column trials, the number of runs in
    a row. Metrics that are counted have one row for the trials of each stream: run is the first of
    these, value the sum. ``nash_regret`` has one row for each curve, time and quantity
    (``metrics.nash.quantities``): run is the first of its runs. Without any series, as at a small
    scale, the table has the columns alone, without tags and parameters.
    """
    last = ["run", "metric", "t", "arm", "value"]
    if not series:
        return pd.DataFrame(columns=["series", "algorithm", "variant", "interpretation", *last])
    # A table for each series takes many times as long.
    measured = [_measured(*pair) for pair in zip(series, runs, strict=True)]
    columns = {name: np.concatenate([each[name] for each in measured]) for name in measured[0]}
    if np.isnan(columns["trials"]).all():
        del columns["trials"]
    tags = pd.DataFrame([_tags(line, columns) for line in series])
    lengths = [len(each["value"]) for each in measured]
    frame = tags.iloc[np.repeat(np.arange(len(series)), lengths)].reset_index(drop=True)
    frame = frame.assign(**columns)
    return frame[[column for column in frame.columns if column not in last] + last]


def _by_name(cell: "Cell", runs: "MetricArrays") -> Iterator[tuple[str, Values]]:
    """Yield every metric of a cell; of a Nash curve each quantity, one row a curve."""
    for metric in cell.metrics:
        if metric.removeprefix(NOMINAL) != "nash_regret":
            yield metric, runs[metric]
            continue
        nominal = NOMINAL if metric.startswith(NOMINAL) else ""
        for number, name in enumerate(NASH_QUANTITIES):
            yield nominal + name, runs[metric][:, number]


def _measured(series: "Series", runs: "MetricArrays") -> dict[str, NDArray[Any]]:
    """Return the columns that differ within a series, of all its metrics."""
    named = _by_name(series.cell, runs)
    metrics = [_metric_columns(series, name, values) for name, values in named]
    return {name: np.concatenate([metric[name] for metric in metrics]) for name in metrics[0]}


def _tags(series: "Series", columns: Collection[str]) -> dict[str, Any]:
    """Return what all rows of a series have; InputError where a parameter is another column."""
    cell = series.cell
    played = {
        "series": series.label,
        "algorithm": cell.definition.id,
        "variant": cell.variant,
        "interpretation": ",".join(cell.departures),
    }
    for name in vars(cell.parameters):
        if name in (*played, *columns):
            raise InputError(
                f"{cell.definition.id}: parameter {name} is a column of all results; allowed: "
                f"another name than {', '.join((*played, *columns))}"
            )
    return {**played, **vars(cell.parameters), **series.tags}


def _metric_columns(series: "Series", metric: str, recorded: Values) -> dict[str, NDArray[Any]]:
    """Return the columns of one metric of a series; trials are NaN where there are none."""
    cell = series.cell
    values, first_runs, trials = _rows(series, metric, recorded)
    runs, width = values.shape
    has_trials = metric in IDENTIFIED or cell.in_lockstep
    per_arm = metric in PER_ARM
    times = [cell.horizon] * width if per_arm else _times(cell, metric)
    return {
        "run": np.repeat(first_runs, width),
        "trials": np.repeat(trials if has_trials else np.full(runs, np.nan), width),
        "metric": np.full(values.size, metric, object),
        "t": np.tile(times, runs),
        "arm": np.tile(np.arange(width) if per_arm else np.full(width, -1), runs),
        "value": values.ravel(),
    }


def _times(cell: "Cell", metric: str) -> Sequence[int]:
    if metric.removeprefix(NOMINAL) == "nash_bins":
        from dpbandits.metrics.nash import bin_edges

        return [int(edge) for edge in bin_edges(cell.horizon)]
    return cell.grid


def _rows(series: "Series", metric: str, values: Values) -> tuple[Values, Counts, Counts]:
    """Return one row for each run, or for the trials of a stream where the metric is counted."""
    runs = np.array(series.runs)
    if metric.removeprefix(NOMINAL) in NASH_QUANTITIES:
        size = len(series.works[0].runs)
        return values, runs[::size], np.full(len(values), size)
    if metric not in COUNTED:
        return values, runs, np.ones(runs.size, np.int64)
    starts = np.flatnonzero((runs % series.cell.batch == 0) | (runs == runs[0]))
    trials = np.diff([*starts, runs.size])
    return np.add.reduceat(values, starts, axis=0), runs[starts], trials


def write_results(path: Path, frame: pd.DataFrame, fingerprint: str) -> None:
    """Write the table atomically, with the fingerprint in the file's metadata."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    stamp = json.dumps({"fingerprint": fingerprint, "digest": _digest(frame)}).encode()
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), METADATA: stamp})
    write_atomically(path, lambda temporary: pq.write_table(table, temporary))


def read_results(path: Path) -> pd.DataFrame:
    """Read a table; InputError where it is damaged. ``Project.frame`` asks whether it is stale."""
    try:
        table = pq.read_table(path)
        stamp = json.loads((table.schema.metadata or {})[METADATA])
        frame: pd.DataFrame = table.to_pandas()
        intact = stamp["digest"] == _digest(frame)
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError, OverflowError):
        intact = False
    if not intact:
        raise InputError(f"{path}: is damaged; delete it and run snakemake again")
    return frame


def _digest(frame: pd.DataFrame) -> str:
    """Return a hash over the values and the names of the columns."""
    hashed = hashlib.sha256("\0".join(map(str, frame.columns)).encode())
    hashed.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return hashed.hexdigest()
