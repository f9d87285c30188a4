"""Privacy losses of DP-OD, whose noise is in the coordinates of a sum of features (BAI-C14c).

Two arms: the difference of their scores has two Laplace variables, so that the loss is that of two
noisy sums. On four features along the diagonals a square is decided coordinate by coordinate.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.audit.releases.laplace import log_tail
from dpbandits.audit.releases.losses import Loss, largest_loss
from dpbandits.errors import InputError

NORMS = {"l1": 1, "l2": 2}
"""Norms that DP-OD may take the largest feature by (BAI-E8)."""

DIAGONAL = (46.0, 224.0)
"""Angles of two unit vectors, in degrees, near antipodes."""

TURN = 45.0
"""By how much a basis may be turned in which DP-OD draws its noise after a reduction."""

ANGLES = np.arange(0.0, 360.0)
"""Degrees that are searched."""


def unit_vectors(*degrees: float) -> NDArray[np.float64]:
    """Return unit vectors of the plane at these angles, one a row."""
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def with_midpoint(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return two features and half their sum below them."""
    return np.vstack([features, features.mean(axis=0)])


def three_arm_pulls(budget: int) -> int:
    """Return how often DP-OD pulls either of two arms beside their midpoint; 0 if T is too small.

    One round; 3 pulls are set aside for a design on three arms, and the midpoint has no weight.
    """
    return max(-(-(budget - 3) // 2), 0)


def dp_od_scales(features: ArrayLike, norm: str) -> tuple[float, float]:
    """Return the scales of the two Laplace variables in DP-OD's difference of two scores.

    In units of 1 / epsilon, on sums: |w_k| L, where A w = (1, -1), A are the features and L is
    their largest norm.

    Args:
        features: of two arms in two dimensions, independent; shape (2, 2).
        norm: a key of ``NORMS``.

    Raises:
        InputError: another norm, or dependent features.
    """
    matrix = np.asarray(features, np.float64)
    if norm not in NORMS:
        raise InputError(f"norm is {norm!r}; allowed: {', '.join(NORMS)}")
    if matrix.shape != (2, 2) or np.linalg.matrix_rank(matrix) < 2:
        raise InputError(f"features are {matrix.tolist()}; allowed: two independent arms in R^2")
    largest = np.linalg.norm(matrix, NORMS[norm], axis=1).max()
    first, second = np.abs(np.linalg.solve(matrix, [1.0, -1.0])) * largest
    # An entry that should be 0 is one by rounding; the formula needs a scale above 0.
    return max(float(first), 1e-12), max(float(second), 1e-12)


def square_loss(
    pulls: int,
    epsilon: float,
    norm: str,
    largest_reward: float = 1.0,
    least_log_chance: float = -math.inf,
) -> Loss:
    """Return the loss of DP-OD on the four unit vectors (+-1, +-1)/sqrt 2, at the uniform design.

    Arm 1 wins where both coordinates of the noisy sum U are above 0. Over all sums u of the
    contribution of arms 1 and 3 (antipodes), those of arms 2 and 4 being 0: a reward moves both
    coordinates by 1/sqrt 2. The table need not obey the linear model; privacy is about all tables.

    Args:
        pulls: n, of every arm.
        epsilon: of the noise.
        norm: ``l2`` (L = 1) or ``l1`` (L = sqrt 2).
        largest_reward: rewards are 0 or this.
        least_log_chance: of ``largest_loss``.
    """
    largest = {"l2": 1.0, "l1": math.sqrt(2.0)}[norm]
    coordinates = largest_reward * np.arange(-pulls, pulls + 1) / math.sqrt(2.0)
    chances = [2.0 * log_tail(sign * coordinates, largest / epsilon) for sign in (1.0, -1.0)]
    return largest_loss(np.stack(chances), axes=(1,), least_log_chance=least_log_chance)


def turned_scales(norm: str) -> tuple[float, float]:
    """Return DP-OD's scales where L is that of the features and the noise is in a turned basis.

    A reduction of the dimension may turn the coordinates by any angle; the largest norm of the
    features as given bounds their Euclidean length alone.
    """
    given = unit_vectors(*(angle - TURN for angle in DIAGONAL))
    drawn = dp_od_scales(unit_vectors(*DIAGONAL), norm)
    factor = np.linalg.norm(given, NORMS[norm], axis=1).max()
    factor /= np.linalg.norm(unit_vectors(*DIAGONAL), NORMS[norm], axis=1).max()
    return drawn[0] * float(factor), drawn[1] * float(factor)


def limit_losses(norm: str) -> NDArray[np.float64]:
    """Return the limit 1 / (L max |w_k|) of the loss over epsilon by both angles; NaN if dependent.

    Args:
        norm: a key of ``NORMS``.
    """
    vectors = unit_vectors(*ANGLES)
    lengths = np.linalg.norm(vectors, NORMS[norm], axis=1)
    largest = np.maximum(lengths[:, None], lengths[None, :])
    total = vectors[:, None, :] + vectors[None, :, :]
    area = vectors[:, None, 0] * vectors[None, :, 1] - vectors[:, None, 1] * vectors[None, :, 0]
    independent = np.abs(area) > 1e-9
    weights = np.abs(total).max(axis=2) / np.where(independent, np.abs(area), 1.0)
    return np.where(independent, 1.0 / (largest * np.maximum(weights, 1e-300)), np.nan)
