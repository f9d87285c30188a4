"""Statistics of ts-is-dp against the same numbers computed directly on made-up runs.

Rules are those of the spec's section 5; results come from `synthetic`.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from claims.synthetic import BANDITS, SLOPES, World, make
from dpbandits.claims import Evidence
from dpbandits.errors import InputError
from dpbandits.papers.ts_is_dp import (
    comparison_statistics,
    regret_statistics,
    tuning_statistics,
)

MAIN = (0, 500, 1000, 2000, 5000, 10000)
NAMES = ("bernoulli-verdicts", "small-steps", "comparison-verdicts", "price-of-privacy")
EVIDENCE = Evidence.of_frames({name: make(name, World()) for name in NAMES}, root_seed=1)
GAP = 0.25
HORIZON = 100_000


def regrets(
    eta: int, b: int, accounting: str = "lemma5", metric: str = "pseudo_regret"
) -> np.ndarray:
    """Final regrets of the runs, read without any of the code under test but `values`."""
    where = {"eta": eta, "b": b, "accounting": accounting}
    return EVIDENCE.values("bernoulli-verdicts", metric, HORIZON, **where)


def curves(world: World) -> Evidence:
    return Evidence.of_frames(
        {"bernoulli-verdicts": make("bernoulli-verdicts", world)}, root_seed=1
    )


def test_family_arms_are_those_of_the_experiments() -> None:
    """Spec, sections 1 and 2.2: mean gaps 0.25 and 0.182399, gap sums 1.25 and 0.911996."""
    for family, gap in (("bernoulli", 0.25), ("truncated-exponential", 0.182399)):
        gaps = regret_statistics.FAMILIES[family].gaps
        assert gaps.mean() == pytest.approx(gap, abs=5e-7)
        assert gaps.tolist() == BANDITS[family].gaps.tolist()


def test_final_slope_is_over_the_last_fifth_and_over_the_mean_gap() -> None:
    at = {
        t: EVIDENCE.values("bernoulli-verdicts", "pseudo_regret", t, eta=2, b=2000)
        for t in (80_000, HORIZON)
    }
    expected = ((at[HORIZON] - at[80_000]) / 20_000 / GAP).mean()
    found = regret_statistics.final_slope(EVIDENCE, family="bernoulli", eta=2, b=2000)
    assert found.value == pytest.approx(expected)
    # The last fifth and not another part: a slope that changes where it begins.
    frame = make("bernoulli-verdicts", World())
    late = (frame["metric"] == "pseudo_regret") & (frame["t"] > 80_000)
    frame.loc[late, "value"] += 0.5 * (frame.loc[late, "t"] - 80_000)
    bent = Evidence.of_frames({"bernoulli-verdicts": frame}, root_seed=1)
    steeper = regret_statistics.final_slope(bent, family="bernoulli", eta=2, b=2000)
    assert steeper.value - found.value == pytest.approx(0.5 / GAP)


def test_accounting_chooses_between_the_lemmas_at_b_zero_alone() -> None:
    for accounting, slope in (("lemma5", 0.98), ("lemma4", 0.95)):
        found = regret_statistics.final_slope(
            EVIDENCE, family="bernoulli", eta=1, b=0, accounting=accounting
        )
        # 100 runs with a relative sd of 5 %: four standard errors.
        assert found.value == pytest.approx(slope, rel=0.02)
    both = [
        regret_statistics.final_slope(EVIDENCE, family="bernoulli", eta=1, b=500, accounting=name)
        for name in ("lemma5", "lemma4")
    ]
    assert both[0] == both[1]


def test_negligible_slopes_count_as_zero() -> None:
    """Spec 5.0: below 1e-4; 0.0003 and 0.0002 mean gaps are 7.5e-5 and 5e-5."""
    slopes = {**SLOPES, 5000: (0.01, 0.003, 0.0002), 10000: (0.004, 0.001, 0.0003)}
    evidence = curves(World(slopes=slopes))
    where = {"family": "bernoulli", "eta": 5, "b_grid": MAIN}
    steps = regret_statistics.final_slope_steps(evidence, **where)
    assert steps["b=5000 to 10000"].interval(0.05) == (0.0, 0.0)
    assert steps["b=500 to 1000"].value == pytest.approx(-0.006 * GAP, rel=0.05)
    # tau-b of five falling steps with one tie.
    expected = stats.kendalltau(range(6), [5, 4, 3, 2, 1, 1]).statistic
    assert regret_statistics.final_slope_trend(evidence, **where).value == pytest.approx(expected)


def test_b_that_leaves_no_round_to_sample_in_has_no_slope() -> None:
    found = regret_statistics.slope_after_prepulls(
        EVIDENCE, family="bernoulli", eta=1, b_grid=(100, 500, 20_000), smallest_b=500
    )
    assert list(found) == ["b=500"]
    assert found["b=500"].value == pytest.approx(0.15, rel=0.02)
    steps = regret_statistics.final_slope_steps(
        EVIDENCE, family="bernoulli", eta=1, b_grid=(*MAIN, 20_000)
    )
    assert "b=10000 to 20000" not in steps


def test_pre_pulls_are_checked_at_every_recorded_time() -> None:
    where = {"family": "bernoulli", "eta": 1, "b_grid": (0, 500, 20_000)}
    clean = regret_statistics.prepull_deviation(EVIDENCE, **where)
    assert list(clean) == ["b=500", "b=20000"]
    assert max(each.value for each in clean.values()) < 1e-9
    frame = make("bernoulli-verdicts", World())
    mask = (frame["eta"] == 1) & (frame["b"] == 500) & (frame["metric"] == "pseudo_regret")
    row = frame.index[mask & (frame["t"] == 1000)][0]
    frame.loc[row, "value"] += 0.125
    moved = Evidence.of_frames({"bernoulli-verdicts": frame}, root_seed=1)
    assert regret_statistics.prepull_deviation(moved, **where)["b=500"].value == pytest.approx(
        0.125
    )


def test_pre_pull_slopes_grow_with_the_arm_and_a_concave_curve_is_noticed() -> None:
    where = {"family": "bernoulli", "eta": 1, "b_grid": (20_000,)}
    assert regret_statistics.prepull_bend(EVIDENCE, **where)["b=20000"].value >= -1e-12
    frame = make("bernoulli-verdicts", World())
    mask = (frame["b"] == 20_000) & (frame["metric"] == "pseudo_regret")
    frame.loc[mask, "value"] = np.sqrt(frame.loc[mask, "t"])
    concave = Evidence.of_frames({"bernoulli-verdicts": frame}, root_seed=1)
    assert regret_statistics.prepull_bend(concave, **where)["b=20000"].value < -0.01


@pytest.mark.parametrize(("b", "horizon"), [(0, 50), (1, 50), (7, 50), (10, 50), (12, 50)])
def test_pre_pull_sums_are_those_of_the_rounds_played_one_by_one(b: int, horizon: int) -> None:
    """Five arms; the last case is cut by the horizon."""
    sums, pulls = np.zeros(5), np.zeros(5)
    for arm in np.repeat(np.arange(5), b)[:horizon]:
        sums += np.where(pulls > 0, 1.0 / (pulls + 1.0), 0.0)
        pulls[arm] += 1
    assert regret_statistics._prepull_sums(b, 5, horizon) == pytest.approx(sums)


def test_realised_levels_are_over_lemma_5() -> None:
    """All rounds: root of the largest arm's sum over c, over sqrt(T/(c (b + 1)))."""
    where = {"family": "bernoulli", "eta": 2, "b_grid": (500,)}
    sums = EVIDENCE.per_arm("bernoulli-verdicts", "inverse_counts", eta=2, b=500)
    expected = np.sqrt(sums.max(axis=1) / (HORIZON / 501)).mean()
    found = regret_statistics.realised_levels(EVIDENCE, rounds="all", **where)["b=500"]
    assert found.value == pytest.approx(expected)
    sampled = regret_statistics.realised_levels(EVIDENCE, rounds="sampled", **where)["b=500"]
    rest = sums - regret_statistics._prepull_sums(500, 5, HORIZON)
    assert sampled.value == pytest.approx(np.sqrt(rest.max(axis=1) / (HORIZON / 501)).mean())
    assert sampled.value < found.value


