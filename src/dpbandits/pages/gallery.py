"""`docs/gallery.md`: an index of every published figure, its panels, and the verdicts on them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.pages.published_ledger import (
    published_figures,
    published_findings,
    published_ledger,
    published_papers,
)
from dpbandits.pages.published_numbers import PUBLISHED
from dpbandits.pages.published_tables import published_digitised
from dpbandits.pages.render import render
from dpbandits.pipeline.check import check_sentences, panels_of
from dpbandits.pipeline.project import Project
from dpbandits.reporting.agreement import reproduced_as_drawn

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
