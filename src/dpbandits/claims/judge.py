"""Measure a claim's comparisons at its interim analyses, and judge each interpretation.

Before: filters are tried on results that are not simulated yet. After: the verdict in one sentence.
"""

import math
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from dpbandits.claims.docket import FINDING, Claim, Comparison, Interpretation
from dpbandits.claims.evidence import Evidence, Loader
from dpbandits.claims.numbers import Estimate, exact
from dpbandits.claims.verdict import (
    REPORT,
    Decision,
    Verdict,
    combine_comparisons,
    combine_parts,
    decide,
    deciding_alpha,
    holm_levels,
    in_words,
)
from dpbandits.errors import InputError
from dpbandits.text_tables import interval_text

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
    measured = f"{row['measured']} ({_in_words(claim.metric)})"
    runs = int(row["runs"])
    by = f"{runs:,} run{'s' * (runs > 1)} found" if runs else "exact computation found"
    followed = _CONCLUSIONS.get(row["verdict"], f"the claim is {row['verdict']}")
    if not row["asked"]:
        known = f"{by} {found_text(row)} for {measured}, which is reported"
        return f"{begin} {known}; by {compared} comparisons with a threshold {followed}{shown}."
    binding = f", the binding one of {compared} comparisons" if compared > 1 else ""
    asked = f"asked whether {measured} is {row['asked']}{binding}"
    return f"{begin} {asked}, {by} {found_text(row)}, so that {followed}{shown}."


def found_text(row: Mapping[Any, Any]) -> str:
    """Return the estimate, with its interval where it has one."""
    value, low, high = (float(row[key]) for key in ("estimate", "lo", "hi"))
    return interval_text(value, low, high) or "no number"


def _in_words(metric: str) -> str:
    for name, words in _UNITS.items():
        metric = metric.replace(name, words)
    return metric.replace("_", " ")


_OF_EVIDENCE = "results "
"""Begins what evidence says of a series, tag, metric or time that is not there."""


class _UnknownError(Exception):
    """Results are not known before they are computed."""


def check_claim_filters(claims: Sequence[Claim], load: Loader, known: Collection[str]) -> None:
    """Raise InputError where a comparison asks for a series, tag, metric or time that is not there.

    Series are looked up. Statistics are called on results with made-up values, of which they may
    make nothing: what they ask for after that is not checked.

    Args:
        claims: of a paper.
        load: from the name of results to a table with the columns and series of the real one.
        known: those that ``load`` knows.
    """

    def load_known(name: str) -> pd.DataFrame:
        if name not in known:
            raise _UnknownError
        return load(name)

    evidence = Evidence(load_known)
    for claim in claims:
        for comparison, variables in _calls(claim):
            problem = _problem(comparison, evidence.of_results(claim.reads), variables)
            if problem is not None:
                raise InputError(f"{claim.id}: {comparison.name}: {problem}")


def _calls(claim: Claim) -> Iterator[tuple[Comparison, Mapping[str, Any]]]:
    """Yield every comparison that is judged, with its variables."""
    for interpretation in claim.interpretations:
        if not interpretation.is_judged:
            continue
        settings = claim.settings(interpretation)
        for comparison in claim.comparisons:
            if comparison.is_asked_of(interpretation):
                yield from ((comparison, each) for each in comparison.bindings(settings))


def _problem(
    comparison: Comparison, evidence: Evidence, variables: Mapping[str, Any]
) -> str | None:
    """Return what evidence says is not there; None where a statistic ends for another reason."""
    if comparison.is_of_series:
        try:
            comparison.find(evidence, variables)
        except InputError as error:
            return str(error)
        except _UnknownError:
            return None
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            comparison.call(evidence, variables)
    except InputError as error:
        return str(error) if str(error).startswith(_OF_EVIDENCE) else None
    except Exception:
        # Whatever a statistic makes of values that nobody simulated.
        return None
    return None


Scale = Literal["paper", "quick"]

_OF_FINDINGS: dict[Verdict, Verdict] = {
    "holds": "shown",
    "fails": "not shown",
    "mixed": "not shown",
    "not contradicted": "undecided",
}


