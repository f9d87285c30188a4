"""Which arms to pull, from their features alone: spans, Max-Det collections, G-optimal designs.

Everything is computed in an order that is fixed, so that equal features have equal coordinates to
the last digit, and so that no choice among equals is left to rounding: the first one is taken.
"""

import math
import warnings
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbandits.errors import InputError
from dpbandits.kernels import njit

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Numbers with a smaller relative difference are equal up to rounding:
PIVOT_TOLERANCE = 1e-9  # squared lengths; the largest is the next pivot
GAIN = 1e-10  # volumes; exchanges that gain less are not made
TIE = 1e-10  # values of a_i^T V^{-1} a_i
GAP = 1e-9  # the largest such value minus the dimension: the search for a design ends there

MOST_SUBSETS = 200_000  # up to which max_det tries them all
WORST_CONDITION = 1e8  # from which coefficients are found by least squares, with a warning
SMALLEST_WEIGHT = 1e-6  # less is set to 0 (Yang and Tan, 2022): each would cost a pull
MOST_STEPS = 1_000_000  # of the search; it needed 16,000 at most (K = 10,000, d = 16)
REFRESHED_EVERY = 1000  # steps after which V^{-1} is computed anew instead of updated
NEWTON_STEPS = 5  # each squares the error, 1e-9 at first
REMEMBERED_SETS, REMEMBERED_INSTANCES = 512, 8


@dataclass(frozen=True, eq=False)
class MaxDet:
    """A Max-Det collection of n features in r dimensions."""

    arms: tuple[int, ...]  # r positions among the features, increasing
    coefficients: FloatArray  # every feature by the members', shape (n, r)
    exact: bool  # or no better one is a single exchange away


def rank_of(features: FloatArray) -> int:
    """Return the dimension of the span of features, one a row."""
    return int(np.linalg.matrix_rank(features))


