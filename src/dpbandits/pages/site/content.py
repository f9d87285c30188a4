"""The pages of the site: the template and the values of each, by its address."""

import re
from collections.abc import Iterator, Mapping, Sequence

import markdown2
import pandas as pd
import yaml
from markupsafe import Markup

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.base import Definition
from dpbandits.algorithms.guarantees import listed
from dpbandits.claims.tables import COMPARISON_COLUMNS
from dpbandits.claims.verdict import VERDICTS
from dpbandits.comparisons.field import COMPARISON as CHOOSING
from dpbandits.config.claims import CLAIM_KINDS
from dpbandits.config.documents import as_list
from dpbandits.errors import InputError
from dpbandits.pages.contents import ERRORS, FigureGroup
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
from dpbandits.pages.verdicts import MEANINGS, Values
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import EXTRA, rule_name
from dpbandits.reporting.palette import look_of
from dpbandits.reporting.tables import cells_of
from dpbandits.reporting.text import plain_label as plain
from dpbandits.reporting.text import readable

Page = tuple[str, str, Values]
"""Template, address, and what the template shows."""

AUDIT = "privacy-audit"
"""The comparison across papers that has a page of its own, as choosing has."""

AUDITED = ("name", "verdict", "stated", "bound", "claim_in_words", "share")
"""Columns of its table that are read first, in this order."""


Charts = Mapping[str, list[Json]]
"""Address of a figure -> what ``figure_charts`` has of it."""


def pages(site: Site, charts: Charts, sizes: Mapping[str, int]) -> Iterator[Page]:
    """Yield every page but that on switches; each file of numbers has a size, by its address."""
    yield "front.html", "index.html", {"title": "", "meanings": MEANINGS}
    for name in site.shelves:
        yield "paper.html", f"papers/{name}.html", site.paper(name) | {"tables": site.tables(name)}
    for group in site.groups:
        yield "figure.html", figure_address(group), _figure(site, group, charts)
    yield from _claim_pages(site, charts)
    yield from _table_pages(site)
    yield from _written_pages(site)
    single: dict[str, Values] = {
        "claims": {
            "title": "Claims",
            "kinds": CLAIM_KINDS,
            "words": [word for word in VERDICTS if word in set(site.ledger["verdict"])],
        },
        "algorithms": {
            "title": "Algorithms",
            "algorithms": _algorithms(site),
            "scripts": ["charts.js"],
        },
        "findings": {"title": "Findings"},
        "errata": {"title": "Errata of the papers", "errors": ERRORS},
        "data": {"title": "Data", "files": _files(site, sizes), "columns": COMPARISON_COLUMNS},
        "about": {"title": "About", "meanings": MEANINGS},
        "search": {"title": "Search", "found": [*_found(site)]},
    }
    for name, values in single.items():
        yield f"{name}.html", f"{name}.html", values


# Figures


def figure_charts(site: Site, group: FigureGroup) -> list[Json]:
    """Return the views that a script switches between: variants, then residuals if any."""
    digitised = site.digitised(group)
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


def chart_scripts(group: FigureGroup) -> list[str]:
    """Return the scripts of a page that draws a figure."""
    return ["charts.js", f"charts/{group.paper}/{group.base}.js"]


