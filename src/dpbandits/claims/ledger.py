"""The ledger: one row a verdict, one row a comparison, and the verdict told line by line."""

import math
from collections.abc import Iterable, Sequence

import pandas as pd

from dpbandits.claims.judge import Judged, Judgement
from dpbandits.claims.verdict import VERDICTS, Rule, runs_needed, slack

LEDGER_COLUMNS = (
    "claim",
    "kind",
    "variant",
    "interpretation",
    "verdict",
    "estimate",
    "lo",
    "hi",
    "runs",
    "runs_paper",
    "verdict_at_paper_runs",
    "scale",
    "detail",
)

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
    for each in judgements:
        binding = binding_comparison(each)
        shown = _shown(each) or binding
        numbers = (shown.estimate.value, shown.lo, shown.hi) if shown else (math.nan,) * 3
        row = (
            each.claim.id,
            each.claim.kind,
            each.interpretation.variant,
            each.interpretation.label,
            each.verdict,
            *numbers,
            each.runs,
            each.claim.runs_paper,
            each.verdict_at_paper_runs,
            each.scale,
            _detail(each, binding),
        )
        rows.append(row)
    return pd.DataFrame(rows, columns=list(LEDGER_COLUMNS))


def comparisons(judgements: Iterable[Judgement]) -> pd.DataFrame:
    """Return every comparison behind the ledger as a row, in the order of the claims file.

    Exact comparisons have no level.
    """
    rows = [
        (
            judgement.claim.id,
            judgement.interpretation.variant,
            judgement.interpretation.label,
            each.part,
            each.label,
            each.estimate.value,
            each.lo,
            each.hi,
            each.comparison.kind,
            each.comparison.region.describe(),
            each.level if each.estimate.is_random else math.nan,
            each.decision,
            not each.comparison.decides,
            each.estimate.runs,
        )
        for judgement in judgements
        for each in judgement.comparisons
    ]
    return pd.DataFrame(rows, columns=list(COMPARISON_COLUMNS))


def to_csv(frame: pd.DataFrame) -> str:
    """Return a frame as csv text: eight significant digits, line feeds, nothing for NaN."""
    return str(frame.to_csv(index=False, float_format="%.8g", lineterminator="\n"))


def explain(judgement: Judgement) -> str:
    """Tell how a verdict came about, line by line."""
    claim = judgement.claim
    row = ", ".join(
        each for each in (judgement.interpretation.variant, judgement.interpretation.label) if each
    )
    lines = [
        f"{claim.id} ({claim.kind}; {claim.place}), {row}",
        f"  statement: {claim.statement}",
        f"  scope: {claim.scope}",
        f"  decided by: {claim.rule}",
        f"  metric: {claim.metric}; results: {', '.join(claim.reads)}",
    ]
    if judgement.analyses and judgement.runs:
        analyses = ", ".join(str(runs) for runs in judgement.analyses)
        lines.append(f"  interim analyses: {analyses} runs, each at level {judgement.level:.4g}")
    if judgement.before:
        lines.append(f"  judged again: on {judgement.runs} fresh runs, shown below")
    for part in dict.fromkeys(each.part for each in judgement.comparisons):
        if part:
            outcome = judgement.parts.get(part, "reported only")
            lines.append(f"  part {part!r}: {outcome}")
        lines += [_line(each) for each in judgement.comparisons if each.part == part]
    lines.append(
        f"  verdict: {judgement.verdict}; {_detail(judgement, binding_comparison(judgement))}"
    )
    if claim.runs_paper:
        outcome = judgement.verdict_at_paper_runs
        lines.append(f"  verdict at the paper's {claim.runs_paper} runs: {outcome}")
    return "\n".join(lines) + "\n"


def binding_comparison(judgement: Judgement) -> Judged | None:
    """Return the comparison that the verdict hangs on; None where nothing was compared.

    Presumed comparisons ("no significant increase") only where one of them refutes the claim.
    """
    counted = _counted(judgement)
    carrying = [each for each in counted if not each.comparison.region.is_presumed] or counted
    pro = [each for each in carrying if each.decision == "for"]
    contra = [each for each in counted if each.decision == "against"]
    pro += [each for each in carrying if each.decision == "neither"]
    open_ones = [each for each in counted if each.decision == "undecided"]
    if judgement.verdict == "undecided" or (
        judgement.verdict == "mixed" and open_ones and not contra
    ):
        return _last_open(open_ones or counted, judgement.claim.combine)
    if judgement.claim.combine == "any":
        nearest, furthest = contra, pro
    else:
        nearest, furthest = pro, contra
    if furthest:
        return max(furthest, key=_slack)
    return min(nearest, key=_slack, default=None)


