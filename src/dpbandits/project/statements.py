"""The claims of a paper and the findings on it, as its config states them."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from dpbandits.claims.entries import Claim, Finding
from dpbandits.claims.files import Notes, Summary
from dpbandits.claims.loading import load_claims, load_findings, load_notes, load_summary
from dpbandits.errors import InputError
from dpbandits.papers import COMPARISONS, find_paper

if TYPE_CHECKING:
    from dpbandits.project.config import Project


@dataclass(frozen=True)
class Statements:
    """What is judged of a paper; a comparison across papers states nothing.

    Attributes:
        paper: its short name.
        claims_path: the file of its claims.
        findings_path: the file of the findings on it; it may be missing.
    """

    paper: str
    claims_path: Path
    findings_path: Path

    @property
    def is_comparison(self) -> bool:
        """Whether this is a comparison across papers."""
        return self.paper in COMPARISONS

    @cached_property
    def claims(self) -> list[Claim]:
        """The claims, checked."""
        if self.is_comparison:
            return []
        return load_claims(self.claims_path, find_paper(self.paper).statistics)

    @cached_property
    def notes(self) -> Notes:
        """What the file of the claims says beside them."""
        return Notes() if self.is_comparison else load_notes(self.claims_path)

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings, checked."""
        if self.is_comparison or not self.findings_path.exists():
            return []
        return load_findings(self.findings_path, find_paper(self.paper).statistics)

    @cached_property
    def summary(self) -> Summary:
        """The sentence of the findings that sums up the paper; InputError where there is none."""
        path = self.findings_path
        summary = load_summary(path) if path.exists() else None
        if summary is None:
            raise InputError(f"{path}: key summary is missing; allowed: here or in paper.yaml")
        return summary

    @property
    def reads(self) -> list[str]:
        """Names of the results that the claims and the findings read, sorted."""
        entries = [*self.claims, *(finding.claim for finding in self.findings)]
        return sorted({name for claim in entries for name in claim.reads})

    @property
    def statistics(self) -> set[str]:
        """Modules of the statistics that the claims and the findings name."""
        entries = [*self.claims, *(finding.claim for finding in self.findings)]
        return {each.statistic.__module__ for claim in entries for each in claim.comparisons}

    def texts(self) -> list[str]:
        """Return the files of the claims and the findings, as far as there are any."""
        paths = [self.claims_path, self.findings_path]
        return [path.read_text(encoding="utf-8") for path in paths if path.exists()]


def claim_figures(project: "Project", paper: str, claim: Claim) -> list[str]:
    """Return a file of each figure, panel and table that a claim is about, in the project."""
    tables = project.experiments(paper).tables
    paths = [
        project.tables_folder(paper) / f"{name}.csv"
        if name in tables
        else project.figures_folder(paper) / f"{name}.png"
        for name in claim.figures
    ]
    return [path.relative_to(project.folder).as_posix() for path in paths]
