"""Parts of the diagrams of this paper: panels, legends, estimates, and rows of the csv."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from dpbandits.claims import Estimate
from dpbandits.papers.dp_bai.fits import Values
from dpbandits.reporting import style
from dpbandits.reporting.points import LEVEL

Points = list[dict[str, Any]]
"""Rows of the csv of a figure."""


def panels(count: int) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of so many panels side by side, and the panels."""
    width = style.PAGE_WIDTH if count > 1 else 0.75 * style.PAGE_WIDTH
    drawn = Figure(figsize=(width, style.PANEL_HEIGHT + 0.6), layout="constrained")
    FigureCanvasAgg(drawn)
    return drawn, list(drawn.subplots(1, count, squeeze=False, sharey=count > 1)[0])


def draw_estimates(
    axes: Axes,
    series: str,
    x: Sequence[float],
    found: Iterable[Estimate],
    look: Mapping[str, Any],
) -> Points:
    """Draw estimates with their 95 % intervals."""
    points = []
    for place, each in zip(x, found, strict=True):
        ends = each.interval(1.0 - LEVEL)
        # Few trials may leave no budget at which 90 % succeed.
        if np.isfinite([each.value, *ends]).all():
            points.append(point(series, place, each.value, *ends, each.runs))
    y = np.array([row["y"] for row in points])
    ends_of = np.array([[row[end] for row in points] for end in ("lo", "hi")])
    bars: dict[str, Any] = {"elinewidth": 0.8, "capsize": 1.5, "markersize": 4, **look}
    places = [row["x"] for row in points]
    axes.errorbar(places, y, yerr=np.abs(ends_of - y), linestyle="none", **bars)
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
    """Draw a line and return its points."""
    axes.plot(x, y, color=colour, linewidth=0.9, linestyle=dash, label=label, zorder=1)
    return [point(series, *each) for each in zip(x, y, strict=True) if np.isfinite(each[1])]


def finish(
    axes: Axes,
    x: str,
    y: str,
    x_scale: str,
    y_scale: str,
    ticks: Sequence[float] | None = None,
) -> None:
    """Set scales, ticks and labels of both axes."""
    style.style_axis(axes, "x", x_scale, ticks)
    style.style_axis(axes, "y", y_scale)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


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


def table(points: Points) -> pd.DataFrame:
    """Return the csv of a figure."""
    return pd.DataFrame(points).assign(variant="as-written", interpretation="")
