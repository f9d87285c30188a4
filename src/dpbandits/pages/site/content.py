"""The pages of the site: the template and the values of each, by its address."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import markdown2
import pandas as pd
import yaml
from markupsafe import Markup

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.base import Definition
from dpbandits.algorithms.guarantees import listed
from dpbandits.claims.ledger import COMPARISON_COLUMNS
from dpbandits.claims.verdict import ALPHA, VERDICTS
from dpbandits.comparisons.field import COMPARISON as CHOOSING
from dpbandits.config.documents import as_list
from dpbandits.errors import InputError
from dpbandits.pages.contents import FigureGroup
from dpbandits.pages.published import read_table
from dpbandits.pages.site.charts import (
    Json,
    look,
    panel_charts,
    residual_panels,
    variants_of,
    with_digitised,
)
from dpbandits.pages.site.model import Site, figure_address
from dpbandits.pages.verdicts import MEANINGS, OUTCOMES, Values
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import EXTRA, rule_name
from dpbandits.reporting.palette import look_of
from dpbandits.reporting.spec import panel_stem
from dpbandits.reporting.tables import cells_of
from dpbandits.reporting.text import plain_label as plain
from dpbandits.reporting.text import readable

Page = tuple[str, str, Values]
"""Template, address, and what the template shows."""

AUDIT = "privacy-audit"
"""The comparison across papers that has a page of its own, as choosing has."""

AUDITED = ("name", "verdict", "stated", "bound", "claim_in_words", "share")
"""Columns of its table that are read first, in this order."""


def front_page(site: Site) -> Page:
    """Return the front page: the answer, the figures, the papers, the words."""
    papers = [site.paper(paper) for paper in site.papers]
    values = {
        "title": "",
        "headline": site.headline,
        "papers": papers,
        "across": [site.paper(name) for name in site.comparisons],
        "findings": [each for paper in papers for each in paper["findings"] if each["headline"]],
    }
    return "front.html", "index.html", values


def paper_pages(site: Site) -> Iterator[Page]:
    """Yield the page of each paper and comparison."""
    for name in [*site.papers, *site.comparisons]:
        yield "paper.html", f"papers/{name}.html", site.paper(name) | {"tables": site.tables(name)}


# Figures


def figure_charts(site: Site, group: FigureGroup) -> list[Json]:
    """Return the views that a script switches between: variants, then residuals if any."""
    digitised = _digitised(site, group)
    views: list[Json] = []
    for name, figure in group.entries.items():
        charts = panel_charts(site, group.paper, figure)
        with_digitised(charts, digitised)
        label = variants_of(charts) or group.title
        views += [{"name": name, "label": label, "panels": charts}] if charts else []
    if views and (residuals := residual_panels(views[0]["panels"])):
        label = f"{views[0]['label']}, minus published"
        views.append({**views[0], "label": label, "panels": residuals, "residuals": True})
    return views


def _digitised(site: Site, group: FigureGroup) -> pd.DataFrame | None:
    """Return the digitised values of a figure, compared; None where there are none."""
    path = site.table_file(group.paper, "digitised", "csv")
    if path is None:
        return None
    table = pd.read_csv(path, keep_default_na=False, na_values=[""])
    of_figure = table[table["panel"].isin(group.stems)]
    return of_figure if len(of_figure) else None


Charts = Mapping[str, list[Json]]
"""Address of a figure -> what ``figure_charts`` has of it."""


def figure_page(site: Site, group: FigureGroup, charts: Charts) -> Page:
    """Return the page of a figure."""
    views = charts[figure_address(group)]
    digitised = _digitised(site, group)
    values = {
        "group": group,
        "title": group.heading,
        "of": site.paper(group.paper),
        "compare": [] if group.is_extra else group.panels,
        "views": views,
        "shown": [_shown(site, group, name, views) for name in group.entries],
        "digitised": [] if digitised is None else digitised.to_dict("records"),
        "entry": _entry(site.project, group),
        "rules": [rule_name(group.paper, name) for name in group.entries],
    }
    return "figure.html", figure_address(group), values


def _shown(site: Site, group: FigureGroup, name: str, views: list[Json]) -> Values:
    """Return the picture, the caption and the files of a figure in one variant."""
    figure = group.entries[name]
    files = [
        f"data/{group.paper}/{name}.{suffix}"
        for suffix in ("csv", "pdf")
        if site.figure_file(group.paper, name, suffix)
    ]
    picture = site.figure_file(group.paper, name, "png") and f"pictures/{group.paper}/{name}.png"
    charts: list[Json] = next((view["panels"] for view in views if view["name"] == name), [])
    return {
        "name": name,
        "caption": figure.caption,
        "files": files,
        "picture": picture,
        "charts": charts,
    }


def _entry(project: Project, group: FigureGroup) -> tuple[str, str]:
    """Return the config file of a figure, and its entries there as the file has them."""
    path = project.study(group.paper).path
    text = path.read_text(encoding="utf-8")
    patterns = (rf"^  {re.escape(name)}:.*\n(?:(?:    .*)?\n)*" for name in group.entries)
    entries = (re.search(pattern, text, re.MULTILINE) for pattern in patterns)
    shown = "\n\n".join(entry[0].rstrip() for entry in entries if entry)
    return path.relative_to(project.folder).as_posix(), shown


# Claims


def claim_pages(site: Site, charts: Charts) -> Iterator[Page]:
    """Yield the page of each claim; one that is newer than the published verdicts has none."""
    groups = {figure_address(group): group for group in site.groups}
    for paper in site.papers:
        about = site.paper(paper)
        for entry in site.project.study(paper).claims:
            if entry.id not in site.claims:
                continue
            claim = site.claims[entry.id]
            # The same panel in another variant has the same name.
            named: dict[str, str] = {}
            for path in claim["paths"]:
                if path in site.places:
                    named.setdefault(*site.places[path])
            drawn = (place for place in named.values() if place.startswith("figures/"))
            address, _, stem = next(drawn, "").partition("#")
            values = {
                "title": entry.id,
                "of": about,
                "claim": claim,
                "entry": entry,
                "places": [*named.items()],
                "group": groups.get(address),
                "stem": stem,
                "log": _clearer(groups.get(address), stem),
                "is_drawn": bool(charts.get(address)),
                "evidence": evidence_of(site, paper, entry.id),
                "findings": [each for each in about["findings"] if entry.id in each["claims"]],
            }
            yield "claim.html", f"claims/{entry.id}.html", values


def _clearer(group: FigureGroup | None, stem: str) -> str:
    """Return the axes that are logarithmic in the twin of a panel, which shows it more clearly."""
    twin = group.twin if group else None
    if group is None or twin is None or stem != group.contents.project.papers[group.paper].picture:
        return ""
    name, shown = twin
    for letter, panel in shown.first.panels.items():
        if panel_stem(shown.base, letter) == name:
            return "".join(axis for axis in "xy" if getattr(panel, axis).scale == "log")
    return ""


def evidence_of(site: Site, paper: str, name: str) -> list[Values]:
    """Return the comparisons behind a claim or finding, by variant and interpretation."""
    rows = site.evidence
    groups = rows[rows["claim"] == name].groupby(["variant", "interpretation"], sort=False)
    return [
        {
            "variant": variant,
            "interpretation": interpretation,
            "words": site.in_words(paper, str(interpretation)),
            "rows": own.to_dict("records"),
            "has_parts": bool((own["part"] != "").any()),
            "decided": {word: int((own["decided"] == word).sum()) for word in own["decided"]},
        }
        for (variant, interpretation), own in groups
    ]


def claims_page(site: Site) -> Page:
    """Return the index of all claims."""
    values = {
        "title": "Claims",
        "headline": site.headline,
        "size": len(site.claims),
        "papers": [site.paper(paper) for paper in site.papers],
        "kinds": list(dict.fromkeys(site.ledger["kind"])),
        "words": [word for word in VERDICTS if word in set(site.ledger["verdict"])],
    }
    return "claims.html", "claims.html", values


# Tables


def table_cells(site: Site, paper: str, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the numbers of a table that exists as csv, and the texts of its cells."""
    path = site.table_file(paper, name, "csv")
    assert path is not None, "tables of the site have a csv"
    numbers = read_table(path)
    for column in numbers.columns.intersection(["name", "choice"]):
        numbers[column] = [site.in_words(paper, each) for each in numbers[column]]
    table = site.project.study(paper).tables[name]
    try:
        if not table.rows:
            cells = cells_of(table, numbers, f"tables.{name}").rename(columns=plain)
            return numbers, cells
    except InputError:
        # A csv of an earlier entry, whose columns are others.
        pass
    return numbers, numbers.map(_text).rename(columns=lambda name: str(name).replace("_", " "))


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else readable(f"{value:.3g}")
    return readable(str(value))