@dataclass(frozen=True)
class Judged:
    """One comparison with the level it was judged at and how it came out.

    Attributes:
        comparison: what was compared.
        part: label of its part.
        label: its name with the values it stands for.
        estimate: the number measured.
        level: the level of its interval.
        lo: lower end of the interval at that level.
        hi: upper end.
        decision: for, against, neither, undecided, or reported where nothing is asked.
    """

    comparison: Comparison
    part: str
    label: str
    estimate: Estimate
    level: float
    lo: float
    hi: float
    decision: Decision


@dataclass(frozen=True)
class Judgement:
    """The verdict on one interpretation of a claim.

    Attributes:
        claim: the claim.
        interpretation: the row.
        verdict: the verdict.
        parts: verdict of each part.
        comparisons: all comparisons at the interim analysis that decided, or at the last one.
        runs: number of runs of that analysis, 0 for an analytic claim.
        level: the level of that analysis.
        analyses: numbers of runs that were looked at.
        verdict_at_paper_runs: at the paper's own number of runs, at the level of the claim;
            ``not applicable`` where the paper has no experiment of the kind.
        scale: ``paper``, or ``quick`` (no evidence).
        remark: why there is no verdict, where that has another reason than the intervals.
        before: the verdict that was judged again on fresh runs, if one was.
    """

    claim: Claim
    interpretation: Interpretation
    verdict: Verdict
    parts: dict[str, Verdict]
    comparisons: tuple[Judged, ...]
    runs: int
    level: float
    analyses: tuple[int, ...]
    verdict_at_paper_runs: Verdict
    scale: Scale
    remark: str = ""
    before: "Judgement | None" = None


def judge(claims: Iterable[Claim], evidence: Evidence, scale: Scale = "paper") -> list[Judgement]:
    """Judge every interpretation of every claim.

    Args:
        claims: from ``load_claims``.
        evidence: the results they read.
        scale: ``quick`` judges at whatever number of runs there is, and takes what a small scale
            does not record for missing.

    Raises:
        InputError: at paper scale, a claim reads what the results do not have.
    """
    return [
        judge_interpretation(claim, interpretation, evidence, scale)
        for claim in claims
        for interpretation in claim.interpretations
    ]


def judge_interpretation(
    claim: Claim, interpretation: Interpretation, evidence: Evidence, scale: Scale = "paper"
) -> Judgement:
    """Judge one interpretation of a claim, with no more runs than decide it.

    Raises:
        InputError: as for ``judge``.
    """
    evidence = evidence.of_results(claim.reads)
    if not interpretation.is_judged:
        return _not_judged(claim, interpretation, scale)
    if not claim.analyses:
        found = _look(claim, interpretation, evidence, 0, claim.level, scale)
        return replace(found, verdict_at_paper_runs="not applicable")
    available = evidence.runs(claim.reads)
    if scale == "quick":
        analyses, level = [available], claim.level
    else:
        analyses = [runs for runs in claim.analyses if runs <= available]
        level = claim.level / len(claim.analyses)
    if not analyses:
        found = _look(claim, interpretation, evidence, available, level, scale)
        needed = claim.analyses[0]
        remark = f"the results have {available} runs, the first interim analysis needs {needed}"
        return replace(found, verdict="undecided", remark=remark)
    for runs in analyses:
        found = _look(claim, interpretation, evidence.first(runs), runs, level, scale)
        if found.verdict != "undecided":
            break
    done = tuple(each for each in analyses if each <= found.runs)
    at_paper_runs = _verdict_at_paper_runs(claim, interpretation, evidence, available, scale)
    found = replace(found, analyses=done, verdict_at_paper_runs=at_paper_runs)
    return _judge_again(found, evidence, available) if _is_to_be_rerun(found) else found


def _not_judged(claim: Claim, interpretation: Interpretation, scale: Scale) -> Judgement:
    """Return a row that no result decides, with the reason."""
    verdict: Verdict = "not applicable" if interpretation.not_testable is None else "not testable"
    reason = str(interpretation.not_applicable or interpretation.not_testable)
    return Judgement(
        claim, interpretation, verdict, {}, (), 0, claim.level, (), verdict, scale, remark=reason
    )


def _is_to_be_rerun(found: Judgement) -> bool:
    """Return whether a part fails, and the claim asks for that to be seen twice."""
    if not found.claim.rerun or found.scale == "quick":
        return False
    return found.verdict in ("fails", "mixed") and "fails" in found.parts.values()


