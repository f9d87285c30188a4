"""Conversions between kinds of guarantee, against dp-accounting, brute force and mpmath."""

import itertools
import math

import dp_accounting
import mpmath as mp
import numpy as np
import pytest
from dp_accounting import pld, rdp
from scipy.stats import norm

from dpbandits.errors import InputError
from dpbandits.privacy import (
    Guarantee,
    Level,
    convert,
    improved_rdp_to_dp,
    improved_zcdp_epsilon,
    pure_to_gdp,
    pure_to_rdp,
    rdp_to_dp,
    rdp_to_dp_at_order,
    tight_rdp_to_dp,
    zcdp_delta,
    zcdp_epsilon,
)
from dpbandits.privacy.tight import least_divergence

POINTS = [
    (gamma, alpha, delta)
    for gamma in (0.01, 0.5, 3.0)
    for alpha in (1.5, 2.0, 8.0, 64.0)
    for delta in (1e-10, 1e-5, 0.05)
]


@pytest.mark.parametrize(("gamma", "alpha", "delta"), POINTS)
def test_the_improved_conversion_is_that_of_dp_accounting(
    gamma: float, alpha: float, delta: float
) -> None:
    expected, order = rdp.compute_epsilon([alpha], [gamma], delta)
    found = improved_rdp_to_dp(gamma, alpha, delta)
    # dp-accounting besides returns 0 where a bound on the total variation allows it.
    if expected > 0.0:
        assert order == alpha
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("gamma", "alpha", "delta"), POINTS)
def test_conversions_of_one_order_are_in_order(gamma: float, alpha: float, delta: float) -> None:
    improved = improved_rdp_to_dp(gamma, alpha, delta)
    assert tight_rdp_to_dp(gamma, alpha, delta) <= improved
    assert improved < rdp_to_dp_at_order(gamma, alpha, delta)


@pytest.mark.parametrize(("gamma", "alpha", "delta"), POINTS)
def test_the_tight_conversion_is_attained(gamma: float, alpha: float, delta: float) -> None:
    """Brute force over pairs on two points: the largest epsilon that has this delta."""
    found = tight_rdp_to_dp(gamma, alpha, delta)
    share = np.geomspace(1e-14, 1.0, 20_001)[:-1]
    p = delta + (1.0 - delta) * np.concatenate([share, 1.0 - share[:-1]])
    p = p[(p > delta) & (p < 1.0)]

    def least(epsilon: float) -> float:
        q = (p - delta) * math.exp(-epsilon)
        first = alpha * np.log(p) + (1.0 - alpha) * np.log(q)
        second = alpha * np.log1p(-p) + (1.0 - alpha) * np.log1p(-q)
        return float((np.logaddexp(first, second) / (alpha - 1.0)).min())

    assert least(found * (1.0 + 1e-9) + 1e-12) >= gamma * (1.0 - 1e-6)
    if found > 1e-6:
        assert least(found * (1.0 - 1e-4)) < gamma


@pytest.mark.parametrize("alpha", [1.00011, 1.5, 3.0, 40.0])
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 30.0])
def test_the_least_divergence_by_high_precision(alpha: float, epsilon: float) -> None:
    delta = 1e-4
    with mp.workdps(40):

        def divergence(share: mp.mpf) -> mp.mpf:
            p = delta + (1 - mp.mpf(delta)) * share
            q = (p - delta) * mp.exp(-epsilon)
            total = p**alpha * q ** (1 - mp.mpf(alpha))
            total += (1 - p) ** alpha * (1 - q) ** (1 - mp.mpf(alpha))
            return mp.log(total) / (mp.mpf(alpha) - 1)

        grid = [mp.mpf(10) ** (mp.mpf(place) / 100) for place in range(-900, 0)]
        expected = min(divergence(share) for share in grid)
    found = least_divergence(epsilon, delta, alpha)
    assert found <= float(expected) * (1.0 + 1e-9)
    assert found == pytest.approx(float(expected), rel=2e-3)


def test_near_order_one_nothing_is_promised_that_kl_does_not_give() -> None:
    """The divergence of order 1 is at most that of any larger order."""
    for delta in (1e-6, 0.2, 0.5):
        near = [tight_rdp_to_dp(1.0, 1.0 + gap, delta) for gap in (1e-15, 1e-8, 1e-5, 2e-4, 1e-2)]
        assert all(low <= high * (1.0 + 1e-9) for high, low in itertools.pairwise(near))