LONG = 45
"""Mean length of the texts of a column that is at the right end of a table on a page."""


def table_pages(site: Site) -> Iterator[Page]:
    """Yield the page of each table."""
    for paper in [*site.papers, *site.comparisons]:
        for name in site.tables(paper):
            values = {"title": f"{paper}, table {name}", "of": site.paper(paper)}
            yield "table.html", f"tables/{paper}/{name}.html", values | _table(site, paper, name)


def _table(site: Site, paper: str, name: str, first: Sequence[str] = ()) -> Values:
    """Return what a page shows of a table: columns named first, then others, long texts last."""
    cells = table_cells(site, paper, name)[1]
    table = site.project.study(paper).tables[name]
    lengths = cells.astype(str).map(len).mean()
    named = {
        column.label: first.index(column.name) for column in table.columns if column.name in first
    }
    places = [(named.get(str(head), len(first)), length > LONG) for head, length in lengths.items()]
    # Two columns may have one head.
    cells = cells.iloc[:, sorted(range(len(places)), key=places.__getitem__)]
    suffixes = ("csv", "tex", "tabular")
    files = [path for suffix in suffixes if (path := site.table_file(paper, name, suffix))]
    return {
        "caption": table.caption,
        "columns": list(cells.columns),
        "rows": cells.to_numpy().tolist(),
        "files": [f"data/{paper}/{path.name}" for path in files],
    }


