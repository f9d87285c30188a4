"""Laws of what Lazy-DP-TS and DP-TS draw: theta, and the noise of their releases.

All draws come out of compiled kernels. Error rate: at most TESTS hypotheses that are true are
tested, each at LINE = 0.001 / TESTS (Bonferroni), so that correct code fails this file with
probability 0.001 at most over the choice of seeds, which are fixed. Null controls take scipy's own
draws; noise 5 % off and beta parameters off by one must be caught.
"""

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

import dpbandits
from dpbandits.algorithms import REGRET
from dpbandits.kernels import new_segments
from support import settings_of

pytestmark = pytest.mark.slow

TESTS = 30
LINE = 0.001 / TESTS
TIMES = 30_000
DRAWS = 100_000
"""A scale 5 % off moves the Laplace law by 0.009; at LINE 0.0076 is significant."""

TWO_ARMS = dpbandits.bernoulli([0.5, 0.5])
COUNTS, MEANS, ROUND = (60, 6), (0.5, 0.3), 100
EPSILONS = {"lazy-dp-ts": 5.0, "dp-ts": 80.0}
"""Raised means are not clipped: 0.76 for arm 1 of Lazy-DP-TS, 0.62 for that of DP-TS (natural)."""

LOGS = {"natural": math.log(ROUND), "base2": math.log2(ROUND)}


@cache
def one_round(algorithm: str, log: str, seed: int) -> int:
    """How often arm 0 is played in round ROUND, out of TIMES, with the counts and means above."""
    definition = REGRET[algorithm]
    told = settings_of(definition, {"epsilon": EPSILONS[algorithm]}, {"log": log}, TWO_ARMS, ROUND)
    generator = np.random.default_rng(seed)
    chunk = new_segments(1)
    chosen = 0
    for _ in range(TIMES):
        state = definition.state(2)
        state.clock[0] = ROUND - 1
        if algorithm == "dp-ts":
            state.pulls[:] = COUNTS
            state.levels[:] = np.log2(np.array(COUNTS) + 1).astype(int)
        else:
            state.counts[:] = COUNTS
        state.private_means[:] = MEANS
        definition.advance(told, state, TWO_ARMS.arrays, generator, chunk)
        chosen += int(chunk[0][0] == 0)
    return chosen


def shift(algorithm: str, log: str, count: int) -> float:
    """The amount by which a mean is raised (Hu and Hegde, 2022)."""
    log_t, epsilon = LOGS[log], EPSILONS[algorithm]
    if algorithm == "lazy-dp-ts":
        return 3 * log_t / (epsilon * count)
    log_count = math.log(count + 1) if log == "natural" else math.log2(count + 1)
    return 6 * math.sqrt(8) * log_count * log_t / (epsilon * count)


@cache
def probability(algorithm: str, log: str, prior: float = 1.0, factor: float = 1.0) -> float:
    """P(theta_0 > theta_1), theta_i ~ Beta(m n + prior, (1 - m) n + prior), by quadrature."""
    laws = []
    for count, mean in zip(COUNTS, MEANS, strict=True):
        raised = min(max(mean + factor * shift(algorithm, log, count), 0.0), 1.0)
        laws.append(stats.beta(raised * count + prior, (1 - raised) * count + prior))
    value, _ = integrate.quad(lambda x: laws[0].pdf(x) * laws[1].cdf(x), 0, 1, limit=200)
    return float(value)


CASES = [(algorithm, log) for algorithm in ("lazy-dp-ts", "dp-ts") for log in LOGS]


def test_theta() -> None:
    for algorithm, log in CASES:
        chosen = one_round(algorithm, log, seed=1)
        assert stats.binomtest(chosen, TIMES, probability(algorithm, log)).pvalue > LINE


def test_null_control_of_theta() -> None:
    for algorithm, log in CASES:
        expected = probability(algorithm, log)
        chosen = int(np.random.default_rng(1).binomial(TIMES, expected))
        assert stats.binomtest(chosen, TIMES, expected).pvalue > LINE


def test_wrong_theta_is_caught() -> None:
    for algorithm, log in CASES:
        chosen = one_round(algorithm, log, seed=1)
        other = "natural" if log == "base2" else "base2"
        for wrong in (
            probability(algorithm, log, prior=2.0),
            probability(algorithm, log, prior=0.5),
            probability(algorithm, other),
            probability(algorithm, log, factor=1.05),
        ):
            assert stats.binomtest(chosen, TIMES, wrong).pvalue < LINE


def first_releases(algorithm: str, epsilon: float) -> NDArray[np.float64]:
    """Private sums after one pull of each of many arms that pay nothing: pure noise."""
    definition, bandit = REGRET[algorithm], dpbandits.bernoulli([0.0] * DRAWS)
    told = settings_of(definition, {"epsilon": epsilon}, {}, bandit, DRAWS)
    state = definition.state(DRAWS)
    chunk = new_segments(DRAWS)
    generator = np.random.default_rng(int(10 * epsilon))
    definition.advance(told, state, bandit.arrays, generator, chunk)
    return np.asarray(state.private_means)


def test_noise_of_the_first_release() -> None:
    # Hu and Hegde (2022), Algorithm 2: Laplace(1/eps); 2.5: Laplace(2/eps).
    for algorithm, factor in [("lazy-dp-ts", 1.0), ("dp-ts", 2.0)]:
        for epsilon in [0.5, 4.0]:
            drawn = first_releases(algorithm, epsilon)
            assert stats.kstest(drawn, stats.laplace(scale=factor / epsilon).cdf).pvalue > LINE
            assert (
                stats.kstest(1.05 * drawn, stats.laplace(scale=factor / epsilon).cdf).pvalue < LINE
            )


def noise_of_levels(epsilon: float, runs: int = 150, horizon: int = 500) -> dict[int, Any]:
    """Noise of every partial sum that DP-TS draws, by the number of levels of its epoch."""
    definition, bandit = REGRET["dp-ts"], dpbandits.bernoulli([0.0, 0.0])
    told = settings_of(definition, {"epsilon": epsilon}, {}, bandit, horizon)
    chunk = new_segments(1)
    found: dict[int, list[float]] = {}
    for run in range(runs):
        state, generator = definition.state(2), np.random.default_rng(run)
        while state.clock[0] < horizon:
            definition.advance(told, state, bandit.arrays, generator, chunk)
            arm = chunk[0][0]
            levels = int(state.levels[arm])
            since = int(state.pulls[arm]) + 1 - 2**levels
            if since:
                lowest = (since & -since).bit_length() - 1
                found.setdefault(levels, []).append(float(state.noise[arm, lowest]))
    return {levels: np.array(values) for levels, values in found.items()}


def test_noise_of_the_partial_sums() -> None:
    # Hu and Hegde (2022), Algorithm 1: an epoch of r + 1 levels has partial sums with noise of
    # scale (r + 1)/(eps/2).
    epsilon = 3.0
    found = noise_of_levels(epsilon)
    for levels in range(3, 8):
        assert found[levels].size > 2000
        law = stats.laplace(scale=2 * levels / epsilon)
        assert stats.kstest(found[levels], law.cdf).pvalue > LINE
        # One level more or less.
        for wrong in (levels - 1, levels + 1):
            assert (
                stats.kstest(found[levels], stats.laplace(scale=2 * wrong / epsilon).cdf).pvalue
                < LINE
            )


def test_null_control_of_the_noise() -> None:
    drawn = stats.laplace(scale=2.0).rvs(DRAWS, random_state=np.random.default_rng(1))
    assert stats.kstest(drawn, stats.laplace(scale=2.0).cdf).pvalue > LINE
