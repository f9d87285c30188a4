"""Conversions between kinds of guarantee, against dp-accounting, scipy, mpmath and ts-is-dp."""

import math
from functools import partial
from itertools import product

import dp_accounting
import mpmath as mp
import numpy as np
import pytest
from dp_accounting import pld, rdp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from dpbandits.privacy import (
    Guarantee,
    convert,
    improved_rdp_to_dp,
    improved_zcdp_epsilon,
    pure_to_gdp,
    pure_to_rdp,
    rdp_to_dp,
    rdp_to_dp_at_order,
    ts_gaussian_rdp_epsilon,
    zcdp_delta,
)
from support import refused


def test_the_improved_conversion_is_that_of_dp_accounting() -> None:
    for gamma, alpha, delta in product((0.01, 0.5, 3.0), (1.5, 8.0, 64.0), (1e-10, 1e-5, 0.05)):
        expected, order = rdp.compute_epsilon([alpha], [gamma], delta)
        found = improved_rdp_to_dp(gamma, alpha, delta)
        assert found < rdp_to_dp_at_order(gamma, alpha, delta)
        # dp-accounting besides returns 0 where a bound on the total variation allows it.
        if expected > 0.0:
            assert order == alpha
            assert found == pytest.approx(expected, rel=1e-12)


def test_zcdp() -> None:
    """Mironov's is the weakest; none is below the exact curve of the Gaussian mechanism."""
    for delta, rho in product([1e-12, 1e-6, 1e-2], [1e-6, 0.02, 0.5, 40.0]):
        found, guarantee = improved_zcdp_epsilon(rho, delta), Guarantee("zcdp", rho)
        exact = Guarantee("gdp", math.sqrt(2.0 * rho)).epsilon(delta)
        assert exact * (1.0 - 1e-9) <= found <= rdp_to_dp(rho, delta)
        assert found == 0.0 or zcdp_delta(rho, found) == pytest.approx(delta, rel=1e-5)
        assert guarantee.epsilon(delta) == found
        assert guarantee.delta(0.3) == zcdp_delta(rho, 0.3)


def test_zcdp_against_dp_accounting() -> None:
    """Its accountant has a fixed list of orders, so that it is above ours, by little."""
    for rho in [0.02, 0.5, 2.0]:
        accountant = rdp.RdpAccountant()
        accountant.compose(dp_accounting.GaussianDpEvent(math.sqrt(1.0 / (2.0 * rho))))
        for delta in (1e-9, 1e-5):
            expected = accountant.get_epsilon(delta)
            found = improved_zcdp_epsilon(rho, delta)
            assert expected * 0.99 <= found <= expected * (1.0 + 1e-12)
        assert zcdp_delta(rho, 3.0) == pytest.approx(accountant.get_delta(3.0), rel=0.02)


def test_gaussian_and_pure_against_dp_accounting() -> None:
    for level, event, delta, below, most in [
        (Guarantee("gdp", 1.5), dp_accounting.GaussianDpEvent(1.0 / 1.5), 1e-6, 1e-3, 1.001),
        (Guarantee("pure", 1.0), dp_accounting.LaplaceDpEvent(1.0), 1e-2, 1e-6, math.inf),
    ]:
        [found] = convert(level, "approximate", delta=delta)
        accountant = pld.PLDAccountant()
        accountant.compose(event)
        least = accountant.get_epsilon(delta)
        assert least * (1.0 - below) <= found.guarantee.parameter <= least * most


def test_pure_to_gaussian_touches_the_kink() -> None:
    """G_eta(x) = Phi(Phi^-1(1 - x) - eta) is at most max(1 - e^eps x, e^-eps (1 - x))."""
    for epsilon in [1e-20, 1e-3, 0.5, 0.999, 1.0, 4.0, 40.0]:
        eta = pure_to_gdp(epsilon)
        with mp.workdps(60):
            kink = 1 / (1 + mp.exp(mp.mpf(epsilon)))
            gap = mp.ncdf(-mp.mpf(eta) / 2) - kink
            assert gap <= 0
            assert abs(gap) <= 1e-12 * mp.mpf(eta)
        x = np.linspace(1e-6, 1.0 - 1e-6, 2001)
        curve = norm.cdf(norm.isf(x) - eta)
        pure = np.maximum(1.0 - math.exp(epsilon) * x, math.exp(-epsilon) * (1.0 - x))
        assert (curve <= pure + 1e-12).all()


