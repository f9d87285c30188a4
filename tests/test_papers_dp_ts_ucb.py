"""Analytic results of dp-ts-ucb: against numbers from the formulas by hand and other computations.

Levels are those of Theorem 4.4 and sqrt(T/(c(b + 1))), factors c those of Appendix E.1.
"""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm

from dpbandits.algorithms.dp_ts_ucb import ALGORITHM
from dpbandits.bandits import bernoulli
from dpbandits.claims.evidence import Evidence, Series
from dpbandits.engine.identity import DEFAULT_ROOT_SEED, run_generator, stream_key
from dpbandits.papers.dp_ts_ucb import quantities
from dpbandits.papers.dp_ts_ucb.analytic import (
    ALPHA,
    ALPHAS,
    HORIZONS,
    MEANS,
    RUN_HORIZON,
    RUN_MEANS,
    STREAM,
    counts,
    crossover_horizon,
    draw_level,
    estimates,
    expected_waits,
    miss_chances,
    trace,
)
from dpbandits.papers.dp_ts_ucb.diagrams import DIAGRAMS
from dpbandits.privacy import dp_ts_ucb_budget
from dpbandits.reporting.draw import drawn_diagram
from shared import ExactResults

FRAMES = ExactResults("dp-ts-ucb")

# By hand: eta of Theorem 4.4, a row for each alpha, a column for each horizon.
LEVELS = {
    0.0: (152.0, 221.4, 319.5, 457.7, 651.5),
    0.25: (56.4, 74.7, 98.4, 128.9, 167.9),
    0.5: (20.9, 25.2, 30.3, 36.27, 43.28),
    0.75: (7.75, 8.52, 9.33, 10.21, 11.15),
    1.0: (2.875, 2.875, 2.875, 2.875, 2.875),
}

# By hand: eta of Modified TS at (0, 5 ln(T)^alpha), T = 1e6.
EQUAL_BOUND_LEVELS = {0.0: 447.21, 0.25: 322.08, 0.5: 231.97, 0.75: 167.06, 1.0: 120.32}

# By hand: c of equal privacy (Appendix E.1) at T = 1e6, by alpha and b.
FACTORS = {
    0.0: {
        0: 2.35604,
        1: 1.17802,
        500: 0.00470267,
        1000: 0.00235369,
        2000: 0.00117743,
        5000: 4.71114e-4,
        100_000: 2.35602e-5,
    },
    1.0: {
        0: 120_985,
        1: 60_492.7,
        500: 241.488,
        1000: 120.864,
        2000: 60.4624,
        5000: 24.1922,
        100_000: 1.20984,
    },
}


def at(frame: pd.DataFrame, x: float, **where: object) -> float:
    """The one y at x of the rows with these tags."""
    kept = frame[frame["x"] == x]
    for key, value in where.items():
        kept = kept[kept[key] == value]
    return float(kept["y"].item())


def test_levels_are_those_by_hand() -> None:
    """Three to four digits."""
    for alpha in ALPHAS:
        frame = FRAMES["privacy-by-horizon"]
        found = [at(frame, T, alpha=alpha, accounting="theorem4.4") for T in HORIZONS]
        np.testing.assert_allclose(found, LEVELS[alpha], rtol=3e-3)
        tight = [at(frame, T, alpha=alpha, accounting="tight") for T in HORIZONS]
        # Smaller by a factor sqrt(2); rounding alone separates the two.
        np.testing.assert_allclose(np.sqrt(2.0) * np.array(tight), found, rtol=1e-12)


def test_levels_of_theorem_4_6_lack_the_logarithm() -> None:
    """The same at alpha = 0; 10.69 against 2.87 at alpha = 1, T = 1e6."""
    frame = FRAMES["privacy-by-horizon"]
    assert at(frame, 10**6, alpha=1.0, accounting="theorem4.6") == pytest.approx(10.69, abs=0.005)
    for horizon in HORIZONS:
        both = (at(frame, horizon, alpha=0.0, accounting=f"theorem4.{i}") for i in (4, 6))
        assert next(both) == next(both)


