"""Judging: interim analyses, readings, what is visible, scales, and the family of a paper."""

import math
from typing import Any

import pytest

from dpbandits.claims.judge import Judgement, judge
from dpbandits.claims.tables import standing, verdict_table
from dpbandits.errors import InputError
from toy_claims import EXACT, claim, compare, finding, gap, judged, number, on_series, toy_evidence

NORMAL = {"runs": 400, "runs_paper": 400}
BOTH = [{"variant": "as-written"}, {"variant": "repaired"}]


def test_a_claim_is_decided_at_the_first_analysis_that_can() -> None:
    for keys, means, seed, expected in [
        ({}, [-2.0, -3.0], 1, ("as stated", 50, 0.05 / 4, (2, 2))),
        # Fewer runs than the paper's show nothing at its number.
        ({"runs_paper": 10_000}, [-2.0, -3.0], 1, ("as stated", 50, 0.05 / 4, None)),
        # 1.8 standard errors off at 50 runs and 5 at 400: runs grow until the word is there.
        ({}, [-0.25], 3, ("as stated", 100, 0.05 / 4, (0, 1))),
        ({}, [0.0], 2, ("undecided", 400, 0.05 / 4, None)),
        # 2.4 standard errors off at 400 runs, p about 0.02: the level of a claim is its own.
        (NORMAL, [-0.12], 6, ("as stated", 400, 0.05, (1, 1))),
        (NORMAL | {"runs": [100, 200, 400]}, [-0.12], 6, ("undecided", 400, 0.05 / 3, None)),
        # A point against and an open one: more runs tell whether any is for, until none is open.
        ({}, [2.0, -0.4], 3, ("in part", 100, 0.05 / 4, (1, 2))),
        ({}, [2.0, 0.0], 2, ("not as stated", 400, 0.05 / 4, (1, 1))),
        ({"quantifier": "every"}, [2.0, -0.4], 3, ("not as stated", 50, 0.05 / 4, (1, 1))),
        ({"quantifier": "exists"}, [-2.0, 0.0], 1, ("as stated", 50, 0.05 / 4, (1, 1))),
        ({"quantifier": "exists"}, [2.0, 0.0], 2, ("undecided", 400, 0.05 / 4, (1, 1))),
        ({"bound": True}, [-2.0, 0.0], 2, ("not contradicted", 400, 0.05 / 4, (1, 1))),
        ({"bound": True}, [2.0, 0.0], 1, ("not as stated", 50, 0.05 / 4, (1, 1))),
        # All of the paper's runs, of which some points need more.
        (NORMAL | {"runs_paper": 10}, [-2.0, -0.25, 2.0], 3, ("in part", 400, 0.05, (2, 3))),
    ]:
        found = judged(claim(*on_series(*range(len(means))), **keys), means, seed=seed)
        came = found.verdict, found.runs, pytest.approx(found.level), found.visible
        assert came == expected, (keys, means)


def test_what_the_papers_runs_would_show_does_not_hang_on_which_runs_are_taken_for_them() -> None:
    """Of 400 runs the interval is +-0.1, of the paper's 20 it would be +-0.44."""
    for mean, visible in [(-0.25, (0, 1)), (-0.7, (1, 1))]:
        toy = claim(*on_series(0), runs=400, runs_paper=20)
        assert {judged(toy, [mean], seed=seed).visible for seed in range(20)} == {visible}


def test_points_alike_by_the_papers_own_runs_are_not_counted() -> None:
    """Of 400 runs the interval is +-0.14, of the paper's 20 +-0.62."""
    means, keys = [0.0, 0.0, 3.0], {"runs": 400, "runs_paper": 20, "quantifier": "every"}
    for entries, verdict, decisions in [
        ([gap(0, 1), gap(0, 2)], "as stated", ["equal", "for"]),
        ([gap(0, 1), gap(2, 0)], "not as stated", ["equal", "against"]),
        ([gap(0, 1)], "undecided", ["equal"]),
        # One side alone is alike with nothing.
        ([*on_series(0)], "undecided", ["undecided"]),
    ]:
        found = judged(claim(*entries, **keys), means)
        assert found.verdict == verdict
        assert [one.decision for one in found.comparisons] == decisions
    fewer = judged(claim(gap(0, 1), **keys | {"runs_paper": 0}), means)
    assert fewer.comparisons[0].decision == "undecided"


def test_a_likeness_is_asked_of_the_difference_and_has_no_direction_to_be_visible() -> None:
    for means, verdict in [
        ([0, 0], "as stated"),
        ([0, 2], "not as stated"),
        ([0, 0.6], "undecided"),
    ]:
        found = judged(claim(gap(0, 1, alike=20), runs=400, runs_paper=20), means)
        assert (found.verdict, found.visible) == (verdict, None)


def test_values_that_we_chose_and_sizes_do_not_decide() -> None:
    """They and exact numbers cost no level."""
    beside = *on_series(1, ours=True), number(3.0, "size", less=None), number(-3.0)
    found = judged(claim(*on_series(0), *beside), [-2.0, 2.0])
    assert (found.verdict, found.visible) == ("as stated", (1, 1))
    assert [one.decision for one in found.comparisons] == ["for", "against", "shown", "for"]
    assert [one.level for one in found.comparisons] == [0.05 / 4] * 4
    assert judged(claim(*on_series(0, ours=True)), [2.0]).verdict == "size only"


def test_a_comparison_without_a_point_is_undecided_or_left_out() -> None:
    nothing = {"quantity": "nothing"}
    assert judged(claim(compare("x", **nothing))).verdict == "undecided"
    found = judged(claim(*on_series(0), compare("x", less=None, **nothing)), [-2.0])
    assert [one.label for one in found.comparisons] == ["series 0"]


