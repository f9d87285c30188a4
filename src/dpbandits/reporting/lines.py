"""From results to the lines of a panel: their rows, points with intervals, names and looks."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from dpbandits.config.documents import LARGEST
from dpbandits.config.figures import (
    BY_TAG,
    DERIVED,
    NASH_METRICS,
    RATE_METRICS,
    PanelSpec,
    PublishedSpec,
    SeriesSpec,
    TableSpec,
)
from dpbandits.config.looks import NO_LINE, NO_MARKER
from dpbandits.errors import InputError
from dpbandits.metrics import NASH_QUANTITIES, NASH_REGRET, NOMINAL
from dpbandits.metrics.intervals import COVERAGE, rate_interval, runs_interval
from dpbandits.metrics.nash_curve import NashCurve
from dpbandits.reporting.palette import OPEN_MARKS, Look, looks_of
from dpbandits.reporting.text import fill, mathtext

Where = Mapping[str, Any]
"""Rows that are chosen, column to value or list of values."""


def read_rows(
    reads: Sequence[str], frames: Callable[[str], pd.DataFrame], place: str
) -> pd.DataFrame:
    """Return the rows of one or more results, one below the other, which share no series."""
    tables = [frames(name) for name in reads]
    if len(tables) == 1:
        return tables[0]
    for column in dict.fromkeys(column for frame in tables for column in frame):
        types = {
            is_numeric_dtype(frame[column]) for frame in tables if column in frame and len(frame)
        }
        if len(types) > 1:
            raise InputError(
                f"{place}: column {column!r} holds numbers in one of {', '.join(reads)} and text "
                f"in another; allowed: one of them"
            )
    series = [name for frame in tables for name in frame["series"].unique()]
    for name in series:
        if series.count(name) > 1:
            raise InputError(
                f"{place}: series {name!r} stands in two of {', '.join(reads)}; allowed: in one"
            )
    return pd.concat([frame for frame in tables if len(frame)], ignore_index=True)


def select(frame: pd.DataFrame, where: Where, place: str) -> pd.DataFrame:
    """Return the rows whose columns have the given values, or one of a list; at least one row.

    None stands for no value.
    """
    for column, value in where.items():
        wanted = value if isinstance(value, list) else [value]
        if column not in frame and None in wanted:
            continue
        require_column(frame, column, place)
        if value == LARGEST and is_numeric_dtype(frame[column]):
            wanted = [frame[column].max()]
        is_wanted = frame[column].isin([each for each in wanted if each is not None])
        kept = frame[is_wanted | frame[column].isna() if None in wanted else is_wanted]
        if kept.empty:
            allowed = ", ".join(str(known) for known in frame[column].dropna().unique()[:20])
            raise InputError(f"{place}: no row has {column} {value!r}; allowed: {allowed}")
        frame = kept
    return frame


def require_column(frame: pd.DataFrame, column: str, place: str) -> None:
    """Raise InputError unless the column is there."""
    if column not in frame:
        raise InputError(f"{place}: no column {column!r}; allowed: {', '.join(frame.columns)}")


def nash_quantities(metric: str) -> list[str]:
    """Return the names of the recorded quantities of one of ``NASH_METRICS``."""
    return [metric.removesuffix(NASH_REGRET) + name for name in NASH_QUANTITIES]


def nash_regrets(
    rows: pd.DataFrame, estimate: str = "corrected", best: float | None = None
) -> pd.DataFrame:
    """Return Nash regret (x the times, y, lo, hi, runs) over one or more curves of one series.

    Of one curve the interval is that of the infinitesimal jackknife over its runs, of several the
    t interval of their mean. ``best`` is mu*, by default the largest of the means that score.
    """
    # Arrays: a pivot takes ten times as long, and a figure has hundreds of curves.
    numbers, times = np.unique(rows["run"]), np.unique(rows["t"])
    ordered = rows.iloc[np.lexsort((rows["t"], rows["run"]))]
    metric, value = ordered["metric"].str.removeprefix(NOMINAL).to_numpy(), ordered["value"]
    quantities = [
        value.to_numpy()[metric == name].reshape(numbers.size, times.size)
        for name in NASH_QUANTITIES
    ]
    sizes = rows.drop_duplicates("run").sort_values("run")["trials"].astype(int)
    curves = map(partial(NashCurve.of_parts, times), np.stack(quantities, axis=1), sizes)
    scored = [curve if best is None else curve.against(best) for curve in curves]
    regret = np.array([ESTIMATES[estimate](curve) for curve in scored])
    if len(scored) > 1:
        y, low, high = runs_interval(regret, COVERAGE)
    else:
        y, half = regret[0], scored[0].half_width()
        low, high = y - half, y + half
    return pd.DataFrame({"x": times, "y": y, "lo": low, "hi": high, "runs": sizes.sum()})


ESTIMATES: dict[str, Callable[[NashCurve], NDArray[np.float64]]] = {
    "plain": lambda curve: curve.with_bias("kept").nash_regret,
    "corrected": lambda curve: curve.nash_regret,
    "binned": lambda curve: curve.binned_regret,
}
"""What ``estimate`` of a panel's series names: from a curve to its Nash regret."""


