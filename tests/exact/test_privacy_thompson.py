"""Guarantees of TS-Gaussian, Modified TS and DP-TS-UCB: what ts-is-dp and dp-ts-ucb print.

Reference values of their theorems and errata; the claims on them are judged from published tables
(`test_ts_is_dp_analytic`, `test_dp_ts_ucb_analytic`).
"""

import math
import warnings

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from dpbandits.privacy import (
    advanced_composition,
    compose_gdp,
    delta,
    dp_ts_ucb_budget,
    dp_ts_ucb_gdp,
    epsilon,
    equal_privacy_c,
    instance_specific_gdp,
    modified_ts_gdp,
    report_noisy_max_epsilon,
    report_noisy_max_true_delta,
    required_c,
    ts_basic_standard_epsilon,
    ts_corrected_standard_epsilon,
    ts_gaussian_gdp,
    ts_round_epsilon,
    ts_round_gdp,
    ts_standard_epsilon,
)


def test_reference_values_gdp() -> None:
    """ts-is-dp, Theorems 3 to 8, reference values, column GDP (T = 1000, Theorem 3)."""
    found = epsilon(np.array([1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1e-1]), ts_gaussian_gdp(1000))
    expected = [391.364, 374.596, 355.383, 332.235, 301.068, 277.685]
    np.testing.assert_allclose(found, expected, rtol=0, atol=5e-4)  # three decimals printed


@pytest.mark.parametrize(
    ("product", "small", "large"),
    [
        (1, 649.39, 539.55),
        (2, 355.38, 277.68),
        (6, 143.85, 98.93),
        (11, 89.97, 56.74),
        (51, 30.18, 14.61),
    ],
)
def test_reference_values_figure_1(product: int, small: float, large: float) -> None:
    """Theorems 3 to 8, Fig 1 reference values: epsilon at delta = 1e-6 and 1e-1, by c (b + 1)."""
    for b, c in [(product - 1, 1.0), (0, float(product))]:
        found = epsilon(np.array([1e-6, 1e-1]), modified_ts_gdp(b, c, 1000))
        np.testing.assert_allclose(found, [small, large], rtol=0, atol=5e-3)  # two decimals


def test_lemmas_3_and_4() -> None:
    assert ts_round_gdp() == pytest.approx(math.sqrt(0.5), rel=1e-15)
    assert ts_round_gdp(3) == 0.5
    assert ts_gaussian_gdp(1000) == pytest.approx(math.sqrt(1000) * ts_round_gdp(), rel=1e-15)


def test_claim_c3_and_erratum_e2() -> None:
    """Claim TSDP-C3: 316.23 by Lemma 5, 223.6 by Lemma 4, for the same algorithm."""
    assert modified_ts_gdp(0, 1.0, 100_000) == pytest.approx(316.23, abs=5e-3)
    assert ts_gaussian_gdp(100_000) == pytest.approx(223.6, abs=0.05)
    by_lemma_4 = modified_ts_gdp(0, 1.0, 100_000, interpretation="lemma4")
    assert by_lemma_4 == pytest.approx(ts_gaussian_gdp(100_000), rel=1e-15)
    for b in (1, 7):  # the interpretations part at b = 0 only
        assert modified_ts_gdp(b, 2.0, 99, interpretation="lemma4") == modified_ts_gdp(b, 2.0, 99)


def test_erratum_e14_charges_only_sampling_rounds() -> None:
    tight = modified_ts_gdp(10, 2.0, 1000, rounds="sampling-rounds", n_arms=5)
    assert tight == pytest.approx(math.sqrt(950 / 22), rel=1e-15)
    assert modified_ts_gdp(10, 2.0, 1000) == pytest.approx(math.sqrt(1000 / 22), rel=1e-15)
    # b N >= T: pulls alone, whatever the rewards.
    assert modified_ts_gdp(10, 2.0, 50, rounds="sampling-rounds", n_arms=5) == 0
    assert modified_ts_gdp(10, 2.0, 40, rounds="sampling-rounds", n_arms=5) == 0


@pytest.mark.parametrize("eta", [1.0, 2.0, 5.0, 10.0])
@pytest.mark.parametrize("b", [0, 500, 10_000])
def test_required_c_inverts_lemma_5(b: int, eta: float) -> None:
    assert modified_ts_gdp(b, required_c(b, eta, 100_000), 100_000) == pytest.approx(eta, rel=1e-14)


