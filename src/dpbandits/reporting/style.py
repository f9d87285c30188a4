"""The one plot style: settings, axes, legends, headings, notes, and names beside lines."""

import itertools
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.ticker import (
    FixedLocator,
    Formatter,
    LogFormatterSciNotation,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)
from numpy.typing import NDArray

from dpbandits.reporting.palette import DASHES, OPEN_MARKS, Look
from dpbandits.reporting.spec import PLACES

if TYPE_CHECKING:
    from dpbandits.reporting.lines import Line

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


# Legends, headings, notes, names of lines


STRIP = "residuals"
"""Group id of the axes of a strip."""

Values = NDArray[np.float64]

Handle = Artist
"""What stands for a line or a shaded range in a legend."""

NOTE_SIZE, _NOTE_COLOUR = 7.0, "#333333"
NOTE_GROUND: dict[str, Any] = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 1}
"""Size of a note in points, its colour, and the look of what is behind it."""


def write_note(axes: Axes, text: str, at: str = "upper right") -> None:
    """Write a sentence into a panel, at one of ``spec.PLACES``."""
    vertical, horizontal = at.split()
    axes.text(
        *PLACES[at],
        text.strip(),
        transform=axes.transAxes,
        ha=horizontal,
        va={"upper": "top", "middle": "center", "lower": "bottom"}[vertical],
        multialignment="left",
        fontsize=NOTE_SIZE,
        color=_NOTE_COLOUR,
        bbox=NOTE_GROUND,
        zorder=5,
    )


_AXIS_WIDTH, _TITLE_SPACE = 0.35, 2.2
"""About the width in inches that the labels of a y axis take, and the distance of a legend from
the panel, with a title between them, in sizes of its font."""

_LEGEND_SHARE = 0.2
"""Largest share of the height of a picture that a legend above its panel takes."""


def common_labels(
    panels: Sequence[Sequence["Line"]],
    handles: Sequence[Mapping[str, Handle]],
    *,
    everywhere: bool = False,
) -> dict[str, Handle]:
    """Return the entries of the legend of a whole figure: one look a label, one label a look.

    With ``everywhere`` they are those alone that every panel has, and open marks. What only one
    panel has stays with others of that panel that are not in this legend.
    """
    looks: dict[str, set[Look]] = {}
    labels: dict[Look, set[str]] = {}
    for line in itertools.chain(*panels):
        # Open marks of all lines are one entry.
        look = OPEN_MARKS if line.look.hollow else line.look
        looks.setdefault(line.label, set()).add(look)
        labels.setdefault(look, set()).add(line.label)
    marks = {line.label for line in itertools.chain(*panels) if line.look.hollow}
    in_all = set.intersection(*({*of_panel} for of_panel in handles)) | marks
    apart = {
        label
        for label, known in looks.items()
        if len(known) > 1
        or any(len(labels[look]) > 1 for look in known)
        or (everywhere and label not in in_all)
    }
    found: dict[str, Handle] = {}
    for of_panel in handles:
        others = [label for known in handles if known is not of_panel for label in known]
        alone = of_panel.keys() - others if apart & of_panel.keys() else set()
        found |= {k: v for k, v in of_panel.items() if k not in {*apart, *alone, *found}}
    # Open marks last.
    return {k: found[k] for k in [*(k for k in found if k not in marks), *(found.keys() & marks)]}


def heading(paper: str, figure: str, letter: str = "") -> str:
    """Return what names a picture: ``dp-ncb, Figure 1(a), as written``."""
    numbered = re.fullmatch(r"fig(\d+)(?:-(.+))?", figure)
    panel = f"({letter})" if letter else ""
    if numbered is None:
        name = figure.removeprefix("extra-")
        named = "" if name == paper else f": {name.replace('-', ' ')}"
        return f"{paper}, supplementary figure{named}{f' {panel}' if panel else ''}"
    variant = f", {numbered[2].replace('-', ' ')}" if numbered[2] else ""
    return f"{paper}, Figure {numbered[1]}{panel}{variant}"


def add_heading(drawn: Figure, name: str, title: str = "") -> None:
    """Put the title of a picture and the name of its figure above all, and make room for them."""
    width = drawn.get_figwidth()
    lines = [(line, "bold", "black") for line in _wrapped(drawn, title, width)]
    lines.append((name, "normal" if title else "bold", _NOTE_COLOUR if title else "black"))
    height = drawn.get_figheight() + _HEADING_LINE * len(lines) + _HEADING_SPACE
    drawn.set_figheight(height)
    for index, (text, weight, colour) in enumerate(lines):
        y = 1.0 - (_HEADING_SPACE + _HEADING_LINE * index) / height
        look: dict[str, Any] = {"fontsize": 8, "weight": weight, "color": colour, "va": "top"}
        drawn.text(0.5, y, text, ha="center", **look).set_in_layout(False)
    top = 1.0 - (_HEADING_LINE * len(lines) + _HEADING_SPACE) / height
    drawn.set_layout_engine("constrained", rect=(0.0, 0.0, 1.0, top))
    for legend in drawn.legends:
        # One beside the panel is in its middle.
        if legend.get_window_extent().y1 > top * drawn.bbox.height:
            legend.borderaxespad += (1.0 - top) * height * 72 / legend.prop.get_size()


_HEADING_LINE, _HEADING_SPACE = 0.16, 0.04
"""Height in inches of a line of a heading, and of the space above it."""


