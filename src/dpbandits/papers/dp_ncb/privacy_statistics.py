"""Statistics of the exact witnesses on the privacy of GDP-NCB (claim C15)."""

from collections.abc import Iterator, Mapping

import pandas as pd

from dpbandits.claims import Estimate, Evidence, exact
from dpbandits.papers.dp_ncb.privacy_witnesses import WITNESSED

JUDGED_OFFSETS = (-50, 0, 100)
"""Pulls of arm 1 minus the threshold, of the witnesses as written that the claim reads."""


def witnessed_loss(evidence: Evidence, *, variant: str) -> Mapping[str, Estimate]:
    """Return ln of the ratio of an event's probabilities over epsilon, for each witness.

    The two reward sequences differ in one round, so that Theorem 2 allows 1 at most; one witness
    above 1 refutes it, and none establishes it.
    """
    return {name: exact(float(row["y"])) for name, row in _witnesses(evidence, variant)}


def witness_probability(evidence: Evidence, *, variant: str, of: str) -> Mapping[str, Estimate]:
    """Return log10 of a probability of each witness under the first reward sequence.

    Args:
        evidence: the results.
        variant: of the claim.
        of: ``probability``, of the event, given the arms of Phase I; ``arms``, of these.
    """
    return {name: exact(float(row[f"log10_{of}"])) for name, row in _witnesses(evidence, variant)}


def _witnesses(evidence: Evidence, variant: str) -> Iterator[tuple[str, "pd.Series[float]"]]:
    """Yield the name and the row of each witness that the claim reads."""
    rows = evidence.analytic("privacy-witnesses", variant=variant, quantity=WITNESSED)
    for _, row in rows.sort_values(["horizon", "epsilon", "x"]).iterrows():
        name = f"T={row['horizon']:.0e}, epsilon={row['epsilon']:g}"
        if variant != "as-written":
            yield name, row
        elif row["x"] in JUDGED_OFFSETS:
            yield f"{name}, threshold {int(row['x']):+d}", row
