"""Every claim of dp-ncb goes to each verdict that it may end in, on results made up for it.

The worlds are in `dp_ncb_results` and `dp_ncb_perturbations`. A claim added to the file without a
case fails the tests.
"""

import numpy as np
import pytest

from claims.dp_ncb_judged import (
    BY_ID,
    CLAIMS,
    FILE,
    FINDINGS,
    first_judged,
    judged,
    verdict_of,
)
from claims.dp_ncb_perturbations import CASES, NOT_SHOWN, SHOWN, Made
from claims.dp_ncb_results import DOCUMENT, World, analytic, read
from claims.worlds import ROOT_SEED, planned, set_to
from dpbandits.claims.docket import Claim, ClaimsFile, Finding, Interpretation
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import judge
from dpbandits.claims.ledger import ledger
from dpbandits.config.documents import load_document
from dpbandits.papers import find_paper
from shared import AUDIT

JUDGED = [claim for claim in CLAIMS if first_judged(claim) is not None]


@pytest.fixture(params=JUDGED, ids=lambda claim: claim.id)
def claim(request: pytest.FixtureRequest) -> Claim:
    """Each claim of the file that results decide; without a case its tests fail."""
    found: Claim = request.param
    assert found.id in CASES, f"{found.id} has no perturbation in this test"
    return found


def position(claim: Claim) -> int:
    """The interpretation that the cases are made for."""
    found = first_judged(claim)
    assert found is not None
    return found


def test_the_statements_are_those_of_the_paper_in_order() -> None:
    """22 statements, four of them split; one is withdrawn, and one cannot be tested by runs."""
    split = {1: "abc", 8: "ab", 9: "ab", 18: "ab", 20: "ab"}
    numbers = [each for each in range(1, 23) if each != 7]
    assert [claim.id for claim in CLAIMS] == [
        f"NCB-C{number}{letter}" for number in numbers for letter in split.get(number, [""])
    ]
    assert list(load_document(FILE, ClaimsFile).withdrawn) == ["NCB-C7"]
    assert set(BY_ID) - {claim.id for claim in JUDGED} == {"NCB-C12"}
    assert set(CASES) == {claim.id for claim in JUDGED}


def test_no_statistic_is_idle() -> None:
    entries = [*CLAIMS, *(finding.claim for finding in FINDINGS)]
    named = {comparison.statistic for entry in entries for comparison in entry.comparisons}
    statistics = find_paper("dp-ncb").statistics.values()
    assert {each for each in statistics if "dp_ncb" in each.__module__} <= named


def test_every_claim_has_the_runs_that_its_simulations_have() -> None:
    simulations = DOCUMENT["simulations"]
    expected = {f"NCB-C1{each}": (10_000,) for each in "abc"}
    expected |= {"NCB-C13": (200,), "NCB-C12": ()}
    for claim in CLAIMS:
        simulated = set(claim.reads) & set(simulations)
        assert set(claim.reads) <= {*simulations, *DOCUMENT["analytic"], *AUDIT}
        assert claim.analyses == (expected.get(claim.id, (50,)) if simulated else ())
        assert claim.level == 0.01 or not claim.comparisons
        counts = [simulations[name]["runs"]["count"] for name in simulated]
        assert all(count >= look for count in counts for look in claim.analyses)
    assert simulations["anytime"]["runs"]["count"] == 200


def test_experiments_on_the_private_algorithms_are_not_testable_as_written() -> None:
    """Phase I as printed outlasts every published horizon; the baseline of C1a has none."""
    of_curves = [claim for claim in CLAIMS if claim.kind in ("experiment", "picture")]
    assert len(of_curves) == 13
    for claim in of_curves:
        reasons = [
            each.not_testable for each in claim.interpretations if each.variant == "as-written"
        ]
        assert [reason is not None for reason in reasons] == [claim.id != "NCB-C1a"]
        assert all(reason.startswith("As printed the figure") for reason in reasons if reason)


def words_of(claim: Claim, outcome: str, interpretation: Interpretation | None = None) -> str:
    """The word for an outcome in the words that an interpretation, the first judged, may end in."""
    words = claim.words(interpretation or claim.interpretations[position(claim)])
    if outcome == "holds":
        return "holds" if "holds" in words else "not contradicted"
    return outcome if outcome in words else "undecided"


