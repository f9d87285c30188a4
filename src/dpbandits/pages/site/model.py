"""What the pages of the site share: figures, verdicts and the addresses of pages."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.algorithms.base import VARIANTS
from dpbandits.claims.docket import Finding
from dpbandits.claims.ledger import together
from dpbandits.claims.verdict import VERDICTS
from dpbandits.errors import InputError
from dpbandits.pages.gallery import by_figure, head_of
from dpbandits.pages.published_ledger import (
    REPAIRED,
    published_findings,
    published_ledger,
    published_papers,
)
from dpbandits.pages.published_numbers import PUBLISHED, evidence_path
from dpbandits.pages.site.sources import Sources
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import EXTRA, FIGURE, TABLE, Target

UNPUBLISHED = "Its numbers are not published yet."
"""Stands for a statement whose numbers are in no csv."""

DIFFERS = "differs by interpretation"
"""What counts a claim whose verdict depends on the interpretation of the text."""


@dataclass(frozen=True)
class FigureGroup:
    """A figure of a paper in all its variants, on one page of the site.

    Attributes:
        paper: short name of the paper or comparison.
        base: name of the figure, such as ``fig1``.
        targets: the figure in each variant, the one of that name first.
        stems: names of the figures and of their panels.
    """

    paper: str
    base: str
    targets: tuple[Target, ...]
    stems: tuple[str, ...]

    @property
    def head(self) -> str:
        """How the paper names it."""
        return head_of(self.base)

    @property
    def is_extra(self) -> bool:
        """Whether it is supplementary."""
        return self.base.startswith(EXTRA)

    @property
    def address(self) -> str:
        """Its page."""
        return f"figures/{self.paper}/{self.base}.html"


@dataclass(frozen=True)
class Site:
    """The site of a project."""

    project: Project

    @cached_property
    def sources(self) -> Sources:
        """The files that it is made from."""
        return Sources(self.project)

    @cached_property
    def papers(self) -> list[str]:
        """The chosen papers whose verdicts are published."""
        chosen = self.project.built()
        return [paper for paper in published_papers(self.project) if paper in chosen]

    @cached_property
    def comparisons(self) -> list[str]:
        """The comparisons across papers of which something exists."""
        found = {target.paper for target in self.sources.targets}
        return [name for name in self.project.known_comparisons if name in found]

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """The verdicts of all papers.

        Raises:
            InputError: no verdicts are published.
        """
        if not self.papers:
            folder = self.project.folder / PUBLISHED
            raise InputError(f"{folder}: has no verdicts; allowed: published ones (make publish)")
        return together([published_ledger(self.project, paper) for paper in self.papers])

    @cached_property
    def evidence(self) -> pd.DataFrame:
        """Every comparison behind the verdicts and findings of all papers."""
        frames = [_read_evidence(evidence_path(self.project, paper)) for paper in self.papers]
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def findings(self) -> dict[str, list[tuple[Finding, str, str]]]:
        """The findings on each paper, with statement and outcome."""
        return {
            paper: published_findings(self.project, paper, UNPUBLISHED) for paper in self.papers
        }

    @cached_property
    def groups(self) -> list[FigureGroup]:
        """Every figure of which a csv exists, paper by paper."""
        return [
            group for paper in [*self.papers, *self.comparisons] for group in self._of_paper(paper)
        ]

    def _of_paper(self, paper: str) -> list[FigureGroup]:
        figures = self.sources.of(FIGURE, paper)
        groups = []
        for base, names in by_figure(figures).items():
            entries = self.project.study(paper).figures
            stems = [stem for name in names for stem in entries[name].stems]
            targets = tuple(figures[name] for name in names)
            groups.append(FigureGroup(paper, base, targets, tuple(stems)))
        return groups

    def tables(self, paper: str) -> dict[str, Target]:
        """Return the tables of a paper of which a csv exists."""
        return self.sources.of(TABLE, paper)

    @cached_property
    def _addresses(self) -> dict[str, str]:
        """Published file -> the place of the site that shows it."""
        found = {
            f"docs/figures/{group.paper}/{stem}.png": f"{group.address}#{stem}"
            for group in self.groups
            for stem in group.stems
        }
        tables = [target for target in self.sources.targets if target.kind == TABLE]
        return found | {
            f"docs/tables/{target.paper}/{target.name}.csv": table_address(target)
            for target in tables
        }

    def shown_by(self, paths: str) -> list[tuple[str, str]]:
        """Return title and address of what shows the published files, as far as it exists."""
        known = ((Path(path), self._addresses.get(path)) for path in paths.split())
        return [(_title(path), address) for path, address in known if address is not None]

    def title(self, paper: str) -> str:
        """Return the title of a paper or comparison."""
        return self.project.study(paper).title


def _title(path: Path) -> str:
    """Return the name of a figure or panel with its variant, or of a table."""
    if path.suffix != ".png":
        return f"table {path.stem}"
    variant = re.fullmatch(r"fig[^-]+-(.+)", path.stem)
    return head_of(path.stem) + (f", {variant[1].replace('-', ' ')}" if variant else "")


def table_address(target: Target) -> str:
    """Return the page of a table."""
    return f"tables/{target.paper}/{target.name}.html"


def claim_address(claim: str) -> str:
    """Return the page of a claim."""
    return f"claims/{claim}.html"


def _read_evidence(path: Path) -> pd.DataFrame:
    """Read the csv of all comparisons; numbers as numbers, texts as they stand.

    Raises:
        InputError: it cannot be read.
    """
    try:
        frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    numbers = ("estimate", "lo", "hi", "level", "runs")
    return frame.assign(**{key: pd.to_numeric(frame[key]) for key in numbers})


def counts(ledger: pd.DataFrame) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return how many claims have which verdict, by variant of a paper: those that occur.

    The variant ``repaired`` is no statement on a paper and not counted. A claim whose verdict
    depends on the interpretation is counted as ``DIFFERS`` alone.

    Args:
        ledger: some rows of the ledger.
    """
    judged = ledger[ledger["verdict"] != "not applicable"]
    found = []
    for variant in VARIANTS:
        if variant == REPAIRED:
            continue
        of_variant = judged[judged["variant"] == variant].groupby("claim", sort=False)["verdict"]
        words: Iterable[Any] = (
            rows.iloc[0] if rows.nunique() == 1 else DIFFERS for _, rows in of_variant
        )
        numbers = Counter(words)
        order = [word for word in (*VERDICTS, DIFFERS) if numbers[word]]
        if order:
            found.append((variant, [(word, numbers[word]) for word in order]))
    return found


def about(ledger: pd.DataFrame, group: FigureGroup) -> pd.DataFrame:
    """Return the rows of the ledger about a figure or any of its panels."""
    if group.paper not in set(ledger["paper"]):
        return ledger.iloc[:0]
    folder = f"docs/figures/{group.paper}"
    paths = {f"{folder}/{stem}.png" for stem in group.stems}
    return ledger[ledger["figure"].map(lambda text: not paths.isdisjoint(text.split()))]
