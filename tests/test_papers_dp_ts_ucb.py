"""Results and quantities of dp-ts-ucb: by hand, by other computations, on made-up regrets.

Every exact number is compared with the published one in `golden/test_csv_files.py`; here stands
what says that those are right. Levels are those of Theorem 4.4 and sqrt(T/(c(b + 1))).
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

from dpbandits import privacy
from dpbandits.algorithms.dp_ts_ucb import ALGORITHM
from dpbandits.bandits import bernoulli
from dpbandits.claims.judge import judge
from dpbandits.claims.measure import Measurement
from dpbandits.claims.series import Evidence
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key
from dpbandits.engine.results import results_frame
from dpbandits.papers.dp_ts_ucb import quantities
from dpbandits.papers.dp_ts_ucb.analytic import (
    ALPHA,
    MEANS,
    RUN_HORIZON,
    RUN_MEANS,
    STREAM,
    counts,
    crossover_horizon,
    estimates,
    expected_waits,
    miss_chances,
    trace,
)
from shared import ExactResults
from synthetic_results import PAPERS

FRAMES = ExactResults("dp-ts-ucb")


def test_levels_are_those_by_hand() -> None:
    for result, alpha, horizon, theorem, expected, digits in [
        ("privacy-by-horizon", 0.0, 1e4, "4.4", 152.0, 3e-3),
        ("privacy-by-horizon", 0.75, 1e5, "4.4", 9.33, 3e-3),
        ("privacy-by-horizon", 1.0, 1e6, "4.4", 2.874972, 2e-7),
        ("privacy-by-horizon", 1.0, 1e6, "4.6", 10.69, 5e-4),
        ("privacy-conversion", 0.0, 1e6, "4.4", 2.15e5, 3e-3),
        ("privacy-conversion", 1.0, 1e6, "4.4", 17.2, 3e-3),
    ]:
        found = FRAMES.at(result, x=horizon, alpha=alpha, accounting=f"theorem{theorem}")
        assert found == pytest.approx(expected, rel=digits)
    plain = FRAMES.at("privacy-by-alpha", x=0.5, algorithm="m-ts-gaussian")
    assert plain == pytest.approx(231.97, rel=3e-5)


def test_factors_of_equal_privacy_are_those_by_hand() -> None:
    """Appendix E.1 at T = 1e6, and with the root of Section 5.3."""
    for alpha, b, root, expected in [
        (0.0, 0, False, 2.35604),
        (0.0, 2000, False, 0.00117743),
        (1.0, 100_000, False, 1.20984),
        (1.0, 2000, True, 7.776),
    ]:
        found = quantities.equal_privacy_c(alpha=alpha, b=b, root=root)
        assert found.value == pytest.approx(expected, rel=5e-4 if root else 6e-6)


def test_levels_cross_at_the_crossover() -> None:
    """By phi itself: above T / divisor just before, below it from there on to T = 1e12."""
    c0 = math.sqrt(2.0 * math.pi * math.e)
    for phases, divisor in product((1, 2), (2.0, 5.0)):
        # The root is exact to rounding; one round in ten thousand on each side is far from that.
        horizon = crossover_horizon(phases, divisor)
        rounds = np.geomspace(horizon * (1.0 + 1e-4), 1e12, 50)
        rounds = np.append(rounds, horizon * (1.0 - 1e-4))
        excess = phases * c0 * np.sqrt(rounds) * np.log(rounds) ** 1.5 - rounds / divisor
        assert (excess > 0.0).tolist() == [False] * 50 + [True]


def test_tuned_pre_pulls_cross_at_the_crossover() -> None:
    """b + 1 = c = ln(T): the level is sqrt(T)/ln(T), above Theorem 4.4's from there on."""
    crossing = quantities.tuned_crossover().value
    assert crossing == pytest.approx(7.9e11, rel=0.01)
    for horizon, is_larger in [(10**4, False), (0.999 * crossing, False), (1.001 * crossing, True)]:
        level = privacy.modified_ts_gdp(0, math.log(horizon) ** 2, round(horizon))
        ratio = quantities.tuned_over_own(alpha=0.0, horizon=round(horizon)).value
        assert ratio == pytest.approx(level / privacy.dp_ts_ucb_gdp(0.0, round(horizon)), rel=1e-9)
        assert (ratio > 1.0) == is_larger


def test_logarithms_of_the_bounds_are_those_by_hand() -> None:
    """T = 1e6: ln(1e9 * 0.04) = 17.50 of DP-TS-UCB, ln(1e6 * 0.04) = 10.60 of TS-Gaussian."""
    for algorithm, expected in [("dp-ts-ucb", 17.504), ("ts-gaussian", 10.597), ("ucb1", 13.816)]:
        found = quantities.log_bound(of=algorithm, gap=0.2).value
        assert found == pytest.approx(expected, rel=5e-5)
    cut = quantities.equal_gap().value
    assert quantities.log_excess(over="ucb1", gap=cut).value == pytest.approx(0.0, abs=1e-9)
    assert quantities.log_excess(over="ucb1", gap=0.2).value > 0.0
    assert quantities.log_excess(over="ucb1", gap=0.01).value < 0.0


