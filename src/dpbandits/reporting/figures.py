"""Draw a figure: each panel as a file of its own, and the whole with one legend above it."""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from dpbandits.reporting import style
from dpbandits.reporting.figure_files import write_figure
from dpbandits.reporting.palette import DASHES, NO_MARKER
from dpbandits.reporting.panels import Line, panel_lines
from dpbandits.reporting.rows import read_rows
from dpbandits.reporting.specs import BY_TAG, FigureSpec, PanelSpec, panel_stem, parse_figure

Values = NDArray[np.float64]
Handle = Line2D | ErrorbarContainer

_MARK_SPACING = 0.14
"""Distance of the markers along a curve, as a fraction of the panel's diagonal."""

_AXIS_WIDTH = 0.35
"""About the width in inches that the labels of a y axis take."""

_UPRIGHT_HEIGHT = 0.3
"""About the height in inches that tick labels on end take more than level ones."""

_MOST_COLUMNS = 3
"""Most panels side by side; of more, rows as even as can be."""

_MOST_TICKS = 8
"""Up to so many points of a line get a tick on the axis or a marker each."""


def draw_figure(
    spec: Mapping[str, Any], name: str, frames: Callable[[str], pd.DataFrame], folder: Path
) -> list[Path]:
    """Draw one figure and each of its panels as pdf, png and csv.

    Args:
        spec: its entry in the ``figures:`` section of an experiments file.
        name: its key there, such as ``fig2``; panels are called ``fig2a``, ``fig2b``, ...
        frames: from the name of a simulation or exact result to its table.
        folder: where the files go.

    Returns:
        The files written: panels in reading order, then the whole figure.

    Raises:
        InputError: the entry, or what it asks of the results, is wrong; nothing is written then.
    """
    figure = parse_figure(name, spec)
    lines: dict[str, list[Line]] = {}
    sources = cache(frames)
    for letter, panel in figure.panels.items():
        place = f"figures.{panel_stem(name, letter)}"
        rows = read_rows(panel.reads, sources, f"{place}.reads")
        lines[letter] = panel_lines(panel, rows, place)
    written = []
    if len(lines) > 1:
        for letter, own in lines.items():
            drawn = draw_panels(figure, {letter: own})
            written += write_figure(folder / panel_stem(name, letter), drawn, _points({"": own}))
    return written + write_figure(folder / name, draw_panels(figure, lines), _points(lines))


def draw_panels(figure: FigureSpec, lines: Mapping[str, list[Line]]) -> Figure:
    """Return the drawn panels in rows, legends above the axes.

    Args:
        figure: the figure that the panels belong to.
        lines: the lines of each panel, by letter; one panel, or all of them.
    """
    count = len(lines)
    rows = math.ceil(count / _MOST_COLUMNS)
    columns = math.ceil(count / rows)
    panels = {letter: figure.panels[letter] for letter in lines}
    common = _common_labels(list(lines.values()))
    with style.context():
        width = min(style.PAGE_WIDTH, style.PANEL_WIDTH * columns)
        drawn = Figure(figsize=(width, style.PANEL_HEIGHT * rows), layout="constrained")
        # A canvas that can measure text.
        FigureCanvasAgg(drawn)
        grid = drawn.subplots(rows, columns, squeeze=False, sharey=figure.share_y)
        for axes in grid.flat[count:]:
            axes.remove()
        handles: dict[str, Handle] = {}
        for axes, (letter, panel) in zip(drawn.axes, panels.items(), strict=True):
            handles = _draw_panel(axes, panel, lines[letter])
            title = f"({letter}) {panel.title or ''}".strip() if count > 1 else panel.title
            only_here = {k: v for k, v in handles.items() if k not in common}
            _label_panel(axes, title, only_here, width / columns)
        _set_limits(drawn.axes, list(panels.values()))
        if figure.share_y:
            for axes in grid[:, 1:].flat:
                axes.set_ylabel("")
        drawn.set_figheight(sum(_row_height(row) for row in grid))
        _add_legend(drawn, {label: handles[label] for label in common})
    return drawn


def _set_limits(panels: Iterable[Axes], specs: list[PanelSpec]) -> None:
    """Set all limits, after all is drawn: they end a shared axis' growing with its panels."""
    for axes, panel in zip(panels, specs, strict=True):
        axes.set_xlim(*panel.x.limits)
        axes.set_ylim(*panel.y.limits)


def _row_height(row: Iterable[Axes]) -> float:
    """Return the height in inches of a row of panels with their own legends."""
    legends = [axes.get_legend() for axes in row]
    height = max((_size(legend)[1] for legend in legends if legend is not None), default=0.0)
    if any(label.get_rotation() for axes in row for label in axes.get_xticklabels()):
        height += _UPRIGHT_HEIGHT
    return style.PANEL_HEIGHT + height


def _add_legend(drawn: Figure, handles: Mapping[str, Handle]) -> None:
    """Put the legend of all panels above them, and make room for it."""
    if handles:
        place = {"loc": "outside upper center"}
        legend = _fit_legend(drawn, handles, drawn.get_figwidth(), place)
        drawn.set_figheight(drawn.get_figheight() + _size(legend)[1])


def _common_labels(panels: list[list[Line]]) -> list[str]:
    """Return the legend texts that stand for the same line in every panel."""
    looks = [{line.label: _legend_look(line) for line in lines} for lines in panels]
    return [
        label for label, look in looks[0].items() if all(each.get(label) == look for each in looks)
    ]


