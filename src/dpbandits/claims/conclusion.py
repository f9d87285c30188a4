"""A verdict in one sentence: what was asked, what was found, and what follows."""

import math
from collections.abc import Mapping
from typing import Any

from dpbandits.claims.entries import Claim

_CONCLUSIONS = {
    "holds": "the claim holds",
    "fails": "the claim fails",
    "mixed": "the claim is mixed, since its parts come out differently",
    "undecided": "the claim is undecided",
    "not contradicted": "the claim is not contradicted",
}
"""Verdict -> what follows."""

_UNITS = {"nash_regret": "Nash regret", "pseudo_regret": "pseudo-regret"}
"""Names of metrics -> words."""


def conclusion(claim: Claim, row: Mapping[Any, Any], compared: int, figure: str | None) -> str:
    """Return what was asked, found and concluded on one row of the ledger, in one sentence.

    Args:
        claim: the claim.
        row: its columns in ``claims.csv`` and ``simultaneous.csv``.
        compared: number of comparisons that enter the verdict.
        figure: file of the figure that shows the variant of the row, or None.
    """
    shown = f"; see {figure}" if figure else "; no figure shows this variant"
    choice = f" ({row['interpretation']})" if row["interpretation"] else ""
    begin = f"In short, {str(row['variant']).replace('-', ' ')}{choice}:"
    if not row["measured"]:
        reason = str(row["detail"]).rstrip(".") or "nothing was compared"
        return f"{begin} the claim is {row['verdict']}, since {reason}{shown}."
    binding = f", the binding one of {compared} comparisons" if compared > 1 else ""
    measured = f"{row['measured']} ({_in_words(claim.metric)})"
    asked = f"asked whether {measured} is {row['asked']}{binding}"
    runs = int(row["runs"])
    by = f"{runs:,} run{'s' * (runs > 1)} found" if runs else "exact computation found"
    followed = _CONCLUSIONS.get(row["verdict"], f"the claim is {row['verdict']}")
    return f"{begin} {asked}, {by} {found_text(row)}, so that {followed}{shown}."


def found_text(row: Mapping[Any, Any]) -> str:
    """Return the estimate, with its interval where it has one."""
    value, low, high = (float(row[key]) for key in ("estimate", "lo", "hi"))
    if math.isnan(value):
        return "no number"
    if low == high or math.isnan(low) or math.isnan(high):
        return f"{value:.4g}"
    return f"{value:.4g} [{low:.4g}, {high:.4g}]"


def _in_words(metric: str) -> str:
    for name, words in _UNITS.items():
        metric = metric.replace(name, words)
    return metric.replace("_", " ")