def test_required_c_below_one() -> None:
    """ts-is-dp, Figures 1 to 8 and TSDP-E10: 0.800 and 0.400 at eta = 5, b = 5000 and 10000."""
    assert required_c(5000, 5.0, 100_000) == pytest.approx(0.800, abs=5e-4)
    assert required_c(10_000, 5.0, 100_000) == pytest.approx(0.400, abs=5e-4)
    assert required_c(3999, 5.0, 100_000) == 1  # TSDP-E16


def test_claim_c27_instance_specific_accounting() -> None:
    """Claim TSDP-C27 by hand: arm 1 after its pull waits two rounds at n = 1 and one at n = 2."""
    sums = [2 / 2 + 1 / 3, 1 / 2]
    assert instance_specific_gdp(sums, 2.0) == pytest.approx(math.sqrt(2 / 3), rel=1e-15)
    assert instance_specific_gdp([sums, [3.0, 6.0]], 1.0)[1] == pytest.approx(math.sqrt(6))


def test_instance_specific_reaches_the_bound_for_an_arm_pulled_once() -> None:
    """Erratum TSDP-E3: T rounds after a single pull sum to T/2, which is Lemma 4."""
    horizon = 400
    assert instance_specific_gdp([horizon / 2, 3.0], 1.0) == ts_gaussian_gdp(horizon)


ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)


C0 = 4.132731


# dp-ts-ucb, Algorithm 1, as printed; the rows of 10^4.5 and 10^5.5 rounded to whole horizons.
ETAS = {
    10_000: ("152.0", "56.4", "20.9", "7.75", "2.875"),
    31_622: ("221.4", "74.7", "25.2", "8.52", "2.875"),
    100_000: ("319.5", "98.4", "30.3", "9.33", "2.875"),
    316_227: ("457.7", "128.9", "36.27", "10.21", "2.875"),
    1_000_000: ("651.5", "167.9", "43.28", "11.15", "2.875"),
}


def unit(printed: str) -> float:
    """Half a unit of the last printed digit, and a little for the row of 10^5.5."""
    return 0.51 * 10.0 ** -len(printed.partition(".")[2])


@pytest.mark.parametrize("horizon", ETAS)
@pytest.mark.parametrize("column", range(5))
def test_etas_of_theorem_4_4(horizon: int, column: int) -> None:
    printed = ETAS[horizon][column]
    found = dp_ts_ucb_gdp(ALPHAS[column], horizon)
    assert found == pytest.approx(float(printed), abs=unit(printed))


def test_budget_is_the_formula() -> None:
    # Section 4.1: phi = c0 T^((1 - alpha)/2) ln(T)^((3 - alpha)/2); whole parts in
    # test_dp_ts_ucb.py.
    for alpha in ALPHAS:
        for horizon in ETAS:
            log = math.log(horizon)
            phi = C0 * math.exp((1 - alpha) / 2 * log) * log**1.5 * log ** (-alpha / 2)
            assert dp_ts_ucb_budget(alpha, horizon) == pytest.approx(phi, rel=1e-6)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_draws_compose(alpha: float) -> None:
    # dp-ts-ucb, proof of Theorem 4.4 and derived and DTU-E8: floor(phi) draws make sqrt(phi /
    # ln(T)^alpha) and no more; Theorem 4.4
    # counts them twice.
    draws = math.floor(dp_ts_ucb_budget(alpha, 10_000))
    composed = float(compose_gdp(np.full(draws, math.log(10_000) ** (-alpha / 2))))
    tight = dp_ts_ucb_gdp(alpha, 10_000, interpretation="tight")
    assert composed <= tight < composed * math.sqrt((draws + 1) / draws)
    printed = dp_ts_ucb_gdp(alpha, 10_000)
    assert printed == pytest.approx(float(compose_gdp([tight, tight])), rel=1e-14)


def test_theorem_4_6_has_another_eta() -> None:
    # DTU-E2: the same at alpha = 0; 10.69 and 2.87 at alpha = 1, T = 10^6.
    assert dp_ts_ucb_gdp(0.0, 10**6, interpretation="theorem4.6") == dp_ts_ucb_gdp(0.0, 10**6)
    assert dp_ts_ucb_gdp(1.0, 10**6, interpretation="theorem4.6") == pytest.approx(10.69, abs=0.005)
    assert dp_ts_ucb_gdp(1.0, 10**6) == pytest.approx(2.87, abs=0.006)


