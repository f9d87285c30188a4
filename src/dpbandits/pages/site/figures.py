"""The page of each figure, and the data from which its script draws it."""

import math
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dpbandits.errors import InputError
from dpbandits.pages.contents import VARIANTS, head_of
from dpbandits.pages.render import plain
from dpbandits.pages.site.model import FigureGroup, Site, Sources, about, claims_of, counts
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import DIGITISED, Target
from dpbandits.reporting.digitised import reproduced_as_drawn
from dpbandits.reporting.draw import RESIDUAL
from dpbandits.reporting.lines import PUBLISHED
from dpbandits.reporting.palette import DASHES, NO_MARKER, OPEN_MARKS, Look, looks_of
from dpbandits.reporting.spec import (
    BY_TAG,
    DERIVED,
    AxisSpec,
    FigureSpec,
    PanelSpec,
    SeriesSpec,
    panel_stem,
)
from dpbandits.reporting.style import thousands
from dpbandits.reporting.text import readable

# The site shows what the figure shows, so that one function knows the looks.

_MARKS = f"{PUBLISHED} "
"""What the names of lines of digitised values begin with."""


@dataclass(frozen=True, eq=False)
class CsvLine:
    """One line of a panel.

    Attributes:
        name: its name in the csv.
        label: what its legend says, without mathtext.
        look: how it is drawn.
        points: its rows of the csv.
        algorithm: id of its algorithm, as far as the config names it; else "".
    """

    name: str
    label: str
    look: Look
    points: pd.DataFrame
    algorithm: str = ""

    @property
    def variant(self) -> str:
        """The variant, or ``published``."""
        return str(self.points["variant"].iloc[0])

    @property
    def interpretation(self) -> str:
        """The interpretations that differ from the default ones."""
        return str(self.points["interpretation"].iloc[0])


def csv_lines(panel: PanelSpec, table: pd.DataFrame) -> list[CsvLine] | None:
    """Return the lines of a panel's csv in its order, those of digitised values last.

    Args:
        panel: its entry.
        table: its csv.

    Returns:
        None where the csv is of an earlier entry: its lines are not those that this one names.
    """
    groups = [rows for _, rows in table.groupby("series", sort=False)]
    drawn = [rows for rows in groups if rows["variant"].iloc[0] not in (PUBLISHED, RESIDUAL)]
    found = list(_assigned(panel, drawn))
    if len(found) != len(drawn) or {index for index, _ in found} != set(range(len(panel.series))):
        return None
    tagged = [
        (index, rows.assign(**{key: [value] * len(rows) for key, value in values.items()}))
        for (index, values), rows in zip(found, drawn, strict=True)
    ]
    try:
        looks = looks_of(panel, tagged, "")
    except InputError:
        return None
    lines = [
        _line(panel.series[index], values, look, rows)
        for (index, values), look, rows in zip(found, looks, drawn, strict=True)
    ]
    by_name = {line.name: line for line in lines}
    marks = [rows for rows in groups if rows["variant"].iloc[0] == PUBLISHED]
    return [*lines, *(_marks(rows, by_name) for rows in marks)]