def _draw_panel(axes: Axes, panel: PanelSpec, lines: list[Line]) -> dict[str, Handle]:
    """Draw lines and axes of one panel; return what stands for each line in the legend."""
    handles = {}
    for index, line in enumerate(lines):
        x = _positions(panel, line, lines)
        if line.look.hollow:
            handles[line.label] = _draw_marks(axes, x, line)
        elif panel.kind in BY_TAG and line.look.marker != NO_MARKER:
            handles[line.label] = _draw_ends(axes, x, line)
        else:
            handles[line.label] = _draw_curve(axes, x, line, index / len(lines))
    ticks = None
    if panel.x.scale == "categories":
        names = [_category_name(each) for each in _categories(lines)]
        axes.set_xticks(range(len(names)), names)
        if len(names) > _MOST_TICKS:
            axes.tick_params(axis="x", labelrotation=90)
    else:
        # Horizons are decades of time, whose places a logarithmic axis shows by itself.
        by_value = panel.kind in BY_TAG and panel.x.tag != "t"
        if by_value and len(_categories(lines)) <= _MOST_TICKS:
            ticks = _categories(lines)
        style.style_axis(axes, "x", panel.x.scale, ticks)
    style.style_axis(axes, "y", panel.y.scale)
    axes.set_xlabel(panel.x.label)
    axes.set_ylabel(panel.y.label)
    return handles


def _draw_ends(axes: Axes, x: list[float], line: Line) -> Handle:
    """Draw points with error bars, joined."""
    y, low, high = _interval(line)
    return axes.errorbar(x, y, yerr=[y - low, high - y], capsize=2, elinewidth=0.8, **_look(line))


def _draw_curve(axes: Axes, x: list[float], line: Line, offset: float) -> Handle:
    """Draw a curve over its band; markers of different ``offset`` (0 to below 1) stay apart.

    Of a few points each has its marker.
    """
    y, low, high = _interval(line)
    if (low < high).any():
        axes.fill_between(x, low, high, color=line.look.colour, alpha=0.2, linewidth=0)
    marks = (_MARK_SPACING * (offset + 0.15), _MARK_SPACING) if len(x) > _MOST_TICKS else None
    return axes.plot(x, y, markevery=marks, **_look(line))[0]


def _draw_marks(axes: Axes, x: list[float], line: Line) -> Handle:
    """Draw open marks above all lines; return what stands for those of all lines."""
    own: dict[str, Any] = {"linestyle": "none", "markerfacecolor": "none", "markeredgewidth": 0.8}
    axes.plot(x, line.points["y"], color=line.look.colour, marker=line.look.marker, zorder=3, **own)
    return Line2D([], [], color=style.OPEN_MARKS.colour, marker=style.OPEN_MARKS.marker, **own)


def _legend_look(line: Line) -> style.Look:
    """Return how the legend shows a line: open marks of all lines are one entry."""
    return style.OPEN_MARKS if line.look.hollow else line.look


def _look(line: Line) -> dict[str, Any]:
    look = line.look
    return {"color": look.colour, "linestyle": DASHES[look.dash], "marker": look.marker}


def _interval(line: Line) -> tuple[Values, Values, Values]:
    """Return y, lo, hi; one run has the whole line as its interval, which is not drawn."""
    y, low, high = (line.points[column].to_numpy(dtype=float) for column in ("y", "lo", "hi"))
    return y, np.where(np.isfinite(low), low, y), np.where(np.isfinite(high), high, y)


def _positions(panel: PanelSpec, line: Line, lines: list[Line]) -> list[float]:
    """Return where points stand on the x axis: their values, or the number of their category."""
    values = line.points["x"].tolist()
    if panel.x.scale != "categories":
        return values
    categories = _categories(lines)
    return [float(categories.index(value)) for value in values]


def _categories(lines: list[Line]) -> list[Any]:
    return sorted({value for line in lines for value in line.points["x"]})


def _category_name(value: Any) -> str:
    return value if isinstance(value, str) else style.thousands(value)


def _label_panel(axes: Axes, title: str | None, own: Mapping[str, Handle], width: float) -> None:
    """Put the title above the panel, and under it the legend of lines that only it has.

    ``width`` is the panel's in inches, with the labels of its y axis.
    """
    if own:
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "title": title}
        _fit_legend(axes, own, width - _AXIS_WIDTH, place)
    elif title:
        axes.set_title(title)


def _fit_legend(
    owner: Figure | Axes, handles: Mapping[str, Handle], width: float, place: Mapping[str, Any]
) -> Legend:
    """Add a legend, read row by row, in as few rows as fit into ``width`` inches."""
    entries = list(handles.items())
    for rows in itertools.count(1):
        columns = math.ceil(len(entries) / rows)
        # Matplotlib fills column by column.
        sorted_entries = [each for first in range(columns) for each in entries[first::columns]]
        labels, artists = zip(*sorted_entries, strict=True)
        legend = owner.legend(artists, labels, ncols=columns, **place)
        if columns == 1 or _size(legend)[0] <= width:
            break
        legend.remove()
    return legend


def _size(legend: Legend) -> tuple[float, float]:
    """Return width and height of a legend in inches."""
    box = legend.get_window_extent()
    return box.width / style.DPI, box.height / style.DPI


def _points(lines: Mapping[str, list[Line]]) -> pd.DataFrame:
    """Return the plotted numbers in drawing order; in a whole figure, names begin with ``a: ``."""
    tables = [
        line.points.assign(series=f"{letter}: {line.name}" if letter else line.name)
        for letter, own in lines.items()
        for line in own
    ]
    return pd.concat(tables, ignore_index=True)
