"""Max-Det collections (C10, C23), and the list of all exact results of the paper."""

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbandits.algorithms.best_arm.designs import max_det
from dpbandits.papers.curves import joined, number
from dpbandits.papers.dp_bai.privacy import gauss_privacy, privacy_loss
from dpbandits.papers.dp_bai.schedules import (
    appendix_b,
    baseline_structure,
    overshoot,
    phase_counts,
)
from dpbandits.papers.dp_bai.theory import regime_map, table1_grid

Values = NDArray[np.float64]

SEED = 20240118
SETS = 10_000
RANKS = (1, 2, 3, 4, 5, 6)
FEW, MANY = 15, 150
"""Largest number of features in nine sets of ten, and their number in the tenth, where from rank 3
on not all subsets are tried."""

TOLERANCE = 1e-8
"""How far above 1 a coefficient may be for rounding (C10)."""

PHASE_BUDGET = 1000
"""T'/M, the pulls of a phase."""

COMPARED_SETS = 1000
COMPARED_FEATURES = 12
COMPARED_RANKS = (2, 3, 4)


def _integers(generator: np.random.Generator, n: int, rank: int) -> Values:
    """Return small integers, many of which are dependent or equal, with a basis among them."""
    features = generator.integers(-2, 3, (n, rank)).astype(np.float64)
    features[generator.permutation(n)[:rank]] = np.eye(rank)
    return features


LAWS: dict[str, Callable[[np.random.Generator, int, int], Values]] = {
    "normal": lambda generator, n, rank: generator.standard_normal((n, rank)),
    "heavy tails": lambda generator, n, rank: generator.standard_cauchy((n, rank)),
    "integers": _integers,
}
"""How features are drawn, in turn."""


def max_det_table() -> pd.DataFrame:
    """Return checks of Lemma G.1 and of the Max-Det collection's noise on random features."""
    numbers = {**_coefficients(), **_factors()}
    return joined(
        number(quantity, {"quantity": quantity}, value) for quantity, value in numbers.items()
    )


def _coefficients() -> dict[str, float]:
    """Return what the largest |coefficient| of random sets of features is."""
    kinds = list(itertools.product(RANKS, LAWS))
    rows = []
    for index in range(SETS):
        generator = np.random.default_rng([SEED, index])
        repetition, kind = divmod(index, len(kinds))
        rank, law = kinds[kind]
        n = MANY if repetition % 10 == 9 else int(generator.integers(rank, FEW + 1))
        collection = max_det(LAWS[law](generator, n, rank))
        rows.append((collection.exact, np.abs(collection.coefficients).max()))
    is_searched, largest = (np.array(column) for column in zip(*rows, strict=True))
    is_above = largest > 1.0 + TOLERANCE
    return {
        "searched": is_searched.sum(),
        "exchanged": (~is_searched).sum(),
        "above searched": (is_above & is_searched).sum(),
        "above exchanged": (is_above & ~is_searched).sum(),
        "coefficient": largest.max(),
    }


def _factors() -> dict[str, float]:
    """Return how the Max-Det collections of random sets compare with other subsets."""
    rows = []
    for index in range(COMPARED_SETS):
        rank = COMPARED_RANKS[index % len(COMPARED_RANKS)]
        generator = np.random.default_rng([SEED, SETS + index])
        features = generator.standard_normal((COMPARED_FEATURES, rank))
        injected = [injected_noise(len(arms)) for arms in _subsets(COMPARED_FEATURES, rank)]
        smallest = variance_factors(features).min()
        own = injected_noise(len(max_det(features).arms))
        rows.append((rank, max_det_factor(features), smallest, own, min(injected)))
    ranks, factors, smallest, injected, least = np.array(rows, np.float64).T
    ratio = factors / smallest
    return {
        # Another subset may have the same v but for rounding.
        "smaller": (ratio > 1.0 + 1e-9).sum(),
        "median ratio": np.median(ratio),
        "largest ratio": ratio.max(),
        "above rank": (factors > ranks + 1e-9).sum(),
        "noise ratio": (factors * ranks**2 / COMPARED_FEATURES**2).max(),
        "less injected": (least < injected).sum(),
        "injected ratio": (injected / injected_noise(COMPARED_FEATURES)).max(),
    }


def _subsets(n: int, rank: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(n), rank))


def variance_factors(features: Values) -> Values:
    """Return v(B) = max_i sum_j alpha_ij^2 of every subset B of r features that spans R^r."""
    bases = features[np.array(_subsets(*features.shape))]
    bases = bases[np.linalg.cond(bases) < 1e12]
    coefficients = features @ np.linalg.inv(bases)
    return np.asarray((coefficients**2).sum(axis=2).max(axis=1))


def max_det_factor(features: Values) -> float:
    """Return v of the Max-Det collection."""
    return float((max_det(features).coefficients ** 2).sum(axis=1).max())


def injected_noise(pulled: int) -> float:
    """Return the scale of the noise on the mean of each of so many pulled arms, at epsilon = 1.

    A phase has ``PHASE_BUDGET`` pulls for them, and noise of scale 1 / (epsilon n) goes on a mean
    of n rewards.
    """
    return 1.0 / -(-PHASE_BUDGET // pulled)


ANALYTIC: dict[str, Callable[[], pd.DataFrame]] = {
    "appendix-b": appendix_b,
    "regimes": regime_map,
    "overshoot": overshoot,
    "max-det": max_det_table,
    "table1-grid": table1_grid,
    "privacy-loss": privacy_loss,
    "gauss-privacy": gauss_privacy,
    "phase-counts": phase_counts,
    "baseline-structure": baseline_structure,
}