def _assigned(
    panel: PanelSpec, drawn: list[pd.DataFrame]
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the entry of each line, in order, and what is known of it; end where none fits."""
    index = 0
    for rows in drawn:
        name = str(rows["series"].iloc[0])
        for place in range(index, len(panel.series)):
            values = _values(panel, panel.series[place], name)
            if values is not None:
                yield place, values
                index = place if panel.series[place].by else place + 1
                break
        else:
            return


def _values(panel: PanelSpec, spec: SeriesSpec, name: str) -> dict[str, Any] | None:
    """Return the constants of a line of this name; None where the entry names no such line."""
    fields: list[str] = []
    pattern = ""
    for text, field, _, _ in string.Formatter().parse(spec.name):
        pattern += re.escape(text)
        if field is not None:
            pattern += f"(?P={field})" if field in fields else f"(?P<{field}>.+)"
            fields.append(field)
    found = re.fullmatch(pattern, name)
    if found is None:
        return None
    chosen = {**panel.where, **spec.where}
    known = {key: value for key, value in chosen.items() if not isinstance(value, list)}
    known |= {key: _number(value) for key, value in found.groupdict().items()}
    # An ordered column has numbers: "3999, c=1" is the value of another line.
    return None if spec.by and isinstance(known.get(spec.by), str) else known


def _number(text: str) -> float | int | str:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return text
    return int(value) if value.is_integer() and "e" not in text else value


def _line(spec: SeriesSpec, values: Mapping[str, Any], look: Look, rows: pd.DataFrame) -> CsvLine:
    name = str(rows["series"].iloc[0])
    try:
        label = readable((spec.label or spec.name).format(**values))
    except (KeyError, ValueError):
        # The legend may say more than the name, which is all that the csv has.
        label = readable(name)
    return CsvLine(name, plain(label), look, rows, str(values.get("algorithm", "")))


def _marks(rows: pd.DataFrame, lines: Mapping[str, CsvLine]) -> CsvLine:
    name = str(rows["series"].iloc[0])
    line = lines[name.removeprefix(_MARKS)]
    look = replace(OPEN_MARKS, colour=line.look.colour)
    return CsvLine(name, f"{line.label}, published", look, rows, line.algorithm)


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


Values = dict[str, Any]


def figure_pages(site: Site) -> Iterator[tuple[str, Values]]:
    """Yield the address of each figure's page and what its template shows."""
    for group in site.groups:
        yield group.address, _page(site, group)


def _page(site: Site, group: FigureGroup) -> Values:
    digitised = _digitised(site, group)
    views = [_view(site, target, digitised) for target in group.targets]
    ledger = about(site.ledger, group)
    return {
        "group": group,
        "title": f"{group.paper}, {group.head}",
        "paper_title": site.title(group.paper),
        "arxiv": _arxiv(site, group),
        "answer": _answer(site, group),
        "views": views,
        "charts": [*_data(views)],
        "claims": claims_of(site, ledger),
        "counts": counts(ledger),
        "digitised": [] if digitised is None else digitised.to_dict("records"),
        "findings": _findings(site, group),
        "entries": [_entry(site.project, target) for target in group.targets],
        "rules": [_rule(site.project, target) for target in group.targets],
    }


def _arxiv(site: Site, group: FigureGroup) -> str | None:
    paper = site.project.papers.get(group.paper)
    return paper.arxiv if paper else None


def _answer(site: Site, group: FigureGroup) -> str:
    """Return what came out of a figure in some sentences."""
    own = [each for each in site.contents.figures(group.paper) if each.base == group.base]
    return site.contents.answer(own[0]) if own else ""


def _view(site: Site, target: Target, digitised: pd.DataFrame | None) -> Values:
    """Return a figure in one variant: its panels as data, or its picture alone."""
    figure = site.project.study(target.paper).figures[target.name]
    charts = panel_charts(site.sources, target, figure)
    with_digitised(charts or [], digitised)
    found = variants_of(charts or [])
    label = " and ".join(VARIANTS.get(each, each) for each in found) if found else target.name
    return {
        "name": target.name,
        "label": label,
        "caption": target.caption,
        "charts": charts,
        "is_diagram": not figure.panels,
        "panels": [
            {"stem": stem, "head": head_of(stem), "shows": _shows(site.project, target, stem)}
            for stem in dict.fromkeys(chart["stem"] for chart in charts or [])
        ],
        "files": _files(site, target),
        "picture": site.sources.path(target, target.name, "png") is not None,
    }


def _data(views: list[Values]) -> Iterator[Values]:
    """Yield the views that the script switches between: variants, then residuals if any."""
    drawn = [view for view in views if view["charts"]]
    for view in drawn:
        yield {"name": view["name"], "label": view["label"], "panels": view["charts"]}
    for view in drawn[:1]:
        panels = residual_panels(view["charts"])
        if panels:
            label = f"{view['label']}, minus published"
            yield {"name": view["name"], "label": label, "panels": panels}


def _shows(project: Project, target: Target, stem: str) -> str:
    """Return the sentence on what a panel shows; a variant shares that of the figure."""
    found = project.papers.get(target.paper)
    panel = re.match(r"fig\d+[a-j]?", stem)
    return found.panels.get(panel[0] if panel else stem, "") if found else ""


def _files(site: Site, target: Target) -> list[str]:
    """Return the files of a figure that can be downloaded, by their suffix."""
    suffixes = ("csv", "pdf")
    return [
        f"data/{target.paper}/{target.name}.{suffix}"
        for suffix in suffixes
        if site.sources.path(target, target.name, suffix) is not None
    ]


def _digitised(site: Site, group: FigureGroup) -> pd.DataFrame | None:
    """Return the digitised values of a figure compared with ours; None where there are none."""
    target = site.tables(group.paper).get(DIGITISED)
    table = None if target is None else site.sources.frame(target, DIGITISED)
    if table is None:
        return None
    own = table[table["panel"].isin(group.stems)]
    return own if len(own) else None


def _reproduced(site: Site, group: FigureGroup) -> str:
    """Return whether a figure of a paper is reproduced as drawn; "" of a supplementary one."""
    if group.is_extra:
        return ""
    return reproduced_as_drawn(_digitised(site, group), group.targets[0].name)


def badges(site: Site, group: FigureGroup) -> Values:
    """Return what stands below a figure on the front page."""
    return {
        "group": group,
        "name": group.targets[0].name,
        "counts": counts(about(site.ledger, group)),
        "reproduced": _reproduced(site, group),
    }


def _findings(site: Site, group: FigureGroup) -> list[Values]:
    """Return the findings about a figure or a panel of it."""
    names = set(group.stems)
    return [
        {"id": finding.claim.id, "title": finding.title, "statement": text, "outcome": outcome}
        for finding, text, outcome in site.findings.get(group.paper, [])
        if not names.isdisjoint(finding.claim.figures)
    ]


def _entry(project: Project, target: Target) -> tuple[str, str]:
    """Return the config file of a figure and the text of its entry there."""
    path = project.study(target.paper).path
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"^  {re.escape(target.name)}:.*\n(?:(?:    .*)?\n)*", text, re.MULTILINE)
    return path.relative_to(project.folder).as_posix(), found[0].rstrip() if found else ""


def _rule(project: Project, target: Target) -> tuple[str, str]:
    """Return the file of the rule that draws a figure, and its text."""
    pattern = re.compile(rf"^use rule \w+ as {target.rule} with:\n(?:(?:    .*)?\n)*", re.MULTILINE)
    for path in sorted((project.folder / "workflow/rules").glob("*.smk")):
        found = pattern.search(path.read_text(encoding="utf-8"))
        if found:
            return path.relative_to(project.folder).as_posix(), found[0].rstrip()
    return "", ""
