"""The pages but those of figures: front, claims, tables, algorithms, errata, which one to take."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.base import Definition
from dpbandits.algorithms.guarantees import listed
from dpbandits.claims.ledger import ALONE, EXACT, IN_FAMILY
from dpbandits.claims.verdict import ALPHA, VERDICTS
from dpbandits.comparisons.choosing.scores import COMPARISON
from dpbandits.config.documents import as_list
from dpbandits.errors import InputError
from dpbandits.pages.choosing import page_values, published
from dpbandits.pages.contents import headline
from dpbandits.pages.render import plain
from dpbandits.pages.site.figures import badges, look
from dpbandits.pages.site.model import (
    Site,
    claim_values,
    claims_of,
    counts,
    evidence_of,
    table_address,
)
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import TABLE, Target
from dpbandits.reporting.palette import look_of
from dpbandits.reporting.tables import cells_of
from dpbandits.reporting.text import readable


@dataclass(frozen=True, eq=False)
class Shown:
    """A table.

    Attributes:
        numbers: its csv.
        cells: the texts of its cells, row by row as in the csv.
    """

    numbers: pd.DataFrame
    cells: pd.DataFrame


def shown_cells(site: Site, target: Target) -> Shown:
    """Return a table that exists as csv."""
    path = site.sources.path(target, target.name, "csv")
    assert path is not None, "targets of the site have a csv"
    numbers = pd.read_csv(path, keep_default_na=False, na_values=[""])
    table = site.project.study(target.paper).tables[target.name]
    try:
        if table.rows:
            return Shown(numbers, _readable(numbers))
        cells = cells_of(table, numbers, f"tables.{target.name}")
    except InputError:
        # A csv of an earlier entry, whose columns are others.
        cells = _readable(numbers)
    return Shown(numbers, cells.rename(columns=plain))


def _readable(numbers: pd.DataFrame) -> pd.DataFrame:
    return numbers.map(_text).rename(columns=lambda name: str(name).replace("_", " "))


def _text(value: object) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else readable(f"{value:.6g}")
    return readable(str(value))


def table_pages(site: Site) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the address of each table's page and what its template shows."""
    for target in site.sources.targets:
        if target.kind == TABLE:
            cells = shown_cells(site, target).cells
            suffixes = ("csv", "tex", "tabular")
            found = (site.sources.path(target, target.name, suffix) for suffix in suffixes)
            yield (
                table_address(target),
                {
                    "target": target,
                    "title": f"{target.paper}, table {target.name}",
                    "paper_title": site.title(target.paper),
                    "columns": list(cells.columns),
                    "rows": cells.to_numpy().tolist(),
                    "files": [f"data/{target.paper}/{path.name}" for path in found if path],
                },
            )


Values = dict[str, Any]

Compared = tuple[Target, Shown]
"""A table of a comparison across papers, and what it shows."""


def algorithms_page(site: Site) -> Values:
    """Return what the page shows."""
    tables = list(_tables(site))
    return {"algorithms": [_algorithm(site, each, tables) for each in REGISTRY.values()]}


def _algorithm(site: Site, definition: Definition, tables: Sequence[Compared]) -> Values:
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
        "figures": _drawn_in(site, definition.id),
        "tables": [rows for each in tables if (rows := _rows(site, each, definition))["rows"]],
    }


def _drawn_in(site: Site, algorithm: str) -> list[tuple[str, str]]:
    """Return title and address of the figures with a line that the config gives to an algorithm."""
    found = []
    for group in site.groups:
        figures = [site.project.study(each.paper).figures[each.name] for each in group.targets]
        panels = [panel for figure in figures for panel in figure.panels.values()]
        chosen = [{**panel.where, **line.where} for panel in panels for line in panel.series]
        if any(algorithm in as_list(where.get("algorithm")) for where in chosen):
            found.append((f"{group.paper}, {group.head}", group.address))
    return found


def _tables(site: Site) -> Iterator[Compared]:
    """Yield the tables that compare algorithms."""
    for paper in site.comparisons:
        for target in site.tables(paper).values():
            shown = shown_cells(site, target)
            if "algorithm" in shown.numbers:
                yield target, shown


def _rows(site: Site, compared: Compared, definition: Definition) -> Values:
    """Return the rows of an algorithm in a table that names algorithms by id or by name."""
    target, shown = compared
    is_own = shown.numbers["algorithm"].isin([definition.id, definition.name])
    return {
        "target": target,
        "title": site.title(target.paper),
        "columns": list(shown.cells.columns),
        "rows": shown.cells[is_own.to_numpy()].to_numpy().tolist(),
    }


ADDRESS = "choosing.html"

TITLE = "Which one"


def choosing_pages(site: Site) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield template, address and values of the page, where there is one."""
    found = published(site.project)
    figures = [group for group in site.groups if group.paper == COMPARISON]
    if found is not None and figures:
        values = {"title": TITLE, "in_menu": TITLE, "figures": figures, **page_values(found)}
        yield "choosing.html", ADDRESS, {**values, "tables": site.tables(COMPARISON)}


def claim_pages(site: Site) -> Iterator[tuple[str, Values]]:
    """Yield the address of each claim's page and what its template shows."""
    rows = dict(list(site.ledger.groupby("claim", sort=False)))
    for paper in site.papers:
        for claim in site.project.study(paper).claims:
            # A claim that is newer than the published verdicts has none.
            if claim.id in rows:
                values = claim_values(site, rows[claim.id])
                found = [each for each in site.findings[paper] if claim.id in each[0].beside]
                yield (
                    values["address"],
                    {
                        "claim": values,
                        "entry": claim,
                        "title": claim.id,
                        "paper_title": site.title(paper),
                        "arxiv": site.project.papers[paper].arxiv,
                        "reduced": site.project.papers[paper].reduced,
                        "answer": site.contents.claims(rows[claim.id])[0]["answer"],
                        "picture": _picture_of(site, values["figures"]),
                        "evidence": evidence_of(site, paper, claim.id),
                        "findings": [(each.claim.id, each.title) for each, _, _ in found],
                    },
                )


