"""Findings on dp-bai come out as they were made; their numbers are ones that are measured."""

import re

import pytest

from claims.dp_bai_finding_worlds import FINDINGS
from claims.dp_bai_perturbations import Made, evidence_of
from claims.worlds import ROOT, claims_of
from dpbandits.claims.docket import Claim
from dpbandits.claims.judge import judge
from dpbandits.claims.ledger import ledger
from dpbandits.config.documents import load_yaml

CLAIMS, BEYOND = claims_of("dp-bai")
DECIDED = [(name, word) for name, worlds in FINDINGS.items() for word in worlds]
BY_ID = {finding.claim.id: finding for finding in BEYOND}


@pytest.mark.parametrize(("name", "word"), DECIDED, ids=[" ".join(each) for each in DECIDED])
def test_a_finding_comes_out_as_it_was_made(name: str, word: str) -> None:
    claim = BY_ID[name].claim
    (found,) = judge([claim], evidence_of(claim, FINDINGS[name][word]))
    assert found.verdict == word, ledger([found])["detail"].item()


def test_findings_are_numbered_and_decided_where_comparisons_have_a_region() -> None:
    dropped = {14, 16}
    assert list(BY_ID) == [f"BAI-F{i}" for i in range(1, 18) if i not in dropped]
    decided = {
        name
        for name, finding in BY_ID.items()
        if any(each.decides for each in finding.claim.comparisons)
    }
    assert decided == set(FINDINGS)


@pytest.mark.parametrize("name", sorted(set(BY_ID) - set(FINDINGS)))
def test_other_findings_are_reported(name: str) -> None:
    claim = BY_ID[name].claim
    (found,) = judge([claim], evidence_of(claim, Made()))
    assert found.verdict == "reported"


def labels_of(claim: Claim) -> set[tuple[str, str, str]]:
    """Claim, interpretation and label of every comparison, in the made-up world."""
    return {
        (claim.id, found.interpretation.label, each.label)
        for found in judge([claim], evidence_of(claim, Made()))
        for each in found.comparisons
    }


def test_every_number_of_findings_and_errata_is_one_that_is_measured() -> None:
    named = {
        (number.claim, number.interpretation, number.comparison)
        for finding in BEYOND
        for number in finding.numbers.values()
        if number.comparison
    }
    errata = load_yaml(ROOT / "config/papers/dp-bai/errata.yaml")["errata"]
    for entry in errata.values():
        for each in entry["numbers"].values():
            if "comparison" in each:
                named.add((each["claim"], each.get("interpretation", ""), each["comparison"]))
    entries = {claim.id: claim for claim in (*CLAIMS, *(each.claim for each in BEYOND))}
    measured = {
        label for name in {claim for claim, _, _ in named} for label in labels_of(entries[name])
    }
    assert named - measured == set()
    for finding in BEYOND:
        asked = set(re.findall(r"{(\w+)}", finding.claim.statement))
        assert asked == set(finding.numbers), finding.claim.id
    for name, entry in errata.items():
        assert set(re.findall(r"{(\w+)}", entry["found"])) == set(entry["numbers"]), name