def test_lemma_4_1_holds_where_a_step_of_its_proof_does_not() -> None:
    """DTU-E20, at alpha = 1 on rewards in [0, 1]: with P{mean y sqrt(ln(T)/s) above} <= T^(-2 y^2).

    The chance that all draws miss is the mean of Phi(y)^phi, at most its value at 0 and the
    integral of its slope times that chance.
    """
    proof, bound = (quantities.power_of_horizon(way=way).value for way in ("proof", "hoeffding"))
    assert proof == pytest.approx(-0.533, abs=5e-4)
    found = {}
    for horizon in (2, 100, 10**4, 10**6):
        draws = math.floor(math.sqrt(2.0 * math.pi * math.e) * math.log(horizon))
        y = np.linspace(0.0, 10.0, 100_001)
        slope = draws * np.exp(norm.logpdf(y) + (draws - 1) * norm.logcdf(y))
        chance = 0.5**draws + np.trapezoid(slope * horizon ** (-2.0 * y**2), y)
        assert horizon * chance < 3.0
        found[horizon] = chance
    assert math.log(found[10**6] / found[10**4]) / math.log(100) == pytest.approx(bound, abs=0.1)


def test_the_other_factors_of_figure_4_are_played() -> None:
    """c = factor * ln(T)^alpha at T = 1e6, and the level that the finding has of it."""
    series = PAPERS["dp-ts-ucb"].plan("equal-bound-factors").series()
    for each in series:
        factor, alpha = each.tags["factor"], each.tags["alpha"]
        c = vars(each.cell.parameters)["c"]
        assert c == pytest.approx(factor * math.log(1e6) ** alpha, rel=1e-15)
        eta = quantities.equal_bound_eta(alpha=alpha, factor=factor).value
        assert eta == pytest.approx(math.sqrt(1e6 / c), rel=1e-12)
    assert len(series) == 10
    # Figure 4(b) has factor 5.
    drawn = FRAMES.at("privacy-by-alpha", x=0.5, algorithm="m-ts-gaussian")
    assert quantities.equal_bound_eta(alpha=0.5, factor=5).value == pytest.approx(drawn, rel=1e-12)


# Chances and expectations of the lemmas, as sums over a window of counts.


@pytest.mark.parametrize(("alpha", "count"), [(0.5, 2**10), (0.25, 2**14)])
def test_small_misses_are_not_cut_off_by_the_window(alpha: float, count: int) -> None:
    """Chances of 1e-18 and below come from estimates far from the mean: against the whole sum."""
    horizon = 10**6
    variance = math.log(horizon) ** alpha
    draws = math.floor(privacy.dp_ts_ucb_budget(alpha, horizon))
    successes = np.arange(count + 1)
    chances = binom.pmf(successes, count, 0.5)
    misses = np.exp(draws * norm.logcdf(0.5, successes / count, math.sqrt(variance / count)))
    found = miss_chances(count, variance, draws)[np.flatnonzero(MEANS == 0.5)]
    np.testing.assert_allclose(found, (chances * misses).sum(), rtol=1e-9)
    assert found < 1e-18


def test_sums_over_the_window_are_the_sums_over_all_counts() -> None:
    """Against the sum over 0..s without a window, for 38 draws of variance ln(1e4)."""
    for count in [1, 2, 64, 1024]:
        successes = np.arange(count + 1)
        chances = binom.pmf(successes, count, MEANS[:, None])
        deviation = math.sqrt(math.log(1e4) / count)
        below = norm.cdf(MEANS[:, None], successes / count, deviation)
        # What the window leaves out has a chance below 1e-86.
        np.testing.assert_allclose(
            miss_chances(count, math.log(1e4), 38), (chances * below**38).sum(axis=1), 1e-9, 1e-17
        )
        above = norm.sf(MEANS[:, None], successes / count, deviation)
        # Far below the mean the chance of the estimate underflows before that of the draw.
        waits = (chances * below / np.maximum(above, 1e-300)).sum(axis=1)
        np.testing.assert_allclose(expected_waits(count, math.log(1e4)), waits, rtol=1e-9)
    for count in counts(10**6):
        np.testing.assert_allclose(estimates(count)[0].sum(axis=1), 1.0, rtol=0, atol=1e-11)
    assert counts(10_000) == [2**power for power in range(13)]
    assert counts(8) == [1, 2, 4]


# The run that Figures 1 and 2 draw: it is the kernel's, and obeys Algorithm 1.


RUN = trace()


