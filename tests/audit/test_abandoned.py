"""Exact chances of Lazy-DP-TS abandoning arm 1: adaptive quadrature and plays of the kernel."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from dpbandits.auditing.index_policies import abandoned_arm
from dpbandits.auditing.inputs import constant
from dpbandits.auditing.run import setting_of
from dpbandits.auditing.statements import abandoned_rows


def second_wins(first: float, second: float, count: int) -> float:
    """P(theta_2 > theta_1), theta_1 of one reward, by adaptive quadrature over theta_1."""
    laws = [
        stats.beta(mean * n + 1.0, (1.0 - mean) * n + 1.0)
        for mean, n in ((first, 1), (second, count))
    ]
    return float(integrate.quad(lambda u: laws[0].pdf(u) * laws[1].sf(u), 0.0, 1.0)[0])


def chances(horizon: int, epsilon: float, reward: float) -> list[float]:
    event = abandoned_arm(horizon, epsilon, reward)
    return [math.exp(event.log_p), math.exp(event.log_q)]


def test_one_decision_is_a_double_integral() -> None:
    """T = 3: both private means have one reward, and the raised means are clipped."""
    epsilon, bonus = 2.0, 3.0 * math.log(3.0) / 2.0

    def mixed(reward: float) -> float:
        """Atoms at the clips and the density between them, in each private mean."""
        law = stats.laplace(0.5 + bonus, 1.0 / epsilon), stats.laplace(reward + bonus, 1 / epsilon)
        nodes, weights = np.polynomial.legendre.leggauss(20)
        points = np.concatenate([[0.0, 1.0], (nodes + 1.0) / 2.0])
        masses = [
            np.concatenate([[each.cdf(0.0), each.sf(1.0)], each.pdf(points[2:]) * weights / 2.0])
            for each in law
        ]
        wins = np.array([[second_wins(a, b, 1) for b in points] for a in points])
        return float(masses[1] @ wins @ masses[0])

    found = chances(3, epsilon, 0.5)
    # Round 1 is given, so that the chance is that of round 3.
    assert found == pytest.approx([mixed(0.0), mixed(1.0)], rel=1e-8)


@pytest.mark.parametrize("changed", [0, 1])
def test_the_kernel_plays_the_sequence_as_often(changed: int) -> None:
    horizon, epsilon, runs = 7, 5.0, 200_000
    play = setting_of("lazy-dp-ts", horizon, {"epsilon": epsilon}).mechanism(constant(0, 0)).play
    outputs = play(changed == 1, np.random.default_rng(7), runs)
    count = int((outputs == [0] + [1] * (horizon - 1)).all(axis=1).sum())
    played = chances(horizon, epsilon, 0.0)
    assert stats.binomtest(count, runs, played[changed]).pvalue > 1e-3
    assert stats.binomtest(count, runs, played[1 - changed]).pvalue < 1e-6
    halved = chances(horizon, 1.2 * epsilon, 0.0)
    assert stats.binomtest(count, runs, halved[changed]).pvalue < 1e-6


def test_the_loss_grows_to_epsilon_and_not_beyond() -> None:
    ratios = [row.ratio for row in abandoned_rows((5.0,), (8, 16, 24)) if "always 0" in row.pair]
    assert ratios == sorted(ratios)
    assert 0.9 < ratios[-1] <= 1.0
    [low, high] = [row.ratio for row in abandoned_rows((1.0,), (16,))]
    assert (low, high) == (pytest.approx(0.0741, abs=5e-5), pytest.approx(0.0731, abs=5e-5))
