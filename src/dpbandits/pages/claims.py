"""`docs/claims.md`: an index of the claims, their rules and verdicts, and the findings."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpbandits.claims.ledger import ALONE, EXACT, IN_FAMILY, together
from dpbandits.claims.verdict import ALPHA, VERDICTS
from dpbandits.pages.published_ledger import (
    REPAIRED,
    published_figures,
    published_findings,
    published_ledger,
    published_papers,
)
from dpbandits.pages.render import render
from dpbandits.pipeline.project import Project
from dpbandits.reporting.tables import choice, interval


def claims_page(project: Project) -> str:
    """Return the page as the published verdicts have it."""
    papers = published_papers(project)
    whole = together([published_ledger(project, paper) for paper in papers])
    random = whole[whole["level"].notna()]
    size = whole["claim"].nunique()
    return render(
        "claims.md",
        verdicts=VERDICTS,
        claims=size,
        rows=len(whole),
        random=len(random),
        expected=random["level"].sum(),
        level=ALPHA / size,
        in_family=(random["family_wise"] == IN_FAMILY).sum(),
        in_all=(random["family_wise_in_all"] == IN_FAMILY).sum(),
        alone=[_row(row) for row in whole[whole["family_wise"] == ALONE].to_dict("records")],
        papers=[_paper(project, name, whole[whole["paper"] == name]) for name in papers],
    )


def _paper(project: Project, name: str, ledger: pd.DataFrame) -> dict[str, Any]:
    """Return the claims, findings and notes of a paper, and the counts of its verdicts."""
    study = project.study(name)
    is_repaired = ledger["variant"] == REPAIRED
    repaired, ledger = (
        ledger[is_repaired & (ledger["verdict"] != "not applicable")],
        ledger[~is_repaired],
    )
    verdicts, stands = ledger["verdict"].value_counts(), ledger["family_wise"].value_counts()
    counts = [verdicts.get(word, 0) for word in VERDICTS]
    counts += [stands.get(word, 0) for word in (EXACT, IN_FAMILY, ALONE)]
    by_claim = ledger.groupby("claim", sort=False)
    return {
        "name": name,
        "title": study.title,
        "authors": study.authors,
        "counts": [ledger["claim"].nunique(), len(ledger), *counts],
        "claims": [[_row(row) for row in rows.to_dict("records")] for _, rows in by_claim],
        "repaired": [_row(row) for row in repaired.to_dict("records")],
        "findings": [
            {
                "id": finding.claim.id,
                "title": finding.title,
                "place": finding.claim.place,
                "beside": finding.beside,
                "figures": published_figures(project, name, finding.claim),
                "statement": statement,
                "outcome": outcome,
            }
            for finding, statement, outcome in published_findings(project, name)
        ],
        "notes": project.study(name).notes,
    }


def _row(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row of the ledger with its cells as they are printed."""
    return {
        **row,
        "figures": row["figure"].split(),
        "choice": choice(row),
        "interval": interval(row),
    }