def _judge_again(first: Judgement, evidence: Evidence, available: int) -> Judgement:
    """Return the verdict on the fresh runs that follow those of the first one."""
    claim, fresh = first.claim, available - first.runs
    if fresh < claim.rerun:
        remark = f"{first.verdict} on {first.runs} runs; judging it again needs {claim.rerun} "
        remark += f"fresh ones, the results have {fresh}"
        return replace(first, verdict="undecided", remark=remark)
    rest = evidence.after(first.runs, claim.rerun)
    again = _look(claim, first.interpretation, rest, claim.rerun, first.level, first.scale)
    at_paper_runs = first.verdict_at_paper_runs
    return replace(
        again, analyses=first.analyses, verdict_at_paper_runs=at_paper_runs, before=first
    )


def _verdict_at_paper_runs(
    claim: Claim, interpretation: Interpretation, evidence: Evidence, available: int, scale: Scale
) -> Verdict:
    if not claim.runs_paper:
        return "not applicable"
    if available < claim.runs_paper:
        return "undecided"
    runs = claim.runs_paper
    return _look(claim, interpretation, evidence.first(runs), runs, claim.level, scale).verdict


def _look(
    claim: Claim,
    interpretation: Interpretation,
    evidence: Evidence,
    runs: int,
    level: float,
    scale: Scale,
) -> Judgement:
    comparisons = judge_comparisons(_measure(claim, interpretation, evidence, scale), level)
    deciding = [each for each in comparisons if each.comparison.decides]
    words = claim.words(interpretation)
    combined = {
        name: combine_comparisons(
            [each.decision for each in deciding if each.part == name], claim.combine
        )
        for name in dict.fromkeys(each.part for each in deciding)
    }
    parts = {name: in_words(verdict, words) for name, verdict in combined.items()}
    verdict = _verdict(claim, combined, interpretation)
    return Judgement(
        claim, interpretation, verdict, parts, comparisons, runs, level, (runs,), verdict, scale
    )


def _verdict(claim: Claim, parts: dict[str, Verdict], interpretation: Interpretation) -> Verdict:
    """Combine the parts, in the words that the claim may end in."""
    if claim.kind == FINDING:
        verdict = combine_parts(parts)
        return _OF_FINDINGS.get(verdict, verdict) if parts else "reported"
    words = claim.words(interpretation)
    if "mixed" not in words and "fails" in parts.values():
        return in_words("fails", words)
    return in_words(combine_parts(parts), words)


def _measure(
    claim: Claim, interpretation: Interpretation, evidence: Evidence, scale: Scale
) -> list[tuple[Comparison, str, str, Estimate]]:
    settings = claim.settings(interpretation)
    measured = []
    for comparison in claim.comparisons:
        if not comparison.is_asked_of(interpretation):
            continue
        for variables in comparison.bindings(settings):
            name = comparison.name.format(**variables)
            part = comparison.part.format(**variables)
            try:
                points = comparison.call(evidence, variables)
            except InputError as error:
                if scale == "paper":
                    raise InputError(f"{claim.id}: {name}: {error}") from None
                points = {f"not there at this scale: {error}": exact(math.nan)}
            if not points and comparison.decides:
                points = {"no point to compare": exact(math.nan)}
            for point, estimate in points.items():
                label = f"{name} [{point}]" if point else name
                measured.append((comparison, part, label, estimate))
    return measured


def judge_comparisons(
    measured: Iterable[tuple[Comparison, str, str, Estimate]], alpha: float
) -> tuple[Judged, ...]:
    """Decide comparisons simultaneously.

    Holm's family is those that enter the verdict and vary with the runs: exact ones cannot be
    decided wrongly by chance, and exploratory ones are judged one by one at ``alpha``.

    Args:
        measured: comparison, part, label and estimate of each.
        alpha: level of the family.
    """
    items = list(measured)
    family = [
        index
        for index, (comparison, _, _, estimate) in enumerate(items)
        if estimate.is_random and comparison.decides
    ]
    p_values = [deciding_alpha(items[index][3], items[index][0].region) for index in family]
    levels = dict(zip(family, holm_levels(p_values, alpha), strict=True))
    judged = []
    for index, (comparison, part, label, estimate) in enumerate(items):
        level = levels.get(index, alpha)
        lo, hi = estimate.interval(level)
        decision = "reported" if comparison.kind == REPORT else decide(lo, hi, comparison.region)
        judged.append(Judged(comparison, part, label, estimate, level, lo, hi, decision))
    return tuple(judged)
