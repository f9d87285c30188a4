"""The keys of an entry that change how it is judged: most, level, rerun, verdicts, asked_of, and
what is neither for nor against."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpbandits.claims.docket import Interpretation
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import Judgement, judge
from dpbandits.claims.ledger import comparisons, explain, ledger
from dpbandits.claims.numbers import exact, mean
from dpbandits.claims.verdict import combine_comparisons, decide, region_of, runs_needed
from test_claims_entries import comparison_of, load
from toy_claims import claim, comparison, on_series, toy_evidence, toy_frame

REFUTABLE = ("not contradicted", "fails", "mixed")


def detail_of(found: Judgement) -> str:
    return str(ledger([found])["detail"].item())


@pytest.mark.parametrize(
    ("pro", "open_", "contra", "expected"),
    [
        (3, 0, 0, "holds"),
        (9, 1, 0, "holds"),
        (27, 3, 0, "holds"),
        (26, 4, 0, "undecided"),
        (2, 2, 0, "undecided"),
        (1, 2, 0, "undecided"),
        (0, 3, 0, "undecided"),
        (2, 0, 0, "undecided"),
        (0, 0, 0, "undecided"),
        (99, 0, 1, "fails"),
        (0, 1, 1, "fails"),
    ],
)
def test_most_points_carry_a_claim(pro: int, open_: int, contra: int, expected: str) -> None:
    """None against and 90 % of at least three for."""
    decisions: list[Any] = ["for"] * pro + ["undecided"] * open_ + ["against"] * contra
    assert combine_comparisons(decisions, "most") == expected


def test_a_claim_about_most_points_names_those_that_are_not_for() -> None:
    toy = claim(*on_series(0, 1, 2, 3), combine="most", analyses=(400,))
    found = judge([toy], toy_evidence([-2.0, -2.0, 0.0, 0.0], seed=2))[0]
    assert found.verdict == "undecided"
    assert "comparisons: 2 for, 0 against, 2 undecided; binding comparison: series " in detail_of(
        found
    )
    assert ledger([found])["lo"].item() < 0.0 < ledger([found])["hi"].item()
    assert "; undecided: series 2, series 3" in detail_of(found)
    against = judge([toy], toy_evidence([-2.0, -2.0, -2.0, 2.0]))[0]
    assert against.verdict == "fails"
    assert "against: series 3" in detail_of(against)


def test_the_level_of_a_claim_is_its_own() -> None:
    """With sd 1 and 400 runs, a mean of -0.12 is 2.4 standard errors off: p is about 0.02."""
    evidence = toy_evidence([-0.12], seed=6)
    usual = judge([claim(*on_series(0), analyses=(400,))], evidence)[0]
    strict = judge([claim(*on_series(0), analyses=(400,), level=0.001)], evidence)[0]
    assert (usual.verdict, usual.level) == ("holds", 0.05)
    assert (strict.verdict, strict.level) == ("undecided", 0.001)
    two = judge([claim(*on_series(0), analyses=(200, 400), level=0.02)], evidence)[0]
    assert two.level == 0.01
    low, high = (strict.comparisons[0].lo, strict.comparisons[0].hi)
    assert high - low > usual.comparisons[0].hi - usual.comparisons[0].lo


def test_the_level_holds_at_the_papers_runs_too() -> None:
    toy = claim(*on_series(0), analyses=(50,), runs_paper=400)
    evidence = toy_evidence([-0.12], seed=6)
    assert judge([toy], evidence)[0].verdict_at_paper_runs == "holds"
    strict = claim(*on_series(0), analyses=(50,), runs_paper=400, level=0.001)
    assert judge([strict], evidence)[0].verdict_at_paper_runs == "undecided"


def changing_frame(first: float, rest: float, runs: int = 300) -> pd.DataFrame:
    """One series with one mean over the first 50 runs and another after them."""
    frame = toy_frame([rest], runs=runs)
    frame.loc[frame["run"] < 50, "value"] += first - rest
    return frame


def rerun(first: float, rest: float, runs: int = 300, **attributes: Any) -> Judgement:
    toy = claim(*on_series(0, **attributes), analyses=(50,), rerun=200)
    evidence = Evidence.of_frames({"toy": changing_frame(first, rest, runs)})
    return judge([toy], evidence)[0]


def test_a_failure_is_seen_again_on_fresh_runs() -> None:
    found = rerun(2.0, 2.0)
    assert (found.verdict, found.runs, found.analyses) == ("fails", 200, (50,))
    assert found.before is not None
    assert (found.before.verdict, found.before.runs) == ("fails", 50)
    assert detail_of(found).startswith(
        "first interim analysis: fails on 50 runs, against: series 0; again on 200 fresh runs; "
    )
    assert "  judged again: on 200 fresh runs, shown below" in explain(found).split("\n")


def test_the_second_verdict_counts_and_reads_none_of_the_first_runs() -> None:
    assert rerun(2.0, -2.0).verdict == "holds"
    assert rerun(2.0, 0.0).verdict == "undecided"
    # The 200 runs after the first 50, not all 250.
    found = rerun(2.0, -2.0).comparisons[0].estimate
    values = changing_frame(2.0, -2.0)["value"].to_numpy()
    assert found.runs == 200
    assert found.value == pytest.approx(values[50:250].mean())


def test_what_does_not_fail_is_not_judged_again() -> None:
    for first in (-2.0, 0.0):
        found = rerun(first, 2.0)
        assert (found.before, found.runs) == (None, 50)
    assert rerun(-2.0, 2.0).verdict == "holds"


def test_a_failing_part_of_a_mixed_verdict_is_seen_again() -> None:
    toy = claim(
        *on_series(0, part="first"), *on_series(1, part="second"), analyses=(50,), rerun=200
    )
    found = judge([toy], toy_evidence([2.0, -2.0]))[0]
    assert (found.verdict, found.runs) == ("mixed", 200)
    assert detail_of(found).startswith(
        "first interim analysis: mixed (first fails) on 50 runs, against: series 0; "
        "again on 200 fresh runs; holds: second; fails: first; "
    )


def test_an_open_verdict_without_a_failure_is_not_judged_again() -> None:
    toy = claim(*on_series(0, 1, 2, 3), combine="most", analyses=(200,), rerun=200)
    found = judge([toy], toy_evidence([-2.0, -2.0, 0.0, 0.0], seed=3))[0]
    assert (found.verdict, found.before) == ("undecided", None)


def test_too_few_fresh_runs_leave_a_failure_undecided() -> None:
    found = rerun(2.0, 2.0, runs=240)
    assert found.verdict == "undecided"
    assert found.remark == (
        "fails on 50 runs; judging it again needs 200 fresh ones, the results have 190"
    )


def test_the_quick_scale_judges_once() -> None:
    toy = claim(*on_series(0), analyses=(50,), rerun=200)
    found = judge([toy], toy_evidence([2.0], runs=20), scale="quick")[0]
    assert (found.verdict, found.before) == ("fails", None)


def refutable(*values: float, threshold: float = 0.0) -> Judgement:
    """A claim on numbers known exactly, to be less than a threshold, that can only be refuted."""
    each = [
        comparison(
            "constant",
            threshold=threshold,
            arguments={"value": value},
            name=f"x={value}",
            part=f"p{index}",
        )
        for index, value in enumerate(values)
    ]
    toy = claim(*each, analyses=(), runs_paper=0, verdicts=REFUTABLE)
    return judge([toy], toy_evidence([0.0]))[0]


def test_what_is_only_refutable_is_never_confirmed() -> None:
    found = refutable(-1.0)
    assert found.verdict == "not contradicted"
    assert "would decide" not in detail_of(found)
    assert "  part 'p0': not contradicted" in explain(found).split("\n")


def test_what_is_only_refutable_can_fail_and_mix_and_stay_open() -> None:
    assert refutable(1.0).verdict == "fails"
    mixed = refutable(1.0, -1.0)
    assert mixed.verdict == "mixed"
    assert detail_of(mixed).startswith("fails: p0; not contradicted: p1; ")
    assert refutable(math.nan).verdict == "undecided"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("holds", "fails", "mixed"), ["holds", "fails", "mixed"]),
        (("holds", "fails"), ["holds", "fails", "fails"]),
        (("holds",), ["holds", "undecided", "undecided"]),
        (("not contradicted", "fails"), ["not contradicted", "fails", "fails"]),
        (("not contradicted",), ["not contradicted", "undecided", "undecided"]),
    ],
)
def test_a_claim_ends_in_its_words(words: tuple[Any, ...], expected: list[str]) -> None:
    pro, contra = (
        comparison("constant", arguments={"value": value}, part=f"x={value}", name=f"x={value}")
        for value in (-1.0, 1.0)
    )
    made = [[pro], [contra], [pro, contra]]
    toys = [claim(*each, analyses=(), runs_paper=0, verdicts=words) for each in made]
    assert [each.verdict for each in judge(toys, toy_evidence([0.0]))] == expected


def test_a_row_may_have_words_and_comparisons_of_its_own() -> None:
    strict = comparison(
        "constant", arguments={"value": 2.0}, name="ratio", asked_of={"size": ("ratio",)}
    )
    mild = replace(strict, region=region_of("less", 5.0), asked_of={"size": ("difference",)})
    interpretations = (
        Interpretation(values=(("size", "ratio"),)),
        Interpretation(values=(("size", "difference"),), verdicts=("not contradicted", "fails")),
        Interpretation(variant="as-coded", not_applicable="no code was released"),
        Interpretation(variant="repaired", not_testable="needs T = 1e9"),
    )
    toy = claim(strict, mild, interpretations=interpretations, analyses=(), runs_paper=0)
    found = judge([toy], toy_evidence([0.0]))
    assert [each.verdict for each in found] == [
        *("fails", "not contradicted", "not applicable", "not testable")
    ]
    assert [each.remark for each in found[2:]] == ["no code was released", "needs T = 1e9"]


def test_a_number_may_be_reported_without_a_threshold() -> None:
    number = comparison("constant", "report", arguments={"value": 3.0}, name="a number")
    toy = claim(*on_series(0), number)
    found = judge([toy], toy_evidence([-2.0]))[0]
    assert found.verdict == "holds"
    row = comparisons([found]).set_index("comparison").loc["a number"]
    assert (row["estimate"], row["threshold"], row["decided"]) == (3.0, "", "reported")
    assert "reported  a number: 3\n" in explain(found)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([-1.0], "shown"), ([1.0], "not shown"), ([-1.0, 1.0], "not shown"), ([], "reported")],
)
def test_a_finding_is_shown_or_not(values: list[float], expected: str) -> None:
    each = [
        comparison("constant", arguments={"value": value}, name=f"x={value}", part=f"x={value}")
        for value in values
    ]
    toy = claim(*each, kind="finding", analyses=(), runs_paper=0)
    assert judge([toy], toy_evidence([0.0]))[0].verdict == expected


def test_what_is_only_refutable_shows_the_number_nearest_to_its_threshold() -> None:
    assert ledger([refutable(-3.0, -0.5, -2.0, threshold=1.0)])["estimate"].item() == -0.5


@pytest.mark.parametrize(
    ("interval", "decision"),
    [
        ((0.98, 1.0), "for"),
        ((0.97, 1.0), "undecided"),
        ((0.92, 0.95), "neither"),
        ((0.9, 0.97), "neither"),
        ((0.85, 0.9), "undecided"),
        ((0.85, 0.899), "against"),
    ],
)
def test_between_for_and_against_lies_the_indifference(
    interval: tuple[float, float], decision: str
) -> None:
    region = region_of("at_least", 0.98, indifference=0.08)
    assert decide(*interval, region) == decision
    assert region.describe() == "at least 0.98, against from 0.08 beyond"


def test_strict_and_two_sided_regions_have_an_indifference_too() -> None:
    strict = region_of("less", 1.0, indifference=0.5)
    assert [decide(x, x, strict) for x in (0.9, 1.0, 1.4, 1.5)] == [
        *("for", "neither", "neither", "against")
    ]
    both = region_of("equivalent", 0.2, indifference=0.1)
    assert [decide(x, x, both) for x in (-0.31, -0.25, 0.2, 0.25, 0.31)] == [
        *("against", "neither", "for", "neither", "against")
    ]


def test_runs_decide_what_lies_in_the_indifference_from_both_sides() -> None:
    estimate = mean(toy_evidence([0.25]).values("toy", "regret", which=0))
    lo, hi = estimate.interval(0.05)
    region = region_of("less", 0.0, indifference=2.0 * estimate.value)
    middle = runs_needed(estimate, 0.05, region)
    assert middle == pytest.approx(400 * max(1.0, (hi - lo) / 2.0 / estimate.value) ** 2)
    close = region_of("less", 0.0, indifference=1.01 * estimate.value)
    assert runs_needed(estimate, 0.05, close) > middle
    assert runs_needed(exact(0.0), 0.05, region_of("less", 1.0, indifference=1.0)) == math.inf


def test_exploratory_comparisons_without_a_point_are_left_out() -> None:
    toy = claim(*on_series(0), comparison("nothing", exploratory=True))
    found = judge([toy], toy_evidence([-2.0]))[0]
    assert [each.label for each in found.comparisons] == ["series 0"]


def test_entries_carry_the_keys(tmp_path: Path) -> None:
    def change(entry: dict[str, Any]) -> None:
        entry.update(level=0.02, rerun=10_000_000, verdicts=["fails"], combine="most")
        comparison_of(entry)["indifference"] = 0.5

    found = load(tmp_path, change)[0]
    assert (found.level, found.rerun, found.verdicts) == (0.02, 10_000_000, ("fails",))
    assert found.combine == "most"
    assert found.comparisons[0].region.indifference == 0.5
    plain = load(tmp_path)[0]
    assert (plain.level, plain.rerun) == (0.05, 0)