_MEASURED = ["run", "trials", "metric", "t", "arm", "value"]


def _mean(panel: PanelSpec, spec: SeriesSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Mean over runs at every t that the rows have; of kind ``final`` that is one."""
    _require_one_series(rows, place)
    values = rows.pivot(index="run", columns="t", values="value").sort_index(axis=1)
    if values.isna().any(axis=None):
        raise InputError(
            f"{place}: {panel.metric} is not known at every t of every run; allowed: a metric "
            f"that is, such as pseudo_regret"
        )
    mean, low, high = runs_interval(values.to_numpy(), COVERAGE)
    return pd.DataFrame(
        {"x": values.columns.to_numpy(), "y": mean, "lo": low, "hi": high, "runs": len(values)}
    )


def points_of(panel: PanelSpec, spec: SeriesSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Return the columns x (ascending), y, lo, hi and runs of a line.

    With a tag on the x axis there is one point for each of its values, recorded at the horizon.
    """
    reduce = _given_points if spec.exact else POINTS[panel.kind]
    if panel.kind not in BY_TAG:
        return reduce(panel, spec, rows, place)
    tag = str(panel.x.tag)
    require_column(rows, tag, f"{place}.x.tag")
    if rows[tag].isna().any():
        raise InputError(f"{place}: rows without {tag}; allowed: in a series with level: true")
    last = rows[rows["t"] == rows.groupby("series")["t"].transform("max")]
    points = [
        reduce(panel, spec, there, f"{place} at {tag} {value}").assign(x=value)
        for value, there in last.groupby(tag, sort=True)
    ]
    return pd.concat(points, ignore_index=True)


def _nash(panel: PanelSpec, spec: SeriesSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Nash regret at every recorded t; a line may join series that share no time."""
    joined = (rows[rows["series"] == name] for name in rows["series"].unique())
    points = pd.concat([nash_regrets(one, spec.estimate, spec.best) for one in joined])
    if points["x"].duplicated().any():
        _require_one_series(rows, place)
    return points.sort_values("x", ignore_index=True)


def _rate(panel: PanelSpec, spec: SeriesSpec, rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """Share of successful trials."""
    _require_one_series(rows, place)
    return pd.DataFrame([rate_of(rows)])


def rate_of(rows: pd.DataFrame) -> dict[str, float]:
    """Return share y of successes with its exact 95 % interval lo, hi, and trials as runs."""
    trials = int(rows["trials"].sum())
    share, low, high = rate_interval(rows["value"].sum(), trials, COVERAGE)
    return {"y": float(share), "lo": float(low), "hi": float(high), "runs": trials}


def final_values(rows: pd.DataFrame, metric: str, place: str) -> pd.DataFrame:
    """Return a row for each series: its tags, x (its horizon or budget), y, lo, hi and runs.

    That is the mean over runs or, of trials, the share of successes, and ``pulls``, their mean
    number in a trial, NaN where it was not recorded.
    """
    found = []
    shown = select(rows, {"metric": metric}, f"{place}.metric")
    for name, group in shown.groupby("series", sort=False):
        last = group[group["t"] == group["t"].max()]
        measured = {"x": last["t"].iloc[0]}
        if metric in RATE_METRICS:
            pulled = rows[(rows["series"] == name) & (rows["metric"] == "total_pulls")]
            pulls = pulled["value"].sum() / pulled["trials"].sum() if len(pulled) else math.nan
            measured |= rate_of(last) | {"pulls": pulls}
        else:
            mean, low, high = runs_interval(last["value"].to_numpy()[:, None], COVERAGE)
            measured |= {"y": mean[0], "lo": low[0], "hi": high[0], "runs": len(last)}
        found.append(last.drop(columns=_MEASURED, errors="ignore").iloc[0].to_dict() | measured)
    return pd.DataFrame(found)


def _given_points(
    panel: PanelSpec, spec: SeriesSpec, rows: pd.DataFrame, place: str
) -> pd.DataFrame:
    """Values as they are given: exact ones, or derived ones with their intervals."""
    _require_one_series(rows, place)
    for column in ("x", "y"):
        require_column(rows, column, place)
    points = rows.sort_values("x").reset_index(drop=True)
    if panel.kind == DERIVED:
        return points[["x", "y", "lo", "hi", "runs"]]
    return points[["x", "y"]].assign(lo=points["y"], hi=points["y"], runs=0)


def _require_one_series(rows: pd.DataFrame, place: str) -> None:
    series = list(rows["series"].unique())
    if len(series) > 1:
        named = ", ".join(map(str, series[:4]))
        raise InputError(
            f"{place}: one line would join {len(series)} series ({named}); allowed: one, chosen by "
            f"where or by"
        )


POINTS: dict[str, Callable[[PanelSpec, SeriesSpec, pd.DataFrame, str], pd.DataFrame]] = {
    "curve": _mean,
    "final": _mean,
    "rate": _rate,
    "nash": _nash,
    "nash-final": _nash,
    "analytic": _given_points,
    DERIVED: _given_points,
}
"""By kind of panel: from the panel, a line, its rows and its place in the file to its points."""

EXACT = "exact result"
"""Column of the name of an exact result beside simulations; no tag has a space."""

PUBLISHED = "published"
"""The variant of digitised values in a csv."""

Loader = Callable[[str], pd.DataFrame]
"""From the name of results to their table."""

Derived = Mapping[str, Callable[[Loader], pd.DataFrame]]
"""A paper's functions that make the rows of panels of kind ``derived``, by name."""

Function = TypeVar("Function", bound=Callable[..., pd.DataFrame])


class LegendEntry(NamedTuple):
    """An entry of a legend: the kind of things that its legend lists, its label and its look."""

    lists: str
    label: str
    look: Look


ALGORITHM, GUIDE = "Algorithm", "Straight lines"
"""The kind of things that most legends list, and that of lines behind the data."""


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a panel: its name in the csv, its label, its points, its legend's entries.

    The points have the columns variant, interpretation, x (ascending), y, lo, hi and runs.
    """

    name: str
    label: str
    look: Look
    points: pd.DataFrame
    published: PublishedSpec | None = None
    algorithm: str = ""
    guide: bool = False
    entries: tuple[LegendEntry, ...] = ()


def panel_rows(panel: PanelSpec, frames: Loader, derived: Derived, place: str) -> pd.DataFrame:
    """Return the rows that a panel reads, or that a function of the paper makes of them alone."""
    if panel.compute is None:
        rows = read_rows(panel.reads, frames, f"{place}.reads")
        exact = [frames(name).assign(**{EXACT: name}) for name in panel.exact]
        return pd.concat([rows, *exact], ignore_index=True) if exact else rows
    function = computed_by(panel.compute, derived, place)

    def declared(name: str) -> pd.DataFrame:
        if name not in panel.reads:
            allowed = f"with {name}, which {panel.compute} asks for"
            raise InputError(f"{place}.reads is {', '.join(panel.reads)}; allowed: {allowed}")
        return frames(name)

    return function(declared)


def computed_by(name: str, functions: Mapping[str, Function], place: str) -> Function:
    """Return the paper's function that the key ``compute`` names."""
    if name not in functions:
        allowed = ", ".join(functions) or "none"
        raise InputError(f"{place}.compute is {name!r}; allowed: {allowed}")
    return functions[name]


def panel_lines(panel: PanelSpec, frame: pd.DataFrame, place: str) -> list[Line]:
    """Return the lines of a panel, then the digitised values of those that have some.

    The results are in the long form of ``engine.results``; of kind ``analytic`` they have columns x
    and y, of kind ``derived`` lo, hi and runs, too.
    """
    chosen_rows = _rows_of_series(panel, frame, place)
    levels = [spec.level for spec in panel.series]
    if any(levels):
        chosen_rows = _spread_levels(str(panel.x.tag), chosen_rows, levels, place)
    drawn = [
        (index, rows)
        for index, chosen in enumerate(chosen_rows)
        for rows in _split(chosen, panel.series[index].split_by, f"{place}.series.{index}")
    ]
    lines = [
        _line(panel, panel.series[index], look, rows, f"{place}.series.{index}")
        for look, (index, rows) in zip(looks_of(panel, drawn, place), drawn, strict=True)
    ]
    marks = [_marks(line, place) for line in lines if line.published is not None]
    # Small scales may end before the first of them.
    lines += [line for line in marks if len(line.points)]
    for name, count in Counter(line.name for line in lines).items():
        if count > 1:
            raise InputError(f"{place}.series: two lines are {name!r}; allowed: one each")
    return lines


def _rows_of_series(panel: PanelSpec, frame: pd.DataFrame, place: str) -> list[pd.DataFrame]:
    """Return the rows of the results that each entry of ``series`` shows."""
    simulated = frame[frame[EXACT].isna()].drop(columns=EXACT) if panel.exact else frame
    shown = {"": _rows_of_metric(panel, simulated, place)}
    shown |= {name: _exact_rows(panel, frame, name, place) for name in panel.exact}
    return [
        select(shown[spec.exact or ""], spec.where, f"{place}.series.{index}.where")
        for index, spec in enumerate(panel.series)
    ]


def _rows_of_metric(panel: PanelSpec, frame: pd.DataFrame, place: str) -> pd.DataFrame:
    rows = select(frame, panel.where, f"{place}.where")
    if panel.metric is not None:
        in_nash = panel.metric in NASH_METRICS
        recorded = nash_quantities(panel.metric) if in_nash else panel.metric
        rows = select(rows, {"metric": recorded}, f"{place}.metric")
    return rows


def _exact_rows(panel: PanelSpec, frame: pd.DataFrame, name: str, place: str) -> pd.DataFrame:
    """Return an exact result drawn beside simulations; it may lack some of their columns."""
    rows = frame[frame[EXACT] == name].dropna(axis=1, how="all")
    where = {column: value for column, value in panel.where.items() if column in rows}
    return select(rows, where, f"{place}.where").assign(t=lambda rows: rows["x"])


def _spread_levels(
    tag: str, chosen_rows: Sequence[pd.DataFrame], levels: Sequence[bool], place: str
) -> list[pd.DataFrame]:
    """Repeat the rows of level series, which lack the tag, at each of its values in the others."""
    others = [rows for rows, level in zip(chosen_rows, levels, strict=True) if not level]
    grid = sorted({value for rows in others if tag in rows for value in rows[tag].dropna()})
    if not grid:
        raise InputError(f"{place}.series: level lines alone; allowed: beside one with {tag}")
    spread = []
    for index, (rows, level) in enumerate(zip(chosen_rows, levels, strict=True)):
        if level and tag in rows and rows[tag].notna().any():
            raise InputError(
                f"{place}.series.{index}.level is true; allowed: false, its rows have {tag}"
            )
        repeated = [rows.assign(**{tag: value}) for value in grid] if level else [rows]
        spread.append(pd.concat(repeated, ignore_index=True))
    return spread


def _split(frame: pd.DataFrame, by: str | None, place: str) -> Iterator[pd.DataFrame]:
    """Yield the rows of each value of the column ``by``, ascending; all rows where it is None."""
    if by is None:
        yield frame
        return
    require_column(frame, by, f"{place}.by")
    for value in sorted(frame[by].dropna().unique()):
        yield frame[frame[by] == value]


def _line(panel: PanelSpec, spec: SeriesSpec, look: Look, rows: pd.DataFrame, place: str) -> Line:
    points = points_of(panel, spec, rows, place)
    constant = {
        str(column): rows[column].iloc[0]
        for column in rows
        if rows[column].nunique(dropna=False) == 1
    }
    name = fill(spec.name, constant, f"{place}.name")
    label = mathtext(fill(spec.label or spec.name, constant, f"{place}.label"))
    for column, default in (("variant", "as-written"), ("interpretation", "")):
        points[column] = constant.get(column, default)
    if not np.isfinite(points["y"].to_numpy(dtype=float)).all():
        raise InputError(f"{place}: line {name!r} has values that are not finite; allowed: numbers")
    algorithm = str(constant.get("algorithm", ""))
    lists = spec.by or spec.shade
    if lists is None:
        lists = GUIDE if spec.guide else ALGORITHM if algorithm or spec.level else ""
    entries: tuple[LegendEntry, ...] = (LegendEntry(lists, label, look),)
    if spec.style is not None:
        sign, value = SIGNS_OF[spec.style], constant[spec.style]
        plain = replace(look, fill="full")
        second = Look("#555555", NO_LINE, "o", fill=look.fill)
        entries = (
            LegendEntry(ALGORITHM, label, plain),
            LegendEntry(spec.style, f"{sign} = {value:g}", second),
        )
        label = f"{label}, {sign} = {value:g}"
    elif spec.level:
        look = replace(look, marker=NO_MARKER)
    return Line(name, label, look, points, spec.published, algorithm, spec.guide, entries)


def compared_points(line: Line, place: str) -> pd.DataFrame:
    """Return digitised values beside the line's y, lo and hi, which are NaN beyond its end."""
    assert line.published is not None
    digitised = pd.DataFrame(line.published.points, columns=["x", "published", "tolerance"])
    found = digitised.merge(line.points[["x", "y", "lo", "hi"]], on="x", how="left")
    missing = found["y"].isna() & (found["x"] <= line.points["x"].max())
    if missing.any():
        x = found["x"][missing].iloc[0]
        raise InputError(f"{place}: x is {x:g}; allowed: an x that is recorded")
    return found


SIGNS_OF = {"epsilon": "$\\varepsilon$"}
"""Second parameter of a line -> its sign."""


def with_error(line: Line, points: pd.DataFrame, **changes: Any) -> Line:
    """Return points at digitised values, whose lo and hi are the digitisation error, as a line."""
    low, high = points["y"] - points["tolerance"], points["y"] + points["tolerance"]
    points = points.assign(lo=low, hi=high, runs=0, interpretation="")
    changes = {"published": None, "algorithm": "", "guide": False, "entries": (), **changes}
    return replace(line, points=points, **changes)


def _marks(line: Line, place: str) -> Line:
    """Return the digitised values of a line, as far as it goes, as open marks."""
    name = f"{PUBLISHED} {line.name}"
    reached = compared_points(line, f"{place}: {name}").dropna()
    points = reached.assign(y=reached["published"], variant=PUBLISHED)
    look = replace(OPEN_MARKS, colour=line.look.colour)
    label = "published, digitised"
    entries = (LegendEntry("", label, look),)
    return with_error(line, points, name=name, label=label, look=look, entries=entries)


def check_panel_filters(
    panel: PanelSpec, frame: pd.DataFrame, place: str, *, is_whole: bool = True
) -> None:
    """Raise InputError where a line of a panel has no row, whatever the values of the results.

    Where results are ``is_whole``, not of a small scale, it has to reach its digitised values.
    """
    simulated = _rows_of_metric(panel, frame, place)
    for index, spec in enumerate(panel.series):
        if spec.exact:
            continue
        rows = select(simulated, spec.where, f"{place}.series.{index}.where")
        if spec.split_by is not None:
            require_column(rows, spec.split_by, f"{place}.series.{index}.by")
        if spec.level:
            continue
        x_column = str(panel.x.tag) if panel.kind in BY_TAG else "t"
        require_column(rows, x_column, f"{place}.x.tag")
        if spec.published is not None and is_whole:
            recorded = set(rows[x_column])
            for x, *_ in spec.published.points:
                if x not in recorded:
                    raise InputError(
                        f"{place}.series.{index}.published: x is {x:g}; allowed: an x that is "
                        f"recorded"
                    )


def check_table_filters(table: TableSpec, frame: pd.DataFrame, place: str) -> None:
    """Raise InputError where a table, or a column of it, has no row; as for panels."""
    rows = select(frame, table.where, f"{place}.where")
    if table.metric is not None:
        rows = select(rows, {"metric": table.metric}, f"{place}.metric")
    if table.difference_from is not None:
        select(rows, table.difference_from.where, f"{place}.difference_from.where")
    for column in table.columns:
        if table.rows and column.column is not None:
            select(rows, column.where, f"{place}.{column.name}.where")
