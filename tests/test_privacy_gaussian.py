"""Gaussian DP: duality, its inverses and composition, against formulas evaluated elsewhere."""

from itertools import product

import dp_accounting
import mpmath
import numpy as np
import pytest
from dp_accounting import pld
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpbandits.privacy import (
    delta,
    epsilon,
    eta_from,
    log_delta,
)


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


def test_epsilon_solves_the_precise_duality() -> None:
    for eta, delta_value in product(
        [1e-3, 0.1, 1.0, 22.360679774997898, 1000.0], [1e-300, 1e-100, 1e-10, 1e-2, 0.3, 0.9]
    ):
        found = epsilon(delta_value, eta)
        if delta_value >= 2 * norm.cdf(eta / 2) - 1:
            assert found == 0
        else:
            # One unit in the last place of epsilon is worth up to 4e-12 of log delta (eta = 1000).
            assert precise_log_delta(found, eta) == pytest.approx(np.log(delta_value), abs=1e-10)


log_deltas = st.floats(np.log(1e-300), np.log(0.9))


@pytest.mark.filterwarnings("error")
@given(log_eta=st.floats(np.log(1e-3), np.log(1e3)), log_delta_value=log_deltas)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_round_trip(log_eta: float, log_delta_value: float) -> None:
    eta, delta_value = float(np.exp(log_eta)), float(np.exp(log_delta_value))
    found = epsilon(delta_value, eta)
    if delta_value >= delta(0.0, eta):
        assert found == 0
        return
    # Rounding of epsilon and, at eta = 1e-3, of Mills' ratios: below 1e-11 of delta.
    assert log_delta(found, eta) == pytest.approx(np.log(delta_value), rel=1e-11, abs=1e-11)
    assert eta_from(found, delta_value) == pytest.approx(eta, rel=1e-9)


@pytest.mark.filterwarnings("error")
@given(epsilon_value=st.floats(0, 1e6), log_delta_value=log_deltas)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_eta_from_inverts_log_delta(epsilon_value: float, log_delta_value: float) -> None:
    delta_value = float(np.exp(log_delta_value))
    eta = eta_from(epsilon_value, delta_value)
    # eta ~ 1e3 * u: as above, with epsilon up to 1e6.
    assert log_delta(epsilon_value, eta) == pytest.approx(np.log(delta_value), abs=1e-9)


def test_eta_from_at_epsilon_zero() -> None:
    """delta(0) = 2 Phi(eta/2) - 1, so eta = 2 sqrt 2 erfinv(delta)."""
    for delta_value in [1e-300, 1e-20, 1e-6, 0.5, 0.9]:
        with mpmath.workdps(340):
            expected = float(2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(delta_value)))
        assert eta_from(0.0, delta_value) == pytest.approx(expected, rel=1e-11)


def test_epsilon_agrees_with_the_privacy_loss_distribution() -> None:
    """T Gaussian mechanisms of noise multiplier sqrt 2 are sqrt(T/2)-GDP (ts-is-dp, Lemma 4).

    dp-accounting rounds privacy losses up to a grid of step 1e-3, by less in the end.
    """
    for rounds in (1, 10, 100):
        accountant = pld.PLDAccountant(value_discretization_interval=1e-3)
        accountant.compose(dp_accounting.GaussianDpEvent(np.sqrt(2)), rounds)
        for delta_value in (1e-3, 1e-6, 1e-10):
            excess = accountant.get_epsilon(delta_value) - epsilon(delta_value, np.sqrt(rounds / 2))
            assert -1e-9 <= excess <= 1e-5


def test_more_noise_or_more_delta_means_less_epsilon() -> None:
    etas, deltas = np.logspace(-2, 3, 41), np.logspace(-300, -0.1, 61)
    table = epsilon(deltas[:, None], etas)
    assert table.shape == (61, 41)
    falls, rises = np.diff(table, axis=0), np.diff(table, axis=1)
    assert np.all((falls < 0) | (table[1:] == 0))
    assert np.all((rises > 0) | (table[:, 1:] == 0))


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


def test_log_delta_has_no_step_where_its_form_changes() -> None:
    """Across u = 1 and across eta = 1e-5, where the forms agree to 1e-9 of delta."""
    for below, above in [
        ((4.0 - 1e-12, 4.0), (4.0 + 1e-12, 4.0)),
        ((1e-5, 1e-5 - 1e-16), (1e-5, 1e-5 + 1e-16)),
    ]:
        assert log_delta(*below) == pytest.approx(log_delta(*above), rel=0, abs=1e-9)
