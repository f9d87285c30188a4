"""`config.yaml`, and `paper.yaml` of each paper: what is known of the paper itself."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictInt

from dpbandits.config.documents import Count, Different, Name, Sentence, Spec, Text
from dpbandits.config.figures import Looks

Chosen = Annotated[tuple[Name, ...], Different]
Scale = Literal["paper", "quick"]


class ConfigFile(Spec):
    """What to build and where."""

    papers: Chosen | None = None
    comparisons: Chosen | None = None
    scale: Scale
    seed: Annotated[StrictInt, Field(ge=0, le=2**53)]
    cache: Text


CONFIG = Path("config/config.yaml")

PAPERS = Path("config/papers")
"""Folder of the papers, each in a folder of its short name."""

Panel = Annotated[str, Field(pattern="^fig[0-9]+[a-j]?$")]


def _sentence(text: str) -> str:
    if not re.fullmatch("[A-Z].*[.]", text):
        raise ValueError("allowed: a sentence of one line, with a capital and a full stop")
    return text


Shown = Annotated[str, AfterValidator(_sentence)]


class Author(Spec):
    family: Text
    given: Text | None = None


class PaperFile(Spec):
    """config/papers/PAPER/paper.yaml: what is known of the paper itself.

    Attributes:
        title: as published.
        short_title: where the title is long.
        asked: what it asks, in words that its reader knows.
        authors: in their order.
        year: of publication.
        venue: short name of the conference or journal, without the year; none for a preprint.
        proceedings: its long name.
        arxiv: number on arXiv.
        doi: digital object identifier.
        order: place among the papers; those of one place are in the order of their names.
        state: a draft is built where it is chosen, and is in no count, index or citation.
        reduced: why all of it is at a smaller scale than the paper's own; beside each verdict.
        summary: sums up what came out, as ``summary`` of the findings, which it is by default.
        picture: the figure that the front page shows, of the first paper that names one.
        panels: what each panel of the paper's figures shows.
        interpretations: interpretation, as ``norm=l1``, -> what it is in words.
        looks: algorithm of the paper's own -> its colour, line style and marker.
    """

    title: Sentence
    short_title: Sentence | None = None
    asked: Sentence | None = None
    authors: Annotated[tuple[Author, ...], Field(min_length=1)]
    year: Annotated[StrictInt, Field(ge=1900, le=2200)]
    venue: Annotated[str, Field(pattern=r"^\D+$")] | None = None
    proceedings: Sentence | None = None
    arxiv: Annotated[str, Field(pattern=r"^\d{4}\.\d{4,5}$")] | None = None
    doi: Annotated[str, Field(pattern=r"^10\.\d+/\S+$")] | None = None
    order: Count = 1000
    state: Literal["published", "draft"] = "draft"
    reduced: Shown | None = None
    summary: dict[str, Any] | None = None
    picture: Text | None = None
    panels: dict[Panel, Shown] = Field(default={})
    interpretations: dict[str, Text] = Field(default={})
    looks: Looks = Field(default={})

    @property
    def is_published(self) -> bool:
        """Whether it is in the pages, the counts and the citations."""
        return self.state == "published"

    @property
    def credit(self) -> str:
        """The families of the authors, the venue and the year: ``A, B and C, ICML 2025``."""
        families = join_words([author.family for author in self.authors])
        return f"{families}, {f'{self.venue} ' if self.venue else ''}{self.year}"


def join_words(words: Sequence[str]) -> str:
    """Return words with commas, and ``and`` before the last."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