# Across the papers


WRITTEN = {
    "choosing": "choosing.html",
    "audit": "audit.html",
    "method": "method.html",
    "deviations": "interpretations.html",
    "privacy-witnesses": "privacy-witnesses.html",
}
"""Document of ``docs`` -> the page that has it as HTML."""

_OTHERS = {"claims.md": "claims.html", "errata.md": "errata.html"}
"""Documents of which the site has more than the text."""


def written_pages(site: Site, links: Mapping[str, str]) -> Iterator[Page]:
    """Yield the pages of documents; those on a comparison have its figures.

    Args:
        site: the site.
        links: id of a claim, finding or erratum -> its place in the site.
    """
    comparisons = {"choosing": CHOOSING, "audit": AUDIT}
    for name, address in WRITTEN.items():
        path = site.project.folder / f"docs/{name}.md"
        comparison = comparisons.get(name)
        if not path.exists() or comparison not in [None, *site.comparisons]:
            continue
        title, _, text = path.read_text(encoding="utf-8").partition("\n")
        values = {
            "extras": site.figures(comparison) if comparison else [],
            "title": title.removeprefix("# "),
            "body": _as_html(site, text, links),
            "audit": _audit(site) if comparison == AUDIT else None,
        }
        yield "written.html", address, values


def _as_html(site: Site, text: str, links: Mapping[str, str]) -> Markup:
    """Return a document as HTML; of the docs it links to what the site has."""
    of_ids = {name.lower(): place for name, place in links.items()}

    def link(match: re.Match[str]) -> str:
        path, _, part = match[1].partition("#")
        name, _, suffix = path.rpartition(".")
        if not path or "://" in path:
            place = match[1]
        elif suffix == "md":
            place = of_ids.get(part) or _OTHERS.get(path) or WRITTEN.get(name, "")
            place += f"#{part}" if part and name in WRITTEN else ""
        else:
            place = site.places.get(f"docs/{path}", ("", ""))[1]
        return f'<a href="{place}">{match[2]}</a>' if place else match[2]

    extras = ["code-friendly", "cuddled-lists", "fenced-code-blocks", "header-ids", "tables"]
    html = markdown2.markdown(re.sub("<!--.*?-->", "", text), extras=extras)
    html = re.sub(r'<a href="([^"]*)">(.*?)</a>', link, html, flags=re.DOTALL)
    html = html.replace('src="figures/', 'src="pictures/').replace("</table>", "</table></div>")
    wide = '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'
    return Markup(html.replace("<table>", wide))


