"""The one plot style: colours, line styles, sizes and tick labels of every figure."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.ticker import (
    FixedLocator,
    Formatter,
    LogFormatterSciNotation,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from dpbandits.reporting.palette import DASHES, Look

PANEL_WIDTH, PAGE_WIDTH = 3.3, 7.0
"""Inches of one panel, a column of a two-column paper, and of its text, the widest figure."""

LABELLED_WIDTH, WIDE_PAGE = 4.6, 9.0
"""The same where lines are named beside their panels."""

_UNITS = ((1_000_000, 1_000_000, "M"), (100_000, 1_000, "k"))
"""From which tick on an axis is labelled in which unit, and its name."""

PANEL_HEIGHT, STRIP_HEIGHT = 2.3, 0.95
"""Inches of a row of panels, without the legends above it, and of a strip below it."""

DPI = 240
"""Pixels per inch of a png."""

RC: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelpad": 3,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlepad": 5,
    "axes.titlesize": 8,
    "figure.constrained_layout.h_pad": 0.04,
    "figure.constrained_layout.w_pad": 0.04,
    "figure.dpi": DPI,
    "font.family": ["DejaVu Sans"],
    "font.size": 8,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.5,
    "legend.borderaxespad": 0.2,
    "legend.columnspacing": 1.4,
    "legend.fontsize": 7.2,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.handletextpad": 0.6,
    "legend.labelspacing": 0.3,
    "lines.linewidth": 1.2,
    "lines.markeredgewidth": 0,
    "lines.markersize": 3.6,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.8,
    # TrueType outlines: journals refuse Type 3 fonts, and text stays selectable.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,  # Matplotlib's pdf reads it, too.
    "savefig.dpi": DPI,
    "xtick.labelsize": 7.5,
    "xtick.major.size": 3,
    "xtick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.labelsize": 7.5,
    "ytick.major.size": 3,
    "ytick.major.width": 0.6,
    "ytick.minor.width": 0.4,
}
"""Settings, in the manner of seaborn's ``whitegrid``, which takes a second to import; in points."""


def context() -> Any:
    """Return a context of these settings alone, whatever the user's are."""
    return mpl.style.context(RC, after_reset=True)


def tints(look: Look, count: int) -> list[Look]:
    """Return a look in steps of its colour, light to dark as a parameter grows, for marks alone."""
    import seaborn as sns

    colours = sns.light_palette(look.colour, count + 1)[1:]
    return [replace(look, colour=to_hex(colour)) for colour in colours]


def line_look(look: Look) -> dict[str, Any]:
    """Return what matplotlib's plotting functions take to draw a line with this look."""
    drawn: dict[str, Any] = {"color": look.colour, "linestyle": DASHES.get(look.dash, "none")}
    face = "white" if look.fill == "open" else look.colour
    edge = 0.0 if look.fill == "full" else 0.8
    marks = {"marker": look.marker, "markerfacecolor": face, "markeredgecolor": look.colour}
    halves = {"fillstyle": "left", "markerfacecoloralt": "white"} if look.fill == "half" else {}
    return drawn | marks | {"markeredgewidth": edge} | halves


def thousands(value: float, _position: int = 0) -> str:
    """Return a tick label: ``20,000`` for whole numbers, as few digits as needed for others."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


class _Numbers(Formatter):
    """Tick labels as ``thousands`` has them; where an axis reaches far, ``200k`` or ``20M``."""

    def __call__(self, value: float, position: int | None = None) -> str:
        return thousands(value)

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        largest = max(map(abs, values), default=0.0)
        unit, name = next((each[1:] for each in _UNITS if largest >= each[0]), (1, ""))
        return [f"{thousands(value / unit)}{name}" if value else "0" for value in values]


class _Decades(LogLocator):
    """Powers of ten; where an axis reaches fewer than two, their multiples."""

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        ticks: Sequence[float] = super().tick_values(vmin, vmax)
        reached = sum(min(vmin, vmax) <= tick <= max(vmin, vmax) for tick in ticks)
        if reached < 2:
            subs = (1, 2, 5) if reached else range(1, 10)
            return LogLocator(subs=subs, numticks=6).tick_values(vmin, vmax)
        return ticks


def style_axis(axes: Axes, which: str, scale: str, ticks: Sequence[float] | None = None) -> None:
    """Set scale, ticks (by default a few round places) and tick labels of one axis."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    getattr(axes, f"set_{which}scale")(scale)
    if ticks is not None:
        axis.set_major_locator(FixedLocator(list(ticks)))
        axis.set_minor_locator(NullLocator())
    elif scale == "linear":
        axis.set_major_locator(MaxNLocator(nbins=3 if which == "x" else 6, steps=[1, 2, 5, 10]))
    else:
        axis.set_major_locator(_Decades(numticks=6))
        # Without thresholds, beyond which it leaves multiples out.
        axis.set_major_formatter(LogFormatterSciNotation(minor_thresholds=(math.inf, math.inf)))
        axis.set_minor_formatter(NullFormatter())
    if scale == "linear" or ticks is not None:
        axis.set_major_formatter(_Numbers())
