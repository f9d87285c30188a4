"""Exact sums behind Lemmas 4.1 and C.1 for Bernoulli rewards: how often all draws miss the mean.

An estimate of s rewards is k/s with k binomial, and a draw from it is N(k/s, v/s). Both lemmas are
of Hu, Huang, Zhang, Lecuyer and Hegde, ICML 2025.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr
from scipy.stats import binom

from dpbandits.privacy import dp_ts_ucb_budget

Values = NDArray[np.float64]

MEANS: Values = np.arange(1, 100) / 100.0
"""Means of the arm, 0.01 to 0.99."""

# By Hoeffding's inequality k/s leaves the window with a chance of at most 2 exp(-2 * 100) < 1e-86:
# the chances of Lemma 4.1 go down to 1e-30, and estimates far from the mean make up most of them.
_WINDOW = 100.0


def counts(horizon: int) -> list[int]:
    """Return the numbers of rewards that an estimate can rest on: 1, 2, 4, ... up to T/2."""
    return [2**power for power in range(int(math.log2(horizon / 2)) + 1)]


@lru_cache(maxsize=32)
def estimates(count: int) -> tuple[Values, Values]:
    """Return the law of the mean of some rewards, for each mean of `MEANS`.

    Args:
        count: number s of rewards, 1 or above.

    Returns:
        Chance of each estimate k/s, and (mu - k/s) sqrt(s), both of shape (means, estimates). Rare
        estimates, of total chance below 1e-86, are left out.
    """
    reach = math.ceil(math.sqrt(_WINDOW * count))
    successes = np.round(count * MEANS)[:, None] + np.arange(-reach, reach + 1)
    chances = np.asarray(binom.pmf(successes, count, MEANS[:, None]))
    return chances, (MEANS[:, None] - successes / count) * math.sqrt(count)


def miss_chances(count: int, variance: float, draws: int) -> Values:
    """Return the chance that the largest of the draws stays below the mean (Lemma 4.1).

    Args:
        count: number s of rewards in the estimate.
        variance: v, the variance of a draw times s.
        draws: number of independent draws.

    Returns:
        One chance a mean, shape (means,); too small by at most 1e-86.
    """
    chances, shortfalls = estimates(count)
    missed = np.exp(draws * log_ndtr(shortfalls / math.sqrt(variance)))
    return np.asarray((chances * missed).sum(axis=1))


def expected_waits(count: int, variance: float) -> Values:
    """Return E[1/P(draw > mu) - 1], the draws wasted until one exceeds the mean (Lemma C.1).

    Args:
        count: number s of rewards in the estimate.
        variance: v, the variance of a draw times s; 1 or above.
    """
    chances, shortfalls = estimates(count)
    exceeded = ndtr(-shortfalls / math.sqrt(variance))
    # Counts below 0 or above s have chance 0, and may lie where no draw exceeds the mean.
    waits = np.divide(1.0 - exceeded, exceeded, out=np.zeros_like(exceeded), where=chances > 0.0)
    return np.asarray((chances * waits).sum(axis=1))


def misses_by_count(alpha: float, horizon: int, rounding: str = "floor") -> Values:
    """Return T times the largest chance of Lemma 4.1 over the means, one number a count.

    Args:
        alpha: trade-off parameter, 0 to 1.
        horizon: number of rounds T.
        rounding: of the budget phi, ``floor`` (as Algorithm 1 tests it) or ``ceil``.
    """
    budget = dp_ts_ucb_budget(alpha, horizon)
    draws = math.ceil(budget) if rounding == "ceil" else math.floor(budget)
    variance = math.log(horizon) ** alpha
    chances = [miss_chances(count, variance, draws).max() for count in counts(horizon)]
    return horizon * np.array(chances)


def waits_by_count(alpha: float, horizon: int) -> Values:
    """Return the largest expectation of Lemma C.1 over the means, one number a count."""
    variance = math.log(horizon) ** alpha
    return np.array([expected_waits(count, variance).max() for count in counts(horizon)])
