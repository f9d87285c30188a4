"""Chances of decisions between noisy sums (dp-bai): other formulas, quadrature, simulations.

Simulations have fixed seeds and are compared within 4.5 standard errors (``dp_bai_trials``).
"""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import laplace

from dp_bai_trials import TRIALS, near
from dpbandits.auditing.laplace import log_selection, log_tail, log_tail_of_two


@pytest.mark.parametrize("c", [-40.0, -3.0, -1e-9, 0.0, 0.5, 8.0, 900.0])
def test_one_tail_is_that_of_scipy(c: float) -> None:
    assert log_tail(c, 2.0) == pytest.approx(laplace.logsf(c, scale=2.0), rel=1e-12)


@pytest.mark.parametrize("second", [1e-6, 0.3, 0.999, 1.0 - 1e-9, 1.0, 7.0])
def test_two_tails_are_those_of_the_audit_spec(second: float) -> None:
    """By hand, in 60 digits, where b1 - b2 does not cancel."""
    with mpmath.workdps(60):
        b1, b2 = mpmath.mpf(1), mpmath.mpf(second)
        for c in (0.0, 1e-3, 1.0, 10.0, 200.0):
            if second == 1.0:
                chance = mpmath.exp(-c) * (mpmath.mpf("0.5") + mpmath.mpf(c) / 4)
            else:
                parts = b1**2 * mpmath.exp(-c / b1) - b2**2 * mpmath.exp(-c / b2)
                chance = parts / (2 * (b1**2 - b2**2))
            assert log_tail_of_two(c, 1.0, second) == pytest.approx(
                float(mpmath.log(chance)), rel=1e-12
            )
            below = float(mpmath.log(1 - chance))
            # The complement of a chance near 1 keeps its absolute digits.
            assert log_tail_of_two(-c, second, 1.0) == pytest.approx(below, rel=1e-12, abs=1e-15)


def test_two_tails_are_a_quadrature() -> None:
    for c, first, second in ((0.7, 1.0, 0.4), (-1.5, 2.0, 2.0), (6.0, 0.5, 3.0)):

        def integrand(
            z: float, c: float = c, first: float = first, second: float = second
        ) -> float:
            return float(laplace.pdf(z) * laplace.sf((c - first * z) / second))

        kink = c / first
        ends = sorted([-60.0, 0.0, kink, 60.0])
        value = sum(quad(integrand, *pair, epsabs=1e-14)[0] for pair in itertools.pairwise(ends))
        assert np.exp(log_tail_of_two(c, first, second)) == pytest.approx(value, rel=1e-10)


def test_selection_of_one_of_two_is_a_difference() -> None:
    """Below -30 the complement in the closed form has lost its digits, not the integral."""
    for c in (-8.0, -0.3, 0.0, 2.0, 25.0, 300.0):
        expected = float(log_tail_of_two(c))
        assert log_selection([0.0], [c]) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("kept", [1, 2, 3])
def test_selections_are_all_there_is(kept: int) -> None:
    """Chances of all sets of survivors sum to 1, ties and far apart sums included."""
    for sums in ([0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 25.0], [-2.0, 0.5, 3.0, 3.1]):
        values, total = np.array(sums), 0.0
        for high in itertools.combinations(range(4), kept):
            low = [arm for arm in range(4) if arm not in high]
            total += math.exp(log_selection(values[list(high)], values[low]))
        assert total == pytest.approx(1.0, abs=1e-12)


def test_selection_of_alike_sums_is_by_symmetry() -> None:
    for kept, lost in ((1, 3), (2, 2), (2, 1), (5, 5)):
        chance = np.exp(log_selection(np.full(kept, 0.3), np.full(lost, 0.3)))
        assert chance == pytest.approx(1.0 / math.comb(kept + lost, kept), rel=1e-12)


def test_selections_agree_with_draws() -> None:
    generator = np.random.default_rng(20240120)
    sums = np.array([0.0, 1.0, 1.5, 3.0])
    noisy = sums + generator.laplace(size=(TRIALS, 4))
    for high in itertools.combinations(range(4), 2):
        low = [arm for arm in range(4) if arm not in high]
        found = (noisy[:, list(high)].min(axis=1) > noisy[:, low].max(axis=1)).mean()
        assert near(float(found), math.exp(log_selection(sums[list(high)], sums[low])))