def test_the_pulls_are_those_of_the_reference() -> None:
    """The reference plays the same stream by its own code, Algorithm 1 line by line."""
    interpretations = {name: allowed[0] for name, allowed in ALGORITHM.interpretations.items()}
    settings = ALGORITHM.settings(RUN_HORIZON, len(RUN_MEANS), alpha=ALPHA, **interpretations)
    generator = run_generator(DEFAULT_ROOT_SEED, stream_key(STREAM), 0)
    chunks = ALGORITHM.reference(settings, bernoulli(RUN_MEANS), generator)
    expected = [arm + 1 for arm, length, _ in chunks for _ in range(length)]
    assert RUN[RUN["pulled"] == 1].sort_values("x")["arm"].tolist() == expected


def test_the_arm_of_the_largest_value_is_pulled() -> None:
    """Values read off a copied stream would not lead to the kernel's pulls, were they others."""
    values, pulled = (
        RUN.pivot(index="x", columns="arm", values=name).iloc[len(RUN_MEANS) :]
        for name in ("y", "pulled")
    )
    pd.testing.assert_series_equal(values.idxmax(axis=1), pulled.idxmax(axis=1))
    # Control: with the values of the round before, other arms would be pulled.
    assert (values.shift().iloc[1:].idxmax(axis=1) != pulled.iloc[1:].idxmax(axis=1)).any()


def test_an_epoch_has_its_budget_of_draws_and_then_the_largest_of_them() -> None:
    reused, budget = 0, int(privacy.dp_ts_ucb_budget(ALPHA, RUN_HORIZON))
    for _, rows in RUN[RUN["event"] != "start"].groupby("arm"):
        epoch = rows["completed"].shift(fill_value=0).cumsum()
        for _, own in rows.groupby(epoch):
            fresh, again = (own[own["event"] == event] for event in ("fresh", "reuse"))
            assert len(fresh) == min(len(own), budget)
            assert own["event"].is_monotonic_increasing
            assert own["estimate"].nunique() == own["count"].nunique() == 1
            largest = max(0.0, fresh["y"].max())
            assert (again["y"] == largest).all()
            reused += len(again)
    assert reused > 0


# Claims on final regrets that are made up.

STATED = {entry.id: entry for entry in PAPERS["dp-ts-ucb"].study.stated}
RUNS, NOISE = 40, 5.0
Mean = Callable[[str, Mapping[str, Any]], float]
"""Mean final regret by name of the results and tags of a series."""


def frame_of(name: str, mean: Mean) -> pd.DataFrame:
    """Return results with normal final regrets, the same errors in every series."""
    series = PAPERS["dp-ts-ucb"].plan(name, {"runs": RUNS}).series()
    errors = np.random.default_rng(3).standard_normal(RUNS)
    blocks = []
    for each in series:
        cell = each.cell
        tags = {"algorithm": cell.definition.id, "horizon": cell.horizon, **each.tags}
        final = mean(name, tags) + NOISE * errors[: len(each.runs)]
        blocks.append({"pseudo_regret": np.repeat(final[:, None], len(cell.grid), axis=1)})
    return results_frame(series, blocks)


def evidence_of(mean: Mean) -> Evidence:
    return Evidence(cache(lambda name: frame_of(name, mean)), PAPERS["dp-ts-ucb"].paper.quantities)


def compared(name: str, label: str, mean: Mean) -> float:
    """Return the number of a comparison in the first row."""
    claim, evidence = STATED[name], evidence_of(mean)
    cases = claim.cases(claim.readings[0])
    [case] = [one for one in cases if one.label == label]
    return Measurement(case, replace(evidence, reads=claim.reads)).numbers()[""].value


def rising(name: str, tags: Mapping[str, Any]) -> float:
    return 1000.0 * float(tags["alpha"])


def test_a_fall_of_regret_decides_at_the_horizon_that_the_paper_prints() -> None:
    """At those that we chose it is named beside the word."""
    levels = {0: 300.0, 0.25: 600.0, 0.5: 500.0, 0.75: 900.0, 1: 1000.0}

    def falling_at(horizon: int) -> Mean:
        return lambda name, tags: (
            levels[tags["alpha"]] if tags["horizon"] == horizon else rising(name, tags)
        )

    for mean, verdict in [
        (rising, "as stated"),
        (falling_at(10**6), "in part"),
        (falling_at(10**4), "as stated"),
    ]:
        [judged] = judge([STATED["DTU-C1"]], evidence_of(mean), "quick")
        assert judged.verdict == verdict
    fall = "regret at alpha=0.5 minus alpha=0.75, T=10000"
    assert compared("DTU-C1", fall, falling_at(10**4)) == pytest.approx(-400.0)
    assert np.isnan(compared("DTU-C1", fall, lambda name, tags: float("nan")))


@pytest.mark.slow
def test_an_event_exceeds_the_level_of_plain_sampling_over_n_pulls() -> None:
    """Ou et al. prove the level over n + 1; erratum DTU-E9 has the event."""
    results = ExactResults("privacy-audit")
    evidence = Evidence(results.__getitem__, PAPERS["dp-ts-ucb"].paper.quantities)
    [judged] = judge([STATED["DTU-F8"]], evidence)
    assert judged.word == "shown"