@pytest.mark.parametrize("rho", [1e-6, 0.02, 0.5, 40.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
def test_zcdp(rho: float, delta: float) -> None:
    """Mironov's is the weakest; none is below the exact curve of the Gaussian mechanism."""
    improved, found = improved_zcdp_epsilon(rho, delta), zcdp_epsilon(rho, delta)
    assert found <= improved <= rdp_to_dp(rho, delta)
    assert found >= Guarantee("gdp", math.sqrt(2.0 * rho)).epsilon(delta) * (1.0 - 1e-9)
    if improved > 0.0:
        assert zcdp_delta(rho, improved) == pytest.approx(delta, rel=1e-5)
    guarantee = Guarantee("renyi", rho)
    assert guarantee.epsilon(delta) == found
    assert guarantee.delta(0.3) == zcdp_delta(rho, 0.3)


@pytest.mark.parametrize("rho", [0.02, 0.5, 2.0])
def test_zcdp_against_dp_accounting(rho: float) -> None:
    """Its accountant has a fixed list of orders, so that it is above ours, by little."""
    accountant = rdp.RdpAccountant()
    accountant.compose(dp_accounting.GaussianDpEvent(math.sqrt(1.0 / (2.0 * rho))))
    for delta in (1e-9, 1e-5):
        expected = accountant.get_epsilon(delta)
        found = improved_zcdp_epsilon(rho, delta)
        assert expected * 0.99 <= found <= expected * (1.0 + 1e-12)
    assert zcdp_delta(rho, 3.0) == pytest.approx(accountant.get_delta(3.0), rel=0.02)


def test_gaussian_and_pure_against_dp_accounting() -> None:
    [found] = convert(Level("gdp", 1.5), "approximate", delta=1e-6)
    accountant = pld.PLDAccountant()
    accountant.compose(dp_accounting.GaussianDpEvent(1.0 / 1.5))
    assert found.level.value == pytest.approx(accountant.get_epsilon(1e-6), rel=1e-3)
    [found] = convert(Level("pure", 1.0), "approximate", delta=1e-2)
    accountant = pld.PLDAccountant()
    accountant.compose(dp_accounting.LaplaceDpEvent(1.0))
    assert found.level.value >= accountant.get_epsilon(1e-2) * (1.0 - 1e-6)


@pytest.mark.parametrize("epsilon", [1e-20, 1e-3, 0.5, 0.999, 1.0, 4.0, 40.0])
def test_pure_to_gaussian_touches_the_kink(epsilon: float) -> None:
    """G_eta(x) = Phi(Phi^-1(1 - x) - eta) is at most max(1 - e^eps x, e^-eps (1 - x))."""
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


@pytest.mark.parametrize("alpha", [1.01, 2.0, 30.0])
@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 1.0, 20.0])
def test_pure_to_renyi_is_randomised_response(alpha: float, epsilon: float) -> None:
    with mp.workdps(60):
        e, a = mp.mpf(epsilon), mp.mpf(alpha)
        expected = mp.log((mp.exp(a * e) + mp.exp((1 - a) * e)) / (1 + mp.exp(e))) / (a - 1)
    found = pure_to_rdp(epsilon, alpha)
    assert found >= float(expected) * (1.0 - 1e-9)
    assert found == pytest.approx(float(expected), rel=1e-4)
    assert found <= min(epsilon, alpha * epsilon**2 / 2.0) * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("level", "kind", "wanted", "value"),
    [
        (Level("gdp", 2.0), "zcdp", {}, 2.0),
        (Level("gdp", 2.0), "renyi", {"order": 3.0}, 6.0),
        (Level("zcdp", 2.0), "renyi", {"order": 3.0}, 6.0),
        (Level("pure", 2.0), "zcdp", {}, 2.0),
        (Level("renyi", 2.0, order=5.0), "renyi", {"order": 3.0}, 2.0),
        (Level("pure", 2.0), "pure", {}, 2.0),
        (Level("pure", 2.0), "approximate", {"epsilon": 3.0}, 3.0),
    ],
)
def test_conversions_in_closed_form(
    level: Level, kind: str, wanted: dict[str, float], value: float
) -> None:
    [found] = convert(level, kind, **wanted)
    assert found.level.value == pytest.approx(value, rel=1e-14)


def test_three_named_conversions_of_renyi_dp() -> None:
    found = convert(Level("renyi", 0.5, order=8.0), "approximate", delta=1e-6)
    assert [each.level.value for each in found] == [
        rdp_to_dp_at_order(0.5, 8.0, 1e-6),
        improved_rdp_to_dp(0.5, 8.0, 1e-6),
        tight_rdp_to_dp(0.5, 8.0, 1e-6),
    ]
    assert [each.source.split()[0].rstrip(",") for each in found] == [
        "Mironov",
        "Canonne",
        "Asoodeh",
    ]
    [back] = convert(Level("renyi", 0.5, order=8.0), "approximate", epsilon=found[1].level.value)
    assert back.level.delta == pytest.approx(1e-6, rel=1e-9)


@pytest.mark.parametrize("kind", ["gdp", "zcdp", "renyi", "approximate"])
def test_what_does_not_follow_is_refused(kind: str) -> None:
    extra = {"renyi": {"order": 2.0}, "approximate": {"delta": 0.1}}.get(kind, {})
    with pytest.raises(InputError, match="pure: does not follow"):
        convert(Level(kind, 1.0, **extra), "pure")