def test_relative_errors_are_those_of_an_average_over_ten_runs() -> None:
    found = regret_statistics.relative_errors(
        EVIDENCE, family="bernoulli", b_grid=(0, 500), metric="realised_regret", averaged_runs=10
    )
    values = regrets(5, 500, metric="realised_regret")
    assert found["eta=5, b=500"].value == pytest.approx(
        values.std(ddof=1) / np.sqrt(10) / values.mean()
    )
    lo, hi = found["eta=5, b=500"].interval(0.05)
    # A standard deviation from 100 runs is known to 1/sqrt(200) = 7 %, twice to either side.
    assert hi / lo == pytest.approx(1.32, abs=0.12)


def test_best_of_the_grid_against_its_ends() -> None:
    means = [regrets(2, b).mean() for b in MAIN]
    where = {
        "family": "bernoulli",
        "eta": 2,
        "b_grid": MAIN,
        "accounting": "lemma5",
        "metric": "pseudo_regret",
    }
    ends, interior = min(means[0], means[-1]), means[1:-1]
    gain = tuning_statistics.interior_gain(EVIDENCE, **where)
    assert gain.value == pytest.approx(ends - min(interior))
    ratio = tuning_statistics.interior_ratio(EVIDENCE, **where)
    assert ratio.value == pytest.approx(min(interior) / ends)
    margin = tuning_statistics.extremes_margin(EVIDENCE, **where)
    assert margin.value == pytest.approx(ends - sorted(means)[-3])


