"""Chances that one of several normal draws is the largest."""

import itertools

import mpmath
import numpy as np
import pytest

from dpbandits.auditing.thompson import choice_chances, log_chance, log_ndtr_of_one
from support import mostly_slow

CASES = {
    "far apart": ((0.0, 1.0, 2.0), (0.3, 0.1, 0.2)),
    "one narrow": ((0.5, 1.0, 0.9), (0.7, 0.01, 0.2)),
    "equal": ((0.0, 0.1, 0.05), (1.0, 1.0, 1.0)),
    "four": ((0.0, 0.4, 0.5, 0.2), (0.7, 0.1, 0.05, 0.5)),
}


def exact(arm: int, centres: np.ndarray, deviations: np.ndarray) -> float:
    """Return the log chance by adaptive quadrature with 16 digits."""
    mpmath.mp.dps = 16
    others = [i for i in range(centres.size) if i != arm]

    def integrand(u: mpmath.mpf) -> mpmath.mpf:
        chances = (mpmath.ncdf((u - centres[i]) / deviations[i]) for i in others)
        return mpmath.npdf(u, centres[arm], deviations[arm]) * mpmath.fprod(chances)

    steps = (-12, -5, -2, 0, 2, 5, 12)
    points = {float(m + s * k) for m, s in zip(centres, deviations, strict=True) for k in steps}
    return float(mpmath.log(mpmath.quad(integrand, sorted(points))))


@pytest.mark.parametrize("name", mostly_slow(CASES, "one narrow", "equal", "four"))
def test_chances_are_those_of_adaptive_quadrature(name: str) -> None:
    centres, deviations = (np.array(values) for values in CASES[name])
    for arm in range(centres.size):
        found = log_chance(arm, centres, deviations)
        assert found == pytest.approx(exact(arm, centres, deviations), abs=1e-9)


def test_two_arms_have_the_normal_chance_however_small() -> None:
    found = log_chance(0, np.array([0.0, 60.0]), np.array([0.6, 0.8]))
    assert found == pytest.approx(float(mpmath.log(mpmath.ncdf(-60))), rel=1e-12)


@pytest.mark.parametrize("x", [-200.0, -37.5, -36.5, -5.0, 0.0, 4.9, 5.1, 8.0])
def test_log_of_the_normal_distribution_function(x: float) -> None:
    mpmath.mp.dps = 40
    assert log_ndtr_of_one(x) == pytest.approx(float(mpmath.log(mpmath.ncdf(x))), rel=1e-9)


def test_chances_sum_up_to_one() -> None:
    generator = np.random.default_rng(5)
    for arms, most in itertools.product((3, 4, 5), (3, 30, 3_000)):
        deviations = 1.0 / np.sqrt(generator.integers(1, most, arms) + 1.0)
        logs = choice_chances(generator.random(arms), deviations)
        assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-13)
