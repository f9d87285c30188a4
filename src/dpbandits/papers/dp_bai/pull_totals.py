"""How many pulls the algorithms use, at every budget of a range at once (BAI-E3)."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.best_arm.g_optimal import g_optimal
from dpbandits.algorithms.best_arm.schedule import halving_schedule, phase_schedule

Counts = NDArray[np.int64]

LARGEST_BUDGET = 5000

ROUND_OFF = 1e-9
"""What the ceiling of OD-LinBAI forgives."""


def phase_pulls(size: int, dimension: int, linear: bool) -> int:
    """Return how many arms a phase pulls: the rank where that is below sqrt(s), else all s.

    Args:
        size: s_p, active arms.
        dimension: d; features are generic, so that their rank is min(d, s_p).
        linear: whether the Max-Det branch exists (DP-BAI), or not (Baseline).
    """
    rank = min(dimension, size)
    return rank if linear and rank * rank < size else size


@cache
def _rounded_up(arms: int, phases: int) -> Counts:
    """Return arms * ceil(T' / (M arms)) for T' = 1, ..., the largest budget."""
    effective = np.arange(1, LARGEST_BUDGET + 1)
    return np.asarray(arms * -(-effective // (phases * arms)))


def phase_totals(arms: int, dimension: int, schedule: str, linear: bool) -> tuple[Counts, Counts]:
    """Return all budgets with T' > 0 up to the largest, and the pulls that they lead to.

    Args:
        arms: K.
        dimension: d.
        schedule: an interpretation of the phase schedule, or ``halving`` (BAI-E4).
        linear: whether the Max-Det branch exists (DP-BAI), or not (Baseline).
    """
    halving = schedule == "halving"
    phases = halving_schedule(arms) if halving else phase_schedule(arms, dimension, schedule)
    budgets = np.arange(phases.reserved + 1, LARGEST_BUDGET + 1)
    pulls = np.zeros(budgets.size, np.int64)
    for size in phases.sizes[:-1]:
        pulled = phase_pulls(size, dimension, linear)
        pulls += _rounded_up(pulled, phases.phases)[: budgets.size]
    return budgets, pulls


def design_rounds(rank: int) -> int:
    """Return R, the rounds of OD-LinBAI and DP-OD on features of this rank."""
    return max(1, math.ceil(math.log2(rank)))


def design_supports(arms: int, rank: int) -> list[int]:
    """Return how many arms a round's design may have: r(r + 1)/2 at first, then all active ones."""
    later = [-(-rank // 2**r) for r in range(1, design_rounds(rank))]
    return [min(arms, rank * (rank + 1) // 2), *later]


def worst_design_totals(arms: int, dimension: int) -> tuple[Counts, Counts]:
    """Return all budgets with m > 0 and the most pulls OD-LinBAI can use, whatever the features.

    Their rank is min(K, d). A round with a design of S arms pulls at most ceil(m) + S - 1 times,
    and R m is T less the sum of all S.
    """
    supports = design_supports(arms, min(arms, dimension))
    budgets = np.arange(sum(supports) + 1, LARGEST_BUDGET + 1)
    per_round = -(-(budgets - sum(supports)) // len(supports))
    return budgets, len(supports) * (per_round - 1) + sum(supports)


def random_design_totals(
    features: NDArray[np.float64], generator: np.random.Generator
) -> tuple[Counts, Counts]:
    """Return all budgets and the pulls of OD-LinBAI on these features, random arms surviving.

    Args:
        features: of full rank min(K, d) >= 2, shape (K, d).
        generator: decides which arms survive a round.
    """
    rank = min(features.shape)
    supports = design_supports(len(features), rank)
    budgets = np.arange(sum(supports) + 1, LARGEST_BUDGET + 1)
    pulls = np.zeros(budgets.size, np.int64)
    active = np.arange(len(features))
    for kept in [-(-rank // 2**r) for r in range(1, len(supports) + 1)]:
        left, sizes, _ = np.linalg.svd(features[active], full_matrices=False)
        weights = g_optimal(left * sizes).weights
        shares = weights[:, None] * (budgets - sum(supports)) / len(supports)
        pulls += np.ceil(shares - ROUND_OFF).astype(np.int64).sum(axis=0)
        active = generator.permutation(active)[:kept]
    return budgets, pulls
