"""What the pages of the site share: sources, texts, figures, verdicts, addresses."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from dpbandits.algorithms.base import VARIANTS
from dpbandits.claims.docket import Finding
from dpbandits.claims.ledger import EXACT, together
from dpbandits.errors import InputError
from dpbandits.pages.contents import Contents, by_figure, by_verdict, head_of
from dpbandits.pages.published import (
    PUBLISHED,
    PUBLISHED_TABLES,
    evidence_path,
    published_findings,
    published_ledger,
    published_papers,
)
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.targets import EXTRA, FIGURE, TABLE, Target, targets
from dpbandits.reporting.tables import at_paper_runs

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


Values = dict[str, Any]


def _row(site: "Site", row: Mapping[Any, Any]) -> Values:
    """Return a row of the ledger with the texts that are made of several columns."""
    is_judged = row["verdict"] not in ("not applicable", "not testable")
    return {
        **row,
        "words": site.contents.in_words(row["paper"], row["interpretation"]),
        "is_judged": is_judged,
        "runs_text": (f"{row['runs']:,}" if row["runs"] else EXACT) if is_judged else "-",
        "at_paper_runs": at_paper_runs(row) if is_judged else "-",
    }


UNPUBLISHED = "Its numbers are not published yet."
"""Stands for a statement whose numbers are in no csv."""


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
            raise InputError(
                f"{folder}: has no verdicts of {', '.join(self.project.chosen)}; allowed: "
                f"published ones (dpbandits publish)"
            )
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


counts = by_verdict


def about(ledger: pd.DataFrame, group: FigureGroup) -> pd.DataFrame:
    """Return the rows of the ledger about a figure or any of its panels."""
    if group.paper not in set(ledger["paper"]):
        return ledger.iloc[:0]
    folder = f"docs/figures/{group.paper}"
    paths = {f"{folder}/{stem}.png" for stem in group.stems}
    return ledger[ledger["figure"].map(lambda text: not paths.isdisjoint(text.split()))]


def claims_of(site: Site, ledger: pd.DataFrame) -> list[Values]:
    """Return the claims of some rows of the ledger, each with its rows."""
    return [
        claim_values(site, rows) for _, rows in ledger.groupby("claim", sort=False) if len(rows)
    ]


def claim_values(site: Site, rows: pd.DataFrame) -> Values:
    """Return a claim and its rows."""
    first = rows.iloc[0]
    keys = ("paper", "kind", "place", "statement", "scope", "rule")
    return {
        "id": first["claim"],
        "address": claim_address(first["claim"]),
        **{key: first[key] for key in keys},
        "figures": site.shown_by(first["figure"]),
        "rows": [_row(site, row) for row in rows.to_dict("records")],
        "by_variant": [
            (variant, list(dict.fromkeys(rows.loc[rows["variant"] == variant, "verdict"])))
            for variant in VARIANTS
            if variant in set(rows.loc[rows["verdict"] != "not applicable", "variant"])
        ],
    }


def evidence_of(site: Site, paper: str, name: str) -> list[Values]:
    """Return the comparisons behind a claim or finding, by variant and interpretation."""
    rows = site.evidence[site.evidence["claim"] == name]
    groups = rows.groupby(["variant", "interpretation"], sort=False)
    return [
        {
            "variant": variant,
            "interpretation": interpretation,
            "words": site.contents.in_words(paper, str(interpretation)),
            "rows": own.to_dict("records"),
            "size": len(own),
            "has_parts": bool((own["part"] != "").any()),
            "decided": {word: int((own["decided"] == word).sum()) for word in own["decided"]},
        }
        for (variant, interpretation), own in groups
    ]
