"""Parts of diagrams: canvases, axes, marks with intervals, lines, rows of the csv."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from dpbandits.claims.estimates import Estimate
from dpbandits.metrics.intervals import COVERAGE
from dpbandits.reporting import style

Points = list[dict[str, Any]]
"""Rows of the csv of a figure."""

Drawn = tuple[Figure, Points | pd.DataFrame]


def canvas(
    rows: int = 1,
    columns: int = 1,
    width: float = style.PAGE_WIDTH,
    height: float = style.PANEL_HEIGHT,
    **shared: Any,
) -> tuple[Figure, list[Axes]]:
    """Return an empty figure of a width, and its panels of a height, in inches, row by row."""
    drawn = Figure(figsize=(width, height * rows), layout="constrained")
    # A canvas that can measure text.
    FigureCanvasAgg(drawn)
    return drawn, list(drawn.subplots(rows, columns, squeeze=False, **shared).flat)


def finish(
    axes: Axes,
    x: tuple[str, str],
    y: tuple[str, str],
    title: str = "",
    ticks: Sequence[float] | None = None,
) -> None:
    """Set label and scale of both axes, the ticks of x and the title."""
    style.style_axis(axes, "x", x[1], ticks)
    style.style_axis(axes, "y", y[1])
    axes.set(xlabel=x[0], ylabel=y[0], title=title)


def estimated(series: str, x: Iterable[float], estimates: Iterable[Estimate]) -> Points:
    """Return the points of estimates at x, with their 95 % intervals."""
    return [
        point(series, place, estimate.value, *estimate.interval(1.0 - COVERAGE), estimate.runs)
        for place, estimate in zip(x, estimates, strict=True)
    ]


def draw_marks(
    axes: Axes, points: Points, look: Mapping[str, Any], places: ArrayLike | None = None
) -> None:
    """Draw points with their intervals, at x or at other places; ``look`` is of ``errorbar``."""
    x, y, low, high = (np.array([row[name] for row in points]) for name in ("x", "y", "lo", "hi"))
    at = x if places is None else places
    axes.errorbar(at, y, yerr=np.abs([low - y, high - y]), elinewidth=0.8, **look)


def draw_line(
    axes: Axes, series: str, x: ArrayLike, y: ArrayLike, label: str, **look: Any
) -> Points:
    """Draw an exact line and return its finite points."""
    drawn: dict[str, Any] = {"color": "#000000", "linewidth": 0.9, "zorder": 1, **look}
    axes.plot(x, y, label=label, **drawn)
    pairs = zip(np.asarray(x), np.asarray(y), strict=True)
    return [point(series, *pair) for pair in pairs if np.isfinite(pair[1])]


def point(series: str, x: float, y: float, *measured: float) -> dict[str, Any]:
    """Return a row of the figure's csv; without lo, hi and runs the number is exact."""
    low, high, runs = measured or (y, y, 0)
    return {"series": series, "x": x, "y": y, "lo": low, "hi": high, "runs": runs}
