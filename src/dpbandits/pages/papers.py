"""`docs/claims.md`, `docs/errata.md` and `docs/gallery.md`: claims, errata, figures."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, field_validator

from dpbandits.claims.docket import NumberSource
from dpbandits.claims.ledger import ALONE, EXACT, IN_FAMILY, together
from dpbandits.claims.verdict import ALPHA, VERDICTS
from dpbandits.config.documents import Sentence, Spec, load_document, one_of
from dpbandits.errors import InputError
from dpbandits.pages.published import (
    PUBLISHED,
    REPAIRED,
    evidence_path,
    filled,
    link,
    published_digitised,
    published_figures,
    published_findings,
    published_ledger,
    published_papers,
)
from dpbandits.pages.render import render
from dpbandits.pipeline.check import check_sentences, panels_of
from dpbandits.pipeline.project import Project
from dpbandits.reporting.digitised import reproduced_as_drawn
from dpbandits.reporting.tables import choice, interval


def claims_page(project: Project) -> str:
    """Return the page as the published verdicts have it."""
    papers = published_papers(project)
    whole = together([published_ledger(project, paper) for paper in papers])
    random = whole[whole["level"].notna()]
    size = whole["claim"].nunique()
    return render(
        "claims.md",
        verdicts=VERDICTS,
        claims=size,
        rows=len(whole),
        random=len(random),
        expected=random["level"].sum(),
        level=ALPHA / size,
        in_family=(random["family_wise"] == IN_FAMILY).sum(),
        in_all=(random["family_wise_in_all"] == IN_FAMILY).sum(),
        alone=[_row(row) for row in whole[whole["family_wise"] == ALONE].to_dict("records")],
        papers=[_claims_of(project, name, whole[whole["paper"] == name]) for name in papers],
    )


def _claims_of(project: Project, name: str, ledger: pd.DataFrame) -> dict[str, Any]:
    """Return the claims, findings and notes of a paper, and the counts of its verdicts."""
    study = project.study(name)
    is_repaired = ledger["variant"] == REPAIRED
    repaired, ledger = (
        ledger[is_repaired & (ledger["verdict"] != "not applicable")],
        ledger[~is_repaired],
    )
    verdicts, stands = ledger["verdict"].value_counts(), ledger["family_wise"].value_counts()
    counts = [verdicts.get(word, 0) for word in VERDICTS]
    counts += [stands.get(word, 0) for word in (EXACT, IN_FAMILY, ALONE)]
    by_claim = ledger.groupby("claim", sort=False)
    return {
        "name": name,
        "title": study.title,
        "authors": study.authors,
        "counts": [ledger["claim"].nunique(), len(ledger), *counts],
        "claims": [[_row(row) for row in rows.to_dict("records")] for _, rows in by_claim],
        "repaired": [_row(row) for row in repaired.to_dict("records")],
        "findings": [
            {
                "id": finding.claim.id,
                "title": finding.title,
                "place": finding.claim.place,
                "beside": finding.beside,
                "figures": published_figures(project, name, finding.claim),
                "statement": statement,
                "outcome": outcome,
            }
            for finding, statement, outcome in published_findings(project, name)
        ],
        "notes": project.study(name).notes,
    }


def _row(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row of the ledger with its cells as they are printed."""
    return {
        **row,
        "figures": row["figure"].split(),
        "choice": choice(row),
        "interval": interval(row),
    }


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
    return render("errata.md", papers=[_errata_of(project, paper) for paper in papers])


def _errata_of(project: Project, paper: str) -> dict[str, Any]:
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


_STEM = re.compile(r"fig(\d+)([a-j]?)(?:-[a-z-]+)?")


def gallery_page(project: Project) -> str:
    """Return the page as the published figures and verdicts have it.

    Raises:
        InputError: a panel has no sentence, or a sentence no panel.
    """
    ledgers = {name: published_ledger(project, name) for name in published_papers(project)}
    folder = project.folder / PUBLISHED
    across = [name for name in project.known_comparisons if (folder / name).exists()]
    parts = [_Part(project, name, ledgers.get(name)) for name in [*ledgers, *across]]
    for name in ledgers:
        check_sentences(project.study(name))
    return render("gallery.md", parts=[part.values() for part in parts])