def _audit(site: Site) -> Values:
    """Return the table of the privacy audit, and which guarantees it exceeds."""
    numbers, _ = table_cells(site, AUDIT, "extra-audit")
    refuted = numbers[numbers["verdict"] == "fails"]
    return {
        "table": _table(site, AUDIT, "extra-audit", AUDITED),
        "size": len(numbers),
        "counts": numbers["verdict"].value_counts().to_dict(),
        "refuted": [*refuted.groupby("stated", sort=False)["name"].unique().items()],
    }


def algorithms_page(site: Site) -> Page:
    """Return the page of all algorithms."""
    tables = [
        (paper, name, *cells)
        for paper in site.comparisons
        for name in site.tables(paper)
        if "algorithm" in (cells := table_cells(site, paper, name))[0]
    ]
    algorithms = [_algorithm(site, each, tables) for each in REGISTRY.values()]
    return "algorithms.html", "algorithms.html", {"title": "Algorithms", "algorithms": algorithms}


def _algorithm(site: Site, definition: Definition, tables: list[tuple[Any, ...]]) -> Values:
    in_tables = []
    for paper, name, numbers, cells in tables:
        is_own = numbers["algorithm"].isin([definition.id, definition.name])
        rows = cells[is_own.to_numpy()].to_numpy().tolist()
        if rows:
            title = (
                f"{site.project.study(paper).title}: {name.removeprefix(EXTRA).replace('-', ' ')}"
            )
            in_tables.append((title, f"tables/{paper}/{name}.html", len(rows)))
    return {
        "id": definition.id,
        "name": definition.name,
        "source": definition.paper,
        "look": look(look_of(definition.id)),
        "parameters": list(definition.parameters),
        "variants": definition.variants,
        "interpretations": {
            name: (values[0], values[1:]) for name, values in definition.interpretations.items()
        },
        "presets": {name: dict(values) for name, values in definition.presets.items()},
        "guarantees": [
            line.removeprefix("guarantee ").split(": ", 1) for line in listed(definition)
        ],
        "figures": [
            (f"{group.paper}, {group.head}", figure_address(group))
            for group in site.groups
            if _draws(group, definition.id)
        ],
        "tables": in_tables,
    }


def _draws(group: FigureGroup, algorithm: str) -> bool:
    """Return whether the config gives a line of a figure to an algorithm."""
    panels = [panel for entry in group.entries.values() for panel in entry.panels.values()]
    chosen = [{**panel.where, **line.where} for panel in panels for line in panel.series]
    return any(algorithm in as_list(where.get("algorithm")) for where in chosen)


# Findings, errata, data, about


def findings_page(site: Site) -> Page:
    """Return the page of findings."""
    papers = [site.paper(paper) for paper in site.papers]
    for paper in papers:
        folders = dict.fromkeys(site.project.study(paper["name"]).tables, "tables")
        for finding in paper["findings"]:
            paths = (
                f"docs/tables/{paper['name']}/{name}.csv"
                if name in folders
                else f"docs/figures/{paper['name']}/{name}.png"
                for name in finding["figure"]
            )
            finding["places"] = [site.places[path] for path in paths if path in site.places]
            finding["evidence"] = evidence_of(site, paper["name"], finding["id"])
    return "findings.html", "findings.html", {"title": "Findings", "papers": papers}


def errata_page(site: Site) -> Page:
    """Return the page of errata."""
    papers = [site.paper(paper) for paper in site.papers]
    return "errata.html", "errata.html", {"title": "Errata of the papers", "papers": papers}


