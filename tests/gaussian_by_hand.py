"""Gaussian Thompson sampling by hand, for two arms: chances of arm sequences, line by line.

Shares nothing with the audit: running sums and batches, normal probabilities by scipy's ``norm``.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import norm

GOLDEN = 0.618034
"""Step of the audit's dither, which is a convention."""


def thompson_steps(
    arms: Sequence[int], rewards: np.ndarray, b: int, c: float, prior: int
) -> Iterator[float]:
    """Yield the chance of each decision of a sequence after ``b`` forced pulls of both arms."""
    pulls = [b, b]
    sums = [float(rewards[arm, :b].sum()) for arm in range(2)]
    for arm in arms:
        counts = [pulls[i] + prior for i in range(2)]
        centres = [sums[i] / counts[i] for i in range(2)]
        deviation = math.sqrt(c / counts[0] + c / counts[1])
        yield float(norm.cdf((centres[arm] - centres[1 - arm]) / deviation))
        sums[arm] += rewards[arm, pulls[arm]]
        pulls[arm] += 1


def batch_steps(arms: Sequence[int], rewards: np.ndarray, variance: float) -> Iterator[float]:
    """Yield the chance of each decision of DP-TS-UCB after one pull of both arms."""
    means = [float(rewards[arm, 0]) for arm in range(2)]
    sizes, waiting, taken = [1, 1], [[], []], [1, 1]  # type: ignore[var-annotated]
    for arm in arms:
        deviation = math.sqrt(variance / sizes[0] + variance / sizes[1])
        yield float(norm.cdf((means[arm] - means[1 - arm]) / deviation))
        waiting[arm].append(rewards[arm, taken[arm]])
        taken[arm] += 1
        if len(waiting[arm]) == 2 * sizes[arm]:
            sizes[arm] = len(waiting[arm])
            means[arm] = float(np.mean(waiting[arm]))
            waiting[arm] = []


def enumerated(steps, tables: np.ndarray, decisions: int, step: float):  # type: ignore[no-untyped-def]
    """Return chances under x and x' and the rounded ratio of every arm sequence.

    Args:
        steps: (arms, rewards) -> chances of its decisions.
        tables: of both inputs, shape (2, 2, rounds).
        decisions: number of decisions.
        step: of the rounding.
    """
    p, q, cells = [], [], []
    for arms in itertools.product(range(2), repeat=decisions):
        chances = [list(steps(arms, table)) for table in tables]
        cell, dither = 0, 0.0
        for one, other in zip(*chances, strict=True):
            dither = (dither + GOLDEN) % 1.0
            cell += math.floor((math.log(other) - math.log(one)) / step + dither)
        p.append(math.prod(chances[0]))
        q.append(math.prod(chances[1]))
        cells.append(cell)
    return np.array(p), np.array(q), np.array(cells)


def largest_mu(p: np.ndarray, q: np.ndarray) -> float:
    """Return the largest mu over thresholds on the exact ratio."""
    order = np.argsort(q / p)
    alpha = np.cumsum(p[order][::-1])[::-1][1:]
    beta = np.cumsum(q[order])[:-1]
    return float((norm.isf(alpha) - norm.ppf(beta)).max())
