"""Plays of GDP-NCB with two arms and prescribed rewards, written after the papers' text and code.

The plays share nothing with the package: noise by inversion, sums by rounds, two arms by hand.
Phase I is played with its arms given, since they are drawn independently of the rewards.

Error rate of the two files of tests that use them (`tests/law/test_privacy_witness*`): at most
TESTS true hypotheses are tested, each at LINE = 0.001 / TESTS (Bonferroni), so that correct code
fails them with probability 0.001 at most over the choice of seeds, which are fixed.
"""

import math
from collections.abc import Sequence
from itertools import islice

import numpy as np
from scipy import stats

from dpbandits.auditing.support import GivenDraws
from dpbandits.kernels import njit

TESTS = 150
LINE = 0.001 / TESTS


def p_value(count: int, runs: int, probability: float) -> float:
    """Return the p-value of a count, two-sided."""
    return float(stats.binomtest(count, runs, probability).pvalue)


class Table:
    """Arms whose n-th pulls have given rewards, and 0 beyond them."""

    def __init__(self, rewards: tuple[tuple[float, ...], ...]) -> None:
        self.arms = (None,) * len(rewards)
        self._rewards = [iter(row) for row in rewards]

    def draw(self, arm: int, generator: object) -> float:
        return next(self._rewards[arm], 0.0)

    def draw_sum(self, arm: int, pulls: int, generator: object) -> float:
        return sum(islice(self._rewards[arm], pulls), 0.0)


class GivenArms(GivenDraws):
    """Draws that choose given arms of so many, and Laplace noise from a generator."""

    def __init__(self, arms: Sequence[int], noise: np.random.Generator, count: int = 2) -> None:
        super().__init__([(arm + 0.5) / count for arm in arms])
        self.standard_exponential = noise.standard_exponential


@njit
def copy_state(source, target):
    """Copy a state of the project's kernel."""
    target.clock[:], target.phase[:] = source.clock, source.phase
    target.explored[:], target.explored_sums[:] = source.explored, source.explored_sums
    target.episodes[:], target.private_means[:] = source.episodes, source.private_means


@njit
def laplace(scale, generator):
    """Draw a Laplace noise by inversion of its distribution function."""
    u = generator.random() - 0.5
    return -scale * math.copysign(math.log1p(-2.0 * abs(u)), u)


@njit
def index(p, n, log, epsilon):
    """Equation 4 with c = 3 and alpha = 3.1, the root over 2 alpha / epsilon."""
    last = 4.0 * math.sqrt(6.2 / epsilon) * log**1.5 / n
    return p + 6.0 * math.sqrt(2.0 * p * log / n) + 3.1 * log**2 / (epsilon * n) + last


@njit
def algorithm_1(arms, rewards, threshold, scale, log, epsilon, repeats, generator):
    """Play Algorithm 1; return whether it pulls these arms in these rounds.

    The arms, 0 or 1, are those that Phase I pulls while it lasts; threshold is TH of line 2, scale
    that of the noise in lines 5 and 20; with ``repeats`` line 5 uses an arm's first noise again,
    which is an error.
    """
    n1, s1, p = np.zeros(2), np.zeros(2), np.zeros(2)
    first_noise = np.array([laplace(scale, generator), laplace(scale, generator)])
    t = 0
    while (n1 * p).max() <= threshold:  # line 2
        if t == arms.size:
            return True
        arm = arms[t]  # line 3
        n1[arm] += 1.0  # line 4
        s1[arm] += rewards[t]
        noise = first_noise[arm] if repeats else laplace(scale, generator)
        p[arm] = s1[arm] / n1[arm] + noise / n1[arm]  # line 5
        t += 1
    n2 = np.ones(2)  # line 8
    while True:
        values = [index(min(max(p[i], 0.0), 1.0), n1[i] + n2[i], log, epsilon) for i in range(2)]
        arm = 0 if values[0] >= values[1] else 1  # line 11
        pulls, total = 2 * int(n2[arm]), s1[arm]
        for _ in range(pulls):  # line 14
            if t == arms.size:
                return True
            if arms[t] != arm:
                return False
            total += rewards[t]
            t += 1
        n2[arm] = pulls
        n = n1[arm] + pulls
        p[arm] = min(max(total / n + laplace(scale / n, generator), 0.0), 1.0)  # lines 20, 21


@njit
def count_algorithm_1(runs, arms, rewards, threshold, scale, log, epsilon, repeats, generator):
    """Return in how many of so many runs Algorithm 1 pulls these arms."""
    count = 0
    for _ in range(runs):
        count += algorithm_1(arms, rewards, threshold, scale, log, epsilon, repeats, generator)
    return count


@njit
def phase_two(explored, sums, rewards, log, window_log, epsilon, repeats, begin, generator):
    """Play Phase II of the released code from a release on; return the releases arm 2 survives.

    Arm 2 (number 1) is pulled again after a release if its index is above that of arm 1, which has
    the private mean 0; arm 1 comes first where they are equal.

    ``explored`` and ``sums`` are of both arms in Phase I, rewards of arm 2's episodes, ``log`` is
    that of the noise, ``window_log`` of the index; with ``repeats`` all releases have one noise,
    relative to their scale, which is an error.
    """
    other = index(0.0, explored[0] + 1.0, window_log, epsilon)
    noise = laplace(1.0, generator)
    for episode in range(begin, rewards.size):
        n = explored[1] + 2.0 ** (episode + 1)
        scale = log / (epsilon * n)
        if not repeats:
            noise = laplace(1.0, generator)
        p = min(max((sums[1] + rewards[episode]) / n + scale * noise, 0.0), 1.0)
        if index(p, n, window_log, epsilon) <= other:
            return episode - begin
    return rewards.size - begin


@njit
def count_phase_two(
    runs, explored, sums, rewards, log, window_log, epsilon, repeats, begin, least, generator
):
    """Return in how many of so many runs arm 2 survives at least ``least`` releases."""
    count = 0
    for _ in range(runs):
        survived = phase_two(
            explored, sums, rewards, log, window_log, epsilon, repeats, begin, generator
        )
        count += survived >= least
    return count
