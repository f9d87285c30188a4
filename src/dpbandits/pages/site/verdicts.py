"""Verdicts as pages show them: claims with their rows, and the comparisons behind a row."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpbandits.algorithms.base import VARIANTS
from dpbandits.claims.ledger import EXACT
from dpbandits.pages.site.model import Site, claim_address
from dpbandits.reporting.tables import at_paper_runs

Values = dict[str, Any]


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
        "rows": [_row(row) for row in rows.to_dict("records")],
        "by_variant": [
            (variant, list(dict.fromkeys(rows.loc[rows["variant"] == variant, "verdict"])))
            for variant in VARIANTS
            if variant in set(rows.loc[rows["verdict"] != "not applicable", "variant"])
        ],
    }


def _row(row: Mapping[Any, Any]) -> Values:
    """Return a row of the ledger with the texts that are made of several columns."""
    is_judged = row["verdict"] not in ("not applicable", "not testable")
    return {
        **row,
        "is_judged": is_judged,
        "runs_text": (f"{row['runs']:,}" if row["runs"] else EXACT) if is_judged else "-",
        "at_paper_runs": at_paper_runs(row) if is_judged else "-",
    }


def evidence_of(site: Site, name: str) -> list[Values]:
    """Return the comparisons behind a claim or finding, by variant and interpretation."""
    rows = site.evidence[site.evidence["claim"] == name]
    groups = rows.groupby(["variant", "interpretation"], sort=False)
    return [
        {
            "variant": variant,
            "interpretation": interpretation,
            "rows": own.to_dict("records"),
            "size": len(own),
            "has_parts": bool((own["part"] != "").any()),
            "decided": {word: int((own["decided"] == word).sum()) for word in own["decided"]},
        }
        for (variant, interpretation), own in groups
    ]
