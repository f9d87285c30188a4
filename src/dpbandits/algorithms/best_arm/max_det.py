"""Max-Det collections: the arms whose features span the largest volume (DP-BAI, Definition 3.1).

Every other arm's feature is a combination of theirs with coefficients of absolute value at most 1
(Lemma G.1), which holds already where no single exchange enlarges the volume.
"""

import math
import warnings
from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.best_arm.span import FloatArray, multiply_rows, pivoted_basis, rank_of
from dpbandits.errors import InputError

MOST_SUBSETS = 200_000
"""Up to so many subsets all are tried."""

GAIN = 1e-10
"""Volumes that differ relatively by less are equal; exchanges that gain less are not made."""

WORST_CONDITION = 1e8
"""From this condition number on, coefficients are found by least squares, with a warning."""


@dataclass(frozen=True, eq=False)
class MaxDet:
    """A Max-Det collection of n features in r dimensions.

    Attributes:
        arms: its members, as positions among the features, increasing; r of them.
        coefficients: every feature as a combination of the members', shape (n, r).
        exact: whether no subset has a larger volume, or merely none that is one exchange away.
    """

    arms: tuple[int, ...]
    coefficients: FloatArray
    exact: bool


@numba.njit(cache=True)
def _volume(features, members, work):  # type: ignore[no-untyped-def]
    """Return |det| of the members' features, by elimination with partial pivoting."""
    rank = members.size
    for i in range(rank):
        for j in range(rank):
            work[i, j] = features[members[i], j]
    volume = 1.0
    for k in range(rank):
        pivot = k
        for i in range(k + 1, rank):
            if abs(work[i, k]) > abs(work[pivot, k]):
                pivot = i
        if work[pivot, k] == 0.0:
            return 0.0
        if pivot != k:
            for j in range(k, rank):
                work[k, j], work[pivot, j] = work[pivot, j], work[k, j]
        volume *= abs(work[k, k])
        for i in range(k + 1, rank):
            factor = work[i, k] / work[k, k]
            for j in range(k + 1, rank):
                work[i, j] -= factor * work[k, j]
    return volume


@numba.njit(cache=True)
def _largest_subset(features):  # type: ignore[no-untyped-def]
    """Try all subsets in lexicographic order; the first one among equals wins."""
    n, rank = features.shape
    members, work = np.arange(rank), np.empty((rank, rank))
    best, largest = members.copy(), 0.0
    while True:
        volume = _volume(features, members, work)
        if volume > largest * (1.0 + GAIN):
            largest = volume
            best[:] = members
        place = rank - 1
        while place >= 0 and members[place] == n - rank + place:
            place -= 1
        if place < 0:
            return best
        members[place] += 1
        for later in range(place + 1, rank):
            members[later] = members[later - 1] + 1


def _exchange(features: FloatArray, members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Exchange one member for one other arm for as long as that enlarges the volume."""
    members = members.copy()
    while True:
        sizes = np.abs(multiply_rows(features, np.linalg.inv(features[members])))
        largest = sizes.max()
        if largest <= 1.0 + GAIN:
            return members
        # The first one among equals, so that rounding does not choose.
        best = sizes >= max(largest * (1.0 - GAIN), 1.0 + GAIN)
        arm, place = divmod(int(best.argmax()), members.size)
        members[place] = arm


def _coefficients(features: FloatArray, members: NDArray[np.int64]) -> FloatArray:
    """Solve X_B^T alpha_i = X_i for every feature X_i."""
    collection = features[members]
    if np.linalg.cond(collection) > WORST_CONDITION:
        warnings.warn(
            "the features of a Max-Det collection are nearly dependent", RuntimeWarning, 3
        )
        inverse = np.linalg.pinv(collection)
    else:
        inverse = np.linalg.inv(collection)
    coefficients: FloatArray = multiply_rows(features, inverse)
    coefficients[members] = np.eye(members.size)
    return coefficients


def max_det(features: FloatArray) -> MaxDet:
    """Find a Max-Det collection (dp-bai, Section 3.1 and Lemma G.1).

    All subsets are tried where there are at most ``MOST_SUBSETS``, the lexicographically smallest
    one winning among equals. Beyond, the pivots of a QR factorisation are improved by exchanges.
    Either way the features are first made orthonormal in their columns, which changes no ratio of
    volumes, so that the collection does not depend on the coordinates.

    Args:
        features: one a row, shape (n, r), of rank r, at least 1.

    Raises:
        InputError: The features do not have rank r.

    Warns:
        RuntimeWarning: The members' features have a condition number above ``WORST_CONDITION``.

    Example:
        >>> max_det(np.array([[0.0, 1.0], [0.0, 0.9], [10.0, 0.0]])).arms
        (0, 2)
    """
    features = np.ascontiguousarray(features, dtype=np.float64)
    n, rank = features.shape
    if not 1 <= rank <= n or rank_of(features) < rank:
        raise InputError(f"max_det: features are {n} x {rank} of lower rank; allowed: rank {rank}")
    # Columns of unit size first: their units are arbitrary.
    scaled = features / np.abs(features).max(axis=0)
    left = np.linalg.svd(scaled, full_matrices=False)[0]
    start = np.sort(pivoted_basis(left, rank)[0])
    exact = rank == 1 or math.comb(n, rank) <= MOST_SUBSETS
    relative = multiply_rows(left, np.linalg.inv(left[start]))
    members = _largest_subset(relative) if exact else np.sort(_exchange(relative, start))
    return MaxDet(tuple(members.tolist()), _coefficients(features, members), exact)
