"""Law of a Bernoulli reward with its clipped private value, drawn together from one uniform.

Error rate: at most TESTS hypotheses that are true are tested, each at LINE = 0.001 / TESTS
(Bonferroni), with fixed seeds. Each kind of test has a null control by numpy's own draws and a
planted wrong law, a scale a tenth off, that it must catch.
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from dpbandits.algorithms.ldp_ucb_l import clipped_cuts, draw_clipped

TESTS = 20
LINE = 0.001 / TESTS
DRAWS = 400_000

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
    rewards = (generator.random(DRAWS) < mean).astype(float)
    return rewards, np.clip(rewards + generator.laplace(0.0, 1.0 / epsilon, DRAWS), 0.0, 1.0)


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
        pairs = drawn(mean, epsilon, DRAWS, np.random.default_rng(1))
        assert smallest_p(pairs, mean, epsilon) > LINE
        control = by_numpy(mean, epsilon, np.random.default_rng(2))
        assert smallest_p(control, mean, epsilon) > LINE
        assert smallest_p(pairs, mean, 1.1 * epsilon) < LINE
        if 0.0 < mean < 1.0:
            assert smallest_p(pairs, mean + 0.01, epsilon) < LINE


def test_values_between_are_caught_alone() -> None:
    _, private = drawn(0.0, 3.0, DRAWS, np.random.default_rng(3))
    between = private[(private > 0.0) & (private < 1.0)]
    assert stats.kstest(between, stats.truncexpon(3.0, scale=1 / 3.0).cdf).pvalue > LINE
    assert stats.kstest(between, stats.truncexpon(3.3, scale=1 / 3.3).cdf).pvalue < LINE


def test_uncompiled_draws_are_the_same() -> None:
    for mean in [0.0, 0.3, 1.0]:
        fast, plain = np.random.default_rng(4), np.random.default_rng(4)
        rewards, private = drawn(mean, 0.5, 200, fast)
        cuts = clipped_cuts.py_func(mean, math.exp(-0.5) / 2.0)
        pairs = [draw_clipped.py_func(cuts, 0.5, plain) for _ in range(200)]
        assert pairs == list(zip(rewards.tolist(), private.tolist(), strict=True))
        assert fast.bit_generator.state == plain.bit_generator.state
