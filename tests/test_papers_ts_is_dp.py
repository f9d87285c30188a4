"""Results and quantities of ts-is-dp: by other computations, and on made-up runs.

Every exact number is compared with the published one in `golden/test_csv_files.py`; here stands
what says that those are right.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from scipy.integrate import quad
from scipy.stats import norm

from dpbandits import privacy
from dpbandits.claims.estimates import relative_error
from dpbandits.claims.judge import judge
from dpbandits.claims.series import Evidence, SeriesQuery
from dpbandits.papers.ts_is_dp import quantities
from dpbandits.papers.ts_is_dp.analytic import (
    MANY,
    RATES,
    deltas,
    plain_levels,
    prepull_sums,
    renyi_delta,
    two_armed_choice,
)
from dpbandits.papers.ts_is_dp.quantities import ROUND_DELTAS
from dpbandits.privacy import epsilon, ts_round_epsilon, ts_round_gdp
from shared import ExactResults
from support import mostly_slow
from synthetic_results import FIRST as PAPER

FRAMES = ExactResults("ts-is-dp")


def test_figures_1_and_6_have_the_tabulated_numbers() -> None:
    """ts-is-dp, Theorems 3 to 8: half a unit of the last digit. Figure 1 is over c (b + 1)."""
    for product, *printed in [(1, 649.39, 539.55), (51, 30.18, 14.61)]:
        for tags in ({"family": "b", "b": product - 1}, {"family": "c", "c": product}):
            found = [FRAMES.at("privacy-by-b-and-c", x=delta, **tags) for delta in (1e-6, 1e-1)]
            assert found == pytest.approx(printed, abs=5e-3)
    for delta, arms, *expected in [
        (1e-10, 2, 391.364, 401.743, 11477.8, 11871.7),
        (1e-1, 10, 277.685, 297.985, 2658.9, 2839.7),
    ]:
        tags = [{"analysis": "gdp"}, {"analysis": "rdp"}]
        tags += [{"analysis": "standard-dp", "split": split} for split in ("best", "half")]
        found = [FRAMES.at("privacy-by-analysis", x=delta, arms=arms, **each) for each in tags]
        assert found == pytest.approx(expected, abs=0.05)


def test_a_pair_is_compared_with_either_guarantee_of_plain_thompson_sampling() -> None:
    """TSDP-C4: sqrt(T/1.5) is above sqrt(T/2), Theorem 3, and below sqrt(T), Theorem 4."""
    for baseline, factor in (("lemma5", 1.0), ("theorem3", 2.0)):
        found = quantities.epsilon_over_plain(b=0, c=1.5, baseline=baseline).value
        ratio = epsilon(deltas(), np.sqrt(1000 / 1.5)) / epsilon(deltas(), np.sqrt(1000 / factor))
        assert found == pytest.approx(ratio.max())
        assert (found > 1) == (baseline == "theorem3")
    # One pre-pull is exactly Theorem 3, so that both sides count as equal.
    assert quantities.epsilon_over_plain(b=1, c=1, baseline="theorem3").value == 1.0
    found = quantities.epsilon_of_pair(b=5, c=1, delta=1e-6).value
    assert found == pytest.approx(FRAMES.at("privacy-by-b-and-c", family="b", b=5, x=1e-6))


def test_arm_means_are_the_integrals() -> None:
    """Conditional law: density rate e^{-rate x}/(1 - e^{-rate}) on [0, 1]."""
    means = quantities.arm_mean_deviation(printed=[0.0] * 5)
    for rate in RATES:
        weight, _ = quad(lambda x: rate * np.exp(-rate * x), 0, 1)
        partial, _ = quad(lambda x: x * rate * np.exp(-rate * x), 0, 1)
        # quad's own error is below 1e-12 for these smooth integrands.
        assert means[f"rate {rate:g}"].value == pytest.approx(partial / weight, abs=1e-10)


@pytest.mark.parametrize(("pulls", "others"), [(1, 1), (1, 4), (3, 2)])
def test_reachable_means_are_those_of_rewards_in_the_unit_interval(pulls: int, others: int) -> None:
    """Over all 0/1 rewards, of both arms and for both choices; shrunk means S/(n + 1)."""
    deviation = np.sqrt(1 / (pulls + 1) + 1 / (others + 1))
    reached = [
        sign * (one / (pulls + 1) - other / (others + 1)) / deviation
        for one, other, sign in itertools.product(range(pulls + 1), range(others + 1), (1, -1))
    ]
    assert two_armed_choice(pulls, others)[1] == pytest.approx(min(reached))
    # Claim TSDP-C28: a = 1/sqrt 2 for n = (1, large), 1/2 for n = (1, 1).
    assert two_armed_choice(1, MANY)[0] == pytest.approx(np.sqrt(0.5), rel=1e-8)
    assert two_armed_choice(1, 1)[0] == pytest.approx(0.5)


def test_true_deltas_are_suprema_over_a_grid_of_mean_differences() -> None:
    """Claim TSDP-C28: sup over x of Phi(x + a) - e^eps0 Phi(x), here on a grid of step 1e-4."""
    names = {
        ("any", MANY): "vanishing noise of the second",
        ("any", 1): "equal noise",
        ("reachable", MANY): "pulls (1, many)",
        ("reachable", 1): "pulls (1, 1)",
    }
    for delta, ((means, others), name) in itertools.product(ROUND_DELTAS, names.items()):
        shift, lowest = two_armed_choice(1, others)
        x = np.arange(-30.0 if means == "any" else lowest, 5.0, 1e-4)
        excess = norm.cdf(x + shift) - np.exp(ts_round_epsilon(delta, 2)) * norm.cdf(x)
        ratios = quantities.true_over_claimed_delta(means=means)
        found = ratios[f"{name}, delta {delta:g}"].value * delta
        # The maximum is flat: half a step off costs below 1e-8 of it; 0 is the empty event.
        assert found == pytest.approx(max(excess.max(), 0.0), rel=1e-6, abs=1e-12)
        if means == "any" and others == 1:
            chances = quantities.choice_chances(delta=delta)
            for likelihood, more in (("more likely", shift), ("less likely", 0.0)):
                expected = np.log10(norm.cdf(x[excess.argmax()] + more))
                assert chances[likelihood].value == pytest.approx(expected, abs=1e-3)


def test_true_delta_is_the_claimed_one_with_the_exact_epsilon_of_one_choice() -> None:
    """Lemma 3 with the duality, where the second function has no noise: not Theorem 6's epsilon."""
    shift, _ = two_armed_choice(1, MANY)
    for delta in ROUND_DELTAS:
        valid = epsilon(delta, ts_round_gdp(1))
        true = privacy.report_noisy_max_true_delta(valid, shift, -np.inf)
        assert true == pytest.approx(delta, rel=1e-6)


