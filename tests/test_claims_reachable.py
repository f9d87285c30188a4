"""Every row of every ledger can end in each of its words, and in no other.

That is a property of the entries, whatever the results: in place of its statistic each comparison
measures a number inside, outside, astride or just beyond its region.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from dpbandits.claims.docket import Claim, Comparison, Entry, Interpretation
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import judge
from dpbandits.claims.numbers import Estimate
from dpbandits.claims.statistics import Measurement
from dpbandits.claims.verdict import Region
from dpbandits.pipeline.project import Project
from found_papers import PAPERS
from support import ROOT

PROJECT = Project.load(ROOT)
NOTHING = Evidence.of_frames({})
Places = Callable[[Comparison, str], str]
"""From a comparison and its part to the place of its number."""


@dataclass(frozen=True)
class Placed(Estimate):
    """A number with an interval of its own at any level."""

    lo: float = math.nan
    hi: float = math.nan

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the interval."""
        return self.lo, self.hi


def placed(region: Region, place: str) -> Placed:
    """Return a number at a place of a region, which has a finite end."""
    low, high, beyond = region.low, region.high, region.indifference
    end, out = (high, 1.0) if math.isfinite(high) else (low, -1.0)
    inner = (low + high) / 2 if math.isfinite(high - low) else end - out
    ends = {
        "inside": (inner, inner),
        "outside": (end + out * (beyond + 1.0),) * 2,
        "just beyond": (end + out * beyond / 2, end + out * beyond / 2),
        "astride": (inner, end + out * (beyond + 1.0)),
        "lost": (math.nan, math.nan),
    }[place]
    return Placed(ends[0], 0, min(ends), max(ends))


def verdict(
    monkeypatch: pytest.MonkeyPatch, claim: Entry, interpretation: Interpretation, places: Places
) -> str:
    """Judge a row whose comparisons measure three numbers each, at some place of the region."""

    def numbers(measurement: Measurement) -> dict[str, Estimate]:
        question = measurement.question
        comparison = question.comparison
        if not comparison.decides:
            return dict.fromkeys("abc", Estimate(0.0))
        place = places(comparison, question.part)
        return dict.fromkeys("abc", placed(comparison.region, place))

    with monkeypatch.context() as patch:
        patch.setattr(Measurement, "numbers", numbers)
        exact = claim.model_copy(update={"runs": (), "interpretations": (interpretation,)})
        return judge([exact], NOTHING)[0].verdict


def parts_of(claim: Entry, interpretation: Interpretation) -> list[str]:
    """Return the parts that are decided of a row."""
    questions = claim.questions(interpretation)
    return sorted({one.part for one in questions if one.comparison.decides})


def patterns(claim: Entry, interpretation: Interpretation) -> Iterator[Places]:
    """Yield all parts at one place, all but one inside, and comparisons at random."""
    kinds = ("inside", "outside", "astride", "just beyond", "lost")
    for place in kinds:
        yield lambda comparison, part, place=place: place
    for chosen, place in itertools.product(parts_of(claim, interpretation), kinds[1:]):
        places = {chosen: place}
        yield lambda comparison, part, places=places: places.get(part, "inside")
    generator = np.random.default_rng(1)
    for weights in generator.dirichlet(np.full(len(kinds), 0.3), 20):
        yield lambda comparison, part, weights=weights: str(generator.choice(kinds, p=weights))


def words_of(claim: Entry, interpretation: Interpretation) -> set[str]:
    """Return the words that a row may end in."""
    if not interpretation.is_judged:
        return {"not testable" if interpretation.not_testable else "not applicable"}
    if isinstance(claim, Claim):
        return {*claim.words(interpretation), "undecided"}
    decides = any(one.comparison.decides for one in claim.questions(interpretation))
    return {"shown", "not shown", "undecided"} if decides else {"reported"}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_word_of_a_row_is_reached_and_no_other(
    paper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stated = PROJECT.study(paper).stated
    assert stated
    for claim in stated:
        for interpretation in claim.interpretations:
            reached = {
                verdict(monkeypatch, claim, interpretation, places)
                for places in patterns(claim, interpretation)
            }
            assert reached == words_of(claim, interpretation), (claim.id, interpretation.label)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_lost_number_leaves_a_row_undecided(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any one that all points are asked of; all of them where one that is for is enough."""
    for claim in PROJECT.study(paper).stated:
        for interpretation in claim.judged_rows:
            deciding = [
                each
                for each in claim.comparisons.values()
                if each.decides and each.is_asked_of(interpretation)
            ]
            lost = [deciding] if claim.combine != "all" else [[each] for each in deciding]
            for some in filter(None, lost):

                def places(comparison: Comparison, part: str, some: list[Comparison] = some) -> str:
                    return "lost" if any(comparison is each for each in some) else "inside"

                found = verdict(monkeypatch, claim, interpretation, places)
                assert found == "undecided", (claim.id, interpretation.label)
