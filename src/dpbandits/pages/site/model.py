"""The site of a project: what exists of each figure and table, and the address of everything."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.pages.contents import Contents, FigureGroup, head_of
from dpbandits.pages.published import published_digitised, published_papers
from dpbandits.pipeline.project import FIGURES, TABLES, Project
from dpbandits.pipeline.publish import published_file
from dpbandits.pipeline.targets import VERDICTS

UNPUBLISHED = "Its numbers are not published yet."
"""Stands for a statement whose numbers are in no csv."""


def figure_address(group: FigureGroup) -> str:
    """Return the page of a figure."""
    return f"figures/{group.paper}/{group.base}.html"


def small_address(group: FigureGroup) -> str:
    """Return the picture that shows a figure in small."""
    return f"pictures/{group.paper}/{group.first.name}.png"


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
    def shelves(self) -> list[str]:
        """The papers, then the comparisons."""
        return [*self.papers, *self.comparisons]

    @cached_property
    def links(self) -> dict[str, str]:
        """The place of each claim, finding and erratum by its id."""
        links = {name: f"claims/{name}.html" for name in self.claims}
        links |= {name: f"findings.html#{name}" for name in self.findings}
        errata = (own for of_paper in self.errata.values() for own in of_paper.values())
        return links | {each["id"]: f"errata.html#{each['id']}" for own in errata for each in own}

    @cached_property
    def groups(self) -> list[FigureGroup]:
        """Every figure, paper by paper."""
        return [group for name in self.shelves for group in self.figures(name)]

    @cached_property
    def _figures(self) -> dict[str, list[FigureGroup]]:
        found: dict[str, list[FigureGroup]] = {}
        for paper in [*self.papers, *self.project.comparisons]:
            groups = found.setdefault(paper, [])
            for group in super().figures(paper):
                named = group.entries.items()
                existing = {name: each for name, each in named if "csv" in self.files(paper, name)}
                groups += [replace(group, entries=existing)] if existing else []
        return found

    def figures(self, paper: str) -> list[FigureGroup]:
        """Return the figures of a paper or comparison, in the variants of which a csv exists."""
        return self._figures[paper]

    def tables(self, paper: str) -> list[str]:
        """Return the names of the tables of a paper of which a csv exists."""
        tables = self.project.study(paper).tables
        return [name for name in tables if "csv" in self.files(paper, name, is_table=True)]

    def files(self, paper: str, name: str, *, is_table: bool = False) -> dict[str, Path]:
        """Return the files of a figure, panel or table by suffix, published or else built."""
        folders = [self.project.folder / FIGURES / paper, self.project.figures_folder(paper)]
        if is_table:
            folders = [self.project.folder / TABLES / paper, self.project.tables_folder(paper)]
        suffixes = ("csv", "pdf", "tex", "tabular", "png", "json")
        paths = {each: [folder / f"{name}.{each}" for folder in folders] for each in suffixes}
        existing = {
            each: [path for path in found if path.is_file()] for each, found in paths.items()
        }
        return {each: found[0] for each, found in existing.items() if found}

    def downloads(self, paper: str, name: str, *, is_table: bool = False) -> dict[str, Path]:
        """Return what can be downloaded of a figure or table: address -> file."""
        files = self.files(paper, name, is_table=is_table).values()
        return {f"data/{paper}/{p.name}": p for p in files if p.suffix not in (".png", ".json")}

    def points(self, paper: str, stem: str) -> pd.DataFrame | None:
        """Return the csv of a figure or panel; an empty cell is NaN, or an empty text."""
        path = self.files(paper, stem).get("csv")
        if path is None:
            return None
        texts = ("series", "variant", "interpretation")
        types = dict.fromkeys(texts, str)
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=types)
        return frame.fillna(dict.fromkeys(texts, ""))

    def drawn(self, paper: str, name: str) -> dict[str, Any]:
        """Return what was drawn of a figure, panel by panel; nothing of older copies."""
        path = self.files(paper, name).get("json")
        return {} if path is None else json.loads(path.read_text(encoding="utf-8"))

    def digitised(self, group: FigureGroup) -> pd.DataFrame:
        """Return the digitised values of a figure, compared; no rows where there are none."""
        table = published_digitised(self.project, group.paper)
        return table[table["panel"].isin(group.stems)]

    def data_files(self) -> dict[str, Path]:
        """Return all that can be downloaded: address -> file."""
        found: dict[str, Path] = {}
        for group in self.groups:
            for name in group.entries:
                found |= self.downloads(group.paper, name)
        for paper in self.shelves:
            for name in self.tables(paper):
                found |= self.downloads(paper, name, is_table=True)
        names = [name for files in VERDICTS.values() for name in files]
        paths = [self.project.folder / FIGURES / p / f"{n}.csv" for p in self.papers for n in names]
        return found | {f"data/{p.parent.name}/{p.name}": p for p in paths if p.is_file()}

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
            for paper in self.shelves
            for name in self.tables(paper)
        }

    def shown(self, paper: str, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return name and address of those figures, panels and tables of a paper that exist."""
        paths = [published_file(self.project.study(paper), name) for name in names]
        return [self.places[path] for path in paths if path in self.places]
