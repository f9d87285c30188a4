"""`CITATION.cff`, `codemeta.json` and `.zenodo.json`: the published papers, from `paper.yaml`.

What is said of the project itself is written by hand in `CITATION.cff`, above its references, and
in those keys of the other two that it does not have.
"""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from dpbandits.errors import InputError
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.study import PaperFile

CITATION = "CITATION.cff"
REFERENCES = "references:\n"
"""The last key of ``CITATION.cff``."""


def citation_page(project: Project, text: str) -> str:
    """Return the citation with the references of the published papers.

    Raises:
        InputError: the key ``references`` is missing.
    """
    head, mark, _ = text.partition(f"\n{REFERENCES}")
    if not mark:
        raise InputError(f"{CITATION}: key references is missing; allowed: the last key")
    references = [_reference(paper) for paper in _published(project)]
    written = yaml.safe_dump(references, sort_keys=False, allow_unicode=True, width=200)
    indented = "".join(f"  {line}\n" for line in written.splitlines())
    return f"{head}\n{REFERENCES}{indented}"


def codemeta_page(project: Project, text: str) -> str:
    """Return the description of the software with its publications."""
    cited = _citation(project)
    own = {
        "name": cited["title"],
        "description": cited["abstract"],
        "version": cited["version"],
        "datePublished": str(cited["date-released"]),
        "keywords": cited["keywords"],
        "referencePublication": [
            {"@type": "ScholarlyArticle", "identifier": identifier(paper), "name": paper.title}
            for paper in _published(project)
        ],
    }
    return _with(text, own)


def zenodo_page(project: Project, text: str) -> str:
    """Return the record for Zenodo with the papers that it refers to."""
    cited = _citation(project)
    kind = {"relation": "references", "resource_type": "publication-article"}
    own = {
        "title": cited["title"],
        "description": cited["abstract"],
        "version": cited["version"],
        "publication_date": str(cited["date-released"]),
        "keywords": cited["keywords"],
        "related_identifiers": [
            {"identifier": identifier(paper), **kind} for paper in _published(project)
        ],
    }
    return _with(text, own)


def identifier(paper: PaperFile) -> str:
    """Return by what a paper is found: its number on arXiv, or its DOI, or nothing."""
    return f"arXiv:{paper.arxiv}" if paper.arxiv else paper.doi or ""


def _published(project: Project) -> list[PaperFile]:
    return [paper for paper in project.papers.values() if paper.is_published]


def _citation(project: Project) -> Mapping[str, Any]:
    text = (project.folder / CITATION).read_text(encoding="utf-8")
    cited: Mapping[str, Any] = yaml.safe_load(text)
    return cited


def _with(text: str, own: Mapping[str, Any]) -> str:
    """Return a JSON document with other values of some keys."""
    return json.dumps(json.loads(text) | dict(own), indent=2, ensure_ascii=False) + "\n"


def _reference(paper: PaperFile) -> dict[str, Any]:
    """Return a paper as the Citation File Format has it."""
    names = [{"family-names": each.family, "given-names": each.given} for each in paper.authors]
    authors = [{key: name for key, name in each.items() if name} for each in names]
    found = {
        "type": "conference-paper" if paper.proceedings else "article",
        "title": paper.title,
        "authors": authors,
        "collection-title": paper.proceedings,
        "year": paper.year,
        "doi": paper.doi,
        "notes": f"arXiv:{paper.arxiv}" if paper.arxiv else None,
    }
    return {key: value for key, value in found.items() if value}
