"""The published verdicts and findings, read from the csv files under `docs/figures`."""

from pathlib import Path

import pandas as pd

from dpbandits.claims.docket import Claim, Finding
from dpbandits.claims.ledger import join, read_ledger
from dpbandits.errors import InputError
from dpbandits.pages.published_numbers import PUBLISHED, filled
from dpbandits.pipeline.project import Project
from dpbandits.pipeline.publish import claim_figures

PUBLISHED_TABLES = Path("docs/tables")

REPAIRED = "repaired"
"""The variant that is no statement on a paper, and so counted and shown apart."""


def published_papers(project: Project) -> list[str]:
    """Return the published papers whose verdicts are there."""
    folder = project.folder / PUBLISHED
    return [paper for paper in project.published if (folder / paper / "simultaneous.csv").exists()]


def published_ledger(project: Project, paper: str) -> pd.DataFrame:
    """Return the published verdicts on a paper's claims, as rows of the ledger of all papers."""
    folder = project.folder / PUBLISHED / paper
    claims = project.study(paper).claims
    figures = {claim.id: published_figures(project, paper, claim) for claim in claims}
    verdicts, both = (read_ledger(folder / f"{name}.csv") for name in ("claims", "simultaneous"))
    return join(paper, claims, verdicts, both, figures)


def published_figures(project: Project, paper: str, claim: Claim) -> list[str]:
    """Return the published copy of each figure, panel and table that a claim is about."""
    built = (Path(path) for path in claim_figures(project, paper, claim))
    return [
        ((PUBLISHED if path.suffix == ".png" else PUBLISHED_TABLES) / paper / path.name).as_posix()
        for path in built
    ]


def published_findings(
    project: Project, paper: str, unpublished: str | None = None
) -> list[tuple[Finding, str, str]]:
    """Return each finding on a paper with its statement, numbers filled in, and what became of it.

    What became of it is ``shown``, ``not shown``, ``undecided`` or ``reported``; where its rows
    differ, each of these once.

    Args:
        project: the project.
        paper: short name of the paper.
        unpublished: stands for a statement of which a number is not published.

    Raises:
        InputError: a number is not published, and ``unpublished`` is not given.
    """
    findings = project.study(paper).findings
    if not findings:
        return []
    rows = read_ledger(project.folder / PUBLISHED / paper / "findings.csv")
    answers = []
    for finding in findings:
        name = finding.claim.id
        place = f"{project.study(paper).findings_path}: findings.{name}"
        try:
            statement = filled(project, paper, finding.claim.statement, finding.numbers, place)
        except InputError:
            if unpublished is None:
                raise
            statement = unpublished
        words = dict.fromkeys(rows.loc[rows["claim"] == name, "verdict"])
        answers.append((finding, statement, ", ".join(words)))
    return answers
