"""`config/papers/NAME/paper.yaml`: what is known of a paper itself; a paper is found by it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from dpbandits.engine.documents import load_document
from dpbandits.engine.models import Allowed, Count, OneOf, Sentence, Spec, Text
from dpbandits.errors import InputError

PAPERS = Path("config/papers")
"""Folder of the papers, each in a folder of its short name."""

PUBLISHED, DRAFT = "published", "draft"

Panel = Annotated[str, Field(pattern="^fig[0-9]+[a-j]?$"), Allowed("a figure or panel")]
Shown = Annotated[str, Field(pattern="^[A-Z][^\n]*[.]$"), Allowed("one sentence")]


class Author(Spec):
    """One author."""

    family: Text
    given: Text | None = None


class PaperFile(Spec):
    """config/papers/PAPER/paper.yaml: what is known of the paper itself.

    Attributes:
        title: as published.
        short_title: where the title is long.
        authors: in their order.
        year: of publication.
        venue: short name of the conference or journal; none for a preprint.
        proceedings: its long name.
        arxiv: number on arXiv.
        doi: digital object identifier.
        order: place among the papers; those of one place are in the order of their names.
        state: a draft is built where it is chosen, and is in no page, count or citation.
        summary: sums up what came out, as ``summary`` of the findings, which it is by default.
        panels: what each panel of the paper's figures shows.
    """

    title: Sentence
    short_title: Sentence | None = None
    authors: Annotated[tuple[Author, ...], Field(min_length=1)]
    year: Annotated[int, Field(strict=True, ge=1900, le=2200), Allowed("a year")]
    venue: Text | None = None
    proceedings: Sentence | None = None
    arxiv: Annotated[str, Field(pattern=r"^\d{4}\.\d{4,5}$"), Allowed("such as 2407.14879")] | (
        None
    ) = None
    doi: Annotated[str, Field(pattern=r"^10\.\d+/\S+$"), Allowed("a DOI, 10.NUMBER/NAME")] | (
        None
    ) = None
    order: Count = 1000
    state: Annotated[str, OneOf((PUBLISHED, DRAFT))] = DRAFT
    summary: dict[str, Any] | None = None
    panels: dict[Panel, Shown] = Field(default={})

    @property
    def is_published(self) -> bool:
        """Whether it is in the pages, the counts and the citations."""
        return self.state == PUBLISHED

    @property
    def credit(self) -> str:
        """The families of the authors, the venue and the year: ``A, B and C, ICML 2025``."""
        families = joined([author.family for author in self.authors])
        return f"{families}, {f'{self.venue} ' if self.venue else ''}{self.year}"


def joined(words: Sequence[str]) -> str:
    """Return words with commas, and ``and`` before the last."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def found_papers(folder: Path) -> Mapping[str, PaperFile]:
    """Return the papers of a project by short name, in their order.

    Args:
        folder: of the project.

    Raises:
        InputError: a folder of ``config/papers`` has no ``paper.yaml``, or one that is not as it
            must be.
    """
    folders = sorted(each for each in (folder / PAPERS).glob("[!._]*") if each.is_dir())
    papers = {each.name: load_document(each / "paper.yaml", PaperFile) for each in folders}
    if not papers:
        raise InputError(f"{folder / PAPERS}: has no paper; allowed: a folder for each")
    return dict(sorted(papers.items(), key=lambda item: (item[1].order, item[0])))
