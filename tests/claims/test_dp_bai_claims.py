"""Every claim of dp-bai ends in each of its words on results made up for it.

The worlds are in `dp_bai_results` and `dp_bai_perturbations`. A claim that is added to the file
without worlds fails the tests.
"""

import re
from dataclasses import replace

import pytest

from claims.dp_bai_perturbations import (
    CASES,
    Made,
    before,
    evidence_of,
    needing,
    only,
    rare,
    wins_lost,
    within,
)
from claims.dp_bai_results import DOCUMENT, EXACT
from claims.worlds import ROOT, ROOT_SEED, at, claims_of, in_turn
from dpbandits.claims.docket import ClaimsFile
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, judge
from dpbandits.claims.ledger import explain, ledger
from dpbandits.claims.numbers import exact
from dpbandits.claims.verdict import region_of
from dpbandits.config.documents import load_document
from dpbandits.papers import find_paper
from dpbandits.papers.dp_bai import grid
from shared import AUDIT

FILE = ROOT / "config/papers/dp-bai/claims.yaml"
CLAIMS, BEYOND = claims_of("dp-bai")
ROWS = {
    ",".join(filter(None, (claim.id, interpretation.label))): replace(
        claim, interpretations=(interpretation,)
    )
    for claim in CLAIMS
    for interpretation in claim.interpretations
}


def verdict_of(name: str, made: Made) -> Judgement:
    """Judge the row of this name in a world."""
    claim = ROWS[name]
    return judge([claim], evidence_of(claim, made))[0]


def test_every_statement_has_its_place_and_every_row_its_worlds() -> None:
    """24 numbers: two withdrawn, two split, and one half withdrawn."""
    notes = load_document(FILE, ClaimsFile)
    numbers = {re.sub("[a-z]$", "", claim.id) for claim in CLAIMS}
    assert set(notes.withdrawn) == {"BAI-C5", "BAI-C11b", "BAI-C13"}
    assert numbers == {f"BAI-C{i}" for i in range(1, 25)} - set(notes.withdrawn)
    assert not {claim.id for claim in CLAIMS} & set(notes.withdrawn)
    assert set(notes.not_applicable) == {"as-coded", "repaired"}
    assert {
        interpretation.variant for claim in CLAIMS for interpretation in claim.interpretations
    } == {"as-written"}
    assert set(CASES) == set(ROWS)
    assert len(ROWS) == 25


def test_worlds_reach_every_word_of_a_row() -> None:
    for name, claim in ROWS.items():
        assert set(CASES[name]) == {*claim.verdicts, "undecided"}, name


def test_no_statistic_is_idle() -> None:
    entries = [*CLAIMS, *(finding.claim for finding in BEYOND)]
    named = {comparison.statistic for claim in entries for comparison in claim.comparisons}
    own = {each for each in find_paper("dp-bai").statistics.values() if "dp_bai" in each.__module__}
    assert own <= named


def test_runs_are_those_of_the_simulations() -> None:
    fitted = {"BAI-C9": (20_000,), "BAI-C17": (400_000,), "BAI-C18": (20_000,)}
    for claim in CLAIMS:
        simulated = set(claim.reads) & set(DOCUMENT["simulations"])
        assert claim.analyses == (fitted.get(claim.id, (10_000,)) if simulated else ())
        # The paper simulates its two figures and measures neither an order nor a theorem.
        is_simulated_there = simulated and claim.kind not in ("order", "theorem")
        assert claim.runs_paper == (1000 if is_simulated_there else 0)
        assert set(claim.reads) <= {*DOCUMENT["simulations"], *DOCUMENT["analytic"], *AUDIT}
    rerun = {claim.id: claim.rerun for claim in CLAIMS if claim.rerun}
    assert rerun == dict.fromkeys(("BAI-C1", "BAI-C2", "BAI-C8"), 40_000)


OUTCOMES = [(name, word) for name, worlds in CASES.items() for word in worlds]


@pytest.mark.parametrize(("name", "word"), OUTCOMES, ids=[" ".join(each) for each in OUTCOMES])
def test_a_row_comes_out_as_it_was_made(name: str, word: str) -> None:
    found = verdict_of(name, CASES[name][word])
    assert found.verdict == word, ledger([found])["detail"].item()
    if word == "fails":
        assert found.runs == (found.claim.rerun or max(found.claim.analyses, default=0))


