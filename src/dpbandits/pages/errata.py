"""`docs/errata.md`: what is printed wrong or left open, with the published numbers that show it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpbandits.engine.documents import load_document
from dpbandits.pages.published_numbers import evidence_path, filled, link
from dpbandits.pages.render import render
from dpbandits.papers import PAPERS
from dpbandits.project.config import Project

SCHEMA = Path("workflow/schemas/errata.schema.yaml")

KINDS = {
    "error": "printed error",
    "open": "left open",
    "code": "text and code differ",
    "loose": "loose bound",
    "editions": "editions differ",
    "extension": "supplementary",
    "proof": "proof does not cover",
}


def load_errata(project: Project, paper: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the entries of a paper's `errata.yaml` by id, checked; none without the file.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    path = project.config_path(paper, "errata")
    if not path.exists():
        return {}
    entries: Mapping[str, Mapping[str, Any]]
    entries = load_document(path, project.folder / SCHEMA)["errata"]
    return entries


def errata_page(project: Project) -> str:
    """Return the page as the published numbers have it.

    Raises:
        InputError: a number is not published.
    """
    papers = [paper for paper in PAPERS if evidence_path(project, paper).exists()]
    return render("errata.md", papers=[_paper(project, paper) for paper in papers])


def _paper(project: Project, paper: str) -> dict[str, Any]:
    experiments = project.experiments(paper)
    entries = [
        {
            **entry,
            "id": name,
            "kind": KINDS[entry["kind"]],
            "found": found_text(project, paper, name, entry),
            "links": dict.fromkeys(link(source) for source in entry["numbers"].values()),
        }
        for name, entry in load_errata(project, paper).items()
    ]
    return {
        "name": paper,
        "title": experiments.title,
        "authors": experiments.authors,
        "entries": entries,
    }


def found_text(project: Project, paper: str, name: str, entry: Mapping[str, Any]) -> str:
    """Return what is computed, in words, with the published numbers filled in.

    Raises:
        InputError: the text names a number that is not given, or the reverse, or a number is not
            published.
    """
    place = f"{project.config_path(paper, 'errata')}: {name}"
    return filled(project, paper, entry["found"], entry["numbers"], place)
