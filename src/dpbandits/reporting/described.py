"""What a drawn diagram shows, as the data from which the site draws it: axes, lines, areas."""

import re
import string
from collections.abc import Iterator
from itertools import groupby, product
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.category import StrCategoryLocator
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from dpbandits.reporting.palette import NO_MARKER

Json = dict[str, Any]


def described(drawn: Figure, points: pd.DataFrame) -> Json:
    """Return the panels by letter, with all at places of their axes; its csv names the lines."""
    legends = {
        _appearance(handle): text.get_text()
        for legend in [*drawn.legends, *filter(None, (each.get_legend() for each in drawn.axes))]
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True)
        if isinstance(handle, Line2D | Patch)
    }
    drawn.draw_without_rendering()
    panels = [_panel(axes, points, legends) for axes in drawn.axes if axes.has_data()]
    _share_axes(panels)
    return dict(zip(string.ascii_lowercase, panels, strict=False))


def _panel(axes: Axes, points: pd.DataFrame, legends: dict[Any, str]) -> Json:
    return {
        "title": re.sub(r"^\([a-z]\) ", "", axes.get_title()),
        "x": _axis(axes, "x"),
        "y": _axis(axes, "y"),
        "lines": [*_lines(axes, points, legends), *_scattered(axes)],
        "areas": [area | {"label": legends.get((area["colour"],), "")} for area in _areas(axes)],
        "texts": [
            {"x": _number(x), "y": _number(y), "text": text.get_text()}
            for text in axes.texts
            if text.get_text() and _is_placed(text, axes)
            for x, y in [text.get_position()]
        ],
    }


def _axis(axes: Axes, which: str) -> Json:
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    found: Json = {
        "label": axis.get_label_text(),
        "scale": "log" if axis.get_scale() == "log" else "linear",
        "limits": [_number(low), _number(high)],
    }
    if isinstance(axis.get_major_locator(), FixedLocator | NullLocator | StrCategoryLocator):
        labels = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False)
        found["ticks"] = [[_number(place), label.get_text()] for place, label in labels]
    return found


def _share_axes(panels: list[Json]) -> None:
    """Give panels without ticks the axis of another panel with the same limits."""
    for which, panel in product("xy", panels):
        axis = panel[which]
        if axis.get("ticks") == [] or not any(name for _, name in axis.get("ticks", [["", "-"]])):
            alike = (other[which] for other in panels if other[which]["limits"] == axis["limits"])
            named = (other for other in alike if any(name for _, name in other.get("ticks", ())))
            panel[which] = next(named, axis)


def _lines(axes: Axes, points: pd.DataFrame, legends: dict[Any, str]) -> Iterator[Json]:
    """Yield the lines, whose error bars are ends of intervals."""
    bars = {each.lines[0]: each for each in axes.containers if isinstance(each, ErrorbarContainer)}
    caps = {cap for each in bars.values() for cap in each.lines[1]}
    for line in axes.lines:
        x, y = (np.asarray(each, dtype=float) for each in line.get_data())
        if line in caps or not x.size:
            continue
        in_x, in_y = line.get_transform().contains_branch_seperately(axes.transData)
        if not (in_x and in_y):
            # A level: its other coordinate goes from one side of the panel to the other.
            x, y = (
                x if in_x else np.array(axes.get_xlim()),
                y if in_y else np.array(axes.get_ylim()),
            )
        runs, series = _published(points, x, y)
        label = str(line.get_label())
        own = re.sub(r"^[a-z]: ", "", series) if label.startswith("_") else label
        found = _look(line) | {
            "name": series,
            "label": legends.get(_appearance(line), own),
            "x": [*map(_number, x)],
            "y": [*map(_number, y)],
            "runs": runs,
        }
        container = bars.get(line)
        if container is not None and container.has_yerr:
            segments = container.lines[2][-1].get_segments()
            for end, key in enumerate(("lo", "hi")):
                found[key] = [_number(part[end][1]) if len(part) else None for part in segments]
        yield found


