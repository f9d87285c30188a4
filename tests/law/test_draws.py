"""Laws of the noise that compiled kernels draw, by Kolmogorov-Smirnov and binomial tests.

Rewards are the quantiles of uniforms, bit for bit, see test_bandits_laws.py. At most TESTS
hypotheses that are true are tested, each at LINE (Bonferroni), so that correct code fails this file
with probability 0.001 at most over the choice of seeds, which are fixed.
"""

import math

import numba
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.lazy import State as LazyState
from dpbandits.algorithms.ldp_ucb_l import clipped_cuts, draw_clipped
from dpbandits.algorithms.thompson import State as GaussianState
from dpbandits.kernels import blank, new_segments
from support import mostly_slow, settings_of

TESTS = 50
LINE = 0.001 / TESTS
DRAWS = 200_000
"""A scale 5 % off moves the distribution function by 0.009; at LINE 0.0054 is significant."""


def laplace_drawn(epsilon: float, seed: int, draws: int = DRAWS) -> NDArray[np.float64]:
    """First private means of Lazy-UCB on arms that pay nothing: pure noise of scale 1/epsilon."""
    algorithm, bandit = REGRET["anytime-lazy-ucb"], dpbandits.bernoulli([0.0] * draws)
    told = settings_of(algorithm, {"epsilon": epsilon}, {}, bandit, draws)
    state, generator = blank(LazyState, draws), np.random.default_rng(seed)
    chunks = new_segments(draws)
    algorithm.advance(told, state, bandit.arrays, generator, chunks)
    return np.asarray(state.private_means)


@pytest.mark.parametrize("epsilon", mostly_slow([0.1, 1.0, 8.0], 1.0))
def test_laplace_draws(epsilon: float) -> None:
    draws = laplace_drawn(epsilon, seed=int(10 * epsilon))
    assert stats.kstest(draws, stats.laplace(scale=1.0 / epsilon).cdf).pvalue > LINE


@pytest.mark.slow
def test_controls_of_laplace_draws() -> None:
    law = stats.laplace(scale=1.0)
    own = law.rvs(DRAWS, random_state=np.random.default_rng(1))
    assert stats.kstest(own, law.cdf).pvalue > LINE
    assert stats.kstest(1.05 * laplace_drawn(1.0, seed=1), law.cdf).pvalue < LINE


PULLS, SUMS = (3, 8), (2.0, 2.5)


@numba.njit
def repeated(advance, settings, state, arms, generator, out, times):  # type: ignore[no-untyped-def]
    """How often arm 0 is played in the round that follows the clock, counts and means given."""
    clock, counts, means = state[0].copy(), state[1].copy(), state[2].copy()
    chosen = 0
    for _ in range(times):
        state[0][:], state[1][:], state[2][:] = clock, counts, means
        advance(settings, state, arms, generator, out)
        chosen += out.arms[0] == 0
    return chosen


def first_arm_chosen(prior: int, c: float, seed: int, times: int = 40_000) -> int:
    """How often the Gaussian kernel plays arm 0 in one round after the counts and sums above."""
    algorithm, bandit = REGRET["m-ts-gaussian"], dpbandits.bernoulli([0.5, 0.5])
    interpretations = {"count": "n+1" if prior else "n"}
    told = settings_of(algorithm, {"b": 1, "c": c}, interpretations, bandit, sum(PULLS) + 1)
    state = GaussianState(np.array([sum(PULLS)]), np.array(PULLS), np.array(SUMS))
    generator, out = np.random.default_rng(seed), new_segments(1)
    return int(repeated(algorithm.advance, told, state, bandit.arrays, generator, out, times))


def first_arm_probability(prior: int, c: float) -> float:
    """P(theta_0 > theta_1) for theta_i ~ N(S_i / n, c / n), n = n_i + prior (2.1 and 2.2)."""
    counts = np.array(PULLS) + prior
    means = np.array(SUMS) / counts
    return float(stats.norm.cdf((means[0] - means[1]) / np.sqrt((c / counts).sum())))


@pytest.mark.parametrize("c", mostly_slow([0.05, 1.0], 0.05))
@pytest.mark.parametrize("prior", [0, 1])
def test_normal_theta(prior: int, c: float) -> None:
    chosen = first_arm_chosen(prior, c, seed=prior)
    assert stats.binomtest(chosen, 40_000, first_arm_probability(prior, c)).pvalue > LINE


@pytest.mark.slow
def test_planted_deviation_of_theta_is_caught() -> None:
    # The probability is 0.990: a deviation 5 % off moves it by six standard errors of the count,
    # n + 1 in place of n by eighty.
    chosen = first_arm_chosen(0, 0.05, seed=0)
    assert stats.binomtest(chosen, 40_000, first_arm_probability(0, 0.05 * 1.05**2)).pvalue < LINE
    assert stats.binomtest(chosen, 40_000, first_arm_probability(1, 0.05)).pvalue < LINE


# Beta draws of Lazy-DP-TS; those of DP-TS are in test_dp_ts_by_hand.py.

TIMES, ROUND, EPSILON = 30_000, 100, 5.0
COUNTS, MEANS = (60, 6), (0.5, 0.3)
"""The raised mean of arm 1, 0.76 for the natural logarithm, is not clipped."""

LOGS = {"natural": math.log(ROUND), "base2": math.log2(ROUND)}


