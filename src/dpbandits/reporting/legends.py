"""Legends: one above a figure for what all its panels have, one above each panel for the rest."""

import itertools
import math
from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle

from dpbandits.reporting import style
from dpbandits.reporting.panels import Line

Handle = Line2D | ErrorbarContainer | Polygon | Rectangle
"""What stands for a line or a shaded range in a legend."""

_AXIS_WIDTH = 0.35
"""About the width in inches that the labels of a y axis take."""


def common_labels(panels: list[list[Line]]) -> list[str]:
    """Return the legend texts that stand for the same line in every panel."""
    looks = [{line.label: _legend_look(line) for line in lines} for lines in panels]
    return [
        label for label, look in looks[0].items() if all(each.get(label) == look for each in looks)
    ]


def add_legend(drawn: Figure, handles: Mapping[str, Handle]) -> None:
    """Put the legend of all panels above them, and make room for it."""
    if handles:
        place = {"loc": "outside upper center"}
        legend = _fit_legend(drawn, handles, drawn.get_figwidth(), place)
        drawn.set_figheight(drawn.get_figheight() + size_of(legend)[1])


def label_panel(axes: Axes, title: str | None, own: Mapping[str, Handle], width: float) -> None:
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
        if columns == 1 or size_of(legend)[0] <= width:
            break
        legend.remove()
    return legend


def size_of(legend: Legend) -> tuple[float, float]:
    """Return width and height of a legend in inches."""
    box = legend.get_window_extent()
    return box.width / style.DPI, box.height / style.DPI


def _legend_look(line: Line) -> style.Look:
    """Return how the legend shows a line: open marks of all lines are one entry."""
    return style.OPEN_MARKS if line.look.hollow else line.look
