"""Readings reach their words and no other; published words are those of the published numbers.

Which words a reading can end in is a property of the entries, whatever the results: in place of its
number each comparison measures one inside, outside or astride its region. Published intervals give
the published decisions, these the words, the words the counts of the front page. Nor is any
guarantee called proved, or not contradicted, where a counterexample is to what is played.
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

from dpbandits.algorithms import REGISTRY
from dpbandits.algorithms.guarantees import guarantee_of
from dpbandits.claims.estimates import Estimate
from dpbandits.claims.judge import judge
from dpbandits.claims.measure import Measurement
from dpbandits.claims.series import Evidence
from dpbandits.claims.tables import ALONE, BESIDE, EXACT, IN_FAMILY, JUDGED, count_verdicts
from dpbandits.claims.verdict import (
    Region,
    decide,
    of_readings,
    region_of,
    verdict_of,
)
from dpbandits.config.claims import Claim, ComparisonSpec, Reading, StatedEntry
from dpbandits.pages.verdicts import COUNTED
from dpbandits.papers import code_of
from dpbandits.pipeline.project import read_verdicts
from found_papers import PAPERS, PROJECT
from support import DOCUMENTS, ROOT

PUBLISHED = ROOT / "docs/figures"
READING = ["claim", "variant", "interpretation"]

Row = dict[Any, Any]


def table_of(paper: str, *names: str) -> pd.DataFrame:
    """Return published tables as one; a paper may have no findings."""
    paths = [PUBLISHED / paper / f"{name}.csv" for name in names]
    tables = [read_verdicts(each) for each in paths if each.exists()]
    return pd.concat(tables, ignore_index=True)


def key_of(entry: StatedEntry, reading: Reading) -> tuple[str, str, str]:
    return entry.id, reading.variant, reading.label


# Published words


def region(comparison: ComparisonSpec) -> Region:
    """Return where a number without an interval has to lie."""
    return region_of(comparison, Estimate(0.0))


def comparison_of(entry: StatedEntry, reading: Reading, row: Row) -> ComparisonSpec:
    """Return the comparison of the config that a published one is of, by its name and point."""
    [found] = {
        id(case.comparison): case.comparison
        for case in entry.cases(reading)
        if row["comparison"].removeprefix(case.label)[:2] in ("", " [")
        and case.comparison.kind == row["kind"]
        and (row["kind"] == "alike" or region(case.comparison).describe() == row["threshold"])
    }.values()
    return found


def decisions_of(row: Row, comparison: ComparisonSpec) -> set[str]:
    """Return the decisions that a published interval allows; a likeness needs its runs too."""
    if comparison.kind == "shown":
        return {"shown"}
    if comparison.kind == "alike":
        return {"for", "against", "undecided"}
    asked = region(comparison)
    decided = decide(row["lo"], row["hi"], asked)
    may_be_alike = decided == "undecided" and row["lo"] <= asked.equal <= row["hi"]
    return {decided, "equal"} if may_be_alike else {decided}


@pytest.mark.parametrize("paper", PAPERS)
def test_intervals_give_decisions_and_decisions_give_words(paper: str) -> None:
    tables = table_of(paper, "claims", "findings"), table_of(paper, "evidence", "findings-evidence")
    published, evidence = (dict(list(table.groupby(READING))) for table in tables)
    for entry in PROJECT.study(paper).stated:
        words = {}
        for reading in (*entry.readings, *entry.beside):
            key = key_of(entry, reading)
            rows = evidence[key].to_dict("records") if key in evidence else []
            [row], decisions = published[key].to_dict("records"), []
            assert row["role"] == (BESIDE if reading in entry.beside else JUDGED)
            for each in rows:
                comparison = comparison_of(entry, reading, each)
                assert each["decided"] in decisions_of(each, comparison), each
                assert str(comparison.ours) == each["ours"], each
                decisions += [each["decided"]] * comparison.decides
            if row["role"] == BESIDE:
                assert row["verdict"] == ""
            elif isinstance(entry, Claim):
                seen = [each["estimate"] for each in rows if each["comparison"] == entry.seen_from]
                words[key] = verdict_of(entry, decisions, *seen)
                assert row["of_reading"] == words[key], key
            else:
                shown = {"as stated": "shown", "not as stated": "not shown", "size only": ""}
                word = verdict_of(entry, decisions)
                assert row["verdict"] == row["of_reading"] == shown.get(word, "undecided"), key
        for key in words:
            assert set(published[key]["verdict"]) == {of_readings(words.values())}, key


@pytest.mark.parametrize("paper", PAPERS)
def test_published_words_are_at_paper_scale_and_every_reading_has_one(paper: str) -> None:
    ledger, claims = table_of(paper, "claims"), PROJECT.study(paper).claims
    assert set(ledger["scale"]) == {"paper"}
    expected = [
        key_of(claim, reading) for claim in claims for reading in (*claim.readings, *claim.beside)
    ]
    assert [*ledger[READING].itertuples(index=False, name=None)] == expected
    kinds = dict(ledger[["claim", "kind"]].itertuples(index=False, name=None))
    assert kinds == {claim.id: claim.kind for claim in claims}
    # Who is accused is named: the points in part, and the probability of a witness.
    accused = ledger[ledger["of_reading"].isin(["in part", "counterexample"])]
    assert accused["detail"].str.contains("except at: ").all()
    assert (ledger["chance"][ledger["of_reading"].eq("counterexample")] != "").all()
    assert set(ledger["family_wise"]) <= {EXACT, IN_FAMILY, ALONE, ""}
    assert not ledger["of_reading"][ledger["family_wise"] == ALONE].isin(["undecided", ""]).any()


def test_the_table_of_words_has_the_counts_of_the_published_words() -> None:
    """Each claim once, experiments first; what follows from another is not counted."""
    tables, claims = [table_of(paper, "claims") for paper in PAPERS], []
    for paper in PAPERS:
        claims += PROJECT.study(paper).claims
    counts = count_verdicts(pd.concat(tables), claims)
    following = [claim.id for claim in claims if claim.follows_from]
    assert sum(sum(own.values()) for own in counts.values()) == len(claims) - len(following)
    rows = [line.strip("| ").split(" | ") for line in DOCUMENTS["docs/claims.md"].splitlines()]
    cells = {row[0].strip("*"): row[2:] for row in rows if len(row) == 2 + len(counts)}
    for word in COUNTED:
        assert cells[word] == [str(own.get(word, 0)) for own in counts.values()]


# Entries


@pytest.mark.parametrize("paper", PAPERS)
def test_no_quantity_of_a_paper_is_idle(paper: str) -> None:
    folder = ROOT / "config/papers" / paper
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*.yaml")]
    own = {
        name
        for name, function in code_of(paper).quantities.items()
        if paper.replace("-", "_") in function.__module__
    }
    assert own <= {*re.findall(r"[\w-]+", " ".join(texts))}


@pytest.mark.parametrize("paper", PAPERS)
def test_thresholds_are_0_or_1_or_numbers_that_the_paper_prints(paper: str) -> None:
    """An identity may be with what the paper's own formula gives, named where it is measured."""
    for claim in PROJECT.study(paper).claims:
        printed = {
            abs(float(text.replace(",", "")))
            for text in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", f"{claim.says} {claim.place}")
            if text.strip(",")
        }
        for name, comparison in claim.compare.items():
            if comparison.decides and comparison.kind not in ("alike", "identity"):
                ends = np.ravel(comparison.threshold)
                allowed = {0.0, 1.0, *printed}
                assert {*map(abs, ends)} <= allowed, (claim.id, name)


