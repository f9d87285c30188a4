"""Rows of the papers reach their words and no other; published verdicts are those of their numbers.

Which words a row can end in is a property of the entries, whatever the results: in place of its
statistic each comparison measures a number inside, outside, astride or just beyond its region.
Published intervals give the published decisions, these the verdicts; none accuses wrongly.
Nor is any guarantee called proved, or not contradicted, where the ledger says that its claim fails
for what is played; and what fails in the ledger is refuted for some parameters.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.guarantees import KNOWN, guarantee_of
from dpbandits.claims.docket import Claim, Comparison, Entry, Interpretation
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import judge, verdict_of
from dpbandits.claims.numbers import Estimate
from dpbandits.claims.statistics import Measurement
from dpbandits.claims.verdict import REPORT, Region, combine_comparisons, decide
from dpbandits.papers import find_paper
from dpbandits.pipeline.project import Project
from found_papers import PAPERS
from support import ROOT

PUBLISHED = ROOT / "docs/figures"
PROJECT = Project.load(ROOT)
ROW = ["claim", "variant", "interpretation"]

Row = dict[Any, Any]


def table_of(paper: str, *names: str) -> pd.DataFrame:
    """Return published tables as one; a paper may have no findings."""
    paths = [PUBLISHED / paper / f"{name}.csv" for name in names]
    return pd.concat(pd.read_csv(each, keep_default_na=False) for each in paths if each.exists())


def judged_rows(paper: str) -> Iterator[tuple[Entry, Interpretation, list[Row]]]:
    """Yield every row of the ledger that results decide, with its published comparisons."""
    evidence = table_of(paper, "evidence", "findings-evidence")
    numbers = evidence[["lo", "hi"]].apply(pd.to_numeric, errors="coerce")
    groups = evidence.assign(lo=numbers["lo"], hi=numbers["hi"]).groupby(ROW)
    rows = {key: group.to_dict("records") for key, group in groups}
    for claim in PROJECT.study(paper).stated:
        for interpretation in claim.judged_rows:
            key = claim.id, interpretation.variant, interpretation.label
            yield claim, interpretation, rows.get(key, [])


def comparison_of(claim: Entry, interpretation: Interpretation, row: Row) -> Comparison:
    """Return the comparison of the config that a published one is of, by its name and point."""
    [found] = {
        id(question.comparison): question.comparison
        for question in claim.questions(interpretation)
        if question.part == row["part"]
        and row["comparison"].removeprefix(question.label)[:2] in ("", " [")
        and question.comparison.kind == row["kind"]
        and question.comparison.region.describe() == row["threshold"]
    }.values()
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_intervals_give_decisions_and_decisions_give_verdicts(paper: str) -> None:
    ledger = table_of(paper, "claims", "findings")
    verdicts = ledger.set_index(ROW)["verdict"]
    for claim, interpretation, rows in judged_rows(paper):
        parts: dict[str, list[Any]] = {}
        for row in rows:
            comparison = comparison_of(claim, interpretation, row)
            region, kind = comparison.region, comparison.kind
            decided = "reported" if kind == REPORT else decide(row["lo"], row["hi"], region)
            assert decided == row["decided"], row
            assert comparison.decides != row["exploratory"], row
            if comparison.decides:
                parts.setdefault(row["part"], []).append(decided)
        combined = {name: combine_comparisons(each, claim.combine) for name, each in parts.items()}
        expected = verdicts[claim.id, interpretation.variant, interpretation.label]
        assert verdict_of(claim, combined, interpretation) == expected, claim.id
    assert any(isinstance(claim, Claim) for claim, _, _ in judged_rows(paper))


@pytest.mark.parametrize("paper", PAPERS)
def test_published_verdicts_are_at_paper_scale_and_words_of_their_claims(paper: str) -> None:
    ledger, claims = table_of(paper, "claims"), PROJECT.study(paper).claims
    assert set(ledger["scale"]) == {"paper"}
    allowed = {
        (each.id, row.variant, row.label): words_of(each, row)
        for each in claims
        for row in each.interpretations
    }
    published = ledger.set_index(ROW)["verdict"].to_dict()
    assert published.keys() == allowed.keys()
    assert all(verdict in allowed[row] for row, verdict in published.items())
    is_undecided = ledger["verdict"] == "undecided"
    unmeasured = ledger["detail"].str.contains("no number was measured")
    assert set(ledger["claim"][unmeasured]) <= set(ledger["claim"][~is_undecided])
    undecided = ledger[is_undecided & ~unmeasured]
    assert undecided["claim"].nunique() <= 3
    assert undecided["detail"].str.contains("runs would decide it").all()


@pytest.mark.parametrize("paper", PAPERS)
def test_no_order_and_no_composition_bound_accuses_a_paper(paper: str) -> None:
    """An order leaves constants open; an upper bound above a claim refutes at most its proof."""
    ledger, evidence = table_of(paper, "claims"), table_of(paper, "evidence")
    accused = set(ledger.loc[ledger["verdict"] == "fails", "claim"])
    orders = {claim.id for claim in PROJECT.study(paper).claims if claim.kind == "order"}
    assert not accused & orders
    composed = evidence["comparison"].str.contains("compos")
    against = composed & (evidence["decided"] == "against") & ~evidence["exploratory"]
    assert not accused & set(evidence.loc[against, "claim"])
    # A verdict in the family is never the opposite of the one at its own level.
    both = table_of(paper, "simultaneous")
    pairs = set(zip(both["verdict"], both["verdict_in_family"], strict=True))
    assert not pairs & {("holds", "fails"), ("fails", "holds"), ("undecided", "holds")}
    assert set(both["family_wise"]) <= {"exact", "yes", "only at its own level", "-"}


@pytest.mark.parametrize("paper", PAPERS)
def test_no_statistic_of_a_paper_is_idle(paper: str) -> None:
    folder = ROOT / "config/papers" / paper
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.yaml")]
    own = {
        name
        for name, function in find_paper(paper).quantities.items()
        if paper.replace("-", "_") in function.__module__
    }
    assert own <= {*re.findall(r"[\w-]+", " ".join(texts))}


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


def patterns(claim: Entry, interpretation: Interpretation) -> Iterator[Places]:
    """Yield all parts at one place, all but one inside, and comparisons at random."""
    kinds = ("inside", "outside", "astride", "just beyond", "lost")
    for place in kinds:
        yield lambda comparison, part, place=place: place
    questions = claim.questions(interpretation)
    parts = sorted({one.part for one in questions if one.comparison.decides})
    for chosen, place in product(parts, kinds[1:]):
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


def test_no_verdict_is_on_pairs_with_c_below_1() -> None:
    """Algorithm 2 and Theorem 5 ask for c of at least 1."""
    claims = PROJECT.study("ts-is-dp").claims
    tuned = [
        (claim.id, comparison)
        for claim in claims
        for comparison in claim.comparisons.values()
        if {"interior", "between"} & {name for name, _ in comparison.pick}
    ]
    assert {name for name, _ in tuned} == {"TSDP-C8", "TSDP-C10b", "TSDP-C12", "TSDP-C24"}
    for _, comparison in tuned:
        inside = {tag: (one.low, one.high) for tag, one in comparison.where.items()}
        assert inside == {"c": (1.0, math.inf)} or not comparison.decides
    ranges = {claim.id: claim.parameters.get("c_range") for claim in claims}
    assert {ranges[name] for name in ("TSDP-C25", "TSDP-C26")} == {"at-least-1"}


LEDGER: list[Row] = [
    row | {"values": dict(re.findall("([^=,]+)=([^,]*)", row["interpretation"]))}
    for path in sorted(PUBLISHED.glob("*/claims.csv"))
    for row in pd.read_csv(path, keep_default_na=False, dtype=str).to_dict("records")
]
CLAIMS = {
    "dp-bai": "BAI-C14a",
    "baseline": "BAI-C14b",
    "dp-od": "BAI-C14c",
    "dp-bai-gauss": "BAI-C24",
    "gdp-ncb": "NCB-C15",
    "ldp-ncb": "NCB-C16",
    "anytime-gdp-ncb": "NCB-C15",
    "anytime-ldp-ncb": "NCB-C16",
}
"""Algorithm -> the claim on its privacy."""


def rows_of(algorithm: str) -> list[Row]:
    """The rows of the algorithm's claim."""
    core = algorithm.removeprefix("anytime-")
    return [
        row
        for row in LEDGER
        if row["claim"] == CLAIMS[algorithm]
        and row["values"].get("algorithm", core) == core
        and "largest_reward" not in row["values"]
    ]