def test_points_with_c_below_one_can_be_left_out() -> None:
    """Spec, E10: at eta = 5, b = 5000 and 10000 have c = 0.8 and 0.4, so that 2000 is the end."""
    where = {"family": "bernoulli", "eta": 5, "accounting": "lemma5", "metric": "pseudo_regret"}
    kept = tuning_statistics.interior_gain(EVIDENCE, b_grid=MAIN, c_range="at-least-1", **where)
    expected = regrets(5, 2000).mean() - min(regrets(5, 500).mean(), regrets(5, 1000).mean())
    assert kept.value == pytest.approx(expected)
    with pytest.raises(InputError, match=r"2 values with c of at least 1 at eta=5.*at least 3"):
        tuning_statistics.interior_gain(
            EVIDENCE, b_grid=(0, 500, 10_000), c_range="at-least-1", **where
        )


def test_best_b_moves_one_place_in_the_made_up_world() -> None:
    where = {"family": "bernoulli", "b_grid": MAIN, "accounting": "lemma5"}
    assert tuning_statistics.best_b_shift(EVIDENCE, **where).value == 1.0
    assert tuning_statistics.best_b_fall(EVIDENCE, **where).value == 1.0
    mirrored = replace(World(), slopes={b: values[::-1] for b, values in SLOPES.items()})
    assert tuning_statistics.best_b_shift(curves(mirrored), **where).value == 1.0
    assert tuning_statistics.best_b_fall(curves(mirrored), **where).value == -1.0


def test_changes_of_regret_are_later_minus_earlier() -> None:
    where = {"family": "bernoulli", "b_grid": MAIN, "accounting": "lemma4"}
    rises = tuning_statistics.regret_rises(EVIDENCE, **where)
    assert len(rises) == 2 * len(MAIN)
    expected = regrets(2, 0, "lemma4").mean() - regrets(1, 0, "lemma4").mean()
    assert rises["b=0, eta=1 to 2"].value == pytest.approx(expected)
    changes = tuning_statistics.regret_changes(EVIDENCE, largest_b=2000, **where)
    assert list(changes) == ["b=0", "b=500", "b=1000", "b=2000"]
    expected = regrets(5, 500).mean() - regrets(1, 500).mean()
    assert changes["b=500"].value == pytest.approx(expected)


def test_drops_are_from_the_strictest_to_the_weakest_level() -> None:
    drop = {b: regrets(1, b).mean() - regrets(5, b).mean() for b in MAIN}
    share = {b: 1.0 - regrets(5, b).mean() / regrets(1, b).mean() for b in MAIN}
    where = {"family": "bernoulli", "b": 500, "accounting": "lemma5"}
    margin = tuning_statistics.zero_drop_margin(EVIDENCE, **where)
    assert margin.value == pytest.approx(drop[0] - drop[500])
    margin = tuning_statistics.zero_drop_margin(EVIDENCE, relative=True, **where)
    assert margin.value == pytest.approx(share[0] - share[500])
    for relative, values in ((False, drop), (True, share)):
        tau = tuning_statistics.drop_trend(
            EVIDENCE, family="bernoulli", b_grid=MAIN, relative=relative
        )
        expected = stats.kendalltau(MAIN[1:], [values[b] for b in MAIN[1:]]).statistic
        assert tau.value == pytest.approx(expected)