# Quantities, on runs that are made up.

GRID = (0, 500, 1000)
TIMES = (500, 1000, 2500, 5000, 10_000, 80_000, 100_000)
HORIZON = TIMES[-1]
RUNS = 30
GAPS = np.array([0.0, 0.125, 0.25, 0.375, 0.5])
GAP = GAPS.mean()
Slopes = dict[tuple[int, int], float]
SLOPES: Slopes = {
    (eta, b): slope * GAP
    for b, slopes in {0: (0.9, 0.8), 500: (0.2, 0.01), 1000: (0.1, 0.02)}.items()
    for eta, slope in zip((1, 5), slopes, strict=True)
}
"""Regret per round after the pre-pulls, by eta and b."""


def made(slopes: Slopes = SLOPES) -> pd.DataFrame:
    """Return runs with b pulls of each arm in turn, then a slope that varies with the run."""
    generator = np.random.default_rng(3)
    rows = []
    for (eta, b), slope in slopes.items():
        tags = (f"{eta}, {b}", "bernoulli", eta, b, HORIZON / (eta**2 * (b + 1)))
        for run, t in itertools.product(range(RUNS), TIMES):
            pulls = np.clip(t - b * np.arange(5), 0, b)
            value = pulls @ GAPS + (1.0 + 0.01 * np.sin(run)) * slope * max(t - 5 * b, 0)
            rows.append((*tags, run, "pseudo_regret", t, -1, value))
        for run, arm in itertools.product(range(RUNS), range(5)):
            value = prepull_sums(b, 5, HORIZON)[arm] + generator.uniform(1.0, 9.0)
            rows.append((*tags, run, "inverse_counts", HORIZON, arm, value))
    columns = "series family eta b c run metric t arm value"
    return pd.DataFrame(rows, columns=columns.split())


