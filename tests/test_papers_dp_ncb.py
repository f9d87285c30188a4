"""Instances, deviations and quantities of dp-ncb: by its specification, on made-up runs."""

import math
from collections import Counter
from dataclasses import replace
from itertools import chain, combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpbandits.algorithms import REGISTRY
from dpbandits.claims.estimates import mean
from dpbandits.claims.series import Evidence, SeriesQuery
from dpbandits.papers.dp_ncb import quantities, theory
from dpbandits.papers.dp_ncb.instances import (
    INSTANCES,
    drawn_means,
    fifty_arms,
    mixed_arms,
    vanishing_arm,
    weak_arms,
)
from dpbandits.papers.dp_ncb.tables import DEVIATIONS, TOGETHER, deviations
from dpbandits.pipeline.overlay import Panel, UserAlgorithm, plan_panel
from support import ROOT, refused
from synthetic_results import FOURTH, NOISE, PAPERS, PROJECT

TABLE = FOURTH.tables["extra-deviations"]
QUANTILE = stats.t.ppf(0.975, 49)

# Half a unit of the last digit that the specification prints.
PRINTED = 5.1e-8


def test_the_fifty_means_are_those_of_the_released_code() -> None:
    """Section 1.2: check values of the first 50 draws of numpy's legacy generator at seed 42."""
    means = np.array(drawn_means())
    assert (means.shape, means.argmax()) == ((50,), 11)
    best = [0.9700603, 0.9658039, 0.9509607, 0.9491411]
    assert np.sort(means)[:-5:-1] == pytest.approx(best, abs=PRINTED)
    assert means.min() == pytest.approx(0.0254816, abs=PRINTED)
    assert means.mean() == pytest.approx(0.4486943, abs=PRINTED)
    assert np.exp(np.log(means).mean()) == pytest.approx(0.3323319, abs=PRINTED)
    # Uniform play, which section 1.2 gives to five digits.
    assert means.max() - means.mean() == pytest.approx(0.52137, abs=5.1e-6)
    assert fifty_arms().means.tolist() == means.tolist()
    # One uniform number u stands behind each mean: low + (1 - low) u.
    first, second = np.array(drawn_means(42, 0.0)), np.array(drawn_means(42, 0.5))
    np.testing.assert_allclose(second, 0.5 + 0.5 * first, rtol=1e-12)
    assert drawn_means(43) != drawn_means(42)


def test_the_nominal_mean_chooses_the_law_of_panel_f() -> None:
    """Section 1.3, the table of laws; a mean of None is the nominal one."""
    bandit = mixed_arms()
    nominal = np.array(bandit.nominal)
    assert nominal.tolist() == list(drawn_means())
    laws = np.array(["uniform", "two-point", "fourth-root", "bernoulli"])[(nominal * 4).astype(int)]
    given = {"uniform": 0.5, "two-point": 0.7, "fourth-root": 0.8}
    assert [arm.name for arm in bandit.arms] == laws.tolist()
    means = [given.get(law, mean) for law, mean in zip(laws, nominal, strict=True)]
    assert bandit.means.tolist() == means
    assert min(Counter(laws).values()) > 5


def test_the_bad_arm_of_panel_a_keeps_its_logarithm() -> None:
    """Section 7: means (2e)^-T and 1, arm 0 the bad one; D23: 0 in doubles from T = 441 on."""
    for horizon in [3, 100, 419, 440, 441, 1002]:
        bandit = vanishing_arm(horizon)
        assert bandit.log_means[0] == pytest.approx(-horizon * math.log(2 * math.e), rel=1e-15)
        assert bandit.log_means[1] == 0.0
        assert bandit.means[1] == 1.0
        assert (bandit.means[0] > 0.0) == (horizon <= 440)
        if horizon <= 400:
            # A relative error of the logarithm, near 700 at most, by a rounding or two.
            assert bandit.means[0] == pytest.approx((2 * math.e) ** -horizon, rel=1e-12)


def test_weak_arms_lie_below_a_256th_of_the_best_mean() -> None:
    """Section 10.1, NCB-C22."""
    means = weak_arms().means
    assert means.tolist() == [0.002] * 45 + [0.5, 0.6, 0.7, 0.8, 0.9]
    assert means[0] < means.max() / 256


