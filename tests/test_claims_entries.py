"""The claims file: what it has to say, and one line about everything that is wrong with it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpbandits.config.claims import Claim, ClaimsFile, ComparisonCase, Reading
from dpbandits.config.documents import load_document, naming
from dpbandits.pipeline.check import _check_texts, check_names
from support import refused
from toy_claims import WORDS, claims_in, compared, finding

VALID = """
paper: toy
series:
  toy: {metric: regret, which: '{which}'}
claims:
  TOY-C1:
    kind: privacy
    says: 'At T = 1e5 the means are slightly below 1.'
    place: Section 5, Figure 2(a)
    scope: epsilon = 0.2
    not_judged: [slightly]
    measured: Mean regret at 2,000 rounds.
    result: 'At T = 100,000 and epsilon = 0.2 it is {mean}, in Figure 2 after 2000 rounds.'
    reads: [toy]
    runs: [50, 100]
    runs_paper: 10
    readings: [{which: 0}, {which: 1}]
    beside: [{variant: repaired, which: 0}]
    compare:
      mean: {value: toy, less: 1}
      both: {value: toy, along: t, less: 1}
    numbers:
      mean: {comparison: mean}
"""


def compared_as(**keys: Any) -> Callable[[dict[str, Any]], object]:
    """Return a change of the first comparison."""
    return lambda entry: entry["compare"]["mean"].update(keys)


def checked(path: Path, change: Callable[[dict[str, Any]], object]) -> Claim:
    """Return the valid claim with a change, after all that ``dpbandits check`` asks of it alone."""
    document = yaml.safe_load(VALID)
    change(document["claims"]["TOY-C1"])
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    [claim] = claims_in(load_document(path, ClaimsFile), str(path))
    with naming(path):
        check_names([claim], {})
        _check_texts(claim)
    return claim


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda e: e.pop("scope"), ["scope: Field required"]),
        (lambda e: e.update(weight=1), ["key is 'weight'", "place, scope"]),
        (lambda e: e.update(kind="picture"), ["kind is 'picture'", "'theory'"]),
        (lambda e: e.update(quantifier="most"), ["quantifier is 'most'", "'exists'"]),
        (lambda e: e.update(kind="theory", main=True), ["kind theory; allowed: privacy"]),
        (lambda e: e.update(kind="theory", seen_from="mean"), ["kind theory; allowed: privacy"]),
        (lambda e: e.update(seen_from="nan"), ["seen_from is 'nan'; allowed: mean, both"]),
        (lambda e: e.update(chance="mea"), ["chance is 'mea'", "did you mean 'mean'?"]),
        (lambda e: e.update(runs=[100, 50]), ["runs is [100, 50]", "increase"]),
        (lambda e: e.update(reads=[]), ["key reads is missing", "in of its series"]),
        (lambda e: e.update(verdicts=["holds"]), ["key is 'verdicts'"]),
        (lambda e: e.update(beside=[{"which": 1}]), ["beside has a reading that is judged"]),
        (lambda e: e.update(beside=[{"variant": "fixed"}]), ["variant is 'fixed'", "'repaired'"]),
        (lambda e: e["compare"]["both"].update(part="both"), ["key is 'part'; allowed: value"]),
        (compared_as(tolerance=-1), ["tolerance is -1", "equal to 0"]),
        (compared_as(lower=1), ["key is 'lower'", "less, greater"]),
        (compared_as(greater=1), ["less, greater; allowed: one of them"]),
        (compared_as(less=float("nan")), ["less is nan", "finite"]),
        (compared_as(less="x"), ["less is 'x'", "a number"]),
        (compared_as(less=[0, 1]), ["less is [0, 1]", "one number"]),
        (lambda e: e["compare"].update(mean={"value": "toy", "within": 1}), ["[low, high]"]),
        (lambda e: e["compare"].update(mean={"value": "toy", "within": [2, 1]}), ["low <= high"]),
        (lambda e: e["compare"].update(mean={"value": "toy", "alike": 1}), ["at least 2"]),
        (compared_as(value="median"), ["series is 'median'", "toy"]),
        (compared_as(quantity="median"), ["2 of value", "allowed: one"]),
        (compared_as(pick="largest"), ["without along"]),
        (lambda e: e["compare"].update({"eta={eta}": {"value": "toy"}}), ["'eta'", "which"]),
        # A measured number is a name, and a setting may be typed as it is elsewhere in the entry.
        (lambda e: e.update(result="It is 0.35: {mean}."), ["types 0.35", "{names} of measured"]),
        (lambda e: e.update(how="Of 1,234 runs."), ["types 1,234; allowed: numbers of place"]),
        (lambda e: e.update(how="It is {other}."), ["differ in other; allowed: each name"]),
        (lambda e: e.update(result="No number."), ["texts differ in mean"]),
        (lambda e: e["numbers"]["mean"].update(column="y", comparison=""), ["file, where and col"]),
    ],
)
def test_whatever_is_wrong_is_said_in_one_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: list[str]
) -> None:
    path = tmp_path / "toy.yaml"
    assert checked(path, lambda entry: None).id == "TOY-C1"
    refused(lambda: checked(path, change), "toy.yaml", "TOY-C1", *words)


def test_texts_of_findings_type_no_measured_number_either() -> None:
    _check_texts(finding(title="At T = 300", scope="T = 300"))
    refused(lambda: _check_texts(finding(title="At T = 300")), "TOY-F1", "types 300")
    refused(lambda: _check_texts(finding(statement="It is {mean}.")), "differ in mean")


def completed(keys: dict[str, Any], defaults: dict[str, Any]) -> Claim:
    """Return a claim of one comparison that says no more than it has to, and some keys."""
    entry = {**WORDS, "kind": "experiment", "measured": "Its mean."}
    entry["compare"] = {"mean": {"value": "toy", "less": 1}}
    document = {
        "paper": "toy",
        "defaults": defaults,
        "series": {"toy": {"in": "toy"}, "exact": {"in": "exact"}, "of": {"in": "{log}"}},
        "claims": {"TOY-C1": entry | keys},
    }
    simulated = {"toy": (400, 1), "other": (300, 1), "curves": (400, 100)}
    return claims_in(ClaimsFile.model_validate(document), simulated=simulated)[0]


OF_EXACT = {"compare": {"number": {"value": "exact", "identity": 3}}}
POINTS = {"from": 1, "to": 100, "count": 3}
IN_SHARES = {"compare": {"mean": {"value": "toy", "less": 1, "along": "t", "points": POINTS}}}
OF_READING = {"compare": {"mean": {"value": "of", "less": 1}}}
BOTH = {"readings": [{"log": "toy"}], "beside": [{"log": "other"}]}
SOME = {"runs": [50, 100], "runs_paper": 10}


def test_what_a_claim_does_not_say_follows_from_its_file() -> None:
    for keys, defaults, expected in [
        ({}, {}, {"reads": ("toy",), "runs": (400,), "runs_paper": 0, "quantifier": "points"}),
        ({}, {}, {"readings": (Reading(variant="as-written"),), "beside": ()}),
        ({}, SOME, {"runs": (50, 100), "runs_paper": 10}),
        ({"runs": 200}, SOME, {"reads": ("toy",), "runs": (200,), "runs_paper": 10}),
        ({"runs": 0}, SOME, {"runs": (), "runs_paper": 0}),
        (OF_EXACT, SOME, {"reads": ("exact",), "runs": (), "runs_paper": 0}),
        (IN_SHARES, {}, {"reads": ("toy",), "runs": (400,)}),
        (OF_READING | BOTH, {}, {"reads": ("toy", "other"), "runs": (300,)}),
        ({}, {"reads": ["toy", "more"]}, {"reads": ("toy", "more")}),
        ({"place": "Figures 1(c) and 1(d), Figure 3"}, {}, {"figure": ("fig1c", "fig1d", "fig3")}),
        ({"place": "Figure 2", "figure": []}, {}, {"figure": ()}),
        ({"figure": "fig1"}, {}, {"figure": ("fig1",)}),
        ({"figure": ["fig1", "fig2b"]}, {}, {"figure": ("fig1", "fig2b")}),
    ]:
        claim = completed(keys, defaults)
        assert {key: getattr(claim, key) for key in expected} == expected
    with pytest.raises(ValueError, match="frozen"):
        claim.says = "Another."


def test_more_runs_than_there_are_are_refused() -> None:
    """Each was judged on other runs than it says, or on none."""
    for keys, words in [
        ({"runs": [40, 401]}, "runs is [40, 401]; allowed: 400 at most, as toy has"),
        (OF_READING | BOTH | {"runs": 350}, "allowed: 300 at most, as other has"),
        (OF_EXACT | {"runs": 5}, "runs is [5]; allowed: 0, it reads no simulation"),
        ({"reads": ["curves"], "runs": [50, 100]}, "50 part a Nash curve of curves; allowed: mult"),
        ({"runs": [0, 40]}, "Numbers of runs should increase, from 1 on"),
    ]:
        with pytest.raises(ValueError, match=re.escape(words)):
            completed(keys, {})
    with pytest.raises(ValueError, match="50 part a Nash curve of curves; allowed: multiples of"):
        completed({"reads": ["curves"]}, SOME)
    assert completed({"reads": ["curves"]}, {"runs": 50}).runs == (50,)
    for runs in (300, [100, 200, 400], [100, 400]):
        assert completed({"reads": ["curves"], "runs": runs}, {}).reads == ("curves",)


def test_a_label_has_the_values_of_its_variables_and_those_that_it_does_not_name() -> None:
    for name, keys, label in [
        ("mean {of}", {}, "mean 5 [which=0]"),
        ("mean {which}", {}, "mean 0"),
        ("mean", {"point": "{which}"}, "mean"),
    ]:
        case = ComparisonCase(compared(**keys), name, {"of": 5}, {"which": 0}, {})
        assert case.label == label