def test_levels_by_alpha_are_those_by_hand() -> None:
    """Two decimals; both figures show one number."""
    for alpha in ALPHAS:
        frame = FRAMES["privacy-by-alpha"]
        modified = at(frame, alpha, algorithm="m-ts-gaussian")
        assert modified == pytest.approx(EQUAL_BOUND_LEVELS[alpha], abs=0.005)
        for accounting in ("theorem4.4", "theorem4.6", "tight"):
            by_horizon = at(FRAMES["privacy-by-horizon"], 10**6, alpha=alpha, accounting=accounting)
            assert at(frame, alpha, accounting=accounting) == pytest.approx(by_horizon, rel=1e-12)
        assert frame.groupby("series")["x"].nunique().unique().tolist() == [41]


@pytest.mark.parametrize("alpha", FACTORS)
def test_factors_of_equal_privacy_are_those_by_hand(alpha: float) -> None:
    """Six digits; with the root of Section 5.3 1.085 and 7.776."""
    for b, expected in FACTORS[alpha].items():
        found = quantities.equal_privacy_c(alpha=alpha, b=b)
        assert found.value == pytest.approx(expected, rel=6e-6)
    b, rooted = {0.0: (1, 1.085), 1.0: (2000, 7.776)}[alpha]
    found = quantities.equal_privacy_c(alpha=alpha, b=b, root=True)
    assert found.value == pytest.approx(rooted, abs=0.0005)


def test_the_level_at_alpha_1_is_that_by_hand() -> None:
    """Section 5.3: sqrt(2 c0) = 2.874972."""
    tags = {"in": "privacy-by-horizon", "alpha": 1.0, "accounting": "theorem4.4", "x": 10**6}
    level = Series(Evidence.of_frames(FRAMES), tags)
    found = quantities.deviation_from_root(level).value
    assert level.number().value / (1.0 + found) == pytest.approx(2.874972, abs=5e-7)


def test_crossovers_are_those_by_hand() -> None:
    """6.57e5 against sqrt(T/2), 6.6e6 against sqrt(T/5)."""
    for over, horizon in (("ts-gaussian", 6.57e5), ("m-ts-gaussian", 6.6e6)):
        assert quantities.crossover(over=over).value == pytest.approx(horizon, rel=5e-3)


@pytest.mark.parametrize("phases", [1, 2])
@pytest.mark.parametrize("divisor", [2.0, 5.0])
def test_levels_cross_at_the_crossover(phases: int, divisor: float) -> None:
    """By phi itself: above T / divisor just before, below it from there on to T = 1e12."""
    horizon = crossover_horizon(phases, divisor)

    def excess(rounds: float) -> float:
        c0 = math.sqrt(2.0 * math.pi * math.e)
        return phases * c0 * math.sqrt(rounds) * math.log(rounds) ** 1.5 - rounds / divisor

    # The root is exact to rounding; one round in ten thousand on each side is far from that.
    assert excess(horizon * (1.0 - 1e-4)) > 0.0
    assert all(excess(T) < 0.0 for T in np.geomspace(horizon * (1.0 + 1e-4), 1e12, 50))


def test_conversion_is_that_by_hand() -> None:
    """T = 1e6, delta = 1e-6: epsilon 2.15e5 at alpha = 0, 17.2 at alpha = 1."""
    frame = FRAMES["privacy-conversion"]
    found = [at(frame, 10**6, alpha=alpha, accounting="theorem4.4") for alpha in (0.0, 1.0)]
    np.testing.assert_allclose(found, [2.15e5, 17.2], rtol=3e-3)
    levels = FRAMES["privacy-by-horizon"]
    assert frame["eta"].tolist() == levels["y"].tolist()
    assert frame["x"].tolist() == levels["x"].tolist()