def test_equal_regret_modified_ts() -> None:
    # dp-ts-ucb, Table 1: Modified TS at b = 0, c = 5 ln(T)^alpha, T = 10^6.
    found = [modified_ts_gdp(0, 5 * math.log(10**6) ** alpha, 10**6) for alpha in ALPHAS]
    np.testing.assert_allclose(found, [447.21, 322.08, 231.97, 167.06, 120.32], rtol=0, atol=0.005)


PREPULLS = (0, 1, 500, 1000, 2000, 5000, 100_000)


EQUAL_PRIVACY = {
    0.0: (2.35604, 1.17802, 0.00470267, 0.00235369, 0.00117743, 4.71114e-4, 2.35602e-5),
    1.0: (120985, 60492.7, 241.488, 120.864, 60.4624, 24.1922, 1.20984),
}
"""dp-ts-ucb, Appendix E.1, T = 10^6, to six digits."""


@pytest.mark.parametrize("alpha", EQUAL_PRIVACY)
def test_equal_privacy(alpha: float) -> None:
    found = [equal_privacy_c(alpha, b, 10**6) for b in PREPULLS]
    np.testing.assert_allclose(found, EQUAL_PRIVACY[alpha], rtol=5e-6)
    # It gives the eta of Theorem 4.4, and is what the general formula asks for.
    eta = dp_ts_ucb_gdp(alpha, 10**6)
    for b, c in zip(PREPULLS, found, strict=True):
        assert modified_ts_gdp(b, c, 10**6) == pytest.approx(eta, rel=1e-13)
        assert required_c(b, eta, 10**6) == pytest.approx(c, rel=1e-13)


def test_printed_c() -> None:
    # DTU-C6, C7 and DTU-E1: 1.178 and 60.462 without the root, 1.085 and 7.776 with it.
    for alpha, b, plain, rooted in ((0.0, 1, 1.178, 1.085), (1.0, 2000, 60.462, 7.776)):
        assert equal_privacy_c(alpha, b, 10**6) == pytest.approx(plain, abs=5e-4)
        assert equal_privacy_c(alpha, b, 10**6, root=True) == pytest.approx(rooted, abs=5e-4)
        wrong = modified_ts_gdp(b, equal_privacy_c(alpha, b, 10**6, root=True), 10**6)
        assert wrong != pytest.approx(dp_ts_ucb_gdp(alpha, 10**6), rel=0.01)


# ts-is-dp, Theorems 3 to 8, reference values for T = 1000.
DELTAS = [1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1e-1]


BEST = {
    2: [11477.8, 8773.7, 6425.0, 4411.2, 2715.8, 1983.7],
    10: [12881.5, 9999.8, 7483.9, 5312.0, 3465.3, 2658.9],
}


HALF = {
    2: [11871.7, 9112.8, 6712.4, 4649.3, 2905.3, 2147.6],
    10: [13301.3, 10362.8, 7793.3, 5570.3, 3673.1, 2839.7],
}


# ts-is-dp, Theorems 3 to 8, "Corrected standard DP", with half a unit of its last printed digit.
CORRECTED = [
    (1e-10, 9.5e5, 5e3),
    (1e-8, 5.4e5, 5e3),
    (1e-6, 2.86e5, 5e2),
    (1e-4, 1.35e5, 5e2),
    (1e-2, 5.3e4, 5e2),
    (1e-1, 2.97e4, 5e1),
]


@pytest.mark.parametrize("n_arms", [2, 10])
@pytest.mark.parametrize(("split", "table"), [("best", BEST), ("half", HALF)])
def test_reference_values(n_arms: int, split: str, table: dict[int, list[float]]) -> None:
    found = ts_standard_epsilon(np.array(DELTAS), 1000, n_arms, split)
    np.testing.assert_allclose(found, table[n_arms], rtol=0, atol=0.05)  # one decimal printed


@pytest.mark.parametrize(("delta_value", "spec", "half_unit"), CORRECTED)
def test_corrected_curve(delta_value: float, spec: float, half_unit: float) -> None:
    assert abs(ts_corrected_standard_epsilon(delta_value, 1000) - spec) <= half_unit