def first_arm_by_beta(log: str) -> int:
    """How often Lazy-DP-TS plays arm 0 in round ROUND, with the counts and means above."""
    algorithm, bandit = REGRET["lazy-dp-ts"], dpbandits.bernoulli([0.5, 0.5])
    told = settings_of(algorithm, {"epsilon": EPSILON}, {"log": log}, bandit, ROUND)
    state = algorithm.state(2)
    state.clock[0], state.counts[:], state.private_means[:] = ROUND - 1, COUNTS, MEANS
    generator, out = np.random.default_rng(1), new_segments(1)
    return int(repeated(algorithm.advance, told, state, bandit.arrays, generator, out, TIMES))


def beta_probability(log: str, prior: float = 1.0, factor: float = 1.0) -> float:
    """P(theta_0 > theta_1), theta_i ~ Beta(m n + prior, (1 - m) n + prior), by quadrature.

    A mean is raised by 3 log t / (epsilon n) (Hu and Hegde, 2022, Algorithm 2).
    """
    laws = []
    for count, mean in zip(COUNTS, MEANS, strict=True):
        raised = min(max(mean + factor * 3 * LOGS[log] / (EPSILON * count), 0.0), 1.0)
        laws.append(stats.beta(raised * count + prior, (1 - raised) * count + prior))
    value, _ = integrate.quad(lambda x: laws[0].pdf(x) * laws[1].cdf(x), 0, 1, limit=200)
    return float(value)


@pytest.mark.slow
@pytest.mark.parametrize(("log", "other"), [("natural", "base2"), ("base2", "natural")])
def test_beta_theta(log: str, other: str) -> None:
    chosen, expected = first_arm_by_beta(log), beta_probability(log)
    control = int(np.random.default_rng(1).binomial(TIMES, expected))
    for count in (chosen, control):
        assert stats.binomtest(count, TIMES, expected).pvalue > LINE
    for wrong in (
        beta_probability(log, prior=2.0),
        beta_probability(log, prior=0.5),
        beta_probability(log, factor=1.05),
        beta_probability(other),
    ):
        assert stats.binomtest(chosen, TIMES, wrong).pvalue < LINE


# A Bernoulli reward with its clipped private value (LDP-UCB-L), drawn together from one uniform.
# The wrong law is a scale a tenth off.

PAIRS = 400_000
Pairs = tuple[NDArray[np.float64], NDArray[np.float64]]


@numba.njit
def drawn(mean: float, epsilon: float, draws: int, generator: np.random.Generator) -> Pairs:
    """Return rewards and private values of the compiled draw."""
    rewards, private = np.empty(draws), np.empty(draws)
    cuts = clipped_cuts(mean, math.exp(-epsilon) / 2.0)
    for i in range(draws):
        rewards[i], private[i] = draw_clipped(cuts, epsilon, generator)
    return rewards, private


def by_numpy(mean: float, epsilon: float, generator: np.random.Generator) -> Pairs:
    """Return rewards and private values by the definition."""
    rewards = (generator.random(PAIRS) < mean).astype(float)
    return rewards, np.clip(rewards + generator.laplace(0.0, 1.0 / epsilon, PAIRS), 0.0, 1.0)


def smallest_p(pairs: Pairs, mean: float, epsilon: float) -> float:
    """Return the smaller p of the test of the six kinds of pairs and of that of values between.

    The values of rewards 1 are taken from 1: between 0 and 1 they have then the law of the others.
    """
    rewards, private = pairs
    beyond = math.exp(-epsilon) / 2.0
    kinds = (private == 0.0, private == 1.0, (private > 0.0) & (private < 1.0))
    counts, expected = [], []
    for reward, chance in ((1.0, mean), (0.0, 1.0 - mean)):
        likely = (beyond, 0.5) if reward else (0.5, beyond)
        for kind, part in zip(kinds, (*likely, 0.5 - beyond), strict=True):
            counts.append(int((kind & (rewards == reward)).sum()))
            expected.append(rewards.size * chance * part)
    assert sum(counts) == rewards.size
    possible = np.array(expected) > 0
    assert not np.array(counts)[~possible].any()
    kinds_p = stats.chisquare(np.array(counts)[possible], np.array(expected)[possible]).pvalue
    between = np.where(rewards == 1.0, 1.0 - private, private)[kinds[2]]
    law = stats.truncexpon(epsilon, scale=1.0 / epsilon)
    return float(min(kinds_p, stats.kstest(between, law.cdf).pvalue))


def test_law_of_the_pair() -> None:
    # Two tests each, and two of the null control.
    for mean, epsilon in [(0.0, 0.2), (0.3, 0.2), (1.0, 0.2), (0.6, 3.0)]:
        pairs = drawn(mean, epsilon, PAIRS, np.random.default_rng(1))
        assert smallest_p(pairs, mean, epsilon) > LINE
        control = by_numpy(mean, epsilon, np.random.default_rng(2))
        assert smallest_p(control, mean, epsilon) > LINE
        assert smallest_p(pairs, mean, 1.1 * epsilon) < LINE
        if 0.0 < mean < 1.0:
            assert smallest_p(pairs, mean + 0.01, epsilon) < LINE


def test_values_between_are_caught_alone() -> None:
    _, private = drawn(0.0, 3.0, PAIRS, np.random.default_rng(3))
    between = private[(private > 0.0) & (private < 1.0)]
    assert stats.kstest(between, stats.truncexpon(3.0, scale=1 / 3.0).cdf).pvalue > LINE
    assert stats.kstest(between, stats.truncexpon(3.3, scale=1 / 3.3).cdf).pvalue < LINE