def test_misses_are_far_below_the_bound_of_the_lemma() -> None:
    """Lemma 4.1: T times the chance is at most 6.7e-5, at alpha = 1, T = 1e4; the proof has 3."""
    frame = FRAMES["lemma-4-1"]
    misses = frame[(frame["quantity"] == "chance") & (frame["rounding"] == "floor")]
    worst = misses.loc[misses["y"].idxmax()]
    assert (worst["alpha"], worst["horizon"]) == (1.0, 10_000)
    assert 6.6e-5 < worst["y"] <= 6.7e-5
    rounded_up = frame[(frame["quantity"] == "chance") & (frame["rounding"] == "ceil")]
    assert 4.5e-5 < rounded_up["y"].max() <= 4.7e-5
    assert set(frame.loc[frame["quantity"] == "bound", "y"]) == {3.0}


def test_waits_are_far_below_the_bound_of_the_lemma() -> None:
    """Lemma C.1: at most 1.42, at alpha = 0; the lemma has 12.34."""
    frame = FRAMES["lemma-c1"]
    waits = frame[frame["quantity"] == "expectation"]
    worst = waits.loc[waits["y"].idxmax()]
    assert worst["alpha"] == 0.0
    assert 1.41 < worst["y"] <= 1.42
    assert set(frame.loc[frame["quantity"] == "bound", "y"]) == {12.34}


@pytest.mark.parametrize(("alpha", "count"), [(0.5, 2**10), (0.25, 2**14)])
def test_small_misses_are_not_cut_off_by_the_window(alpha: float, count: int) -> None:
    """Chances of 1e-18 and below come from estimates far from the mean: against the whole sum."""
    horizon = 10**6
    variance, draws = math.log(horizon) ** alpha, math.floor(dp_ts_ucb_budget(alpha, horizon))
    successes = np.arange(count + 1)
    chances = binom.pmf(successes, count, 0.5)
    misses = np.exp(draws * norm.logcdf(0.5, successes / count, math.sqrt(variance / count)))
    found = miss_chances(count, variance, draws)[np.flatnonzero(MEANS == 0.5)]
    np.testing.assert_allclose(found, (chances * misses).sum(), rtol=1e-9)
    assert found < 1e-18


def test_draws_of_plain_sampling_compose_to_the_root_of_half_the_horizon() -> None:
    """Ou et al.: after one pull the centre moves by 1/2 at most, with deviation 1/sqrt(2)."""
    assert draw_level() == pytest.approx(0.5 / math.sqrt(0.5), rel=1e-15)
    assert quantities.composed_deviation().value < 1e-9


def test_waits_tend_to_their_limit_for_many_rewards() -> None:
    """As s grows the shortfall is N(0, mu (1 - mu)), at mu = 1/2 and v = 1 with deviation 1/2."""

    def integrand(z: float) -> float:
        return float((1.0 / norm.sf(z) - 1.0) * norm.pdf(z, scale=0.5))

    limit = quad(integrand, -8.0, 8.0, epsabs=1e-12)[0]
    found = expected_waits(2**18, 1.0)[np.flatnonzero(MEANS == 0.5)]
    # The lattice of k/s differs from the normal law by an order of 1/s.
    np.testing.assert_allclose(found, limit, rtol=1e-5)


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


def test_misses_agree_with_draws() -> None:
    """Of 200000 simulated estimates with 3 draws each, within 4.5 standard errors (1e-5 a mean)."""
    generator, runs = np.random.default_rng(20250505), 200_000
    expected = miss_chances(8, 2.0, 3)
    for index in (9, 49, 89):
        mean = MEANS[index]
        centres = generator.binomial(8, mean, runs) / 8
        draws = centres[:, None] + 0.5 * generator.standard_normal((runs, 3))
        found = (draws.max(axis=1) <= mean).mean()
        error = math.sqrt(expected[index] * (1.0 - expected[index]) / runs)
        assert abs(found - expected[index]) < 4.5 * error


def test_laws_of_the_estimates_sum_to_one() -> None:
    """The window of Hoeffding's inequality leaves out less than 1e-86; rounding leaves 1e-11."""
    for count in counts(10**6):
        np.testing.assert_allclose(estimates(count)[0].sum(axis=1), 1.0, rtol=0, atol=1e-11)