def series(frame: pd.DataFrame, **tags: object) -> SeriesQuery:
    evidence = Evidence.of_frames({"runs": frame})
    return SeriesQuery(evidence, {"in": "runs", "family": "bernoulli", **tags})


def regrets(frame: pd.DataFrame, eta: int, b: int, t: int = HORIZON) -> np.ndarray:
    kept = frame[(frame["eta"] == eta) & (frame["b"] == b) & (frame["t"] == t)]
    return kept.loc[kept["metric"] == "pseudo_regret", "value"].to_numpy()


FRAME = made()


def test_family_arms_are_those_of_the_experiments() -> None:
    """Mean gaps 0.25 and 0.182399."""
    for family, gap in (("bernoulli", 0.25), ("truncated-exponential", 0.182399)):
        gaps = quantities.FAMILIES[family].gaps
        assert gaps.mean() == pytest.approx(gap, abs=5e-7)
        first, *_ = PAPER.plan(f"{family}-verdicts").series()
        assert gaps.tolist() == first.cell.bandit.gaps.tolist()


def test_slopes_are_over_their_rounds_and_over_the_mean_gap() -> None:
    asked = series(FRAME, eta=5, b=500)
    at = {t: regrets(FRAME, 5, 500, t).mean() for t in (2500, 5000, 80_000, HORIZON)}
    final = (at[HORIZON] - at[80_000]) / 20_000
    assert quantities.final_regret_per_round(asked).value == pytest.approx(final)
    assert quantities.final_share_of_uniform(asked).value == pytest.approx(final / GAP)
    after = (at[HORIZON] - at[2500]) / 97_500 / GAP
    assert quantities.slope_after_prepulls(asked).value == pytest.approx(after)
    soon = (at[5000] - at[2500]) / 2500 / GAP
    assert quantities.slope_after_prepulls(asked, phases=1).value == pytest.approx(soon)


def test_a_slope_may_be_the_metric_of_a_series() -> None:
    """As in the steps of TSDP-C6, which know equal slopes from what both runs record."""
    asked = series(FRAME, eta=5, b=500, metric=quantities.final_regret_per_round)
    plain = quantities.final_regret_per_round(series(FRAME, eta=5, b=500))
    assert asked.number().value == plain.value
    still = made({**SLOPES, (5, 500): 0.0})
    assert quantities.final_regret_per_round(series(still, eta=5, b=500)).interval(0.05) == (0, 0)


def test_relative_errors_are_those_of_an_average_over_some_runs() -> None:
    values = np.random.default_rng(1).normal(50.0, 5.0, 400)
    found = relative_error(values, 10)
    assert found.value == pytest.approx(values.std(ddof=1) / np.sqrt(10) / values.mean())
    lo, hi = found.interval(0.05)
    # A standard deviation from 400 runs is known to 1/sqrt(800) = 3.5 %, twice to either side.
    assert hi / lo == pytest.approx(1.15, abs=0.05)
    assert relative_error(np.full(30, 7.0), 10).interval(1e-9) == (0.0, 0.0)
    largest = quantities.largest_relative_error(series(FRAME), eta=(1, 5), b=GRID, runs=10)
    every = [regrets(FRAME, eta, b) for eta in (1, 5) for b in GRID]
    expected = max(one.std(ddof=1) / np.sqrt(10) / one.mean() for one in every)
    assert largest.value == pytest.approx(expected)


