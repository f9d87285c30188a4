"""Names of lines at their right ends, in place of a legend."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from dpbandits.reporting.panels import Line

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
