"""Exact chances of arm sequences: by quadrature, by simulation of kernels and references, controls.

Chi-square tests have fixed seeds; each rejects correct code once in a thousand times at most.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.auditing.index_policies import (
    LEAST_CHANCE,
    Policy,
    adap_ucb_policy,
    anytime_lazy_ucb_policy,
    constant_means,
    largest_leaks,
    sequence_chances,
)
from dpbandits.auditing.laplace import fit, laplace_breaks, laplace_density, laplace_mass
from dpbandits.auditing.support import Table
from dpbandits.kernels import new_segments
from support import settings_of

Sequences = Mapping[tuple[int, ...], float]

POLICIES: dict[str, Callable[[int, float], Policy]] = {
    "adap-ucb": adap_ucb_policy,
    "anytime-lazy-ucb": anytime_lazy_ucb_policy,
}


def density(mean: float, scale: float) -> Callable[[float], float]:
    return lambda x: math.exp(-abs(x - mean) / scale) / (2.0 * scale)


def tail(x: float) -> float:
    """P(L > x)."""
    return 0.5 * math.exp(-x) if x >= 0.0 else 1.0 - 0.5 * math.exp(x)


@pytest.mark.parametrize("name", POLICIES)
def test_round_3_is_the_comparison_of_two_releases(name: str) -> None:
    """P(L1 - L2 > c) = exp(-c) (1/2 + c/4), the counts being equal and c the gap of the means."""
    chances = sequence_chances(POLICIES[name](3, 1.0), constant_means(0.0, 1.0, 0, 0.0))
    assert chances[0, 1, 0] == pytest.approx(math.exp(-1.0) * 0.75, rel=1e-12)


def test_four_decisions_by_adaptive_quadrature() -> None:
    """Lazy-UCB: arms 1, 2, 2, 2, 1: r < s + turn twice, s renewed, r > s' + turn."""
    policy = anytime_lazy_ucb_policy(5, 1.0)
    chances = sequence_chances(policy, constant_means(0.0, 1.0, 0, 1.0))
    low = policy.bonus(5, 2) - policy.bonus(5, 1)
    first, second = density(1.0, 1.0), density(1.0, 1.0)

    def given(r: float) -> float:
        before = integrate.quad(second, r, 60.0, points=[1.0], limit=200)[0] if r < 60.0 else 0.0
        # The second private mean of arm 2 has scale 1/2 and is below r - low.
        return first(r) * before * (1.0 - tail((r - low - 1.0) * 2.0))

    kinks = sorted({1.0, 1.0 + low})
    expected = integrate.quad(given, -40.0, 42.0, points=kinks, limit=400, epsabs=1e-14)[0]
    assert chances[0, 1, 1, 1, 0] == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize(("name", "horizon"), [("adap-ucb", 40), ("anytime-lazy-ucb", 16)])
@pytest.mark.parametrize("changed", [0.0, 1.0])
def test_chances_sum_to_1(name: str, horizon: int, changed: float) -> None:
    for release in (0, 1):
        means = constant_means(0.0, 1.0, release, changed)
        chances = sequence_chances(POLICIES[name](horizon, 0.5), means)
        assert sum(chances.values()) == pytest.approx(1.0, abs=1e-10)
        assert len({len(arms) for arms in chances}) == 1


@pytest.mark.parametrize("name", POLICIES)
def test_no_loss_exceeds_epsilon_and_some_attains_it(name: str) -> None:
    horizon = {"adap-ucb": 30, "anytime-lazy-ucb": 14}[name]
    for epsilon in (0.2, 1.0):
        policy = POLICIES[name](horizon, epsilon)
        pair = [constant_means(0.0, 0.0, 0, changed) for changed in (0.0, 1.0)]
        [leak] = largest_leaks(policy, *pair, (LEAST_CHANCE,))
        assert 0.99 * epsilon < leak.epsilon <= epsilon


def test_the_null_pair_loses_nothing() -> None:
    means = constant_means(0.0, 1.0, 0, 0.0)
    for name, policy in POLICIES.items():
        [leak] = largest_leaks(policy(10, 1.0), means, means, (LEAST_CHANCE,))
        assert leak.epsilon == 0.0, name


def test_half_the_noise_is_caught() -> None:
    pair = [constant_means(0.0, 0.0, 0, changed) for changed in (0.0, 1.0)]
    for name, policy in POLICIES.items():
        bonus = policy(16, 1.0).bonus
        halved = Policy(16, 2.0, name == "adap-ucb", bonus)
        [leak] = largest_leaks(halved, *pair, (1e-6,))
        assert leak.epsilon > 1.5, name


