"""Laws of what the kernels draw, by Kolmogorov-Smirnov and binomial tests.

All draws come out of compiled kernels. Error rate: at most TESTS hypotheses that are true
are tested, each at LINE = 0.001 / TESTS (Bonferroni), so that correct code fails this file with
probability at most 0.001 over the choice of seeds, which are fixed. Each kind of test has a null
control (scipy's own draws pass) and a planted wrong law, a scale 5 % off, that it must catch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.algorithms.lazy import State as LazyState
from dpbandits.algorithms.thompson import State as GaussianState
from dpbandits.bandits import Bandit, Bernoulli, ClippedExponential, Law, TruncatedExponential
from dpbandits.kernels import blank, new_segments
from found_papers import PLAYED
from support import case_of, kernel_decisions, mostly_slow, settings_of

TESTS = 70
LINE = 0.001 / TESTS
DRAWS = 200_000
"""A scale 5 % off moves these distribution functions by 0.009; at LINE 0.0054 is significant."""

RATES = (0.1, 1.0, 2.0, 5.0, 10.0)


def rewards_drawn(law: Law, seed: int, draws: int = DRAWS) -> NDArray[np.float64]:
    """Rewards that UCB1's kernel draws from two arms of the same law: independent draws of it."""
    algorithm, bandit = REGRET["ucb1"], Bandit((law, law))
    told = settings_of(algorithm, {}, {}, bandit, draws)
    run = kernel_decisions(algorithm, told, bandit, np.random.default_rng(seed), draws)
    return np.array([total for _, _, total in run])


def laplace_drawn(epsilon: float, seed: int, draws: int = DRAWS) -> NDArray[np.float64]:
    """First private means of Lazy-UCB on arms that pay nothing: pure noise of scale 1/epsilon."""
    algorithm, bandit = REGRET["anytime-lazy-ucb"], dpbandits.bernoulli([0.0] * draws)
    told = settings_of(algorithm, {"epsilon": epsilon}, {}, bandit, draws)
    state, generator = blank(LazyState, draws), np.random.default_rng(seed)
    chunks = new_segments(draws)
    algorithm.advance(told, state, bandit.arrays, generator, chunks)
    return np.asarray(state.private_means)


def truncated(rate: float) -> Any:
    """scipy's exponential law conditioned on [0, 1]."""
    return stats.truncexpon(rate, scale=1.0 / rate)


@pytest.mark.parametrize("rate", mostly_slow(RATES, 2.0))
def test_truncated_exponential_draws(rate: float) -> None:
    draws = rewards_drawn(TruncatedExponential(rate), seed=int(10 * rate))
    assert stats.kstest(draws, truncated(rate).cdf).pvalue > LINE


@pytest.mark.parametrize("epsilon", mostly_slow([0.1, 1.0, 8.0], 1.0))
def test_laplace_draws(epsilon: float) -> None:
    draws = laplace_drawn(epsilon, seed=int(10 * epsilon))
    assert stats.kstest(draws, stats.laplace(scale=1.0 / epsilon).cdf).pvalue > LINE


@pytest.mark.parametrize("mean", mostly_slow([0.0, 0.001, 0.25, 0.75, 1.0], 0.25))
def test_bernoulli_draws(mean: float) -> None:
    draws = rewards_drawn(Bernoulli(mean), seed=int(1000 * mean))
    assert set(draws) <= {0.0, 1.0}
    assert stats.binomtest(int(draws.sum()), draws.size, mean).pvalue > LINE


@pytest.mark.parametrize("rate", mostly_slow(RATES, 2.0))
def test_clipped_exponential_draws(rate: float) -> None:
    draws = rewards_drawn(ClippedExponential(rate), seed=int(10 * rate))
    ones = int((draws == 1.0).sum())
    assert stats.binomtest(ones, draws.size, np.exp(-rate)).pvalue > LINE
    assert stats.kstest(draws[draws < 1.0], truncated(rate).cdf).pvalue > LINE


NULLS: list[tuple[str, Any]] = [
    ("truncated exponential", truncated(2.0)),
    ("laplace", stats.laplace(scale=2.0)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "law"), NULLS)
def test_null_control(name: str, law: Any) -> None:
    draws = law.rvs(DRAWS, random_state=np.random.default_rng(1))
    assert stats.kstest(draws, law.cdf).pvalue > LINE


@pytest.mark.slow
def test_planted_scales_are_caught() -> None:
    laplace = laplace_drawn(1.0, seed=1)
    assert stats.kstest(1.05 * laplace, stats.laplace().cdf).pvalue < LINE
    rewards = rewards_drawn(TruncatedExponential(2.0), seed=1)
    assert stats.kstest(rewards, truncated(2.0 / 1.05).cdf).pvalue < LINE
    bernoulli = rewards_drawn(Bernoulli(0.25), seed=1)
    assert stats.binomtest(int(bernoulli.sum()), DRAWS, 1.05 * 0.25).pvalue < LINE


PULLS, SUMS = (3, 8), (2.0, 2.5)


