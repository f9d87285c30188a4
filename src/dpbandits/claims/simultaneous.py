"""Verdicts at the family-wise level: the claims of a paper are one family, judged more strictly.

A claim that is judged at its own level may be decided wrongly with the chance that its entry
allows. Of many claims some then will be. Here the chance that any comparison of any verdict on a
paper is decided wrongly is at most 5 %: each claim gets an equal share of it (Bonferroni), which
its rows share equally; within a row the interim analyses share it and Holm's levels keep it. The
family is the paper, so that another paper or claim elsewhere moves nothing. For a level over all
papers, which is a matter of the page that shows them together, each verdict has the strictest of
some levels at which it is still the same.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from dpbandits.claims.entries import Claim
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, Scale, judge_interpretation
from dpbandits.claims.ledger import binding_comparison
from dpbandits.claims.verdict import ALPHA

SIMULTANEOUS_COLUMNS = (
    "claim",
    "variant",
    "interpretation",
    "verdict",
    "verdict_in_family",
    "family_wise",
    "level",
    "level_in_family",
    "smallest_level",
    "estimate_in_family",
    "lo_in_family",
    "hi_in_family",
    "runs_in_family",
    "measured",
    "asked",
)

EXACT = "exact"
"""The verdict does not depend on chance."""
IN_FAMILY = "yes"
"""The verdict is the same at the family-wise level."""
ALONE = "only at its own level"
"""The verdict is decided at the claim's own level, not at the family-wise one."""
OPEN = "-"
"""There is no verdict that could stand."""

STRICTER = (1.0, 8.0, 64.0)
"""The family-wise level is divided by these to see how strict a level a verdict stands."""


@dataclass(frozen=True)
class InFamily:
    """A row judged at the family-wise level.

    Attributes:
        judgement: at that level.
        smallest_level: the strictest of the levels tried at which, and at all milder ones, the
            verdict is that at the claim's own level; NaN for none.
    """

    judgement: Judgement
    smallest_level: float


def family_level(claim: Claim, claims: int) -> float:
    """Return the level at which each row of a claim is judged within its family.

    Args:
        claim: the claim.
        claims: how many claims the family has.
    """
    rows = sum(interpretation.is_judged for interpretation in claim.interpretations)
    return min(claim.level, ALPHA / claims / max(rows, 1))


def judge_in_family(
    alone: Sequence[Judgement], evidence: Evidence, size: int, scale: Scale = "paper"
) -> list[InFamily]:
    """Judge rows again at the family-wise level of their paper, and at stricter ones.

    Args:
        alone: the judgements at the claims' own levels.
        evidence: the results they read.
        size: how many claims the family has.
        scale: as for ``judge``.
    """
    return [row_in_family(each, evidence, size, scale) for each in alone]


def row_in_family(
    alone: Judgement, evidence: Evidence, size: int, scale: Scale = "paper"
) -> InFamily:
    """Judge one row again, as ``judge_in_family`` does every one."""
    tails = evidence.with_tails()
    level = family_level(alone.claim, size)
    if is_exact(alone):
        return InFamily(_at_level(alone, tails, level, scale), math.nan)
    judged: list[Judgement] = []
    down_to = math.nan
    for divisor in STRICTER:
        judged.append(_at_level(alone, tails, level / divisor, scale))
        if judged[-1].verdict != alone.verdict:
            break
        down_to = level / divisor
    return InFamily(judged[0], down_to)


def _at_level(alone: Judgement, tails: Evidence, level: float, scale: Scale) -> Judgement:
    row = replace(alone.claim, level=level, interpretations=(alone.interpretation,))
    return judge_interpretation(row, alone.interpretation, tails, scale)


def is_exact(judgement: Judgement) -> bool:
    """Whether no comparison behind a verdict varies with the runs."""
    return not any(
        each.estimate.is_random and each.comparison.decides for each in judgement.comparisons
    )


def standing(alone: Judgement, within: Judgement) -> str:
    """Return whether a verdict stands at the family-wise level, or only at its own."""
    if alone.verdict in ("undecided", "not applicable", "not testable"):
        return OPEN
    if is_exact(alone):
        return EXACT
    return IN_FAMILY if alone.verdict == within.verdict else ALONE


def simultaneous(alone: Sequence[Judgement], within: Sequence[InFamily]) -> pd.DataFrame:
    """Return both verdicts on every row, and the comparison that decides the first one.

    Args:
        alone: the judgements at the claims' own levels.
        within: those at the family-wise level, in the same order.

    Returns:
        One row a verdict. ``measured`` and ``asked`` name the comparison whose estimate the
        ledger shows; the numbers that end in ``_in_family`` are those of the same kind of
        comparison at the second level. Exact rows have no levels.
    """
    rows = [_row(first, each) for first, each in zip(alone, within, strict=True)]
    return pd.DataFrame(rows, columns=list(SIMULTANEOUS_COLUMNS))


def _row(first: Judgement, within: InFamily) -> tuple[object, ...]:
    second = within.judgement
    binding, other = binding_comparison(first), binding_comparison(second)
    levels = (first.claim.level, second.claim.level, within.smallest_level)
    numbers = (other.estimate.value, other.lo, other.hi) if other else (math.nan,) * 3
    return (
        first.claim.id,
        first.interpretation.variant,
        first.interpretation.label,
        first.verdict,
        second.verdict,
        standing(first, second),
        *((math.nan,) * 3 if is_exact(first) else levels),
        *numbers,
        second.runs,
        binding.label if binding else "",
        binding.comparison.region.describe() if binding else "",
    )
