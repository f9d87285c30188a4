"""Judging: interim analyses, rows, words, what is judged again, scales, and the family level."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpbandits.claims.docket import Claim
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, family_level, judge
from dpbandits.claims.ledger import ledger, simultaneous
from dpbandits.errors import InputError
from toy_claims import claim, comparison, finding, number, on_series, toy_evidence, toy_frame

NO_CODE = {"variant": "as-coded", "not_applicable": "no code was released"}
EXACT: dict[str, Any] = {"runs": 0, "runs_paper": 0}


def detail_of(judged: Judgement) -> str:
    return str(ledger([judged])["detail"].item())


def judged(toy: Claim, means: list[float], **settings: Any) -> Judgement:
    return judge([toy], toy_evidence(means, **settings))[0]


NORMAL = {"runs": 400, "runs_paper": 400}


@pytest.mark.parametrize(
    ("keys", "means", "seed", "expected"),
    [
        ({}, [-2.0, -3.0], 1, ("holds", 50, 0.05 / 4, "holds")),
        # Fewer runs than the paper's decide nothing at its number.
        ({"runs_paper": 10_000}, [-2.0, -3.0], 1, ("holds", 50, 0.05 / 4, "undecided")),
        # 1.8 standard errors off at 50 runs and 5 at 400: runs grow until the verdict is there.
        ({}, [-0.25], 3, ("holds", 100, 0.05 / 4, "undecided")),
        ({}, [0.0], 2, ("undecided", 400, 0.05 / 4, "undecided")),
        # 2.4 standard errors off at 400 runs, p about 0.02: the level of a claim is its own.
        (NORMAL, [-0.12], 6, ("holds", 400, 0.05, "holds")),
        (NORMAL | {"level": 0.001}, [-0.12], 6, ("undecided", 400, 0.001, "undecided")),
        ({"runs": [200, 400], "level": 0.02}, [-0.12], 6, ("undecided", 400, 0.01, "undecided")),
    ],
)
def test_a_claim_is_decided_at_the_first_analysis_that_can(
    keys: dict[str, Any], means: list[float], seed: int, expected: tuple[str, int, float, str]
) -> None:
    found = judged(claim(*on_series(*range(len(means))), **keys), means, seed=seed)
    words = found.verdict, found.runs, pytest.approx(found.level), found.verdict_at_paper_runs
    assert words == expected


def test_parts_that_come_out_differently_mix() -> None:
    toy = claim(*on_series(0, part="first"), *on_series(1, part="second"))
    found = judged(toy, [-2.0, 2.0])
    assert found.verdict == "mixed"
    assert found.parts == {"first": "holds", "second": "fails"}
    assert judged(toy, [2.0, 2.0]).verdict == "fails"


def test_labels_and_parts_name_their_variables() -> None:
    over = {"for": {"which": [0, 1]}}
    toy = claim(comparison("mean {of}", part="part {which}", **over), parameters={"of": 5})
    found = judged(toy, [-2.0, -2.0])
    assert [one.label for one in found.comparisons] == ["mean 5 [which=0]", "mean 5 [which=1]"]
    assert list(found.parts) == ["part 0", "part 1"]


def test_exploratory_and_reported_comparisons_do_not_count() -> None:
    toy = claim(*on_series(0), *on_series(1, exploratory=True), number(3.0, less=None))
    found = judged(toy, [-2.0, 2.0])
    assert found.verdict == "holds"
    assert [one.decision for one in found.comparisons] == ["for", "against", "reported"]


def test_a_comparison_without_a_point_is_undecided_or_left_out() -> None:
    nothing = {"quantity": "nothing"}
    assert judged(claim(comparison("x", **nothing)), [0.0]).verdict == "undecided"
    found = judged(claim(*on_series(0), comparison("x", exploratory=True, **nothing)), [-2.0])
    assert [one.label for one in found.comparisons] == ["series 0"]


def test_a_row_may_have_words_and_comparisons_of_its_own() -> None:
    rows = [
        {"size": "ratio"},
        {"size": "difference", "verdicts": ["not contradicted", "fails"]},
        NO_CODE,
        {"variant": "repaired", "not_testable": "needs T = 1e9"},
    ]
    toy = claim(
        number(2.0, "strict", asked_of={"size": ["ratio"]}),
        number(2.0, "mild", less=5, asked_of={"size": ["difference"]}),
        **EXACT,
        interpretations=rows,
    )
    found = judge([toy], toy_evidence([0.0]))
    assert [(one.verdict, one.remark) for one in found] == [
        ("fails", ""),
        ("not contradicted", ""),
        ("not applicable", "no code was released"),
        ("not testable", "needs T = 1e9"),
    ]


def test_fewer_runs_than_the_analyses_are_judged_as_far_as_they_reach() -> None:
    found = judged(claim(*on_series(0)), [-2.0], runs=20)
    assert found.verdict == "undecided"
    assert found.remark == "the results have 20 runs, the first interim analysis needs 50"
    assert found.comparisons[0].estimate.runs == 20
    some = judged(claim(*on_series(0)), [0.0], runs=120, seed=2)
    assert some.runs == 100
    assert some.level == pytest.approx(0.05 / 4)


def test_the_quick_scale_judges_what_there_is_once_and_forgives_what_is_missing() -> None:
    toy, evidence = claim(*on_series(0, 7)), toy_evidence([-2.0], runs=20)
    with pytest.raises(InputError, match=r"TOY-C1: series 7: results of toy: 0 series"):
        judge([toy], evidence)
    [found] = judge([toy], evidence, scale="quick")
    assert [one.decision for one in found.comparisons] == ["for", "undecided"]
    assert "not there at this scale" in found.comparisons[1].label
    assert detail_of(found).startswith("quick scale, no evidence; ")
    rerun = claim(*on_series(0), runs=50, rerun=200)
    [once] = judge([rerun], toy_evidence([2.0], runs=20), scale="quick")
    assert (once.verdict, once.runs, once.before) == ("fails", 20, None)


def test_a_claim_reads_only_what_it_declares() -> None:
    toy = claim(comparison("x", value={"in": "toy", "metric": "regret"}), reads=["other"], **EXACT)
    with pytest.raises(InputError, match="results of : 0 series"):
        judge([toy], toy_evidence([0.0]))


@pytest.mark.parametrize(
    ("values", "words", "expected"),
    [
        ([-1.0, 1.0], ["holds", "fails", "mixed"], "mixed"),
        ([-1.0, 1.0], ["holds", "fails"], "fails"),
        ([1.0], ["holds"], "undecided"),
        ([-1.0, 1.0], ["holds"], "undecided"),
        ([-1.0, 1.0], ["not contradicted", "fails", "mixed"], "mixed"),
        ([-1.0, 1.0], ["not contradicted", "fails"], "fails"),
        ([1.0], ["not contradicted"], "undecided"),
        ([math.nan], ["not contradicted", "fails"], "undecided"),
        # A finding has no words of its own.
        ([-1.0], [], "shown"),
        ([1.0], [], "not shown"),
        ([-1.0, 1.0], [], "not shown"),
        ([], [], "reported"),
    ],
)
def test_a_claim_ends_in_its_words(values: list[float], words: list[str], expected: str) -> None:
    several = [number(value, f"x={value}", part=f"x={value}") for value in values]
    toy = claim(*several, **EXACT, verdicts=words) if words else finding(*several)
    [found] = judge([toy], toy_evidence([0.0]))
    assert found.verdict == expected
    assert "would decide" not in detail_of(found)


def changing_frame(first: float, rest: float, runs: int = 300) -> pd.DataFrame:
    """One series with one mean over the first 50 runs and another after them."""
    frame = toy_frame([rest], runs=runs)
    frame.loc[frame["run"] < 50, "value"] += first - rest
    return frame


def rerun(first: float, rest: float, runs: int = 300) -> Judgement:
    toy = claim(*on_series(0), runs=50, rerun=200)
    return judge([toy], Evidence.of_frames({"toy": changing_frame(first, rest, runs)}))[0]


def test_a_failure_is_seen_again_on_fresh_runs_and_the_second_verdict_counts() -> None:
    found = rerun(2.0, 2.0)
    assert (found.verdict, found.runs) == ("fails", 200)
    assert found.before is not None
    assert (found.before.verdict, found.before.runs) == ("fails", 50)
    assert detail_of(found).startswith(
        "first interim analysis: fails on 50 runs, against: series 0; again on 200 fresh runs; "
    )
    assert rerun(2.0, 0.0).verdict == "undecided"
    # The 200 runs after the first 50, not all 250.
    fresh = rerun(2.0, -2.0)
    values = changing_frame(2.0, -2.0)["value"].to_numpy()
    assert (fresh.verdict, fresh.comparisons[0].estimate.runs) == ("holds", 200)
    assert fresh.comparisons[0].estimate.value == pytest.approx(values[50:250].mean())
    few = rerun(2.0, 2.0, runs=240)
    assert (few.verdict, few.remark) == (
        "undecided",
        "fails on 50 runs; judging it again needs 200 fresh ones, the results have 190",
    )


def test_only_a_failing_part_is_seen_again() -> None:
    for first in (-2.0, 0.0):
        found = rerun(first, 2.0)
        assert (found.before, found.runs) == (None, 50)
    open_one = claim(*on_series(0, 1, 2, 3), combine="most", runs=200, rerun=200)
    assert judged(open_one, [-2.0, -2.0, 0.0, 0.0], seed=3).before is None
    parted = claim(*on_series(0, part="first"), *on_series(1, part="second"), runs=50, rerun=200)
    mixed = judged(parted, [2.0, -2.0])
    assert (mixed.verdict, mixed.runs) == ("mixed", 200)
    assert detail_of(mixed).startswith(
        "first interim analysis: mixed (first fails) on 50 runs, against: series 0; "
        "again on 200 fresh runs; holds: second; fails: first; "
    )


CLAIMS = 91


def row_of(toy: Claim, evidence: Evidence) -> pd.Series:
    """Return the one row of both verdicts on a claim of a large family."""
    return simultaneous(judge([toy], evidence, family=CLAIMS)).iloc[0]


def test_rows_that_can_err_share_the_level_of_their_claim() -> None:
    toy = claim(*on_series(0), interpretations=[{}, {"variant": "repaired"}, NO_CODE])
    assert family_level(toy, CLAIMS) == pytest.approx(0.05 / CLAIMS / 2)
    assert family_level(claim(*on_series(0), level=1e-6), CLAIMS) == 1e-6


def test_a_clear_verdict_stands_and_a_narrow_one_only_at_its_own_level() -> None:
    """With sd 1 over 50 runs, -2 is 14 standard errors below 0 and -0.4 between 2 and 3.5."""
    for mean, seed, *expected in [
        (-2.0, 1, "holds", "holds", "yes"),
        (2.0, 1, "fails", "fails", "yes"),
        (-0.5, 1, "holds", "holds", "yes"),
        (-0.4, 1, "holds", "undecided", "only at its own level"),
        (0.0, 3, "undecided", "undecided", "-"),
    ]:
        row = row_of(claim(*on_series(0), runs=50), toy_evidence([mean], runs=50, seed=seed))
        assert row[["verdict", "verdict_in_family", "family_wise"]].tolist() == expected


def test_the_family_level_is_that_of_a_claim_with_such_a_level() -> None:
    """One pass over what is measured judges as a claim of the level would be."""
    toy, evidence = claim(*on_series(0, 1)), toy_evidence([-0.3, -0.25], seed=4)
    [both] = judge([toy], evidence, family=CLAIMS)
    [alone] = judge([claim(*on_series(0, 1), level=0.05 / CLAIMS)], evidence)
    assert both.in_family is not None
    found, expected = (
        (each.verdict, each.runs, [(one.lo, one.hi, one.level) for one in each.comparisons])
        for each in (both.in_family, alone)
    )
    assert found == expected


def test_what_is_exact_or_does_not_apply_has_no_level() -> None:
    found = judged(claim(number(-1.0), **EXACT), [0.0])
    assert (found.runs, found.verdict_at_paper_runs) == (0, "not applicable")
    row = row_of(claim(number(-1.0), **EXACT), toy_evidence([0.0]))
    assert (row["verdict_in_family"], row["family_wise"]) == ("holds", "exact")
    assert np.isnan(row[["level", "level_in_family"]].astype(float)).all()
    row = row_of(claim(*on_series(0), interpretations=[NO_CODE]), toy_evidence([0.0]))
    assert (row["verdict_in_family"], row["family_wise"]) == ("not applicable", "-")


def test_the_number_of_a_row_has_the_label_of_what_the_ledger_shows() -> None:
    """A claim may show a reported number, which is asked nothing, in place of the binding one."""
    pair = *on_series(0), number(3.0, "level", less=None)
    evidence = toy_evidence([-2.0], runs=50)
    toy = claim(*pair, shown="level", runs=50)
    row, shown = row_of(toy, evidence), ledger(judge([toy], evidence)).iloc[0]
    assert (row["measured"], row["asked"]) == ("level", "")
    assert row["estimate_in_family"] == shown["estimate"] == 3.0
    assert row_of(claim(*pair, runs=50), evidence)["asked"] == "less than 0"