def chi_square(counts: Counter[tuple[int, ...]], chances: Sequences) -> float:
    """Return the p-value of counts; sequences expected less than 5 times are one cell."""
    runs = sum(counts.values())
    assert set(counts) <= set(chances)
    likely = [arms for arms, chance in chances.items() if runs * chance >= 5.0]
    expected = [runs * chances[arms] for arms in likely]
    observed = [counts[arms] for arms in likely]
    rest = runs - sum(expected)
    if rest >= 5.0:
        expected.append(rest)
        observed.append(runs - sum(observed))
    scale = sum(observed) / sum(expected)
    return float(stats.chisquare(observed, [scale * value for value in expected]).pvalue)


HORIZONS = {"adap-ucb": 10, "anytime-lazy-ucb": 10}


def kernel_counts(name: str, means: tuple[float, float], runs: int) -> Counter[tuple[int, ...]]:
    """Play the kernel on certain rewards; count arm sequences."""
    algorithm, horizon = REGRET[name], HORIZONS[name]
    bandit = dpbandits.bernoulli(list(means))
    settings = settings_of(
        algorithm, {"epsilon": 1.0}, algorithm.interpretations_from({}), bandit, horizon
    )
    out, generator = new_segments(horizon), np.random.default_rng(5)
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(runs):
        state = algorithm.state(2)
        written = algorithm.advance(settings, state, bandit.arrays, generator, out)
        played = np.repeat(out.arms[:written], out.lengths[:written])
        counts[tuple(played.tolist())] += 1
    return counts


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("means", [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0)])
def test_the_kernel_plays_these_sequences_as_often(name: str, means: tuple[float, float]) -> None:
    counts = kernel_counts(name, means, 20_000)
    table = constant_means(means[0], means[1], 0, means[0])
    chances = sequence_chances(POLICIES[name](HORIZONS[name], 1.0), table)
    assert chi_square(counts, chances) > 0.001
    # Negative control: a noise 10 % off.
    other = Policy(HORIZONS[name], 1.1, name == "adap-ucb", POLICIES[name](10, 1.0).bonus)
    assert chi_square(counts, sequence_chances(other, table)) < 1e-6


@pytest.mark.parametrize("name", POLICIES)
def test_the_reference_plays_a_changed_table_as_often(name: str) -> None:
    """The first reward of the second private mean is 1, all others of arm 1 are 0."""
    algorithm, horizon = REGRET[name], HORIZONS[name]
    bandit = dpbandits.bernoulli([0.5, 0.5])
    settings = settings_of(
        algorithm, {"epsilon": 1.0}, algorithm.interpretations_from({}), bandit, horizon
    )
    generator = np.random.default_rng(8)
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(4000):
        table: Any = Table(((0.0, 1.0) + (0.0,) * horizon, (1.0,) * horizon))
        arms: list[int] = []
        for arm, length, _ in algorithm.reference(settings, table, generator):
            arms += [arm] * length
        counts[tuple(arms)] += 1
    policy = POLICIES[name](horizon, 1.0)
    assert chi_square(counts, sequence_chances(policy, constant_means(0.0, 1.0, 1, 1.0))) > 0.001
    unchanged = sequence_chances(policy, constant_means(0.0, 1.0, 1, 0.0))
    assert chi_square(counts, unchanged) < 1e-6


def test_pieces_integrate_a_laplace_law() -> None:
    law = fit(lambda x: laplace_density(x, 0.7, 0.3), laplace_breaks(0.7, 0.3))
    assert law.total() == pytest.approx(1.0, abs=1e-14)
    low, high = np.array([-1.0, 0.1, 2.0, -np.inf]), np.array([0.5, 0.9, 2.5, np.inf])
    expected = laplace_mass((low - 0.7) / 0.3, (high - 0.7) / 0.3)
    assert law.mass(low, high) == pytest.approx(expected, rel=1e-12)


def test_masses_keep_their_digits_in_both_tails() -> None:
    found = laplace_mass([30.0, -31.0, -np.inf], [31.0, -30.0, np.inf])
    tails = 0.5 * (math.exp(-30.0) - math.exp(-31.0))
    assert found == pytest.approx([tails, tails, 1.0], rel=1e-13)
