"""`docs/gallery.md`: every published figure, what it shows and whether what is said of it holds."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.engine.documents import load_document
from dpbandits.errors import InputError
from dpbandits.pages.claims import link
from dpbandits.pages.published_ledger import (
    published_figures,
    published_findings,
    published_ledger,
    published_papers,
)
from dpbandits.pages.published_numbers import PUBLISHED
from dpbandits.pages.regions import table_row, with_block
from dpbandits.papers import COMPARISONS
from dpbandits.project.claims_summary import choice, interval
from dpbandits.project.config import Project
from dpbandits.reporting.specs import figure_stems, parse_figure

SENTENCES = Path("config/gallery.yaml")
_STEM = re.compile(r"fig(\d+)([a-j]?)(?:-[a-z-]+)?")


def gallery_page(project: Project, text: str) -> str:
    """Return the page with its blocks as the published figures and verdicts have them.

    Args:
        project: the project.
        text: the page as it is.

    Raises:
        InputError: the marks of a block are missing, or a panel has no sentence or a sentence no
            panel.
    """
    schema = project.folder / "workflow/schemas/gallery.schema.yaml"
    sentences = load_document(project.folder / SENTENCES, schema)
    ledgers = {name: published_ledger(project, name) for name in published_papers(project)}
    ours = [name for name in COMPARISONS if (project.folder / PUBLISHED / name).exists()]
    parts = {
        name: Part(project, name, sentences.get(name, {}), ledgers.get(name))
        for name in [*ledgers, *ours]
    }
    for part in parts.values():
        part.check()
    contents = "\n".join(part.contents() for part in parts.values())
    text = with_block(text, "contents", contents)
    for name, part in parts.items():
        text = with_block(text, f"gallery {name}", part.text())
    return text


def head_of(stem: str) -> str:
    """Return how a paper names a figure or panel: ``Figure 1(b)`` for ``fig1b-repaired``.

    A figure of ours, and a figure without a number, keeps its name.
    """
    found = _STEM.fullmatch(stem)
    if found is None:
        return f"{stem} (ours)"
    number, letter = found.groups()
    return f"Figure {number}({letter})" if letter else f"Figure {number}"


def anchor_of(head: str) -> str:
    """Return the anchor that a Markdown heading has on a code host."""
    return re.sub(r"[^a-z0-9 -]", "", head.lower()).replace(" ", "-")


@dataclass(frozen=True)
class Part:
    """The gallery of one paper, or of what is ours across papers.

    Attributes:
        project: the project.
        name: the paper's short name.
        shows: panel -> what it shows.
        ledger: the published verdicts; None for what is ours.
    """

    project: Project
    name: str
    shows: Mapping[str, str]
    ledger: pd.DataFrame | None

    @cached_property
    def _variants(self) -> dict[str, list[str]]:
        """The figures, those that are variants of one figure under its name."""
        variants: dict[str, list[str]] = {}
        for figure in self.project.experiments(self.name).figures:
            found = _STEM.fullmatch(figure)
            variants.setdefault(f"fig{found[1]}" if found else figure, []).append(figure)
        return variants

    def check(self) -> None:
        """Raise InputError unless each panel of the paper's figures has one sentence."""
        named = [figure for figure in self._variants if _STEM.fullmatch(figure)]
        panels = {stem for figure in named for stem in self._panels(figure)}
        if panels != set(self.shows):
            wrong = ", ".join(sorted(panels ^ set(self.shows)))
            raise InputError(
                f"{SENTENCES}: {self.name} lacks, or has without a panel, {wrong}; allowed: one "
                f"sentence for each panel of the paper's figures"
            )

    def _panels(self, figure: str) -> list[str]:
        """Return the panels of a figure, or the figure itself where it has none."""
        stems = figure_stems(figure, self.project.figure_spec(self.name, figure))
        return stems[:-1] or stems

    def _caption(self, figure: str) -> str:
        return parse_figure(figure, self.project.figure_spec(self.name, figure)).caption

    def _head(self, stem: str) -> str:
        return f"{self.name}, {head_of(stem)}"

    def contents(self) -> str:
        """Return a line with links to the part and its figures."""
        links = [f"[{head_of(each)}](#{anchor_of(self._head(each))})" for each in self._variants]
        return f"- [`{self.name}`](#{anchor_of(self.name)}): {', '.join(links)}"

    def text(self) -> str:
        """Return the part as Markdown."""
        blocks = [f"## {self.name}", self._introduction()]
        for base, figures in self._variants.items():
            captions = (f"`{each}`: {self._caption(each)}" for each in figures)
            blocks += [f"### {self._head(base)}", *captions]
            about = self._about(figures)
            blocks += _claims(about)
            blocks += self._findings(figures)
            columns = [self._panels(each) if _STEM.fullmatch(base) else [each] for each in figures]
            for pictures in zip(*columns, strict=True):
                blocks += self._panel(base, pictures, about)
        return "\n\n".join(blocks)

    def _introduction(self) -> str:
        experiments = self.project.experiments(self.name)
        authors = f" ({experiments.authors})" if experiments.authors else ""
        title = f"*{experiments.title}*{authors}."
        if self.ledger is None:
            return title
        elsewhere = self.ledger[self.ledger["figure"].map(lambda paths: not _drawn(paths))]
        folder = f"figures/{self.name}"
        return (
            f"{title} All verdicts: [`claims.csv`]({folder}/claims.csv); every comparison behind "
            f"them: [`evidence.csv`]({folder}/evidence.csv). Claims that no figure shows: "
            f"{_brief(elsewhere) or 'none'}."
        )

    def _panel(self, base: str, pictures: tuple[str, ...], whole: pd.DataFrame) -> list[str]:
        """Return a panel, in every variant, with its sentence and the claims about it."""
        own = pictures[0]
        blocks = [f"#### {self._head(own)}"] if own != base else []
        blocks += [self.shows[own]] if own in self.shows else []
        folder = f"figures/{self.name}"
        numbers = [f"[`{each}`]({folder}/{each}.csv)" for each in pictures]
        images = [f"![{self._head(each)}]({folder}/{each}.png)" for each in pictures]
        rows = [table_row(numbers), "|---" * len(pictures) + "|", table_row(images)]
        blocks.append("\n".join(rows))
        if own != base:
            blocks += _claims(self._about(pictures))
            blocks += [f"Of {head_of(base)} as a whole: {_brief(whole)}."] if len(whole) else []
        return blocks

    def _findings(self, figures: Iterable[str]) -> list[str]:
        """Return the findings that are about any of the figures or their panels, as one list."""
        stems = {*figures, *(stem for figure in figures for stem in self._panels(figure))}
        lines = [
            f"- Finding {link(name)}, {title} ({outcome}): {statement}"
            for name, title, statement, outcome, drawn in self._found
            if not stems.isdisjoint(drawn)
        ]
        return ["\n".join(lines)] if lines else []

    @cached_property
    def _found(self) -> list[tuple[str, str, str, str, set[str]]]:
        """Each finding: id, title, statement, what became of it and the figures it is about."""
        if self.ledger is None:
            return []
        return [
            (
                finding.claim.id,
                finding.title,
                statement,
                outcome,
                _drawn(" ".join(published_figures(self.project, self.name, finding.claim))),
            )
            for finding, statement, outcome in published_findings(self.project, self.name)
        ]

    def _about(self, stems: Iterable[str]) -> pd.DataFrame:
        """Return the verdicts on the claims about any of the figures or panels."""
        if self.ledger is None:
            return pd.DataFrame()
        names = set(stems)
        return self.ledger[
            self.ledger["figure"].map(lambda paths: not names.isdisjoint(_drawn(paths)))
        ]