NOTHING = Evidence.of_frames({})
Places = Callable[[ComparisonSpec], str]
"""From a comparison to the place of its number."""


@dataclass(frozen=True)
class Placed(Estimate):
    """A number with an interval of its own at any level."""

    lo: float = math.nan
    hi: float = math.nan

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the interval."""
        return self.lo, self.hi


def placed(comparison: ComparisonSpec, place: str) -> Placed:
    """Return a number at a place of the region, which has a finite end or is a likeness."""
    low, high = region(comparison).low, region(comparison).high
    if comparison.kind == "alike":
        ends = {"inside": (0.0, 0.0), "outside": (1.0, 1.0), "astride": (0.0, 1.0)}
        lo, hi = (low + end for end in ends.get(place, (math.nan, math.nan)))
        return Placed(lo, int(np.max(comparison.threshold)), lo, hi)
    end, out = (high, 1.0) if math.isfinite(high) else (low, -1.0)
    inner = (low + high) / 2 if math.isfinite(high - low) else end - out
    ends = {
        "inside": (inner, inner),
        "outside": (end + out, end + out),
        "astride": (inner, end + out),
        "lost": (math.nan, math.nan),
    }
    return Placed(ends[place][0], 0, min(ends[place]), max(ends[place]))


def word(
    monkeypatch: pytest.MonkeyPatch, entry: StatedEntry, reading: Reading, places: Places
) -> str:
    """Judge a reading whose comparisons measure three numbers each, at some place of the region."""

    def numbers(measurement: Measurement) -> dict[str, Estimate]:
        comparison = measurement.case.comparison
        if not comparison.decides:
            return {"": Estimate(0.0)}
        return dict.fromkeys("abc", placed(comparison, places(comparison)))

    with monkeypatch.context() as patch:
        patch.setattr(Measurement, "numbers", numbers)
        changes = {"runs": (), "runs_paper": 0, "readings": (reading,), "beside": ()}
        return str(judge([entry.model_copy(update=changes)], NOTHING)[0].verdict)


def patterns(entry: StatedEntry) -> Iterator[Places]:
    """Yield all numbers at one place, those of all but one comparison inside, and at random."""
    kinds = ("inside", "outside", "astride", "lost")
    for place in kinds:
        yield lambda comparison, place=place: place
    deciding = [one for one in entry.compare.values() if one.decides]
    for chosen, place in product(deciding, kinds[1:]):
        yield (
            lambda comparison, chosen=chosen, place=place: (
                place if comparison is chosen else "inside"
            )
        )
    generator = np.random.default_rng(1)
    for weights in generator.dirichlet(np.full(len(kinds), 0.3), 20):
        yield lambda comparison, weights=weights: str(generator.choice(kinds, p=weights))


def words_of(entry: StatedEntry, reading: Reading) -> set[str]:
    """Return the words that a reading may end in."""
    asked = [one for one in entry.cases(reading) if one.comparison.decides]
    if isinstance(entry, Claim) and entry.cannot:
        return {"cannot be tested here"}
    if isinstance(entry, Claim) and (entry.bound or entry.kind == "privacy"):
        against = "not as stated" if entry.kind == "experiment" else "counterexample"
        return {"not contradicted", *[against] * bool(asked)}
    if not asked:
        return {"size only"}
    quantifier = entry.quantifier if isinstance(entry, Claim) else "every"
    if quantifier == "exists":
        return {"as stated", "undecided"}
    several = {"in part"} if quantifier == "points" and len(asked) > 1 else set()
    return {"as stated", "not as stated", "undecided"} | several


@pytest.mark.parametrize("paper", PAPERS)
def test_every_word_of_a_reading_is_reached_and_no_other(
    paper: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for entry in PROJECT.study(paper).stated:
        for reading in entry.readings:
            reached = {word(monkeypatch, entry, reading, places) for places in patterns(entry)}
            assert reached == words_of(entry, reading), (entry.id, reading.label)


def test_no_word_is_on_pairs_with_c_below_1() -> None:
    """Algorithm 2 and Theorem 5 ask for c of at least 1."""
    tuned = [
        comparison
        for claim in PROJECT.study("ts-is-dp").claims
        for comparison in claim.compare.values()
        if comparison.decides and {"interior", "between"} & {name for name, _ in comparison.pick}
    ]
    assert tuned
    for comparison in tuned:
        assert {tag: (one.low, one.high) for tag, one in comparison.where.items()} == {
            "c": (1.0, math.inf)
        }


# Guarantees


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
"""Algorithm -> the claim on its privacy, or on that of its core."""
GAUSSIAN = {"TSDP-C29", "TSDP-C30", "DTU-C21"}
"""Claims on Gaussian privacy, which their papers prove."""
ONE_ACTION = {"TSDP-C28"}
"""Claims on report-noisy-max, which is no algorithm."""


def words_on(algorithm: str, played: dict[str, str]) -> set[str]:
    """Return the published words of the judged readings that agree with what is played."""
    claim = CLAIMS[algorithm]
    [paper] = [name for name in PAPERS if PROJECT.study(name).letters == claim.partition("-")[0]]
    table = table_of(paper, "claims")
    rows = table[(table["claim"] == claim) & (table["role"] == JUDGED)].to_dict("records")
    named = [(re.findall("([^=,]+)=([^,]*)", row["interpretation"]), row) for row in rows]
    return {
        row["of_reading"]
        for values, row in named
        if all(played.get(key) == value for key, value in values)
    }


def statuses(algorithm: str, interpretations: dict[str, str]) -> set[str]:
    """Return what is said of it as written at several parameters and horizons."""
    definition, found = REGISTRY[algorithm], set[str]()
    for epsilon, horizon in product((0.2, 0.5, 1.0, 5.0), (1000, 10**6, 10**8)):
        values = {"epsilon": epsilon, "delta": 0.38}
        own = {name: values.get(name, value) for name, value in definition.example.items()}
        said = definition.parameters_from(own), horizon
        found.add(guarantee_of(definition, *said, interpretations=interpretations).status)
    return found


@pytest.mark.parametrize("algorithm", CLAIMS)
def test_nothing_with_a_counterexample_is_called_private(algorithm: str) -> None:
    definition = REGISTRY[algorithm]
    named = {"norm"} & set(definition.interpretations)
    departures = [{}, *({key: value} for key in named for value in definition.interpretations[key])]
    for departure in departures:
        played = definition.interpretations_from(departure, "as-written")
        words, said = words_on(algorithm, played), statuses(algorithm, departure)
        assert words
        assert words <= {"counterexample", "not contradicted"}
        if "counterexample" in words:
            assert said <= {"refuted", "stated"}, departure
        # Claims are of the core of an anytime version, where it has a window that is long enough.
        if not algorithm.startswith("anytime-"):
            assert ("counterexample" in words) == ("refuted" in said), departure
        if "proved" in said:
            assert words == {"not contradicted"}, departure


def test_every_claim_that_an_entry_rests_on_is_that_of_its_algorithm() -> None:
    for algorithm, definition in REGISTRY.items():
        bases = " ".join(each.basis for each in definition.known)
        for claim in re.findall(r"[A-Z]+-C\d+[a-z]?", bases):
            assert claim == CLAIMS[algorithm]


def test_every_guarantee_is_known_here() -> None:
    found = {
        claim.id
        for paper in PAPERS
        for claim in PROJECT.study(paper).claims
        if claim.kind == "privacy" and not claim.follows_from
    }
    assert found == {*CLAIMS.values(), *GAUSSIAN, *ONE_ACTION}