def _scattered(axes: Axes) -> Iterator[Json]:
    """Yield points without a line."""
    for each in axes.collections:
        places = np.asarray(each.get_offsets(), dtype=float)
        if isinstance(each, PathCollection) and len(places):
            x, y = places.T
            label = str(each.get_label())
            yield {
                "colour": to_hex(np.asarray(each.get_facecolor())[0]),
                "dash": None,
                "marker": "o",
                "fill": "full",
                "name": "",
                "label": "" if label.startswith("_") else label,
                "x": [*map(_number, x)],
                "y": [*map(_number, y)],
                "runs": None,
            }


def _published(points: pd.DataFrame, x: Any, y: Any) -> tuple[list[int] | None, str]:
    """Return the runs and the series of drawn points in the csv; None and "" of other points."""
    drawn = [*map(_place, x, y)]
    for series, rows in points.groupby("series", sort=False):
        places = map(_place, rows["x"], rows["y"])
        known = dict(zip(places, rows["runs"].astype(int), strict=True))
        if known.keys() >= set(drawn):
            return [known[place] for place in drawn], str(series)
    return None, ""


def _place(x: Any, y: Any) -> tuple[str, str]:
    """Return a point so that those which differ by rounding alone are the same."""
    return f"{x:.5g}" if isinstance(x, int | float) else str(x), f"{y:.5g}"


def _look(line: Line2D) -> Json:
    """Return the look of a line as the figures with axes in the config have it."""
    # There is no public way to ask for it.
    dash = cast("Any", line)._unscaled_dash_pattern[1]
    marker = str(line.get_marker())
    face = line.get_markerfacecolor()
    is_open = isinstance(face, str) and face in ("none", "white", "w")
    return {
        "colour": to_hex(line.get_color()),
        "dash": None if line.get_linestyle() in ("None", "none", " ", "") else list(dash or ()),
        "marker": NO_MARKER if marker in ("None", "none", "", " ") else marker,
        "fill": "half" if line.get_fillstyle() == "left" else "open" if is_open else "full",
    }


def _appearance(handle: Line2D | Patch) -> tuple[str, ...]:
    """Return what a line, or a patch, and what stands for it in a legend have in common."""
    if isinstance(handle, Patch):
        return (to_hex(handle.get_facecolor()),)
    return tuple(map(str, _look(handle).values()))


def _areas(axes: Axes) -> Iterator[Json]:
    """Yield the polygons: bands, shaded ranges, cells of maps."""
    for patch in axes.patches:
        if _is_placed(patch, axes):
            corners = patch.get_patch_transform().transform_path(patch.get_path()).vertices
            yield _area(corners, patch.get_facecolor(), hatched=bool(patch.get_hatch()))
    for each in axes.collections:
        if isinstance(each, QuadMesh):
            yield from _cells(each)
        elif isinstance(each, PolyCollection) and not isinstance(each, LineCollection):
            colours = each.get_facecolor()
            for index, path in enumerate(each.get_paths()):
                if len(colours):
                    yield _area(path.vertices, colours[index % len(colours)])


def _cells(mesh: QuadMesh) -> Iterator[Json]:
    """Yield the cells of a map, neighbours of one colour in a row as one."""
    places = np.asarray(mesh.get_coordinates())
    rows = np.asarray(mesh.get_facecolor()).reshape(*(size - 1 for size in places.shape[:2]), 4)
    for row, colours in enumerate(rows):
        for _, group in groupby(enumerate(colours), key=lambda cell: to_hex(cell[1])):
            columns = [column for column, _ in group]
            first, last = columns[0], columns[-1] + 1
            corners = places[[row, row, row + 1, row + 1], [first, last, last, first]]
            yield _area(corners, colours[first])


def _area(corners: Any, colour: Any, *, hatched: bool = False) -> Json:
    places = np.asarray(corners, dtype=float)
    return {
        "points": [[_number(x), _number(y)] for x, y in places if np.isfinite([x, y]).all()],
        "colour": to_hex(colour),
        "opacity": round(float(colour[3]), 3),
        "hatched": hatched,
    }


def _is_placed(artist: Artist | Patch, axes: Axes) -> bool:
    """Return whether an artist is at a place of the axes, not of the panel."""
    return bool(artist.get_transform().contains_branch(axes.transData))


def _number(value: Any) -> float | None:
    """Return a number with more digits than a screen shows; None where JSON has none."""
    value = float(value)
    return float(f"{value:.7g}") if np.isfinite(value) else None
