"""`docs/gallery.md`: every published figure, what it shows and whether what is said of it holds."""

import re
from collections.abc import Iterable, Mapping, Sequence
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
from dpbandits.pages.render import render
from dpbandits.papers import COMPARISONS
from dpbandits.project.claims_summary import choice, interval
from dpbandits.project.config import Project
from dpbandits.project.sentences import check_sentences, panels_of
from dpbandits.reporting.specs import parse_figure

_STEM = re.compile(r"fig(\d+)([a-j]?)(?:-[a-z-]+)?")


def gallery_page(project: Project) -> str:
    """Return the page as the published figures and verdicts have it.

    Raises:
        InputError: a panel has no sentence, or a sentence no panel.
    """
    ledgers = {name: published_ledger(project, name) for name in published_papers(project)}
    across = [name for name in COMPARISONS if (project.folder / PUBLISHED / name).exists()]
    parts = [_Part(project, name, ledgers.get(name)) for name in [*ledgers, *across]]
    for name in ledgers:
        check_sentences(project, name)
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
        return by_figure(self.project.experiments(self.name).figures)

    def values(self) -> dict[str, Any]:
        """Return what the template shows of this part."""
        experiments = self.project.experiments(self.name)
        elsewhere = None
        if self.ledger is not None:
            is_drawn = self.ledger["figure"].map(_drawn).map(bool)
            elsewhere = _claims(self.ledger[~is_drawn])
        return {
            "name": self.name,
            "title": experiments.title,
            "authors": experiments.authors,
            "elsewhere": elsewhere,
            "figures": [self._figure(*item) for item in self._variants.items()],
        }

    def _figure(self, base: str, figures: list[str]) -> dict[str, Any]:
        """Return a figure with its panels, every variant of it beside the others."""
        columns = [self._panels(name) if _STEM.fullmatch(base) else [name] for name in figures]
        stems = {*figures, *(stem for name in figures for stem in self._panels(name))}
        return {
            "head": head_of(base),
            "captions": [(name, self._caption(name)) for name in figures],
            "claims": self._about(figures),
            "findings": [row for row in self._findings if not stems.isdisjoint(row["drawn"])],
            "panels": [self._panel(base, stems) for stems in zip(*columns, strict=True)],
        }

    def _panel(self, base: str, stems: tuple[str, ...]) -> dict[str, Any]:
        """Return a panel in every variant; it has a heading unless it is the whole figure."""
        is_whole = stems[0] == base
        return {
            "head": "" if is_whole else head_of(stems[0]),
            "shows": self._shows.get(stems[0], ""),
            "pictures": [(stem, head_of(stem)) for stem in stems],
            "claims": [] if is_whole else self._about(stems),
        }

    def _caption(self, figure: str) -> str:
        return parse_figure(figure, self.project.figure_spec(self.name, figure)).caption

    def _panels(self, figure: str) -> list[str]:
        return panels_of(self.project, self.name, figure)

    @cached_property
    def _findings(self) -> list[dict[str, Any]]:
        """The findings, with the figures that each is about."""
        if self.ledger is None:
            return []
        return [
            {
                "id": finding.claim.id,
                "title": finding.title,
                "statement": statement,
                "outcome": outcome,
                "drawn": _drawn(
                    " ".join(published_figures(self.project, self.name, finding.claim))
                ),
            }
            for finding, statement, outcome in published_findings(self.project, self.name)
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
    """Return each claim with its verdicts."""
    claims = []
    for name, of_claim in rows.groupby("claim", sort=False):
        first = of_claim.iloc[0]
        verdicts = [
            _verdict(of_verdict.to_dict("records"), is_only=len(of_verdict) == len(of_claim) == 1)
            for _, of_verdict in of_claim.groupby("verdict", sort=False)
        ]
        texts = {key: first[key] for key in ("kind", "place", "statement", "rule")}
        claims.append({"id": name, "verdicts": verdicts, **texts})
    return claims


def _verdict(rows: Sequence[Mapping[Any, Any]], *, is_only: bool) -> dict[str, str]:
    """Return a verdict, the rows that have it, and the binding comparison of the first."""
    first = rows[0]
    why = first["detail"]
    if first["measured"]:
        why = f"{first['measured']}: {interval(first)}, asked: {first['asked']}"
    return {
        "word": first["verdict"],
        "choices": "" if is_only else f" ({' / '.join(choice(row) for row in rows)})",
        "why": f"For the first, {why}" if len(rows) > 1 else why,
    }
