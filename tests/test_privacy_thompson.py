"""Guarantees of TS-Gaussian, Modified TS and DP-TS-UCB, by hand and by other computations.

The numbers that ts-is-dp and dp-ts-ucb print are compared with published tables, which these
functions make, in `test_ts_is_dp_analytic` and `test_dp_ts_ucb_analytic`.
"""

import math
from itertools import product

import numpy as np
import pytest
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
    report_noisy_max_true_delta,
    required_c,
    ts_basic_standard_epsilon,
    ts_corrected_standard_epsilon,
    ts_gaussian_gdp,
    ts_round_epsilon,
    ts_round_gdp,
    ts_standard_epsilon,
)


def test_lemmas_3_to_5() -> None:
    assert ts_round_gdp() == pytest.approx(math.sqrt(0.5), rel=1e-15)
    assert ts_round_gdp(3) == 0.5
    assert ts_gaussian_gdp(1000) == pytest.approx(math.sqrt(1000) * ts_round_gdp(), rel=1e-15)
    # TSDP-C3 and TSDP-E2: 316.23 by Lemma 5, 223.6 by Lemma 4, for the same algorithm.
    assert modified_ts_gdp(0, 1.0, 100_000) == pytest.approx(316.23, abs=5e-3)
    assert ts_gaussian_gdp(100_000) == pytest.approx(223.6, abs=0.05)
    by_lemma_4 = modified_ts_gdp(0, 1.0, 100_000, interpretation="lemma4")
    assert by_lemma_4 == pytest.approx(ts_gaussian_gdp(100_000), rel=1e-15)
    for b in (1, 7):  # the interpretations part at b = 0 only
        assert modified_ts_gdp(b, 2.0, 99, interpretation="lemma4") == modified_ts_gdp(b, 2.0, 99)


def test_required_c_inverts_lemma_5() -> None:
    for eta, b in product((1.0, 2.0, 5.0, 10.0), (0, 500, 10_000)):
        c = required_c(b, eta, 100_000)
        assert modified_ts_gdp(b, c, 100_000) == pytest.approx(eta, rel=1e-14)
    # ts-is-dp, Figures 1 to 8: at most 1 from b = 3999 on.
    found = [required_c(b, 5.0, 100_000) for b in (3999, 5000, 10_000)]
    assert found == pytest.approx([1.0, 0.8, 0.4], abs=5e-4)


def test_instance_specific_accounting() -> None:
    """TSDP-C27 by hand: arm 1 after its pull waits two rounds at n = 1 and one at n = 2."""
    sums = [2 / 2 + 1 / 3, 1 / 2]
    assert instance_specific_gdp(sums, 2.0) == pytest.approx(math.sqrt(2 / 3), rel=1e-15)
    assert instance_specific_gdp([sums, [3.0, 6.0]], 1.0)[1] == pytest.approx(math.sqrt(6))
    # T rounds after a single pull sum to T/2, which is Lemma 4.
    assert instance_specific_gdp([400 / 2, 3.0], 1.0) == ts_gaussian_gdp(400)


def test_draws_compose() -> None:
    """dp-ts-ucb, proof of Theorem 4.4: floor(phi) draws make sqrt(phi / ln(T)^alpha), no more.

    Theorem 4.4 counts them twice (DTU-E8).
    """
    for alpha in [0.0, 0.25, 0.5, 0.75, 1.0]:
        draws = math.floor(dp_ts_ucb_budget(alpha, 10_000))
        composed = float(compose_gdp(np.full(draws, math.log(10_000) ** (-alpha / 2))))
        tight = dp_ts_ucb_gdp(alpha, 10_000, interpretation="tight")
        assert composed <= tight < composed * math.sqrt((draws + 1) / draws)
        printed = dp_ts_ucb_gdp(alpha, 10_000)
        assert printed == pytest.approx(float(compose_gdp([tight, tight])), rel=1e-14)


def test_equal_privacy_is_that_of_theorem_4_4() -> None:
    for b, alpha in product([0, 1, 2000], [0.0, 0.3, 1.0]):
        eta, c = dp_ts_ucb_gdp(alpha, 10**6), equal_privacy_c(alpha, b, 10**6)
        assert modified_ts_gdp(b, c, 10**6) == pytest.approx(eta, rel=1e-13)
        assert required_c(b, eta, 10**6) == pytest.approx(c, rel=1e-13)
        # DTU-E1: with the root of Section 5.3 it is another.
        assert equal_privacy_c(alpha, b, 10**6, root=True) == pytest.approx(math.sqrt(c), rel=1e-14)