def test_each_reading_has_a_word_and_comparisons_of_its_own_and_those_beside_none() -> None:
    readings = [{"size": "ratio"}, {"size": "difference"}]
    toy = claim(
        number(2.0, "strict", asked_of={"size": ["ratio"], "variant": ["as-written"]}),
        number(2.0, "mild", less=5, asked_of={"size": ["difference"]}),
        **EXACT,
        readings=readings,
        beside=[{"variant": "repaired", "size": "difference"}, {"variant": "as-coded"}],
    )
    found = judge([toy], toy_evidence([0.0]))
    assert [one.verdict for one in found] == ["not as stated", "as stated", None, None]
    labels = [[one.label for one in each.comparisons] for each in found]
    assert labels == [["strict"], ["mild"], ["mild"], []]
    assert found[2].comparisons[0].decision == "for"


def test_a_guarantee_whose_excess_would_not_be_seen_cannot_be_tested() -> None:
    for factor, word in [(1.3, "not contradicted"), (2.5, "cannot be tested here")]:
        both = number(0.4, "share", at_most=1), number(factor, "factor", less=None)
        toy = claim(*both, kind="privacy", seen_from="factor", **EXACT)
        assert judged(toy).verdict == word


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
    with pytest.raises(
        InputError, match=r"TOY-C1: series 7: results of toy: tag which is 7; allowed: 0"
    ):
        judge([toy], evidence)
    [found] = judge([toy], evidence, scale="quick")
    assert [one.decision for one in found.comparisons] == ["for", "undecided"]
    assert (found.runs, found.level) == (20, 0.05)
    assert "not there at this scale" in found.comparisons[1].label
    detail = verdict_table([found])["detail"].item()
    assert detail.startswith("quick scale, no evidence. 1 of 2 comparisons as stated. open: ")


def test_a_claim_reads_only_what_it_declares() -> None:
    toy = claim(compare("x", value={"in": "toy", "metric": "regret"}), reads=["other"], **EXACT)
    with pytest.raises(InputError, match="results of : 0 series"):
        judge([toy], toy_evidence([0.0]))


def test_the_numbers_of_a_finding_show_its_title_or_do_not() -> None:
    for values, expected in [
        ([-1.0], "shown"),
        ([1.0], "not shown"),
        ([-1.0, 1.0], "not shown"),
        ([-1.0, math.nan], "undecided"),
        ([], ""),
    ]:
        numbers = (number(value, f"x={value}") for value in values)
        assert judged(finding(*numbers)).word == expected


def of_family(*claims: Any, means: tuple[float, ...] = (-2.0, 2.0), **settings: Any) -> Any:
    return judge(claims, toy_evidence(means, **settings), in_family=True)


def test_claims_that_depend_on_chance_share_the_level_of_the_paper() -> None:
    """Equally; the readings of a claim share its part, and interim analyses that of a reading."""
    found = of_family(
        claim(*on_series(0), runs=50, beside=BOTH[1:]),
        claim(*on_series(0, 1), name="TOY-C2", runs=[50, 100], readings=BOTH),
        # No members: exact, a size, one that cannot be tested.
        claim(number(-1.0), name="TOY-C3", **EXACT, readings=BOTH),
        claim(*on_series(0, less=None), name="TOY-C4", runs=50),
        claim(*on_series(0), name="TOY-C5", runs=50, cannot="It needs T = 1e9."),
    )
    levels = {
        (one.claim.id, one.reading.variant): pytest.approx(one.in_family.level)
        for one in found
        if one.in_family
    }
    assert levels == {
        ("TOY-C1", "as-written"): 0.05 / 2,
        ("TOY-C2", "as-written"): 0.05 / 2 / 2 / 2,
        ("TOY-C2", "repaired"): 0.05 / 2 / 2 / 2,
    }
    second = found[2]
    assert [one.level for one in second.comparisons] == pytest.approx([0.0125, 0.025])
    within = [one.level for one in second.in_family.comparisons]
    assert within == pytest.approx([0.00625 / 2, 0.00625])


def in_words(found: Judgement) -> tuple[Any, Any, str]:
    return found.verdict, found.in_family and found.in_family.verdict, standing(found)


def test_a_clear_word_stands_in_the_family_and_a_narrow_one_only_at_its_own_level() -> None:
    """With sd 1 over 50 runs, -2 is 14 standard errors below 0 and -0.4 between 2 and 3.5."""
    for mean, seed, *expected in [
        (-2.0, 1, "as stated", "as stated", "yes"),
        (2.0, 1, "not as stated", "not as stated", "yes"),
        (-0.5, 1, "as stated", "as stated", "yes"),
        (-0.4, 1, "as stated", "undecided", "only at its own level"),
        (0.0, 3, "undecided", "undecided", ""),
    ]:
        toys = [claim(*on_series(0), name=f"TOY-C{i}", runs=50) for i in range(91)]
        [first, *_] = of_family(*toys, means=(mean,), runs=50, seed=seed)
        assert in_words(first) == tuple(expected)


def test_what_is_exact_has_no_level() -> None:
    [found] = of_family(claim(number(-1.0), **EXACT))
    assert (found.runs, found.visible, *in_words(found)) == (0, None, "as stated", None, "exact")
    row = verdict_table([found]).iloc[0]
    assert row[["level", "level_in_family"]].isna().all()
    [size] = of_family(claim(*on_series(0, less=None)))
    assert in_words(size) == ("size only", None, "")
