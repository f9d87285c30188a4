"""Parts of the papers' diagrams: canvases, estimates with intervals, rows of the csv."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from dpbandits.claims.numbers import Estimate
from dpbandits.metrics.intervals import LEVEL

Values = NDArray[np.float64]

Points = list[dict[str, Any]]
"""Rows of the csv of a figure."""


def canvas(
    width: float,
    height: float,
    rows: int = 1,
    columns: int = 1,
    *,
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure and its panels, row by row.

    Args:
        width: in inches.
        height: in inches.
        rows: of panels.
        columns: of panels.
        sharex: whether they have one x axis.
        sharey: whether they have one y axis.
    """
    drawn = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(drawn)
    panels = drawn.subplots(rows, columns, squeeze=False, sharex=sharex, sharey=sharey)
    return drawn, list(panels.flat)


def draw_estimates(
    axes: Axes,
    series: str,
    x: Sequence[float],
    estimates: Iterable[Estimate],
    look: Mapping[str, Any],
    places: Sequence[float] | Values | None = None,
    *,
    only_finite: bool = True,
) -> Points:
    """Draw estimates with their 95 % intervals and return their points.

    Args:
        axes: the panel.
        series: name of the series in the csv.
        x: in the csv, one for each estimate.
        estimates: the numbers.
        look: arguments of ``errorbar``.
        places: where they are drawn if not at x.
        only_finite: whether estimates that too few trials leave without a finite interval are
            left out.
    """
    points, drawn_at = [], []
    for value, place, estimate in zip(x, x if places is None else places, estimates, strict=True):
        ends = estimate.interval(1.0 - LEVEL)
        if not only_finite or np.isfinite([estimate.value, *ends]).all():
            points.append(point(series, value, estimate.value, *ends, estimate.runs))
            drawn_at.append(place)
    y, low, high = (np.array([row[column] for row in points]) for column in ("y", "lo", "hi"))
    axes.errorbar(drawn_at, y, yerr=np.abs([low - y, high - y]), elinewidth=0.8, **look)
    return points


def draw_line(
    axes: Axes,
    series: str,
    x: Sequence[float] | Values,
    y: Sequence[float] | Values,
    label: str,
    colour: str = "#000000",
    dash: Any = "solid",
) -> Points:
    """Draw a line and return its finite points."""
    axes.plot(x, y, color=colour, linewidth=0.9, linestyle=dash, label=label, zorder=1)
    return [point(series, *pair) for pair in zip(x, y, strict=True) if np.isfinite(pair[1])]


def point(
    series: str,
    x: float,
    y: float,
    low: float | None = None,
    high: float | None = None,
    runs: int = 0,
) -> dict[str, Any]:
    """Return a row of the figure's csv; without ends the value is exact."""
    ends = {"lo": y if low is None else low, "hi": y if high is None else high}
    return {"series": series, "x": x, "y": y, **ends, "runs": runs}


def table(points: Points | pd.DataFrame) -> pd.DataFrame:
    """Return the csv of a figure."""
    return pd.DataFrame(points).assign(variant="as-written", interpretation="")
