"""Figures as data that the page's script draws: axes, lines, points, intervals and looks."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dpbandits.pages.site.lines import CsvLine, csv_lines
from dpbandits.pages.site.sources import Sources
from dpbandits.pages.site.texts import plain
from dpbandits.pipeline.targets import Target
from dpbandits.reporting.lines import PUBLISHED
from dpbandits.reporting.palette import DASHES, NO_MARKER, Look
from dpbandits.reporting.spec import BY_TAG, DERIVED, AxisSpec, FigureSpec, PanelSpec, panel_stem
from dpbandits.reporting.style import thousands

MOST_TICKS = 8
"""Up to so many points of a line are drawn each with its mark and interval."""

Json = dict[str, Any]

_COMPARED = ("difference", "allowance", "agreement")
"""Columns of the table of digitised values that go with the published ones."""


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
            # Small scales end before the last values.
            kept = rows.iloc[: len(line["x"])]
            if line["variant"] == PUBLISHED and kept["x"].tolist() == line["x"]:
                line |= {key: kept[key].tolist() for key in _COMPARED}


def residual_panels(charts: Sequence[Json]) -> list[Json]:
    """Return panels of ours minus published, over what digitisation and chance allow.

    Args:
        charts: panels whose lines ``with_digitised`` has seen; those without digitised values are
            left out.
    """
    panels = []
    for panel in charts:
        compared = [line for line in panel["series"] if "difference" in line]
        lines = [_residual(line, panel["series"]) for line in compared]
        if lines:
            ends = sorted({x for line in lines for x in line["x"]})
            allowed = {"x": [ends[0], ends[-1]], "y": [0, 0], "lo": [-1, -1], "hi": [1, 1]}
            axis = {"label": "Difference over what is allowed", "scale": "linear"}
            panels.append({**panel, "y": {**axis, "limits": [None, None]}})
            panels[-1]["series"] = [{**_ALLOWED, **allowed}, *lines]
    return panels


_ALLOWED: Json = {
    **{
        "name": "allowed",
        "label": "digitisation error and our 95 % interval",
        "variant": "",
    },
    **{"interpretation": "", "colour": "#777777", "dash": [], "marker": "none", "fill": "full"},
    **{"marks": False, "runs": 0},
}


def _residual(line: Json, own: Sequence[Json]) -> Json:
    """Return the residuals of a line of digitised values, in the look of the line compared."""
    shares = [d / a for d, a in zip(line["difference"], line["allowance"], strict=True)]
    name = line["name"].removeprefix(f"{PUBLISHED} ")
    drawn = next(each for each in own if each["name"] == name)
    kept = {key: line[key] for key in ("x", "difference", "agreement")}
    look_alike = {key: value for key, value in drawn.items() if key not in ("lo", "hi")}
    return look_alike | kept | {"y": shares, "dash": None, "marks": True}


def variants_of(charts: Sequence[Json]) -> list[str]:
    """Return the variants that panels show, in their order, without the published values."""
    found: Mapping[str, None] = dict.fromkeys(
        line["variant"] for panel in charts for line in panel["series"]
    )
    return [each for each in found if each != PUBLISHED]
