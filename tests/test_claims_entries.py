"""The claims file: what it has to say, and one line about everything that is wrong with it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpbandits.claims.docket import Claim, ClaimsFile, claims_of
from dpbandits.config.documents import load_document
from support import refused

VALID = """
paper: toy
series:
  toy: {metric: regret, which: '{which}'}
claims:
  TOY-C1:
    kind: experiment
    statement: The means are below 1.
    scope: the toy
    verdicts: [holds, fails, mixed]
    place: Nowhere
    rule: Both intervals lie below 1.
    metric: regret
    reads: [toy]
    runs: [50, 100]
    runs_paper: 10
    interpretations: [{which: 0}, {which: 1}]
    comparisons:
      mean: {value: toy, less: 1}
      both: {value: toy, along: t, less: 1, part: both}
"""


def comparison_of(entry: dict[str, Any]) -> dict[str, Any]:
    return entry["comparisons"]["mean"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda e: e.pop("scope"), ["scope: Field required"]),
        (lambda e: e.update(weight=1), ["key is 'weight'", "statement, place"]),
        (lambda e: e.update(runs=[100, 50]), ["runs is [100, 50]", "increase"]),
        (lambda e: e.update(runs="many"), ["runs.0 is 'many'", "integer"]),
        (lambda e: e.update(runs=10_000_001), ["runs.0 is 10000001", "less than or equal to"]),
        (lambda e: e.update(reads=[]), ["key reads is missing", "in of its series"]),
        (lambda e: e.update(combine="few"), ["combine is 'few'", "'all', 'any' or 'most'"]),
        (lambda e: e.update(level=0), ["level is 0", "greater than 0"]),
        (lambda e: e.update(level=1), ["level is 1", "less than 1"]),
        (lambda e: e.update(rerun=0), ["rerun is 0", "greater than or equal to 1"]),
        (lambda e: e.update(rerun=100, runs=0), ["rerun is 100", "where runs is above 0"]),
        (lambda e: e.update(verdicts=["confirmed"]), ["verdicts.0 is 'confirmed'", "'fails'"]),
        (lambda e: comparison_of(e).update(indifference=-1), ["indifference is -1", "equal to 0"]),
        (lambda e: comparison_of(e).update(tolerance=-1), ["tolerance is -1", "equal to 0"]),
        (lambda e: comparison_of(e).update(lower=1), ["key is 'lower'", "less, greater"]),
        (lambda e: comparison_of(e).update(greater=1), ["less, greater; allowed: one of them"]),
        (lambda e: comparison_of(e).update(less=float("nan")), ["less is nan", "finite"]),
        (lambda e: comparison_of(e).update(less="x"), ["less is 'x'", "a number"]),
        (lambda e: comparison_of(e).update(less=[0, 1]), ["less: threshold", "one number"]),
        (lambda e: comparison_of(e).update(value="median"), ["series is 'median'", "toy"]),
        (lambda e: comparison_of(e).update(quantity="median"), ["2 of value", "allowed: one"]),
        (lambda e: comparison_of(e).update(pick="largest"), ["without along"]),
        (lambda e: comparison_of(e).update(part="eta={eta}"), ["mean", "'eta'", "which"]),
        (
            lambda e: e.update(interpretations=[{"variant": "fixed", "which": "first"}]),
            ["variant is 'fixed'", "'repaired'"],
        ),
        (
            lambda e: e["comparisons"].update(
                both={"value": "toy", "no_increase": 1, "part": "both"}
            ),
            ["no comparison that could carry it", "no_increase"],
        ),
        (lambda e: [c.update(exploratory=True) for c in e["comparisons"].values()], ["carry it"]),
    ],
)
def test_whatever_is_wrong_is_said_in_one_line(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: list[str]
) -> None:
    document, path = yaml.safe_load(VALID), tmp_path / "toy.yaml"
    change(document["claims"]["TOY-C1"])
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    told = "toy.yaml: claims.TOY-C1", *words
    refused(lambda: claims_of(load_document(path, ClaimsFile), path, {}), *told)


def completed(keys: dict[str, Any], defaults: dict[str, Any]) -> Claim:
    """Return a claim of one comparison that says no more than it has to, and some keys."""
    entry = {"kind": "experiment", "statement": "A toy.", "scope": "The toy", "place": "Nowhere"}
    entry["comparisons"] = {"mean": {"value": "toy", "less": 1}}
    document = {
        "paper": "toy",
        "defaults": {"metric": "regret", **defaults},
        "series": {
            "toy": {"in": "toy", "when": {"log=base2": {"in": "other"}}},
            "exact": {"in": "exact"},
        },
        "claims": {"TOY-C1": entry | keys},
    }
    file = ClaimsFile.model_validate(document)
    simulated = {"toy": (400, 1), "other": (300, 1), "curves": (400, 100)}
    return claims_of(file, Path("toy.yaml"), {}, simulated)[0]


PARTED = {"comparisons": {"mean": {"value": "toy", "less": 1, "part": "first"}}}
OF_EXACT = {"comparisons": {"number": {"value": "exact", "identity": 3}}}
POINTS = {"from": 1, "to": 100, "count": 3}
IN_SHARES = {"comparisons": {"mean": {"value": "toy", "less": 1, "along": "t", "points": POINTS}}}
SOME = {"runs": [50, 100], "runs_paper": 10, "level": 0.01}


@pytest.mark.parametrize(
    ("keys", "defaults", "expected"),
    [
        ({}, {}, {"reads": ("toy",), "runs": (400,), "runs_paper": 0, "level": 0.05,
                  "verdicts": ("holds", "fails"), "rule": "mean is less than 1."}),
        ({}, SOME, {"runs": (50, 100), "runs_paper": 10, "level": 0.01}),
        ({"runs": 200, "level": 0.02}, SOME, {"runs": (200,), "runs_paper": 10, "level": 0.02}),
        ({"runs": 0}, SOME, {"runs": (), "runs_paper": 0}),
        (OF_EXACT, SOME, {"reads": ("exact",), "runs": (), "runs_paper": 0, "level": 0.01}),
        (IN_SHARES, {}, {"reads": ("toy",), "runs": (400,)}),
        ({"parameters": {"log": "base2"}}, {}, {"reads": ("other",), "runs": (300,)}),
        ({"interpretations": [{}, {"log": "base2"}]}, {}, {"reads": ("toy", "other")}),
        ({}, {"reads": ["toy", "more"]}, {"reads": ("toy", "more")}),
        ({"place": "Figures 1(c) and 1(d), Figure 3"}, {}, {"figure": ("fig1c", "fig1d", "fig3")}),
        ({"place": "Figure 2", "figure": []}, {}, {"figure": ()}),
        ({"figure": "fig1"}, {}, {"figure": ("fig1",)}),
        ({"figure": ["fig1", "fig2b"]}, {}, {"figure": ("fig1", "fig2b")}),
        (PARTED, {}, {"verdicts": ("holds", "fails", "mixed")}),
        ({"kind": "order"}, {}, {"verdicts": ("not contradicted", "fails")}),
        ({"kind": "order", "verdicts": ["holds"]}, {}, {"verdicts": ("holds",)}),
    ],
)  # fmt: skip
def test_what_a_claim_does_not_say_follows_from_its_file(
    keys: dict[str, Any], defaults: dict[str, Any], expected: dict[str, Any]
) -> None:
    claim = completed(keys, defaults)
    assert {key: getattr(claim, key) for key in expected} == expected
    with pytest.raises(ValueError, match="frozen"):
        claim.combine = "any"


def test_more_runs_than_there_are_are_refused() -> None:
    """Each was judged on other runs than it says, or on none."""
    for keys, words in [
        ({"runs": [40, 401]}, "runs is [40, 401]; allowed: 400 together at most, as toy has"),
        ({"runs": 350, "parameters": {"log": "base2"}}, "allowed: 300 together at most"),
        (
            {"runs": 300, "reads": ["other", "toy"], "rerun": 1},
            "runs is [300] and rerun 1",
        ),
        ({"rerun": 50}, "runs is [400] and rerun 50; allowed: 400 together"),
        (OF_EXACT | {"runs": 5}, "runs is [5]; allowed: 0, it reads no simulation"),
        ({"reads": ["curves"], "runs": [50, 100]}, "50 part a Nash curve of curves; allowed: mult"),
        ({"reads": ["curves"], "runs": 100, "rerun": 150}, "150 part a Nash curve of curves"),
        ({"runs": [0, 40]}, "Numbers of runs should increase, from 1 on"),
    ]:
        with pytest.raises(ValueError, match=re.escape(words)):
            completed(keys, {})
    with pytest.raises(ValueError, match="50 part a Nash curve of curves; allowed: multiples of"):
        completed({"reads": ["curves"]}, SOME)
    assert completed({"reads": ["curves"]}, {"runs": 50}).runs == (50,)
    for runs in (300, [100, 200, 400], [100, 400]):
        assert completed({"reads": ["curves"], "runs": runs}, {}).reads == ("curves",)