@pytest.mark.parametrize("delta_value", DELTAS)
@pytest.mark.parametrize("curve", ["N=2", "N=10", "corrected"])
def test_best_split_is_the_minimum_over_shares(delta_value: float, curve: str) -> None:
    """Corollary 1 on a fine grid of shares x; spec: the best x is about 97 to 99 %."""
    share = np.linspace(0.9, 0.9999, 100_000)
    if curve == "corrected":
        per_round = epsilon(share * delta_value / 1000, np.sqrt(0.5))
        found = ts_corrected_standard_epsilon(delta_value, 1000)
    else:
        n_arms = int(curve.removeprefix("N="))
        odds = 1000 * (n_arms - 1) / (2 * share * delta_value)
        per_round = np.sqrt(np.log(odds)) / (2 * np.sqrt(2))
        found = ts_standard_epsilon(delta_value, 1000, n_arms)
    width = np.sqrt(2000 * np.log(1 / (delta_value * (1 - share))))
    on_grid = per_round * width + 1000 * per_round * (np.exp(per_round) - 1)
    # The grid step of 1e-6 misses the minimum by its square.
    assert found == pytest.approx(on_grid.min(), rel=1e-9)
    if curve != "corrected":
        assert 0.965 <= share[on_grid.argmin()] <= 0.995


def test_half_split_of_the_corrected_curve() -> None:
    per_round = epsilon(1e-6 / 2000, np.sqrt(0.5))
    expected = advanced_composition(per_round, 1000, 5e-7)
    found = ts_corrected_standard_epsilon(1e-6, 1000, split="half")
    assert found == pytest.approx(expected, rel=1e-13)
    assert found > ts_corrected_standard_epsilon(1e-6, 1000)


def gaussian_delta(epsilon0: float, eta: float) -> float:
    """Delta of eta-GDP by the integral of the excess density, in 60 digits."""
    with mpmath.workdps(60):
        start = mpmath.mpf(epsilon0) / eta + mpmath.mpf(eta) / 2

        def excess(x: mpmath.mpf) -> mpmath.mpf:
            return mpmath.npdf(x, eta) - mpmath.exp(epsilon0) * mpmath.npdf(x)

        return float(mpmath.quad(excess, [start, start + 1, start + 4, start + 12, start + 40]))


@pytest.mark.parametrize(
    ("delta_value", "over_gdp"),
    [(1e-10, 13.32), (1e-8, 12.66), (1e-6, 11.89), (1e-4, 10.95), (1e-2, 9.78), (1e-1, 9.12)],
)
def test_basic_composition_against_an_integral(delta_value: float, over_gdp: float) -> None:
    """TSDP-F2: T rounds of delta/T each, whose epsilons add up; ratios to Theorem 3 at T = 1000."""
    found = ts_basic_standard_epsilon(delta_value, 1000)
    claimed = gaussian_delta(found / 1000, float(np.sqrt(0.5)))
    assert claimed == pytest.approx(delta_value / 1000, rel=1e-9)
    assert found / epsilon(delta_value, np.sqrt(500)) == pytest.approx(over_gdp, abs=5e-3)


