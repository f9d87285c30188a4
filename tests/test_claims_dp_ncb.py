"""What claims of dp-ncb measure on made-up Nash regrets that are known."""

import math

import numpy as np
import pandas as pd
import pytest

from dp_ncb_results import BEST, EXACT, World, changed, make, steeper, verdict_of
from dpbandits.claims.evidence import Evidence, Series
from dpbandits.claims.judge import Judgement, judge
from dpbandits.claims.ledger import ledger
from dpbandits.papers.dp_ncb.exact_statistics import phase_one_outside, runs_with_weak_pulls
from dpbandits.papers.dp_ncb.quantities import crossing_time, time_below, time_below_ratio
from dpbandits.pipeline.project import Project
from made_up_results import at, times
from support import ROOT

DP_NCB = Project.load(ROOT).study("dp-ncb")
GDP, LDP = "gdp-ncb", "ldp-ncb"


def values(found: Judgement) -> dict[str, float]:
    """The numbers of a verdict by the labels of their comparisons."""
    return {each.label: each.estimate.value for each in found.comparisons}


def against(found: Judgement) -> list[str]:
    """The labels of the comparisons against a claim."""
    return [each.label for each in found.comparisons if each.decision == "against"]


def evidence_of(world: World, *names: str) -> Evidence:
    """Evidence over some results in a world."""
    return Evidence.of_frames({name: make(name, world) for name in names})


def curve(world: World, name: str, **tags: object) -> Series:
    """Return a Nash curve of made-up results."""
    return Series(evidence_of(world, name), {"in": name, "metric": "nash_regret", **tags})


def test_the_best_mean_that_there_is_decides_and_the_drawn_one_is_reported() -> None:
    """Against a best mean of 1 the Nash regret of the same runs is 0.03 higher."""
    found = verdict_of("NCB-C2", World(), "as-coded")
    decides, drawn = found.comparisons
    assert decides.estimate.value == pytest.approx(0.009 / 0.038, rel=1e-6)
    assert drawn.estimate.value == pytest.approx(0.009 / (0.038 + 1.0 - BEST), rel=1e-6)
    assert (decides.decision, drawn.decision) == ("for", "reported")
    low = changed(times(0.2, algorithm="adap-ucb"))
    assert verdict_of("NCB-C2", low, "as-coded").verdict == "fails"


def test_each_ldp_baseline_is_read_in_its_own_row() -> None:
    low = changed(times(0.01, algorithm="ldp-ucb-l", variant="as-written"))
    coded, cited = (
        verdict_of("NCB-C3", low, "as-coded", ldp_ucb=each)
        for each in ("as coded (clipped)", "as its paper has it")
    )
    assert (coded.verdict, cited.verdict) == ("holds", "fails")


def test_controlled_is_asked_of_the_growth_alone() -> None:
    """C1c: from 0.8 to 0.7 it falls, from 0.05 to 0.06 it does not."""
    for begin, end, verdict in ((0.8, 0.7, "holds"), (0.05, 0.06, "fails")):
        change = changed(
            at(begin, algorithm=GDP, simulation="panel-a-verdicts", horizon=100),
            at(end, algorithm=GDP, simulation="panel-a-verdicts", horizon=1000),
        )
        found = verdict_of("NCB-C1c", change, "repaired", epsilon=0.2)
        assert found.verdict == verdict
        assert values(found)["GDP-NCB at T=1000 over T=100"] == pytest.approx(end / begin)


def test_slopes_are_those_made_up_and_an_order_has_room_between_the_rates() -> None:
    found = verdict_of("NCB-C9a", World(), "repaired")
    assert values(found)["slope of ldp-ncb"] == pytest.approx(-0.55, abs=1e-3)
    assert values(found)["slope of gdp-ncb"] == pytest.approx(-0.95, abs=1e-3)
    for power, verdict in (
        (-0.4, "not contradicted"),
        (0.0, "not contradicted"),
        (-0.5, "fails"),
        (0.1, "fails"),
    ):
        made = changed(steeper(power, algorithm=LDP))
        assert verdict_of("NCB-C9b", made, "repaired").verdict == verdict


def test_a_level_is_reached_at_the_time_made_up() -> None:
    """0.075 s^-0.95 = 0.1 at s = 0.7387; the interval is that of one run's spread by 0.95."""
    series = curve(World(), "panels-c-to-e", variant="repaired", algorithm=GDP, epsilon=0.2)
    found = time_below(series, level=0.1)
    assert found.value == pytest.approx(0.75 ** (1 / 0.95) * 1e7, rel=1e-3)
    lo, hi = found.interval(0.05)
    assert lo < found.value < hi
    # 0.01 / sqrt(50) on the logarithm of Nash regret, over the slope; two parts make it larger.
    assert math.log(hi / lo) == pytest.approx(2 * 2.01 * 0.01 / math.sqrt(50) / 0.95, rel=0.3)