def _wrapped(drawn: Figure, title: str, width: float) -> list[str]:
    """Return a title in as few lines as fit into ``width`` inches, of about one length."""
    for count in range(1, len(title.split()) + 1):
        lengths = range(math.ceil(len(title) / count), len(title) + 1)
        wrapped = (textwrap.wrap(title, length, break_on_hyphens=False) for length in lengths)
        lines = next(lines for lines in wrapped if len(lines) <= count)
        text = drawn.text(0, 0, "\n".join(lines), fontsize=8, weight="bold")
        taken = text.get_window_extent().width / DPI
        text.remove()
        if taken <= width - 2 * _HEADING_SPACE:
            return lines
    return title.split()


def add_legend(drawn: Figure, handles: Mapping[str, Handle]) -> None:
    """Put the legend of all panels above them or, where it would be high, right of the only one."""
    if not handles:
        return
    place: dict[str, Any] = {"loc": "outside upper center"}
    legend = _fit_legend(drawn, handles, drawn.get_figwidth(), place)
    height = size_of(legend)[1]
    is_single = len([axes for axes in drawn.axes if axes.get_gid() != STRIP]) == 1
    if is_single and height > _LEGEND_SHARE * (drawn.get_figheight() + height):
        legend.remove()
        legend = drawn.legend(handles.values(), handles.keys(), loc="outside right center")
        drawn.set_figwidth(drawn.get_figwidth() + size_of(legend)[0])
    else:
        drawn.set_figheight(drawn.get_figheight() + height)


def add_legends(drawn: Figure) -> None:
    """Put a legend above the panels of a diagram, or above each where they share no label."""
    panels: list[dict[str, Handle]] = [
        {
            label: handle[0] if isinstance(handle, ErrorbarContainer) else handle
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        for axes in drawn.axes
    ]
    labels = [label for handles in panels for label in handles]
    if len(panels) == 1 or len(set(labels)) < len(labels):
        add_legend(drawn, {label: handles[label] for handles in panels for label in handles})
        return
    for axes, handles in zip(drawn.axes, panels, strict=True):
        label_panel(axes, axes.get_title(), handles, drawn.get_figwidth() / len(panels))
    drawn.set_figheight(drawn.get_figheight() + max(map(legend_height, drawn.axes)))


def label_panel(axes: Axes, title: str | None, handles: Mapping[str, Handle], width: float) -> None:
    """Put the title above the panel, so many inches wide, and above it a legend of its own."""
    if title:
        axes.set_title(title)
    if handles:
        # Above the title, so that the titles of panels stand at one height.
        above = {"borderaxespad": _TITLE_SPACE} if title else {}
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), **above}
        _fit_legend(axes, handles, width - _AXIS_WIDTH, place)


def _fit_legend(
    owner: Figure | Axes, handles: Mapping[str, Handle], width: float, place: Mapping[str, Any]
) -> Legend:
    """Add a legend, read row by row, in as few rows as fit into ``width`` inches."""
    entries = list(handles.items())
    for rows in itertools.count(1):
        columns = math.ceil(len(entries) / rows)
        # Matplotlib fills column by column.
        in_order = [entry for first in range(columns) for entry in entries[first::columns]]
        labels, artists = zip(*in_order, strict=True)
        legend = owner.legend(artists, labels, ncols=columns, **place)
        if columns == 1 or size_of(legend)[0] <= width:
            break
        legend.remove()
    return legend


def size_of(legend: Legend) -> tuple[float, float]:
    """Return width and height of a legend in inches."""
    box = legend.get_window_extent()
    return box.width / DPI, box.height / DPI


_NAME_SIZE, _NAME_DISTANCE, _NAME_PLACE = 7.0, 1.3, 1.05
"""Size of a name in points, least distance of two in sizes, where they begin in panel widths."""


def label_lines(axes: Axes, lines: Sequence["Line"], height: float) -> None:
    """Write labels right of a panel of final limits, so many inches high, by the last points."""
    ends = [(line.points["x"].iloc[-1], line.points["y"].iloc[-1]) for line in lines]
    to_share = axes.transData + axes.transAxes.inverted()
    heights = to_share.transform(ends)[:, 1]
    places = _apart(heights, _NAME_DISTANCE * _NAME_SIZE / 72 / height)
    for line, end, place in zip(lines, ends, places, strict=True):
        axes.annotate(
            line.label,
            end,
            (_NAME_PLACE, place),
            textcoords="axes fraction",
            va="center",
            fontsize=_NAME_SIZE,
            arrowprops={"arrowstyle": "-", "color": line.look.colour, "linewidth": 0.6},
            annotation_clip=False,
        )


def _apart(heights: Values, distance: float) -> Values:
    """Return places near the heights, in their order, at least a distance apart."""
    order = np.argsort(heights)
    steps = distance * np.arange(len(heights))
    # Groups that would overlap are put together, about the mean of their members.
    groups: list[list[float]] = []
    for free in heights[order] - steps:
        groups.append([free])
        while len(groups) > 1 and np.mean(groups[-2]) > np.mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    places = np.empty(len(heights))
    places[order] = np.repeat([np.mean(group) for group in groups], [*map(len, groups)]) + steps
    return places


def legend_height(axes: Axes) -> float:
    """Return the height in inches of a panel's own legend."""
    legend = axes.get_legend()
    return size_of(legend)[1] if legend else 0.0
