"""Measure a claim's comparisons at its interim analyses, and judge each of its rows.

A claim that is judged at its own level may be decided wrongly with the chance that its entry
allows. Of many claims some then will be. So each row is judged at a second level too, at which the
chance that any comparison of any verdict on a paper is decided wrongly is at most 5 %: each claim
gets an equal share of it (Bonferroni), which its rows share equally; within a row the interim
analyses share it and Holm's levels keep it. The family is the paper, so that another paper or claim
elsewhere moves nothing.
"""

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import pandas as pd

from dpbandits.claims.docket import Comparison, Entry, Finding, Interpretation
from dpbandits.claims.evidence import Evidence, Loader
from dpbandits.claims.numbers import Estimate, exact
from dpbandits.claims.statistics import Measurement
from dpbandits.claims.verdict import (
    ALPHA,
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
from dpbandits.config.documents import naming
from dpbandits.errors import InputError

Scale = Literal["paper", "quick"]

_OF_FINDINGS: dict[Verdict, Verdict] = {
    "holds": "shown",
    "fails": "not shown",
    "mixed": "not shown",
    "not contradicted": "undecided",
}


@dataclass(frozen=True)
class Measured:
    """One comparison, the label of its part, its own with the values it stands for, its number."""

    comparison: Comparison
    part: str
    label: str
    estimate: Estimate

    @property
    def can_err(self) -> bool:
        """Whether it enters the verdict and varies with the runs, so that it shares the level."""
        return self.estimate.is_random and self.comparison.decides

    @cached_property
    def p_value(self) -> float:
        """The smallest level that decides it."""
        return deciding_alpha(self.estimate, self.comparison.region)


@dataclass(frozen=True)
class Judged(Measured):
    """One comparison with its interval at the level it was judged at, and how it came out."""

    level: float
    lo: float
    hi: float
    decision: Decision


@dataclass(frozen=True)
class Judgement:
    """The verdict on one interpretation of a claim.

    Comparisons, runs and level are those of the interim analysis that decided, or of the last one;
    ``before`` is the verdict that was judged again on fresh runs; a ``remark`` says why there is no
    verdict, where that has another reason than the intervals. At the paper's own number of runs it
    is judged at the level of the claim.
    """

    claim: Entry
    interpretation: Interpretation
    verdict: Verdict
    scale: Scale
    parts: dict[str, Verdict] = field(default_factory=dict)
    comparisons: tuple[Judged, ...] = ()
    runs: int = 0
    level: float = 0.0
    verdict_at_paper_runs: Verdict = "not applicable"
    remark: str = ""
    before: "Judgement | None" = None
    in_family: "Judgement | None" = None
    level_in_family: float = math.nan

    @property
    def is_exact(self) -> bool:
        """Whether no comparison behind the verdict varies with the runs."""
        return not any(one.can_err for one in self.comparisons)


def judge(
    claims: Iterable[Entry], evidence: Evidence, scale: Scale = "paper", family: int = 0
) -> list[Judgement]:
    """Judge every interpretation of claims or findings, with no more runs than decide it.

    The scale ``quick`` judges at whatever number of runs there is, and takes what a small scale
    does not record for missing. Of a ``family`` of 0 claims nothing is judged in it.

    Raises:
        InputError: at paper scale, a claim reads what the results do not have.
    """
    return [
        Row(claim, interpretation, evidence.of_results(claim.reads), scale).judged(family)
        for claim in claims
        for interpretation in claim.interpretations
    ]


def family_level(claim: Entry, family: int) -> float:
    """Return the level at which each row of a claim is judged within its family."""
    return min(claim.level, ALPHA / family / max(len(claim.judged_rows), 1))


@dataclass(frozen=True, eq=False)
class Row:
    """A row of the ledger, whose numbers are measured once and judged at several levels."""

    claim: Entry
    interpretation: Interpretation
    evidence: Evidence
    scale: Scale
    _measured: dict[tuple[int | None, int], list[Measured]] = field(default_factory=dict)

    def judged(self, family: int) -> Judgement:
        """Return the verdict at the level of the claim, with that in the family."""
        claim = self.claim
        alone = self.at_level(claim.level)
        if self.interpretation.is_judged:
            alone = replace(alone, verdict_at_paper_runs=self._verdict_at_paper_runs())
        if not family:
            return alone
        level = family_level(claim, family)
        return replace(alone, in_family=self.at_level(level), level_in_family=level)

    def at_level(self, level: float) -> Judgement:
        """Return the verdict where any comparison may be decided wrongly with this chance."""
        claim, row = self.claim, self.interpretation
        if not row.is_judged:
            verdict: Verdict = "not applicable" if row.not_testable is None else "not testable"
            reason = str(row.not_applicable or row.not_testable)
            return Judgement(
                claim, row, verdict, self.scale, verdict_at_paper_runs=verdict, remark=reason
            )
        if not claim.runs:
            return self._look(0, self.evidence, level)
        available = self._available
        if self.scale == "quick":
            analyses = [available]
        else:
            analyses = [runs for runs in claim.runs if runs <= available]
            level = level / len(claim.runs)
        if not analyses:
            answer = self._look(available, self.evidence, level)
            remark = f"the results have {available} runs, the first interim analysis needs "
            remark += f"{claim.runs[0]}"
            return replace(answer, verdict="undecided", remark=remark)
        for runs in analyses:
            answer = self._look(runs, self.evidence.limited(runs), level)
            if answer.verdict != "undecided":
                break
        is_twice = claim.rerun and self.scale == "paper" and answer.verdict in ("fails", "mixed")
        return self._again(answer) if is_twice and "fails" in answer.parts.values() else answer

    @cached_property
    def _available(self) -> int:
        return self.evidence.runs(self.claim.reads)

    def _again(self, first: Judgement) -> Judgement:
        """Return the verdict on the fresh runs that follow those of the first one."""
        rerun, fresh = self.claim.rerun, self._available - first.runs
        if fresh < rerun:
            remark = f"{first.verdict} on {first.runs} runs; judging it again needs {rerun} "
            remark += f"fresh ones, the results have {fresh}"
            return replace(first, verdict="undecided", remark=remark)
        again = self._look(rerun, self.evidence.limited(rerun, skip=first.runs), first.level)
        return replace(again, before=first)

    def _verdict_at_paper_runs(self) -> Verdict:
        runs = self.claim.runs_paper
        if not self.claim.runs or not runs:
            return "not applicable"
        if self._available < runs:
            return "undecided"
        return self._look(runs, self.evidence.limited(runs), self.claim.level).verdict

    def _look(self, runs: int, evidence: Evidence, level: float) -> Judgement:
        """Return the verdict on the runs of some evidence."""
        claim, row = self.claim, self.interpretation
        key = (evidence.limit, evidence.skip)
        if key not in self._measured:
            self._measured[key] = list(self._measure(evidence))
        comparisons = judge_comparisons(self._measured[key], level)
        decisions: dict[str, list[Decision]] = {}
        for one in comparisons:
            if one.comparison.decides:
                decisions.setdefault(one.part, []).append(one.decision)
        combined = {
            part: combine_comparisons(several, claim.combine) for part, several in decisions.items()
        }
        verdict, words = verdict_of(claim, combined, row), claim.words(row)
        parts = {part: in_words(of_part, words) for part, of_part in combined.items()}
        return Judgement(claim, row, verdict, self.scale, parts, comparisons, runs, level)

    def _measure(self, evidence: Evidence) -> Iterable[Measured]:
        for question in self.claim.questions(self.interpretation):
            comparison, label = question.comparison, question.label
            try:
                points = Measurement(question, evidence).numbers()
            except InputError as error:
                if self.scale == "paper":
                    raise InputError(f"{self.claim.id}: {label}: {error}") from None
                points = {f"not there at this scale: {error}": exact(math.nan)}
            if not points and comparison.decides:
                points = {"no point to compare": exact(math.nan)}
            for point, estimate in points.items():
                named = f"{label} [{point}]" if point else label
                yield Measured(comparison, question.part, named, estimate)


def verdict_of(claim: Entry, parts: dict[str, Verdict], interpretation: Interpretation) -> Verdict:
    """Combine the parts, in the words that the claim may end in."""
    if isinstance(claim, Finding):
        verdict = combine_parts(parts)
        return _OF_FINDINGS.get(verdict, verdict) if parts else "reported"
    words = claim.words(interpretation)
    if "mixed" not in words and "fails" in parts.values():
        return in_words("fails", words)
    return in_words(combine_parts(parts), words)


def judge_comparisons(measured: Iterable[Measured], alpha: float) -> tuple[Judged, ...]:
    """Decide comparisons simultaneously.

    Holm's family is those that can err; the others are judged one by one at ``alpha``.
    """
    items = list(measured)
    family = [one for one in items if one.can_err]
    shares = iter(holm_levels([one.p_value for one in family], alpha))
    judged = []
    for one in items:
        level = next(shares) if one.can_err else alpha
        lo, hi = one.estimate.interval(level)
        is_reported = one.comparison.kind == REPORT
        decision = "reported" if is_reported else decide(lo, hi, one.comparison.region)
        named = one.comparison, one.part, one.label, one.estimate
        judged.append(Judged(*named, level, lo, hi, decision))
    return tuple(judged)


class _UnknownError(Exception):
    """Results are not known before they are computed."""


def check_series(entries: Iterable[Entry], load: Loader, known: Collection[str]) -> None:
    """Raise InputError where a comparison asks for a series, tag, metric or time that is not there.

    ``load`` returns a table with the columns and series of the real one, for the names ``known``.
    """

    def load_known(name: str) -> pd.DataFrame:
        if name not in known:
            raise _UnknownError
        return load(name)

    evidence = Evidence(load_known)
    for entry in entries:
        for interpretation in entry.judged_rows:
            for question in entry.questions(interpretation):
                with naming(f"{entry.id}: {question.name}"), suppress(_UnknownError):
                    Measurement(question, evidence.of_results(entry.reads)).check()