def test_a_level_that_is_not_reached_counts_as_reached_at_the_horizon() -> None:
    flat = World(changed(at(0.3, algorithm=GDP)).change)
    pair = [
        curve(flat, "panels-c-to-e", variant="repaired", algorithm=name, epsilon=0.2)
        for name in (GDP, LDP)
    ]
    assert time_below(pair[0], level=0.1).value == pytest.approx(1e7)
    assert time_below_ratio(*pair, level=0.2).value > 1.0
    # Neither falls below 0.01, which says nothing of their order.
    assert math.isnan(time_below_ratio(*pair, level=0.01).value)


def test_four_laws_are_scored_both_ways() -> None:
    change = changed(times(0.4, algorithm=LDP, simulation="panel-f", nominal=True))
    for variant in ("as-coded", "repaired"):
        assert verdict_of("NCB-C11", change, variant, scored="nominal").verdict == "fails"
        assert verdict_of("NCB-C11", change, variant, scored="true").verdict == "holds"


def test_four_laws_are_compared_with_the_order_that_panel_e_has() -> None:
    """LDP-NCB below GDP-NCB in both panels is the same order; in (e) alone it is another."""
    both = changed(times(0.45, algorithm=LDP, horizon=10**7))
    alone = changed(times(0.45, algorithm=LDP, simulation="panels-c-to-e"))
    assert verdict_of("NCB-C11", both, "repaired", scored="true").verdict == "holds"
    assert verdict_of("NCB-C11", alone, "repaired", scored="true").verdict == "fails"


def test_an_unclear_order_in_panel_e_leaves_four_laws_undecided() -> None:
    """GDP-NCB and LDP-NCB are tied in (e), and clearly apart in (f)."""
    where = {"simulation": "panels-c-to-e", "epsilon": 0.2}
    tied = changed(*(at(0.1, algorithm=each, **where) for each in (GDP, LDP)))
    found = verdict_of("NCB-C11", tied, "repaired", scored="true")
    assert found.verdict == "undecided"
    unclear = [each.label for each in found.comparisons if math.isnan(each.estimate.value)]
    assert unclear == [f"four laws at t={share} T [gdp-ncb over ldp-ncb]" for share in (0.3, 1)]


def test_rising_curves_of_four_laws_are_no_similar_trend() -> None:
    found = verdict_of(
        "NCB-C11",
        changed(steeper(1.0, algorithm="ncb", simulation="panel-f")),
        "as-coded",
        scored="nominal",
    )
    assert found.verdict == "fails"
    assert against(found) == ["Nash regret at T over that at 0.3 T [ncb]"]


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("NCB-C18b", "GDP-NCB over NCB at T=100000000"),
        ("NCB-C20b", "GDP-NCB over NCB at epsilon=2"),
    ],
)
def test_the_number_of_a_row_is_the_cost_that_the_remark_is_about(claim: str, shown: str) -> None:
    found = verdict_of(claim, World(), "as-coded")
    row = ledger([found]).iloc[0]
    assert row["estimate"] == pytest.approx(values(found)[shown])
    assert f"number shown: {shown}, without a threshold" in row["detail"]
    assert "binding comparison: change of" in row["detail"]


def test_the_cost_of_privacy_with_the_same_phase_one_is_shown_for_the_repaired_variant() -> None:
    label = "GDP-NCB over NCB of the same Phase I and width at T={}"
    found = verdict_of("NCB-C18b", World(), "repaired")
    assert values(found)[label.format(10**7)] == pytest.approx(0.075 / 0.0155)
    assert values(found)[label.format(10**8)] == pytest.approx(0.009 / 0.0155)
    assert label.format(10**8) not in values(verdict_of("NCB-C18b", World(), "as-coded"))


def test_the_terms_of_the_bound_balance_where_remark_2_says() -> None:
    """sqrt(50/T) L^1.5 is 0.363, 0.145 and 0.056; the ratio at epsilon = 0.2, T = 1e7 is 0.723."""
    found = verdict_of("NCB-C18a", World(), "as-written")
    balances = [values(found)[f"sqrt(k/T) log^1.5 T [T=1e+0{power}]"] for power in (6, 7, 8)]
    assert balances == pytest.approx([0.3631, 0.1447, 0.0559], abs=1e-4)
    terms = values(verdict_of("NCB-C20a", World(), "as-written"))
    assert terms["ratio of the terms at T=1e7 [epsilon=0.2]"] == pytest.approx(0.7235, abs=1e-4)


def test_slopes_over_epsilon_may_lie_anywhere_between_the_orders() -> None:
    for factor, verdict in ((0.45, "not contradicted"), (0.35, "fails"), (1.05, "fails")):
        made = changed(at(factor * 0.14, algorithm=LDP, epsilon=0.5))
        found = verdict_of("NCB-C21", made, "repaired")
        assert found.verdict == verdict
        slope = math.log(factor) / math.log(2.5)
        assert values(found)["slope from epsilon=0.2 to 0.5"] == pytest.approx(slope, abs=1e-6)


