"""What the script of a page draws: axes, lines and points of each panel, as JSON."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpbandits.pages.site.model import Site
from dpbandits.pages.verdicts import VARIANTS
from dpbandits.reporting.lines import PUBLISHED
from dpbandits.reporting.palette import DASHES, NO_MARKER, Look
from dpbandits.reporting.spec import MOST_TICKS, FigureSpec, PanelSpec, panel_stem
from dpbandits.reporting.style import thousands
from dpbandits.reporting.text import plain_label as plain

Json = dict[str, Any]

_COMPARED = ("difference", "allowance", "agreement")
"""Columns of the table of digitised values that go with the published ones."""


def panel_charts(site: Site, paper: str, figure: FigureSpec) -> list[Json]:
    """Return what is drawn of each panel of a figure; nothing where its copies are older."""
    charts = []
    panels = site.drawn(paper, figure.name)
    for letter, drawn in panels.items():
        stem = panel_stem(figure.name, letter)
        if figure.is_diagram:
            chart = _diagram(drawn)
        else:
            points = site.points(paper, stem)
            panel = figure.panels.get(letter)
            if points is None or panel is None or not drawn["lines"]:
                return []
            chart = panel_chart(panel, drawn, points)
        for line in chart["series"]:
            line["interpretation"] = site.in_words(paper, line["interpretation"])
        title = plain(drawn["title"])
        head = f"({letter}) {title}".strip() if len(panels) > 1 else title
        charts.append({"stem": stem, "letter": letter, "title": head, **chart})
    return charts


def panel_chart(panel: PanelSpec, drawn: Json, points: pd.DataFrame) -> Json:
    """Return what is drawn of one panel: its axes and lines with their looks, points of its csv."""
    rows = dict(list(points.groupby("series", sort=False)))
    lines = [(line, rows[line["name"]]) for line in drawn["lines"] if line["name"] in rows]
    x, y = _axis(drawn["x"]), _axis(drawn["y"])
    if ticks := panel.ticks(place for _, own in lines for place in own["x"]):
        x["ticks"] = [[place, thousands(float(place))] for place in ticks]
    labels = {line["name"]: line["label"] for line, _ in lines}
    return {
        "x": x,
        "y": y,
        "series": [_series(panel, line, own, labels) for line, own in lines],
    }


def _axis(drawn: Json) -> Json:
    found: Json = {"label": plain(drawn["label"]), "scale": drawn["scale"]}
    found["limits"] = list(drawn["limits"])
    if drawn.get("shaded"):
        found |= {"shaded": list(drawn["shaded"]), "shadedLabel": plain(drawn["shaded_label"])}
    if "ticks" in drawn:
        found["ticks"] = [[place, plain(label)] for place, label in drawn["ticks"]]
    return found


def _series(panel: PanelSpec, line: Json, points: pd.DataFrame, labels: dict[str, str]) -> Json:
    """Return one line: its texts, look and points; intervals where there are some."""
    variant, label = str(points["variant"].iloc[0]), plain(line["label"])
    if variant == PUBLISHED:
        label = plain(labels.get(line["name"].removeprefix(f"{PUBLISHED} "), "")) + ", published"
    runs = [*map(int, points["runs"])]
    found: Json = {
        "name": line["name"],
        "label": label,
        "algorithm": line["algorithm"],
        "variant": variant,
        "interpretation": str(points["interpretation"].iloc[0]),
        **look(Look(**{key: line[key] for key in ("colour", "dash", "marker", "hollow", "fill")})),
        "marks": line["hollow"] or (panel.has_few(len(points)) and line["marker"] != NO_MARKER),
        "x": points["x"].tolist(),
        "y": points["y"].tolist(),
        "runs": runs[0] if len({*runs}) == 1 else runs,
    }
    if line["hollow"]:
        found["dash"] = None
    # One run has the whole line as its interval, which is not drawn.
    finite = {end: points[end].where(np.isfinite(points[end]), points["y"]) for end in ("lo", "hi")}
    ends = {end: values.astype(float).tolist() for end, values in finite.items()}
    if any(values != found["y"] for values in ends.values()):
        found |= ends
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


def _diagram(drawn: Json) -> Json:
    """Return what is drawn of a panel of a diagram, whose points are beside the lines."""
    lines = [
        {"variant": "", "interpretation": "", **line, "label": plain(line["label"])}
        | {"marks": "lo" in line or line["dash"] is None or len(line["x"]) <= MOST_TICKS}
        for line in drawn["lines"]
    ]
    # What all lines of a panel begin with is in its title.
    labels = {line["label"] for line in lines} - {""}
    heads = {label.partition(": ")[0] for label in labels}
    if len(labels) > 1 and len(heads) == 1:
        lines = [{**line, "label": line["label"].partition(": ")[2]} for line in lines]
    areas = [{**area, "label": plain(area["label"])} for area in drawn["areas"]]
    texts = [{**text, "text": plain(text["text"])} for text in drawn["texts"]]
    axes = {key: _axis(drawn[key]) for key in "xy"}
    return {**axes, "series": lines, "areas": areas, "texts": texts}


def with_digitised(charts: Sequence[Json], digitised: pd.DataFrame) -> None:
    """Add to lines of digitised values how far the rebuilt are off, and whether that agrees."""
    for panel in charts if len(digitised) else ():
        of_panel = digitised[digitised["panel"] == panel["stem"]]
        # Without an interval everything is allowed, and JSON has no infinity.
        of_panel = of_panel.assign(allowance=of_panel["allowance"].clip(upper=1e9))
        for line in panel["series"]:
            rows = of_panel[of_panel["series"] == line["name"].removeprefix(f"{PUBLISHED} ")]
            # Small scales end before the last values.
            shown = rows.iloc[: len(line["x"])]
            if line["variant"] == PUBLISHED and shown["x"].tolist() == line["x"]:
                line |= {key: shown[key].tolist() for key in _COMPARED}


def residual_panels(charts: Sequence[Json]) -> list[Json]:
    """Return panels of computed minus published values, if any, in units of what is allowed."""
    panels = []
    for panel in charts:
        compared = [line for line in panel["series"] if "difference" in line]
        if not compared:
            continue
        lines = [_residual(line, panel["series"]) for line in compared]
        ends = sorted({x for line in lines for x in line["x"]})
        allowed = {"x": [ends[0], ends[-1]], "y": [0, 0], "lo": [-1, -1], "hi": [1, 1]}
        axis = {"label": "Difference over what is allowed", "scale": "linear"}
        y = {**axis, "limits": [None, None]}
        panels.append({**panel, "y": y, "series": [_ALLOWED | allowed, *lines]})
    return panels


_ALLOWED: Json = {
    "name": "allowed",
    "label": "digitisation error and 95 % interval",
    "variant": "",
    "interpretation": "",
    "colour": "#777777",
    "dash": [],
    "marker": "none",
    "fill": "full",
    "marks": False,
    "runs": 0,
}


def _residual(line: Json, drawn: Sequence[Json]) -> Json:
    """Return the residuals of a line of digitised values, in the look of the line compared."""
    shares = [d / a for d, a in zip(line["difference"], line["allowance"], strict=True)]
    name = line["name"].removeprefix(f"{PUBLISHED} ")
    compared = next(other for other in drawn if other["name"] == name)
    look_alike = {key: value for key, value in compared.items() if key not in ("lo", "hi")}
    known = {key: line[key] for key in ("x", "difference", "agreement")}
    return look_alike | known | {"y": shares, "dash": None, "marks": True}


def variants_of(charts: Sequence[Json]) -> str:
    """Return the variants that panels show, in words, without the published values."""
    variants = dict.fromkeys(line["variant"] for panel in charts for line in panel["series"])
    return " and ".join(VARIANTS[each] for each in variants if each in VARIANTS)
