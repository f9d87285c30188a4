"""The front page, the findings, the errata, what can be downloaded, and how to cite."""

from pathlib import Path
from typing import Any

import yaml

from dpbandits.errors import InputError
from dpbandits.pages.errata import KINDS, found_text, load_errata
from dpbandits.pages.published_numbers import filled
from dpbandits.pages.site.figures import badges
from dpbandits.pages.site.model import UNPUBLISHED, Site, counts
from dpbandits.pages.site.verdicts import evidence_of
from dpbandits.pipeline.project import Project

Values = dict[str, Any]


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
    return {"papers": papers, "across": across, "headlines": headlines}


def _paper(site: Site, paper: str) -> Values:
    study = site.project.study(paper)
    groups = [group for group in site.groups if group.paper == paper]
    return {
        "name": paper,
        "title": study.title,
        "authors": study.authors,
        "summary": _summary(site.project, paper),
        "counts": counts(site.ledger[site.ledger["paper"] == paper]),
        "claims": site.ledger.loc[site.ledger["paper"] == paper, "claim"].nunique(),
        "figures": [badges(site, group) for group in groups if not group.is_extra],
        "extras": [group for group in groups if group.is_extra],
        "tables": list(site.tables(paper).values()),
    }


def _summary(project: Project, paper: str) -> str:
    summary = project.study(paper).summary()
    place = f"{project.study(paper).findings_path}: summary"
    try:
        return filled(project, paper, summary.statement, summary.numbers, place)
    except InputError:
        return UNPUBLISHED


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
                        "evidence": evidence_of(site, finding.claim.id),
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
    found = []
    for name, entry in load_errata(site.project, paper).items():
        try:
            computed = found_text(site.project, paper, name, entry)
        except InputError:
            computed = UNPUBLISHED
        sources = [source.claim or Path(source.file).stem for source in entry.numbers.values()]
        found.append(
            {
                "id": name,
                "entry": entry,
                "kind": KINDS[entry.kind],
                "found": computed,
                "sources": list(dict.fromkeys(sources)),
            }
        )
    return found


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