SIMULATED = [name for name, claim in ROWS.items() if claim.analyses]


@pytest.mark.parametrize("name", SIMULATED)
def test_too_few_trials_leave_it_undecided(name: str) -> None:
    found = verdict_of(name, Made(trials=2000))
    assert found.verdict == "undecided"
    assert "the results have 2000 runs" in ledger([found])["detail"].item()


def test_a_panel_that_fails_beside_one_that_holds_is_named() -> None:
    found = verdict_of("BAI-C1", CASES["BAI-C1"]["mixed"])
    assert found.parts == {"panel over T": "fails", "panel over epsilon": "holds"}
    detail = ledger([found])["detail"].item()
    assert "first interim analysis: mixed (panel over T fails) on 10000 runs" in detail
    assert "again on 40000 fresh runs" in detail
    assert "judged again: on 40000 fresh runs" in explain(found)


def test_what_fails_on_the_first_trials_alone_does_not_fail() -> None:
    change = at(0.9, algorithm="baseline", horizon=400, epsilon=1)
    found = verdict_of("BAI-C1", Made(before(10_000, change)))
    assert (found.verdict, found.runs) == ("holds", 40_000)
    assert found.before is not None
    assert found.before.verdict == "mixed"
    assert verdict_of("BAI-C1", Made(change)).verdict == "mixed"


def test_a_refutation_without_fresh_trials_is_none() -> None:
    change = at(0.9, algorithm="baseline", horizon=400, epsilon=1)
    found = verdict_of("BAI-C1", Made(change, trials=20_000))
    assert found.verdict == "undecided"
    assert "needs 40000 fresh ones, the results have 10000" in ledger([found])["detail"].item()


def test_points_at_the_ceiling_and_the_floor_do_not_count() -> None:
    """A lead of Baseline where both exceed 0.98 is reported and refutes nothing."""
    ceiling = at(1.0, algorithm="baseline", horizon=6400, epsilon=1)
    found = verdict_of("BAI-C1", Made(in_turn(at(0.985, horizon=6400, epsilon=1), ceiling)))
    against = [each for each in found.comparisons if each.decision == "against"]
    assert found.verdict == "holds"
    assert [each.label for each in against] == [
        "DP-BAI minus Baseline over T, elsewhere [T=6400, epsilon=1: ceiling]"
    ]
    assert against[0].comparison.exploratory
    # Pure-noise limits: 3/8 and 21/44.
    floor = in_turn(
        at(0.375, algorithm="dp-bai", horizon=100, epsilon=0.1),
        at(0.477, algorithm="dp-od", horizon=100, epsilon=0.1),
    )
    assert verdict_of("BAI-C2", Made(floor)).verdict == "holds"
    nearly = in_turn(floor, at(0.55, algorithm="dp-od", horizon=100, epsilon=0.1))
    assert verdict_of("BAI-C2", Made(nearly)).verdict == "mixed"


def number(found: Judgement, label: str) -> float:
    """The number of one comparison."""
    (value,) = [each.estimate.value for each in found.comparisons if each.label == label]
    return value


def test_the_margin_is_where_the_verdict_turns() -> None:
    """C1: holds at any margin below it, and no more at one above it."""
    found = verdict_of("BAI-C1", Made())
    margin = number(found, "margin that every informative point exceeds")
    lower = [each.lo for each in found.comparisons if each.comparison.decides]
    assert 0.0 < margin == pytest.approx(min(lower), abs=0.01)
    for shift, verdict in ((-0.0005, "holds"), (0.0005, "undecided")):
        comparisons = tuple(
            replace(each, region=region_of("greater", margin + shift)) if each.decides else each
            for each in ROWS["BAI-C1"].comparisons
        )
        claim = replace(ROWS["BAI-C1"], comparisons=comparisons, combine="all")
        assert judge([claim], evidence_of(claim, Made()))[0].verdict == verdict
    smallest = number(found, "smallest difference at informative points")
    assert margin < smallest <= number(found, "median difference at informative points")


