"""Figures as data that the page's script draws: axes, lines, points, intervals and looks."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dpbandits.pages.site.lines import CsvLine, csv_lines
from dpbandits.pages.site.sources import Sources
from dpbandits.pages.site.texts import plain
from dpbandits.project.target import Target
from dpbandits.reporting.palette import DASHES, NO_MARKER
from dpbandits.reporting.panels import PUBLISHED
from dpbandits.reporting.series_specs import AxisSpec
from dpbandits.reporting.specs import BY_TAG, DERIVED, FigureSpec, PanelSpec, panel_stem
from dpbandits.reporting.style import Look, thousands

MOST_TICKS = 8
"""Up to so many points of a line are drawn each with its mark and interval."""

Json = dict[str, Any]


def panel_charts(sources: Sources, target: Target, figure: FigureSpec) -> list[Json] | None:
    """Return what is drawn of each panel of a figure.

    Returns:
        None where the figure is a diagram, which has no axes in the config, or where its csv is of
        an earlier entry.
    """
    charts = []
    for letter, panel in figure.panels.items():
        stem = panel_stem(target.name, letter)
        table = sources.frame(target, stem)
        lines = None if table is None else csv_lines(panel, table)
        if lines is None:
            return None
        title = f"({letter}) {plain(panel.title or '')}".strip() if letter else panel.title or ""
        charts.append({"stem": stem, "title": plain(title), **chart(panel, lines)})
    return charts or None


def chart(panel: PanelSpec, lines: Sequence[CsvLine]) -> Json:
    """Return what is drawn of one panel.

    Args:
        panel: its entry.
        lines: its lines.
    """
    places = sorted({x for line in lines for x in line.points["x"]})
    categories = places if panel.x.scale == "categories" else []
    ticks = places if _has_ticks(panel, places) and not categories else []
    return {
        "x": _axis(panel.x) | {"ticks": ticks, "categories": [_name(each) for each in categories]},
        "y": _axis(panel.y),
        "series": [series(panel, line, categories) for line in lines],
    }


def _axis(axis: AxisSpec) -> Json:
    found: Json = {"label": plain(axis.label), "scale": axis.scale, "limits": list(axis.limits)}
    if axis.shaded is not None:
        found |= {"shaded": list(axis.shaded), "shadedLabel": plain(str(axis.shaded_label))}
    return found


def _has_ticks(panel: PanelSpec, places: Sequence[Any]) -> bool:
    by_value = panel.kind == DERIVED or (panel.kind in BY_TAG and panel.x.tag != "t")
    return by_value and len(places) <= MOST_TICKS


def _name(value: object) -> str:
    return value if isinstance(value, str) else thousands(float(str(value)))


def series(panel: PanelSpec, line: CsvLine, categories: Sequence[Any] = ()) -> Json:
    """Return one line: its texts, look and points; intervals where there are some.

    Args:
        panel: the panel that it belongs to.
        line: the line.
        categories: the values of x in order, where they are no numbers of an axis.
    """
    points = line.points
    few = panel.kind in BY_TAG or (panel.kind == DERIVED and len(points) <= MOST_TICKS)
    x = points["x"].tolist()
    found: Json = {
        "name": line.name,
        "label": line.label,
        "variant": line.variant,
        "interpretation": line.interpretation,
        **look(line.look),
        "marks": line.look.hollow or (few and line.look.marker != NO_MARKER),
        "x": [categories.index(each) for each in x] if categories else x,
        "y": points["y"].tolist(),
        "runs": _constant(points["runs"]),
    }
    if line.look.hollow or panel.x.scale == "categories":
        found["dash"] = None
    low, high = (_ends(points, end) for end in ("lo", "hi"))
    if low != found["y"] or high != found["y"]:
        found |= {"lo": low, "hi": high}
    return found


def look(of: Look) -> Json:
    """Return colour, dash (in widths of the line; None: no line), marker and its fill."""
    dash = DASHES.get(of.dash)
    fill = "open" if of.hollow else of.fill
    return {
        "colour": of.colour,
        "dash": None if dash is None else [] if isinstance(dash, str) else list(dash[1]),
        "marker": of.marker,
        "fill": fill,
    }


def _ends(points: pd.DataFrame, end: str) -> list[float]:
    """Return ends of intervals; one run has the whole line as its interval, which is not drawn."""
    values = zip(points[end].astype(float), points["y"].astype(float), strict=True)
    return [value if math.isfinite(value) else y for value, y in values]


def _constant(runs: "pd.Series[Any]") -> int | list[int]:
    values = [int(each) for each in runs]
    return values[0] if len(set(values)) == 1 else values


def with_digitised(charts: Sequence[Json], digitised: pd.DataFrame | None) -> None:
    """Add to lines of digitised values how far ours is off, and whether that agrees.

    Args:
        charts: panels of a figure; their lines are changed.
        digitised: the table of digitised values; None where the paper has none.
    """
    if digitised is None:
        return
    for panel in charts:
        own = digitised[digitised["panel"] == panel["stem"]]
        for line in panel["series"]:
            rows = own[own["series"] == line["name"].removeprefix(f"{PUBLISHED} ")]
            if line["variant"] == PUBLISHED and rows["x"].tolist()[: len(line["x"])] == line["x"]:
                kept = rows.iloc[: len(line["x"])]
                line |= {key: kept[key].tolist() for key in ("difference", "agreement")}


def variants_of(charts: Sequence[Json]) -> list[str]:
    """Return the variants that panels show, in their order, without the published values."""
    found: Mapping[str, None] = dict.fromkeys(
        line["variant"] for panel in charts for line in panel["series"]
    )
    return [each for each in found if each != PUBLISHED]
