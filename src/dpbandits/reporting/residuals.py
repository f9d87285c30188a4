"""Strips below panels: ours minus the digitised values of the published curves."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, MaxNLocator

from dpbandits.reporting import style
from dpbandits.reporting.panels import Line
from dpbandits.reporting.published import allowance, reached_points
from dpbandits.reporting.specs import PanelSpec

RESIDUAL = "residual"
"""The variant of residuals in a csv."""

STRIP = "residuals"
"""Group id of the axes of a strip."""

_SLOT = 0.72
"""Width of what stands at one x, of the distance to the next."""

_UNITS = ((1_000_000, "millions"), (100, "hundreds"))
"""Units of x; the first is taken of which the largest x has five or more."""


def residual_lines(lines: Sequence[Line]) -> list[Line]:
    """Return ours minus published for each line that has digitised values, as far as it goes.

    The points have lo and hi, the digitisation error, and the column ``allowance``: how far from 0
    a residual may be by the digitisation error and our interval.
    """
    found = (_residuals(line) for line in lines if line.published is not None)
    return [line for line in found if len(line.points)]


def _residuals(line: Line) -> Line:
    assert line.published is not None
    ours = line.points[["x", "y", "lo", "hi"]].itertuples(index=False)
    known = {x: (y, lo, hi) for x, y, lo, hi in ours}
    rows = [
        (x, known[x][0] - y, tolerance, allowance(*known[x], y, tolerance))
        for x, y, tolerance in reached_points(line.published, known, line.name)
    ]
    points = pd.DataFrame(rows, columns=["x", "y", "tolerance", "allowance"])
    low, high = points["y"] - points["tolerance"], points["y"] + points["tolerance"]
    points = points.assign(lo=low, hi=high, runs=0, variant=RESIDUAL, interpretation="")
    return Line(f"ours minus published {line.name}", line.label, line.look, points)


def draw_residuals(axes: Axes, panel: PanelSpec, lines: Sequence[Line]) -> None:
    """Draw the residuals of a panel, one slot for each digitised x, side by side by line.

    A bar is the digitisation error; the box behind it, about 0, that and our interval.
    """
    axes.set_gid(STRIP)
    places = sorted({x for line in lines for x in line.points["x"]})
    axes.axhline(0.0, color="#777777", linewidth=0.6, zorder=1)
    width = _SLOT / max(len(lines), 1)
    for index, line in enumerate(lines):
        shift = (index - (len(lines) - 1) / 2) * width
        _draw_line(axes, line, [places.index(x) + shift for x in line.points["x"]], width)
    _label(axes, panel, places)


def _draw_line(axes: Axes, line: Line, x: list[float], width: float) -> None:
    points, colour = line.points, line.look.colour
    allowed = points["allowance"].to_numpy()
    box: dict[str, Any] = {"color": colour, "alpha": 0.18, "linewidth": 0.0, "zorder": 0}
    axes.bar(x, 2 * allowed, bottom=-allowed, width=0.9 * width, **box)
    bars: dict[str, Any] = {"elinewidth": 0.7, "linestyle": "none", "markersize": 2.4, "zorder": 3}
    axes.errorbar(
        x, points["y"], yerr=points["tolerance"], color=colour, marker=line.look.marker, **bars
    )


def _label(axes: Axes, panel: PanelSpec, places: Sequence[float]) -> None:
    """Set ticks, labels and limits; the axis of y has 0 in its middle."""
    largest = max(places, default=0.0)
    unit, name = next((each for each in _UNITS if largest >= 5 * each[0]), (1, ""))
    names = [style.thousands(x / unit) for x in places]
    axes.xaxis.set_major_locator(FixedLocator(range(len(places))))
    axes.set_xticks(range(len(places)), names)
    axes.tick_params(axis="both", labelsize=7)
    axes.set_xlim(-0.6, len(places) - 0.4)
    axes.set_xlabel(f"{panel.x.label}, in {name}" if name else panel.x.label)
    axes.set_ylabel("Difference")
    axes.grid(visible=False, axis="x")
    if not places:
        axes.set_yticks([])
        return
    # Those of bars and boxes, which the data limits hold.
    end = 1.05 * float(np.abs(axes.dataLim.intervaly).max())
    axes.set_ylim(-end, end)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, symmetric=True, steps=[1, 2, 5, 10]))