def test_best_split_is_the_minimum_over_shares() -> None:
    """Corollary 1 on a fine grid of shares x, whose best is about 97 to 99 %; None: corrected."""
    for n_arms, delta_value in product([2, 10, None], [1e-10, 1e-6, 1e-2, 1e-1]):
        share = np.linspace(0.9, 0.9999, 25_000)
        if n_arms is None:
            per_round = epsilon(share * delta_value / 1000, np.sqrt(0.5))
            found = ts_corrected_standard_epsilon(delta_value, 1000)
            half = ts_corrected_standard_epsilon(delta_value, 1000, "half")
            one = epsilon(delta_value / 2000, np.sqrt(0.5))
            # TSDP-F2: rounds of delta/T each, whose epsilons add up.
            basic = 1000 * epsilon(delta_value / 1000, np.sqrt(0.5))
            assert ts_basic_standard_epsilon(delta_value, 1000) == pytest.approx(basic, rel=1e-12)
        else:
            odds = 1000 * (n_arms - 1) / (2 * share * delta_value)
            per_round = np.sqrt(np.log(odds)) / (2 * np.sqrt(2))
            found = ts_standard_epsilon(delta_value, 1000, n_arms)
            half = ts_standard_epsilon(delta_value, 1000, n_arms, "half")
            one = np.sqrt(np.log(2000 * (n_arms - 1) / (2 * delta_value)) / 8)
        assert half == pytest.approx(advanced_composition(one, 1000, delta_value / 2), rel=1e-13)
        width = np.sqrt(2000 * np.log(1 / (delta_value * (1 - share))))
        on_grid = per_round * width + 1000 * per_round * (np.exp(per_round) - 1)
        # The grid step of 4e-6 misses the minimum by its square.
        assert found == pytest.approx(on_grid.min(), rel=1e-9)
        assert n_arms is None or 0.965 <= share[on_grid.argmin()] <= 0.995


def test_theorems_by_hand() -> None:
    # Corollary 1 with eps0 = log 2, T = 8, slack = exp(-4): log 2 * (sqrt 64 + 8).
    found = advanced_composition(np.log(2), 8, np.exp(-4))
    assert found == pytest.approx(16 * np.log(2), rel=1e-14)
    # Theorem 7: (N - 1)/(2 delta) = exp(4) for N = 3: half of sqrt 4 over sqrt 2.
    assert ts_round_epsilon(np.exp(-4), 3) == pytest.approx(np.sqrt(0.5), rel=1e-14)
    # TSDP-E8, Lemma 13: delta = 1e-6, eps = 1 allow the shift 0.552; its true delta is 0.0123.
    shift = 2 / np.sqrt(np.log(1 / 2e-6))
    assert shift == pytest.approx(0.552, abs=5e-4)
    assert delta(1.0, shift) == pytest.approx(0.0123, abs=5e-5)


def test_true_delta_is_the_supremum_over_mean_differences() -> None:
    for lowest, epsilon0, shift in product(
        [-np.inf, -np.sqrt(2), -0.5, 1.0], [0.0, 0.3, 1.281, 3.308], [0.1, 0.5, np.sqrt(0.5), 2.0]
    ):
        start = max(lowest, -epsilon0 / shift - shift / 2 - 6)
        grid = np.linspace(start, start + 12, 120_001)
        gaps = norm.cdf(grid + shift) - np.exp(epsilon0) * norm.cdf(grid)
        # A grid of step 1e-4 misses an inner maximum by less than 1e-8.
        exact = report_noisy_max_true_delta(epsilon0, shift, lowest)
        assert exact == pytest.approx(max(gaps.max(), 0.0), abs=1e-8)


@pytest.mark.filterwarnings("error")
def test_extreme_arguments_give_no_warning() -> None:
    assert advanced_composition(1e4, 1, 0.1) == np.inf
    assert np.isfinite(ts_standard_epsilon(1e-300, 10**6, 2))
    assert np.isfinite(ts_corrected_standard_epsilon(1e-300, 10**6))
    # One round of 1/sqrt(2)-GDP has delta(0) = 0.276: no epsilon is needed above it.
    assert ts_corrected_standard_epsilon(0.9, 1) == 0
    assert ts_basic_standard_epsilon(0.9, 1) == 0
    assert np.isfinite(ts_basic_standard_epsilon(1e-300, 10**6))
    assert report_noisy_max_true_delta(1e4, 0.5, -1.0) == 0