def test_the_ncb_of_panels_d_and_e_is_played_as_that_of_panel_b() -> None:
    """The same streams of the same cell, recorded at other times; T = 1e8 is in its logarithm."""
    [again] = FOURTH.plan("panel-b-ncb").series()
    played = FOURTH.plan("panel-b").series()
    [first] = [each for each in played if each.label == "ncb variant=as-coded"]
    assert again.runs == first.runs
    assert again.cell.horizon == 10**8
    recorded = {key: getattr(first.cell, key) for key in ("grid", "metrics")}
    assert replace(again.cell, **recorded) == first.cell


@pytest.mark.parametrize("letter", ["d", "e"])
def test_an_algorithm_is_drawn_into_panels_d_and_e_at_their_own_horizon(letter: str) -> None:
    panel = Panel(PROJECT, "dp-ncb", FOURTH.figures["fig1"], letter, FOURTH.frame)
    [played] = plan_panel(panel, UserAlgorithm(REGISTRY["adap-ucb"], {"epsilon": 0.2}))
    assert played.series.cell.horizon == HORIZON


def test_published_marks_stand_beside_what_they_are_of() -> None:
    """NCB in (d) and (e) beside the run of (b) (NCB-D29), panel (a) beside epsilon = 2 (D19)."""
    beside: dict[tuple[str, str], list[Any]] = {}
    for figure in FOURTH.figures.values():
        for panel in figure.panels.values():
            for line in panel.series:
                if line.published is not None:
                    curve = line.published.panel, line.published.series
                    beside.setdefault(curve, []).append(panel.where | line.where)
    for letter in "de":
        assert {where.get("version") for where in beside[letter, "NCB"]} == {"panel-b"}
    assert {where.get("version") for where in beside["c", "NCB"]} == {None}
    for series in ("AdaP-UCB", "GDP-NCB"):
        assert {where["epsilon"] for where in beside["a", series]} == {2}


def test_a_slope_over_epsilon_is_said_and_shaded_where_it_is_fitted() -> None:
    panel = FOURTH.figures["extra-epsilon-slope"].panels[""]
    assert panel.x.shaded == (0.2, 0.5)
    fitted = [line.label or "" for line in panel.series if "{slope" in line.name]
    assert len(fitted) == 2
    assert all("from 0.2 to 0.5" in label for label in fitted)


def test_a_claim_has_readings_of_one_algorithm() -> None:
    """Two algorithms are two sentences, not two readings of one."""
    for claim in (each for paper in PAPERS.values() for each in paper.study.claims):
        readings = (*claim.readings, *claim.beside)
        assert not any("algorithm" in each.values for each in readings), claim.id


def test_arguments_out_of_range_are_one_line() -> None:
    refused(lambda: vanishing_arm(0), "vanishing-arm: horizon is 0; allowed: at least 1")
    refused(lambda: INSTANCES["mixed-arms"](low=2), "fifty-arms: low is 2; allowed: 0 to 1")


def test_every_switch_that_is_played_has_a_row_and_every_row_its_results() -> None:
    """The differences that are switches of algorithms or of the scoring."""
    pairs = [(each.coded.simulation, each.changed.simulation) for each in DEVIATIONS]
    assert {*chain(*pairs)} == set(TABLE.reads)
    for name in ("switches", TOGETHER):
        played = set(FOURTH.frame(name)["switch"].dropna())
        assert played == {each.id for each in DEVIATIONS if each.changed.simulation == name}


@pytest.mark.parametrize("algorithm", ["gdp-ncb", "ldp-ncb", "adap-ucb", "ldp-ucb-l"])
def test_large_switches_of_an_algorithm_are_played_together(algorithm: str) -> None:
    """All combinations of them; D12 and D12 epsilon are two values of one interpretation."""
    published = pd.read_csv(ROOT / "docs/tables/dp-ncb/extra-deviations.csv")
    own = published[published["algorithm"] == algorithm]
    is_large = (own["factor"] - 1).abs() > 0.05
    large = [name for name in own["id"][is_large] if " and " not in name]
    sizes = range(2, len(large) + 1)
    several = {frozenset(names) for size in sizes for names in combinations(large, size)}
    wanted = {names for names in several if not names >= {"D12", "D12 epsilon"}}
    rows = [each for each in DEVIATIONS if each.algorithm == algorithm]
    assert wanted <= {frozenset(each.id.split(" and ")) for each in rows}