def test_the_cost_of_not_knowing_the_horizon_is_that_made_up() -> None:
    """1.5 t^0.05 at the ends of windows: from t = 2^17 - 1 to 2^23 - 1."""
    [finding] = [each for each in DP_NCB.findings if each.id == "NCB-F11"]
    rows = judge([finding], evidence_of(World(), "anytime", "known-horizon"))
    asked = f"algorithm={LDP}", "repaired"
    [found] = [
        row for row in rows if (row.interpretation.label, row.interpretation.variant) == asked
    ]
    ends = np.array([2**17 - 1, 2**23 - 1])
    costs = [values(found)[f"{name} cost"] for name in ("smallest", "largest")]
    assert costs == pytest.approx(1.5 * ends**0.05, rel=1e-3)
    growth = found.comparisons[0]
    assert growth.estimate.value == pytest.approx(2**0.05, rel=1e-6)
    assert growth.lo > 1.0


def test_phase_one_is_found_in_the_bins() -> None:
    """C13: made up to end at 0.19 and 0.024 T; kS is 1.20e5 and 1.47e5."""
    found = values(verdict_of("NCB-C13", World(), "as-written", algorithm=GDP))
    assert found["mean length over kS [T=1e+09]"] == pytest.approx(1583, abs=5)
    assert found["mean length over kS [T=1e+10]"] == pytest.approx(1628, abs=35)
    assert found["predicted length over kS [T=1e+09]"] == pytest.approx(1600)


@pytest.mark.parametrize(("pulls", "count"), [(22.0, 0.0), (23.0, 200.0)])
def test_weak_arms_pulled_more_often_than_phase_one_has_rounds(pulls: float, count: float) -> None:
    """F14: W = 1001 at T = 1e6, one more for LDP-NCB as coded; 45 weak arms have 22 or 23 each."""
    frame = make("weak-arms", World())
    frame["value"] *= pulls / 10.0
    evidence = Evidence.of_frames({"weak-arms": frame})
    for algorithm in (GDP, LDP):
        for variant in ("as-coded", "repaired"):
            found = runs_with_weak_pulls(evidence, variant=variant, algorithm=algorithm)
            assert found.value == count


def test_the_bias_is_subtracted_from_every_nash_regret_but_not_in_remark_1() -> None:
    """A bias b of log G makes a Nash regret b G lower; averages are held against the plain one."""
    biased = World(bias=1e-3)
    for variant in ("as-coded", "repaired"):
        plain, less = (verdict_of("NCB-C2", made, variant) for made in (World(), biased))
        adap = 0.038
        expected = (0.009 - 1e-3 * (BEST - 0.009)) / (adap - 1e-3 * (BEST - adap))
        assert plain.comparisons[0].estimate.value == pytest.approx(0.009 / adap)
        assert less.comparisons[0].estimate.value == pytest.approx(expected, rel=1e-3)
        same = [values(verdict_of("NCB-C14", made, variant)) for made in (World(), biased)]
        assert same[0] == same[1]


def test_the_crossing_is_the_last_time_at_which_the_curves_meet() -> None:
    """0.009 s^-0.95 meets a flat curve of 0.03 between 0.25 and 0.3 T; linear in log t there."""
    flat = changed(at(0.03, algorithm="adap-ucb", simulation="panel-b"))
    pair = [
        curve(flat, "panel-b", variant="as-coded", algorithm=name) for name in (GDP, "adap-ucb")
    ]
    found = crossing_time(*pair)
    ends = np.array([0.25, 0.3])
    above = 0.009 * ends**-0.95 - 0.03
    place = np.interp(0.0, above[::-1], np.log(ends[::-1]))
    assert found.value == pytest.approx(math.exp(place) * 1e8, rel=1e-3)
    better = changed(at(0.001, algorithm="adap-ucb", simulation="panel-b"))
    pair = [
        curve(better, "panel-b", variant="as-coded", algorithm=name) for name in (GDP, "adap-ucb")
    ]
    assert math.isnan(crossing_time(*pair).value)


def test_nash_regret_is_held_against_the_bound_of_theorem_1() -> None:
    found = values(verdict_of("NCB-C17", World(), "as-written"))
    for horizon, regret in ((10**9, 0.001), (10**10, 0.0001)):
        bound = EXACT.at("bounds", theorem=1, quantity="bound", x=horizon)
        label = f"Nash regret minus its bound [T={horizon:.0e}]"
        assert found[label] == pytest.approx(regret - bound, abs=1e-9)
    # At smaller T the best mean is below what the proof asks for.
    assert not any("minus its bound [T=1e+08]" in label for label in found)


def test_phase_one_outside_its_range_is_counted_in_every_run() -> None:
    """Half of the runs rise at once, which is before 512 k S."""
    frame = make("phase-lengths", World())
    assert {each.value for each in phase_one_outside(lengths(frame)).values()} == {0.0}
    early = frame["run"] < frame["run"].median()
    frame.loc[early, "value"] = frame["value"].max()
    counts = phase_one_outside(lengths(frame))
    for horizon in (10**9, 10**10):
        rows = frame[(frame["horizon"] == horizon) & (frame["algorithm"] == GDP)]
        runs = rows.loc[early[rows.index] & (rows["variant"] == "as-written"), "run"].nunique()
        assert counts[f"T={horizon:.0e}"].value == runs > 0


def lengths(frame: pd.DataFrame) -> Evidence:
    return Evidence.of_frames({"phase-lengths": frame})