def test_counts_are_the_powers_of_two_up_to_half_the_horizon() -> None:
    assert counts(10_000) == [2**power for power in range(13)]
    assert counts(8) == [1, 2, 4]


# The run that Figures 1 and 2 draw: it is the kernel's, and obeys Algorithm 1.
ARMS = len(RUN_MEANS)
BUDGET = int(dp_ts_ucb_budget(ALPHA, RUN_HORIZON))


@pytest.fixture(scope="module")
def run() -> pd.DataFrame:
    return trace()


def test_every_round_has_a_row_for_every_arm_and_one_pull(run: pd.DataFrame) -> None:
    assert len(run) == ARMS * RUN_HORIZON
    assert (run.groupby("x")["pulled"].sum() == 1).all()


def test_the_pulls_are_those_of_the_reference(run: pd.DataFrame) -> None:
    """The reference plays the same stream by its own code, Algorithm 1 line by line."""
    interpretations = {name: allowed[0] for name, allowed in ALGORITHM.interpretations.items()}
    settings = ALGORITHM.settings(RUN_HORIZON, ARMS, alpha=ALPHA, **interpretations)
    generator = run_generator(DEFAULT_ROOT_SEED, stream_key(STREAM), 0)
    chunks = ALGORITHM.reference(settings, bernoulli(RUN_MEANS), generator)
    expected = [arm + 1 for arm, length, _ in chunks for _ in range(length)]
    assert run[run["pulled"] == 1].sort_values("x")["arm"].tolist() == expected


def test_the_arm_of_the_largest_value_is_pulled(run: pd.DataFrame) -> None:
    """Values read off a copied stream would not lead to the kernel's pulls, were they others."""
    values = run.pivot(index="x", columns="arm", values="y").iloc[ARMS:]
    pulled = run.pivot(index="x", columns="arm", values="pulled").iloc[ARMS:]
    pd.testing.assert_series_equal(values.idxmax(axis=1), pulled.idxmax(axis=1))
    # Control: with the values of the round before, other arms would be pulled.
    assert (values.shift().iloc[1:].idxmax(axis=1) != pulled.iloc[1:].idxmax(axis=1)).any()


def test_an_epoch_has_its_budget_of_draws_and_then_the_largest_of_them(run: pd.DataFrame) -> None:
    reused = 0
    for _, rows in run[run["event"] != "start"].groupby("arm"):
        epoch = rows["completed"].shift(fill_value=0).cumsum()
        for _, own in rows.groupby(epoch):
            fresh, again = (own[own["event"] == event] for event in ("fresh", "reuse"))
            assert len(fresh) == min(len(own), BUDGET)
            assert own["event"].is_monotonic_increasing
            assert own["estimate"].nunique() == own["count"].nunique() == 1
            largest = max(0.0, fresh["y"].max())
            assert (again["y"] == largest).all()
            reused += len(again)
    assert reused > 0


def test_batches_double_and_every_reward_enters_one(run: pd.DataFrame) -> None:
    for _, rows in run[run["pulled"] == 1].sort_values("x").groupby("arm"):
        sizes = rows["batch"].tolist()
        doubling = [2**epoch for epoch in range(8) for _ in range(2**epoch)]
        assert sizes == doubling[: len(sizes)]
        assert rows.loc[rows["completed"] == 1, "batch"].is_unique


def test_figure_2_puts_every_pull_into_one_batch(run: pd.DataFrame) -> None:
    _, points = drawn_diagram(DIAGRAMS["fig2"], run)
    pulls = run[run["pulled"] == 1].sort_values("x")
    shown = points.sort_values("x")
    assert shown["x"].tolist() == pulls["x"].tolist()
    assert shown["y"].tolist() == pulls["arm"].tolist()
    full = shown[shown["series"].str.contains("batch of")]
    sizes = full["series"].str.extract(r"batch of (\d+)")[0].astype(int)
    assert (full.groupby("series").size() == sizes.groupby(full["series"]).first()).all()