def _figure(site: Site, group: FigureGroup, charts: Charts) -> Values:
    views = charts[figure_address(group)]
    return {
        "group": group,
        "title": group.heading,
        "of": site.paper(group.paper),
        "views": views,
        "drawn": {view["name"]: view["panels"] for view in views if "residuals" not in view},
        "digitised": site.digitised(group).to_dict("records"),
        "entry": _entry(site.project, group),
        "rules": [rule_name(group.paper, name) for name in group.entries],
        "scripts": chart_scripts(group) if views else [],
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


def _claim_pages(site: Site, charts: Charts) -> Iterator[Page]:
    """Yield the page of each claim that is judged."""
    groups = {figure_address(group): group for group in site.groups}
    for paper in site.papers:
        about = site.paper(paper)
        for claim in about["claims"]:
            # The same panel in another variant has the same name.
            named: dict[str, str] = {}
            for name, place in site.shown(paper, claim.entry.figure):
                named.setdefault(name, place)
            drawn = (place for place in named.values() if place.startswith("figures/"))
            address, _, stem = next(drawn, "").partition("#")
            group = groups.get(address)
            values = {
                "title": claim.id,
                "of": about,
                "claim": claim,
                "places": [*named.items()],
                "group": group,
                "stem": stem,
                "scripts": chart_scripts(group) if group and charts[address] else [],
            }
            yield "claim.html", f"claims/{claim.id}.html", values


# Tables


def table_cells(site: Site, paper: str, name: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the numbers of a table that exists as csv, and the texts of its cells."""
    numbers = read_table(site.files(paper, name, is_table=True)["csv"])
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


def _table_pages(site: Site) -> Iterator[Page]:
    """Yield the page of each table."""
    for paper in site.shelves:
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
    return {
        "caption": table.caption,
        "columns": list(cells.columns),
        "rows": cells.to_numpy().tolist(),
        "files": site.downloads(paper, name, is_table=True),
    }


# Across the papers


WRITTEN = {
    "choosing": "choosing.html",
    "audit": "audit.html",
    "method": "method.html",
    "deviations": "interpretations.html",
}
"""Document of ``docs`` -> the page that has it as HTML."""

_OTHERS = {"claims.md": "claims.html", "errata.md": "errata.html"}
"""Documents of which the site has more than the text."""


def _written_pages(site: Site) -> Iterator[Page]:
    """Yield the pages of documents; those on a comparison have its figures."""
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
            "body": _as_html(site, text),
            "audit": _audit(site) if comparison == AUDIT else None,
        }
        yield "written.html", address, values


def _as_html(site: Site, text: str) -> Markup:
    """Return a document as HTML; of the docs it links to what the site has."""
    of_ids = {name.lower(): place for name, place in site.links.items()}

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
    refuted = numbers[numbers["verdict"] == "counterexample"]
    return {
        "table": _table(site, AUDIT, "extra-audit", AUDITED),
        "size": len(numbers),
        "counts": numbers["verdict"].value_counts().to_dict(),
        "refuted": [*refuted.groupby("stated", sort=False)["name"].unique().items()],
    }


def _algorithms(site: Site) -> list[Values]:
    """Return what the page of algorithms shows of each."""
    tables = [
        (paper, name, table)
        for paper in site.comparisons
        for name in site.tables(paper)
        if "algorithm" in (table := table_cells(site, paper, name)[0])
    ]
    return [_algorithm(site, definition, tables) for definition in REGISTRY.values()]


def _algorithm(
    site: Site, definition: Definition, tables: list[tuple[str, str, pd.DataFrame]]
) -> Values:
    in_tables = []
    for paper, name, table in tables:
        if size := int(table["algorithm"].isin([definition.id, definition.name]).sum()):
            title = name.removeprefix(EXTRA).replace("-", " ")
            title = f"{site.project.study(paper).title}: {title}"
            in_tables.append((title, f"tables/{paper}/{name}.html", size))
    return {
        "own": definition,
        "look": look(look_of(definition.id)),
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


# Data, search, citation


def _files(site: Site, sizes: Mapping[str, int]) -> dict[str, list[tuple[str, int]]]:
    """Return the files of numbers of each paper and comparison, with their sizes."""
    files: dict[str, list[tuple[str, int]]] = {}
    for address, size in sorted(sizes.items()):
        files.setdefault(address.split("/")[1], []).append((address, size))
    return {name: files[name] for name in site.shelves if name in files}


def _found(site: Site) -> Iterator[tuple[str, str, str, str]]:
    """Yield all that can be searched: kind, title, address, text."""
    papers = [site.paper(name) for name in site.shelves]
    for paper in papers:
        yield "paper", f"{paper['name']}: {paper['title']}", f"papers/{paper['name']}.html", ""
    for group in site.groups:
        text = " ".join([group.message, *(entry.caption for entry in group.entries.values())])
        yield "figure", f"{group.paper}, {group.heading}", figure_address(group), text
    for paper in papers:
        for claim in paper.get("claims", ()):
            text = f"{claim.entry.place}. {claim.word}"
            yield "claim", f"{claim.id}: {claim.entry.says}", f"claims/{claim.id}.html", text
        for finding in paper.get("findings", ()):
            title, text = finding.texts
            yield "finding", f"{finding.id}: {title}", f"findings.html#{finding.id}", text
        for entry in (each for own in paper.get("errata", {}).values() for each in own):
            name, title = entry["id"], f"{entry['id']}: {paper['name']}, {entry['place']}"
            yield "erratum", title, f"errata.html#{name}", entry["printed"]
    for definition in REGISTRY.values():
        title = f"{definition.name} ({definition.id})"
        yield "algorithm", title, f"algorithms.html#{definition.id}", definition.paper


def citation(project: Project) -> Values:
    """Return the citation file: its text, and what it says of this project and of the papers."""
    text = (project.folder / "CITATION.cff").read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    works = [document, *document.get("references", [])]
    cited = [*map(_cited, works)]
    return {
        **{key: document[key] for key in ("title", "abstract", "version")},
        "text": text,
        "references": [reference for reference, _ in cited],
        "bibtex": "\n\n".join(entry for _, entry in cited),
    }


def _cited(work: Values) -> tuple[str, str]:
    """Return how a work is cited in text, and in BibTeX."""
    authors = [
        each.get("name") or " ".join(filter(None, [each.get("given-names"), each["family-names"]]))
        for each in work["authors"]
    ]
    year, version = work.get("year") or str(work["date-released"])[:4], work.get("version")
    proceedings, note = work.get("collection-title"), work.get("notes")
    reference = f"{', '.join(authors)} ({year}). {work['title']}"
    reference += f", version {version}. " if version else ". "
    reference += ". ".join(filter(None, [proceedings, note]))
    first, together = work["authors"][0], " and ".join(authors)
    name = (first.get("family-names") or work["title"].partition(":")[0]).split()[-1].lower()
    fields = {
        "author": f"{{{together}}}" if "name" in first else together,
        "title": f"{{{work['title']}}}",
        "year": year,
        "booktitle": proceedings,
        "version": version,
        "note": note,
    }
    kind = "inproceedings" if proceedings else "misc"
    lines = [f"  {key} = {{{value}}}," for key, value in fields.items() if value]
    return reference, "\n".join([f"@{kind}{{{name}{year},", *lines, "}"])