def first_arm_chosen(prior: int, c: float, seed: int, times: int = 40_000) -> int:
    """How often the Gaussian kernel plays arm 0 in one round after the counts and sums above."""
    algorithm, bandit = REGRET["m-ts-gaussian"], dpbandits.bernoulli([0.5, 0.5])
    interpretations = {"count": "n+1" if prior else "n"}
    told = settings_of(algorithm, {"b": 1, "c": c}, interpretations, bandit, sum(PULLS) + 1)
    generator = np.random.default_rng(seed)
    out = new_segments(1)
    chosen = 0
    for _ in range(times):
        state = GaussianState(np.array([sum(PULLS)]), np.array(PULLS), np.array(SUMS))
        algorithm.advance(told, state, bandit.arrays, generator, out)
        chosen += int(out.arms[0] == 0)
    return chosen


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


EXPONENTIAL_ARMS = dpbandits.truncated_exponential(RATES)
# DP-SE drops the second arm after its first epoch in about half the runs: 2h + 2c is 0.154 there.
REGRETS: dict[str, tuple[dict[str, Any], Bandit, int]] = {
    "ts-gaussian": ({}, EXPONENTIAL_ARMS, 300),
    "m-ts-gaussian": ({"b": 5, "c": 0.5}, EXPONENTIAL_ARMS, 300),
    "dp-se": ({"epsilon": 0.5}, dpbandits.bernoulli([0.656, 0.5]), 3500),
    "anytime-lazy-ucb": ({"epsilon": 20.0}, EXPONENTIAL_ARMS, 600),
    "ucb1": ({}, EXPONENTIAL_ARMS, 300),
    "kl-ucb": ({}, EXPONENTIAL_ARMS, 300),
    "ts-beta": ({}, EXPONENTIAL_ARMS, 300),
    "dp-ts-ucb": ({"alpha": 1.0}, dpbandits.bernoulli([0.9, 0.1]), 600),
    "lazy-dp-ts": ({"epsilon": 20.0}, EXPONENTIAL_ARMS, 300),
    "dp-ts": ({"epsilon": 100.0}, EXPONENTIAL_ARMS, 300),
    "gdp-ncb": ({"epsilon": 1.0}, EXPONENTIAL_ARMS, 300),
    "adap-ucb": ({"epsilon": 20.0}, EXPONENTIAL_ARMS, 300),
    "ncb": ({}, EXPONENTIAL_ARMS, 900),
    "ldp-ncb": ({"epsilon": 1.0}, EXPONENTIAL_ARMS, 300),
    "ldp-ucb-l": ({"epsilon": 20.0}, EXPONENTIAL_ARMS, 300),
    "anytime-gdp-ncb": ({"epsilon": 1.0}, EXPONENTIAL_ARMS, 300),
    "anytime-ldp-ncb": ({"epsilon": 1.0}, EXPONENTIAL_ARMS, 300),
}
RUNS = 200

Player = Callable[[str, np.random.Generator], list[tuple[int, int, float]]]


def by_kernel(algorithm: str, generator: np.random.Generator) -> list[tuple[int, int, float]]:
    parameters, bandit, horizon = case_of(REGRETS, algorithm)
    told = settings_of(REGRET[algorithm], parameters, {}, bandit, horizon)
    return list(kernel_decisions(REGRET[algorithm], told, bandit, generator))


def by_reference(algorithm: str, generator: np.random.Generator) -> list[tuple[int, int, float]]:
    parameters, bandit, horizon = case_of(REGRETS, algorithm)
    told = settings_of(REGRET[algorithm], parameters, {}, bandit, horizon)
    return list(REGRET[algorithm].reference(told, bandit, generator))


def final_regrets(play: Player, algorithm: str, seed: int) -> NDArray[np.float64]:
    """Final pseudo-regret of RUNS runs with streams of their own."""
    gaps = case_of(REGRETS, algorithm)[1].gaps
    streams = np.random.SeedSequence(seed).spawn(RUNS)
    runs = (play(algorithm, np.random.default_rng(each)) for each in streams)
    return np.array([sum(gaps[arm] * length for arm, length, _ in run) for run in runs])


def test_the_algorithms_that_papers_play_have_cases() -> None:
    assert {*REGRET} & PLAYED <= set(REGRETS) <= {*REGRET}


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", REGRETS)
def test_final_regret_of_kernel_and_reference(algorithm: str) -> None:
    kernel = final_regrets(by_kernel, algorithm, seed=1)
    assert np.unique(kernel).size > 1, "a constant would be compared with a constant"
    assert stats.ks_2samp(kernel, final_regrets(by_reference, algorithm, seed=2)).pvalue > LINE
    # The null control: the same code twice, on two sets of streams.
    assert stats.ks_2samp(kernel, final_regrets(by_kernel, algorithm, seed=3)).pvalue > LINE


def test_wrong_final_regrets_are_caught() -> None:
    kernel = final_regrets(by_kernel, "m-ts-gaussian", seed=1)
    other = final_regrets(by_kernel, "ts-gaussian", seed=2)
    assert stats.ks_2samp(kernel, other).pvalue < LINE
