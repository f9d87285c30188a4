"""Judging: interim analyses, interpretations, scales, and what lacks the runs it was promised."""

import math

import pytest

from dpbandits.claims.docket import Interpretation
from dpbandits.claims.evidence import Evidence
from dpbandits.claims.judge import judge
from dpbandits.errors import InputError
from toy_claims import claim, comparison, on_series, toy_evidence, toy_frame


def test_a_clear_claim_is_decided_at_the_first_look() -> None:
    found = judge([claim(*on_series(0, 1))], toy_evidence([-2.0, -3.0]))[0]
    assert (found.verdict, found.runs, found.analyses) == ("holds", 50, (50,))
    assert found.level == pytest.approx(0.05 / 4)
    assert found.verdict_at_paper_runs == "holds"


def test_runs_grow_until_the_verdict_is_there() -> None:
    """With sd 1, a mean of -0.25 is 1.8 standard errors off at 50 runs and 5 at 400."""
    found = judge([claim(*on_series(0))], toy_evidence([-0.25], seed=3))[0]
    assert found.verdict == "holds"
    assert found.runs > 50
    assert found.analyses == tuple(runs for runs in (50, 100, 200, 400) if runs <= found.runs)
    assert found.verdict_at_paper_runs == "undecided"


def test_a_null_effect_stays_undecided_at_the_cap() -> None:
    found = judge([claim(*on_series(0))], toy_evidence([0.0], seed=2))[0]
    assert (found.verdict, found.runs, found.analyses) == ("undecided", 400, (50, 100, 200, 400))


def test_one_against_refutes_a_claim_about_all_points() -> None:
    assert judge([claim(*on_series(0, 1))], toy_evidence([-2.0, 2.0]))[0].verdict == "fails"


def test_one_for_carries_a_claim_that_there_is_one() -> None:
    toy = claim(*on_series(0, 1), combine="any")
    assert judge([toy], toy_evidence([-2.0, 2.0]))[0].verdict == "holds"
    assert judge([toy], toy_evidence([2.0, 2.0]))[0].verdict == "fails"


def test_parts_that_come_out_differently_mix() -> None:
    toy = claim(
        comparison(arguments={"which": 0}, name="a", part="first"),
        comparison(arguments={"which": 1}, name="b", part="second"),
    )
    found = judge([toy], toy_evidence([-2.0, 2.0]))[0]
    assert found.verdict == "mixed"
    assert found.parts == {"first": "holds", "second": "fails"}
    assert judge([toy], toy_evidence([2.0, 2.0]))[0].verdict == "fails"


def test_parts_and_labels_name_their_variables() -> None:
    each = comparison(name="series {which}", part="part {which}", over={"which": (0, 1)})
    found = judge([claim(each)], toy_evidence([-2.0, -2.0]))[0]
    assert list(found.parts) == ["part 0", "part 1"]
    assert [one.label for one in found.comparisons] == ["series 0", "series 1"]
    points = judge([claim(comparison("levels", name="mean"))], toy_evidence([-2.0, -2.0]))[0]
    assert [one.label for one in points.comparisons] == ["mean [series 0]", "mean [series 1]"]


def test_exploratory_comparisons_are_reported_and_do_not_count() -> None:
    toy = claim(*on_series(0), *on_series(1, exploratory=True))
    found = judge([toy], toy_evidence([-2.0, 2.0]))[0]
    assert found.verdict == "holds"
    assert [each.decision for each in found.comparisons] == ["for", "against"]


def test_each_interpretation_is_judged_by_itself() -> None:
    toy = claim(
        comparison(),
        interpretations=(
            Interpretation(values=(("which", 0),)),
            Interpretation(values=(("which", 1),)),
            Interpretation("as-coded", (), "no code was released"),
        ),
    )
    found = judge([toy], toy_evidence([-2.0, 2.0]))
    assert [each.verdict for each in found] == ["holds", "fails", "not applicable"]
    assert found[2].remark == "no code was released"


def test_an_exact_claim_needs_no_runs() -> None:
    toy = claim(comparison("constant", arguments={"value": -1.0}), analyses=(), runs_paper=0)
    found = judge([toy], toy_evidence([0.0]))[0]
    assert (found.verdict, found.runs) == ("holds", 0)
    assert found.verdict_at_paper_runs == "not applicable"
    lost = claim(comparison("constant", arguments={"value": math.nan}), analyses=(), runs_paper=0)
    assert judge([lost], toy_evidence([0.0]))[0].verdict == "undecided"


def test_fewer_runs_than_the_first_look_leave_it_undecided() -> None:
    found = judge([claim(*on_series(0))], toy_evidence([-2.0], runs=20))[0]
    assert found.verdict == "undecided"
    assert found.remark == "the results have 20 runs, the first interim analysis needs 50"
    # The comparison itself is shown with what there is.
    assert found.comparisons[0].estimate.runs == 20


def test_fewer_runs_than_the_last_look_are_judged_at_the_looks_they_reach() -> None:
    found = judge([claim(*on_series(0))], toy_evidence([0.0], runs=120, seed=2))[0]
    assert (found.analyses, found.runs) == ((50, 100), 100)
    assert found.level == pytest.approx(0.05 / 4)


def test_no_point_to_compare_is_undecided() -> None:
    assert judge([claim(comparison("nothing"))], toy_evidence([0.0]))[0].verdict == "undecided"


def test_the_quick_scale_judges_what_there_is_and_forgives_what_is_missing() -> None:
    toy = claim(*on_series(0, 7))
    with pytest.raises(InputError, match=r"TOY-C1: series 7: results of toy: 0 series"):
        judge([toy], toy_evidence([-2.0], runs=20))
    found = judge([toy], toy_evidence([-2.0], runs=20), scale="quick")[0]
    assert found.scale == "quick"
    assert [each.decision for each in found.comparisons] == ["for", "undecided"]
    assert "not there at this scale" in found.comparisons[1].label
    alone = judge([claim(*on_series(0))], toy_evidence([-2.0], runs=20), scale="quick")[0]
    assert (alone.verdict, alone.runs) == ("holds", 20)


def test_a_claim_reads_only_what_it_declares() -> None:
    frames = {"toy": toy_frame([0.0])}
    with pytest.raises(InputError, match="'toy' are not declared; allowed: other"):
        judge(
            [claim(*on_series(0), reads=("other",), analyses=())],
            Evidence.of_frames(frames),
        )


def test_verdicts_are_the_same_when_judged_again() -> None:
    toy = claim(*on_series(0, 1))
    frames = {"toy": toy_frame([-0.3, -0.4])}
    one, again = (judge([toy], Evidence.of_frames(frames))[0] for _ in range(2))
    assert [(each.lo, each.hi) for each in one.comparisons] == [
        (each.lo, each.hi) for each in again.comparisons
    ]