@pytest.mark.parametrize(
    ("values", "expected"),
    [((0.1, 0.4), (0.1, 0.25, 0.4)), ((0.4, 0.1, 0.3, 0.2, 0.5), (0.1, 0.3, 0.5))],
)
def test_the_median_of_an_even_count_is_between_its_middles(
    values: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    differences = {str(index): exact(value) for index, value in enumerate(values)}
    found = [grid.summary(differences, each).value for each in ("smallest", "median", "largest")]
    assert found == pytest.approx(expected)


def test_a_lead_below_a_hundredth_is_allowed_only_if_it_is_not_significant() -> None:
    """C4: refuted as soon as DP-BAI is better, however little."""
    made = Made(
        in_turn(at(0.99, horizon=400), at(0.995, algorithm="dp-bai", horizon=400, epsilon=1))
    )
    found = verdict_of("BAI-C4", made)
    against = [each.label for each in found.comparisons if each.decision == "against"]
    assert found.verdict == "fails"
    assert against == ["DP-BAI minus OD-LinBAI, not above 0 [T=400, epsilon=1]"]


def test_common_rewards_take_their_chance_out() -> None:
    """C3: as many wins lost as won leave no difference, and its interval is narrower."""
    found = verdict_of("BAI-C3", Made(edit=wins_lost("weak-privacy-stream", 50, epsilon=100.0)))
    common = [each for each in found.comparisons if "on common rewards" in each.label]
    apart = [each for each in found.comparisons if each.label.endswith("minus OD-LinBAI [T=100]")]
    assert min(each.estimate.value for each in common) == pytest.approx(-0.005)
    assert common[0].hi - common[0].lo < (apart[0].hi - apart[0].lo) / 3
    assert found.verdict == "holds"
    assert verdict_of("BAI-C3", only(wins_lost("noiseless", 1, horizon=100))).verdict == "fails"


def test_both_slopes_are_asked_of_the_budgets() -> None:
    """C9: DP-BAI's T_0.9 may not change with rho, DP-OD's not rise faster than rho."""
    grown = needing(lambda where: float(where.tags["ratio"] ** 0.05), algorithm="dp-bai")
    found = verdict_of("BAI-C9", Made(grown))
    against = [each.label for each in found.comparisons if each.decision == "against"]
    assert found.verdict == "fails"
    assert all("DP-BAI, not above 0" in label for label in against)
    slopes = [
        each for each in verdict_of("BAI-C9", Made()).comparisons if "at most 1" in each.label
    ]
    # The made-up T_0.9 is 200 + 88 rho/epsilon, at rho = 20 and 50.
    assert slopes[-1].lo < 0.882 < slopes[-1].hi


def test_the_bound_is_refuted_only_where_it_follows() -> None:
    """C12: an error above the bound at T = 100 is reported, as the theorem is for large T."""
    found = verdict_of("BAI-C12", Made(at(0.0, algorithm="dp-bai", horizon=100, epsilon=0.1)))
    above = [each.label for each in found.comparisons if each.decision == "neither"]
    assert found.verdict == "not contradicted"
    assert above == ["error minus bound [I-A, T=100, epsilon=0.1]"]


def test_a_slower_decay_is_no_stop() -> None:
    """C17: the slope on the larger half of T counts, and only its sign."""
    slowing = rare(lambda budget: 0.2 * (budget / 200) ** -1.5)
    assert verdict_of("BAI-C17", Made(slowing)).verdict == "not contradicted"
    turning = rare(lambda budget: 1e-3 + abs(budget - 1000) * 1e-5)
    assert verdict_of("BAI-C17", Made(turning)).verdict == "fails"


def test_either_growth_of_the_budget_can_refute() -> None:
    """C18: faster than 1/Delta^2, or than 1/epsilon."""
    steep = within("budgets-hardness", needing(lambda where: 2.0, gap=0.025, epsilon=1))
    found = verdict_of("BAI-C18", Made(steep))
    assert found.verdict == "fails"
    against = [each.label for each in found.comparisons if each.decision == "against"]
    assert against == ["slope of log T_0.9 over log(1/Delta) [epsilon=1]"]


def test_exact_claims_come_out_as_derived() -> None:
    """By the real results of the exact claims, as their worlds without a change have them."""
    exact = [claim for claim in CLAIMS if not claim.analyses]
    for found in judge(exact, Evidence.of_frames(EXACT, root_seed=ROOT_SEED)):
        name = ",".join(filter(None, (found.claim.id, found.interpretation.label)))
        assert CASES[name][found.verdict] == Made(), name
