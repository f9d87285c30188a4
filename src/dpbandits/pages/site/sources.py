"""What the site is made from: the published copy of each file, else the one that is built."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from dpbandits.pages.published_ledger import PUBLISHED_TABLES
from dpbandits.pages.published_numbers import PUBLISHED
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import FIGURE, TABLE, Target, targets

_TEXTS = ("series", "variant", "interpretation")
"""Columns of texts, which may be empty."""


@dataclass(frozen=True)
class Sources:
    """The files of a project's figures and tables, as far as they exist.

    Attributes:
        project: the project, at the scale whose files are looked for where none is published.
    """

    project: Project

    @cached_property
    def targets(self) -> list[Target]:
        """The figures and tables of which a csv exists."""
        every = [each for each in targets(self.project) if each.kind in (FIGURE, TABLE)]
        return [each for each in every if self.path(each, each.name, "csv") is not None]

    def of(self, kind: str, paper: str) -> dict[str, Target]:
        """Return the figures, or the tables, of a paper by name."""
        chosen = [each for each in self.targets if (each.kind, each.paper) == (kind, paper)]
        return {each.name: each for each in chosen}

    def path(self, target: Target, stem: str, suffix: str) -> Path | None:
        """Return a file of a figure or table, published or built; None where there is neither.

        Args:
            target: the figure or table.
            stem: its name, or that of a panel.
            suffix: such as ``csv``, without the dot.
        """
        folder = PUBLISHED if target.kind == FIGURE else PUBLISHED_TABLES
        published = self.project.folder / folder / target.paper / f"{stem}.{suffix}"
        built = target.files[0].parent / published.name
        return next((path for path in (published, built) if path.is_file()), None)

    def frame(self, target: Target, stem: str) -> pd.DataFrame | None:
        """Return the csv of a figure, panel or table; an empty cell is NaN, or an empty text."""
        path = self.path(target, stem, "csv")
        if path is None:
            return None
        texts = dict.fromkeys(_TEXTS, str)
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=texts)
        return frame.fillna(dict.fromkeys(_TEXTS, ""))

    def files(self) -> Iterator[tuple[Target, Path]]:
        """Yield the files of each whole figure and table, to be copied."""
        for target in self.targets:
            for suffix in dict.fromkeys(path.suffix[1:] for path in target.files):
                path = self.path(target, target.name, suffix)
                if path is not None:
                    yield target, path