def data_page(site: Site, sizes: dict[str, int]) -> Page:
    """Return the page of all files of numbers, given their sizes by address."""
    files: dict[str, list[tuple[str, int]]] = {}
    for address, size in sorted(sizes.items()):
        files.setdefault(address.split("/")[1], []).append((address, size))
    order = [name for name in [*site.papers, *site.comparisons] if name in files]
    values = {
        "title": "Data",
        "files": [(name, site.project.study(name).title, files[name]) for name in order],
        "columns": COMPARISON_COLUMNS,
    }
    return "data.html", "data.html", values


def about_page(site: Site) -> Page:
    """Return the page on verdicts, error rates, what is not judged, and how to cite."""
    notes = [(paper, site.project.study(paper).notes) for paper in site.papers]
    values = {"title": "About", "meanings": {**MEANINGS, **OUTCOMES}, "notes": notes}
    return "about.html", "about.html", values | site.certainty | {"alpha": ALPHA}


def search_page(site: Site) -> Page:
    """Return the page that searches papers, figures, claims, findings, errata and algorithms."""
    papers = [site.paper(name) for name in [*site.papers, *site.comparisons]]
    found = [
        ("paper", f"{paper['name']}: {paper['title']}", f"papers/{paper['name']}.html", "")
        for paper in papers
    ]
    for group in site.groups:
        text = " ".join([group.message, *(entry.caption for entry in group.entries.values())])
        title = f"{group.paper}, {group.heading}"
        found.append(("figure", title, figure_address(group), text))
    for paper in papers:
        for claim in paper.get("claims", ()):
            title = f"{claim['id']}: {claim['statement']}"
            text = f"{claim['place']}. {in_short(claim)}"
            found.append(("claim", title, f"claims/{claim['id']}.html", text))
        for finding in paper.get("findings", ()):
            name, text = finding["id"], finding["statement"]
            found.append(("finding", f"{name}: {finding['title']}", f"findings.html#{name}", text))
        for entry in paper.get("errata", ()):
            title = f"{entry['id']}: {paper['name']}, {entry['place']}"
            found.append(("erratum", title, f"errata.html#{entry['id']}", entry["printed"]))
    for definition in REGISTRY.values():
        title = f"{definition.name} ({definition.id})"
        found.append(("algorithm", title, f"algorithms.html#{definition.id}", definition.paper))
    return "search.html", "search.html", {"title": "Search", "found": found}


def in_short(claim: Values) -> str:
    """Return the answer to whether a claim is so, in a few words."""
    answer = str(claim["short"])
    return answer[:1].upper() + answer[1:]


def citation(project: Project) -> Values:
    """Return the citation file: its text, and what it says of this project and of the papers."""
    text = (project.folder / "CITATION.cff").read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    works = [document, *document.get("references", [])]
    references = [
        f"{_authors(work, ', ')} ({_year(work)}). {work['title']}"
        f"{', version ' + work['version'] if 'version' in work else ''}. "
        + ". ".join(str(work[key]) for key in ("collection-title", "notes") if key in work)
        for work in works
    ]
    known = {key: document[key] for key in ("title", "abstract", "version")}
    return known | {
        "text": text,
        "references": references,
        "bibtex": "\n\n".join(map(_bibtex, works)),
    }


def _authors(work: Values, between: str) -> str:
    names = [
        each.get("name") or " ".join(filter(None, [each.get("given-names"), each["family-names"]]))
        for each in work["authors"]
    ]
    return between.join(names)


def _year(work: Values) -> str:
    return str(work.get("year") or str(work["date-released"])[:4])


def _bibtex(work: Values) -> str:
    first = work["authors"][0]
    name = (first.get("family-names") or work["title"].partition(":")[0]).split()[-1].lower()
    authors = _authors(work, " and ")
    fields = {
        "author": f"{{{authors}}}" if "name" in first else authors,
        "title": f"{{{work['title']}}}",
        "year": _year(work),
        "booktitle": work.get("collection-title"),
        "version": work.get("version"),
        "note": work.get("notes"),
    }
    kind = "inproceedings" if fields["booktitle"] else "misc"
    lines = [f"  {key} = {{{value}}}," for key, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{name}{_year(work)},", *lines, "}"])
