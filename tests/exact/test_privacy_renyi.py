"""Renyi DP against ts-is-dp (appendix C.2, Theorem 8), scipy and dp-accounting."""

from collections.abc import Callable

import dp_accounting
import numpy as np
import pytest
from dp_accounting import rdp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from dpbandits.errors import InputError
from dpbandits.privacy import (
    compose_rdp,
    gaussian_rdp_slope,
    optimal_order,
    rdp_to_dp,
    rdp_to_dp_at_order,
    ts_gaussian_rdp_epsilon,
)

# ts-is-dp, Theorems 3 to 8, reference values for T = 1000, column RDP.
DELTAS = [1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1e-1]
EPSILONS = [401.743, 385.723, 367.539, 345.971, 317.861, 297.985]


def test_reference_values() -> None:
    found = ts_gaussian_rdp_epsilon(np.array(DELTAS), 1000)
    np.testing.assert_allclose(found, EPSILONS, rtol=0, atol=5e-4)  # printed to three decimals


@pytest.mark.parametrize("alpha", [1.5, 2.0, 7.0])
def test_gaussian_slope_is_the_renyi_divergence(alpha: float) -> None:
    """Definition 3 of ts-is-dp, integrated, for N(0, sd^2) against N(s, sd^2)."""
    sensitivity, deviation = 0.5, 0.8
    p, q = norm(0, deviation), norm(sensitivity, deviation)
    integral = quad(
        lambda x: np.exp(alpha * p.logpdf(x) + (1 - alpha) * q.logpdf(x)), -15, 15, epsabs=1e-13
    )[0]
    divergence = np.log(integral) / (alpha - 1)
    # quad is asked for 1e-13 of an integral near 1.
    slope = gaussian_rdp_slope(sensitivity, deviation)
    assert slope * alpha == pytest.approx(divergence, rel=1e-9)


def test_round_of_thompson_sampling_has_slope_a_quarter() -> None:
    """ts-is-dp, Theorem 8: n = 1, sensitivity 1/2, variance 1/2; T rounds add."""
    slope = gaussian_rdp_slope(0.5, np.sqrt(0.5))
    assert slope == pytest.approx(0.25, rel=1e-15)
    assert compose_rdp(np.full(1000, slope)) == pytest.approx(250, rel=1e-13)
    assert np.array_equal(compose_rdp([[1.0, 2.0], [0.0, 4.0]]), [3, 4])


@given(
    log_slope=st.floats(np.log(1e-4), np.log(1e6)),
    log_delta_value=st.floats(np.log(1e-300), np.log(0.9)),
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_closed_form_is_the_minimum(log_slope: float, log_delta_value: float) -> None:
    slope, delta = float(np.exp(log_slope)), float(np.exp(log_delta_value))
    numeric = minimize_scalar(
        lambda logit: rdp_to_dp_at_order(slope * (1 + np.exp(logit)), 1 + np.exp(logit), delta),
        bounds=(-25, 25),
        method="bounded",
        options={"xatol": 1e-10},
    )
    # Near its minimum the function is flat: 1e-8 off in the order costs 1e-16 of epsilon.
    assert rdp_to_dp(slope, delta) == pytest.approx(numeric.fun, rel=1e-9)
    assert optimal_order(slope, delta) - 1 == pytest.approx(np.exp(numeric.x), rel=1e-4)
    order = optimal_order(slope, delta)
    if order - 1 > 1e-6:  # below, the order itself is rounded to less than ten digits above 1
        at_order = rdp_to_dp_at_order(slope * order, order, delta)
        assert at_order == pytest.approx(rdp_to_dp(slope, delta), rel=1e-9)


@pytest.mark.parametrize(("delta", "order"), [(1e-10, 1.3), (1e-1, 1.1)])
def test_optimal_orders_of_erratum_e6(delta: float, order: float) -> None:
    """TSDP-E6: alpha* = 1.1 to 1.3 for T = 1000; the closed form of section 3, item 6."""
    assert optimal_order(250.0, delta) == pytest.approx(order, abs=0.05)
    closed = 1 + 2 * np.sqrt(np.log(1 / delta) / 1000)
    assert optimal_order(250.0, delta) == pytest.approx(closed, rel=1e-14)


def test_integer_orders_are_far_worse() -> None:
    """TSDP-E6: an integer grid 2..64 would be far worse; at T = 1000, above 500."""
    grid = [ts_gaussian_rdp_epsilon(1e-6, 1000, alpha=float(a)) for a in range(2, 65)]
    assert min(grid) == pytest.approx(500 + np.log(1e6), rel=1e-14)
    assert min(grid) > 1.3 * ts_gaussian_rdp_epsilon(1e-6, 1000)


@pytest.mark.parametrize("alpha", [1.3, 2.0, 8.0])
@pytest.mark.parametrize("rounds", [1, 1000])
def test_agrees_with_the_rdp_accountant(alpha: float, rounds: int) -> None:
    """dp-accounting converts by Canonne, Kamath and Steinke (2020), Proposition 12.

    That is smaller than the conversion of ts-is-dp (Mironov, 2017) by exactly
    log(alpha)/(alpha - 1) - log(1 - 1/alpha).
    """
    accountant = rdp.RdpAccountant(orders=[alpha])
    accountant.compose(dp_accounting.GaussianDpEvent(np.sqrt(2)), rounds)
    tighter = np.log(alpha) / (alpha - 1) - np.log1p(-1 / alpha)
    expected = accountant.get_epsilon(1e-6) + tighter
    assert ts_gaussian_rdp_epsilon(1e-6, rounds, alpha=alpha) == pytest.approx(expected, rel=1e-12)


def test_scalars_give_floats_and_arrays_broadcast() -> None:
    assert isinstance(rdp_to_dp(250.0, 1e-6), float)
    assert isinstance(ts_gaussian_rdp_epsilon(1e-6, 1000), float)
    assert rdp_to_dp(np.ones((3, 1)), np.full(2, 0.1)).shape == (3, 2)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: rdp_to_dp(0.0, 0.1), "slope=0.0"),
        (lambda: rdp_to_dp(1.0, 1.0), "delta=1.0"),
        (lambda: optimal_order(1.0, 0.0), "delta=0.0"),
        (lambda: rdp_to_dp_at_order(1.0, 1.0, 0.1), "alpha=1.0"),
        (lambda: rdp_to_dp_at_order(-1.0, 2.0, 0.1), "gamma=-1.0"),
        (lambda: compose_rdp([-1.0]), "gammas=-1.0"),
        (lambda: gaussian_rdp_slope(-1.0, 1.0), "sensitivity=-1.0"),
        (lambda: ts_gaussian_rdp_epsilon(0.1, 0), "horizon=0"),
        (lambda: ts_gaussian_rdp_epsilon(0.1, 10, alpha=-5.0), "alpha=-5.0"),
    ],
)
def test_bad_arguments_end_in_one_line(call: Callable[[], object], named: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value).startswith(f"{named} is not allowed: it must be ")
    assert "\n" not in str(caught.value)
