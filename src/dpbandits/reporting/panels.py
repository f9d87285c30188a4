"""From results to the lines of a panel: means over runs with intervals, or exact values."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from dpbandits.errors import InputError
from dpbandits.metrics import mean_interval
from dpbandits.reporting.fields import fill
from dpbandits.reporting.palette import COLOURS
from dpbandits.reporting.rows import require_column, select
from dpbandits.reporting.specs import PanelSpec, SeriesSpec
from dpbandits.reporting.style import Look, categorical_look, ordered_looks

LEVEL = 0.95
"""Coverage of the plotted intervals."""


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a panel.

    Attributes:
        name: name in the csv.
        label: text in the legend.
        look: how it is drawn.
        points: columns variant, reading, x, y, lo, hi, runs; x ascending.
    """

    name: str
    label: str
    look: Look
    points: pd.DataFrame


def panel_lines(panel: PanelSpec, frame: pd.DataFrame, place: str) -> list[Line]:
    """Return the lines of a panel.

    Args:
        panel: what it shows.
        frame: the results that it reads, in the long form of ``engine.results`` (kinds ``curve``
            and ``final``) or with columns x, y and, where there are some, lo and hi.
        place: figure and panel, for error messages.

    Raises:
        InputError: a column is unknown, no row is left, or a line is not one curve.
    """
    rows = select(frame, panel.where, f"{place}.where")
    if panel.metric is not None:
        rows = select(rows, {"metric": panel.metric}, f"{place}.metric")
    lines = []
    for index, spec in enumerate(panel.series):
        where = f"{place}.series.{index}"
        own = select(rows, spec.where, f"{where}.where")
        groups = list(_split(own, spec.by, where))
        for look, group in zip(_looks(spec, index, len(groups)), groups, strict=True):
            lines.append(_line(panel, spec, look, group, where))
    names = [line.name for line in lines]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{place}.series: two lines are {name!r}; allowed: one each")
    return lines


def _split(frame: pd.DataFrame, by: str | None, place: str) -> Iterator[pd.DataFrame]:
    """Yield the rows of each value of the column ``by``, ascending; all rows where it is None."""
    if by is None:
        yield frame
        return
    require_column(frame, by, f"{place}.by")
    for value in sorted(frame[by].dropna().unique()):
        yield frame[frame[by] == value]


def _looks(spec: SeriesSpec, index: int, count: int) -> list[Look]:
    if spec.by is not None:
        return ordered_looks(count)
    look = categorical_look(index)
    colour = look.colour if spec.colour is None else COLOURS[spec.colour]
    return [replace(look, colour=colour, dash=spec.line or look.dash)]


def _line(panel: PanelSpec, spec: SeriesSpec, look: Look, rows: pd.DataFrame, place: str) -> Line:
    points = _POINTS[panel.kind](panel, rows, place)
    constant = {
        str(column): rows[column].iloc[0]
        for column in rows
        if rows[column].nunique(dropna=False) == 1
    }
    name = fill(spec.name, constant, f"{place}.name")
    label = fill(spec.label or spec.name, constant, f"{place}.label")
    for column, default in (("variant", "as-written"), ("reading", "")):
        points[column] = constant.get(column, default)
    if not np.isfinite(points["y"].to_numpy(dtype=float)).all():
        raise InputError(f"{place}: line {name!r} has values that are not finite; allowed: numbers")
    return Line(name, label, look, points)


def _curve(panel: PanelSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
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


def _final(panel: PanelSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Mean over runs at the horizon of the series, for every value of the tag on the x axis."""
    tag = str(panel.x.tag)
    require_column(rows, tag, f"{place}.x.tag")
    rows = rows[rows["t"] == rows.groupby("series")["t"].transform("max")]
    points = [
        _curve(panel, own, f"{place} at {tag} {value}").assign(x=value)
        for value, own in rows.groupby(tag, sort=True)
    ]
    return pd.concat(points, ignore_index=True)


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


def _analytic(panel: PanelSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Exact values as they stand."""
    _require_one_series(rows, place)
    for column in ("x", "y"):
        require_column(rows, column, place)
    points = rows.sort_values("x")[["x", "y"]].reset_index(drop=True)
    return points.assign(lo=points["y"], hi=points["y"], runs=0)


def _require_one_series(rows: pd.DataFrame, place: str) -> None:
    found = list(rows["series"].unique())
    if len(found) > 1:
        named = ", ".join(map(str, found[:4]))
        raise InputError(
            f"{place}: one line would join {len(found)} series ({named}); allowed: one, chosen by "
            f"where or by"
        )


_POINTS: dict[str, Callable[[PanelSpec, pd.DataFrame, str], pd.DataFrame]] = {
    "curve": _curve,
    "final": _final,
    "analytic": _analytic,
}
