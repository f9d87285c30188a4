"""Laws of the noise that compiled kernels draw, by Kolmogorov-Smirnov and binomial tests.

Rewards are the quantiles of uniforms, bit for bit, see test_bandits_laws.py; normal draws are
played in test_auditing_thompson.py, Beta draws of DP-TS in test_dp_ts_by_hand.py. At most 50 true
hypotheses are tested, each at LINE (Bonferroni), so that correct code fails this file with
probability 0.001 at most over the choice of seeds, which are fixed.
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
from dpbandits.kernels import blank, new_segments
from support import mostly_slow, settings_of

LINE = 0.001 / 50
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


# Beta draws of Lazy-DP-TS.

TIMES, ROUND, EPSILON = 30_000, 100, 5.0
COUNTS, MEANS = (60, 6), (0.5, 0.3)
"""The raised mean of arm 1, 0.76 for the natural logarithm, is not clipped."""

LOGS = {"natural": math.log(ROUND), "base2": math.log2(ROUND)}


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


def p_values(pairs: Pairs, mean: float, epsilon: float) -> tuple[float, float]:
    """Return the p of the six kinds of pairs, and that of the values between 0 and 1.

    Values of rewards 1 are taken from 1: they have then the law of the others.
    """
    rewards, private = pairs
    kinds = np.where((private > 0.0) & (private < 1.0), 2, private).astype(int)
    counts = np.bincount(3 * rewards.astype(int) + kinds, minlength=6)
    beyond = math.exp(-epsilon) / 2.0
    law = np.array([0.5, beyond, 0.5 - beyond, beyond, 0.5, 0.5 - beyond])
    expected = rewards.size * np.repeat([1.0 - mean, mean], 3) * law
    possible = expected > 0
    assert not counts[~possible].any()
    between = stats.truncexpon(epsilon, scale=1.0 / epsilon).cdf
    return (
        float(stats.chisquare(counts[possible], expected[possible]).pvalue),
        float(stats.kstest(np.abs(rewards - private)[kinds == 2], between).pvalue),
    )


@pytest.mark.slow
def test_law_of_the_pair() -> None:
    for mean, epsilon in [(0.0, 0.2), (0.3, 0.2), (1.0, 0.2), (0.6, 3.0)]:
        pairs = drawn(mean, epsilon, PAIRS, np.random.default_rng(1))
        assert min(p_values(pairs, mean, epsilon)) > LINE
        control = by_numpy(mean, epsilon, np.random.default_rng(2))
        assert min(p_values(control, mean, epsilon)) > LINE
        kinds, between = p_values(pairs, mean, 1.1 * epsilon)
        assert kinds < LINE
        assert between < LINE or epsilon < 3.0, "few values are between"
        if 0.0 < mean < 1.0:
            assert p_values(pairs, mean + 0.01, epsilon)[0] < LINE
