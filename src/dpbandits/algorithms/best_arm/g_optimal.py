"""G-optimal designs: how to spread pulls so that the worst estimate is as good as can be.

A design is optimal for max_i a_i^T V^{-1} a_i, V the sum of w_i a_i a_i^T, just where it is optimal
for log det V, and then the maximum is the dimension (Kiefer and Wolfowitz). So the certificate of
a design is that maximum.
"""

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from dpbandits.algorithms.best_arm.span import FloatArray, multiply_rows, pivoted_basis, rank_of
from dpbandits.errors import InputError

GAP = 1e-9
"""How near to the dimension, relatively, the search brings a_i^T V^{-1} a_i."""

TIE = 1e-10
"""Values this near to each other, relatively, are equal but for rounding."""

SMALLEST_WEIGHT = 1e-6
"""Weights below it are set to 0 (Yang and Tan, 2022): each would cost a pull."""

MOST_STEPS = 1_000_000
"""Steps after which the search gives up; those needed were 16,000 at most (K = 10,000, d = 16)."""

REFRESHED_EVERY = 1000
"""Steps after which V^{-1} is computed anew instead of updated."""

NEWTON_STEPS = 5
"""Each squares the error, 1e-9 at first."""


@dataclass(frozen=True, eq=False)
class Design:
    """A design on n features in r dimensions.

    Attributes:
        weights: share of the pulls of each feature, shape (n,), sum 1; at most r(r + 1)/2 of them
            are not 0.
        certificate: max_i a_i^T V^{-1} a_i, which is r but for rounding.
    """

    weights: FloatArray
    certificate: float


@numba.njit(cache=True)
def _inverse_moment(features, weights):  # type: ignore[no-untyped-def]
    """Return V^{-1} and every a_i^T V^{-1} a_i."""
    weighted = np.ascontiguousarray((features.T * weights).T)
    inverse = np.ascontiguousarray(np.linalg.inv(np.ascontiguousarray(features.T) @ weighted))
    return inverse, ((features @ inverse) * features).sum(axis=1)


@numba.njit(cache=True)
def _step_size(variance, weight, rank, toward):  # type: ignore[no-untyped-def]
    """Return the step to one feature, or away from it (below 0), that maximises log det V."""
    if toward:
        return (variance / rank - 1.0) / (variance - 1.0)
    whole = -weight / (1.0 - weight)
    return whole if variance <= 1.0 else max(whole, (variance / rank - 1.0) / (variance - 1.0))


@numba.njit(cache=True)
def _frank_wolfe(features, gap):  # type: ignore[no-untyped-def]
    """Maximise log det V from uniform weights, by steps toward one feature or away from one."""
    n, rank = features.shape
    weights = np.full(n, 1.0 / n)
    inverse, variances = _inverse_moment(features, weights)
    for step in range(1, MOST_STEPS):
        supported = np.where(weights > 0.0, variances, np.inf)
        # The first ones among equals, so that rounding does not choose between optima.
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


def _polish(features: FloatArray, weights: FloatArray) -> FloatArray:
    """Solve a_i^T V^{-1} a_i = r on the support by Newton's method, to the last digits.

    Otherwise a pull more or less would be a matter of rounding where a share of the pulls is whole.
    """
    for _ in range(NEWTON_STEPS):
        inverse, variances = _inverse_moment(features, weights)
        slope = (features @ inverse @ features.T) ** 2
        change = np.linalg.lstsq(slope, variances - features.shape[1])[0]
        if (weights + change <= 0.0).any():
            break
        weights = weights + change
        weights /= weights.sum()
    return weights


@numba.njit(cache=True)
def _empty_others(moments, weights, basic):  # type: ignore[no-untyped-def]
    """Shift weight, the moment kept, until only as many features as there are basic ones have any.

    One after the other, each other feature hands its weight to the basic ones, whose moments
    combine to its own; where one of those runs out of weight first, the two change places.
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


def g_optimal(features: FloatArray) -> Design:
    """Find a G-optimal design (Yang and Tan, 2022).

    Frank and Wolfe's method on log det V with steps away (Wynn, Atwood, Todd and Yildirim), small
    weights set to 0, the support reduced where it is large, the rest polished by Newton's method.

    Args:
        features: one a row, shape (n, r), of rank r, at least 1.

    Raises:
        InputError: The features do not have rank r.
        ArithmeticError: The search did not converge.

    Example:
        >>> g_optimal(np.array([[0.0, 1.0], [0.0, 0.9], [10.0, 0.0]])).weights
        array([0.5, 0. , 0.5])
    """
    features = np.asarray(features, dtype=np.float64)
    n, rank = features.shape
    if not 1 <= rank <= n or rank_of(features) < rank:
        raise InputError(
            f"g_optimal: features are {n} x {rank} of lower rank; allowed: rank {rank}"
        )
    # The optimum does not depend on the coordinates; in these nothing is ill-conditioned.
    scaled = features / np.abs(features).max(axis=0)
    left = np.ascontiguousarray(np.linalg.svd(scaled, full_matrices=False)[0])
    weights = _search(left)
    return Design(weights, float(_inverse_moment(left, weights)[1].max()))


def _search(features: FloatArray) -> FloatArray:
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
        kept = np.flatnonzero(weights)
        weights[kept] = improve(features[kept], weights[kept] / weights[kept].sum())
    return weights


def efficient_counts(weights: FloatArray, total: int) -> NDArray[np.int64]:
    """Turn a design into whole numbers of pulls that sum to ``total`` (Yang and Tan, 2022, S1').

    Efficient apportionment: n_i = ceil((N - l/2) w_i) for the l weights that are not 0; then, one
    at a time, a pull goes to the smallest n_i / w_i or is taken from the largest (n_i - 1) / w_i.
    Among equals the first feature is chosen.

    Source: Pukelsheim and Rieder, Efficient rounding of approximate designs (1992).

    Args:
        weights: sum 1, shape (n,).
        total: N, at least l, so that every feature with weight is pulled.

    Example:
        >>> efficient_counts(np.array([0.5, 0.0, 0.3, 0.2]), 7)
        array([3, 0, 2, 2])
    """
    support = np.flatnonzero(weights)
    share = weights[support]
    counts = np.ceil((total - support.size / 2) * share - GAP).astype(np.int64)
    while counts.sum() != total:
        if counts.sum() < total:
            counts[_first(counts / share, smallest=True)] += 1
        else:
            counts[_first((counts - 1) / share, smallest=False)] -= 1
    result = np.zeros(weights.size, np.int64)
    result[support] = counts
    return result


def _first(values: FloatArray, smallest: bool) -> int:
    """Return the first position of an extreme, whatever rounding did to its equals."""
    near = values <= values.min() * (1 + GAP) if smallest else values >= values.max() * (1 - GAP)
    return int(near.argmax())