def _picture_of(site: Site, figures: list[tuple[str, str]]) -> Values | None:
    """Return the picture of the first figure that a claim is about; None where none shows it."""
    by_address = {group.address: group for group in site.groups}
    for title, address in figures:
        page, _, stem = address.partition("#")
        group = by_address.get(page)
        if group is not None:
            name = next(each.name for each in group.targets if stem.startswith(each.name[:4]))
            names = [each.name for each in group.targets]
            name = stem if stem in names else name
            file = f"pictures/{group.paper}/{name}.png"
            return {"address": address, "file": file, "alt": f"{title} of {group.paper}"}
    return None


def search_page(site: Site) -> Values:
    """Return what the page of all claims shows."""
    random = site.ledger[site.ledger["level"].notna()]
    claims = claims_of(site, site.ledger)
    return {
        "claims": claims,
        "papers": [
            (paper, site.title(paper), site.project.study(paper).notes) for paper in site.papers
        ],
        "kinds": list(dict.fromkeys(claim["kind"] for claim in claims)),
        "words": [word for word in VERDICTS if word in set(site.ledger["verdict"])],
        "counts": {
            paper: counts(site.ledger[site.ledger["paper"] == paper]) for paper in site.papers
        },
        "random": len(random),
        "expected": float(random["level"].sum()),
        "rows": len(site.ledger),
        "in_family": int((random["family_wise"] == IN_FAMILY).sum()),
        "exact": int((site.ledger["family_wise"] == EXACT).sum()),
        "alone": int((random["family_wise"] == ALONE).sum()),
        "alpha": ALPHA,
    }


def front_page(site: Site) -> Values:
    """Return what the front page shows."""
    papers = [_paper(site, paper) for paper in site.papers]
    across = []
    for name in site.comparisons:
        group = next((each for each in site.groups if each.paper == name), None)
        if group is not None:
            caption = group.targets[0].caption
            across.append({"title": site.title(name), "caption": caption, **badges(site, group)})
    headlines = [
        (finding.claim.id, finding.title, statement)
        for paper in site.papers
        for finding, statement, _ in site.findings[paper]
        if finding.is_headline
    ]
    return {
        "headline": headline(site.ledger),
        "papers": papers,
        "across": across,
        "headlines": headlines,
    }


def _paper(site: Site, paper: str) -> Values:
    study = site.project.study(paper)
    groups = [group for group in site.groups if group.paper == paper]
    return {
        "name": paper,
        "title": study.title,
        "authors": study.authors,
        "arxiv": study.about and study.about.arxiv,
        "sentence": study.summary().sentence,
        "summary": site.contents.summary(paper),
        "counts": counts(site.ledger[site.ledger["paper"] == paper]),
        "claims": site.ledger.loc[site.ledger["paper"] == paper, "claim"].nunique(),
        "figures": [badges(site, group) for group in groups if not group.is_extra],
        "extras": [group for group in groups if group.is_extra],
        "tables": list(site.tables(paper).values()),
    }


def findings_page(site: Site) -> Values:
    """Return what the page of findings shows."""
    return {
        "papers": [
            {
                "name": paper,
                "title": site.title(paper),
                "findings": [
                    {
                        "finding": finding,
                        "statement": statement,
                        "words": outcome.split(", ") if outcome else [],
                        "figures": _shown_by(site, paper, finding.claim.figures),
                        "evidence": evidence_of(site, paper, finding.claim.id),
                    }
                    for finding, statement, outcome in site.findings[paper]
                ],
            }
            for paper in site.papers
        ]
    }


def _shown_by(site: Site, paper: str, names: tuple[str, ...]) -> list[tuple[str, str]]:
    tables = site.project.study(paper).tables
    paths = (
        f"docs/tables/{paper}/{name}.csv" if name in tables else f"docs/figures/{paper}/{name}.png"
        for name in names
    )
    return site.shown_by(" ".join(paths))


def errata_page(site: Site) -> Values:
    """Return what the page of errata shows."""
    return {
        "papers": [
            {"name": paper, "title": site.title(paper), "entries": _errata(site, paper)}
            for paper in site.papers
        ]
    }


def _errata(site: Site, paper: str) -> list[Values]:
    return [
        {
            **entry,
            "sources": list(
                dict.fromkeys(each.claim or Path(each.file).stem for each in entry["sources"])
            ),
        }
        for entry in site.contents.errata[paper]
    ]


def citation(project: Project) -> Values:
    """Return the citation file: its text, and what it says of this project and of the papers."""
    text = (project.folder / "CITATION.cff").read_text(encoding="utf-8")
    document = yaml.safe_load(text)
    works = [document, *document.get("references", [])]
    return {
        "text": text,
        "title": document["title"],
        "abstract": document["abstract"],
        "version": document["version"],
        "references": [reference(each) for each in works],
        "bibtex": "\n\n".join(_bibtex(each) for each in works),
    }


def reference(work: Values) -> str:
    """Return a work of a citation file as a line of a list of references."""
    where = [str(work[key]) for key in ("collection-title", "notes") if key in work]
    version = f", version {work['version']}" if "version" in work else ""
    return f"{_authors(work, ', ')} ({_year(work)}). {work['title']}{version}. {'. '.join(where)}"


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
