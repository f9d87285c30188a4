"""The exact audit of DP-BAI-Gauss: in many digits, by scans over tables, with controls.

"spec" is the restatement of dp-bai, "audit spec" that of the audit.
"""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from dpbandits import InputError, privacy
from dpbandits.papers.dp_bai.gauss_audit import (
    DELTAS,
    EPSILONS,
    LARGER_EPSILONS,
    deviation,
    needed_delta,
)


def excess(epsilon: float, m: float, s: float) -> mpmath.mpf:
    """Return Phi(-s m) - exp(epsilon) Phi(-(s + 1) m) in 40 digits (audit spec 4.3)."""
    with mpmath.workdps(40):
        far = mpmath.ncdf(-(mpmath.mpf(s) + 1) * m)
        return mpmath.ncdf(-mpmath.mpf(s) * m) - mpmath.exp(epsilon) * far


def test_needed_delta_in_one_dimension_is_the_maximum_of_the_audit_spec() -> None:
    for epsilon, delta in ((0.5, 0.01), (5.0, 0.3), (10.0, 0.1), (20.0, 1e-5)):
        m = 1.0 / deviation(epsilon, delta, "classical")
        expected = max(max(excess(epsilon, m, s) for s in range(60)), mpmath.mpf(0))
        found = needed_delta(epsilon, 1.0 / m, 60, two_sums=False, binary=True)
        assert found == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("two_sums", [True, False])
def test_needed_delta_is_a_scan_over_tables(two_sums: bool, binary: bool) -> None:
    """Both outputs, neighbours in both directions, sums 0..n; in between on a grid of 1/400."""
    pulls, step = 6, 1.0 if binary else 1 / 400
    for epsilon, delta in ((1.0, 0.3), (5.0, 0.3), (8.0, 0.5), (20.0, 0.9)):
        sigma = deviation(epsilon, delta, "classical")
        low = -pulls if two_sums else 0
        sums = np.arange(low, pulls - 1 + step / 2, step)
        scale = sigma * (math.sqrt(2.0) if two_sums else 1.0)
        wins = [norm.cdf(sums / scale), norm.cdf((sums + 1) / scale)]
        loses = [norm.sf(sums / scale), norm.sf((sums + 1) / scale)]
        scans = [p - math.exp(epsilon) * q for p, q in (wins, wins[::-1], loses, loses[::-1])]
        expected = max(float(np.max(scans)), 0.0)
        found = needed_delta(epsilon, sigma, pulls, two_sums=two_sums, binary=binary)
        assert found == pytest.approx(expected, abs=1e-9 if binary else 1e-4)


def test_needed_delta_is_at_most_that_of_the_released_sum() -> None:
    """Deciding by a released sum is post-processing: Gaussian DP with eta = 1 / deviation."""
    for epsilon, delta in itertools.product((*EPSILONS, *LARGER_EPSILONS), DELTAS):
        for calibration in ("classical", "analytic"):
            sigma = deviation(epsilon, delta, calibration)
            limit = privacy.delta(epsilon, 1.0 / sigma)
            found = needed_delta(epsilon, sigma, 5000, two_sums=False, binary=False)
            assert found <= limit * (1 + 1e-9)
            if calibration == "analytic":
                assert limit == pytest.approx(delta, rel=1e-9)


def test_the_classical_calibration_holds_below_1_and_fails_far_above() -> None:
    """Spec E9: proved for epsilon < 1. Ours: at 5 some table of [0, 1] needs 0.3035 > 0.3."""
    for delta in DELTAS:
        sigma = deviation(0.5, delta, "classical")
        assert needed_delta(0.5, sigma, 5000, two_sums=False, binary=False) < delta / 5
    sigma = deviation(5.0, 0.3, "classical")
    assert needed_delta(5.0, sigma, 11, two_sums=False, binary=True) < 0.3
    found = needed_delta(5.0, sigma, 11, two_sums=False, binary=False)
    assert found == pytest.approx(0.303538, abs=1e-6)
    best = 5.0 * sigma**2 - 0.5
    assert 0.0 < best < 1.0
    assert found == pytest.approx(float(excess(5.0, 1.0 / sigma, best)), rel=1e-9)
    sigma = deviation(10.0, 0.1, "classical")
    assert needed_delta(10.0, sigma, 11, two_sums=False, binary=True) > 0.4


def test_rewards_of_0_and_1_are_enough_between_the_deltas_of_the_audit() -> None:
    """Ours: at epsilon = 5 and delta = 0.4, off the grid, the sums 0 and 1 need 0.4313."""
    sigma = deviation(5.0, 0.4, "classical")
    found = needed_delta(5.0, sigma, 11, two_sums=False, binary=True)
    assert found == pytest.approx(float(excess(5.0, 1.0 / sigma, 0)), rel=1e-9)
    assert found == pytest.approx(0.431299, abs=1e-6)


def test_too_little_gaussian_noise_is_caught() -> None:
    """Negative control: a third of the classical deviation at epsilon = 0.5."""
    for delta in (1e-5, 0.01, 0.1):
        sigma = deviation(0.5, delta, "classical") / 3
        assert needed_delta(0.5, sigma, 5000, two_sums=False, binary=True) > delta


def test_unknown_calibration_is_refused() -> None:
    with pytest.raises(InputError, match="calibration is 'other'; allowed: classical, analytic"):
        deviation(1.0, 0.1, "other")