@pytest.mark.slow
def test_changes_have_the_interval_of_both_samples_or_are_exact() -> None:
    """Variances of independent curves add; t of 49 degrees of freedom, as each of them has."""
    found = deviations({name: FOURTH.frame(name) for name in TABLE.reads})
    row = found[(found["id"] == "D4") & (found["algorithm"] == "gdp-ncb")].iloc[0]
    # Made-up curves have a standard error of NOISE times the regret before it was perturbed, and
    # a bias of a tenth of it, which is subtracted.
    errors = [(row[f"{name}_hi"] - row[name]) / QUANTILE for name in ("coded", "changed")]
    for name, error in zip(("coded", "changed"), errors, strict=True):
        assert error / row[name] == pytest.approx(NOISE / 0.9, rel=4 * NOISE)
    assert row["change"] == pytest.approx(row["changed"] - row["coded"])
    half = QUANTILE * math.hypot(*errors)
    assert row["change_hi"] - row["change"] == pytest.approx(half, rel=1e-9)
    assert row["change"] - row["change_lo"] == pytest.approx(half, rel=1e-9)
    assert row["factor"] == pytest.approx(row["changed"] / row["coded"])
    # D17: 1 - 0.9700603, the best mean.
    [row] = found[found["id"] == "D17"].to_dict("records")
    assert row["change"] == pytest.approx(-0.0299397, abs=1e-7)
    assert row["change_lo"] == row["change_hi"] == row["change"]


# Quantities, on curves and runs that are made up.

GDP, LDP = "gdp-ncb", "ldp-ncb"
SHARES = np.array([0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 0.75, 1.0])
HORIZON = 10**7
SPREAD = np.random.default_rng(4).normal(0.0, 0.01, 50)


def curve(level: float, power: float = 0.0) -> Any:
    """Return a Nash curve: level s^power at a share s of T, with a spread common to all times."""
    noise, sample = 1.0 + SPREAD - SPREAD.mean(), object()
    regrets = [mean(value * noise, sample) for value in level * SHARES**power]
    times = (SHARES * HORIZON).astype(int).tolist()
    return SimpleNamespace(regrets=(times, regrets))


def meeting(level: float, of: float, *shares: float) -> float:
    """Return where level s^-0.95 meets a flat curve, on a line in log t between two shares."""
    ends = np.array(shares)
    above = level * ends**-0.95 - of
    return math.exp(np.interp(0.0, above[::-1], np.log(ends[::-1] * HORIZON)))


def test_a_level_is_reached_between_two_times_on_a_line_in_log_t() -> None:
    """0.075 s^-0.95 is above 0.1 at 0.7 T and below at 0.75 T."""
    found = quantities.time_below(curve(0.075, -0.95), level=0.1)
    assert found.value == pytest.approx(meeting(0.075, 0.1, 0.7, 0.75))
    lo, hi = found.interval(0.05)
    assert lo < found.value < hi
    # 0.01 / sqrt(50) on the logarithm of Nash regret, over the slope.
    spread = 2 * 2.01 * SPREAD.std(ddof=1) / math.sqrt(50) / 0.95
    assert math.log(hi / lo) == pytest.approx(spread, rel=0.1)


def test_a_level_that_is_not_reached_counts_as_reached_at_the_horizon() -> None:
    flat, falling = curve(0.3), curve(0.1, -0.5)
    assert quantities.time_below(flat, level=0.1).value == pytest.approx(HORIZON)
    assert quantities.time_below_ratio(flat, falling, level=0.2).value > 1.0
    # Neither falls below 0.01, which says nothing of their order.
    assert math.isnan(quantities.time_below_ratio(flat, falling, level=0.01).value)


