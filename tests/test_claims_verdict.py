"""The verdict function, regions of all kinds, and how comparisons and parts combine."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dpbandits.claims.numbers import exact, mean
from dpbandits.claims.verdict import (
    KINDS,
    REPORT,
    combine_comparisons,
    combine_parts,
    decide,
    deciding_alpha,
    region_of,
    runs_needed,
    slack,
)
from support import refused

NAN, INF = math.nan, math.inf

# kind, threshold, then intervals that are for, against and undecided. Derived by hand from the
# definitions in `regions.KINDS`; the touching intervals tell strict kinds from the others.
TABLE = [
    ("less", 1.0, (0.0, 0.9), (1.0, 2.0), (0.5, 1.0)),
    ("greater", 1.0, (1.1, 2.0), (0.0, 1.0), (1.0, 2.0)),
    ("at_most", 1.0, (0.5, 1.0), (1.1, 2.0), (1.0, 1.1)),
    ("at_least", 1.0, (1.0, 2.0), (0.0, 0.9), (0.9, 1.0)),
    ("ratio_within", (0.5, 2.0), (0.5, 2.0), (2.1, 3.0), (1.0, 2.1)),
    ("equivalent", 0.1, (-0.1, 0.1), (-0.3, -0.2), (-0.2, 0.0)),
    ("trend", -0.8, (-1.0, -0.8), (-0.7, 0.2), (-0.9, -0.7)),
    ("trend", 0.8, (0.8, 1.0), (-1.0, 0.7), (0.7, 0.9)),
    ("interior_optimum", 0.0, (0.1, 0.2), (-0.2, 0.0), (0.0, 0.2)),
    ("below_bound", 0.0, (-0.2, 0.0), (0.1, 0.2), (-0.1, 0.1)),
    ("identity", 3.0, (3.0, 3.0), (3.1, 3.1), (2.9, 3.1)),
    ("no_counterexample", 0.0, (0.0, 0.0), (1.0, 1.0), (0.0, 1.0)),
    ("no_increase", 0.0, (-0.1, 0.1), (0.1, 0.2), (NAN, NAN)),
    ("no_decrease", 0.0, (-0.1, 0.1), (-0.2, -0.1), (NAN, NAN)),
]


def test_each_kind_decides_by_its_region() -> None:
    for kind, threshold, pro, contra, open_ in TABLE:
        region = region_of(kind, threshold)
        assert decide(*pro, region) == "for"
        assert decide(*contra, region) == "against"
        # The whole line decides not even a presumption: it is no evidence that nothing rises.
        nothing = [(NAN, 1.0), (0.0, NAN), (NAN, NAN), (1.0, 0.0), (INF, -INF), (-INF, INF)]
        for interval in (open_, *nothing):
            assert decide(*interval, region) == "undecided"
    assert {row[0] for row in TABLE} == {*KINDS} - {REPORT}


def test_a_tolerance_widens_the_region() -> None:
    assert decide(4.885, 4.885, region_of("identity", 4.88, 0.01)) == "for"
    assert decide(4.895, 4.895, region_of("identity", 4.88, 0.01)) == "against"
    assert decide(1.05, 1.05, region_of("at_most", 1.0, 0.1)) == "for"
    assert decide(0.95, 0.95, region_of("greater", 1.0, 0.1)) == "for"


def test_impossible_thresholds_are_refused_in_one_line() -> None:
    for kind, threshold, tolerance in [
        ("less", (0.0, 1.0), 0.0),
        ("ratio_within", 1.0, 0.0),
        ("ratio_within", (2.0, 1.0), 0.0),
        ("trend", 0.0, 0.0),
        ("trend", 1.5, 0.0),
        ("no_counterexample", 1.0, 0.0),
        ("no_counterexample", 0.0, 0.1),
        (REPORT, 1.0, 0.0),
    ]:
        refused(lambda: region_of(kind, threshold, tolerance), "allowed")


def test_deciding_alpha_is_the_p_value_of_the_t_test() -> None:
    values = np.random.default_rng(3).normal(0.4, 1.0, 30)
    expected = stats.ttest_1samp(values, 0.0).pvalue
    for kind in ("less", "greater", "at_least"):
        # The bisection halves the logarithm 50 times: exact to rounding.
        found = deciding_alpha(mean(values), region_of(kind, 0.0))
        assert found == pytest.approx(expected, rel=1e-9)


def test_a_presumption_is_refuted_but_never_supported_by_a_p_value() -> None:
    values = np.random.default_rng(3).normal(2.0, 1.0, 30)
    assert deciding_alpha(mean(values), region_of("no_increase", 0.0)) < 1e-6
    assert deciding_alpha(mean(-values), region_of("no_increase", 0.0)) == 1.0
    assert deciding_alpha(exact(NAN), region_of("less", 0.0)) == 1.0


def test_all_and_any_are_dual() -> None:
    order = ("against", "undecided", "for")
    words = dict(zip(order, ("fails", "undecided", "holds"), strict=True))
    for decisions in product(order, repeat=3):
        found = {rule: combine_comparisons(decisions, rule) for rule in ("all", "any")}
        least, *_, most = sorted(decisions, key=order.index)
        assert found == {"all": words[least], "any": words[most]}


def test_comparisons_combine() -> None:
    for rule, decisions, expected in [
        ("all", [], "undecided"),
        ("any", [], "undecided"),
        ("all", ["for", "neither"], "not contradicted"),
        ("any", ["against", "neither"], "not contradicted"),
        ("all", ["neither", "undecided"], "undecided"),
        ("most", ["for"] * 3 + ["against"], "fails"),
        ("most", ["for"] * 9 + ["undecided"], "holds"),
        ("most", ["for"] * 8 + ["undecided"], "undecided"),
        ("most", ["for"] * 2, "undecided"),
    ]:
        assert combine_comparisons(decisions, rule) == expected


def test_within_the_indifference_a_number_is_neither_for_nor_against() -> None:
    region = region_of("greater", 0.0, indifference=0.1)
    pairs = {(0.1, 0.2): "for", (-0.05, -0.02): "neither", (-0.3, -0.2): "against"}
    pairs |= {(-0.2, -0.05): "undecided", (-0.05, 0.1): "undecided"}
    assert {ends: decide(*ends, region) for ends in pairs} == pairs


def test_parts_hold_together_fail_together_or_mix() -> None:
    for parts, expected in [
        ([], "undecided"),
        (["holds", "holds"], "holds"),
        (["fails", "fails"], "fails"),
        (["holds", "fails"], "mixed"),
        (["holds", "fails", "undecided"], "mixed"),
        (["holds", "undecided"], "undecided"),
        (["fails", "undecided"], "undecided"),
        (["undecided", "undecided"], "undecided"),
        (["holds", "not contradicted"], "not contradicted"),
        (["fails", "not contradicted"], "mixed"),
        (["mixed", "undecided"], "mixed"),
    ]:
        assert combine_parts({str(i): part for i, part in enumerate(parts)}) == expected


def test_runs_needed_would_decide() -> None:
    """At the number named, an interval of the same centre and sd just reaches the threshold."""
    noise = np.random.default_rng(5).normal(0.0, 1.0, 25)
    estimate = mean(0.2 + np.concatenate([noise, -noise]))
    needed = runs_needed(estimate, 0.05, region_of("greater", 0.0))
    lo, hi = estimate.interval(0.05)
    assert needed > 50
    shrunk = (hi - lo) / 2.0 * math.sqrt(50 / needed)
    assert shrunk == pytest.approx(abs(estimate.value), rel=1e-12)
    # On the threshold, without spread, without a number.
    for unbounded in (mean(np.array([-1.0, 1.0])), mean(np.array([1.0])), exact(NAN)):
        assert runs_needed(unbounded, 0.05, region_of("less", 0.0)) == INF


def test_slack_is_free_of_units() -> None:
    for factor in (1.0, 1000.0):
        below = slack(0.4 * factor, 0.6 * factor, region_of("less", 0.8 * factor))
        assert below == pytest.approx(0.25)
        assert slack(0.5 * factor, factor, region_of("greater", 0.0)) == pytest.approx(0.5)
    assert slack(1.2, 1.2, region_of("identity", 1.0, 0.1)) == pytest.approx(1.0)