def by_figure(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of figures, those that are variants of one figure under its name."""
    variants: dict[str, list[str]] = {}
    for name in names:
        found = _STEM.fullmatch(name)
        variants.setdefault(f"fig{found[1]}" if found else name, []).append(name)
    return variants


def head_of(stem: str) -> str:
    """Return how a paper names a figure or panel: ``Figure 1(b)`` for ``fig1b-repaired``.

    A supplementary figure, and a figure without a number, keeps its name.
    """
    found = _STEM.fullmatch(stem)
    if found is None:
        return f"{stem} (supplementary)"
    number, letter = found.groups()
    return f"Figure {number}({letter})" if letter else f"Figure {number}"


@dataclass(frozen=True)
class _Part:
    """The gallery of one paper, or of one comparison across papers.

    Attributes:
        project: the project.
        name: the paper's short name.
        ledger: the published verdicts; None for a comparison across papers.
    """

    project: Project
    name: str
    ledger: pd.DataFrame | None

    @property
    def _shows(self) -> Mapping[str, str]:
        """What each panel shows."""
        about = self.project.papers.get(self.name)
        return about.panels if about else {}

    @cached_property
    def _variants(self) -> dict[str, list[str]]:
        """The figures, those that are variants of one figure under its name."""
        return by_figure(self.project.study(self.name).figures)

    def values(self) -> dict[str, Any]:
        """Return what the template shows of this part."""
        study = self.project.study(self.name)
        elsewhere = None
        if self.ledger is not None:
            is_drawn = self.ledger["figure"].map(_drawn).map(bool)
            elsewhere = _claims(self.ledger[~is_drawn])
        return {
            "name": self.name,
            "title": study.title,
            "authors": study.authors,
            "elsewhere": elsewhere,
            "rows": [row for item in self._variants.items() for row in self._rows(*item)],
        }

    def _rows(self, base: str, figures: list[str]) -> Iterator[dict[str, Any]]:
        """Yield the row of a figure, all of its variants in it, and those of its panels."""
        columns = [self._panels(name) if _STEM.fullmatch(base) else [name] for name in figures]
        panels = list(zip(*columns, strict=True))
        stems = {*figures, *(stem for column in columns for stem in column)}
        # The findings on any of it.
        yield self._row(head_of(base), self._caption(figures[0]), figures) | {
            "findings": [name for name, drawn in self._findings if not stems.isdisjoint(drawn)],
            "reproduced": self._reproduced(base),
        }
        for of_panel in panels:
            if of_panel[0] != base:
                shows = self._shows.get(of_panel[0], "")
                reproduced = self._reproduced(of_panel[0])
                yield self._row(head_of(of_panel[0]), shows, list(of_panel)) | {
                    "reproduced": reproduced
                }

    def _reproduced(self, stem: str) -> str:
        """Return whether a figure or panel of the paper is reproduced as drawn; "" of ours."""
        if self.ledger is None or _STEM.fullmatch(stem) is None:
            return ""
        return reproduced_as_drawn(published_digitised(self.project, self.name), stem)

    def _row(self, head: str, shows: str, stems: list[str]) -> dict[str, Any]:
        claims = self._about(stems)
        return {"head": head, "shows": shows, "stems": stems, "claims": claims, "findings": []}

    def _caption(self, figure: str) -> str:
        return self.project.study(self.name).figures[figure].caption

    def _panels(self, figure: str) -> list[str]:
        return panels_of(self.project.study(self.name).figures[figure])

    @cached_property
    def _findings(self) -> list[tuple[str, set[str]]]:
        """The findings, with the figures that each is about."""
        if self.ledger is None:
            return []
        claims = [each.claim for each, *_ in published_findings(self.project, self.name)]
        return [
            (claim.id, _drawn(" ".join(published_figures(self.project, self.name, claim))))
            for claim in claims
        ]

    def _about(self, stems: Iterable[str]) -> list[dict[str, Any]]:
        """Return the claims about any of the figures or panels."""
        if self.ledger is None:
            return []
        names = set(stems)
        is_about = self.ledger["figure"].map(lambda paths: not names.isdisjoint(_drawn(paths)))
        return _claims(self.ledger[is_about])


def _drawn(paths: str) -> set[str]:
    """Return the names of the figures and panels among the files that a claim is about."""
    return {Path(path).stem for path in paths.split() if path.endswith(".png")}


def _claims(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return each claim with the verdicts that it has."""
    return [
        {"id": name, "verdicts": list(of_claim["verdict"].unique())}
        for name, of_claim in rows.groupby("claim", sort=False)
    ]
