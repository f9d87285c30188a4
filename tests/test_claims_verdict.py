"""Regions of all kinds, the function that decides, and how decisions become words."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpbandits.claims.estimates import Estimate, RateDifference, StudentEstimate, exact, mean
from dpbandits.claims.judge import Judged
from dpbandits.claims.verdict import (
    VERDICTS,
    Decision,
    Region,
    are_alike,
    decide,
    of_readings,
    region_of,
    verdict_of,
)
from dpbandits.config.claims import KINDS
from toy_claims import claim, compared, measured

NAN, INF = math.nan, math.inf


def region(**keys: Any) -> Region:
    """Where the number of a comparison has to lie, if that is no likeness."""
    return region_of(compared(**keys), exact(NAN))


# kind, threshold, what is asked in words, then intervals that are for, against and undecided.
# Derived by hand from `config.claims.KINDS`; the touching intervals tell strict kinds from others.
TABLE: list[tuple[str, Any, str, Any, Any, Any]] = [
    ("less", 2, "less than 2", (0.0, 1.9), (2.0, 3.0), (1.5, 2.0)),
    ("greater", 2, "greater than 2", (2.1, 3.0), (1.0, 2.0), (2.0, 3.0)),
    ("at_most", 2, "at most 2", (1.5, 2.0), (2.1, 3.0), (2.0, 2.1)),
    ("at_least", 2, "at least 2", (2.0, 3.0), (1.0, 1.9), (1.9, 2.0)),
    ("within", [0.5, 2], "within [0.5, 2]", (0.5, 2.0), (2.1, 3.0), (1.0, 2.1)),
    ("identity", 3, "exactly 3", (3.0, 3.0), (3.1, 3.1), (2.9, 3.1)),
]


def test_each_kind_decides_by_its_region() -> None:
    for kind, threshold, words, pro, contra, open_ in TABLE:
        asked = region(**{kind: threshold})
        assert asked.describe() == words
        assert decide(*pro, asked) == "for"
        assert decide(*contra, asked) == "against"
        nothing = [(NAN, 1.0), (0.0, NAN), (NAN, NAN), (1.0, 0.0), (INF, -INF), (-INF, INF)]
        for interval in (open_, *nothing):
            assert decide(*interval, asked) == "undecided"
    assert {row[0] for row in TABLE} | {"alike"} == {*KINDS}
    assert region().describe() == ""


def test_a_tolerance_widens_the_region() -> None:
    """A printed number is met within one unit of its last digit."""
    for kind, threshold, tolerance, value, expected in [
        ("identity", 4.88, 0.01, 4.885, "for"),
        ("identity", 4.88, 0.01, 4.895, "against"),
        ("at_most", 1, 0.1, 1.05, "for"),
        ("greater", 1, 0.1, 0.95, "for"),
        ("within", [1, 2], 0.1, 2.05, "for"),
    ]:
        asked = region(tolerance=tolerance, **{kind: threshold})
        assert decide(value, value, asked) == expected


STEPS: dict[str, Any] = {"value": "a", "along": "b", "pick": "steps"}
RATIOS: dict[str, Any] = {"value": "a", "along": "b", "pick": {"steps": {"by": "ratio"}}}


def test_two_equal_sides_are_neither_lower_nor_higher() -> None:
    for keys, value, expected in [
        ({"less": 0}, 0.0, "equal"),
        ({"greater": 0}, 0.0, "equal"),
        ({"ratio": ["a", "b"], "less": 1}, 1.0, "equal"),
        (STEPS | {"less": 0}, 0.0, "equal"),
        (RATIOS | {"greater": 1}, 1.0, "equal"),
        # Another threshold, one side alone, or a kind that equality meets.
        ({"less": 1}, 0.0, "for"),
        ({"ratio": ["a", "b"], "less": 2}, 2.0, "against"),
        ({"value": "a", "less": 0}, 0.0, "against"),
        ({"ratio": ["a", "b"], "at_most": 1}, 1.0, "for"),
        ({"difference": ["a", "b"], "identity": 0}, 0.0, "for"),
    ]:
        asked = region(**keys)
        assert decide(value, value, asked) == expected, keys
        assert decide(value - 0.1, value, asked) != "equal"


def student(value: float, error: float = 0.05) -> Estimate:
    """A mean of 400 runs; at 100 runs half of its plain interval is 0.1966, at 400 0.0983."""
    return StudentEstimate(value, 400, error, 399.0)


def test_a_likeness_is_judged_by_the_interval_at_the_papers_runs() -> None:
    """Where another kind is asked, what is alike is equal."""
    for estimate, expected, alike in [
        (student(0.09), "for", True),
        (student(0.15), "undecided", False),
        (student(-0.29), "undecided", False),
        (student(0.3), "against", False),
        (student(0.0, INF), "undecided", False),
        (mean(np.array([1.0])), "undecided", False),
        (RateDifference(0.001, 5000, (4995, 5000), (4990, 5000)), "for", True),
        (exact(0.0), "for", True),
        (exact(0.01), "against", False),
    ]:
        interval = estimate.interval(0.05)
        assert decide(*interval, region_of(compared(alike=100), estimate)) == expected
        for keys, runs, found in [
            ({"less": 0}, 100, alike),
            ({"less": 0}, 0, False),
            ({"less": 0}, 10**9, alike and not estimate.is_random),
            ({"at_most": 0}, 100, False),
            ({"value": "a", "less": 0}, 100, False),
        ]:
            share = runs / max(estimate.runs, 1)
            assert are_alike(*interval, estimate, region(**keys), share) is found


def test_a_likeness_of_a_ratio_is_around_1_and_of_too_skewed_runs_undecided() -> None:
    generator, of_ratio = np.random.default_rng(2), compared(ratio=["a", "b"], alike=50)
    one, other = (mean(generator.normal(10.0, 1.0, 400)) for _ in range(2))
    skewed = mean(generator.exponential(size=50) ** 3)
    ratios = {"for": one / other, "against": 2.0 * one / other, "undecided": skewed / other}
    for expected, ratio in ratios.items():
        assert decide(*ratio.interval(0.05), region_of(of_ratio, ratio)) == expected
    asked = region(ratio=["a", "b"], less=1)
    assert not are_alike(*(skewed / other).interval(0.05), skewed / other, asked, 1.0)


def test_the_smallest_level_that_decides_is_the_p_value_of_the_t_test() -> None:
    values = np.random.default_rng(3).normal(0.4, 1.0, 30)
    expected = stats.ttest_1samp(values, 0.0).pvalue
    for kind in ("less", "greater", "at_least"):
        # The bisection halves the logarithm 50 times: exact to rounding.
        found = measured(mean(values), **{kind: 0}).p_value
        assert found == pytest.approx(expected, rel=1e-9)
    assert measured(exact(NAN), less=0).p_value == 1.0


DECISIONS: tuple[Decision, ...] = "for", "against", "undecided", "equal", "shown"
LETTERS = dict(zip("FAOES", DECISIONS, strict=True))

# Words on a plain grid, on every point and on an existence -> decisions that have them.
MIXTURES = {
    ("size only", "size only", "size only"): ["", "S"],
    ("as stated", "as stated", "as stated"): ["F", "FS", "FE"],
    ("undecided", "undecided", "undecided"): ["O", "E", "OE"],
    ("not as stated", "not as stated", "undecided"): ["A", "AO", "AE"],
    ("in part", "not as stated", "as stated"): ["FA", "FAO", "FAE", "F" * 38 + "A"],
    # One in twenty may be open; those that are equal are not among the twenty.
    ("as stated", "undecided", "as stated"): ["F" * 19 + "O", "F" * 38 + "OO"],
    ("undecided", "undecided", "as stated"): [
        "FO",
        *("F" * 18 + each for each in ("O", "EO", "FOO")),
    ],
}


def test_points_combine_by_the_quantifier() -> None:
    for words, mixtures in MIXTURES.items():
        for letters in (*mixtures, *(each[::-1] for each in mixtures)):
            decisions = [LETTERS[each] for each in letters]
            found = tuple(
                verdict_of(claim(quantifier=quantifier), decisions)
                for quantifier in ("points", "every", "exists")
            )
            assert found == words, letters


BOUND, CANNOT, EVERY = {"bound": True}, {"cannot": "It needs T = 1e9."}, {"quantifier": "every"}


def test_bounds_and_guarantees_have_words_of_their_own() -> None:
    for kind, keys, letters, seen_from, word in [
        ("theory", {}, "F", NAN, "as stated"),
        ("theory", EVERY, "FA", NAN, "not as stated"),
        # A ceiling cannot be shown by runs.
        ("theory", BOUND, "FO", NAN, "not contradicted"),
        ("theory", BOUND, "FA", NAN, "counterexample"),
        ("experiment", BOUND, "F", NAN, "not contradicted"),
        ("experiment", BOUND, "FA", NAN, "not as stated"),
        ("theory", BOUND, "", NAN, "size only"),
        # What would not see twice the level.
        ("privacy", {}, "F", NAN, "not contradicted"),
        ("privacy", {}, "O", 2.0, "not contradicted"),
        ("privacy", {}, "F", 2.01, "cannot be tested here"),
        ("privacy", {}, "O", INF, "cannot be tested here"),
        ("privacy", {}, "FA", INF, "counterexample"),
        ("privacy", {}, "", NAN, "size only"),
        ("experiment", CANNOT, "", NAN, "cannot be tested here"),
        ("theory", CANNOT, "A", NAN, "cannot be tested here"),
    ]:
        toy, decisions = claim(kind=kind, **keys), (LETTERS[each] for each in letters)
        assert verdict_of(toy, decisions, seen_from) == word, (kind, keys, letters)


def test_readings_that_differ_make_the_claim_depend_on_them() -> None:
    for one in VERDICTS:
        assert of_readings([one, one]) == one
        for other in {*VERDICTS} - {one}:
            assert of_readings([one, other, one]) == "depends on the reading"


def test_slack_is_free_of_units() -> None:
    def slack(lo: float, hi: float, **keys: Any) -> float:
        one = measured(exact(NAN), **keys)
        measure = one.comparison, one.label, one.estimate, one.region
        return Judged(*measure, 0.05, lo, hi, decide(lo, hi, one.region)).slack

    for factor in (1.0, 1000.0):
        assert slack(0.4 * factor, 0.6 * factor, less=0.8 * factor) == pytest.approx(0.25)
        assert slack(0.5 * factor, factor, greater=0) == pytest.approx(0.5)
    assert slack(1.2, 1.2, identity=1, tolerance=0.1) == pytest.approx(0.1 / 1.1)