def verdicts(algorithm: str, variant: str, played: dict[str, str]) -> list[str]:
    """Verdicts on what is played: of the rows that agree with it those that say most of it."""
    found: dict[int, list[str]] = {}
    for row in rows_of(algorithm):
        named = {k: v for k, v in row["values"].items() if k in played}
        if row["variant"] == variant and named.items() <= played.items():
            found.setdefault(len(named), []).append(row["verdict"])
    return found[max(found)] if found else []


def statuses(algorithm: str, variant: str, interpretations: dict[str, str]) -> set[str]:
    """What is said of it at several parameters and horizons."""
    definition, found = REGISTRY[algorithm], set()
    for epsilon, horizon in product((0.2, 0.5, 1.0, 5.0), (1000, 10**6, 10**8)):
        values = {"epsilon": epsilon, "delta": 0.38}
        own = {name: values.get(name, value) for name, value in definition.example.items()}
        told = definition.parameters_from(own), horizon
        choice = {"variant": variant, "interpretations": interpretations}
        found.add(guarantee_of(definition, *told, **choice).status)
    return found


@pytest.mark.parametrize("algorithm", CLAIMS)
def test_nothing_that_fails_is_called_private(algorithm: str) -> None:
    assert verdicts(algorithm, "as-written", REGISTRY[algorithm].interpretations_from({}))
    named = {name for row in rows_of(algorithm) for name in row["values"]}
    # Each variant with no departure and with one.
    allowed = REGISTRY[algorithm].interpretations.items()
    single = [{}, *({name: value} for name, values in allowed for value in values)]
    for variant, departure in product(REGISTRY[algorithm].variants, single):
        played = REGISTRY[algorithm].interpretations_from(departure, variant)
        default = REGISTRY[algorithm].interpretations_from({}, variant)
        found = verdicts(algorithm, variant, played)
        # The ledger speaks of the variant as it is, and of the interpretations that it names.
        if not found or not (played == default or named & departure.keys()):
            continue
        said = statuses(algorithm, variant, departure)
        if "fails" in found:
            assert said <= {"refuted", "stated"}, (variant, departure)
        if played != default:
            continue
        # Claims are of the core of an anytime version, where it has a window that is long enough.
        if not algorithm.startswith("anytime-"):
            assert ("fails" in found) == ("refuted" in said), (variant, departure)
        if "proved" in said:
            assert set(found) == {"holds"}, (variant, departure)


def test_every_claim_that_an_entry_rests_on_is_that_of_its_algorithm() -> None:
    for algorithm, entries in KNOWN.items():
        for claim in re.findall(r"[A-Z]+-C\d+[a-z]?", " ".join(each.basis for each in entries)):
            assert claim == CLAIMS[algorithm]


def test_every_claim_on_the_privacy_of_an_algorithm_is_known_here() -> None:
    """By its words; those on report-noisy-max are on one action, not on an algorithm."""
    found = {
        claim
        for path in (ROOT / "config").rglob("claims.yaml")
        for claim, entry in yaml.safe_load(path.read_text(encoding="utf-8"))["claims"].items()
        if re.search(r"differentially\s+private", entry["statement"])
    }
    assert found == set(CLAIMS.values())
