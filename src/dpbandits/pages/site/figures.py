"""The page of each figure: drawn from its csv, with the claims that are about it."""

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from dpbandits.pages.front import VARIANTS
from dpbandits.pages.gallery import head_of
from dpbandits.pages.site.charts import panel_charts, residual_panels, variants_of, with_digitised
from dpbandits.pages.site.model import FigureGroup, Site, about, counts
from dpbandits.pages.site.verdicts import claims_of
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import DIGITISED, Target
from dpbandits.reporting.agreement import reproduced_as_drawn

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
        "views": views,
        "charts": [*_data(views)],
        "claims": claims_of(site, ledger),
        "counts": counts(ledger),
        "digitised": [] if digitised is None else digitised.to_dict("records"),
        "reproduced": _reproduced(site, group),
        "findings": _findings(site, group),
        "entries": [_entry(site.project, target) for target in group.targets],
        "rules": [_rule(site.project, target) for target in group.targets],
    }


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