def _shown(judgement: Judgement) -> Judged | None:
    """Return the comparison that the claim's entry names to be shown; None where it names none."""
    name = judgement.claim.shown
    return next((each for each in judgement.comparisons if name and each.label == name), None)


def _last_open(comparisons: Sequence[Judged], rule: Rule) -> Judged | None:
    """Return the comparison whose decision would settle the verdict, as things stand.

    One against settles "all", one for settles "any": the soonest of those that lean that way.
    Without one, all the others are needed: the latest of them.
    """
    settling = [
        each
        for each in comparisons
        if each.comparison.region.contains(each.estimate.value, each.estimate.value)
        == (rule == "any")
    ]
    if settling:
        return min(settling, key=_runs_to_decide)
    return max(comparisons, key=_runs_to_decide, default=None)


def _counted(judgement: Judgement) -> list[Judged]:
    return [each for each in judgement.comparisons if each.comparison.decides]


def _slack(each: Judged) -> float:
    return slack(each.lo, each.hi, each.comparison.region)


def _runs_to_decide(each: Judged) -> float:
    # Without an interval nothing can be said; such a comparison explains the verdict best.
    if math.isnan(each.estimate.value):
        return math.inf
    return runs_needed(each.estimate, each.level, each.comparison.region)


def _detail(judgement: Judgement, binding: Judged | None) -> str:
    words = ["quick scale, no evidence"] if judgement.scale == "quick" else []
    if judgement.before:
        words += [_told_before(judgement.before), f"again on {judgement.runs} fresh runs"]
    if judgement.remark:
        words.append(judgement.remark)
    words += _parts(judgement)
    counted = _counted(judgement)
    open_ones = [each for each in counted if each.decision == "undecided"]
    if counted:
        counts = [
            f"{sum(each.decision == decision for each in counted)} {decision}"
            for decision in ("for", "against", "neither", "undecided")
            if decision != "neither" or any(each.decision == "neither" for each in counted)
        ]
        words.append(f"comparisons: {', '.join(counts)}")
    if judgement.claim.combine == "any":
        pro = [each.label for each in counted if each.decision == "for"]
        words.append(f"for: {_listed(pro)}" if pro else "none is for")
    shown = _shown(judgement)
    if shown is not None:
        words.append(f"number shown: {shown.label}, without a threshold")
    if binding is not None:
        words.append(
            f"binding comparison: {binding.label}, asked: {binding.comparison.region.describe()}"
        )
    if judgement.claim.combine == "most":
        words += [
            f"{decision}: {_listed(named)}"
            for decision in ("against", "undecided")
            if (named := [each.label for each in counted if each.decision == decision])
        ]
    if judgement.verdict == "undecided" and open_ones and binding is not None:
        words.append(_needed(binding))
    return "; ".join(words)


def _told_before(first: Judgement) -> str:
    """Say what was judged again, and why."""
    failing = [name for name, verdict in first.parts.items() if verdict == "fails" and name]
    parts = f" ({_listed(failing)} fails)" if first.verdict == "mixed" and failing else ""
    contra = [each.label for each in _counted(first) if each.decision == "against"]
    labels = f", against: {_listed(contra)}" if contra else ""
    return f"first interim analysis: {first.verdict}{parts} on {first.runs} runs{labels}"


def _parts(judgement: Judgement) -> list[str]:
    """Say which parts came out how, where that is not plain from the verdict."""
    parts = judgement.parts
    is_told = judgement.verdict == "mixed" or (judgement.verdict == "undecided" and len(parts) > 1)
    if not is_told or set(parts) == {""}:
        return []
    words = []
    for verdict in VERDICTS:
        named = [name for name, outcome in parts.items() if outcome == verdict]
        if named:
            words.append(f"{verdict}: {_listed(named)}")
    return words


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


def _line(each: Judged) -> str:
    exploratory = " (exploratory)" if each.comparison.exploratory else ""
    is_reported = each.decision == "reported"
    asked = "" if is_reported else f", asked: {each.comparison.region.describe()}"
    interval = "" if each.lo == each.hi else f" [{each.lo:.6g}, {each.hi:.6g}]"
    level = f" at level {each.level:.3g}" if each.estimate.is_random else ""
    return (
        f"    {each.decision:<9} {each.label}{exploratory}: {each.estimate.value:.6g}{interval}"
        f"{asked}{level}"
    )
