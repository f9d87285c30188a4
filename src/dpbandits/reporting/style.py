"""The one plot style: colours, line styles, sizes and tick labels of every figure."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.ticker import FixedLocator, Formatter, LogLocator, MaxNLocator, NullLocator

from dpbandits.reporting.palette import COLOURS, DASHES, MARKERS

PANEL_WIDTH = 3.3
"""Width of one panel in inches: a column of a two-column paper."""

PAGE_WIDTH = 7.0
"""Largest width of a figure in inches: the text of a two-column paper."""

_MILLIONS_FROM = 5_000_000
"""Axes with ticks from here on are labelled in millions."""

PANEL_HEIGHT = 2.3
"""Height in inches of a row of panels, without the legends above it."""

STRIP_HEIGHT = 1.05
"""Height in inches of a strip below a row of panels, with its labels."""

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
    "figure.constrained_layout.h_pad": 0.02,
    "figure.constrained_layout.w_pad": 0.03,
    "figure.dpi": DPI,
    "font.family": ["DejaVu Sans"],
    "font.size": 8,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.5,
    "legend.borderaxespad": 0.2,
    "legend.columnspacing": 1.4,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.handletextpad": 0.6,
    "legend.title_fontsize": 8,
    "lines.linewidth": 1.2,
    "lines.markeredgewidth": 0,
    "lines.markersize": 3.6,
    "mathtext.fontset": "dejavusans",
    # TrueType outlines: journals refuse Type 3 fonts, and text stays selectable.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "savefig.dpi": DPI,
    "xtick.labelsize": 7.5,
    "xtick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.labelsize": 7.5,
    "ytick.major.width": 0.6,
    "ytick.minor.width": 0.4,
}
"""Matplotlib settings on top of its defaults; sizes in points."""


@dataclass(frozen=True)
class Look:
    """How one line is drawn; two channels, colour and line style or marker, tell lines apart.

    Attributes:
        colour: as matplotlib takes it.
        dash: a key of ``DASHES``.
        marker: a value of ``MARKERS``, or ``NO_MARKER``.
        hollow: whether there are open marks alone, and no line.
    """

    colour: str
    dash: str
    marker: str
    hollow: bool = False


OPEN_MARKS = Look(COLOURS["black"], "solid", MARKERS["circle"], hollow=True)
"""What stands for all open marks in a legend."""


def context() -> Any:
    """Return a context in which matplotlib has its defaults and this style, whatever the user's."""
    return mpl.style.context(RC, after_reset=True)


def ordered_looks(count: int) -> list[Look]:
    """Return looks for an ordered parameter, light to dark as it grows, markers telling them apart.

    Args:
        count: number of lines, 1 or above.
    """
    colours = mpl.colormaps["plasma_r"](np.linspace(0.18, 0.97, count))
    markers = itertools.cycle(MARKERS.values())
    return [
        Look(to_hex(colour), "solid", marker)
        for colour, marker in zip(colours, markers, strict=False)
    ]


def categorical_look(index: int) -> Look:
    """Return the look of the ``index``-th of some unordered lines."""
    colours, dashes, markers = list(COLOURS.values()), list(DASHES), list(MARKERS.values())
    return Look(
        colours[index % len(colours)],
        dashes[index % len(dashes)],
        markers[index % len(markers)],
    )


def thousands(value: float, _position: int = 0) -> str:
    """Return a tick label: ``20,000`` for whole numbers, as few digits as needed for others."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


class _Numbers(Formatter):
    """Tick labels as ``thousands`` has them, in millions, ``20M``, where an axis reaches far."""

    def __call__(self, value: float, position: int | None = None) -> str:
        """Return one label."""
        return thousands(value)

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Return the labels of all ticks of an axis."""
        if max(map(abs, values), default=0.0) < _MILLIONS_FROM:
            return [thousands(value) for value in values]
        return [f"{value / 1e6:,.6g}M" if value else "0" for value in values]


def style_axis(axes: Axes, which: str, scale: str, ticks: Sequence[float] | None = None) -> None:
    """Set scale, ticks and tick labels of one axis.

    Args:
        axes: the panel.
        which: ``x`` or ``y``.
        scale: ``linear`` or ``log``.
        ticks: where ticks stand, or None to choose a few round places.
    """
    axis = axes.xaxis if which == "x" else axes.yaxis
    getattr(axes, f"set_{which}scale")(scale)
    if ticks is not None:
        axis.set_major_locator(FixedLocator(list(ticks)))
        axis.set_minor_locator(NullLocator())
    elif scale == "linear":
        axis.set_major_locator(MaxNLocator(nbins=3 if which == "x" else 6, steps=[1, 2, 5, 10]))
    else:
        axis.set_major_locator(LogLocator(numticks=6))
    if scale == "linear" or ticks is not None:
        axis.set_major_formatter(_Numbers())
