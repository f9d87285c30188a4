"""Instances, as the experiments file names them under ``make``: the paper's and others."""

from collections.abc import Callable
from functools import cache

import numpy as np

from dpbandits.bandits import LinearBandit, linear
from dpbandits.errors import InputError

SECTION5_ARMS = 30
LARGEST_OMEGA = 0.8


@cache
def section5(seed: int = 2024, draw: int = 0) -> LinearBandit:
    """Return 30 arms in the plane, arms 4 to 30 with random second coordinates (Section 5).

    a_1 = (0, 1), a_2 = (0, 0.9), a_3 = (10, 0), a_i = (1, omega_i), omega_i uniform on [0, 0.8],
    theta = (0.045, 0.5). The paper does not print its omegas. One vector is drawn here for all
    figures and published with the results.

    Args:
        seed: root of the draws of omega.
        draw: number of the vector drawn from it, 0 for the one of the figures.
    """
    generator = np.random.default_rng([seed, draw])
    omega = generator.uniform(0.0, LARGEST_OMEGA, SECTION5_ARMS - 3)
    features = [[0.0, 1.0], [0.0, 0.9], [10.0, 0.0], *([1.0, second] for second in omega)]
    return linear(features, [0.045, 0.5])


@cache
def two_armed(ratio: float, gap: float = 0.05) -> LinearBandit:
    """Return two orthogonal arms of lengths 1 and ``ratio``, means 0.5 + gap and 0.5 (E.2).

    Rewards of the better arm are uniform up to 1 + 2 gap, above 1, as the paper has it (BAI-E7).

    Args:
        ratio: y/x, above 0.
        gap: Delta, above 0, at most 0.5.

    Raises:
        InputError: an argument outside its range.
    """
    if not ratio > 0:
        raise InputError(f"two-armed: ratio is {ratio!r}; allowed: a number above 0")
    if not 0 < gap <= 0.5:
        raise InputError(f"two-armed: gap is {gap!r}; allowed: above 0, at most 0.5")
    return linear([[1.0, 0.0], [0.0, ratio]], [0.5 + gap, 0.5 / ratio])


@cache
def standard_basis() -> LinearBandit:
    """Return a supplementary instance: eight orthonormal arms, means 0.5 and seven times 0.45."""
    return linear(np.eye(8), [0.5] + [0.45] * 7)


@cache
def sphere(seed: int = 2024) -> LinearBandit:
    """Return a supplementary instance: 200 arms in six dimensions, gaps of at least 0.05.

    w and z_i are uniform on the unit sphere of R^5; a_1 = (1, 4/3 w), a_i = (1, z_i),
    theta = (0.3, 0.15 w).

    Args:
        seed: root of the draws.
    """
    points = np.random.default_rng(seed).standard_normal((200, 5))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    w = points[0]
    features = np.column_stack([np.ones(200), np.vstack([4.0 / 3.0 * w, points[1:]])])
    return linear(features, np.concatenate([[0.3], 0.15 * w]))


INSTANCES: dict[str, Callable[..., LinearBandit]] = {
    "section5": section5,
    "two-armed": two_armed,
    "standard-basis": standard_basis,
    "sphere": sphere,
}
