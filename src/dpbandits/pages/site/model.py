"""The site of a project: what exists of each figure and table, and the address of everything."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.pages.contents import Contents, FigureGroup, head_of
from dpbandits.pages.published import published_papers
from dpbandits.pipeline.project import FIGURES, TABLES, Project

_TEXTS = ("series", "variant", "interpretation")
"""Columns of texts, which may be empty."""

UNPUBLISHED = "Its numbers are not published yet."
"""Stands for a statement whose numbers are in no csv."""


def figure_address(group: FigureGroup) -> str:
    """Return the page of a figure."""
    return f"figures/{group.paper}/{group.base}.html"


def chart_address(group: FigureGroup) -> str:
    """Return the script that has what is drawn of a figure: pages on a disk load no JSON."""
    return f"charts/{group.paper}/{group.base}.js"


def small_address(group: FigureGroup) -> str:
    """Return the picture that shows a figure in small: that of its twin, if it has one."""
    shown = group.twin[1] if group.twin else group
    return f"pictures/{group.paper}/{shown.first.name}.png"


@dataclass(frozen=True)
class Site(Contents):
    """The site of a project, from the published copies, and from what is built beside them."""

    @classmethod
    def of(cls, project: Project) -> "Site":
        """Return the site of the chosen papers whose verdicts are published."""
        return cls(project, tuple(published_papers(project, project.chosen)), UNPUBLISHED)

    @cached_property
    def drafts(self) -> list[str]:
        """The drafts among the papers."""
        return [paper for paper in self.papers if paper not in self.project.published]

    @cached_property
    def comparisons(self) -> list[str]:
        """The comparisons across papers of which a figure exists."""
        return [name for name in self.project.comparisons if self.figures(name)]

    @cached_property
    def groups(self) -> list[FigureGroup]:
        """Every figure, paper by paper."""
        return [group for name in [*self.papers, *self.comparisons] for group in self.figures(name)]

    def figures(self, paper: str) -> list[FigureGroup]:
        """Return the figures of a paper or comparison, in the variants of which a csv exists."""
        if paper not in self._figures:
            self._figures[paper] = []
            for group in super().figures(paper):
                names = [name for name in group.entries if self.figure_file(paper, name, "csv")]
                existing = {name: group.entries[name] for name in names}
                self._figures[paper] += [replace(group, entries=existing)] if existing else []
        return self._figures[paper]

    @cached_property
    def _figures(self) -> dict[str, list[FigureGroup]]:
        return {}

    def tables(self, paper: str) -> list[str]:
        """Return the names of the tables of a paper of which a csv exists."""
        tables = self.project.study(paper).tables
        return [name for name in tables if self.table_file(paper, name, "csv")]

    def figure_file(self, paper: str, stem: str, suffix: str) -> Path | None:
        """Return a file of a figure or panel, published or built; None where there is neither."""
        folders = (self.project.folder / FIGURES / paper, self.project.figures_folder(paper))
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
            f"docs/tables/{paper}/{name}.csv": (f"table {name}", f"tables/{paper}/{name}.html")
            for paper in [*self.papers, *self.comparisons]
            for name in self.tables(paper)
        }


def _first(name: str, *folders: Path) -> Path | None:
    return next((folder / name for folder in folders if (folder / name).is_file()), None)
