"""Statistics of ts-is-dp against the same numbers computed directly on made-up runs.

Results come from `ts_is_dp_results`.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpbandits.claims.evidence import Evidence
from dpbandits.errors import InputError
from dpbandits.papers.ts_is_dp import statistics, tuning_statistics
from dpbandits.pipeline.project import Project
from made_up_results import planned
from support import ROOT
from ts_is_dp_results import SLOPES, World, make

MAIN = (0, 500, 1000, 2000, 5000, 10000)
NAMES = ("bernoulli-verdicts", "small-steps", "comparison-verdicts", "price-of-privacy")
EVIDENCE = Evidence.of_frames({name: make(name, World()) for name in NAMES})
STUDY = Project.load(ROOT).study("ts-is-dp")
GAP = 0.25
HORIZON = 100_000
ARMS = {"family": "bernoulli"}


def regrets(eta: int, b: int, metric: str = "pseudo_regret") -> np.ndarray:
    """Final regrets of the runs, read without any of the code under test but `values`."""
    return EVIDENCE.values("bernoulli-verdicts", metric, HORIZON, eta=eta, b=b)


def means(eta: int, grid: tuple[int, ...] = MAIN) -> list[float]:
    """Mean final regrets over a grid of b."""
    return [float(regrets(eta, b).mean()) for b in grid]


def curves(world: World) -> Evidence:
    """Evidence of the curves of another world."""
    return Evidence.of_frames({"bernoulli-verdicts": make("bernoulli-verdicts", world)})


def test_family_arms_are_those_of_the_experiments() -> None:
    """Mean gaps 0.25 and 0.182399."""
    for family, gap in (("bernoulli", 0.25), ("truncated-exponential", 0.182399)):
        gaps = statistics.FAMILIES[family].gaps
        assert gaps.mean() == pytest.approx(gap, abs=5e-7)
        [series, *_] = planned("ts-is-dp", f"{family}-verdicts")
        assert gaps.tolist() == series.cell.bandit.gaps.tolist()


def test_final_slope_is_over_the_last_fifth_and_over_the_mean_gap() -> None:
    at = {
        t: EVIDENCE.values("bernoulli-verdicts", "pseudo_regret", t, eta=2, b=2000)
        for t in (80_000, HORIZON)
    }
    expected = ((at[HORIZON] - at[80_000]) / 20_000 / GAP).mean()
    found = statistics.final_slope(EVIDENCE, eta=2, b=2000, **ARMS)
    assert found.value == pytest.approx(expected)
    # The last fifth and not another part: a slope that changes where it begins.
    frame = make("bernoulli-verdicts", World())
    late = (frame["metric"] == "pseudo_regret") & (frame["t"] > 80_000)
    frame.loc[late, "value"] += 0.5 * (frame.loc[late, "t"] - 80_000)
    bent = Evidence.of_frames({"bernoulli-verdicts": frame})
    steeper = statistics.final_slope(bent, eta=2, b=2000, **ARMS)
    assert steeper.value - found.value == pytest.approx(0.5 / GAP)


def test_negligible_slopes_count_as_zero() -> None:
    """Below 1e-4 a round; 0.0003 and 0.0002 mean gaps are 7.5e-5 and 5e-5."""
    slopes = {**SLOPES, 5000: (0.01, 0.003, 0.0002), 10000: (0.004, 0.001, 0.0003)}
    evidence = curves(World(slopes=slopes))
    where = {"eta": 5, "b_grid": MAIN, **ARMS}
    steps = statistics.final_slope_steps(evidence, **where)
    assert steps["b=5000 to 10000"].interval(0.05) == (0.0, 0.0)
    assert steps["b=500 to 1000"].value == pytest.approx(-0.006 * GAP, rel=0.05)
    # tau-b of five falling steps with one tie.
    expected = stats.kendalltau(range(6), [5, 4, 3, 2, 1, 1]).statistic
    assert statistics.final_slope_trend(evidence, **where).value == pytest.approx(expected)


def test_falls_are_asked_for_where_the_smaller_slope_counts() -> None:
    """0.001 mean gaps are 2.5e-4 a round, above 1e-4; 0.0003 are 7.5e-5, below."""
    slopes = {**SLOPES, 5000: (0.01, 0.003, 0.0003), 10000: (0.004, 0.001, 0.0002)}
    falls = statistics.final_slope_falls(curves(World(slopes=slopes)), eta=5, b_grid=MAIN, **ARMS)
    assert list(falls) == ["b=0 to 500", "b=500 to 1000", "b=1000 to 2000"]
    assert falls["b=1000 to 2000"].value == pytest.approx(-0.003 * GAP, rel=0.05)


def test_slope_at_b_zero_is_compared_with_the_largest_other_one() -> None:
    found = statistics.zero_slope_ratio(EVIDENCE, eta=1, b_grid=MAIN, **ARMS)
    zero, other = (statistics.final_slope(EVIDENCE, eta=1, b=b, **ARMS).value for b in (0, 500))
    assert found.value == pytest.approx(zero / other)


def test_b_that_leaves_no_round_to_sample_in_has_no_slope() -> None:
    """Nor has b = 0 a slope after its pre-pulls."""
    found = statistics.slope_after_prepulls(EVIDENCE, eta=1, b_grid=(0, 500, 20_000), **ARMS)
    assert list(found) == ["b=500"]
    assert found["b=500"].value == pytest.approx(0.15, rel=0.02)
    steps = statistics.final_slope_steps(EVIDENCE, eta=1, b_grid=(*MAIN, 20_000), **ARMS)
    assert "b=10000 to 20000" not in steps


def test_slope_soon_after_is_over_as_many_rounds_as_the_pre_pulls_took() -> None:
    """b = 500: rounds 2500 to 5000. b = 20000 has no rounds left."""
    frame = make("bernoulli-verdicts", World())
    soon = (frame["metric"] == "pseudo_regret") & (frame["b"] == 500) & (frame["t"] == 5000)
    frame.loc[soon, "value"] += 250.0
    bent = Evidence.of_frames({"bernoulli-verdicts": frame})
    where = {"eta": 1, "b_grid": (0, 500, 20_000), **ARMS}
    before, after = (
        statistics.slope_soon_after_prepulls(evidence, **where) for evidence in (EVIDENCE, bent)
    )
    assert list(after) == ["b=500"]
    assert after["b=500"].value - before["b=500"].value == pytest.approx(0.1 / GAP)


def test_pre_pulls_are_checked_at_every_recorded_time() -> None:
    where = {"eta": 1, "b_grid": (0, 500, 20_000), **ARMS}
    clean = statistics.prepull_deviation(EVIDENCE, **where)
    assert list(clean) == ["b=500", "b=20000"]
    assert max(each.value for each in clean.values()) < 1e-9
    frame = make("bernoulli-verdicts", World())
    mask = (frame["eta"] == 1) & (frame["b"] == 500) & (frame["metric"] == "pseudo_regret")
    row = frame.index[mask & (frame["t"] == 1000)][0]
    frame.loc[row, "value"] += 0.125
    moved = Evidence.of_frames({"bernoulli-verdicts": frame})
    assert statistics.prepull_deviation(moved, **where)["b=500"].value == pytest.approx(0.125)


def test_pre_pull_slopes_grow_with_the_arm_and_a_concave_curve_is_noticed() -> None:
    where = {"eta": 1, "b_grid": (20_000,), **ARMS}
    assert statistics.prepull_bend(EVIDENCE, **where)["b=20000"].value >= -1e-12
    frame = make("bernoulli-verdicts", World())
    mask = (frame["b"] == 20_000) & (frame["metric"] == "pseudo_regret")
    frame.loc[mask, "value"] = np.sqrt(frame.loc[mask, "t"])
    concave = Evidence.of_frames({"bernoulli-verdicts": frame})
    assert statistics.prepull_bend(concave, **where)["b=20000"].value < -0.01


def test_relative_errors_are_those_of_an_average_over_ten_runs() -> None:
    """Squares of normal runs have a skewness of 2.8: fewer than 200 of them have no interval."""
    many = curves(World(runs=400))
    regret = statistics.final_regret(many, "bernoulli", 5, 500, "realised_regret")
    found = statistics.relative_error(regret, 10)
    values = many.values("bernoulli-verdicts", "realised_regret", HORIZON, eta=5, b=500)
    assert found.value == pytest.approx(values.std(ddof=1) / np.sqrt(10) / values.mean())
    lo, hi = found.interval(0.05)
    # A standard deviation from 400 runs is known to 1/sqrt(800) = 3.5 %, twice to either side.
    assert hi / lo == pytest.approx(1.15, abs=0.05)
    largest = statistics.largest_relative_error(
        EVIDENCE, b_grid=(0, 500), metric="realised_regret", averaged_runs=10, **ARMS
    )
    each = [
        regrets(eta, b, "realised_regret").std(ddof=1)
        / np.sqrt(10)
        / regrets(eta, b, "realised_regret").mean()
        for eta in (1, 2, 5)
        for b in (0, 500)
    ]
    assert largest.value == pytest.approx(max(each))


def test_runs_that_all_agree_have_no_error() -> None:
    """b = 20000 is nothing but pre-pulls, whatever the rewards."""
    regret = statistics.final_regret(EVIDENCE, "bernoulli", 1, 20_000)
    found = statistics.relative_error(regret, 10)
    assert found.interval(1e-9) == (0.0, 0.0)


def test_best_of_the_grid_against_its_ends() -> None:
    own = means(2)
    where = {"eta": 2, "b_grid": MAIN, **ARMS}
    ends, interior = min(own[0], own[-1]), own[1:-1]
    gain = tuning_statistics.interior_gain(EVIDENCE, **where)
    assert gain.value == pytest.approx(ends - min(interior))
    ratio = tuning_statistics.interior_ratio(EVIDENCE, **where)
    assert ratio.value == pytest.approx(min(interior) / ends)
    margin = tuning_statistics.extremes_margin(EVIDENCE, **where)
    assert margin.value == pytest.approx(ends - sorted(own)[-3])
    realised = tuning_statistics.interior_gain(EVIDENCE, metric="realised_regret", **where)
    expected = [regrets(2, b, "realised_regret").mean() for b in MAIN]
    assert realised.value == pytest.approx(min(expected[0], expected[-1]) - min(expected[1:-1]))


def test_points_with_c_below_one_can_be_left_out() -> None:
    """At eta = 5, b = 5000 and 10000 have c = 0.8 and 0.4, so that 2000 is the end."""
    where = {"eta": 5, **ARMS}
    kept = tuning_statistics.interior_gain(EVIDENCE, b_grid=MAIN, c_range="at-least-1", **where)
    expected = regrets(5, 2000).mean() - min(regrets(5, 500).mean(), regrets(5, 1000).mean())
    assert kept.value == pytest.approx(expected)
    with pytest.raises(InputError, match=r"2 values with c of at least 1 at eta=5.*at least 3"):
        tuning_statistics.interior_gain(
            EVIDENCE, b_grid=(0, 500, 10_000), c_range="at-least-1", **where
        )


def test_best_b_moves_one_place_in_the_made_up_world() -> None:
    where = {"b_grid": MAIN, **ARMS}
    assert tuning_statistics.best_b_shift(EVIDENCE, **where).value == 1.0
    assert tuning_statistics.best_b_fall(EVIDENCE, **where).value == 1.0
    mirrored = replace(World(), slopes={b: values[::-1] for b, values in SLOPES.items()})
    assert tuning_statistics.best_b_shift(curves(mirrored), **where).value == 1.0
    assert tuning_statistics.best_b_fall(curves(mirrored), **where).value == -1.0


def numbers(name: str) -> dict[str, float]:
    """Return the numbers of the comparisons of a claim or finding that are of series, by label."""
    [claim] = [each for each in STUDY.stated if each.id == name]
    evidence = EVIDENCE.of_results(claim.reads)
    answers = {}
    for comparison in filter(lambda each: each.is_of_series, claim.comparisons):
        for variables in comparison.bindings(claim.settings(claim.interpretations[0])):
            label = comparison.name.format(**variables)
            for point, number in comparison.call(evidence, variables).items():
                answers[f"{label} [{point}]" if point else label] = number.value
    return answers


def test_changes_of_regret_are_later_minus_earlier_and_drops_the_reverse() -> None:
    found = numbers("TSDP-C11a")
    expected = regrets(2, 0).mean() - regrets(1, 0).mean()
    assert found["change of regret to the next weaker level [b=0, eta=1 to 2]"] == pytest.approx(
        expected
    )
    drop = regrets(1, 500).mean() - regrets(5, 500).mean()
    assert found["drop of regret from eta=1 to eta=5 [b=500]"] == pytest.approx(drop)


def test_drops_are_compared_from_b_to_b_with_b_zero_and_in_two_groups() -> None:
    drops = np.array(means(1)) - np.array(means(5))
    found = numbers("TSDP-C11b")
    step = found["change of the drop to the next b [b=500 to 1000]"]
    assert step == pytest.approx(drops[2] - drops[1])
    excess = found["drop of regret at b=500 minus that at b=0"]
    assert excess == pytest.approx(drops[1] - drops[0])
    margin = tuning_statistics.drop_margin(EVIDENCE, b_grid=MAIN, largest_b=2000, **ARMS)
    assert margin.value == pytest.approx(drops[:4].min() - drops[4:].max())


def test_regrets_by_themselves_and_in_shares() -> None:
    assert tuning_statistics.uniform_regret(EVIDENCE, **ARMS).value == pytest.approx(25_000)
    share = tuning_statistics.prepull_share(EVIDENCE, eta=1, b=10_000, **ARMS)
    assert share.value == pytest.approx(12_500 / regrets(1, 10_000).mean())
    zero, *others = means(1)
    found = tuning_statistics.zero_over_largest(EVIDENCE, eta=1, b_grid=MAIN, **ARMS)
    assert found.value == pytest.approx(zero / max(others))


@pytest.mark.parametrize("b", [0, 3999])
def test_the_best_pair_is_compared_with_one_parameter_alone(b: int) -> None:
    best, single = min(means(5)[1:-1]), regrets(5, b).mean()
    where = {"eta": 5, "b": b, "b_grid": MAIN, **ARMS}
    ratio = tuning_statistics.best_over_single(EVIDENCE, **where)
    assert ratio.value == pytest.approx(best / single)
    difference = tuning_statistics.best_minus_single(EVIDENCE, **where)
    assert difference.value == pytest.approx(best - single)


def test_single_parameters_are_compared_with_the_pairs_of_the_range_of_c() -> None:
    """At eta = 5 a best pair at b = 5000 has c = 0.8."""
    slopes = {**SLOPES, 500: (0.1, 0.1, 0.4), 1000: (0.1, 0.1, 0.4), 2000: (0.1, 0.1, 0.4)}
    evidence = curves(World(slopes=slopes))
    where = {"eta": 5, "b": 0, "b_grid": MAIN, **ARMS}
    found = [
        tuning_statistics.best_over_single(evidence, c_range=each, **where).value
        for each in ("any", "at-least-1")
    ]
    assert found[0] < found[1]


def contender(algorithm: str, eta: int, **interpretations: str) -> float:
    """Mean final regret of an algorithm of Figure 8."""
    where = {"algorithm": algorithm, "eta": eta, **interpretations}
    return float(EVIDENCE.values("comparison-verdicts", "pseudo_regret", **where).mean())


def test_figure_8_compares_at_one_level_and_in_one_interpretation() -> None:
    interpretation = {"log": "natural"}
    lazy = {eta: contender("anytime-lazy-ucb", eta, log="natural") for eta in (1, 5)}
    tuned = {eta: contender("m-ts-gaussian", eta, c_range="at-least-1") for eta in (1, 5)}
    ratios = {eta: tuned[eta] / min(lazy[eta], contender("dp-se", eta)) for eta in (1, 5)}
    found = statistics.ratio_to_best_baseline(EVIDENCE, eta=1, **interpretation)
    assert found.value == pytest.approx(ratios[1])
    change = statistics.ratio_change(EVIDENCE, eta=1, weaker_eta=5, **interpretation)
    assert change.value == pytest.approx(ratios[5] - ratios[1])


def test_prices_are_against_plain_thompson_sampling() -> None:
    """c (b + 1) is above 2 or 2; sqrt(T/2) is the level of (0, 1) by Lemma 4."""
    plain = EVIDENCE.values("small-steps", "pseudo_regret", b=0, c=1).mean()
    found = numbers("TSDP-C25")
    for eta, simulation in ((5, "comparison-verdicts"), (20, "price-of-privacy")):
        where = {"algorithm": "m-ts-gaussian", "eta": eta, "c_range": "at-least-1"}
        tuned = EVIDENCE.values(simulation, "pseudo_regret", **where).mean()
        label = f"regret minus the regret at (0, 1) [tuned, eta={eta}]"
        assert found[label] == pytest.approx(tuned - plain)
    for (b, c), more in {(10, 1): "", (1, 2): "", (0, 2): ", no tighter"}.items():
        other = EVIDENCE.values("small-steps", "pseudo_regret", b=b, c=c).mean()
        label = f"regret minus the regret at (0, 1){more} [(b, c) = ({b}, {c})]"
        assert found[label] == pytest.approx(other - plain)
    level = statistics.level_of_pair(EVIDENCE, b=10, c=1)
    assert level.value == pytest.approx(np.sqrt(HORIZON / 11))
