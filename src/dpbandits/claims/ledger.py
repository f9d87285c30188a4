"""The tables of verdicts: a row a verdict, a row a comparison, both levels, all papers in one."""

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from dpbandits.claims.docket import Claim
from dpbandits.claims.judge import Judged, Judgement
from dpbandits.claims.verdict import VERDICTS, Rule, runs_needed, slack

COMPARISON_COLUMNS = (
    "claim",
    "variant",
    "interpretation",
    "part",
    "comparison",
    "estimate",
    "lo",
    "hi",
    "kind",
    "threshold",
    "level",
    "decided",
    "exploratory",
    "runs",
)

_LABELS_LISTED = 6


def ledger(judgements: Iterable[Judgement]) -> pd.DataFrame:
    """Return the rows of `results/PAPER/claims.csv`, in the order given.

    Estimate, lo and hi are those of the comparison that the claim's entry names to be shown, else
    of the binding one: the one nearest to its threshold where the claim holds, the one furthest on
    the wrong side where it fails.
    """
    rows = []
    for judgement in judgements:
        binding = binding_comparison(judgement)
        estimate, lo, hi = _numbers(_shown(judgement) or binding)
        row = {
            "claim": judgement.claim.id,
            "kind": judgement.claim.kind,
            "variant": judgement.interpretation.variant,
            "interpretation": judgement.interpretation.label,
            "verdict": judgement.verdict,
            "estimate": estimate,
            "lo": lo,
            "hi": hi,
            "runs": judgement.runs,
            "runs_paper": judgement.claim.runs_paper,
            "verdict_at_paper_runs": judgement.verdict_at_paper_runs,
            "scale": judgement.scale,
            "detail": _detail(judgement, binding),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _numbers(shown: Judged | None) -> tuple[float, float, float]:
    """Return the estimate of a comparison with its interval; NaN of none."""
    return (shown.estimate.value, shown.lo, shown.hi) if shown else (math.nan,) * 3


def comparisons(judgements: Iterable[Judgement]) -> pd.DataFrame:
    """Return every comparison behind the ledger as a row, in the order of the claims file.

    Exact comparisons have no level.
    """
    rows = [
        (
            judgement.claim.id,
            judgement.interpretation.variant,
            judgement.interpretation.label,
            one.part,
            one.label,
            *_numbers(one),
            one.comparison.kind,
            one.comparison.region.describe(),
            one.level if one.estimate.is_random else math.nan,
            one.decision,
            not one.comparison.decides,
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
    """Return the comparison that the verdict hangs on; None where nothing was compared.

    Presumed comparisons ("no significant increase") only where one of them refutes the claim.
    """
    counted = _counted(judgement)
    carrying = [one for one in counted if not one.comparison.region.is_presumed] or counted
    pro = [one for one in carrying if one.decision == "for"]
    contra = [one for one in counted if one.decision == "against"]
    pro += [one for one in carrying if one.decision == "neither"]
    open_ones = [one for one in counted if one.decision == "undecided"]
    if judgement.verdict == "undecided" or (
        judgement.verdict == "mixed" and open_ones and not contra
    ):
        return _last_open(open_ones or counted, judgement.claim.combine)
    nearest, furthest = (contra, pro) if judgement.claim.combine == "any" else (pro, contra)
    if furthest:
        return max(furthest, key=_slack)
    return min(nearest, key=_slack, default=None)


def _shown(judgement: Judgement) -> Judged | None:
    """Return the comparison that the claim's entry names to be shown; None where it names none."""
    name = judgement.claim.shown
    return next((one for one in judgement.comparisons if name and one.label == name), None)


def _last_open(comparisons: Sequence[Judged], rule: Rule) -> Judged | None:
    """Return the comparison whose decision would settle the verdict, as things stand.

    One against settles "all", one for settles "any": the soonest of those that lean that way.
    Without one, all the others are needed: the latest of them.
    """
    settling = [
        one
        for one in comparisons
        if one.comparison.region.contains(one.estimate.value, one.estimate.value) == (rule == "any")
    ]
    if settling:
        return min(settling, key=_runs_to_decide)
    return max(comparisons, key=_runs_to_decide, default=None)


def _counted(judgement: Judgement) -> list[Judged]:
    return [one for one in judgement.comparisons if one.comparison.decides]


def _slack(one: Judged) -> float:
    return slack(one.lo, one.hi, one.comparison.region)


def _runs_to_decide(one: Judged) -> float:
    # Without an interval nothing can be said; such a comparison explains the verdict best.
    if math.isnan(one.estimate.value):
        return math.inf
    return runs_needed(one.estimate, one.level, one.comparison.region)


def _detail(judgement: Judgement, binding: Judged | None) -> str:
    """Return how the verdict came about, in words."""
    claim, before = judgement.claim, judgement.before
    by_decision: dict[str, list[str]] = {
        decision: [] for decision in ("for", "against", "neither", "undecided")
    }
    for one in _counted(judgement):
        by_decision[one.decision].append(one.label)
    words = ["quick scale, no evidence"] if judgement.scale == "quick" else []
    if before:
        words += [_told_before(before), f"again on {judgement.runs} fresh runs"]
    if judgement.remark:
        words.append(judgement.remark)
    words += _parts(judgement)
    if any(by_decision.values()):
        counts = [
            f"{len(labels)} {decision}"
            for decision, labels in by_decision.items()
            if labels or decision != "neither"
        ]
        words.append(f"comparisons: {', '.join(counts)}")
    if claim.combine == "any":
        pro = by_decision["for"]
        words.append(f"for: {_listed(pro)}" if pro else "none is for")
    if shown := _shown(judgement):
        words.append(f"number shown: {shown.label}, without a threshold")
    if binding is not None:
        asked = binding.comparison.region.describe()
        words.append(f"binding comparison: {binding.label}, asked: {asked}")
    if claim.combine == "most":
        words += _by_outcome(by_decision, ("against", "undecided"))
    if judgement.verdict == "undecided" and by_decision["undecided"] and binding is not None:
        words.append(_needed(binding))
    return "; ".join(words)


def _by_outcome(named: Mapping[str, Sequence[str]], outcomes: Iterable[str]) -> list[str]:
    """Return those outcomes that there are, each with what came out so."""
    return [f"{outcome}: {_listed(named[outcome])}" for outcome in outcomes if named.get(outcome)]


def _told_before(first: Judgement) -> str:
    """Return what was judged again, and why."""
    failing = [name for name, verdict in first.parts.items() if verdict == "fails" and name]
    parts = f" ({_listed(failing)} fails)" if first.verdict == "mixed" and failing else ""
    contra = [one.label for one in _counted(first) if one.decision == "against"]
    labels = f", against: {_listed(contra)}" if contra else ""
    return f"first interim analysis: {first.verdict}{parts} on {first.runs} runs{labels}"


def _parts(judgement: Judgement) -> list[str]:
    """Return which parts came out how, where that is not plain from the verdict."""
    parts = judgement.parts
    is_told = judgement.verdict == "mixed" or (judgement.verdict == "undecided" and len(parts) > 1)
    if not is_told or set(parts) == {""}:
        return []
    named: dict[str, list[str]] = {
        verdict: [name for name, outcome in parts.items() if outcome == verdict]
        for verdict in VERDICTS
    }
    return _by_outcome(named, VERDICTS)


def _needed(binding: Judged) -> str:
    runs = _runs_to_decide(binding)
    if math.isfinite(runs):
        return f"about {math.ceil(runs)} runs would decide it"
    if math.isnan(binding.estimate.value):
        return "no number was measured"
    return "no number of runs can be named that would decide it"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _LABELS_LISTED
    listed = ", ".join(names[:_LABELS_LISTED])
    return f"{listed} and {more} more" if more > 0 else listed


EXACT = "exact"
"""The verdict does not depend on chance."""
IN_FAMILY = "yes"
"""The verdict is the same at the family-wise level."""
ALONE = "only at its own level"
"""The verdict is decided at the claim's own level, not at the family-wise one."""
OPEN = "-"
"""There is no verdict that could stand."""


def standing(alone: Judgement) -> str:
    """Return whether a verdict stands at the family-wise level, or only at its own."""
    if alone.verdict in ("undecided", "not applicable", "not testable"):
        return OPEN
    if alone.is_exact:
        return EXACT
    within = alone.in_family
    return IN_FAMILY if within and alone.verdict == within.verdict else ALONE


def simultaneous(judgements: Iterable[Judgement]) -> pd.DataFrame:
    """Return both verdicts on every row that is judged in a family too.

    ``measured`` and ``asked`` name the comparison whose estimate the ledger shows; of a reported
    one nothing is asked. The numbers that end in ``_in_family`` are those of the same kind of
    comparison at the second level. Exact rows have no levels.
    """
    rows = []
    for first in judgements:
        second = first.in_family
        if second is None:
            continue
        named = _shown(first) or binding_comparison(first)
        estimate, lo, hi = _numbers(_shown(second) or binding_comparison(second))
        has_levels = not first.is_exact
        row = {
            "claim": first.claim.id,
            "variant": first.interpretation.variant,
            "interpretation": first.interpretation.label,
            "verdict": first.verdict,
            "verdict_in_family": second.verdict,
            "family_wise": standing(first),
            "level": first.claim.level if has_levels else math.nan,
            "level_in_family": first.level_in_family if has_levels else math.nan,
            "estimate_in_family": estimate,
            "lo_in_family": lo,
            "hi_in_family": hi,
            "runs_in_family": second.runs,
            "measured": named.label if named else "",
            "asked": named.comparison.region.describe() if named else "",
        }
        rows.append(row)
    return pd.DataFrame(rows)


COLUMNS = (
    *("paper", "claim", "kind", "variant", "interpretation", "verdict", "verdict_in_family"),
    *("family_wise", "measured", "asked", "estimate", "lo", "hi", "runs", "runs_paper"),
    *("verdict_at_paper_runs", "scale", "level", "level_in_family", "runs_in_family"),
    *("place", "scope", "rule", "figure", "statement", "detail"),
)

KEYS = ["claim", "variant", "interpretation", "verdict"]
"""What the rows of the two files of a paper are told apart by."""


def join(
    paper: str,
    claims: Sequence[Claim],
    verdicts: pd.DataFrame,
    both: pd.DataFrame,
    figures: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Return the rows of one paper in the ledger of all, of its two tables of verdicts.

    ``figures`` has the files that show what each claim is about.
    """
    joined = verdicts.merge(both, on=KEYS, how="left", validate="one_to_one")
    by_id = {claim.id: claim for claim in claims}
    named = [by_id[identifier] for identifier in joined["claim"]]
    joined["paper"] = paper
    joined["place"] = [claim.place for claim in named]
    for column in ("statement", "scope", "rule"):
        joined[column] = [" ".join(getattr(claim, column).split()) for claim in named]
    joined["figure"] = [" ".join(figures[claim.id]) for claim in named]
    return joined[list(COLUMNS)]
