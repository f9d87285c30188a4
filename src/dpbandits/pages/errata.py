"""`docs/errata.md`: what is printed wrong or left open, with the published numbers that show it."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, field_validator

from dpbandits.claims.docket import NumberSource
from dpbandits.config.documents import Sentence, Spec, load_document, one_of
from dpbandits.errors import InputError
from dpbandits.pages.published_numbers import evidence_path, filled, link
from dpbandits.pages.render import render
from dpbandits.pipeline.check import check_sentences
from dpbandits.pipeline.project import Project

KINDS = {
    "error": "printed error",
    "open": "left open",
    "code": "text and code differ",
    "loose": "loose bound",
    "editions": "editions differ",
    "extension": "supplementary",
    "proof": "proof does not cover",
}


class Erratum(Spec):
    """One entry: what is printed, what is computed and what is taken here."""

    place: Sentence
    kind: Annotated[str, one_of(KINDS)]
    printed: Sentence
    found: Sentence
    taken: Sentence
    numbers: dict[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], NumberSource]

    @field_validator("numbers")
    @classmethod
    def _name_their_claims(cls, numbers: dict[str, NumberSource]) -> dict[str, NumberSource]:
        for key, source in numbers.items():
            if source.comparison and not source.claim:
                raise InputError(f"{key}: key claim is missing")
        return numbers


class ErrataFile(Spec):
    """config/papers/PAPER/errata.yaml: what is printed wrong or left open."""

    paper: str
    errata: Annotated[
        dict[Annotated[str, Field(pattern="^[A-Z]+-[A-Z]+[0-9]+$")], Erratum], Field(min_length=1)
    ]


def load_errata(project: Project, paper: str) -> Mapping[str, Erratum]:
    """Return the entries of a paper's `errata.yaml` by id, checked; none without the file.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    path = project.study(paper).config_path("errata")
    return load_document(path, ErrataFile).errata if path.exists() else {}


def errata_page(project: Project) -> str:
    """Return the page as the published numbers have it.

    Raises:
        InputError: a number is not published.
    """
    papers = [paper for paper in project.published if evidence_path(project, paper).exists()]
    return render("errata.md", papers=[_paper(project, paper) for paper in papers])


def _paper(project: Project, paper: str) -> dict[str, Any]:
    study = project.study(paper)
    entries = [
        {
            "id": name,
            "place": entry.place,
            "kind": KINDS[entry.kind],
            "printed": entry.printed,
            "taken": entry.taken,
            "found": found_text(project, paper, name, entry),
            "links": dict.fromkeys(link(source) for source in entry.numbers.values()),
        }
        for name, entry in load_errata(project, paper).items()
    ]
    return {
        "name": paper,
        "title": study.title,
        "authors": study.authors,
        "entries": entries,
    }


def found_text(project: Project, paper: str, name: str, entry: Erratum) -> str:
    """Return what is computed, in words, with the published numbers filled in.

    Raises:
        InputError: the text names a number that is not given, or the reverse, or a number is not
            published.
    """
    place = f"{project.study(paper).config_path('errata')}: {name}"
    return filled(project, paper, entry.found, entry.numbers, place)


def check_pages(project: Project) -> None:
    """Check the errata of the chosen papers, and that no sentence of theirs is missing.

    Raises:
        InputError: in one line, the file, the key and what is allowed.
    """
    for paper in project.built():
        if paper in project.papers:
            load_errata(project, paper)
            check_sentences(project.study(paper))
            project.study(paper).summary()
