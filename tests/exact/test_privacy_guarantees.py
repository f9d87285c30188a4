"""Guarantees of (Modified) Thompson Sampling, and the analytic claims of ts-is-dp about them."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from dpbandits.errors import InputError
from dpbandits.privacy import (
    Guarantee,
    delta,
    epsilon,
    instance_specific_gdp,
    modified_ts_delta,
    modified_ts_epsilon,
    modified_ts_gdp,
    required_c,
    ts_corrected_standard_epsilon,
    ts_gaussian_delta,
    ts_gaussian_epsilon,
    ts_gaussian_gdp,
    ts_gaussian_rdp_epsilon,
    ts_round_gdp,
    ts_standard_epsilon,
)

# The delta axis of Figures 1, 6 and 7 (ts-is-dp, Figures 1 to 8).
GRID = np.logspace(-10, -1, 61)


def test_reference_values_gdp() -> None:
    """ts-is-dp, Theorems 3 to 8, reference values, column GDP (T = 1000, Theorem 3)."""
    found = ts_gaussian_epsilon(np.array([1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1e-1]), 1000)
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
        found = modified_ts_epsilon(np.array([1e-6, 1e-1]), b, c, 1000)
        np.testing.assert_allclose(found, [small, large], rtol=0, atol=5e-3)  # two decimals


def test_lemmas_3_and_4() -> None:
    assert ts_round_gdp() == pytest.approx(math.sqrt(0.5), rel=1e-15)
    assert ts_round_gdp(3) == 0.5
    assert ts_gaussian_gdp(1000) == pytest.approx(math.sqrt(1000) * ts_round_gdp(), rel=1e-15)


def test_theorems_3_and_4_are_the_duality_of_the_lemmas() -> None:
    assert ts_gaussian_delta(100.0, 200) == delta(100.0, 10.0)
    assert modified_ts_delta(3.0, 1, 2.0, 36) == delta(3.0, 3.0)
    assert modified_ts_epsilon(1e-6, 1, 2.0, 36) == epsilon(1e-6, 3.0)


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


def test_claim_c4() -> None:
    """Claim TSDP-C4: monotone, symmetric in b and c, and "dramatic" at c (b + 1) = 2."""
    by_b = np.array([modified_ts_epsilon(GRID, b, 1.0, 1000) for b in (0, 1, 5, 10, 50)])
    by_c = np.array([modified_ts_epsilon(GRID, 0, c, 1000) for c in (1.0, 2.0, 6.0, 11.0, 51.0)])
    assert np.all(np.diff(by_b, axis=0) < 0)
    np.testing.assert_allclose(by_b, by_c, rtol=1e-9)
    ratio = by_b[1] / by_b[0]
    assert np.all(ratio <= 0.6)
    at = np.interp([-10, -6, -1], np.log10(GRID), ratio)
    np.testing.assert_allclose(at, [0.559, 0.547, 0.515], rtol=0, atol=5e-4)
    # Against Theorem 3 the first step gains nothing.
    by_theorem_3 = ts_gaussian_epsilon(GRID, 1000)
    np.testing.assert_allclose(by_b[1], by_theorem_3, rtol=1e-12)
    assert (by_b[2] / by_theorem_3).max() == pytest.approx(0.421, abs=5e-4)


@pytest.mark.parametrize(
    ("n_arms", "over_gdp", "over_rdp"),
    [(2, (7.1, 29.3), (6.7, 28.6)), (10, (9.6, 32.9), (8.9, 32.1))],
)
def test_claims_c14_and_c22(
    n_arms: int, over_gdp: tuple[float, float], over_rdp: tuple[float, float]
) -> None:
    """Claim TSDP-C14 and TSDP-C22: standard DP over GDP and over RDP, T = 1000, best split."""
    standard = ts_standard_epsilon(GRID, 1000, n_arms)
    for other, (low, high) in [
        (ts_gaussian_epsilon(GRID, 1000), over_gdp),
        (ts_gaussian_rdp_epsilon(GRID, 1000), over_rdp),
    ]:
        ratio = standard / other
        assert ratio.min() == pytest.approx(low, abs=0.05)  # one decimal printed
        assert ratio.max() == pytest.approx(high, abs=0.05)
        assert ratio.min() >= 5  # the claim


def test_claim_c14_with_the_corrected_curve() -> None:
    """Claim TSDP-C14: a gap of 107 to 2430 over GDP, at three digits."""
    ratio = ts_corrected_standard_epsilon(GRID, 1000) / ts_gaussian_epsilon(GRID, 1000)
    assert ratio.min() == pytest.approx(107, abs=0.5)
    assert ratio.max() == pytest.approx(2430, abs=5)


def test_claim_c15() -> None:
    """Claim TSDP-C15: ratio RDP over GDP 1.027 to 1.073; GDP never worse on 1e-300..0.9."""
    ratio = ts_gaussian_rdp_epsilon(GRID, 1000) / ts_gaussian_epsilon(GRID, 1000)
    assert ratio.min() == pytest.approx(1.027, abs=5e-4)
    assert ratio.max() == pytest.approx(1.073, abs=5e-4)
    wide = np.append(np.logspace(-300, -1, 300), 0.9)
    assert np.all(ts_gaussian_epsilon(wide, 1000) <= ts_gaussian_rdp_epsilon(wide, 1000))


@pytest.mark.parametrize(
    ("delta_value", "difference", "ratio"),
    [(1e-300, 3.3, None), (1e-10, 10.4, 1.027), (1e-1, 20.3, 1.073), (0.9, 39.9, 1.181)],
)
def test_claim_c16(delta_value: float, difference: float, ratio: float | None) -> None:
    """TSDP-E6: at the best order RDP minus GDP, and their ratio, grow with delta."""
    by_rdp = ts_gaussian_rdp_epsilon(delta_value, 1000)
    by_gdp = ts_gaussian_epsilon(delta_value, 1000)
    assert by_rdp - by_gdp == pytest.approx(difference, abs=0.05)  # one decimal printed
    if ratio is not None:
        assert by_rdp / by_gdp == pytest.approx(ratio, abs=5e-4)


@pytest.mark.parametrize(("n_arms", "exponent"), [(2, -2.5), (10, -1.2)])
def test_claim_c23(n_arms: int, exponent: float) -> None:
    """Claim TSDP-C23: standard DP is 10 times GDP or more up to about 10^-2.5 and 10^-1.2."""
    fine = np.logspace(-10, -1, 901)
    ratio = ts_standard_epsilon(fine, 1000, n_arms) / ts_gaussian_epsilon(fine, 1000)
    tenfold = ratio >= 10
    assert np.log10(fine[tenfold].max()) == pytest.approx(exponent, abs=0.05)  # one decimal
    assert tenfold.mean() >= 0.5
    assert ratio.max() == pytest.approx(32.9 if n_arms == 10 else 29.3, abs=0.05)


def test_claim_c27_instance_specific_accounting() -> None:
    """Claim TSDP-C27 by hand: arm 1 after its pull waits two rounds at n = 1 and one at n = 2."""
    sums = [2 / 2 + 1 / 3, 1 / 2]
    assert instance_specific_gdp(sums, 2.0) == pytest.approx(math.sqrt(2 / 3), rel=1e-15)
    assert instance_specific_gdp([sums, [3.0, 6.0]], 1.0)[1] == pytest.approx(math.sqrt(6))


def test_instance_specific_reaches_the_bound_for_an_arm_pulled_once() -> None:
    """Erratum TSDP-E3: T rounds after a single pull sum to T/2, which is Lemma 4."""
    horizon = 400
    assert instance_specific_gdp([horizon / 2, 3.0], 1.0) == ts_gaussian_gdp(horizon)


def randomised_response_delta(parameter: float, epsilon_value: float) -> float:
    """Largest P(event) - exp(epsilon) Q(event) of a coin that tells the truth at odds exp(p)."""
    truth, lie = 1 / (1 + math.exp(-parameter)), 1 / (1 + math.exp(parameter))
    return max(truth - math.exp(epsilon_value) * lie, 0.0)


@pytest.mark.parametrize("parameter", [0.1, 1.0, 4.88, 20.0])
def test_pure_guarantee_is_that_of_randomised_response(parameter: float) -> None:
    guarantee = Guarantee("pure", parameter)
    for share in (0.0, 0.3, 0.9, 1.0, 1.5):
        expected = randomised_response_delta(parameter, share * parameter)
        # The reference subtracts two numbers below 1; exp(20) costs it a few digits.
        assert guarantee.delta(share * parameter) == pytest.approx(expected, abs=1e-14)
    for value in (1e-6, 0.01, 0.9):
        found = guarantee.epsilon(value)
        if value >= guarantee.delta(0.0):
            assert found == 0
        else:
            assert 0 < found < parameter
            # Again numbers below 1 are subtracted, and epsilon = 20 is rounded up by 4e-14.
            assert randomised_response_delta(parameter, found) == pytest.approx(value, abs=6e-14)


def test_gdp_guarantee_converts_by_the_duality() -> None:
    guarantee = Guarantee("gdp", 5.0)
    # Rounded up by 1e-12 of delta.
    assert guarantee.epsilon(1e-6) == pytest.approx(epsilon(1e-6, 5.0), rel=1e-12)
    assert guarantee.delta(35.0) == pytest.approx(delta(35.0, 5.0), rel=2e-12)
    np.testing.assert_allclose(guarantee.epsilon(GRID), epsilon(GRID, 5.0), rtol=1e-12)


@pytest.mark.parametrize("kind", ["gdp", "pure"])
def test_parameter_zero_is_perfect_privacy(kind: str) -> None:
    guarantee = Guarantee(kind, 0.0)
    assert np.array_equal(guarantee.epsilon(GRID), np.zeros(61))
    assert guarantee.delta(0.0) == 0


def test_no_guarantee() -> None:
    guarantee = Guarantee("none")
    assert guarantee.epsilon(0.5) == math.inf
    assert guarantee.delta(100.0) == 1


def test_guarantees_describe_themselves() -> None:
    assert Guarantee("gdp", math.sqrt(500)).describe() == "22.3607-GDP"
    assert Guarantee("pure", 0.5).describe() == "0.5-DP (pure)"
    assert Guarantee("none").describe() == "no privacy guarantee"


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ts_gaussian_gdp(0), "horizon=0"),
        (lambda: ts_round_gdp(0), "pulls=0"),
        (lambda: ts_gaussian_epsilon(0.0, 10), "delta=0.0"),
        (lambda: ts_gaussian_delta(-1.0, 10), "epsilon=-1.0"),
        (lambda: modified_ts_gdp(-1, 1.0, 10), "b=-1"),
        (lambda: modified_ts_gdp(1.5, 1.0, 10), "b=1.5"),
        (lambda: modified_ts_gdp(True, 1.0, 10), "b=True"),
        (lambda: modified_ts_gdp(0, 0.0, 10), "c=0.0"),
        (lambda: modified_ts_gdp(0, [1.0, 2.0], 10), "c=[1.0, 2.0]"),
        (lambda: modified_ts_gdp(0, 1.0, 0), "horizon=0"),
        (lambda: modified_ts_gdp(0, 1.0, 10, interpretation="lemma6"), "interpretation='lemma6'"),
        (lambda: modified_ts_gdp(0, 1.0, 10, rounds="all"), "rounds='all'"),
        (lambda: modified_ts_gdp(0, 1.0, 10, rounds="sampling-rounds"), "n_arms=None"),
        (lambda: modified_ts_gdp(0, 1.0, 10, rounds="sampling-rounds", n_arms=1), "n_arms=1"),
        (lambda: required_c(0, 0.0, 10), "eta=0.0"),
        (lambda: instance_specific_gdp([-1.0], 1.0), "inverse_count_sums=-1.0"),
        (lambda: instance_specific_gdp([1.0], -1.0), "c=-1.0"),
        (lambda: Guarantee("zcdp", 1.0), "kind='zcdp'"),
        (lambda: Guarantee("gdp"), "parameter=inf"),
        (lambda: Guarantee("pure", -1.0), "parameter=-1.0"),
        (lambda: Guarantee("none", 1.0), "parameter=1.0"),
        (lambda: Guarantee("pure", 1.0).epsilon(1.0), "delta=1.0"),
        (lambda: Guarantee("pure", 1.0).delta(-1.0), "epsilon=-1.0"),
    ],
)
def test_bad_arguments_end_in_one_line(call: Callable[[], object], named: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(f"{named} is not allowed: it must be ")
    assert "\n" not in str(caught.value)
