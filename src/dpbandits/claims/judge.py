"""Measure a claim's comparisons at its interim analyses, and judge each of its readings.

A reading that is judged at its own level, 5 %, may be decided wrongly with that chance. Of many
some then will be. So each is judged at a second level too, at which the chance that any
comparison of any claim of its paper is decided wrongly is at most 5 %: each claim that depends on
chance gets an equal share of it (Bonferroni), which its readings share equally; within a reading
the interim analyses share it and Holm's levels keep it. The family is the paper, so that another
paper moves nothing.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from dpbandits.claims.estimates import Estimate, exact
from dpbandits.claims.measure import Measurement
from dpbandits.claims.series import Evidence
from dpbandits.claims.verdict import (
    ALPHA,
    Decision,
    Region,
    Verdict,
    are_alike,
    decide,
    decides_alone,
    interval_at,
    region_of,
    verdict_of,
)
from dpbandits.config.claims import SHOWN, ComparisonSpec, Reading, Stated
from dpbandits.errors import InputError
from dpbandits.metrics.intervals import holm_levels

Scale = Literal["paper", "quick"]

SMALLEST_LEVEL = 1e-12
BISECTIONS = 50
"""A p-value is found by this number of bisections between the smallest level and 1."""


@dataclass(frozen=True)
class MeasuredComparison:
    """One comparison: its label with values filled in, its number, and the region asked for."""

    comparison: ComparisonSpec
    label: str
    estimate: Estimate
    region: Region

    @property
    def can_err(self) -> bool:
        """Whether it enters the verdict and varies with the runs, so that it shares the level."""
        return self.estimate.is_random and self.comparison.decides

    @cached_property
    def p_value(self) -> float:
        """The smallest level at which its interval decides it; 1 where none does.

        Found by bisection on the logarithm: intervals are nested, so that what is decided at some
        level is decided at every larger one.
        """

        def decides(level: float) -> bool:
            return decide(*self.estimate.interval(level), self.region) in ("for", "against")

        if not decides(1.0):
            return 1.0
        if decides(SMALLEST_LEVEL):
            return SMALLEST_LEVEL
        low, high = math.log(SMALLEST_LEVEL), 0.0
        for _ in range(BISECTIONS):
            middle = (low + high) / 2.0
            low, high = (low, middle) if decides(math.exp(middle)) else (middle, high)
        return math.exp(high)


@dataclass(frozen=True)
class Judged(MeasuredComparison):
    """One comparison with its interval at the level it was judged at, and how it came out."""

    level: float
    lo: float
    hi: float
    decision: Decision

    @property
    def slack(self) -> float:
        """How far the interval stays from the ends of the region, free of units.

        The distance between the nearest ends over the region's largest finite end, or over the
        interval's where the region has none (a threshold of 0).
        """
        low, high = self.region.low, self.region.high
        outside = max(low - self.hi, self.lo - high)
        distance = max(outside, min(self.lo - low, high - self.hi), 0.0)
        ends = [abs(end) for end in (low, high) if math.isfinite(end)]
        scale = max(ends, default=0.0) or max(abs(end) for end in (self.lo, self.hi))
        return distance / scale if scale > 0.0 else 0.0


@dataclass(frozen=True)
class Judgement:
    """The word on one reading of a claim or finding.

    Comparisons, runs and level are those of the interim analysis that decided, or of the last one.
    A reading ``beside`` has numbers and no verdict. ``visible`` counts the points that plain 95 %
    intervals at the paper's own number of runs would show, and those that were decided. ``remark``
    says why there is no verdict, where the intervals are not the reason.
    """

    claim: Stated
    reading: Reading
    verdict: Verdict | None
    scale: Scale
    comparisons: tuple[Judged, ...] = ()
    runs: int = 0
    level: float = ALPHA
    visible: tuple[int, int] | None = None
    remark: str = ""
    in_family: "Judgement | None" = None

    @property
    def word(self) -> str:
        """The verdict; of a finding, whether its numbers show it; empty where there is none."""
        if self.verdict and self.claim.kind == "finding":
            words = {"as stated": "shown", "not as stated": "not shown", "size only": ""}
            return words.get(self.verdict, "undecided")
        return self.verdict or ""

    @property
    def is_exact(self) -> bool:
        """Whether no comparison behind the verdict varies with the runs."""
        return not any(one.can_err for one in self.comparisons)

    def number(self, label: str) -> float:
        """Return the estimate of the comparison with a label; NaN without it."""
        named = (one.estimate.value for one in self.comparisons if one.label == label)
        return next(named, math.nan)


def judge(
    entries: Iterable[Stated],
    evidence: Evidence,
    scale: Scale = "paper",
    *,
    in_family: bool = False,
) -> list[Judgement]:
    """Judge every reading of claims or findings at level 5 %, with no more runs than decide it.

    With ``in_family`` the entries are all claims of a paper, and each is also judged at its level
    within that family. At the scale ``quick`` any number of runs will do, and what a small scale
    does not record counts as missing.

    Raises:
        InputError: at paper scale, a claim reads what the results do not have.
    """
    readings = [
        ClaimReading(entry, reading, replace(evidence, reads=entry.reads), scale)
        for entry in entries
        for reading in (*entry.readings, *entry.beside)
    ]
    judged = [reading.at_level(ALPHA) for reading in readings]
    decided = [each for each in judged if each.verdict not in (None, "cannot be tested here")]
    members = {each.claim.id for each in decided if in_family and not each.is_exact}
    return [
        replace(
            alone,
            visible=reading.visible(alone),
            in_family=reading.at_level(ALPHA / len(members) / len(reading.claim.readings))
            if alone.verdict and alone.claim.id in members
            else None,
        )
        for reading, alone in zip(readings, judged, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class ClaimReading:
    """A reading of a claim, whose numbers are measured once and judged at several levels."""

    claim: Stated
    reading: Reading
    evidence: Evidence
    scale: Scale
    _by_runs: dict[int | None, list[MeasuredComparison]] = field(default_factory=dict)

    def at_level(self, level: float) -> Judgement:
        """Judge the reading such that any comparison is decided wrongly with at most this chance.

        The verdict is that of the first interim analysis after which more runs would be of no use.
        """
        planned = self.claim.runs
        available = self.evidence.runs(self.claim.reads) if planned else 0
        analyses, remark = [available], ""
        if planned and self.scale == "paper":
            level = level / len(planned)
            analyses = [runs for runs in planned if runs <= available] or [available]
            if available < planned[0]:
                remark = f"the results have {available} runs, the first interim analysis needs "
                remark += f"{planned[0]}"
        # A reading beside has no interim analyses, but all the runs there are.
        is_beside = self.reading in self.claim.beside
        for runs in analyses[-1:] if is_beside else analyses:
            measured = self._numbers(runs if planned else None)
            comparisons = judge_comparisons(measured, level, self._runs_ratio(runs))
            answer = Judgement(self.claim, self.reading, None, self.scale, comparisons, runs, level)
            decisions = [one.decision for one in comparisons if one.comparison.decides]
            verdict = verdict_of(self.claim, decisions, answer.number(self.claim.seen_from))
            if self._is_settled(verdict, decisions):
                break
        if is_beside:
            return replace(answer, remark=remark)
        return replace(answer, verdict="undecided" if remark else verdict, remark=remark)

    def _is_settled(self, verdict: Verdict, decisions: Sequence[Decision]) -> bool:
        """Return whether more runs would be of no use: no point is open, or one decides alone."""
        is_open = verdict == "undecided" or "undecided" in decisions
        return not is_open or decides_alone(self.claim) in decisions

    def visible(self, judgement: Judgement) -> tuple[int, int] | None:
        """Return how many points the paper's runs would show, and how many were decided."""
        runs_ratio = self._runs_ratio(judgement.runs)
        decided = [
            one
            for one in judgement.comparisons
            if one.can_err and one.comparison.kind != "alike"
            if one.decision in ("for", "against")
        ]
        if not decided or not runs_ratio or self._runs_ratio(0) > 1.0:
            return None
        shown = (decide(*interval_at(one.estimate, runs_ratio), one.region) for one in decided)
        return sum(word in ("for", "against") for word in shown), len(decided)

    def _runs_ratio(self, runs: int) -> float:
        """Return the paper's runs over those read (0: all there are); 0 where one is unknown."""
        if not self.claim.runs_paper:
            return 0.0
        read = runs or self.evidence.runs(self.claim.reads)
        return self.claim.runs_paper / read if read else 0.0

    def _numbers(self, runs: int | None) -> list[MeasuredComparison]:
        """Return the number of every comparison over the first runs, or all, measured once."""
        if runs in self._by_runs:
            return self._by_runs[runs]
        measured, evidence = [], replace(self.evidence, limit=runs)
        for case in self.claim.cases(self.reading):
            comparison, label = case.comparison, case.label
            try:
                points = Measurement(case, evidence).numbers()
            except InputError as error:
                if self.scale == "paper":
                    raise InputError(f"{self.claim.id}: {label}: {error}") from None
                points = {f"not there at this scale: {error}": exact(math.nan)}
            if not points and comparison.decides:
                points = {"no point to compare": exact(math.nan)}
            for point, estimate in points.items():
                named = f"{label} [{point}]" if point else label
                region = region_of(comparison, estimate)
                measured.append(MeasuredComparison(comparison, named, estimate, region))
        self._by_runs[runs] = measured
        return measured


def judge_comparisons(
    measured: Iterable[MeasuredComparison], alpha: float, runs_ratio: float = 0.0
) -> tuple[Judged, ...]:
    """Decide comparisons simultaneously.

    Holm's family is those that can err; the others are judged one by one at ``alpha``. Where one is
    not decided, its sides may be alike at the paper's number of runs, this ratio to those read.
    """
    items = list(measured)
    family = [one for one in items if one.can_err]
    levels = iter(holm_levels([one.p_value for one in family], alpha))
    judged = []
    for one in items:
        level = next(levels) if one.can_err else alpha
        lo, hi = one.estimate.interval(level)
        is_shown = one.comparison.kind == SHOWN
        decision: Decision = "shown" if is_shown else decide(lo, hi, one.region)
        if decision == "undecided" and are_alike(lo, hi, one.estimate, one.region, runs_ratio):
            decision = "equal"
        measure = one.comparison, one.label, one.estimate, one.region
        judged.append(Judged(*measure, level, lo, hi, decision))
    return tuple(judged)