@pytest.mark.parametrize("outcome", ["holds", "fails", "undecided"])
def test_a_interpretation_comes_out_as_it_was_made(claim: Claim, outcome: str) -> None:
    found = judged(claim, getattr(CASES[claim.id], outcome), position(claim))[0]
    decisions = {each.decision for each in found.comparisons if each.comparison.decides}
    detail = ledger([found])["detail"].item()
    assert found.verdict == words_of(claim, outcome), detail
    assert {"holds": decisions == {"for"}, "fails": "against" in decisions}.get(outcome, True)


def test_every_word_that_a_claim_may_end_in_is_reached(claim: Claim) -> None:
    case = CASES[claim.id]
    if case.mixed is not None:
        assert judged(claim, case.mixed, position(claim))[0].verdict == "mixed"
    words = set(claim.words(claim.interpretations[position(claim)]))
    reached = {words_of(claim, outcome) for outcome in ("holds", "fails")}
    assert words == (reached | ({"mixed"} if case.mixed else set())) - {"undecided"}


# What comes out otherwise in the world as it is made, and why.
OTHERWISE: dict[tuple[str, str, str], str] = {
    # As coded the noise of Phase I has scale 1 whatever epsilon is.
    ("NCB-C16", "as-coded", ""): "fails",
}


def test_every_other_interpretation_holds_where_the_first_does(claim: Claim) -> None:
    for found in judged(claim, CASES[claim.id].holds):
        expected = OTHERWISE.get(
            (claim.id, found.interpretation.variant, found.interpretation.label),
            words_of(claim, "holds", found.interpretation),
        )
        if found.interpretation.not_testable:
            expected = "not testable"
        if found.interpretation.not_applicable:
            expected = "not applicable"
        assert found.verdict == expected, ledger([found])["detail"].item()


def test_noise_of_scale_1_is_too_little_below_epsilon_1_alone() -> None:
    found = judge([BY_ID["NCB-C16"]], Evidence.of(analytic, root_seed=ROOT_SEED))[1]
    against = [each.label for each in found.comparisons if each.decision == "against"]
    computed = [label for label in against if "[" in label]
    assert [label.split("[")[1] for label in computed] == [
        "epsilon=0.2, Phase I]",
        "epsilon=0.5, Phase I]",
    ]


@pytest.mark.parametrize(("loss", "verdict"), [(1.0, "holds"), (1.01, "undecided")])
def test_composition_can_establish_privacy_and_never_refute_it(loss: float, verdict: str) -> None:
    made = Made(edit=set_to("composed-loss", loss, variant="repaired"))
    assert verdict_of("NCB-C15", made, "repaired").verdict == verdict


@pytest.mark.parametrize("variant", ["as-written", "as-coded"])
def test_the_witnesses_refute_privacy_whatever_composition_adds_up_to(variant: str) -> None:
    for loss in (0.5, 1000.0):
        made = Made(edit=set_to("composed-loss", loss))
        assert verdict_of("NCB-C15", made, variant).verdict == "fails"


def test_too_few_runs_leave_it_undecided(claim: Claim) -> None:
    if not claim.analyses:
        pytest.skip("computed exactly")
    found = judged(claim, Made(World(runs=20)), position(claim))[0]
    assert found.verdict == "undecided"
    assert "the results have 20 runs" in ledger([found])["detail"].item()


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.claim.id)
def test_a_finding_is_shown_or_not_as_the_results_are_made(finding: Finding) -> None:
    entry = finding.claim
    decides = any(comparison.decides for comparison in entry.comparisons)
    assert decides == (entry.id in NOT_SHOWN)
    if decides:
        assert judged(entry, SHOWN.get(entry.id, Made()), 0)[0].verdict == "shown"
        assert judged(entry, NOT_SHOWN[entry.id], 0)[0].verdict == "not shown"
    elif entry.comparisons:
        assert {each.verdict for each in judged(entry, Made())} == {"reported"}


def test_the_experiments_record_what_the_claims_read() -> None:
    """Every time of the made-up results is in the grid of its simulation, up to 2 %."""
    for name in ("panel-b", "panels-c-to-e", "ten-million", "panel-f", "anytime"):
        for made, real in zip(read(name), planned("dp-ncb", name), strict=True):
            grid = np.array(real.cell.grid)
            for t in made.cell.grid:
                assert np.abs(grid - t).min() <= 0.02 * t
