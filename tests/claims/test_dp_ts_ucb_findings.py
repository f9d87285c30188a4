"""Findings on dp-ts-ucb: shown, not shown and undecided on made-up results, and their numbers."""

import math
import re
from dataclasses import replace

import pytest

from claims.dp_ts_ucb_worlds import (
    BASE,
    CLAIMS,
    EQUAL_PRIVACY,
    EXACT,
    FINDINGS,
    NOISY,
    OWN,
    World,
    baseline,
    changed,
    equally_private,
    finer,
    only,
    own,
)
from claims.worlds import ROOT_SEED
from dpbandits.claims.docket import Finding
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import judge

FALL = changed(*(own(0.75, 100.0, horizon) for horizon in (10_000, 31_622, 100_000)))
BETTER = changed(finer(0, 10, 40.0))

CASES: dict[str, dict[str, World]] = {
    "DTU-F1": {"shown": replace(FALL, runs=400), "not shown": replace(BASE, runs=400)},
    "DTU-F3": {"shown": BETTER, "not shown": BASE},
    "DTU-F5": {"shown": BASE, "not shown": changed(baseline("lazy-dp-ts", 2000.0))},
}

OF_THE_AUDIT = ("DTU-F8", "DTU-F9", "DTU-F10")
"""Findings on exact results of the audit, which are the same in every world."""


def values(name: str, world: World = BASE) -> dict[str, float]:
    """The numbers of the first row of a finding, by comparison."""
    return {each.label: each.estimate.value for each in only(name, world)[0].comparisons}


@pytest.mark.parametrize("outcome", ["shown", "not shown", "undecided"])
@pytest.mark.parametrize("name", CASES)
def test_each_outcome_is_reached(name: str, outcome: str) -> None:
    assert {each.verdict for each in only(name, CASES[name].get(outcome, NOISY))} == {outcome}


def test_every_finding_with_a_threshold_has_a_case() -> None:
    tested = [
        finding.claim.id
        for finding in FINDINGS
        if any(comparison.decides for comparison in finding.claim.comparisons)
    ]
    assert tested == [*CASES, *OF_THE_AUDIT]
    assert [finding.claim.id for finding in FINDINGS] == [f"DTU-F{i}" for i in range(1, 11)]


@pytest.mark.parametrize("name", OF_THE_AUDIT)
def test_a_finding_of_the_audit_is_shown_by_its_exact_rows(name: str) -> None:
    assert {each.verdict for each in only(name, BASE)} == {"shown"}


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.claim.id)
def test_every_number_has_a_place_in_the_statement_and_a_comparison(finding: Finding) -> None:
    assert set(re.findall(r"{(\w+)}", finding.claim.statement)) == set(finding.numbers)
    needed = {each["comparison"] for each in finding.numbers.values() if "comparison" in each}
    labels = {each.label for row in only(finding.claim.id, BASE) for each in row.comparisons}
    assert needed <= labels
    assert set(finding.beside) <= {claim.id for claim in CLAIMS}


def test_steps_of_alpha_are_counted() -> None:
    """Of 8 steps two go down; a step without a number leaves no count."""
    label = "steps down at the two longest horizons"
    assert values("DTU-F1")[label] == 0
    down = changed(own(0.25, 100.0, 316_227), own(0.75, 100.0), own(0.25, 100.0, 10_000))
    assert values("DTU-F1", down)[label] == 2
    assert math.isnan(values("DTU-F1", changed(own(0.25, float("nan"), 316_227)))[label])


def test_horizons_of_the_crossover() -> None:
    """4 c0 ln(T)^1.5 < sqrt(T) from 6.57e5 on, 10 c0 ln(T)^1.5 < sqrt(T) from 6.62e6 on."""
    [claim] = [finding.claim for finding in FINDINGS if finding.claim.id == "DTU-F2"]
    [found] = judge([claim], Evidence.of_frames(EXACT, root_seed=ROOT_SEED))
    assert found.verdict == "reported"
    numbers = [each.estimate.value for each in found.comparisons]
    assert numbers == pytest.approx([6.57e5, 6.62e6, 1.06e5, 1.16e6, 651.5 / 707.1], rel=3e-3)


def test_numbers_of_pre_pulls_beyond_the_seven() -> None:
    """c is 0.785 at b = 2; ratios and differences are those of the means."""
    found = values("DTU-F3", changed(finer(0, 10, 50.0), equally_private(0, 1, 200.0)))
    assert found["c of equal privacy at b=2, alpha=0"] == pytest.approx(0.7853, abs=5e-5)
    assert found["c of equal privacy at b=500, alpha=0"] == pytest.approx(0.0047027, abs=5e-7)
    assert found["regret of b=1 minus that of b=10, alpha=0"] == pytest.approx(150.0, abs=15)
    assert found["regret of b=10, alpha=0"] == pytest.approx(50.0, abs=10)
    factor = found["DP-TS-UCB over M-TS-Gaussian, b=10, alpha=0"]
    assert factor == pytest.approx(OWN[0] / 50.0, rel=0.15)
    label = "regret of b=2500 minus that of b=2000, alpha=1"
    assert found[label] == pytest.approx(7000.0 - EQUAL_PRIVACY[1][2000], abs=15)


def test_a_clearly_better_number_of_pre_pulls_at_alpha_1_would_not_be_chance() -> None:
    """DTU-F3: b = 2500 as good as b = 2000 leaves it shown, 1000 less regret does not."""
    for regret, outcome in ((EQUAL_PRIVACY[1][2000], "shown"), (5000.0, "not shown")):
        world = changed(finer(0, 10, 40.0), finer(1, 2500, regret))
        assert only("DTU-F3", world)[0].verdict == outcome


def test_the_order_of_the_five_needs_each_step() -> None:
    """DTU-F5: one pair the other way round, and the order is not shown."""
    for swapped in (
        baseline("anytime-lazy-ucb", 1200.0),
        baseline("dp-se", 2000.0),
        equally_private(1, 2000, 3000.0),
    ):
        assert only("DTU-F5", changed(swapped))[0].verdict == "not shown"