def test_the_search_tries_the_pair_without_more_variance_at_each_level() -> None:
    """b = T/eta^2 - 1, where the pre-pulls of five arms fit into T and b is a whole number."""
    tried = [(each.tags["eta"], each.tags["b"]) for each in PAPER.plan("tuning").series()]
    for eta in {eta for eta, _ in tried}:
        b, rest = divmod(100_000, eta**2)
        if not rest and 5 * (b - 1) < 100_000:
            assert (eta, b - 1) in tried


def test_levels_of_privacy_are_compared_by_their_best_b_and_their_leads() -> None:
    levels = [series(FRAME, eta=eta) for eta in (1, 5)]
    mean = {(eta, b): regrets(FRAME, eta, b).mean() for eta in (1, 5) for b in GRID}
    assert [min(GRID, key=lambda b: mean[eta, b]) for eta in (1, 5)] == [1000, 500]
    assert quantities.best_b_shift(*levels, b=GRID).value == 1.0
    assert quantities.best_b_shift(*reversed(levels), b=GRID).value == 1.0
    # A lead is over the better rival at each level.
    rivals = [series(FRAME, b=b) for b in (0, 500)]
    found = quantities.lead_change(series(FRAME, b=1000), *rivals, eta=(1, 5))
    ratios = [mean[eta, 1000] / min(mean[eta, 0], mean[eta, 500]) for eta in (1, 5)]
    assert found.value == pytest.approx(ratios[1] - ratios[0])


def test_pre_pull_sums_are_those_of_the_rounds_played_one_by_one() -> None:
    """Five arms; the last case is cut by the horizon of 50."""
    for b in (0, 1, 7, 10, 12):
        sums, pulls = np.zeros(5), np.zeros(5)
        for arm in np.repeat(np.arange(5), b)[:50]:
            sums += np.where(pulls > 0, 1.0 / (pulls + 1.0), 0.0)
            pulls[arm] += 1
        assert prepull_sums(b, 5, 50) == pytest.approx(sums)


def test_realised_levels_leave_the_pre_pulls_out_and_are_over_the_lemma() -> None:
    """Root of the largest arm's sum over c, over sqrt(T/(c (b + 1))): c cancels."""
    kept = FRAME[(FRAME["eta"] == 1) & (FRAME["b"] == 500) & (FRAME["metric"] == "inverse_counts")]
    sums = kept["value"].to_numpy().reshape(RUNS, 5)
    levels = np.sqrt((sums - prepull_sums(500, 5, HORIZON)).max(axis=1) / (HORIZON / 501))
    asked = series(FRAME, eta=1, b=500)
    assert quantities.realised_level(asked).value == pytest.approx(levels.mean())
    # Of plain Thompson sampling, over sqrt(T/2).
    plain = series(kept.drop(columns=["b", "c"]), eta=1)
    expected = np.sqrt(sums.max(axis=1) / (HORIZON / 2)).mean()
    assert quantities.realised_level(plain).value == pytest.approx(expected)
    assert plain_levels(np.array([[0.0, 500.0], [125.0, 0.0]]), 1000) == pytest.approx([1.0, 0.5])


@pytest.mark.parametrize("delta", [1e-10, 1e-4, 1e-1])
def test_delta_by_renyi_dp_is_the_least_over_the_orders(delta: float) -> None:
    """exp((alpha - 1)(alpha T/4 - epsilon)), minimised by another routine."""
    epsilon = privacy.epsilon(delta, privacy.ts_gaussian_gdp(1000))
    found = optimize.minimize_scalar(
        lambda order: (order - 1) * (order * 250 - epsilon), bounds=(1, 3), method="bounded"
    )
    assert float(renyi_delta(np.array(epsilon), 1000)) == pytest.approx(np.exp(found.fun), rel=1e-6)
    # And back: at that delta Renyi DP gives that epsilon.
    back = privacy.ts_gaussian_rdp_epsilon(float(renyi_delta(np.array(epsilon), 1000)), 1000)
    assert back == pytest.approx(epsilon)
    assert renyi_delta(np.array(100.0), 1000) == 1.0


