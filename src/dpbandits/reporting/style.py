"""The one plot style: settings, axes, legends, headings, notes, and names beside lines."""

import itertools
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    FixedLocator,
    Formatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)
from numpy.typing import NDArray

from dpbandits.config.looks import DASHES
from dpbandits.reporting.palette import OPEN_MARKS, Look

if TYPE_CHECKING:
    from dpbandits.reporting.lines import Line

PANEL_WIDTH, SINGLE_WIDTH, PAGE_WIDTH = 3.3, 4.4, 7.0
"""Inches of one panel, a column of a two-column paper; of the only one; and of the text of that
paper, the widest figure."""

LABELLED_WIDTH, WIDE_PAGE = 4.6, 9.0
"""The same where lines are named beside their panels."""

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
    "figure.constrained_layout.w_pad": 0.06,
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
    # TrueType outlines: journals reject Type 3 fonts, and text stays selectable.
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


def line_look(look: Look) -> dict[str, Any]:
    """Return what matplotlib's plotting functions take to draw a line with this look."""
    drawn: dict[str, Any] = {"color": look.colour, "linestyle": DASHES.get(look.dash, "none")}
    face = "white" if look.fill == "open" else look.colour
    edge = 0.0 if look.fill == "full" else 0.8
    marks = {"marker": look.marker, "markerfacecolor": face, "markeredgecolor": look.colour}
    halves = {"fillstyle": "left", "markerfacecoloralt": "white"} if look.fill == "half" else {}
    return drawn | marks | {"markeredgewidth": edge} | halves


def thousands(value: float, _position: int = 0) -> str:
    """Return a number as text: ``20,000`` for whole ones, as few digits as needed for others."""
    text = f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"
    return text.replace("-", MINUS)


MINUS = "\u2212"

PLAIN = {"linear": (0.001, 999_999.0), "log": (0.001, 99_999.0)}
"""Scale -> smallest and largest number, except 0, that an axis writes without a power of ten."""


