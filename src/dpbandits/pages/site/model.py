"""The site of a project: what exists of each figure and table, and the address of everything."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.pages.contents import Contents, FigureGroup, Values, by_verdict, head_of
from dpbandits.pages.published import PUBLISHED, published_papers
from dpbandits.pipeline.project import TABLES, Project

_TEXTS = ("series", "variant", "interpretation")
"""Columns of texts, which may be empty."""

UNPUBLISHED = "Its numbers are not published yet."
"""Stands for a statement whose numbers are in no csv."""


def figure_address(group: FigureGroup) -> str:
    """Return the page of a figure."""
    return f"figures/{group.paper}/{group.base}.html"


def table_address(paper: str, name: str) -> str:
    """Return the page of a table."""
    return f"tables/{paper}/{name}.html"


def claim_address(claim: str) -> str:
    """Return the page of a claim."""
    return f"claims/{claim}.html"


def paper_address(paper: str) -> str:
    """Return the page of a paper, or of a comparison across papers."""
    return f"papers/{paper}.html"


def switches_address(paper: str) -> str:
    """Return the page of the switches of a paper."""
    return f"switches/{paper}.html"


def chart_address(group: FigureGroup) -> str:
    """Return the script that has what is drawn of a figure: pages on a disk load no JSON."""
    return f"charts/{group.paper}/{group.base}.js"


@dataclass(frozen=True)
class Site:
    """The site of a project, from the published copies, and from what is built beside them."""

    project: Project

    @cached_property
    def papers(self) -> list[str]:
        """The chosen papers whose verdicts are published."""
        return published_papers(self.project, self.project.chosen)

    @cached_property
    def drafts(self) -> list[str]:
        """The drafts among them."""
        return [paper for paper in self.papers if paper not in self.project.published]

    @cached_property
    def contents(self) -> Contents:
        """What is published of them."""
        return Contents(self.project, tuple(self.papers), UNPUBLISHED)

    @cached_property
    def claims(self) -> dict[str, Values]:
        """Every claim by its id, with its rows and its answer."""
        return {claim["id"]: claim for claim in self.contents.claims(self.contents.ledger)}

    @cached_property
    def comparisons(self) -> list[str]:
        """The comparisons across papers of which a figure exists."""
        return [name for name in self.project.comparisons if self._groups_of(name)]

    @cached_property
    def groups(self) -> list[FigureGroup]:
        """Every figure, in the variants of which a csv exists, paper by paper."""
        names = [*self.papers, *self.comparisons]
        return [group for name in names for group in self._groups_of(name)]

    def _groups_of(self, paper: str) -> list[FigureGroup]:
        groups = []
        for group in self.contents.figures(paper):
            existing = {
                name: entry
                for name, entry in group.entries.items()
                if self.figure_file(paper, name, "csv")
            }
            groups += [replace(group, entries=existing)] if existing else []
        return groups

    @cached_property
    def cards(self) -> dict[str, Values]:
        """What a figure has on other pages, by its address: its picture and what came out."""
        return {
            figure_address(group): {
                "group": group,
                "address": figure_address(group),
                "picture": f"pictures/{group.paper}/{self._in_small(group)}.png",
                "alt": self.contents.alt(group),
                "counts": by_verdict(self.contents.about(group)),
                "answer": self.contents.opening(group),
                "against": self.contents.against(group),
            }
            for group in self.groups
        }

    def _in_small(self, group: FigureGroup) -> str:
        """Return the name of the figure that is shown in small: the first, or its twin."""
        twin = self.contents.twin(group) or ("",)
        twins = (each.base for each in self._groups_of(group.paper) if twin[0] in each.stems)
        return next(twins, next(iter(group.entries)))

    def tables(self, paper: str) -> list[str]:
        """Return the names of the tables of a paper of which a csv exists."""
        tables = self.project.study(paper).tables
        return [name for name in tables if self.table_file(paper, name, "csv")]

    def figure_file(self, paper: str, stem: str, suffix: str) -> Path | None:
        """Return a file of a figure or panel, published or built; None where there is neither."""
        folders = (self.project.folder / PUBLISHED / paper, self.project.figures_folder(paper))
        return _first(f"{stem}.{suffix}", *folders)

    def table_file(self, paper: str, name: str, suffix: str) -> Path | None:
        """Return a file of a table, published or built; None where there is neither."""
        folder = self.project.folder / TABLES / paper
        return _first(f"{name}.{suffix}", folder, self.project.tables_folder(paper))

    def points(self, paper: str, stem: str) -> pd.DataFrame | None:
        """Return the csv of a figure or panel; an empty cell is NaN, or an empty text."""
        path = self.figure_file(paper, stem, "csv")
        if path is None:
            return None
        texts = dict.fromkeys(_TEXTS, str)
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=texts)
        return frame.fillna(dict.fromkeys(_TEXTS, ""))

    def drawn(self, paper: str, name: str) -> dict[str, Any]:
        """Return what was drawn of a figure, panel by panel; nothing of older copies."""
        path = self.figure_file(paper, name, "json")
        return {} if path is None else json.loads(path.read_text(encoding="utf-8"))

    def data_files(self) -> Iterator[tuple[str, Path]]:
        """Yield address and file of all that can be downloaded of figures and tables."""
        for group in self.groups:
            for name in group.entries:
                for suffix in ("csv", "pdf"):
                    path = self.figure_file(group.paper, name, suffix)
                    if path is not None:
                        yield f"data/{group.paper}/{path.name}", path
        for paper in [*self.papers, *self.comparisons]:
            for name in self.tables(paper):
                for suffix in ("csv", "tex", "tabular"):
                    path = self.table_file(paper, name, suffix)
                    if path is not None:
                        yield f"data/{paper}/{path.name}", path

    @cached_property
    def places(self) -> dict[str, tuple[str, str]]:
        """Published file -> name and address of the figure, panel or table that it has."""
        figures = {
            f"docs/figures/{group.paper}/{stem}.png": (
                head_of(stem) if not group.is_extra else group.title,
                f"{figure_address(group)}#{stem}",
            )
            for group in self.groups
            for stem in group.stems
        }
        return figures | {
            f"docs/tables/{paper}/{name}.csv": (f"table {name}", table_address(paper, name))
            for paper in [*self.papers, *self.comparisons]
            for name in self.tables(paper)
        }

    def title(self, paper: str) -> str:
        """Return the title of a paper or comparison."""
        return self.project.study(paper).title


def _first(name: str, *folders: Path) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)
