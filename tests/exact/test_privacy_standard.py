"""Standard DP against ts-is-dp (appendix C.1): as printed, exact for two arms, and corrected."""

import warnings
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from dpbandits.errors import InputError
from dpbandits.privacy import (
    advanced_composition,
    delta,
    epsilon,
    report_noisy_max_epsilon,
    report_noisy_max_true_delta,
    ts_basic_standard_epsilon,
    ts_corrected_standard_epsilon,
    ts_round_epsilon,
    ts_standard_epsilon,
)

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


def test_scalars_give_floats_and_arrays_arrays() -> None:
    assert isinstance(ts_standard_epsilon(1e-6, 1000, 2), float)
    assert isinstance(ts_corrected_standard_epsilon(1e-6, 1000), float)
    table = ts_standard_epsilon(np.array([[1e-6], [1e-2]]), 1000, 2)
    assert table.shape == (2, 1)
    assert table[0, 0] == pytest.approx(ts_standard_epsilon(1e-6, 1000, 2), rel=1e-12)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: ts_round_epsilon(0.5, 2), "delta=0.5"),
        (lambda: ts_round_epsilon(1e-6, 1), "n_arms=1"),
        (lambda: ts_standard_epsilon(1e-6, 0, 2), "horizon=0"),
        (lambda: ts_standard_epsilon(1e-6, 10.0, 2), "horizon=10.0"),
        (lambda: ts_standard_epsilon(1e-6, 10, 1), "n_arms=1"),
        (lambda: ts_standard_epsilon(1.0, 10, 2), "delta=1.0"),
        (lambda: ts_standard_epsilon(0.6, 1, 2), "delta=0.6"),
        (lambda: ts_standard_epsilon(1e-6, 10, 2, "third"), "split='third'"),
        (lambda: ts_corrected_standard_epsilon(1e-6, 10, "third"), "split='third'"),
        (lambda: ts_basic_standard_epsilon(1.0, 10), "delta=1.0"),
        (lambda: ts_basic_standard_epsilon(1e-6, 0), "horizon=0"),
        (lambda: advanced_composition(-1.0, 10, 0.1), "epsilon0=-1.0"),
        (lambda: advanced_composition(1.0, 10, 0.0), "slack=0.0"),
        (lambda: report_noisy_max_epsilon(0.1, [1.0], [1.0]), "sensitivities=[1.0]"),
        (lambda: report_noisy_max_epsilon(0.1, [1.0, 1.0], [1.0, 0.0]), "standard_deviations=0.0"),
        (lambda: report_noisy_max_true_delta(-1.0, 1.0), "epsilon0=-1.0"),
        (lambda: report_noisy_max_true_delta(1.0, 0.0), "shift_ratio=0.0"),
        (lambda: report_noisy_max_true_delta(1.0, 1.0, float("nan")), "lowest=nan"),
    ],
)
def test_bad_arguments_end_in_one_line(call: Callable[[], object], named: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(f"{named} is not allowed: it must be ")
    assert "\n" not in str(caught.value)
