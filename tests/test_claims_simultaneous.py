"""The second verdict: at which level, what it keeps to, and what the ledger says of both."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpbandits.claims.docket import Claim, Interpretation
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import judge
from dpbandits.claims.ledger import (
    SIMULTANEOUS_COLUMNS,
    STRICTER,
    family_level,
    judge_in_family,
    ledger,
    simultaneous,
)
from toy_claims import claim, comparison, on_series, toy_evidence

CLAIMS = 91


def test_rows_that_can_err_share_the_level_of_their_claim() -> None:
    interpretations = (
        Interpretation(),
        Interpretation("repaired"),
        Interpretation("as-coded", (), "no code was released"),
    )
    toy = claim(*on_series(0), interpretations=interpretations)
    assert family_level(toy, CLAIMS) == pytest.approx(0.05 / CLAIMS / 2)
    assert family_level(replace(toy, interpretations=interpretations[:1]), CLAIMS) == pytest.approx(
        0.05 / CLAIMS
    )
    assert family_level(replace(toy, level=1e-6), CLAIMS) == 1e-6


def row_of(toy: Claim, evidence: Evidence, size: int = CLAIMS) -> pd.Series:
    """Return the one row of both verdicts on a claim."""
    alone = judge([toy], evidence)
    frame = simultaneous(alone, judge_in_family(alone, evidence, size))
    assert tuple(frame.columns) == SIMULTANEOUS_COLUMNS
    return frame.iloc[0]


def both(means: list[float], **settings: float) -> tuple[object, ...]:
    """Return the row of a claim that one mean is below 0, at 50 of 50 runs."""
    toy = claim(*on_series(0), analyses=(50,))
    row = row_of(toy, toy_evidence(means, runs=50, **settings))
    return row["verdict"], row["verdict_in_family"], row["family_wise"]


def test_a_clear_verdict_stands_and_a_narrow_one_only_at_its_own_level() -> None:
    """With sd 1 over 50 runs, -2 is 14 standard errors below 0 and -0.4 between 2 and 3.5."""
    assert both([-2.0]) == ("holds", "holds", "yes")
    assert both([2.0]) == ("fails", "fails", "yes")
    assert both([-0.4]) == ("holds", "undecided", "only at its own level")
    assert both([0.0], seed=3)[0::2] == ("undecided", "-")


def test_an_exact_verdict_stands_without_a_level() -> None:
    toy = claim(comparison("constant", arguments={"value": -1.0}), analyses=())
    row = row_of(toy, toy_evidence([0.0]))
    assert (row["verdict_in_family"], row["family_wise"]) == ("holds", "exact")
    assert np.isnan(row[["level", "level_in_family", "smallest_level"]].astype(float)).all()


def test_a_verdict_has_the_strictest_level_that_it_stands() -> None:
    """At -2 the interval is decided at any of the levels; at -0.5 not at all."""
    toy = claim(*on_series(0), analyses=(50,))
    clear = row_of(toy, toy_evidence([-2.0], runs=50))
    assert clear["smallest_level"] == pytest.approx(0.05 / CLAIMS / STRICTER[-1])
    narrow = row_of(toy, toy_evidence([-0.5], runs=50))
    assert 0.05 / CLAIMS / STRICTER[-1] < narrow["smallest_level"] <= 0.05 / CLAIMS
    assert np.isnan(row_of(toy, toy_evidence([-0.4], runs=50))["smallest_level"])


def test_what_does_not_apply_has_no_verdict_that_could_stand() -> None:
    toy = claim(
        *on_series(0), interpretations=(Interpretation("as-coded", (), "no code was released"),)
    )
    row = row_of(toy, toy_evidence([0.0]))
    assert (row["verdict_in_family"], row["family_wise"]) == ("not applicable", "-")


@pytest.mark.slow
def test_a_family_errs_seldom_where_single_claims_err_often() -> None:
    """Null control: 40 families of 20 claims whose mean is exactly at the threshold.

    At its own level each claim is decided, either way, with chance 5 %: of 800 about 40, three
    standard deviations 18. In the family any of 20 is with chance 5 %: more than 7 of 40 families
    have chance 3e-3 (binomial).
    """
    toy = claim(*on_series(0), analyses=(50,))
    decided, spoilt = 0, 0
    for family in range(40):
        alone, within = [], []
        for seed in range(20):
            evidence = toy_evidence([0.0], runs=50, seed=1000 * family + seed)
            alone += judge([toy], evidence)
            within += judge_in_family(alone[-1:], evidence, 20)
        decided += sum(each.verdict != "undecided" for each in alone)
        spoilt += any(each.judgement.verdict != "undecided" for each in within)
    assert 22 <= decided <= 58
    assert spoilt <= 7


def test_the_number_of_a_row_has_the_label_of_what_the_ledger_shows() -> None:
    """A claim may show a reported number, which is asked nothing, in place of the binding one."""
    reported = comparison("constant", "report", name="level", arguments={"value": 3.0})
    toy = claim(*on_series(0), reported, shown="level", analyses=(50,))
    evidence = toy_evidence([-2.0], runs=50)
    row = row_of(toy, evidence)
    shown = ledger(judge([toy], evidence)).iloc[0]
    assert (row["measured"], row["asked"]) == ("level", "")
    assert row["estimate_in_family"] == shown["estimate"] == 3.0
    plain = row_of(replace(toy, shown=""), evidence)
    assert plain["asked"] == "less than 0"