def test_pure_to_renyi_is_randomised_response() -> None:
    for epsilon, alpha in product([1e-6, 1e-3, 1.0, 20.0], [1.01, 2.0, 30.0]):
        with mp.workdps(60):
            e, a = mp.mpf(epsilon), mp.mpf(alpha)
            expected = mp.log((mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e))) / (a - 1)
        found = pure_to_rdp(epsilon, alpha)
        assert found >= float(expected) * (1.0 - 1e-9)
        assert found == pytest.approx(float(expected), rel=1e-4)
        assert found <= min(epsilon, alpha * epsilon**2 / 2.0) * (1.0 + 1e-12)


def test_conversions_in_closed_form() -> None:
    for level, kind, wanted, value in [
        (Guarantee("gdp", 2.0), "zcdp", {}, 2.0),
        (Guarantee("gdp", 2.0), "renyi", {"order": 3.0}, 6.0),
        (Guarantee("zcdp", 2.0), "renyi", {"order": 3.0}, 6.0),
        (Guarantee("pure", 2.0), "zcdp", {}, 2.0),
        (Guarantee("renyi", 2.0, order=5.0), "renyi", {"order": 3.0}, 2.0),
        (Guarantee("pure", 2.0), "pure", {}, 2.0),
        (Guarantee("pure", 2.0), "approximate", {"epsilon": 3.0}, 3.0),
    ]:
        [found] = convert(level, kind, **wanted)
        assert found.guarantee.parameter == pytest.approx(value, rel=1e-14)


def test_both_named_conversions_of_renyi_dp() -> None:
    level = Guarantee("renyi", 0.5, order=8.0)
    found = convert(level, "approximate", delta=1e-6)
    assert [(each.guarantee.parameter, each.source.split()[0].rstrip(",")) for each in found] == [
        (rdp_to_dp_at_order(0.5, 8.0, 1e-6), "Mironov"),
        (improved_rdp_to_dp(0.5, 8.0, 1e-6), "Canonne"),
    ]
    [back] = convert(level, "approximate", epsilon=found[1].guarantee.parameter)
    assert back.guarantee.slack == pytest.approx(1e-6, rel=1e-9)


def test_what_does_not_follow_is_refused() -> None:
    extra = {"renyi": {"order": 2.0}, "approximate": {"slack": 0.1}}
    for kind in ["gdp", "zcdp", "renyi", "approximate"]:
        level = Guarantee(kind, 1.0, **extra.get(kind, {}))
        refused(partial(convert, level, "pure"), "pure: does not follow")
        refused(partial(convert, Guarantee("none"), kind), "given.kind='none'", "pure")


@given(
    log_slope=st.floats(np.log(1e-4), np.log(1e6)),
    log_delta_value=st.floats(np.log(1e-300), np.log(0.9)),
)
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


def test_agrees_with_the_rdp_accountant() -> None:
    """It converts by Canonne, Kamath and Steinke (2020), ts-is-dp by Mironov (2017): more."""
    for rounds, alpha in product([1, 1000], [1.3, 2.0, 8.0]):
        accountant = rdp.RdpAccountant(orders=[alpha])
        accountant.compose(dp_accounting.GaussianDpEvent(np.sqrt(2)), rounds)
        more = np.log(alpha) / (alpha - 1) - np.log1p(-1 / alpha)
        found = ts_gaussian_rdp_epsilon(1e-6, rounds, alpha=alpha)
        assert found == pytest.approx(accountant.get_epsilon(1e-6) + more, rel=1e-12)