def test_the_crossing_is_the_last_time_at_which_the_curves_meet() -> None:
    """0.009 s^-0.95 meets a flat curve of 0.03 between 0.25 and 0.3 T."""
    found = quantities.crossing_time(curve(0.009, -0.95), curve(0.03))
    assert found.value == pytest.approx(meeting(0.009, 0.03, 0.25, 0.3))
    assert math.isnan(quantities.crossing_time(curve(0.009, -0.95), curve(0.001)).value)


def lengths(ends: list[float]) -> SeriesQuery:
    """Return runs of GDP-NCB at T = 1e9 whose Phase I ends at these multiples of k S."""
    tags = {"algorithm": GDP, "horizon": 10**9, "epsilon": 0.2, "metric": "nash_bins"}
    means = np.array(drawn_means())
    unit = means.size * theory.scale(GDP, 10**9, 0.2, means.max())
    edges = np.tile(np.arange(1, 41) * 100.0 * unit, len(ends))
    is_uniform = edges < np.repeat(ends, 40) * unit
    frame = pd.DataFrame({"run": np.repeat(range(len(ends)), 40), "t": edges.round().astype(int)})
    frame["value"] = np.where(is_uniform, means.mean(), means.max())
    frame = frame.assign(series="one", arm=-1, **tags)
    return SeriesQuery(Evidence.of_frames({"runs": frame}), {"in": "runs", **tags})


def test_phase_one_is_found_in_the_bins_of_every_run() -> None:
    """Bins of 100 k S; the range is from 512 to 3872 k S."""
    inside = lengths([1550.0, 1650.0, 2050.0])
    assert quantities.phase_one_outside(inside).value == 0.0
    shortest, longest = (
        quantities.phase_one_length(inside, which=which).value for which in ("shortest", "longest")
    )
    assert (shortest, longest) == pytest.approx((1500.0, 2100.0), rel=1e-6)
    assert quantities.phase_one_outside(lengths([450.0, 1650.0, 3950.0])).value == 2.0
    # Phase I ends in the bin of 500 to 600, in which 512 is.
    assert math.isnan(quantities.phase_one_outside(lengths([550.0, 1650.0])).value)


@pytest.mark.parametrize("variant", ["as-written", "as-coded", "repaired"])
@pytest.mark.parametrize("order", ["index", "random"])
def test_the_regret_at_three_is_at_most_the_bound(variant: str, order: str) -> None:
    """Each arm is pulled in the first two rounds; the worst third round has the bad one."""
    bandit, paths = vanishing_arm(3), set()
    adap = REGISTRY["adap-ucb"]
    chosen = adap.interpretations_from({"order": order}, variant)
    for seed in range(200):
        settings = adap.settings(3, 2, epsilon=0.2, **chosen)
        played = adap.reference(settings, bandit, np.random.default_rng(seed))
        paths.add(tuple(arm for arm, length, _ in played for _ in range(length)))
    assert all({*path[:2]} == {0, 1} for path in paths)
    regrets = [1.0 - math.prod(bandit.means[arm] for arm in path) ** (1 / 3) for path in paths]
    assert max(regrets) <= quantities.MOST_AT_THREE * (1.0 + 1e-12)
    worst = bandit.means[0] ** (2 / 3)
    assert pytest.approx(1.0 - worst) == quantities.MOST_AT_THREE


def test_weak_arms_in_a_bin_after_phase_one_are_seen() -> None:
    """45 arms of 0.002 and five of 0.9; in the third run one pull of a bin of 15,000 rounds."""
    frame = pd.DataFrame(product(range(3), range(1, 6)), columns=["run", "t"])
    shares = np.array([[0.9, 0.9, 0.4, 0, 0], [0.9, 0, 0, 0, 0], [0.9, 0.4, 0, 1 / 15000, 0]])
    frame = frame.assign(
        series="one", metric="nash_bins", arm=-1, value=0.9 - 0.898 * shares.ravel()
    )
    series = SeriesQuery(Evidence.of_frames({"runs": frame}), {"in": "runs", "metric": "nash_bins"})
    assert quantities.runs_with_later_weak_pulls(series, weak=0.002, best=0.9).value == 1.0
    frame["value"] = 0.9 - 0.898 * 0.9
    endless = SeriesQuery(
        Evidence.of_frames({"runs": frame}), {"in": "runs", "metric": "nash_bins"}
    )
    assert math.isnan(quantities.runs_with_later_weak_pulls(endless, weak=0.002, best=0.9).value)