def test_b_zero_over_the_others() -> None:
    found = tuning_statistics.zero_ratios(
        EVIDENCE, family="bernoulli", eta=1, b_grid=MAIN, accounting="lemma4"
    )
    assert list(found) == [f"b={b}" for b in MAIN[1:]]
    expected = regrets(1, 0, "lemma4").mean() / regrets(1, 2000).mean()
    assert found["b=2000"].value == pytest.approx(expected)


def test_b_alone_is_exact_where_it_fits_and_the_largest_b_elsewhere() -> None:
    """Spec, E16: b = 3999 at eta = 5; 99999 and 24999 do not fit into T/N."""
    where = {"family": "bernoulli", "b_grid": MAIN, "accounting": "lemma5"}
    names = {
        1: "b alone, b=10000 in place of 99999",
        2: "b alone, b=10000 in place of 24999",
        5: "b alone, b=3999",
    }
    for eta, name in names.items():
        found = tuning_statistics.joint_over_single(EVIDENCE, eta=eta, **where)
        best = min(regrets(eta, b).mean() for b in MAIN[1:-1])
        alone = 3999 if eta == 5 else 10_000
        assert list(found) == ["c alone", name]
        assert found["c alone"].value == pytest.approx(best / regrets(eta, 0).mean())
        assert found[name].value == pytest.approx(best / regrets(eta, alone).mean())


def contender(algorithm: str, eta: int, **readings: str) -> float:
    where = {"algorithm": algorithm, "eta": eta, **readings}
    return float(EVIDENCE.values("comparison-verdicts", "pseudo_regret", **where).mean())


def test_figure_8_compares_at_one_level_and_in_one_reading() -> None:
    reading = {"log": "natural", "c_range": "at-least-1"}
    lazy = {eta: contender("anytime-lazy-ucb", eta, log="natural") for eta in (1, 5)}
    tuned = {eta: contender("m-ts-gaussian", eta, c_range="at-least-1") for eta in (1, 5)}
    difference = comparison_statistics.regret_difference(
        EVIDENCE, first="anytime-lazy-ucb", second="m-ts-gaussian", eta=5, **reading
    )
    assert difference.value == pytest.approx(lazy[5] - tuned[5])
    ratios = {eta: tuned[eta] / min(lazy[eta], contender("dp-se", eta)) for eta in (1, 5)}
    found = comparison_statistics.ratio_to_best_baseline(EVIDENCE, eta=1, **reading)
    assert found.value == pytest.approx(ratios[1])
    change = comparison_statistics.ratio_change(EVIDENCE, eta=1, weaker_eta=5, **reading)
    assert change.value == pytest.approx(ratios[5] - ratios[1])


def test_prices_and_small_steps_are_against_plain_thompson_sampling() -> None:
    plain = EVIDENCE.values("small-steps", "pseudo_regret", b=0, c=1).mean()
    for eta, simulation in ((5, "comparison-verdicts"), (20, "price-of-privacy")):
        where = {"algorithm": "m-ts-gaussian", "eta": eta, "c_range": "at-least-1"}
        tuned = EVIDENCE.values(simulation, "pseudo_regret", **where).mean()
        found = comparison_statistics.price_of_privacy(EVIDENCE, eta=eta, c_range="at-least-1")
        assert found.value == pytest.approx(tuned / plain)
    steps = comparison_statistics.small_step_differences(EVIDENCE)
    # Spec, C25: the six pairs.
    assert list(steps) == [
        f"(b,c)=({b},{c})" for b, c in ((1, 1), (2, 1), (5, 1), (10, 1), (0, 2), (1, 2))
    ]
    other = EVIDENCE.values("small-steps", "pseudo_regret", b=0, c=2).mean()
    assert steps["(b,c)=(0,2)"].value == pytest.approx(other - plain)