def span_of(features: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return features in a basis of their span, of rank r, and r positions of independent ones.

    The basis is orthonormal (DP-BAI, Equation 9); features that span the whole space stay as they
    are (dp-bai, Appendix E.1).
    """
    rank = rank_of(features)
    chosen, basis = pivoted_basis(features, rank)
    is_whole = rank == features.shape[1]
    return features if is_whole else multiply_rows(features, basis), np.sort(chosen)


@njit
def multiply_rows(left, right):
    """Return the product of two matrices, each row summed in one order: equal rows stay equal."""
    product = np.zeros((left.shape[0], right.shape[1]))
    for i in range(left.shape[0]):
        for k in range(left.shape[1]):
            for j in range(right.shape[1]):
                product[i, j] += left[i, k] * right[k, j]
    return product


@njit
def pivoted_basis(features, rank):
    """Return ``rank`` independent features, in order of choice, and an orthonormal basis of these.

    QR factorisation with column pivoting, by Gram and Schmidt with a second pass: the next feature
    is the one that is farthest from the span so far, the first one among equals.
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
        length = np.sqrt((direction**2).sum())
        for k in range(direction.size):
            basis[k, step] = direction[k] / length
        for i in range(rest.shape[0]):
            along = 0.0
            for k in range(rest.shape[1]):
                along += rest[i, k] * basis[k, step]
            for k in range(rest.shape[1]):
                rest[i, k] -= along * basis[k, step]
    return chosen, basis


def _orthonormal(features: FloatArray, owner: str) -> FloatArray:
    """Return the features in coordinates in which nothing is ill-conditioned."""
    n, rank = features.shape
    if not 1 <= rank <= n or rank_of(features) < rank:
        raise InputError(f"{owner}: features are {n} x {rank} of lower rank; allowed: rank {rank}")
    # Columns of unit size first: their units are arbitrary.
    scaled = features / np.abs(features).max(axis=0)
    return np.ascontiguousarray(np.linalg.svd(scaled, full_matrices=False)[0])


def max_det(features: FloatArray) -> MaxDet:
    """Find a Max-Det collection, the arms whose features span the largest volume.

    Every other feature is a combination of theirs with coefficients of absolute value at most 1,
    which holds already where no single exchange enlarges the volume (dp-bai, Definition 3.1 and
    Lemma G.1). All subsets are tried where there are at most ``MOST_SUBSETS``, the
    lexicographically smallest one winning among equals. Beyond, the pivots of a QR factorisation
    are improved by exchanges. Features are one a row, shape (n, r), of rank r, at least 1.

    Example:
        >>> max_det(np.array([[0.0, 1.0], [0.0, 0.9], [10.0, 0.0]])).arms
        (0, 2)
    """
    features = np.ascontiguousarray(features, dtype=np.float64)
    n, rank = features.shape
    left = _orthonormal(features, "max_det")
    start = np.sort(pivoted_basis(left, rank)[0])
    exact = rank == 1 or math.comb(n, rank) <= MOST_SUBSETS
    relative = multiply_rows(left, np.linalg.inv(left[start]))
    members = _largest_subset(relative) if exact else np.sort(_exchange(relative, start))
    return MaxDet(tuple(members.tolist()), _coefficients(features, members), exact)


@njit
def _volume(features, members, work):
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


@njit
def _largest_subset(features):
    """Try all subsets in lexicographic order; the first one among equals wins."""
    n, rank = features.shape
    members, work = np.arange(rank), np.empty((rank, rank))
    best, largest = members.copy(), 0.0
    while True:
        volume = _volume(features, members, work)
        if volume > largest * (1.0 + GAIN):
            largest = volume
            best = members.copy()
        place = rank - 1
        while place >= 0 and members[place] == n - rank + place:
            place -= 1
        if place < 0:
            return best
        members[place] += 1
        for later in range(place + 1, rank):
            members[later] = members[later - 1] + 1


def _exchange(features: FloatArray, members: IntArray) -> IntArray:
    """Exchange one member for one other arm for as long as that enlarges the volume."""
    members = members.copy()
    while True:
        sizes = np.abs(multiply_rows(features, np.linalg.inv(features[members])))
        largest = sizes.max()
        if largest <= 1.0 + GAIN:
            return members
        best = sizes >= max(largest * (1.0 - GAIN), 1.0 + GAIN)
        arm, place = divmod(int(best.argmax()), members.size)
        members[place] = arm


def _coefficients(features: FloatArray, members: IntArray) -> FloatArray:
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


def g_optimal(features: FloatArray) -> FloatArray:
    """Find a G-optimal design, whose worst estimate is as good as can be (Yang and Tan, 2022).

    A design is optimal for max_i a_i^T V^{-1} a_i, V the sum of w_i a_i a_i^T, just where it is
    optimal for log det V, and then the maximum is the dimension (Kiefer and Wolfowitz), which makes
    it the certificate of a design. Frank and Wolfe's method on log det V with steps away (Wynn,
    Atwood, Todd and Yildirim), small weights set to 0, the support reduced where it is large, the
    rest polished by Newton's method. Features are one a row, shape (n, r), of rank r, at least 1.

    Returns:
        Share of the pulls of each feature, shape (n,), sum 1; at most r(r + 1)/2 are not 0.

    Example:
        >>> g_optimal(np.array([[0.0, 1.0], [0.0, 0.9], [10.0, 0.0]]))
        array([0.5, 0. , 0.5])
    """
    features = _orthonormal(np.asarray(features, dtype=np.float64), "g_optimal")
    if features.shape[1] == 1:
        # All weight on the longest one, a step that the search would divide by 0 after.
        return np.asarray(np.arange(len(features)) == np.abs(features).argmax(), np.float64)
    if len(features) == features.shape[1]:
        # As many as dimensions: a_i^T V^{-1} a_i is 1 / w_i.
        return np.full(len(features), 1.0 / len(features))
    weights: FloatArray
    weights, steps = _frank_wolfe(features, GAP)
    if steps == MOST_STEPS - 1:
        raise ArithmeticError("the search for a G-optimal design did not converge")
    for improve in (_reduce, _polish):
        weights[weights < SMALLEST_WEIGHT] = 0.0
        support = np.flatnonzero(weights)
        weights[support] = improve(features[support], weights[support] / weights[support].sum())
    return weights


@njit
def _inverse_moment(features, weights):
    """Return V^{-1} and every a_i^T V^{-1} a_i."""
    weighted = np.ascontiguousarray((features.T * weights).T)
    inverse = np.ascontiguousarray(np.linalg.inv(np.ascontiguousarray(features.T) @ weighted))
    return inverse, ((features @ inverse) * features).sum(axis=1)


@njit
def _step_size(variance, weight, rank, toward):
    """Return the step to one feature, or away from it (below 0), that maximises log det V."""
    if toward:
        return (variance / rank - 1.0) / (variance - 1.0)
    whole = -weight / (1.0 - weight)
    return whole if variance <= 1.0 else max(whole, (variance / rank - 1.0) / (variance - 1.0))


@njit
def _frank_wolfe(features, gap):
    """Maximise log det V from uniform weights, by steps toward one feature or away from one."""
    n, rank = features.shape
    weights = np.full(n, 1.0 / n)
    inverse, variances = _inverse_moment(features, weights)
    for step in range(1, MOST_STEPS):
        supported = variances.copy()
        supported[weights <= 0.0] = np.inf
        worst = np.argmax(variances >= variances.max() * (1.0 - TIE))
        least = np.argmax(supported <= supported.min() * (1.0 + TIE))
        above, below = variances[worst] - rank, rank - variances[least]
        if max(above, below) <= gap * rank:
            break
        toward = above >= below - TIE * rank
        chosen = worst if toward else least
        size = _step_size(variances[chosen], weights[chosen], rank, toward)
        along = inverse @ features[chosen]
        factor = size / (1.0 - size + size * variances[chosen])
        variances = (variances - factor * (features @ along) ** 2) / (1.0 - size)
        inverse = (inverse - factor * np.outer(along, along)) / (1.0 - size)
        weight = weights[chosen]
        weights *= 1.0 - size
        # A step away that takes all there is leaves exactly nothing.
        gone = not toward and size <= -weight / (1.0 - weight)
        weights[chosen] = 0.0 if gone else weights[chosen] + size
        if step % REFRESHED_EVERY == 0:
            inverse, variances = _inverse_moment(features, weights)
    return weights, step


def _reduce(features: FloatArray, weights: FloatArray) -> FloatArray:
    """Spread the weights over at most r(r + 1)/2 features, V being kept (Caratheodory)."""
    upper = np.triu_indices(features.shape[1])
    if weights.size <= upper[0].size:
        return weights
    moments = (features[:, :, None] * features[:, None, :])[:, *upper]
    chosen, basis = pivoted_basis(moments, rank_of(moments))
    weights = weights.copy()
    _empty_others(multiply_rows(moments, basis), weights, chosen)
    return np.maximum(weights, 0.0)


@njit
def _empty_others(moments, weights, basic):
    """Shift weight, the moment kept, until only as many features as there are basic ones have any.

    Each other feature hands its weight to the basic ones, whose moments combine to its own; where
    one of those runs out of weight first, the two change places.
    """
    inverse = np.ascontiguousarray(np.linalg.inv(moments[basic]))
    other = np.ones(weights.size, np.bool_)
    other[basic] = False
    for feature in np.flatnonzero(other):
        shares = moments[feature] @ inverse
        step, leaving = weights[feature], -1
        for k in range(basic.size):
            if weights[basic[k]] + step * shares[k] < 0.0:
                step, leaving = -weights[basic[k]] / shares[k], k
        weights[basic] += step * shares
        weights[feature] -= step
        if leaving >= 0:
            weights[basic[leaving]] = 0.0
            basic[leaving] = feature
            column = inverse[:, leaving] / shares[leaving]
            shares[leaving] -= 1.0
            inverse -= np.outer(column, shares)


def _polish(features: FloatArray, weights: FloatArray) -> FloatArray:
    """Solve a_i^T V^{-1} a_i = r on the support by Newton: whole shares need all digits."""
    for _ in range(NEWTON_STEPS):
        inverse, variances = _inverse_moment(features, weights)
        slope = (features @ inverse @ features.T) ** 2
        change = np.linalg.lstsq(slope, variances - features.shape[1])[0]
        if (weights + change <= 0.0).any():
            break
        weights = weights + change
        weights /= weights.sum()
    return weights


def efficient_counts(weights: FloatArray, total: int) -> IntArray:
    """Turn a design into whole numbers of pulls that sum to ``total`` (Yang and Tan, 2022, S1').

    Efficient apportionment: n_i = ceil((N - l/2) w_i) for the l weights that are not 0; then, one
    at a time, a pull goes to the smallest n_i / w_i or is taken from the largest (n_i - 1) / w_i.

    Source: Pukelsheim and Rieder, Efficient rounding of approximate designs (1992).

    Example:
        >>> efficient_counts(np.array([0.5, 0.0, 0.3, 0.2]), 7)
        array([3, 0, 2, 2])
    """
    support = np.flatnonzero(weights)
    share = weights[support]
    counts = np.ceil((total - support.size / 2) * share - GAP).astype(np.int64)
    while counts.sum() != total:
        if counts.sum() < total:
            ratios = counts / share
            counts[(ratios <= ratios.min() * (1 + GAP)).argmax()] += 1
        else:
            ratios = (counts - 1) / share
            counts[(ratios >= ratios.max() * (1 - GAP)).argmax()] -= 1
    result = np.zeros(weights.size, np.int64)
    result[support] = counts
    return result


class Geometry:
    """Designs of one instance, remembered for sets of arms: bytes of increasing numbers."""

    def __init__(self, features: FloatArray) -> None:
        """Remember the features."""
        self.features, self.rank = features, rank_of(features)
        self.collection = lru_cache(REMEMBERED_SETS)(self._collection)
        self.regressors = lru_cache(REMEMBERED_SETS)(self._regressors)

    def _collection(self, active: bytes) -> MaxDet | None:
        """Return a Max-Det collection, or None where r = 0 or r^2 >= s: pull all."""
        features = self.features[np.frombuffer(active, np.int64)]
        rank = rank_of(features)
        is_small = rank > 0 and rank * rank < len(features)
        return max_det(span_of(features)[0]) if is_small else None

    def _regressors(self, active: bytes, basis: str) -> tuple[FloatArray, FloatArray]:
        """Return coordinates, shape (s, r), and the G-optimal weights of the active arms.

        ``basis``, used below full rank, is ``orthonormal`` or independent ``features``; features
        that are all 0 have no coordinates and equal weights.
        """
        features = self.features[np.frombuffer(active, np.int64)]
        coordinates, pivots = span_of(features)
        if pivots.size == 0:
            return coordinates, np.full(len(features), 1.0 / len(features))
        weights = g_optimal(coordinates)
        if basis == "features" and pivots.size < features.shape[1]:
            coordinates = multiply_rows(coordinates, np.linalg.inv(coordinates[pivots]))
        return coordinates, weights


@lru_cache(REMEMBERED_INSTANCES)
def geometry_of(features: tuple[tuple[float, ...], ...]) -> Geometry:
    """Return the one geometry of an instance, given by ``LinearBandit.features``."""
    return Geometry(np.array(features))
