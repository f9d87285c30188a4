"""The tables of verdicts: a row a reading, a row a comparison, all papers in one, and counts."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

import pandas as pd

from dpbandits.claims.judge import Judged, Judgement
from dpbandits.claims.verdict import VERDICTS, Verdict, decides_alone, of_readings
from dpbandits.config.claims import CLAIM_KINDS, Claim, StatedEntry

BESIDE = "beside"
"""Role of a reading that is measured, but neither judged nor counted."""
JUDGED = "judged"

EXACT = "exact"
"""The verdict does not depend on chance."""
IN_FAMILY = "yes"
"""The verdict is the same at the family-wise level."""
ALONE = "only at its own level"
"""The verdict is decided at the claim's own level, not at the family-wise one."""


def verdict_table(judgements: Iterable[Judgement]) -> pd.DataFrame:
    """Return the rows of `results/PAPER/claims.csv` or `findings.csv`, in the order given.

    ``verdict`` is that on the claim, by all its readings, ``of_reading`` that on the row's reading.
    Estimate, lo and hi are those of the binding comparison: the one nearest to its threshold where
    the sentence is as stated, the one furthest on the wrong side where it is not; ``measured`` is
    its label, which is ``comparison`` in the table of evidence.
    """
    several = list(judgements)
    words: dict[str, list[str]] = {}
    for each in several:
        if each.verdict:
            words.setdefault(each.claim.id, []).append(each.word)
    rows = []
    for each in several:
        binding = binding_comparison(each)
        number = (binding.estimate.value, binding.lo, binding.hi) if binding else (math.nan,) * 3
        row: dict[str, Any] = {
            "claim": each.claim.id,
            "kind": each.claim.kind,
            "variant": each.reading.variant,
            "interpretation": each.reading.label,
            "role": JUDGED if each.verdict else BESIDE,
            "verdict": of_readings(words[each.claim.id]) if each.verdict else "",
            "of_reading": each.word,
            "family_wise": standing(each),
            "measured": binding.label if binding else "",
            "asked": binding.region.describe() if binding else "",
            **dict(zip(("estimate", "lo", "hi"), number, strict=True)),
            "runs": each.runs,
            "runs_paper": each.claim.runs_paper,
            "visible": "{} of {}".format(*each.visible) if each.visible else "",
            "chance": _chance(each),
            "seen_from": each.number(each.claim.seen_from),
            "level": math.nan if each.is_exact else each.level,
            "level_in_family": each.in_family.level if each.in_family else math.nan,
            "scale": each.scale,
            "detail": _detail(each),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _chance(judgement: Judgement) -> str:
    """Return the probability of the event that a row is about, such as ``10^-40,809``.

    That under both inputs where both are named, as where delta > 0: ``0.5 against 0.0006``.
    """
    log10 = [judgement.number(name) for name in judgement.claim.chance]
    texts = (f"{10.0**log:.2g}" if log > -4.0 else f"10^{round(log):,}" for log in log10)
    return "" if any(map(math.isnan, log10)) else " against ".join(texts)


COMPARISON_COLUMNS = (
    *("claim", "variant", "interpretation", "comparison", "estimate", "lo", "hi"),
    *("kind", "threshold", "ours", "level", "decided", "runs"),
)


def evidence_table(judgements: Iterable[Judgement]) -> pd.DataFrame:
    """Return every comparison behind the verdicts as a row, in the order of the entries.

    Exact comparisons have no level. Readings beside decide nothing.
    """
    rows = [
        (
            judgement.claim.id,
            judgement.reading.variant,
            judgement.reading.label,
            one.label,
            one.estimate.value,
            one.lo,
            one.hi,
            one.comparison.kind,
            one.region.describe(),
            one.comparison.ours,
            one.level if one.estimate.is_random else math.nan,
            one.decision,
            one.estimate.runs,
        )
        for judgement in judgements
        for one in judgement.comparisons
    ]
    return pd.DataFrame(rows, columns=list(COMPARISON_COLUMNS))


def to_csv(frame: pd.DataFrame) -> str:
    """Return a frame as csv text: eight significant digits, line feeds, nothing for NaN."""
    return str(frame.to_csv(index=False, float_format="%.8g", lineterminator="\n"))


def binding_comparison(judgement: Judgement) -> Judged | None:
    """Return the comparison that decides the verdict; None where nothing was compared."""
    by_decision: dict[str, list[Judged]] = {}
    for one in judgement.comparisons:
        if one.comparison.decides:
            by_decision.setdefault(one.decision, []).append(one)
    slack = attrgetter("slack")
    for decisive in (decides_alone(judgement.claim), "against"):
        if decisive and decisive in by_decision:
            return max(by_decision[decisive], key=slack)
    nearest = (by_decision[key] for key in ("undecided", "for", "equal") if key in by_decision)
    return min(next(nearest, []), key=slack, default=None)


def _detail(judgement: Judgement) -> str:
    """Return how the verdict came about, in words: counts, and the points that are exceptions."""
    words = ["quick scale, no evidence"] if judgement.scale == "quick" else []
    words += filter(None, [judgement.remark, judgement.claim.cannot])
    counted = [one for one in judgement.comparisons if one.comparison.decides]
    if counted and judgement.verdict:
        decisions = Counter(one.decision for one in counted)
        words.append(
            f"{decisions['for']} of {len(counted) - decisions['equal']} comparisons as stated"
        )
        told = {"against": "except at", "undecided": "open", "equal": "equal"}
        if decides_alone(judgement.claim) == "for":
            told = {"for": "as at"}
        for decision, said in told.items():
            labels = [one.label for one in counted if one.decision == decision]
            words += [f"{said}: {'; '.join(labels)}"] if labels else []
    ours = [one for one in judgement.comparisons if one.comparison.ours]
    contra = [one.label for one in ours if one.decision == "against"]
    words += [f"otherwise at values that we chose: {'; '.join(contra)}"] if contra else []
    return ". ".join(each.rstrip(".") for each in words)


def standing(judgement: Judgement) -> str:
    """Return whether a verdict holds at the family-wise level, or only at its own."""
    if judgement.verdict in (None, "undecided", "cannot be tested here", "size only"):
        return ""
    within = judgement.in_family
    if within is None:
        return EXACT if judgement.is_exact else ""
    return IN_FAMILY if judgement.verdict == within.verdict else ALONE


LEDGER_COLUMNS = (
    *("paper", "claim", "kind", "variant", "interpretation", "role", "verdict", "of_reading"),
    *("family_wise", "measured", "asked", "estimate", "lo", "hi", "runs", "runs_paper", "visible"),
    *("chance", "seen_from", "level", "level_in_family", "scale"),
    *("place", "scope", "says", "figure", "detail"),
)


def join(
    paper: str,
    claims: Sequence[Claim],
    verdicts: pd.DataFrame,
    figures: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Return the table of verdicts of one paper as its rows in the ledger of all papers.

    ``figures`` has the files that show what each claim is about.
    """
    joined = verdicts.copy()
    by_id = {claim.id: claim for claim in claims}
    named = [by_id[identifier] for identifier in joined["claim"]]
    joined["paper"] = paper
    joined["place"] = [claim.place for claim in named]
    for column in ("says", "scope"):
        joined[column] = [" ".join(getattr(claim, column).split()) for claim in named]
    joined["figure"] = [" ".join(figures[claim.id]) for claim in named]
    return joined[list(LEDGER_COLUMNS)]


def count_verdicts(
    ledger: pd.DataFrame, claims: Iterable[StatedEntry]
) -> dict[str, dict[Verdict, int]]:
    """Return by kind how many claims in rows of the ledger have which verdict; each claim once.

    Those of the ``claims`` that follow from another one are not counted apart.
    """
    following = {each.id for each in claims if getattr(each, "follows_from", None)}
    judged = ledger[(ledger["role"] == JUDGED) & ~ledger["claim"].isin(following)]
    once = judged.drop_duplicates(["claim"])
    return {
        kind: {
            word: count
            for word in VERDICTS
            if (count := int(((once["kind"] == kind) & (once["verdict"] == word)).sum()))
        }
        for kind in CLAIM_KINDS
    }
