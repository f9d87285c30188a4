"""Legends above a figure and its panels, and names of lines at their right ends."""

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle

from dpbandits.reporting import palette, style
from dpbandits.reporting.lines import Line

Handle = Line2D | Polygon | Rectangle
"""What stands for a line or a shaded range in a legend."""

_AXIS_WIDTH = 0.35
"""About the width in inches that the labels of a y axis take."""

_TITLE_SPACE = 2.2
"""Distance of a legend from the panel, with a title between them, in sizes of its font."""

_HEADING_HEIGHT = 0.2
"""About the height in inches that a heading without a legend takes."""


def common_labels(panels: list[list[Line]]) -> list[str]:
    """Return the legend texts that stand for the same line in every panel.

    Open marks stand for the same wherever they are, and need not be in every panel.
    """
    looks = [{line.label: _legend_look(line) for line in lines} for lines in panels]
    marks = [line.label for lines in panels for line in lines if line.look.hollow]
    same = [
        label for label, look in looks[0].items() if all(each.get(label) == look for each in looks)
    ]
    return list(dict.fromkeys([*same, *marks]))


def heading(paper: str, figure: str, letter: str = "") -> str:
    """Return what names a picture: ``dp-ncb, Figure 1(a), as written``.

    Args:
        paper: short name of the paper.
        figure: name of the figure, such as ``fig1-as-written`` or ``extra-bias``.
        letter: letter of the panel; empty for the whole.
    """
    numbered = re.fullmatch(r"fig(\d+)(?:-(.+))?", figure)
    panel = f"({letter})" if letter else ""
    if numbered is None:
        name = figure.removeprefix("extra-")
        named = "" if name == paper else f": {name.replace('-', ' ')}"
        return f"{paper}, supplementary figure{named}{f' {panel}' if panel else ''}"
    variant = f", {numbered[2].replace('-', ' ')}" if numbered[2] else ""
    return f"{paper}, Figure {numbered[1]}{panel}{variant}"


def add_heading(drawn: Figure, text: str) -> None:
    """Put the name of a picture above it, over the legend of all panels if there is one."""
    before = sum(size_of(legend)[1] for legend in drawn.legends)
    if drawn.legends:
        drawn.legends[0].set_title(text, FontProperties(size=8, weight="bold"))
        height = size_of(drawn.legends[0])[1] - before
    else:
        drawn.suptitle(text)
        height = _HEADING_HEIGHT
    drawn.set_figheight(drawn.get_figheight() + height)


def add_legend(drawn: Figure, handles: Mapping[str, Handle]) -> None:
    """Put the legend of all panels above them, and make room for it."""
    if handles:
        place = {"loc": "outside upper center"}
        legend = _fit_legend(drawn, handles, drawn.get_figwidth(), place)
        drawn.set_figheight(drawn.get_figheight() + size_of(legend)[1])


def shared_legend(drawn: Figure, columns: int) -> None:
    """Put one legend above the panels of a diagram, each label once, without error bars."""
    handles: dict[str, Any] = {}
    for axes in drawn.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            line = handle[0] if isinstance(handle, ErrorbarContainer) else handle
            handles.setdefault(label, line)
    drawn.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=columns)


def label_panel(axes: Axes, title: str | None, own: Mapping[str, Handle], width: float) -> None:
    """Put the title above the panel, and above it the legend of lines that only it has.

    ``width`` is the panel's in inches, with the labels of its y axis.
    """
    if title:
        axes.set_title(title)
    if own:
        # Above the title, so that the titles of panels stand at one height.
        above = {"borderaxespad": _TITLE_SPACE} if title else {}
        place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), **above}
        _fit_legend(axes, own, width - _AXIS_WIDTH, place)


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
        if columns == 1 or size_of(legend)[0] <= width:
            break
        legend.remove()
    return legend


def size_of(legend: Legend) -> tuple[float, float]:
    """Return width and height of a legend in inches."""
    box = legend.get_window_extent()
    return box.width / style.DPI, box.height / style.DPI


def _legend_look(line: Line) -> palette.Look:
    """Return how the legend shows a line: open marks of all lines are one entry."""
    return palette.OPEN_MARKS if line.look.hollow else line.look


_SIZE = 7.0
"""Size of a name in points."""

_DISTANCE = 1.3
"""Least distance of two names, in sizes."""

_LEFT = 1.05
"""Where names begin, as a share of the panel's width."""


def label_lines(axes: Axes, lines: Sequence[Line], height: float) -> None:
    """Write the label of each line right of the panel, beside the line's last point.

    Labels that would touch stand apart; a thin line leads to the point.

    Args:
        axes: the panel, with its final scales and limits.
        lines: those that are named.
        height: of the panel in inches, about.
    """
    ends = [(line.points["x"].iloc[-1], line.points["y"].iloc[-1]) for line in lines]
    to_share = axes.transData + axes.transAxes.inverted()
    heights = to_share.transform(ends)[:, 1]
    places = _apart(heights, _DISTANCE * _SIZE / 72 / height)
    for line, end, place in zip(lines, ends, places, strict=True):
        axes.annotate(
            line.label,
            end,
            (_LEFT, place),
            textcoords="axes fraction",
            va="center",
            fontsize=_SIZE,
            arrowprops={"arrowstyle": "-", "color": line.look.colour, "linewidth": 0.6},
            annotation_clip=False,
        )


def _apart(heights: np.ndarray, distance: float) -> np.ndarray:
    """Return places near the heights, in their order, at least a distance apart."""
    order = np.argsort(heights)
    steps = distance * np.arange(len(heights))
    # Blocks that would overlap are put together, about the mean of their members.
    blocks: list[list[float]] = []
    for free in heights[order] - steps:
        blocks.append([free])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    places = np.empty(len(heights))
    places[order] = np.repeat([np.mean(each) for each in blocks], [*map(len, blocks)]) + steps
    return places
