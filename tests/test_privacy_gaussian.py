"""Gaussian DP: duality, its inverses and composition, against formulas evaluated elsewhere."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbandits.privacy import delta, epsilon, eta_from, log_delta


def precise_log_delta(epsilon_value: float, eta: float) -> float:
    """The duality as printed (ts-is-dp, Lemma 1), in enough digits to survive its cancellation."""
    u = eta / 2 - epsilon_value / eta
    # phi(u) is about 10**(-u^2 / 4.6): that many digits cancel, and 60 more are kept.
    with mpmath.workdps(60 + int(u * u / 4)):
        e, h = mpmath.mpf(epsilon_value), mpmath.mpf(eta)
        first = mpmath.ncdf(-e / h + h / 2)
        return float(mpmath.log(first - mpmath.exp(e) * mpmath.ncdf(-e / h - h / 2)))


def test_log_delta_agrees_with_many_digits() -> None:
    epsilons = {
        1e-9: [3e-8],
        1e-3: [0.0, 1e-3, 0.0367],
        1e-2: [0.5, 0.38],
        1.0: [0.0, 4.88655, 37.0],
        22.36: [350.0],
        30.0: [0.0, 5.0],
        1000.0: [498_718.0, 5e5, 536_000.0],
    }
    pairs = [(each, eta) for eta, several in epsilons.items() for each in several]
    for epsilon_value, eta in pairs:
        expected = precise_log_delta(epsilon_value, eta)
        # Rounding of u = eta/2 - epsilon/eta alone moves log delta by |u| 1e-13 at eta = 1000.
        assert log_delta(epsilon_value, eta) == pytest.approx(expected, rel=1e-11, abs=1e-300)


log_deltas = st.floats(np.log(1e-300), np.log(0.9))


@pytest.mark.filterwarnings("error")
@given(log_eta=st.floats(np.log(1e-3), np.log(1e3)), log_delta_value=log_deltas)
def test_round_trip(log_eta: float, log_delta_value: float) -> None:
    eta, delta_value = float(np.exp(log_eta)), float(np.exp(log_delta_value))
    found = epsilon(delta_value, eta)
    if delta_value >= delta(0.0, eta):
        assert found == 0
        return
    # Rounding of epsilon and, at eta = 1e-3, of Mills' ratios: below 1e-11 of delta.
    assert log_delta(found, eta) == pytest.approx(np.log(delta_value), rel=1e-11, abs=1e-11)
    assert eta_from(found, delta_value) == pytest.approx(eta, rel=1e-9)


def test_eta_from_at_epsilon_zero() -> None:
    """delta(0) = 2 Phi(eta/2) - 1, so eta = 2 sqrt 2 erfinv(delta)."""
    for delta_value in [1e-300, 1e-20, 1e-6, 0.5, 0.9]:
        with mpmath.workdps(340):
            expected = float(2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(delta_value)))
        assert eta_from(0.0, delta_value) == pytest.approx(expected, rel=1e-11)


def test_scalars_give_floats_and_arrays_arrays() -> None:
    for function in (log_delta, delta, epsilon, eta_from):
        assert isinstance(function(0.5, 0.5), float)
        pair = function([0.5, 0.25], 0.5)
        assert pair.shape == (2,)
        assert pair[1] == function(0.25, 0.5)
        assert function(np.zeros((0, 3)), 0.5).shape == (0, 3)


@pytest.mark.filterwarnings("error")
def test_far_outside_the_doubles_there_is_no_warning() -> None:
    assert log_delta(1e100, 1e-100) == -np.inf
    assert delta(1e10, 1.0) == 0
    # M(x) and M(x + eta) are equal doubles here; -u^2/2 is all that log delta can show.
    assert log_delta(1e14, 1e-3) == pytest.approx(-5e33, rel=1e-15)
    assert delta(0.0, 1e6) == 1
    assert log_delta(1e5, 1e-3) == pytest.approx(-5e15, rel=1e-6)  # -(epsilon/eta)^2 / 2