def test_a_limit_of_other_panels_is_none_of_two_arms() -> None:
    frame = FOURTH.frame("panel-a")
    evidence = Evidence.of_frames({"panel-a": frame[frame["horizon"] == 1000]})
    tags = {"in": "panel-a", "algorithm": GDP, "variant": "as-coded", "epsilon": 2.0}
    assert quantities.two_arm_regret(SeriesQuery(replace(evidence, limit=50), tags)).runs == 10


def test_weak_arms_pulled_more_often_than_phase_one_has_rounds() -> None:
    """F14: W = 1001 at T = 1e6, one more for LDP-NCB; 45 weak arms have 22 or 23 each."""
    runs = pd.DataFrame(product(range(20), range(50)), columns=["run", "arm"])
    for algorithm, (pulls, count) in product((GDP, LDP), ((22.0, 0), (23.0, 20))):
        frame = runs.assign(series="one", algorithm=algorithm, metric="pulls", t=10**6, value=pulls)
        tags = {"in": "weak-arms", "algorithm": algorithm, "metric": "pulls"}
        series = SeriesQuery(Evidence.of_frames({"weak-arms": frame}), tags)
        assert quantities.runs_with_weak_pulls(series).value == count


def test_the_chance_given_the_arms_is_that_by_hand() -> None:
    """C15, C29: both arms pass all tests of Phase I, whose sums are 1 to n and 0.

    Noise below x has the chance 1 - exp(-x/b)/2; sums far below the threshold pass anyway.
    """
    for horizon, below in ((10**7, 81), (10**8, 92), (2**24, 84)):
        log = math.log(horizon)
        threshold, scale = 1600 * (9 * log + log**2 / 0.2), log / 0.2
        pulls = math.floor(threshold) - below  # As in docs/audit.md.
        sums = np.arange(pulls - 10_000, pulls + 1)
        by_hand = np.log1p(-np.exp((sums - threshold) / scale) / 2).sum() / math.log(10)
        asked = {"horizon": horizon, "is_window": horizon == 2**24}
        chance = quantities.chance_given_arms(**asked).value
        assert chance == pytest.approx(by_hand, abs=1e-6)


def test_theory_is_that_by_hand() -> None:
    """The rest is published, and compared with that; here what no exact result shows alone."""
    # C17: the bound is asked of horizons with the best mean of its proof.
    premises = [
        theory.theorem_1_premise(10**power, 0.2, len(drawn_means())) for power in (8, 9, 10)
    ]
    assert [premise <= max(drawn_means()) for premise in premises] == [False, True, True]
    first = quantities.first_informative_horizon().value
    assert quantities.bound_over_best_mean(horizon=round(first)).value == pytest.approx(1.0)
    means = np.array(drawn_means())
    # NCB-P2: with log2(256 k) the second terms are 1/ln 2 times as large.
    of_both = (quantities.premise, 10000.0), (quantities.bound_over_best_mean, 4000 / means.max())
    for (of, factor), lost in product(of_both, (1, 50)):
        printed = {"horizon": 10**9, "is_mended": lost == 50}
        second = factor * lost * math.log(12800) * math.log(10**9) ** 2 / (0.2 * 10**9)
        more = of(**printed, is_base2=True).value - of(**printed).value
        assert more == pytest.approx(second * (1.0 / math.log(2.0) - 1.0))
    # C28: 4000 c sqrt(k L/(mu* T)), c = 3.
    term = 12000 * math.sqrt(50 * math.log(10**10) / (max(drawn_means()) * 10**10))
    assert quantities.first_term_over_best_mean(horizon=10**10).value == pytest.approx(term)
    # k L^2/(epsilon T), the numerator of the ratio of the two terms.
    other = math.sqrt(50 * math.log(10**7) / 10**7)
    asked = {"horizon": 10**7, "epsilon": 0.5}
    shares = quantities.term_ratio(**asked).value, quantities.privacy_term(**asked).value
    assert shares[1] == pytest.approx(shares[0] * other)