EXACT = {
    "TSDP-C1": "as stated",
    "TSDP-C2": "as stated",
    "TSDP-C3": "as stated",
    "TSDP-C4": {"baseline=lemma5": "as stated", "baseline=theorem3": "as stated"},
    "TSDP-C14": "as stated",
    "TSDP-C15a": "size only",
    "TSDP-C15b": "size only",
    "TSDP-C16": {"order=1.15": "as stated", "order=best": "not as stated"},
    "TSDP-C17": "size only",
    "TSDP-C23": "size only",
}
"""The word on each exact claim, or on each of its readings."""


EVIDENCE = Evidence(lambda result: FRAMES[result], PAPER.paper.quantities)


@pytest.mark.parametrize("name", mostly_slow(EXACT, *(EXACT.keys() - {"TSDP-C4"})))
def test_exact_claims_have_their_words(name: str) -> None:
    [claim] = [each for each in PAPER.study.claims if each.id == name]
    judged = judge([claim], EVIDENCE)
    words = {each.reading.label: each.verdict for each in judged}
    expected = EXACT[name]
    assert words == (expected if isinstance(expected, dict) else {"": expected})
    assert all(each.is_exact for each in judged)


def test_one_pre_pull_is_equal_to_theorem_3_and_not_counted() -> None:
    """TSDP-C4: of the pairs (0, 1.5) alone has more epsilon than Theorem 3 gives (0, 1)."""
    [claim] = [each for each in PAPER.study.claims if each.id == "TSDP-C4"]
    [_, by_theorem_3] = judge([claim], EVIDENCE)
    labels = {
        decision: [each.label for each in by_theorem_3.comparisons if each.decision == decision]
        for decision in ("against", "equal")
    }
    assert labels["against"] == ["epsilon over that at (0, 1) [(b, c) = (0, 1.5)]"]
    assert [each.endswith("c (b + 1) = 2]") for each in labels["equal"]] == [True, True]


def test_a_weaker_guarantee_has_a_smaller_share_of_what_an_audit_shows() -> None:
    """Of two made-up rows, by the claims at their own T and delta."""
    rows = [("delta=1e-06", 100, 20.0), ("delta=0.001", 10, 3.0)]
    frame = pd.DataFrame(rows, columns=["parameters", "horizon", "lower"]).assign(x=[1, 2])
    audit = SeriesQuery(Evidence.of_frames({"audit": frame}), {"in": "audit"})
    by = {
        "standard-dp": lambda delta, horizon: privacy.ts_standard_epsilon(delta, horizon, 2),
        "rdp": privacy.ts_gaussian_rdp_epsilon,
    }
    for analysis, claimed in by.items():
        shares = [20.0 / claimed(1e-6, 100), 3.0 / claimed(1e-3, 10)]
        found = quantities.share_of_epsilon(audit, analysis=analysis).value
        assert found == pytest.approx(max(shares))
        seen = quantities.epsilon_seen_from(audit, analysis=analysis).value
        assert seen == pytest.approx(1 / max(shares))


def test_exact_numbers_are_those_of_their_formulas() -> None:
    assert quantities.uniform_regret(family="bernoulli").value == pytest.approx(25_000)
    assert quantities.level_of_pair(b=10, c=1).value == pytest.approx(np.sqrt(HORIZON / 11))
    # 2 epsilon/sqrt(ln(1/(2 delta))) at epsilon = 1 and delta = 1e-6, which Lemma 13 admits.
    shift = quantities.quoted_shift().value
    assert shift == pytest.approx(2 / np.sqrt(np.log(1 / 2e-6)))
    assert quantities.quoted_delta().value == pytest.approx(privacy.delta(1.0, shift))
    assert quantities.quoted_delta().value > 1e4 * 1e-6
