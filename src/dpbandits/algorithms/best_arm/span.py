"""The span of some arms' features: its dimension, a basis of it, and coordinates in that basis.

Everything is computed in an order that is fixed, so that equal features have equal coordinates to
the last digit, and so that no choice among equals is left to rounding.
"""

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

PIVOT_TOLERANCE = 1e-9
"""Squared lengths this near to the largest, relatively, are equal to it; the first one is taken."""


@dataclass(frozen=True, eq=False)
class Span:
    """The span of n features.

    Attributes:
        rank: its dimension r.
        coordinates: the features in an orthonormal basis of it, or, where it is the whole space,
            as they were given; shape (n, r).
        pivots: features that are a basis of it, as positions; increasing, shape (r,).
    """

    rank: int
    coordinates: FloatArray
    pivots: NDArray[np.int64]


def rank_of(features: FloatArray, tolerance: float | None = None) -> int:
    """Return the dimension of the features' span (not in the paper).

    Args:
        features: one a row, shape (n, d).
        tolerance: singular values count from above this share of the largest one; left out, it is
            max(n, d) times the machine precision.
    """
    values = np.linalg.svd(features, compute_uv=False)
    if tolerance is None:
        tolerance = max(features.shape) * float(np.finfo(np.float64).eps)
    return int(np.count_nonzero(values > tolerance * values[0]))


@numba.njit(cache=True)
def multiply_rows(left, right):  # type: ignore[no-untyped-def]
    """Return the product of two matrices, every row by the same operations in the same order.

    Libraries may sum different rows in different orders, and equal rows then differ by rounding.

    Args:
        left: shape (n, k).
        right: shape (k, m).
    """
    product = np.zeros((left.shape[0], right.shape[1]))
    for i in range(left.shape[0]):
        for k in range(left.shape[1]):
            for j in range(right.shape[1]):
                product[i, j] += left[i, k] * right[k, j]
    return product


@numba.njit(cache=True)
def pivoted_basis(features, rank):  # type: ignore[no-untyped-def]
    """Return ``rank`` independent features and an orthonormal basis of their span.

    QR factorisation with column pivoting, by Gram and Schmidt with a second pass: the next feature
    is the one that is farthest from the span of those before it, the first one among equals.

    Args:
        features: one a row, shape (n, d), of rank ``rank`` at least.
        rank: number r of features to choose.

    Returns:
        Their positions in the order of choice, shape (r,), and the basis, shape (d, r).
    """
    rest = features.copy()
    chosen, basis = np.empty(rank, np.int64), np.empty((features.shape[1], rank))
    for step in range(rank):
        lengths = np.zeros(rest.shape[0])
        for i in range(rest.shape[0]):
            for k in range(rest.shape[1]):
                lengths[i] += rest[i, k] ** 2
        chosen[step] = np.argmax(lengths >= (1.0 - PIVOT_TOLERANCE) * lengths.max())
        direction = rest[chosen[step]].copy()
        for earlier in range(step):
            direction -= (direction * basis[:, earlier]).sum() * basis[:, earlier]
        basis[:, step] = direction / np.sqrt((direction**2).sum())
        for i in range(rest.shape[0]):
            along = 0.0
            for k in range(rest.shape[1]):
                along += rest[i, k] * basis[k, step]
            for k in range(rest.shape[1]):
                rest[i, k] -= along * basis[k, step]
    return chosen, basis


def span_of(features: FloatArray, tolerance: float | None = None) -> Span:
    """Reduce the dimension of features to that of their span (DP-BAI, Equation 9).

    Where the span is the whole space, the axes stay as they are (dp-bai, Appendix E.1).

    Args:
        features: one a row, shape (n, d).
        tolerance: as for ``rank_of``.
    """
    rank = rank_of(features, tolerance)
    chosen, basis = pivoted_basis(features, rank)
    whole = rank == features.shape[1]
    coordinates = features if whole else multiply_rows(features, basis)
    return Span(rank, coordinates, np.sort(chosen))