def power(value: float) -> str:
    """Return a number with a power of ten, as mathematics: ``5 x 10^6``."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)) + 1e-9)
    mantissa = f"{value / 10.0**exponent:.6g}"
    factor = {"1": "", "-1": "-"}.get(mantissa, rf"{mantissa}\times")
    return rf"${factor}10^{{{exponent}}}$"


class _Numbers(Formatter):
    """Tick labels of all axes: numbers with commas, or powers of ten where one is beyond PLAIN.

    Axes of one label and scale have the same kind of labels in all panels of a figure.
    """

    def __call__(self, value: float, position: int | None = None) -> str:
        return thousands(value)

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        assert isinstance(self.axis, Axis)
        shown = []
        for axis in _alike(self.axis):
            low, high = sorted(axis.get_view_interval())
            shown += [
                abs(tick) for tick in axis.get_majorticklocs() if tick and low <= tick <= high
            ]
        least, most = PLAIN[self.axis.get_scale()]
        is_plain = not shown or (least <= min(shown) and max(shown) <= most)
        return [thousands(value) if is_plain else power(value) for value in values]


def _alike(axis: Axis) -> list[Axis]:
    drawn, label = axis.get_figure(root=True), axis.get_label_text()
    # Above a strip, which has the label.
    if not drawn or not label:
        return [axis]
    is_x = isinstance(axis, XAxis)
    every = [axes.xaxis if is_x else axes.yaxis for axes in drawn.axes]
    return [
        other
        for other in every
        if other.get_label_text() == label
        and other.get_scale() == axis.get_scale()
        and isinstance(other.get_major_formatter(), _Numbers)
    ]


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
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(_Numbers())


# Legends, headings, notes, names of lines


STRIP = "residuals"
"""Group id of the axes of a strip."""

Values = NDArray[np.float64]

Handle = Artist
"""What stands for a line or a shaded range in a legend."""

NOTE_SIZE, _NOTE_COLOUR = 7.0, "#333333"
"""Size of a note in points, and its colour."""

_NOTE_LINE = 1.25
"""Height of a line of a note in sizes of its font."""


_AXIS_WIDTH, _TITLE_SPACE = 0.35, 2.2
"""About the width in inches that the labels of a y axis take, and the distance of a legend from
the panel, with a title between them, in sizes of its font."""


def common_labels(
    panels: Sequence[Sequence["Line"]],
    handles: Sequence[Mapping[str, Handle]],
    *,
    everywhere: bool = False,
) -> dict[str, Handle]:
    """Return the entries of the legend of a whole figure: those with one look and one label.

    With ``everywhere`` only those that every panel has, and open marks. A panel with entries that
    are not in this legend keeps those that it alone has, too.
    """
    looks: dict[str, set[Look]] = {}
    labels: dict[Look, set[str]] = {}
    entries = [entry for line in itertools.chain(*panels) for entry in line.entries]
    for entry in entries:
        # Open marks of all lines are one entry.
        look = OPEN_MARKS if entry.look.hollow else entry.look
        looks.setdefault(entry.label, set()).add(look)
        labels.setdefault(look, set()).add(entry.label)
    marks = {entry.label for entry in entries if entry.look.hollow}
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


def heading(paper: str, figure: str, letter: str = "", supplements: str | None = None) -> str:
    """Return what names a picture: ``dp-ncb, Figure 1(a), as written``."""
    numbered = re.fullmatch(r"fig(\d+)(?:-(.+))?", figure)
    panel = f"({letter})" if letter else ""
    if numbered is None:
        named = f" to {supplements}" if supplements else ""
        return f"{paper}, supplement{named}{f', panel {panel}' if panel else ''}"
    variant = f", {numbered[2].replace('-', ' ')}" if numbered[2] else ""
    return f"{paper}, Figure {numbered[1]}{panel}{variant}"


def add_heading(drawn: Figure, name: str, title: str = "") -> None:
    """Put the title of a picture and the name of its figure above all, and make room for them."""
    width = drawn.get_figwidth()
    lines = [(line, "bold", "black") for line in _wrapped(drawn, title, width)]
    lines.append((name, "normal" if title else "bold", _NOTE_COLOUR if title else "black"))
    above = _HEADING_LINE * len(lines) + _HEADING_SPACE
    height = drawn.get_figheight() + above
    drawn.set_figheight(height)
    for index, (text, weight, colour) in enumerate(lines):
        y = 1.0 - (_HEADING_SPACE + _HEADING_LINE * index) / height
        look: dict[str, Any] = {"fontsize": 8, "weight": weight, "color": colour, "va": "top"}
        drawn.text(0.5, y, text, ha="center", **look).set_in_layout(False)
    for legend in drawn.legends:
        legend.borderaxespad += above * 72 / legend.prop.get_size()
    top = 1.0 - (above + sum(size_of(legend)[1] for legend in drawn.legends)) / height
    drawn.set_layout_engine("constrained", rect=(0.0, 0.0, 1.0, top))


_HEADING_LINE, _HEADING_SPACE = 0.16, 0.04
"""Height in inches of a line of a heading, and of the space above it."""


def _wrapped(drawn: Figure, title: str, width: float, **look: Any) -> list[str]:
    """Return a text in as few lines as fit into ``width`` inches, of about one length."""
    look = look or {"fontsize": 8, "weight": "bold"}
    for count in range(1, len(title.split()) + 1):
        lengths = range(math.ceil(len(title) / count), len(title) + 1)
        wrapped = (textwrap.wrap(title, length, break_on_hyphens=False) for length in lengths)
        lines = next(lines for lines in wrapped if len(lines) <= count)
        text = drawn.text(0, 0, "\n".join(lines), **look)
        taken = text.get_window_extent().width / DPI
        text.remove()
        if taken <= width - 2 * _HEADING_SPACE:
            return lines
    return title.split()


TITLES = {"epsilon": r"Privacy $\varepsilon$", "b": "Pre-pulls"}
"""What a legend lists -> its title, if there is a second legend; else that itself."""


def add_legend(
    drawn: Figure, handles: Mapping[str, Handle], lists: Mapping[str, str] | None = None
) -> None:
    """Put the legend above the panels: one, or a titled one for each kind that it lists."""
    parts: dict[str, dict[str, Handle]] = {}
    for label, handle in handles.items():
        parts.setdefault((lists or {}).get(label, ""), {})[label] = handle
    # What is of no kind, such as published values, is at the end of the last one.
    rest = parts.pop("", {})
    if len(parts) < 2 or min(map(len, parts.values())) < 2:
        parts = {"": dict(handles)} if handles else {}
    else:
        parts[[*parts][-1]] |= rest
    above = 0.0
    for kind, entries in parts.items():
        title = f"{TITLES.get(kind, kind)}:" if kind else ""
        legend = _fit_legend(drawn, entries, drawn.get_figwidth(), {"loc": "upper center"}, title)
        # `add_heading` makes room for all of them: the layout would for the highest alone.
        legend.set_in_layout(False)
        legend.borderaxespad += above * 72 / legend.prop.get_size()
        above += size_of(legend)[1]
    drawn.set_figheight(drawn.get_figheight() + above)


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
    width = drawn.get_figwidth() / len(panels)
    above = [
        label_panel(axes, axes.get_title(), handles, width)
        for axes, handles in zip(drawn.axes, panels, strict=True)
    ]
    drawn.set_figheight(drawn.get_figheight() + max(above))


def label_panel(
    axes: Axes,
    title: str | None,
    handles: Mapping[str, Handle],
    width: float,
    below: float = 0.0,
) -> float:
    """Put the title above a panel of this width in inches, and above it a legend of its own.

    ``below`` is the height in points of notes below the title. Return that of the legend in inches.
    """
    if title:
        axes.set_title(title, pad=mpl.rcParams["axes.titlepad"] + below)
    if not handles:
        return 0.0
    # Above the title, so that the titles of panels stand at one height.
    space = below / mpl.rcParams["legend.fontsize"] + (_TITLE_SPACE if title else 0.2)
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "borderaxespad": space}
    return size_of(_fit_legend(axes, handles, width - _AXIS_WIDTH, place))[1]


def add_note(axes: Axes, text: str, width: float) -> float:
    """Write what a reader must know between panel and title; return the height in points."""
    drawn = axes.get_figure(root=True)
    assert drawn is not None
    lines = _wrapped(drawn, text, width - _AXIS_WIDTH, fontsize=NOTE_SIZE)
    look: dict[str, Any] = {"fontsize": NOTE_SIZE, "color": _NOTE_COLOUR, "style": "italic"}
    look |= {"textcoords": "offset points", "ha": "center", "va": "bottom"}
    axes.annotate("\n".join(lines), (0.5, 1.0), (0, 3), xycoords="axes fraction", **look)
    return _NOTE_LINE * NOTE_SIZE * len(lines)


def write_beside(axes: Axes, place: tuple[float, float], text: str) -> None:
    """Write a text beside a point of a panel whose axes are final, where it is on no line."""
    points = np.concatenate([_between(line) for line in axes.lines])
    tried: list[tuple[int, dict[str, Any]]] = []
    for distance, right, up in itertools.product((5, 12, 20, 30), (1, -1), (1, -1)):
        beside: dict[str, Any] = {
            "xytext": (right * 6, up * distance),
            "ha": "left" if right > 0 else "right",
            "va": "bottom" if up > 0 else "top",
        }
        label = _beside(axes, place, text, beside)
        box = label.get_window_extent().padded(6)
        covered = int(((points >= box.min) & (points <= box.max)).all(axis=1).sum())
        covered += 10**6 * (not axes.bbox.contains(*box.min) or not axes.bbox.contains(*box.max))
        label.remove()
        tried.append((covered, beside))
    _beside(axes, place, text, min(tried, key=lambda each: each[0])[1])


def _beside(axes: Axes, place: tuple[float, float], text: str, beside: dict[str, Any]) -> Any:
    look: dict[str, Any] = {"fontsize": NOTE_SIZE, "color": _NOTE_COLOUR, "zorder": 3.5}
    return axes.annotate(text, place, textcoords="offset points", **beside, **look)


def _between(line: Line2D) -> Values:
    """Return pixels along a drawn line."""
    corners = line.get_transform().transform(line.get_xydata())
    shares = np.linspace(0.0, 1.0, 50)[:, None]
    steps = itertools.pairwise(corners)
    return np.concatenate([corners, *(one + shares * (next_ - one) for one, next_ in steps)])


def _fit_legend(
    owner: Figure | Axes,
    handles: Mapping[str, Handle],
    width: float,
    place: Mapping[str, Any],
    title: str = "",
) -> Legend:
    """Add a legend, read row by row, in as few rows as fit into ``width`` inches.

    A title is left of the first row, with nothing below it.
    """
    entries = list(handles.items())
    nothing = Line2D([], [], linestyle="none")
    for rows in itertools.count(1):
        columns = math.ceil(len(entries) / rows)
        # Matplotlib fills column by column.
        below = math.ceil(len(entries) / columns) - 1
        first = [(title, nothing), *[("", nothing)] * below] if title else []
        in_order = [*first, *(one for at in range(columns) for one in entries[at::columns])]
        labels, artists = zip(*in_order, strict=True)
        legend = owner.legend(artists, labels, ncols=columns + bool(title), **place)
        if title:
            legend.get_texts()[0].set_fontweight("bold")
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
    """Write labels beside the last points of a panel, whose limits are final; height in inches."""
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