def _drawn(paths: str) -> set[str]:
    """Return the names of the figures and panels among the files that a claim is about."""
    return {Path(path).stem for path in paths.split() if path.endswith(".png")}


def _verdict(row: Mapping[Any, Any]) -> str:
    return f"**{row['verdict']}**"


def _by_claim(rows: pd.DataFrame) -> dict[str, list[Mapping[Any, Any]]]:
    by_claim: dict[str, list[Mapping[Any, Any]]] = {}
    for row in rows.to_dict("records"):
        by_claim.setdefault(row["claim"], []).append(row)
    return by_claim


def _brief(rows: pd.DataFrame) -> str:
    """Return claims with their verdicts in a line."""
    return ", ".join(
        f"{link(claim)} {' / '.join(dict.fromkeys(_verdict(row) for row in own))}"
        for claim, own in _by_claim(rows).items()
    )


def _claims(rows: pd.DataFrame) -> list[str]:
    """Return claims with their verdicts as one list; no list without claims."""
    lines = []
    for claim, own in _by_claim(rows).items():
        first = own[0]
        lines.append(
            f"- {link(claim)} ({first['kind']}; {first['place']}): *{first['statement']}* "
            f"Decided by: {first['rule']}"
        )
        lines += _verdicts(own)
    return ["\n".join(lines)] if lines else []


def _verdicts(rows: list[Mapping[Any, Any]]) -> list[str]:
    """Return each verdict with the rows that it is given for and the first one's number."""
    lines = []
    for verdict in dict.fromkeys(_verdict(row) for row in rows):
        own = [row for row in rows if _verdict(row) == verdict]
        first = own[0]
        choices = "" if len(rows) == 1 else f" ({' / '.join(choice(row) for row in own)})"
        measured = f"{first['measured']}: {interval(first)}, asked: {first['asked']}"
        why = measured if first["measured"] else first["detail"]
        lines.append(f"  - {verdict}{choices}. {'For the first, ' if len(own) > 1 else ''}{why}")
    return lines
