"""The whole ledger at one level: every claim is judged a second time, more strictly.

A claim that is judged by itself may be decided wrongly with the chance that its entry allows. Of
many claims some then will be. Here the chance that any comparison of any verdict in the ledger is
decided wrongly is at most 5 %: each claim gets an equal share of it (Bonferroni), which its rows
share equally; within a row the looks share it and Holm's levels keep it, as by itself.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from dpbandits.claims.entries import Claim
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, Scale, judge
from dpbandits.claims.ledger import decisive
from dpbandits.claims.verdict import ALPHA

SIMULTANEOUS_COLUMNS = (
    "claim",
    "variant",
    "reading",
    "verdict",
    "verdict_in_ledger",
    "stands",
    "level",
    "level_in_ledger",
    "estimate_in_ledger",
    "lo_in_ledger",
    "hi_in_ledger",
    "runs_in_ledger",
    "measured",
    "asked",
)

EXACT = "exact"
"""The verdict does not depend on chance."""
IN_LEDGER = "yes"
"""The verdict is the same at the level of the ledger."""
ALONE = "only by itself"
"""The verdict is decided at the claim's own level, not at that of the ledger."""
OPEN = "-"
"""There is no verdict that could stand."""


def ledger_level(claim: Claim, claims: int) -> float:
    """Return the level at which each row of a claim is judged within a ledger.

    Args:
        claim: the claim.
        claims: how many claims the ledger has.
    """
    rows = sum(reading.not_applicable is None for reading in claim.readings)
    return min(claim.level, ALPHA / claims / max(rows, 1))


def judge_in_ledger(
    claims: Sequence[Claim], evidence: Evidence, size: int, scale: Scale = "paper"
) -> list[Judgement]:
    """Judge every reading of every claim at the level of the ledger.

    Args:
        claims: those of one paper.
        evidence: the results they read.
        size: how many claims the ledger has, over all papers.
        scale: as for ``judge``.
    """
    stricter = [replace(claim, level=ledger_level(claim, size)) for claim in claims]
    return judge(stricter, evidence.with_tails(), scale)


def is_exact(judgement: Judgement) -> bool:
    """Whether no comparison behind a verdict varies with the runs."""
    return not any(
        each.estimate.is_random and not each.comparison.exploratory
        for each in judgement.comparisons
    )


def standing(alone: Judgement, within: Judgement) -> str:
    """Say whether a verdict stands in the whole ledger, or only by itself."""
    if alone.verdict in ("undecided", "not-applicable"):
        return OPEN
    if is_exact(alone):
        return EXACT
    return IN_LEDGER if alone.verdict == within.verdict else ALONE


def simultaneous(alone: Sequence[Judgement], within: Sequence[Judgement]) -> pd.DataFrame:
    """Return both verdicts on every row, and what the first one hangs on.

    Args:
        alone: the judgements at the claims' own levels.
        within: those at the level of the ledger, in the same order.

    Returns:
        One row a verdict. ``measured`` and ``asked`` name the comparison whose estimate the
        ledger shows; the numbers that end in ``_in_ledger`` are those of the same kind of
        comparison at the second level. Exact rows have no levels.
    """
    rows = []
    for first, second in zip(alone, within, strict=True):
        hinge, other = decisive(first), decisive(second)
        levels = (math.nan,) * 2 if is_exact(first) else (first.claim.level, second.claim.level)
        numbers = (other.estimate.value, other.lo, other.hi) if other else (math.nan,) * 3
        row = (
            first.claim.id,
            first.reading.variant,
            first.reading.label,
            first.verdict,
            second.verdict,
            standing(first, second),
            *levels,
            *numbers,
            second.runs,
            hinge.label if hinge else "",
            hinge.comparison.region.describe() if hinge else "",
        )
        rows.append(row)
    return pd.DataFrame(rows, columns=list(SIMULTANEOUS_COLUMNS))
