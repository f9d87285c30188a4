"""The tables of verdicts: a row a verdict, a row a comparison, both levels, all papers in one."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from dpbandits.claims.docket import Claim
from dpbandits.claims.judge import Judged, Judgement
from dpbandits.claims.verdict import ALPHA, VERDICTS, Rule, runs_needed, slack

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


def standing(alone: Judgement) -> str:
    """Return whether a verdict stands at the family-wise level, or only at its own."""
    if alone.verdict in ("undecided", "not applicable", "not testable"):
        return OPEN
    if alone.is_exact:
        return EXACT
    within = alone.in_family
    return IN_FAMILY if within and alone.verdict == within.judgement.verdict else ALONE


def simultaneous(judgements: Iterable[Judgement]) -> pd.DataFrame:
    """Return both verdicts on every row, and the comparison that decides the first one.

    Returns:
        One row a verdict that is judged in a family too. ``measured`` and ``asked`` name the
        comparison whose estimate the ledger shows; of a reported one nothing is asked. The numbers
        that end in ``_in_family`` are those of the same kind of comparison at the second level.
        Exact rows have no levels.
    """
    rows = []
    for first in judgements:
        if first.in_family is None:
            continue
        second = first.in_family.judgement
        named = _shown(first) or binding_comparison(first)
        other = _shown(second) or binding_comparison(second)
        levels = (first.claim.level, first.in_family.level, first.in_family.smallest_level)
        row = (
            first.claim.id,
            first.interpretation.variant,
            first.interpretation.label,
            first.verdict,
            second.verdict,
            standing(first),
            *((math.nan,) * 3 if first.is_exact else levels),
            *((other.estimate.value, other.lo, other.hi) if other else (math.nan,) * 3),
            second.runs,
            named.label if named else "",
            named.comparison.region.describe() if named else "",
        )
        rows.append(row)
    return pd.DataFrame(rows, columns=list(SIMULTANEOUS_COLUMNS))


COLUMNS = (
    *("paper", "claim", "kind", "variant", "interpretation", "verdict", "verdict_in_family"),
    *("family_wise", "family_wise_in_all", "measured", "asked", "estimate", "lo", "hi", "runs"),
    *("runs_paper", "verdict_at_paper_runs", "scale", "level", "level_in_family"),
    *("smallest_level", "runs_in_family", "place", "scope", "rule", "figure", "statement"),
    "detail",
)

KEYS = ["claim", "variant", "interpretation", "verdict"]
"""What the rows of the two files of a paper are told apart by."""

_TEXT = (
    *("claim", "kind", "variant", "interpretation", "verdict", "verdict_in_family", "family_wise"),
    *("verdict_at_paper_runs", "scale", "measured", "asked", "detail"),
)


def read_ledger(path: Path) -> pd.DataFrame:
    """Read a csv of the ledger: text as it stands, numbers with NaN where there is none."""
    frame = pd.read_csv(path, keep_default_na=False, dtype=str)
    for column in set(frame.columns) - set(_TEXT):
        frame[column] = pd.to_numeric(frame[column])
    return frame


def join(
    paper: str,
    claims: Sequence[Claim],
    verdicts: pd.DataFrame,
    both: pd.DataFrame,
    figures: Mapping[str, Sequence[str]],
) -> pd.DataFrame:
    """Return the rows of one paper in the ledger of all.

    Args:
        paper: its short name.
        claims: its claims.
        verdicts: ``claims.csv``.
        both: ``simultaneous.csv``.
        figures: claim -> the files that show what it is about.
    """
    joined = verdicts.merge(both, on=KEYS, how="left", validate="one_to_one")
    by_id = {claim.id: claim for claim in claims}
    named = [by_id[identifier] for identifier in joined["claim"]]
    joined["paper"] = paper
    joined["place"] = [claim.place for claim in named]
    for column in ("statement", "scope", "rule"):
        joined[column] = [" ".join(getattr(claim, column).split()) for claim in named]
    joined["figure"] = [" ".join(figures[claim.id]) for claim in named]
    joined["family_wise_in_all"] = ""
    return joined[list(COLUMNS)]


def together(ledgers: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the ledgers of several papers as one, with what stands among all of their claims.

    ``family_wise_in_all`` is that of the level of 5 % over all claims of all papers, of which each
    claim has an equal share (Bonferroni) and each of its rows an equal share of that.
    """
    whole = pd.concat(ledgers, ignore_index=True)
    is_judged = ~whole["verdict"].isin(["not applicable", "not testable"])
    rows = is_judged.groupby(whole["claim"]).transform("sum").clip(lower=1)
    level = ALPHA / whole["claim"].nunique() / rows
    is_random = whole["family_wise"].isin([IN_FAMILY, ALONE])
    stands = (whole["smallest_level"] <= level).map({True: IN_FAMILY, False: ALONE})
    whole["family_wise_in_all"] = whole["family_wise"].where(~is_random, stands)
    return whole
