"""From rows of results to plotted points: means or rates with intervals, or exact values."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd

from dpbandits.errors import InputError
from dpbandits.metrics.intervals import mean_interval, rate_interval
from dpbandits.reporting.nash import nash_regrets
from dpbandits.reporting.rows import require_column, select
from dpbandits.reporting.series_specs import SeriesSpec
from dpbandits.reporting.specs import NASH_KINDS, PanelSpec

_MEASURED = ["run", "trials", "metric", "t", "arm", "value"]

LEVEL = 0.95
"""Coverage of the plotted intervals."""


def _curve(panel: PanelSpec, line: SeriesSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Mean over runs at every recorded t."""
    _require_one_series(rows, place)
    values = rows.pivot(index="run", columns="t", values="value").sort_index(axis=1)
    if values.isna().any(axis=None):
        raise InputError(
            f"{place}: {panel.metric} is not known at every t of every run; allowed: a metric "
            f"that is, such as pseudo_regret"
        )
    mean, low, high = mean_interval(values.to_numpy(), LEVEL)
    return pd.DataFrame(
        {"x": values.columns.to_numpy(), "y": mean, "lo": low, "hi": high, "runs": len(values)}
    )


def _final(panel: PanelSpec, line: SeriesSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """What is recorded at the horizon of the series, for every value of the tag on the x axis."""
    rows = rows[rows["t"] == rows.groupby("series")["t"].transform("max")]
    reduce = _nash if panel.kind in NASH_KINDS else _curve
    points = [
        reduce(panel, line, own, where).assign(x=value)
        for value, own, where in _by_x(panel, rows, place)
    ]
    return pd.concat(points, ignore_index=True)


def _nash(panel: PanelSpec, line: SeriesSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Nash regret at every recorded t; a line may join series that share no time."""
    own = (rows[rows["series"] == name] for name in rows["series"].unique())
    points = pd.concat([nash_regrets(each, line.estimate, line.best, LEVEL) for each in own])
    if points["x"].duplicated().any():
        _require_one_series(rows, place)
    return points.sort_values("x", ignore_index=True)


def _rate(panel: PanelSpec, line: SeriesSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Share of successful trials, for every value of the tag on the x axis."""
    points = []
    for value, own, where in _by_x(panel, rows, place):
        _require_one_series(own, where)
        points.append({"x": value, **rate_of(own)})
    return pd.DataFrame(points)


def rate_of(rows: pd.DataFrame) -> dict[str, float]:
    """Return share y of successes with its exact 95 % interval lo, hi, and trials as runs.

    Args:
        rows: blocks of trials of one series: value, the number of successes, and trials.
    """
    trials = int(rows["trials"].sum())
    share, low, high = rate_interval(rows["value"].sum(), trials, LEVEL)
    return {"y": float(share), "lo": float(low), "hi": float(high), "runs": trials}


def _by_x(
    panel: PanelSpec, rows: pd.DataFrame, place: str
) -> Iterator[tuple[Any, pd.DataFrame, str]]:
    """Yield each value of the tag on the x axis, ascending, its rows, and where they belong."""
    tag = str(panel.x.tag)
    require_column(rows, tag, f"{place}.x.tag")
    if rows[tag].isna().any():
        raise InputError(f"{place}: rows without {tag}; allowed: in a series with level: true")
    for value, own in rows.groupby(tag, sort=True):
        yield value, own, f"{place} at {tag} {value}"


def final_means(rows: pd.DataFrame, metric: str, place: str) -> pd.DataFrame:
    """Return one row for each series: its constant columns, and its mean over runs at its horizon.

    Args:
        rows: results in the long form of ``engine.results``.
        metric: what is averaged.
        place: where this stands in the file, for error messages.

    Returns:
        The columns of ``rows``, with x (the horizon), y, lo, hi (a 95 % interval) and runs.
    """
    found = []
    for _, own in select(rows, {"metric": metric}, f"{place}.metric").groupby("series", sort=False):
        last = own[own["t"] == own["t"].max()]
        mean, low, high = mean_interval(last["value"].to_numpy()[:, None], LEVEL)
        numbers = {"x": last["t"].iloc[0], "y": mean[0], "lo": low[0], "hi": high[0]}
        found.append({**last.iloc[0].to_dict(), **numbers, "runs": len(last)})
    return pd.DataFrame(found)


def final_rates(rows: pd.DataFrame, metric: str, place: str) -> pd.DataFrame:
    """Return one row for each series: its constant columns, and its share of successful trials.

    Args:
        rows: results in the long form of ``engine.results``, counted over blocks of trials.
        metric: what is counted.
        place: where this stands in the file, for error messages.

    Returns:
        The columns that name a series, with x (the budget), y, lo, hi (a 95 % interval), runs (the
        number of trials) and pulls (mean number of a trial, NaN where it was not recorded).
    """
    pulled = rows[rows["metric"] == "total_pulls"].groupby("series")[["value", "trials"]].sum()
    pulls = pulled["value"] / pulled["trials"]
    counted = select(rows, {"metric": metric}, f"{place}.metric")
    found = []
    for name, own in counted.groupby("series", sort=False):
        tags: dict[Any, Any] = own.drop(columns=_MEASURED).iloc[0].to_dict()
        measured = {"x": own["t"].iloc[0], **rate_of(own), "pulls": pulls.get(name, math.nan)}
        found.append(tags | measured)
    return pd.DataFrame(found)


def _analytic(panel: PanelSpec, line: SeriesSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Exact values as they stand."""
    _require_one_series(rows, place)
    for column in ("x", "y"):
        require_column(rows, column, place)
    points = rows.sort_values("x")[["x", "y"]].reset_index(drop=True)
    return points.assign(lo=points["y"], hi=points["y"], runs=0)


def _derived(panel: PanelSpec, line: SeriesSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Values that a function of the paper derived, with their intervals."""
    _require_one_series(rows, place)
    return rows.sort_values("x")[["x", "y", "lo", "hi", "runs"]].reset_index(drop=True)


def _require_one_series(rows: pd.DataFrame, place: str) -> None:
    found = list(rows["series"].unique())
    if len(found) > 1:
        named = ", ".join(map(str, found[:4]))
        raise InputError(
            f"{place}: one line would join {len(found)} series ({named}); allowed: one, chosen by "
            f"where or by"
        )


POINTS: dict[str, Callable[[PanelSpec, SeriesSpec, pd.DataFrame, str], pd.DataFrame]] = {
    "curve": _curve,
    "final": _final,
    "rate": _rate,
    "nash": _nash,
    "nash-final": _final,
    "analytic": _analytic,
    "derived": _derived,
}
"""By kind of panel: from the panel, a line, its rows and its place in the file to its points.

Columns x (ascending), y, lo, hi and runs.
"""