def test_advanced_composition_by_hand() -> None:
    """Corollary 1 with eps0 = log 2, T = 8, slack = exp(-4): log 2 * (sqrt 64 + 8)."""
    found = advanced_composition(np.log(2), 8, np.exp(-4))
    assert found == pytest.approx(16 * np.log(2), rel=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert advanced_composition(1e4, 1, 0.1) == np.inf


def test_theorem_6_and_7_by_hand() -> None:
    """(n - 1)/(2 delta) = exp(4) for n = 3: half of sqrt 4 times the largest ratio, 3/2."""
    found = report_noisy_max_epsilon(np.exp(-4), [1.0, 3.0, 1.0], [1.0, 2.0, 4.0])
    assert found == pytest.approx(1.5, rel=1e-14)
    assert ts_round_epsilon(np.exp(-4), 3) == pytest.approx(np.sqrt(0.5), rel=1e-14)
    alike = report_noisy_max_epsilon(1e-6, [0.5] * 10, np.sqrt(0.5))
    assert ts_round_epsilon(1e-6, 10) == pytest.approx(alike, rel=1e-14)


def test_erratum_e8_theorem_7() -> None:
    """TSDP-E8 and claim TSDP-C28a: N = 2, d0 = 1e-6, at the digits printed there."""
    claimed = ts_round_epsilon(1e-6, 2)
    assert claimed == pytest.approx(1.281, abs=5e-4)
    assert report_noisy_max_true_delta(claimed, np.sqrt(0.5)) == pytest.approx(0.0177, abs=5e-5)
    assert report_noisy_max_true_delta(claimed, 0.5) == pytest.approx(0.0015, abs=5e-5)
    assert epsilon(1e-6, np.sqrt(0.5)) == pytest.approx(3.308, abs=5e-4)


def test_erratum_e8_lemma_13() -> None:
    """TSDP-E8: delta = 1e-6, eps = 1 allow the shift 0.552, whose true delta is 0.0123."""
    shift = 2 / np.sqrt(np.log(1 / 2e-6))
    assert shift == pytest.approx(0.552, abs=5e-4)
    assert delta(1.0, shift) == pytest.approx(0.0123, abs=5e-5)


def two_arm_gap(x: float, epsilon0: float, shift: float) -> float:
    """Probability of an arm minus exp(epsilon0) times its probability for the neighbour."""
    return float(norm.cdf(x + shift) - np.exp(epsilon0) * norm.cdf(x))


@pytest.mark.parametrize("shift", [0.1, 0.5, np.sqrt(0.5), 2.0])
@pytest.mark.parametrize("epsilon0", [0.0, 0.3, 1.281, 3.308])
def test_true_delta_is_the_supremum_over_mean_differences(epsilon0: float, shift: float) -> None:
    grid = np.linspace(-60, 10, 7001)
    gaps = norm.cdf(grid + shift) - np.exp(epsilon0) * norm.cdf(grid)
    start = grid[gaps.argmax()]
    found = minimize_scalar(
        lambda x: -two_arm_gap(x, epsilon0, shift),
        bounds=(start - 0.01, start + 0.01),
        method="bounded",
        options={"xatol": 1e-9},
    )
    # Plain evaluation of the difference loses up to 1e-15 absolutely.
    exact = report_noisy_max_true_delta(epsilon0, shift)
    assert exact == pytest.approx(-found.fun, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("lowest", [-6.0, -3.0, -np.sqrt(2), -0.5, 1.0])
@pytest.mark.parametrize("epsilon0", [0.1, 0.7, 1.281])
def test_true_delta_with_bounded_mean_differences(epsilon0: float, lowest: float) -> None:
    shift = np.sqrt(0.5)
    grid = np.linspace(lowest, lowest + 12, 120_001)
    gaps = norm.cdf(grid + shift) - np.exp(epsilon0) * norm.cdf(grid)
    # A grid of step 1e-4 misses an inner maximum by less than 1e-8.
    exact = report_noisy_max_true_delta(epsilon0, shift, lowest)
    assert exact == pytest.approx(max(gaps.max(), 0.0), abs=1e-8)


def test_erratum_e8_needs_means_outside_the_unit_interval_for_the_smallest_delta() -> None:
    """With pull counts (1, many), rewards in [0, 1] give x >= (0 - 1)/sqrt(1/2).

    There the two-arm gap of Theorem 7 is below 0 at d0 = 1e-6, but above d0 at 1e-4.
    """
    reach = -np.sqrt(2)
    assert two_arm_gap(reach, ts_round_epsilon(1e-6, 2), np.sqrt(0.5)) < 0
    assert report_noisy_max_true_delta(ts_round_epsilon(1e-6, 2), np.sqrt(0.5), reach) == 0
    true_delta = report_noisy_max_true_delta(ts_round_epsilon(1e-4, 2), np.sqrt(0.5), reach)
    expected = norm.cdf(-np.sqrt(0.5)) - np.exp(ts_round_epsilon(1e-4, 2)) * norm.cdf(reach)
    assert true_delta == pytest.approx(expected, rel=1e-13)
    assert true_delta > 100 * 1e-4


def test_extreme_arguments_give_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(ts_standard_epsilon(1e-300, 10**6, 2))
        assert np.isfinite(ts_corrected_standard_epsilon(1e-300, 10**6))
        # One round of 1/sqrt(2)-GDP has delta(0) = 0.276: no epsilon is needed above it.
        assert ts_corrected_standard_epsilon(0.9, 1) == 0
        assert ts_basic_standard_epsilon(0.9, 1) == 0
        assert np.isfinite(ts_basic_standard_epsilon(1e-300, 10**6))
        assert report_noisy_max_true_delta(1e4, 0.5, -1.0) == 0
