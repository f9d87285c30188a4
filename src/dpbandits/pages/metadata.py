"""The references of `CITATION.cff`: the published papers, from `paper.yaml`.

What is said of the project itself is written by hand above them.
"""

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


def _published(project: Project) -> list[PaperFile]:
    return [paper for paper in project.papers.values() if paper.is_published]


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
